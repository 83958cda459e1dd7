/*
 * Every allocation of the scheduler fails once: planners, bounds, the checker
 * and the demand parser.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "scheduler/alignment.h"
#include "scheduler/demand.h"
#include "scheduler/schedule.h"
#include "sweep.h"
#include "test/scheduler/demands.h"
#include "test/scheduler/machines.h"

typedef struct plan_case {
    const char *planner;
    const char *machine;
    bool is_generated; /* a catalog without families */
    demand_kind_t demand;
    vp_fix_t fix;
    vp_effort_t effort;
    vp_sharing_t sharing;
    bool by_dependencies;
    bool with_pool;
    bool with_prefix;
} plan_case_t;

static const plan_case_t plan_cases[] = {
    {.planner = "paper", .machine = "fig1-6", .demand = DEMAND_ZIPF},
    {.planner = "paper", .machine = "uneven", .demand = DEMAND_SPARSE, .fix = VP_FIX_PEERS},
    {.planner = "paper", .machine = "fig1-6", .demand = DEMAND_DENSE, .fix = VP_FIX_BOTH},
    {.planner = "paper", .machine = "sockets", .is_generated = true, .demand = DEMAND_DENSE},
    {.planner = "colour", .machine = "r5080-bf3-2", .demand = DEMAND_ZIPF},
    {.planner = "colour", .machine = "uneven", .demand = DEMAND_HOT, .effort = VP_EFFORT_THOROUGH},
    {.planner = "colour", .machine = "sockets", .demand = DEMAND_ZIPF, .with_pool = true},
    {.planner = "critical", .machine = "r5080-bf3-1", .demand = DEMAND_ZIPF},
    {.planner = "critical", .machine = "fig1-6", .demand = DEMAND_SPARSE, .with_pool = true},
    {.planner = "critical",
     .machine = "singles",
     .demand = DEMAND_HOT,
     .effort = VP_EFFORT_THOROUGH},
    {.planner = "list", .machine = "r5080-bf3-1", .demand = DEMAND_ZIPF},
    {.planner = "list", .machine = "uneven", .demand = DEMAND_DENSE, .effort = VP_EFFORT_THOROUGH},
    {.planner = "list", .machine = "sockets", .demand = DEMAND_SPARSE, .with_pool = true},
    {.planner = "concurrent", .machine = "sockets", .demand = DEMAND_ZIPF},
    {.planner = "concurrent",
     .machine = "uneven",
     .demand = DEMAND_HOT,
     .effort = VP_EFFORT_THOROUGH},
    {.planner = "auto", .machine = "fig1-6", .demand = DEMAND_ZIPF},
    {.planner = "auto",
     .machine = "singles",
     .demand = DEMAND_ZIPF,
     .effort = VP_EFFORT_THOROUGH,
     .by_dependencies = true},
    {.planner = "auto",
     .machine = "singles",
     .demand = DEMAND_HOT,
     .effort = VP_EFFORT_THOROUGH,
     .sharing = VP_SHARING_AUTO},
    {.planner = "auto", .machine = "no-nic", .demand = DEMAND_DENSE, .sharing = VP_SHARING_ON},
    {.planner = "auto",
     .machine = "r5080-bf3-2",
     .is_generated = true,
     .demand = DEMAND_SPARSE,
     .by_dependencies = true,
     .with_pool = true},
    {.planner = "colour", .machine = "r5080-bf3-1", .demand = DEMAND_ZIPF, .with_prefix = true},
    {.planner = "list", .machine = "fig1-6", .demand = DEMAND_DENSE, .with_prefix = true},
};
enum { N_PLAN_CASES = sizeof(plan_cases) / sizeof(plan_cases[0]) };

/* Of the running case; made before anything fails. */
static vp_catalog_t *catalog;
static uint64_t *demand;

static void set_up(const char *machine, bool is_generated, demand_kind_t kind)
{
    catalog = is_generated ? machine_generated(machine_find(machine))
                           : machine_catalog(machine_find(machine));
    demand = demand_make(kind, catalog->model->n_ranks, 7);
}

static void tear_down(void)
{
    free(demand);
    vp_catalog_destroy(catalog);
}

