/*
 * What happens when something is in the way: every rank comes to the same
 * verdict, nobody hangs, nothing is written that should not be.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_rank.h"
#include "lanes_fake.h"
#include "planner.h"
#include "planner_fake.h"

enum { SEED = 40, N_RANKS = 4, VICTIM = 2 };

/* Start a rank with traffic of which every rank has some for every other one. */
static void start(engine_rank_t *self, uint32_t rank, const cluster_t *cluster, traffic_t *traffic,
                  buffers_t *buffers)
{
    uint32_t i, j;

    engine_rank_start(self, rank, cluster, true);
    memset(traffic, 0, sizeof(*traffic));
    for (i = 0; i < cluster->n_ranks; i++) {
        for (j = 0; j < cluster->n_ranks; j++) {
            traffic->send[i][j] = traffic->room[i][j] = 100 + 10 * i + j;
        }
    }
    buffers_make(self, traffic, buffers);
}

static void run(void (*body)(uint32_t, void *), vp_sync_t sync, const void *extra)
{
    cluster_t cluster;

    cluster_make(&cluster, N_RANKS);
    cluster.options.sync = sync;
    cluster.options.overlap_percent = 0; /* one put per lane: knobs count puts */
    cluster.extra = extra;
    cluster_run(&cluster, body);
}

static void body_obstacle(uint32_t rank, void *argument)
{
    static const struct {
        uint32_t bit;
        const char *text;
    } obstacles[] = {
        {VP_OBSTACLE_IN_PLACE, "rank 2: in-place buffers that are too large to be copied"},
        {VP_OBSTACLE_LAYOUT, "rank 2: a datatype with gaps that is too large to be packed"},
        {VP_OBSTACLE_HOST, "rank 2: host buffers"},
        {VP_OBSTACLE_MEMORY, "rank 2: memory that a transport cannot register"},
        {VP_OBSTACLE_SHUTDOWN, "rank 2: MPI is being finalized"},
    };
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers, none = {0};
    unsigned i;

    start(&self, rank, argument, &traffic, &buffers);
    for (i = 0; i < sizeof(obstacles) / sizeof(obstacles[0]); i++) {
        engine_rank_pass(&self, self.engine, rank == VICTIM ? &none : &buffers,
                         rank == VICTIM ? obstacles[i].bit : 0, obstacles[i].text);
        engine_rank_carry(&self, self.engine, &buffers, i);
    }
    RANKS_EQUAL(self.counters.n_passed_on, i);
    engine_rank_stop(&self);
}

START_TEST(an_obstacle_on_one_rank_passes_on_everywhere)
{
    run(body_obstacle, VP_SYNC_FREE, NULL);
}
END_TEST

enum {
    OTHER_CATALOG,
    OTHER_ORDER,
    OTHER_SCHEDULER,
    OTHER_ALPHA,
    OTHER_SYNC,
    OTHER_GAIN,
    OTHER_SIZE,
    OTHER_CACHE,
    N_OTHER
};

static void body_differs(uint32_t rank, void *argument)
{
    static const char *const texts[N_OTHER] = {
        "ranks 0 and 2 use different catalogs",
        "ranks 0 and 1 use different orders of ranks",
        "ranks 0 and 2 use different schedulers",
        "ranks 0 and 2 use different activation overheads",
        "ranks 0 and 2 use different synchronisation modes",
        "ranks 0 and 2 use different minimal gains",
        "ranks 0 and 2 use different minimal sizes",
        "ranks 0 and 2 use different numbers of cached plans",
    };
    cluster_t cluster = *(cluster_t *)argument;
    const int *which = cluster.extra;
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;

    if (*which == OTHER_ORDER) {
        /* Here rank 0 is the odd one. */
        cluster.order[1] = rank == 0 ? 3 : 1;
        cluster.order[3] = rank == 0 ? 1 : 3;
    } else if (rank == VICTIM) {
        cluster.catalog->fingerprint += *which == OTHER_CATALOG;
        cluster.options.scheduler = *which == OTHER_SCHEDULER ? "rotations2" : "rotations";
        cluster.options.alpha_ns = *which == OTHER_ALPHA ? 77 : 0;
        cluster.options.sync = *which == OTHER_SYNC ? VP_SYNC_BARRIER : VP_SYNC_FREE;
        cluster.options.min_gain_percent = *which == OTHER_GAIN ? 5 : 0;
        cluster.options.min_bytes = *which == OTHER_SIZE ? 1 : 0;
        cluster.options.cache_plans += *which == OTHER_CACHE;
    }
    start(&self, rank, &cluster, &traffic, &buffers);
    engine_rank_pass(&self, self.engine, &buffers, 0, texts[*which]);
    engine_rank_pass(&self, self.engine, &buffers, 0, texts[*which]);
    RANKS_EQUAL(lanes_fake.n_connects, 0);
    engine_rank_stop(&self);
}

