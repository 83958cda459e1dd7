/*
 * Device buffers on one rank: all ranks stage, whether the communicator is
 * carried otherwise or not, and a rank that cannot is an error on all.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "engine_rank.h"
#include "lanes_fake.h"
#include "planner.h"

enum { N_RANKS = 4, VICTIM = 2, SEED = 41 };

typedef struct device_case {
    bool carried;  /* host buffers are carried */
    bool devices;  /* the victim has a driver at the first call */
    uint32_t bits; /* the victim's obstacles */
    vp_status_t status;
    vp_verdict_t verdict;
    const char *reason;
} device_case_t;

static const device_case_t cases[] = {
    {true, false, VP_OBSTACLE_DEVICE, VP_OK, VP_STAGED, "rank 2: device buffers"},
    {true, true, VP_OBSTACLE_DEVICE, VP_OK, VP_STAGED, "rank 2: device buffers"},
    {true, true, VP_OBSTACLE_DEVICE | VP_OBSTACLE_IN_PLACE, VP_OK, VP_STAGED, "device buffers"},
    {true, true, VP_OBSTACLE_DEVICE_LOST, VP_ERR_DEVICE, VP_STAGED, "rank 2: the CUDA driver"},
    {true, true, 0, VP_OK, VP_CARRIED, ""},
    {false, true, VP_OBSTACLE_DEVICE, VP_OK, VP_STAGED, "rank 2: device buffers"},
    {false, true, VP_OBSTACLE_DEVICE_LOST, VP_ERR_DEVICE, VP_STAGED, "rank 2: the CUDA driver"},
    {false, true, 0, VP_OK, VP_PASSED_ON, "host buffers alone"},
    /* Nobody had a driver: nothing is asked, and nothing is agreed. */
    {false, false, VP_OBSTACLE_DEVICE, VP_OK, VP_PASSED_ON, "host buffers alone"},
};
enum { N_CASES = sizeof(cases) / sizeof(cases[0]) };

static void start(engine_rank_t *self, uint32_t rank, cluster_t *cluster, traffic_t *traffic,
                  buffers_t *buffers)
{
    engine_rank_start(self, rank, cluster, true);
    traffic_random(traffic, cluster->n_ranks, SEED, 1000);
    buffers_make(self, traffic, buffers);
}

static void one_call(engine_rank_t *self, buffers_t *buffers, const device_case_t *expected)
{
    vp_call_t call = {.send = buffers->send,
                      .receive = buffers->receive,
                      .obstacles = self->rank == VICTIM ? expected->bits : 0};
    vp_outcome_t outcome = {.verdict = VP_STAGED, .reason = ""};
    vp_error_t error = {.text = ""};
    vp_status_t status;

    buffers_fill(self, buffers, 0);
    status = vp_engine_alltoallv(self->engine, &call, &outcome, &error);
    RANKS_CHECK(status == expected->status, "status %d, %s", (int)status, error.text);
    RANKS_CHECK(outcome.verdict == expected->verdict, "%s", vp_verdict_text(outcome.verdict));
    RANKS_CHECK(strstr(status == VP_OK ? outcome.reason : error.text, expected->reason) != NULL,
                "\"%s\" lacks \"%s\"", status == VP_OK ? outcome.reason : error.text,
                expected->reason);
    if (expected->verdict != VP_CARRIED) {
        buffers_check_blank(self, buffers);
    }
}

static void body_verdict(uint32_t rank, void *argument)
{
    cluster_t cluster = *(cluster_t *)argument;
    const device_case_t *expected = cluster.extra;
    bool staged = expected->status == VP_OK && expected->verdict == VP_STAGED;
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;

    cluster.options.carry_host = expected->carried;
    cluster.options.devices = expected->devices && rank == VICTIM;
    start(&self, rank, &cluster, &traffic, &buffers);
    one_call(&self, &buffers, expected);
    one_call(&self, &buffers, expected);
    RANKS_EQUAL(self.counters.n_staged, staged ? 2 : 0);
    if (expected->carried) {
        /* A call of this kind spoils nothing for the next one. */
        engine_rank_carry(&self, self.engine, &buffers, 1);
    }
    engine_rank_stop(&self);
}

START_TEST(one_rank_decides_for_all)
{
    cluster_t cluster;

    cluster_make(&cluster, N_RANKS);
    cluster.extra = &cases[_i];
    cluster_run(&cluster, body_verdict);
}
END_TEST

static void body_agree(uint32_t rank, void *argument)
{
    static const device_case_t staged = {true,  true,      VP_OBSTACLE_DEVICE,
                                         VP_OK, VP_STAGED, "rank 2: device buffers"};
    cluster_t cluster = *(cluster_t *)argument;
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;
    vp_error_t error = {.text = ""};
    vp_status_t status;

    start(&self, rank, &cluster, &traffic, &buffers);
    one_call(&self, &buffers, &staged);
    RANKS_EQUAL(vp_engine_agree_staging(self.engine, VP_OK, &error), VP_OK);
    one_call(&self, &buffers, &staged);
    status =
        vp_engine_agree_staging(self.engine, rank == VICTIM ? VP_ERR_NO_MEMORY : VP_OK, &error);
    RANKS_EQUAL(status, VP_ERR_NO_MEMORY);
    RANKS_CHECK(strstr(error.text, "rank 2 could not stage") != NULL, "%s", error.text);
    engine_rank_carry(&self, self.engine, &buffers, 1);
    engine_rank_stop(&self);
}

START_TEST(a_rank_that_cannot_stage_is_an_error_on_all)
{
    cluster_t cluster;

    cluster_make(&cluster, N_RANKS);
    cluster_run(&cluster, body_agree);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("device verdicts");
    TCase *tcase = tcase_create("device verdicts");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(tcase, 2 * RANKS_SECONDS);
    tcase_add_loop_test(tcase, one_rank_decides_for_all, 0, N_CASES);
    tcase_add_test(tcase, a_rank_that_cannot_stage_is_an_error_on_all);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