static vp_status_t make_plan(const plan_case_t *it, const vp_schedule_options_t *options,
                             vp_plan_t **plan_p, vp_error_t *error)
{
    vp_schedule_fn_t planner = vp_schedule_find(it->planner);
    vp_plan_t *prefix;
    vp_status_t status;

    if (!it->with_prefix) {
        return planner(catalog, demand, options, plan_p, error);
    }
    status = vp_schedule_prefix(catalog->model, demand, options, &prefix, error);
    if (status == VP_OK) {
        status = vp_schedule_after(prefix, planner, catalog, demand, options, plan_p, error);
        vp_plan_destroy(prefix);
    }
    return status;
}

static vp_status_t run_plan(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    const plan_case_t *it = argument;
    uint64_t alpha_ns = catalog->model->alpha_ns;
    vp_schedule_options_t options = {.alpha_ns = alpha_ns,
                                     .fix = it->fix,
                                     .effort = it->effort,
                                     .sharing = it->sharing,
                                     .by_dependencies = it->by_dependencies};
    vp_plan_t *plan = NULL;
    vp_status_t status;

    if (it->with_pool) {
        options.pool = vp_pool_create();
        if (options.pool == NULL) {
            return vp_error_no_memory(error, "the pool");
        }
    }
    status = make_plan(it, &options, &plan, error);
    if (status == VP_OK) {
        status = vp_plan_check(plan, catalog->model, demand, alpha_ns, error);
        *digest_p = plan->hash ^ plan->time_ns;
    }
    vp_plan_destroy(plan);
    vp_pool_destroy(options.pool);
    return status;
}

START_TEST(planners)
{
    const plan_case_t *it = &plan_cases[_i];

    set_up(it->machine, it->is_generated, it->demand);
    sweep(it->planner, run_plan, it);
    tear_down();
}
END_TEST

static vp_status_t run_bound(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    const vp_model_t *model = catalog->model;
    vp_bound_t bound = {0, 0, 0};
    uint64_t list_ns = 0;
    uint64_t fluid_ns = 0;
    uint64_t pairwise_ns = 0;
    uint64_t alignment_ns = 0;
    vp_status_t status = vp_bound(model, demand, model->alpha_ns, &bound, error);

    (void)argument;
    if (status == VP_OK) {
        status = vp_list_bound(model, demand, model->alpha_ns, &list_ns, error);
    }
    if (status == VP_OK) {
        status = vp_fluid_bound(model, demand, &fluid_ns, error);
    }
    if (status == VP_OK) {
        status = vp_pairwise_ns(model, demand, model->alpha_ns, &pairwise_ns, error);
    }
    if (status == VP_OK) {
        status = vp_alignment_bound(model, demand, model->alpha_ns, &bound, &alignment_ns, error);
    }
    *digest_p = bound.bound_ns + 3 * list_ns + 5 * fluid_ns + 7 * pairwise_ns + 11 * alignment_ns;
    return status;
}

START_TEST(bounds)
{
    set_up("uneven", false, DEMAND_ZIPF);
    sweep("bounds", run_bound, NULL);
    tear_down();
}
END_TEST

static vp_status_t run_parse(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    uint64_t *bytes;
    uint32_t n;
    vp_status_t status = vp_demand_parse(argument, "d.csv", &bytes, &n, error);

    if (status == VP_OK) {
        *digest_p = vp_hash64(bytes, (size_t)n * n * sizeof(*bytes));
        free(bytes);
    }
    return status;
}

START_TEST(the_demand_parser)
{
    sweep("demand parser", run_parse,
          "# ranks: 9\n0,1,2,3,4,5,6,7,8\n1,0,2,3,4,5,6,7,8\n1,2,0,3,4,5,6,7,8\n"
          "1,2,3,0,4,5,6,7,8\n1,2,3,4,0,5,6,7,8\n1,2,3,4,5,0,6,7,8\n1,2,3,4,5,6,0,7,8\n"
          "1,2,3,4,5,6,7,0,8\n1,2,3,4,5,6,7,8,0\n");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("allocations of the scheduler");
    TCase *tcase = tcase_create("sweep");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(tcase, sweep_is_whole() ? 1200 : 120);
    tcase_add_loop_test(tcase, planners, 0, N_PLAN_CASES);
    tcase_add_test(tcase, bounds);
    tcase_add_test(tcase, the_demand_parser);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