static void body_no_host(uint32_t rank, void *argument)
{
    cluster_t cluster = *(cluster_t *)argument;
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;

    cluster.options.carry_host = rank != VICTIM;
    start(&self, rank, &cluster, &traffic, &buffers);
    engine_rank_pass(&self, self.engine, &buffers, 0, "rank 2 leaves host buffers alone");
    engine_rank_stop(&self);
}

START_TEST(a_rank_that_does_not_carry_host_buffers)
{
    run(body_no_host, VP_SYNC_FREE, NULL);
}
END_TEST

START_TEST(ranks_that_differ_pass_all_on)
{
    run(body_differs, VP_SYNC_FREE, &_i);
}
END_TEST

static void body_no_connection(uint32_t rank, void *argument)
{
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;

    lanes_fake.knobs.refuse_connect = rank == VICTIM ? 1 : 0;
    start(&self, rank, argument, &traffic, &buffers);
    engine_rank_pass(&self, self.engine, &buffers, 0,
                     "rank 2 to rank 3 over pcie > pcie: a transport failed");
    /* The second phase, which goes downwards, was not begun. */
    RANKS_CHECK(rank != 3 || lanes_fake.n_connects == 0, "connected against the order");
    engine_rank_pass(&self, self.engine, &buffers, 0, "a path cannot be connected");
    engine_rank_stop(&self);
}

START_TEST(a_path_that_cannot_be_connected_passes_all_on)
{
    run(body_no_connection, VP_SYNC_FREE, NULL);
}
END_TEST

/* A peer of a nonblocking call may be late for any time; of a blocking one it has entered. */
static void body_connect_limit(uint32_t rank, void *argument)
{
    engine_rank_t self;
    vp_outcome_t outcome;
    traffic_t traffic;
    buffers_t buffers;
    vp_error_t error;
    vp_call_t call = {.patient = true};

    start(&self, rank, argument, &traffic, &buffers);
    call.send = buffers.send;
    call.receive = buffers.receive;
    RANKS_EQUAL(vp_engine_alltoallv(self.engine, &call, &outcome, &error), VP_OK);
    RANKS_EQUAL(lanes_fake.n_connects > 0, 1);
    RANKS_EQUAL(lanes_fake.connect_limit_ms, 0);
    vp_engine_destroy(self.engine);
    self.engine = engine_rank_engine(&self, 1);
    engine_rank_carry(&self, self.engine, &buffers, 1);
    RANKS_EQUAL(lanes_fake.connect_limit_ms, 10000);
    engine_rank_stop(&self);
}

START_TEST(only_blocking_calls_limit_connecting)
{
    run(body_connect_limit, VP_SYNC_FREE, NULL);
}
END_TEST

static void body_no_region(uint32_t rank, void *argument)
{
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;

    lanes_fake.knobs.refuse_region = rank == VICTIM ? 2 : 0;
    start(&self, rank, argument, &traffic, &buffers);
    engine_rank_carry(&self, self.engine, &buffers, 1);
    engine_rank_pass(&self, self.engine, &buffers, 0, "rank 2: memory that a transport");
    engine_rank_carry(&self, self.engine, &buffers, 2);
    RANKS_EQUAL(self.counters.key_exchanges, 1);
    engine_rank_stop(&self);
}

START_TEST(memory_that_cannot_be_registered_passes_the_call_on)
{
    run(body_no_region, VP_SYNC_FREE, NULL);
}
END_TEST

