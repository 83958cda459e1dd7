/*
 * Ranks as threads of one process, so that the thread sanitizer sees what orders
 * the bytes of one rank before the reads of another: records, signals, meetings.
 * Lanes are those of the tests, which write straight into the receiver's memory.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_rank.h"
#include "lanes_fake.h"

enum { SEED = 70, LARGE = 100000, VICTIM = 2 };

static void run(uint32_t n_ranks, vp_sync_t sync, void (*body)(uint32_t, void *))
{
    cluster_t cluster;

    cluster_make(&cluster, n_ranks);
    cluster.options.sync = sync;
    cluster.options.chunk_bytes = 9000;
    cluster.options.overlap_percent = sync == VP_SYNC_DEPS ? 400 : 0;
    cluster.seed = SEED;
    ranks_run_threads(n_ranks, body, &cluster);
    cluster_destroy(&cluster);
}

/* Counts that are new and counts that come again, in buffers old and new. */
static void body_random(uint32_t rank, void *argument)
{
    const cluster_t *cluster = argument;
    engine_rank_t self;
    traffic_t traffics[2];
    buffers_t buffers[2];
    unsigned turn;

    engine_rank_start(&self, rank, cluster, true);
    for (turn = 0; turn < 2; turn++) {
        traffic_random(&traffics[turn], cluster->n_ranks, cluster->seed + turn, LARGE);
        buffers_make(&self, &traffics[turn], &buffers[turn]);
    }
    for (turn = 1; turn <= 8; turn++) {
        engine_rank_carry(&self, self.engine, &buffers[turn / 2 % 2], turn);
    }
    RANKS_EQUAL(self.counters.n_carried, 8);
    RANKS_EQUAL(self.counters.n_cache_hits, 6);
    engine_rank_stop(&self);
}

START_TEST(ranks_of_one_process_carry)
{
    static const vp_sync_t syncs[] = {VP_SYNC_DEPS, VP_SYNC_BARRIER, VP_SYNC_FREE, VP_SYNC_AUTO};

    run(2 + 2 * (uint32_t)_i, syncs[_i], body_random);
}
END_TEST

/* A put that breaks: all ranks return, and then none writes any more. */
static void body_broken(uint32_t rank, void *argument)
{
    const cluster_t *cluster = argument;
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;
    vp_call_t call;
    vp_outcome_t outcome = {.verdict = VP_STAGED};
    vp_error_t error = {.text = ""};

    engine_rank_start(&self, rank, cluster, true);
    traffic_random(&traffic, cluster->n_ranks, cluster->seed, LARGE);
    traffic.send[VICTIM][0] = traffic.room[VICTIM][0] = LARGE;
    buffers_make(&self, &traffic, &buffers);
    engine_rank_carry(&self, self.engine, &buffers, 1);
    lanes_fake.knobs.break_put = rank == VICTIM ? lanes_fake.n_puts + 2 : 0;
    buffers_fill(&self, &buffers, 2);
    call = (vp_call_t){.send = buffers.send, .receive = buffers.receive};
    RANKS_EQUAL(vp_engine_alltoallv(self.engine, &call, &outcome, &error), VP_ERR_TRANSPORT);
    RANKS_CHECK(strstr(error.text, "rank 2 to rank") != NULL, "%s", error.text);
    /* The buffers are the application's again. */
    buffers_fill(&self, &buffers, 3);
    buffers_check_blank(&self, &buffers);
    engine_rank_stop(&self);
}

START_TEST(ranks_of_one_process_fail_alike)
{
    static const vp_sync_t syncs[] = {VP_SYNC_DEPS, VP_SYNC_BARRIER, VP_SYNC_FREE};

    run(4, syncs[_i], body_broken);
}
END_TEST

static Suite *together_suite(void)
{
    Suite *suite = suite_create("engine together");
    TCase *tcase = tcase_create("threads");

    (void)printf("seed %d\n", SEED);
    tcase_set_timeout(tcase, 4 * RANKS_SECONDS);
    tcase_add_loop_test(tcase, ranks_of_one_process_carry, 0, 4);
    tcase_add_loop_test(tcase, ranks_of_one_process_fail_alike, 0, 3);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(together_suite());
    int n_failed;

    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
