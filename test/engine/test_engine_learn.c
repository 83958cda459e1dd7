/*
 * Rates learned while running. Lanes of these tests are too short to be observed; what
 * ranks observe is put in by hand, so nothing here depends on time.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "coll_variopath/run.h"
#include "engine_rank.h"

enum { N_RANKS = 4, VICTIM = 2, FIRST_CALL = 4, ADVISE_CALL = 16, SEED = 11 };

static char advice[1024];
static unsigned n_advices;

static void keep(void *context, vp_log_level_t level, const char *line)
{
    (void)context;
    if (level == VP_LOG_NOTE && strncmp(line, "rates: ", 7) == 0) {
        (void)snprintf(advice, sizeof(advice), "%s", line);
        n_advices++;
    }
}

/* Lanes over each NIC path that take `times` as long as their rate says. */
static void observe(vp_engine_t *engine, uint64_t times, vp_sync_t sync)
{
    vp_plan_t plan = {.form = {.order = VP_PLAN_ACTIVATIONS}};
    vp_program_t program = {.plan = &plan, .sync = sync};
    uint32_t i, k;

    for (i = 0; i < engine->model->n_instances; i++) {
        const vp_instance_t *instance = &engine->model->instances[i];
        uint64_t n_bytes = 100 * instance->bytes_per_s;
        vp_lane_t lane = {.instance = i, .n_bytes = n_bytes};

        for (k = 0; k < 3 && instance->kind == VP_PATH_NIC; k++) {
            vp_rates_observe(engine, &program, &lane, n_bytes, times * 100 * VP_NS_PER_S);
        }
    }
}

static uint64_t rate_of(const vp_engine_t *engine, vp_path_kind_t kind)
{
    uint32_t i = 0;

    while (engine->model->instances[i].kind != kind) {
        i++;
    }
    return engine->model->instances[i].bytes_per_s;
}

static void start(engine_rank_t *self, uint32_t rank, const cluster_t *cluster, traffic_t *traffic,
                  buffers_t *buffers)
{
    engine_rank_start(self, rank, cluster, true);
    self->log.write = keep;
    traffic_random(traffic, N_RANKS, SEED, 3000);
    buffers_make(self, traffic, buffers);
}

/* Calls `from` to `to`; each is carried, which takes equal plans on all ranks. */
static void carry(engine_rank_t *self, buffers_t *buffers, unsigned from, unsigned to)
{
    unsigned turn;

    for (turn = from; turn <= to; turn++) {
        engine_rank_carry(self, self->engine, buffers, turn);
    }
}

static void body_on(uint32_t rank, void *argument)
{
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;
    uint64_t stated, other;

    start(&self, rank, argument, &traffic, &buffers);
    carry(&self, &buffers, 1, FIRST_CALL - 1);
    stated = rate_of(self.engine, VP_PATH_NIC);
    other = rate_of(self.engine, VP_PATH_PIX);
    /* The links are half as fast as stated; one rank was held up for other reasons. */
    observe(self.engine, rank == VICTIM ? 50 : 2, VP_SYNC_DEPS);
    carry(&self, &buffers, FIRST_CALL, FIRST_CALL);
    RANKS_EQUAL(rate_of(self.engine, VP_PATH_NIC), stated / 2);
    RANKS_EQUAL(rate_of(self.engine, VP_PATH_PIX), other);
    RANKS_CHECK(self.counters.n_rates_learned > 0, "nothing learned");
    RANKS_CHECK((rank == 0) == (n_advices > 0), "told %u times", n_advices);
    /* From here on they do what plans expect: nothing changes any more. */
    observe(self.engine, 1, VP_SYNC_DEPS);
    carry(&self, &buffers, FIRST_CALL + 1, 2 * FIRST_CALL);
    RANKS_EQUAL(rate_of(self.engine, VP_PATH_NIC), stated / 2);
    engine_rank_stop(&self);
}