static void body_no_window(uint32_t rank, void *argument)
{
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;

    /* Ranks 2 and 3 are alone under their switch: two ways to rank 0, two to rank 1. */
    lanes_fake.knobs.refuse_window = rank == VICTIM ? 4 : 0;
    start(&self, rank, argument, &traffic, &buffers);
    engine_rank_pass(&self, self.engine, &buffers, 0,
                     "rank 2 to rank 1 over nic1 > nic0: a transport failed");
    RANKS_EQUAL(lanes_fake.open_windows, 0);
    engine_rank_carry(&self, self.engine, &buffers, 1);
    engine_rank_carry(&self, self.engine, &buffers, 2);
    RANKS_EQUAL(self.counters.key_exchanges, 2);
    engine_rank_stop(&self);
}

START_TEST(a_window_that_does_not_open_passes_the_call_on)
{
    run(body_no_window, VP_SYNC_FREE, NULL);
}
END_TEST

/* The same buffer, registered anew: its old keys are worth nothing. */
static void body_new_keys(uint32_t rank, void *argument)
{
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;

    start(&self, rank, argument, &traffic, &buffers);
    engine_rank_carry(&self, self.engine, &buffers, 1);
    engine_rank_carry(&self, self.engine, &buffers, 2);
    RANKS_EQUAL(self.counters.key_exchanges, 1);
    lanes_fake.knobs.generation = rank == VICTIM;
    engine_rank_carry(&self, self.engine, &buffers, 3);
    engine_rank_carry(&self, self.engine, &buffers, 4);
    RANKS_EQUAL(self.counters.key_exchanges, 2);
    engine_rank_stop(&self);
}

START_TEST(keys_that_change_at_the_same_address_travel)
{
    run(body_new_keys, VP_SYNC_FREE, NULL);
}
END_TEST

static void body_planner(uint32_t rank, void *argument)
{
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;

    start(&self, rank, argument, &traffic, &buffers);
    planner_mode = PLANNER_NO_PATH;
    engine_rank_pass(&self, self.engine, &buffers, 0, "no plan: no path for this pair");
    planner_mode = rank == VICTIM ? PLANNER_NO_MEMORY : PLANNER_GOOD;
    engine_rank_pass(&self, self.engine, &buffers, 0,
                     "rank 2 could not prepare the call: out of memory");
    planner_mode = rank == VICTIM ? PLANNER_NO_MEMORY : PLANNER_NO_PATH;
    engine_rank_pass(&self, self.engine, &buffers, 0,
                     "rank 0 could not prepare the call: bad input");
    planner_mode = PLANNER_OUTSIDE;
    engine_rank_pass(&self, self.engine, &buffers, 0, "could not prepare the call: internal");
    planner_mode = PLANNER_SHORT;
    engine_rank_pass(&self, self.engine, &buffers, 0, "could not prepare the call: internal");
    RANKS_EQUAL(lanes_fake.n_puts, 0);
    planner_mode = PLANNER_GOOD;
    engine_rank_carry(&self, self.engine, &buffers, 1);
    engine_rank_stop(&self);
}

START_TEST(a_planner_that_fails_passes_the_call_on)
{
    run(body_planner, VP_SYNC_FREE, NULL);
}
END_TEST

static void body_gain(uint32_t rank, void *argument)
{
    cluster_t cluster = *(cluster_t *)argument;
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;
    uint64_t demand[RANKS_MAX * RANKS_MAX];
    vp_schedule_options_t options = {.alpha_ns = cluster.catalog->model->alpha_ns};
    vp_plan_t *plan;
    uint32_t i, j;

    cluster.options.min_gain_percent = 50;
    cluster.options.cache_plans = 0;
    start(&self, rank, &cluster, &traffic, &buffers);
    for (i = 0; i < N_RANKS; i++) {
        for (j = 0; j < N_RANKS; j++) {
            demand[i * N_RANKS + j] = i == j ? 0 : traffic.send[i][j];
        }
    }
    RANKS_EQUAL(vp_schedule_find("rotations")(cluster.catalog, demand, &options, &plan, NULL),
                VP_OK);
    planner_pairwise_ns = (plan->time_ns * 150 + 99) / 100 - 1;
    engine_rank_pass(&self, self.engine, &buffers, 0, "gains less than 50% over the pairwise");
    planner_pairwise_ns++;
    engine_rank_carry(&self, self.engine, &buffers, 1);
    vp_plan_destroy(plan);
    engine_rank_stop(&self);
}

