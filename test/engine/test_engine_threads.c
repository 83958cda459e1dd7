/*
 * Threads of one process, each with an engine, over the same UCX lanes.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>

#include "engine_rank.h"

enum { SEED = 20 };

typedef struct worker {
    engine_rank_t *self;
    vp_engine_t *engine;
    buffers_t buffers;
    traffic_t traffic;
    pthread_t thread;
} worker_t;

static void *work(void *argument)
{
    worker_t *worker = argument;
    unsigned turn;

    for (turn = 1; turn <= 10; turn++) {
        engine_rank_carry(worker->self, worker->engine, &worker->buffers, turn);
    }
    return NULL;
}

static void body_threads(uint32_t rank, void *argument)
{
    const cluster_t *cluster = argument;
    static worker_t workers[N_COMMS];
    engine_rank_t self;
    unsigned i;

    engine_rank_start(&self, rank, cluster, true);
    for (i = 0; i < N_COMMS; i++) {
        workers[i].self = &self;
        workers[i].engine = i == 0 ? self.engine : engine_rank_engine(&self, i);
        traffic_random(&workers[i].traffic, cluster->n_ranks, SEED + i, 50000);
        buffers_make(&self, &workers[i].traffic, &workers[i].buffers);
    }
    for (i = 0; i < N_COMMS; i++) {
        RANKS_EQUAL(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (i = 0; i < N_COMMS; i++) {
        RANKS_EQUAL(pthread_join(workers[i].thread, NULL), 0);
    }
    RANKS_EQUAL(self.counters.n_carried, N_COMMS * 10);
    ranks_barrier(&self.members[0]);
    vp_engine_destroy(workers[1].engine);
    engine_rank_stop(&self);
}

START_TEST(two_threads_with_an_engine_each)
{
    cluster_t cluster;

    cluster_make(&cluster, 3);
    cluster.threads = true;
    cluster_run(&cluster, body_threads);
}
END_TEST

static Suite *threads_suite(void)
{
    Suite *suite = suite_create("engine threads");
    TCase *tcase = tcase_create("ucx");

    tcase_set_timeout(tcase, 2 * RANKS_SECONDS);
    tcase_add_test(tcase, two_threads_with_an_engine_each);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(threads_suite());
    int n_failed;

    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
