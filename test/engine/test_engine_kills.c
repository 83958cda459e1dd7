/*
 * One rank is killed at a random moment: every survivor comes back with an error
 * that names somebody, its bytes and those of others stay inside their blocks, and
 * the next call does not wait for the dead. VP_TEST_KILLS sets how often.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_rank.h"

enum { SEED = 4711, N_RANKS = 5, N_KILLS = 12, MAX_CALLS = 100000, MAX_DELAY_US = 60000 };

/* Calls until one fails; the one after it must come back as well. */
static void body_survive(uint32_t rank, void *argument)
{
    const cluster_t *cluster = argument;
    vp_outcome_t outcome = {.verdict = VP_CARRIED};
    vp_status_t status = VP_OK;
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;
    vp_error_t error = {.text = ""};
    vp_call_t call;
    unsigned turn;

    engine_rank_start(&self, rank, cluster, true);
    traffic_random(&traffic, cluster->n_ranks, cluster->seed, 60000);
    buffers_make(&self, &traffic, &buffers);
    call = (vp_call_t){.send = buffers.send, .receive = buffers.receive};
    for (turn = 0; turn < MAX_CALLS && status == VP_OK && outcome.verdict == VP_CARRIED; turn++) {
        buffers_fill(&self, &buffers, turn);
        status = vp_engine_alltoallv(self.engine, &call, &outcome, &error);
        if (status == VP_OK && outcome.verdict == VP_CARRIED) {
            buffers_check_arrived(&self, &buffers);
        }
    }
    /* Whom the dead did not let connect passes on, before any byte. */
    RANKS_CHECK(outcome.verdict == VP_PASSED_ON || status == VP_ERR_TRANSPORT ||
                    status == VP_ERR_TIMEOUT,
                "%s (%s)", vp_status_text((int)status), error.text);
    RANKS_CHECK(status == VP_OK || strstr(error.text, "rank ") != NULL ||
                    strstr(error.text, "below this collective failed") != NULL,
                "\"%s\" names nobody", error.text);
    status = vp_engine_alltoallv(self.engine, &call, &outcome, &error);
    RANKS_CHECK(status == VP_OK && outcome.verdict == VP_PASSED_ON, "%s",
                vp_status_text((int)status));
    ranks_expect_leaks();
    engine_rank_stop(&self);
}

static void kill_one(vp_sync_t sync, unsigned seed)
{
    cluster_t cluster;

    srand(seed);
    cluster_make(&cluster, N_RANKS);
    cluster.seed = seed;
    cluster.options.sync = sync;
    cluster.options.timeout_ms = 150;
    ranks_run_killing(N_RANKS, body_survive, &cluster, cluster.comms[0], (uint32_t)rand() % N_RANKS,
                      (unsigned)rand() % MAX_DELAY_US);
    cluster_destroy(&cluster);
}

START_TEST(survivors_of_a_killed_rank_come_back)
{
    static const vp_sync_t modes[] = {VP_SYNC_DEPS, VP_SYNC_BARRIER, VP_SYNC_FREE};
    const char *wanted = getenv("VP_TEST_KILLS");
    int i, n_kills = wanted == NULL ? N_KILLS : atoi(wanted);

    for (i = 0; i < n_kills; i++) {
        kill_one(modes[i % 3], SEED + (unsigned)i);
    }
    (void)printf("%d ranks were killed\n", n_kills);
}
END_TEST

static Suite *kills_suite(void)
{
    Suite *suite = suite_create("engine kills");
    TCase *tcase = tcase_create("death");

    (void)printf("seed %d\n", SEED);
    tcase_set_timeout(tcase, 3600);
    tcase_add_test(tcase, survivors_of_a_killed_rank_come_back);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(kills_suite());
    int n_failed;

    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