START_TEST(too_little_gain_passes_the_call_on)
{
    run(body_gain, VP_SYNC_FREE, NULL);
}
END_TEST

/* Longer than a busy machine keeps a rank from its core: only what is stuck is to be blamed. */
enum { STALL_MS = 1500 };

/* A call that fails after the first byte, on all ranks with the same status and text. */
static void fails(engine_rank_t *self, buffers_t *buffers, vp_status_t expected, const char *part)
{
    vp_call_t call = {.send = buffers->send, .receive = buffers->receive};
    vp_outcome_t outcome = {.verdict = VP_STAGED};
    vp_error_t error = {.text = ""};
    vp_status_t status;

    buffers_fill(self, buffers, 9);
    status = vp_engine_alltoallv(self->engine, &call, &outcome, &error);
    RANKS_CHECK(status == expected, "%s (%s), not %s", vp_status_text((int)status), error.text,
                vp_status_text((int)expected));
    RANKS_CHECK(strstr(error.text, part) != NULL, "\"%s\" lacks \"%s\"", error.text, part);
    RANKS_EQUAL(outcome.verdict, VP_STAGED);
    engine_rank_pass(self, self->engine, buffers, 0, "an earlier call failed");
    engine_rank_pass(self, self->engine, buffers, 0, part);
}

/* Two ranks fail; all name the lower one. */
static void body_put_fails(uint32_t rank, void *argument)
{
    const cluster_t *cluster = argument;
    const lanes_fake_knobs_t *knobs = cluster->extra;
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;

    start(&self, rank, cluster, &traffic, &buffers);
    engine_rank_carry(&self, self.engine, &buffers, 1);
    if (rank >= VICTIM) {
        lanes_fake.n_puts = 0;
        lanes_fake.knobs = *knobs;
    }
    fails(&self, &buffers, VP_ERR_TRANSPORT, "rank 2 to rank 3 over pcie > pcie: a transport");
    RANKS_EQUAL(lanes_fake.n_cancelled, 0);
    engine_rank_stop(&self);
}

static const lanes_fake_knobs_t put_knobs[] = {{.refuse_put = 1}, {.break_put = 1}};

START_TEST(a_put_that_fails_is_an_error_on_all_ranks)
{
    run(body_put_fails, VP_SYNC_FREE, &put_knobs[_i]);
    run(body_put_fails, VP_SYNC_BARRIER, &put_knobs[_i]);
    run(body_put_fails, VP_SYNC_DEPS, &put_knobs[_i]);
}
END_TEST

static void body_stalls(uint32_t rank, void *argument)
{
    cluster_t cluster = *(cluster_t *)argument;
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;

    cluster.options.timeout_ms = STALL_MS;
    if (rank == VICTIM) {
        lanes_fake.knobs.stall_put = 2;
    }
    start(&self, rank, &cluster, &traffic, &buffers);
    fails(&self, &buffers, VP_ERR_TIMEOUT, "rank 2 to rank 0 over pcie > pcie: timed out");
    RANKS_EQUAL(lanes_fake.n_cancelled, rank == VICTIM);
    RANKS_EQUAL(lanes_fake.n_retired, 0);
    engine_rank_stop(&self);
}

START_TEST(a_put_that_stalls_times_out_on_all_ranks)
{
    static const vp_sync_t modes[] = {VP_SYNC_FREE, VP_SYNC_BARRIER, VP_SYNC_DEPS};

    run(body_stalls, modes[_i], NULL);
}
END_TEST

/* Before the first byte: the next call, with equal plans, is carried. */
static void body_mismatch(uint32_t rank, void *argument)
{
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;

    start(&self, rank, argument, &traffic, &buffers);
    planner_mode = rank == VICTIM ? PLANNER_REVERSED : PLANNER_GOOD;
    engine_rank_pass(&self, self.engine, &buffers, 0, "rank 2 derived another plan than rank 0");
    planner_mode = PLANNER_GOOD;
    engine_rank_carry(&self, self.engine, &buffers, 1);
    engine_rank_stop(&self);
}

START_TEST(plans_that_differ_pass_the_call_on)
{
    run(body_mismatch, VP_SYNC_FREE, NULL);
}
END_TEST

