/*
 * Every allocation of the simulator fails once: baselines, plans, steps,
 * demands, links that are gone.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "catalog/restrict.h"
#include "scheduler/schedule.h"
#include "sim/demand_gen.h"
#include "sim/fail.h"
#include "sim/simulation.h"
#include "sweep.h"
#include "test/sim/models.h"

enum { N = 8, MAX_BASELINES = 32 };

/* Two nodes of two switches with two ranks and a NIC each; made before anything fails. */
static const test_shape_t shape = {2, 2, 2, 1, VP_PATH_PHB};
static vp_model_t *model;
static uint64_t demand[N * N];
static vp_catalog_t catalog;
static vp_plan_t *plan;

static void set_up(void)
{
    vp_schedule_options_t options = {.alpha_ns = 1000};
    vp_error_t error;
    uint32_t i;

    model = test_model(&shape);
    for (i = 0; i < N * N; i++) {
        demand[i] = i % (N + 1) == 0 ? 0 : (i * 7 % 11) * MB;
    }
    catalog.model = model;
    ck_assert_int_eq(vp_schedule_colour(&catalog, demand, &options, &plan, &error), VP_OK);
}

static void tear_down(void)
{
    vp_plan_destroy(plan);
    vp_model_destroy(model);
}

static const vp_simulation_options_t plain = {.machine = {"ideal", 0, 1, false},
                                              .keep_flows = true};

static vp_status_t finish(vp_status_t status, vp_simulation_t *simulation, uint64_t *digest_p)
{
    if (status == VP_OK) {
        *digest_p = simulation->time_ns * 1000 + simulation->n_flows;
        vp_simulation_release(simulation);
    }
    return status;
}

static vp_status_t run_baseline(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    vp_simulation_t simulation = {0};
    vp_status_t status = vp_simulate_baseline(model, demand, argument, &plain, &simulation, error);

    return finish(status, &simulation, digest_p);
}

START_TEST(baselines)
{
    char names[512];
    char *rest = NULL;
    const char *name;
    unsigned n = 0;

    ck_assert_uint_lt(strlen(vp_baseline_names()), sizeof(names));
    strcpy(names, vp_baseline_names());
    for (name = strtok_r(names, ", ", &rest); name != NULL; name = strtok_r(NULL, ", ", &rest)) {
        sweep(name, run_baseline, vp_baseline_find(name));
        n++;
    }
    ck_assert_uint_eq(n, 14);
}
END_TEST

static vp_status_t run_plan(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    const vp_execution_t *execution = argument;
    vp_simulation_options_t options = plain;
    vp_simulation_t simulation = {0};
    vp_status_t status;

    options.execute = (vp_execute_options_t){*execution, 1000, 500, 0};
    options.machine.exact = *execution == VP_EXECUTION_DEPS;
    status = vp_simulate_plan(model, plan, &options, &simulation, error);
    return finish(status, &simulation, digest_p);
}

START_TEST(plans)
{
    vp_execution_t execution = (vp_execution_t)_i;

    sweep(vp_execution_text(execution), run_plan, &execution);
}
END_TEST

static vp_status_t run_steps(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    const vp_steps_t *steps = argument;
    static uint64_t bytes[N * N];
    vp_simulation_t simulation = {0};
    vp_status_t status;

    bytes[1] = 2 * MB;
    bytes[N + 0] = MB;
    status = vp_steps_check(steps, model, bytes, error);
    if (status == VP_OK) {
        status = vp_simulate_steps(model, steps, &plain, &simulation, error);
    }
    return finish(status, &simulation, digest_p);
}

START_TEST(steps_of_others)
{
    uint32_t inside = (uint32_t)model->pair_begin[0];
    vp_transfer_t transfers[] = {{0, 0, 1, inside, 0, 1, 2 * MB}, {1, 1, 0, inside, 1, 0, MB}};
    vp_steps_t steps = {N, (vp_execution_t)_i, 2, transfers};

    sweep("steps", run_steps, &steps);
}
END_TEST

static vp_status_t run_demand(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    uint64_t *bytes;
    vp_status_t status = vp_demand_generate(argument, &bytes, error);

    if (status == VP_OK) {
        *digest_p = vp_hash64(bytes, N * N * sizeof(*bytes));
        free(bytes);
    }
    return status;
}

START_TEST(demands)
{
    vp_demand_options_t options = {.kind = (vp_demand_kind_t)_i,
                                   .n_ranks = N,
                                   .seed = 3,
                                   .bytes_per_rank = MB,
                                   .element_bytes = 4,
                                   .exponent = 0.6,
                                   .tokens = 64,
                                   .experts = 16,
                                   .top_k = 2,
                                   .hidden = 128,
                                   .dedup = VP_DEDUP_NODE,
                                   .ranks_per_node = 4,
                                   .n_hot = 1,
                                   .hot_ppm = 300000,
                                   .hot_factor = 2};

    sweep("demand", run_demand, &options);
    options.over = VP_ZIPF_RANKED_ROWS;
    options.scale_rows = true;
    sweep("demand by rows", run_demand, &options);
}
END_TEST

/* On a copy, since it is changed in place: a link goes, and a plan moves to what is left. */
static vp_status_t run_failure(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    static const uint32_t ranks[N] = {0, 1, 2, 3, 4, 5, 6, 7};
    vp_schedule_options_t options = {.alpha_ns = 1000};
    vp_model_t *broken = NULL;
    vp_plan_t *moved = NULL;
    vp_status_t status = vp_model_restrict(model, ranks, N, &broken, error);

    if (status == VP_OK) {
        status = vp_model_fail_link(broken, argument, error);
    }
    if (status == VP_OK) {
        status = vp_schedule_colour(&catalog, demand, &options, &moved, error);
    }
    if (status == VP_OK) {
        status = vp_plan_reroute(moved, model, broken, error);
        *digest_p = vp_hash64(moved->lanes, moved->n_lanes * sizeof(moved->lanes[0]));
    }
    vp_plan_destroy(moved);
    vp_model_destroy(broken);
    return status;
}

START_TEST(links_that_fail)
{
    sweep("a NIC is gone", run_failure, "node0/nic0:tx");
    sweep("an uplink is gone", run_failure, "node1/sw0:up");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("allocations of the simulator");
    TCase *tcase = tcase_create("sweep");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(tcase, sweep_is_whole() ? 1200 : 120);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, baselines);
    tcase_add_loop_test(tcase, plans, VP_EXECUTION_BARRIER, VP_EXECUTION_WINDOW);
    tcase_add_loop_test(tcase, steps_of_others, VP_EXECUTION_BARRIER, VP_EXECUTION_WINDOW);
    tcase_add_loop_test(tcase, demands, VP_DEMAND_UNIFORM, VP_DEMAND_HOTSPOT + 1);
    tcase_add_test(tcase, links_that_fail);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
