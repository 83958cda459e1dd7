/*
 * What the engine carries: over real UCX lanes in test_engine, over lanes that
 * check every put against its window in test_engine_fake.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_rank.h"
#include "planner.h"

enum { SEED = 20, LARGE = 150000 };

static void body_random(uint32_t rank, void *argument)
{
    const cluster_t *cluster = argument;
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;
    unsigned turn;

    engine_rank_start(&self, rank, cluster, true);
    for (turn = 1; turn <= 4; turn++) {
        self.arena_used = 0;
        traffic_random(&traffic, cluster->n_ranks, cluster->seed + turn, LARGE);
        buffers_make(&self, &traffic, &buffers);
        engine_rank_carry(&self, self.engine, &buffers, turn);
    }
    RANKS_EQUAL(self.counters.n_carried, 4);
    RANKS_EQUAL(self.counters.n_passed_on, 0);
    engine_rank_stop(&self);
}

static void run_random(uint32_t n_ranks, vp_sync_t sync, bool threads)
{
    cluster_t cluster;

    cluster_make(&cluster, n_ranks);
    cluster.options.sync = sync;
    cluster.threads = threads;
    cluster.seed = SEED + n_ranks;
    cluster_run(&cluster, body_random);
}

START_TEST(random_demands_on_two_to_eight_ranks)
{
    static const uint32_t sizes[] = {2, 3, 6, 8};

    run_random(sizes[_i], VP_SYNC_FREE, false);
}
END_TEST

START_TEST(random_demands_with_a_barrier_per_activation)
{
    run_random(4, VP_SYNC_BARRIER, false);
}
END_TEST

START_TEST(random_demands_where_lanes_wait_for_each_other)
{
    static const uint32_t sizes[] = {2, 5, 8};

    run_random(sizes[_i], VP_SYNC_DEPS, false);
}
END_TEST

/* Many pieces per lane, with and without an end that overlaps the next lane. */
START_TEST(long_lanes_go_in_pieces)
{
    cluster_t cluster;

    cluster_make(&cluster, 4);
    cluster.options.sync = VP_SYNC_DEPS;
    cluster.options.chunk_bytes = 7001;
    cluster.options.overlap_percent = _i == 0 ? 0 : 400;
    cluster.seed = SEED;
    cluster_run(&cluster, body_random);
}
END_TEST

START_TEST(random_demands_with_thread_locks)
{
    run_random(4, VP_SYNC_FREE, true);
}
END_TEST

/* The model's order is the reverse of the communicator's, then a rotation of it. */
START_TEST(ranks_may_be_placed_in_any_order)
{
    cluster_t cluster;
    uint32_t i;

    cluster_make(&cluster, 5);
    for (i = 0; i < 5; i++) {
        cluster.order[i] = _i == 0 ? 4 - i : (i + 2) % 5;
    }
    cluster.seed = SEED;
    cluster_run(&cluster, body_random);
}
END_TEST

/* A sub-communicator: some of the catalog's ranks, in an order of their own. */
START_TEST(some_ranks_of_the_catalog)
{
    static const uint32_t orders[3][4] = {{5, 0, 3, 2}, {1, 2, 3, 4}, {5, 4, 3, 0}};
    cluster_t cluster;

    cluster_make(&cluster, 4);
    vp_catalog_destroy(cluster.catalog);
    cluster.catalog = planner_catalog(6);
    memcpy(cluster.order, orders[_i], sizeof(orders[_i]));
    cluster.seed = SEED;
    cluster_run(&cluster, body_random);
}
END_TEST

/* Same buffers: keys travel once. One rank's other buffer: once more. */
static void body_repeated(uint32_t rank, void *argument)
{
    const cluster_t *cluster = argument;
    engine_rank_t self;
    traffic_t traffic;
    buffers_t first, second;
    unsigned turn;

    engine_rank_start(&self, rank, cluster, true);
    traffic_random(&traffic, cluster->n_ranks, SEED, 5000);
    traffic.send[0][1] = traffic.room[0][1] = 4000; /* so that rank 1 has a window */
    buffers_make(&self, &traffic, &first);
    for (turn = 1; turn <= 5; turn++) {
        engine_rank_carry(&self, self.engine, &first, turn);
        RANKS_EQUAL(self.counters.key_exchanges, 1);
    }
    buffers_make(&self, &traffic, &second);
    engine_rank_carry(&self, self.engine, rank == 1 ? &second : &first, 6);
    RANKS_EQUAL(self.counters.key_exchanges, 2);
    engine_rank_carry(&self, self.engine, rank == 1 ? &second : &first, 7);
    RANKS_EQUAL(self.counters.key_exchanges, 2);
    engine_rank_carry(&self, self.engine, &first, 8);
    RANKS_EQUAL(self.counters.key_exchanges, 3);
    RANKS_EQUAL(self.counters.n_carried, 8);
    engine_rank_stop(&self);
}