/* Never further than eight times, and never from lanes that nobody kept apart. */
static void body_bounds(uint32_t rank, void *argument)
{
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;
    uint64_t stated;

    start(&self, rank, argument, &traffic, &buffers);
    carry(&self, &buffers, 1, FIRST_CALL - 1);
    stated = rate_of(self.engine, VP_PATH_NIC);
    observe(self.engine, 3, VP_SYNC_FREE);
    carry(&self, &buffers, FIRST_CALL, 2 * FIRST_CALL - 1);
    RANKS_EQUAL(rate_of(self.engine, VP_PATH_NIC), stated);
    observe(self.engine, 1000, VP_SYNC_BARRIER);
    carry(&self, &buffers, 2 * FIRST_CALL, 2 * FIRST_CALL);
    RANKS_EQUAL(rate_of(self.engine, VP_PATH_NIC), stated / 8);
    observe(self.engine, 1000, VP_SYNC_BARRIER);
    carry(&self, &buffers, 2 * FIRST_CALL + 1, 4 * FIRST_CALL);
    RANKS_EQUAL(rate_of(self.engine, VP_PATH_NIC), stated / 8);
    engine_rank_stop(&self);
}

static void body_advise(uint32_t rank, void *argument)
{
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;
    char expected[128];
    uint64_t stated;

    start(&self, rank, argument, &traffic, &buffers);
    carry(&self, &buffers, 1, ADVISE_CALL - 1);
    stated = rate_of(self.engine, VP_PATH_NIC);
    observe(self.engine, 2, VP_SYNC_DEPS);
    carry(&self, &buffers, ADVISE_CALL, 2 * ADVISE_CALL);
    RANKS_EQUAL(rate_of(self.engine, VP_PATH_NIC), stated);
    RANKS_EQUAL(self.counters.n_rates_learned, 0);
    RANKS_EQUAL(n_advices, rank == 0);
    (void)snprintf(expected, sizeof(expected), "move %llu bytes/s, the topology says %llu",
                   (unsigned long long)stated / 2, (unsigned long long)stated);
    RANKS_CHECK(rank != 0 || strstr(advice, expected) != NULL, "told \"%s\"", advice);
    engine_rank_stop(&self);
}

/* Nothing is exchanged for it. */
static void body_off(uint32_t rank, void *argument)
{
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;
    unsigned before;

    start(&self, rank, argument, &traffic, &buffers);
    carry(&self, &buffers, 1, FIRST_CALL - 1);
    observe(self.engine, 2, VP_SYNC_DEPS);
    before = self.members[0].n_collectives;
    carry(&self, &buffers, FIRST_CALL, FIRST_CALL);
    RANKS_EQUAL(self.members[0].n_collectives - before, 1);
    engine_rank_stop(&self);
}

static void body_differ(uint32_t rank, void *argument)
{
    cluster_t cluster = *(cluster_t *)argument;
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;

    cluster.options.learn = rank == VICTIM ? VP_LEARN_ADVISE : VP_LEARN_ON;
    start(&self, rank, &cluster, &traffic, &buffers);
    engine_rank_pass(&self, self.engine, &buffers, 0, "ranks 0 and 2 use different schedulers");
    engine_rank_stop(&self);
}

static void run(void (*body)(uint32_t, void *), vp_learn_t learn)
{
    cluster_t cluster;

    cluster_make(&cluster, N_RANKS);
    cluster.options.learn = learn;
    cluster.options.sync = VP_SYNC_DEPS;
    cluster.options.alpha_ns = 10 * VP_NS_PER_S; /* what is shorter is not observed */
    cluster.options.overlap_percent = 0;
    cluster_run(&cluster, body);
}

START_TEST(a_rate_that_is_stated_wrong_repairs_itself)
{
    run(body_on, VP_LEARN_ON);
}
END_TEST

START_TEST(corrections_are_bounded)
{
    run(body_bounds, VP_LEARN_ON);
}
END_TEST

START_TEST(advice_changes_nothing)
{
    run(body_advise, VP_LEARN_ADVISE);
}
END_TEST

START_TEST(off_costs_nothing)
{
    run(body_off, VP_LEARN_OFF);
}
END_TEST

START_TEST(ranks_that_learn_differently_pass_all_on)
{
    run(body_differ, VP_LEARN_ON);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine rates");
    TCase *tcase = tcase_create("learned");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(tcase, 2 * RANKS_SECONDS);
    tcase_add_test(tcase, a_rate_that_is_stated_wrong_repairs_itself);
    tcase_add_test(tcase, corrections_are_bounded);
    tcase_add_test(tcase, advice_changes_nothing);
    tcase_add_test(tcase, off_costs_nothing);
    tcase_add_test(tcase, ranks_that_learn_differently_pass_all_on);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