/*
 * A message that is refused, or that never comes: everybody hears of it or waits in
 * vain, so that some speak of the transport and some of time.
 */
typedef struct lost_message {
    vp_sync_t sync;
    unsigned refused;
    unsigned lost;
} lost_message_t;

static void body_lost_message(uint32_t rank, void *argument)
{
    cluster_t cluster = *(cluster_t *)argument;
    const lost_message_t *how = cluster.extra;
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;
    vp_call_t call;
    vp_outcome_t outcome;
    vp_error_t error = {.text = ""};
    vp_status_t status;

    cluster.options.timeout_ms = STALL_MS;
    start(&self, rank, &cluster, &traffic, &buffers);
    engine_rank_carry(&self, self.engine, &buffers, 1);
    if (rank == VICTIM) {
        self.members[0].n_messages = 0;
        self.members[0].fail_message = how->refused;
        self.members[0].lose_message = how->lost;
    }
    call = (vp_call_t){.send = buffers.send, .receive = buffers.receive};
    status = vp_engine_alltoallv(self.engine, &call, &outcome, &error);
    RANKS_CHECK(status == VP_ERR_TRANSPORT || status == VP_ERR_TIMEOUT, "%s (%s)",
                vp_status_text((int)status), error.text);
    RANKS_CHECK(strstr(error.text, "waited for ") != NULL, "\"%s\"", error.text);
    /* One waited in vain; nobody knows whom that one, and those before, still write to. */
    RANKS_CHECK(lanes_fake.n_retired == 1, "the lanes are still open");
    engine_rank_pass(&self, self.engine, &buffers, 0, "an earlier call failed");
    engine_rank_stop(&self);
}

START_TEST(a_message_that_is_lost_is_an_error_on_all_ranks)
{
    static const lost_message_t ways[] = {{VP_SYNC_DEPS, 1, 0},
                                          {VP_SYNC_DEPS, 0, 1},
                                          {VP_SYNC_BARRIER, 3, 0},
                                          {VP_SYNC_BARRIER, 0, 4},
                                          {VP_SYNC_FREE, 1, 0}};

    run(body_lost_message, ways[_i].sync, &ways[_i]);
}
END_TEST

/* The n-th collective below fails on all ranks: an error, never a hang or a crash. */
static void body_collective(uint32_t rank, void *argument)
{
    const cluster_t *cluster = argument;
    const int *which = cluster->extra;
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;
    vp_call_t call;
    vp_outcome_t outcome;
    vp_error_t error = {.text = ""};

    start(&self, rank, cluster, &traffic, &buffers);
    call = (vp_call_t){.send = buffers.send, .receive = buffers.receive};
    self.members[0].fail_at = (unsigned)*which;
    buffers_fill(&self, &buffers, 1);
    RANKS_EQUAL(vp_engine_alltoallv(self.engine, &call, &outcome, &error), VP_ERR_TRANSPORT);
    RANKS_CHECK(strstr(error.text, "below this collective failed") != NULL, "%s", error.text);
    engine_rank_pass(&self, self.engine, &buffers, 0, "an earlier call failed");
    engine_rank_stop(&self);
}

/* Facts, addresses, two connections, openings, rows, pairs, keys, windows. */
enum { COLLECTIVES_OF_FIRST_CALL = 9 };

START_TEST(a_collective_below_that_fails_is_an_error)
{
    int which = _i + 1;

    run(body_collective, VP_SYNC_FREE, &which);
}
END_TEST

/* After a failure elsewhere a rank finds windows of this communicator gone. */
static void body_lost_windows(uint32_t rank, void *argument)
{
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;

    start(&self, rank, argument, &traffic, &buffers);
    engine_rank_carry(&self, self.engine, &buffers, 1);
    lanes_fake.knobs.lose_windows = rank == VICTIM;
    engine_rank_pass(&self, self.engine, &buffers, 0, "rank 2: a path that was closed");
    engine_rank_stop(&self);
}

START_TEST(lost_windows_pass_on_before_the_first_byte)
{
    run(body_lost_windows, VP_SYNC_FREE, NULL);
}
END_TEST

enum { MISFIT_NONE, MISFIT_SIZE, MISFIT_TWICE, MISFIT_OUTSIDE, N_MISFITS };