START_TEST(keys_travel_only_when_they_change)
{
    cluster_t cluster;

    cluster_make(&cluster, 4);
    cluster_run(&cluster, body_repeated);
}
END_TEST

static void body_empty(uint32_t rank, void *argument)
{
    const cluster_t *cluster = argument;
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;
    unsigned n_collectives;

    engine_rank_start(&self, rank, cluster, true);
    memset(&traffic, 0, sizeof(traffic));
    buffers_make(&self, &traffic, &buffers);
    RANKS_CHECK(buffers.send[1].address == NULL && buffers.receive[1].address == NULL,
                "empty blocks have an address");
    engine_rank_carry(&self, self.engine, &buffers, 1);
    RANKS_EQUAL(self.counters.n_lanes, 0);
    n_collectives = self.members[0].n_collectives;
    engine_rank_carry(&self, self.engine, &buffers, 1);
    RANKS_EQUAL(self.members[0].n_collectives - n_collectives, 1);
    traffic.send[2][0] = traffic.room[2][0] = 77777;
    buffers_make(&self, &traffic, &buffers);
    engine_rank_carry(&self, self.engine, &buffers, 2);
    RANKS_CHECK((self.counters.n_lanes > 0) == (rank == 2), "%llu lanes",
                (unsigned long long)self.counters.n_lanes);
    /* Only blocks to oneself. */
    traffic.send[2][0] = traffic.room[2][0] = 0;
    traffic.send[1][1] = traffic.room[1][1] = 999;
    buffers_make(&self, &traffic, &buffers);
    engine_rank_carry(&self, self.engine, &buffers, 3);
    RANKS_EQUAL(self.counters.self_bytes, rank == 1 ? 999 : 0);
    engine_rank_stop(&self);
}

START_TEST(empty_demands_and_a_single_sender)
{
    cluster_t cluster;

    cluster_make(&cluster, 4);
    cluster_run(&cluster, body_empty);
}
END_TEST

/*
 * Rank 0 sends rank 1 too much, rank 2 expects more from rank 3 than comes, and
 * rank 2 sends itself too much. Ranks 0, 1 and 2 learn of it.
 */
static void body_truncated(uint32_t rank, void *argument)
{
    const cluster_t *cluster = argument;
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;
    vp_outcome_t outcome = {.verdict = VP_STAGED};
    vp_error_t error;
    vp_status_t status;
    vp_call_t call;

    engine_rank_start(&self, rank, cluster, true);
    traffic_random(&traffic, cluster->n_ranks, SEED + 5, 3000);
    traffic.send[0][1] = 2000;
    traffic.room[0][1] = 1500;
    traffic.send[3][2] = 800;
    traffic.room[3][2] = 1000;
    traffic.send[2][2] = 70;
    traffic.room[2][2] = 50;
    buffers_make(&self, &traffic, &buffers);
    buffers_fill(&self, &buffers, 3);
    call = (vp_call_t){.send = buffers.send, .receive = buffers.receive};
    status = vp_engine_alltoallv(self.engine, &call, &outcome, &error);
    RANKS_EQUAL(status, rank == 3 ? VP_OK : VP_ERR_TRUNCATE);
    RANKS_EQUAL(outcome.verdict, VP_CARRIED);
    if (rank < 2) {
        RANKS_CHECK(strstr(error.text, "rank 0 sends 2000 bytes") != NULL &&
                        strstr(error.text, "rank 1 has room for 1500") != NULL,
                    "%s", error.text);
    }
    buffers_check_arrived(&self, &buffers);
    /* The next call works. */
    traffic_random(&traffic, cluster->n_ranks, SEED + 6, 3000);
    buffers_make(&self, &traffic, &buffers);
    engine_rank_carry(&self, self.engine, &buffers, 4);
    engine_rank_stop(&self);
}

START_TEST(truncation_reaches_the_ranks_concerned)
{
    cluster_t cluster;

    cluster_make(&cluster, 4);
    cluster_run(&cluster, body_truncated);
}
END_TEST

/* Bytes per path kind are those of the own rows of the plan. */
static void body_counters(uint32_t rank, void *argument)
{
    const cluster_t *cluster = argument;
    const vp_model_t *model = cluster->catalog->model;
    vp_schedule_options_t options = {.alpha_ns = model->alpha_ns};
    uint64_t demand[RANKS_MAX * RANKS_MAX] = {0}, expected[VP_N_PATH_KINDS] = {0}, n_lanes = 0;
    uint32_t i, j, n = cluster->n_ranks;
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;
    vp_plan_t *plan;
    size_t k;

    engine_rank_start(&self, rank, cluster, true);
    traffic_random(&traffic, n, SEED + 9, 9000);
    for (i = 0; i < n; i++) {
        for (j = 0; j < n; j++) {
            demand[cluster->order[i] * n + cluster->order[j]] = i == j ? 0 : traffic.send[i][j];
        }
    }
    RANKS_EQUAL(vp_schedule_find(cluster->options.scheduler)(cluster->catalog, demand, &options,
                                                             &plan, NULL),
                VP_OK);
    for (k = 0; k < plan->n_lanes; k++) {
        if (plan->lanes[k].source == cluster->order[rank]) {
            expected[model->instances[plan->lanes[k].instance].kind] += plan->lanes[k].n_bytes;
            n_lanes++;
        }
    }
    buffers_make(&self, &traffic, &buffers);
    engine_rank_carry(&self, self.engine, &buffers, 1);
    for (i = 0; i < VP_N_PATH_KINDS; i++) {
        RANKS_EQUAL(self.counters.sent_bytes[i], expected[i]);
    }
    RANKS_EQUAL(self.counters.n_lanes, n_lanes);
    RANKS_EQUAL(self.counters.n_activations, plan->n_activations);
    RANKS_EQUAL(self.counters.self_bytes, traffic.send[rank][rank]);
    RANKS_CHECK(strstr(self.last_line, "carried") != NULL, "log line \"%s\"", self.last_line);
    vp_plan_destroy(plan);
    engine_rank_stop(&self);
}

START_TEST(counters_are_those_of_the_plan)
{
    cluster_t cluster;

    cluster_make(&cluster, 6);
    cluster.order[0] = 5;
    cluster.order[5] = 0;
    cluster_run(&cluster, body_counters);
}
END_TEST

static void body_two_engines(uint32_t rank, void *argument)
{
    const cluster_t *cluster = argument;
    engine_rank_t self;
    traffic_t traffic;
    buffers_t first, second;
    vp_engine_t *other;
    unsigned turn;

    engine_rank_start(&self, rank, cluster, true);
    other = engine_rank_engine(&self, 1);
    traffic_random(&traffic, cluster->n_ranks, SEED + 3, 20000);
    traffic.send[0][1] = traffic.room[0][1] = 4000;
    buffers_make(&self, &traffic, &first);
    buffers_make(&self, &traffic, &second);
    for (turn = 1; turn <= 3; turn++) {
        engine_rank_carry(&self, self.engine, &first, turn);
        engine_rank_carry(&self, other, &second, turn);
    }
    RANKS_EQUAL(self.counters.key_exchanges, 2);
    ranks_barrier(&self.members[0]);
    vp_engine_destroy(other);
    engine_rank_carry(&self, self.engine, &second, 4);
    engine_rank_stop(&self);
}

START_TEST(two_engines_share_lanes)
{
    cluster_t cluster;

    cluster_make(&cluster, 4);
    cluster_run(&cluster, body_two_engines);
}
END_TEST

static void body_without_lanes(uint32_t rank, void *argument)
{
    const cluster_t *cluster = argument;
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;

    engine_rank_start(&self, rank, cluster, rank != 2);
    traffic_random(&traffic, cluster->n_ranks, SEED, 1000);
    buffers_make(&self, &traffic, &buffers);
    engine_rank_pass(&self, self.engine, &buffers, 0, "rank 2 has no UCX lanes");
    engine_rank_pass(&self, self.engine, &buffers, 0, "rank 2 has no UCX lanes");
    RANKS_EQUAL(self.counters.n_passed_on, 2);
    engine_rank_stop(&self);
}

START_TEST(a_rank_without_lanes_passes_all_on)
{
    cluster_t cluster;

    cluster_make(&cluster, 4);
    cluster_run(&cluster, body_without_lanes);
}
END_TEST

static Suite *engine_suite(void)
{
    Suite *suite = suite_create("engine");
    TCase *tcase = tcase_create("carried");

    (void)printf("seed %d\n", SEED);
    tcase_set_timeout(tcase, 2 * RANKS_SECONDS);
    tcase_add_loop_test(tcase, random_demands_on_two_to_eight_ranks, 0, 4);
    tcase_add_test(tcase, random_demands_with_a_barrier_per_activation);
    tcase_add_loop_test(tcase, random_demands_where_lanes_wait_for_each_other, 0, 3);
    tcase_add_loop_test(tcase, long_lanes_go_in_pieces, 0, 2);
    tcase_add_test(tcase, random_demands_with_thread_locks);
    tcase_add_loop_test(tcase, ranks_may_be_placed_in_any_order, 0, 2);
    tcase_add_loop_test(tcase, some_ranks_of_the_catalog, 0, 3);
    tcase_add_test(tcase, keys_travel_only_when_they_change);
    tcase_add_test(tcase, empty_demands_and_a_single_sender);
    tcase_add_test(tcase, truncation_reaches_the_ranks_concerned);
    tcase_add_test(tcase, counters_are_those_of_the_plan);
    tcase_add_test(tcase, two_engines_share_lanes);
    tcase_add_test(tcase, a_rank_without_lanes_passes_all_on);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(engine_suite());
    int n_failed;

    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