/* A rank whose catalog does not fit must not leave the others waiting. */
static void body_misfit(uint32_t rank, void *argument)
{
    static const char *const texts[N_MISFITS] = {
        "rank 2 has no catalog",
        "the catalog of rank 2 describes 3 ranks, the communicator has 4",
        "the catalog of rank 2 has no place for every rank",
        "the catalog of rank 2 has no place for every rank",
    };
    cluster_t cluster = *(cluster_t *)argument;
    const int *which = cluster.extra;
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;

    if (rank == VICTIM) {
        cluster.catalog = *which == MISFIT_NONE   ? NULL
                          : *which == MISFIT_SIZE ? planner_catalog(N_RANKS - 1)
                                                  : cluster.catalog;
        cluster.order[1] = *which == MISFIT_TWICE ? 0 : *which == MISFIT_OUTSIDE ? N_RANKS : 1;
    }
    engine_rank_start(&self, rank, &cluster, rank != VICTIM);
    traffic_random(&traffic, N_RANKS, 1, 100);
    buffers_make(&self, &traffic, &buffers);
    engine_rank_pass(&self, self.engine, &buffers, 0, texts[*which]);
    engine_rank_pass(&self, self.engine, &buffers, 0, texts[*which]);
    RANKS_EQUAL(lanes_fake.n_connects, 0);
    engine_rank_stop(&self);
    if (rank == VICTIM && *which == MISFIT_SIZE) {
        vp_catalog_destroy(cluster.catalog);
    }
}

START_TEST(a_catalog_that_does_not_fit_passes_all_on)
{
    run(body_misfit, VP_SYNC_FREE, &_i);
}
END_TEST

START_TEST(verdicts_have_words)
{
    vp_engine_destroy(NULL);
    ck_assert_str_eq(vp_verdict_text(VP_CARRIED), "carried");
    ck_assert_str_eq(vp_verdict_text(VP_STAGED), "staged");
    ck_assert_str_eq(vp_verdict_text(VP_PASSED_ON), "passed on");
}
END_TEST

static Suite *faults_suite(void)
{
    Suite *suite = suite_create("engine faults");
    TCase *tcase = tcase_create("before the first byte");

    tcase_set_timeout(tcase, 2 * RANKS_SECONDS);
    tcase_add_test(tcase, an_obstacle_on_one_rank_passes_on_everywhere);
    tcase_add_test(tcase, a_rank_that_does_not_carry_host_buffers);
    tcase_add_loop_test(tcase, ranks_that_differ_pass_all_on, 0, N_OTHER);
    tcase_add_test(tcase, a_path_that_cannot_be_connected_passes_all_on);
    tcase_add_test(tcase, only_blocking_calls_limit_connecting);
    tcase_add_test(tcase, memory_that_cannot_be_registered_passes_the_call_on);
    tcase_add_test(tcase, a_window_that_does_not_open_passes_the_call_on);
    tcase_add_test(tcase, keys_that_change_at_the_same_address_travel);
    tcase_add_test(tcase, a_planner_that_fails_passes_the_call_on);
    tcase_add_test(tcase, plans_that_differ_pass_the_call_on);
    tcase_add_test(tcase, too_little_gain_passes_the_call_on);
    tcase_add_loop_test(tcase, a_catalog_that_does_not_fit_passes_all_on, 0, N_MISFITS);
    tcase_add_test(tcase, lost_windows_pass_on_before_the_first_byte);
    tcase_add_test(tcase, verdicts_have_words);
    suite_add_tcase(suite, tcase);

    tcase = tcase_create("after the first byte");
    tcase_set_timeout(tcase, 2 * RANKS_SECONDS);
    tcase_add_loop_test(tcase, a_put_that_fails_is_an_error_on_all_ranks, 0, 2);
    tcase_add_loop_test(tcase, a_put_that_stalls_times_out_on_all_ranks, 0, 3);
    tcase_add_loop_test(tcase, a_message_that_is_lost_is_an_error_on_all_ranks, 0, 5);
    tcase_add_loop_test(tcase, a_collective_below_that_fails_is_an_error, 0,
                        COLLECTIVES_OF_FIRST_CALL);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(faults_suite());
    int n_failed;

    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
