/*
 * The planners "critical" and "auto": properties over random machines and
 * demands, and floors of quality on fixtures.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/critical.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "test/scheduler/demands.h"
#include "test/scheduler/machines.h"
#include "test/scheduler/random_machines.h"

/* A pool that has been through planning on other machines; blocks hold what was left there. */
static vp_pool_t *used_pool(void)
{
    static vp_pool_t *pool;

    if (pool == NULL) {
        pool = vp_pool_create();
        ck_assert_ptr_nonnull(pool);
    }
    return pool;
}

/* Plans twice, with new memory and with used memory, checks both, and returns the time. */
static uint64_t check_demand(vp_schedule_fn_t planner, const vp_catalog_t *catalog,
                             const uint64_t *bytes, const vp_schedule_options_t *options)
{
    vp_plan_t *plan = NULL;
    vp_plan_t *again = NULL;
    vp_schedule_options_t used = *options;
    vp_error_t error;
    uint64_t time_ns;

    used.pool = used_pool();
    ck_assert_msg(planner(catalog, bytes, options, &plan, &error) == VP_OK, "%s", error.text);
    ck_assert_msg(planner(catalog, bytes, &used, &again, &error) == VP_OK, "%s", error.text);
    check_plan(plan, catalog->model, bytes, options->alpha_ns);
    ck_assert_msg(plan->hash == again->hash && plan->time_ns == again->time_ns,
                  "two runs differ: hash %016" PRIx64 " and %016" PRIx64, plan->hash, again->hash);
    time_ns = plan->time_ns;
    vp_plan_destroy(again);
    vp_plan_destroy(plan);
    return time_ns;
}

static void check_random(vp_schedule_fn_t planner, vp_effort_t effort, uint64_t seed,
                         uint32_t n_rounds, uint32_t max_ranks)
{
    static const uint64_t alphas[] = {0, 1, 1000, 10000, 1000000};
    uint64_t state = seed;
    uint32_t i;

    for (i = 0; i < n_rounds; i++) {
        vp_catalog_t *catalog = random_machine(&state, max_ranks);
        uint64_t *bytes = random_demand(&state, catalog->model->n_ranks);
        const vp_schedule_options_t options = {.alpha_ns = alphas[demand_random(&state) % 5],
                                               .effort = effort};

        (void)check_demand(planner, catalog, bytes, &options);
        free(bytes);
        vp_catalog_destroy(catalog);
    }
}

START_TEST(critical_on_random_machines)
{
    check_random(vp_schedule_critical, VP_EFFORT_CALL, 11, 600, 12);
}
END_TEST

START_TEST(critical_on_large_random_machines)
{
    check_random(vp_schedule_critical, VP_EFFORT_CALL, 12, 12, 64);
}
END_TEST

START_TEST(thorough_critical_on_random_machines)
{
    check_random(vp_schedule_critical, VP_EFFORT_THOROUGH, 13, 12, 8);
}
END_TEST

START_TEST(auto_on_random_machines)
{
    check_random(vp_schedule_auto, VP_EFFORT_CALL, 14, 400, 24);
}
END_TEST

START_TEST(ablations_are_refused)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("fig1-6"));
    uint64_t *bytes = demand_make(DEMAND_DENSE, catalog->model->n_ranks, 1);
    const vp_schedule_options_t options = {.alpha_ns = 10000, .fix = VP_FIX_PATHS};
    vp_plan_t *plan = NULL;
    vp_error_t error;

    ck_assert_int_eq(vp_schedule_critical(catalog, bytes, &options, &plan, &error),
                     VP_ERR_UNSUPPORTED);
    ck_assert_int_eq(vp_schedule_colour(catalog, bytes, &options, &plan, &error),
                     VP_ERR_UNSUPPORTED);
    ck_assert_ptr_null(plan);
    ck_assert_msg(vp_schedule_auto(catalog, bytes, &options, &plan, &error) == VP_OK, "%s",
                  error.text);
    ck_assert_str_eq(plan->scheduler, "paper");
    vp_plan_destroy(plan);
    free(bytes);
    vp_catalog_destroy(catalog);
}
END_TEST

/* Every machine with a catalog, every kind of demand. */
START_TEST(thorough_auto_is_never_dearer_than_paper)
{
    uint32_t m;
    uint32_t kind;

    for (m = 0; m < n_machines; m++) {
        vp_catalog_t *catalog = machine_catalog(&machines[m]);

        for (kind = 0; kind < N_DEMAND_KINDS && catalog->model->n_ranks <= 10; kind++) {
            const vp_schedule_options_t options = {.alpha_ns = 10000, .effort = VP_EFFORT_THOROUGH};
            uint64_t *bytes = demand_make((demand_kind_t)kind, catalog->model->n_ranks, m);
            vp_plan_t *paper = NULL;
            vp_plan_t *best = NULL;
            vp_error_t error;

            ck_assert_int_eq(vp_schedule_paper(catalog, bytes, &options, &paper, &error), VP_OK);
            ck_assert_int_eq(vp_schedule_auto(catalog, bytes, &options, &best, &error), VP_OK);
            check_plan(best, catalog->model, bytes, options.alpha_ns);
            ck_assert_msg(best->time_ns <= paper->time_ns,
                          "%s, %s: auto (%s) %" PRIu64 " ns, paper %" PRIu64 " ns",
                          machines[m].name, demand_kind_text((demand_kind_t)kind), best->scheduler,
                          best->time_ns, paper->time_ns);
            vp_plan_destroy(best);
            vp_plan_destroy(paper);
            free(bytes);
        }
        vp_catalog_destroy(catalog);
    }
}
END_TEST

START_TEST(quality_on_fixtures)
{
    static const struct {
        const char *machine;
        const char *kind;
        uint64_t call; /* floors of bound over time, per mille */
        uint64_t thorough;
    } floors[] = {
        {"r5080-bf3-1", "zipf06", 830, 925},  {"r5080-bf3-1", "hot", 960, 990},
        {"r5080-bf3-1", "uniform", 820, 910}, {"r5080-bf3-1", "sparse70", 990, 990},
        {"fig1-6", "zipf06", 840, 935},       {"fig1-6", "uniform", 770, 900},
    };
    size_t i;
    uint32_t f;

    for (i = 0; i < sizeof(floors) / sizeof(floors[0]); i++) {
        vp_catalog_t *catalog = machine_catalog(machine_find(floors[i].machine));

        for (f = 0; f < n_demand_fixtures; f++) {
            const demand_fixture_t *fixture = &demand_fixtures[f];
            vp_schedule_options_t options = {.alpha_ns = 10000};
            uint64_t bound_ns = fixture->lp_ns + options.alpha_ns * fixture->kmin;
            uint64_t *bytes;
            uint64_t call;
            uint64_t thorough;

            if (strcmp(fixture->machine, floors[i].machine) != 0 ||
                strcmp(fixture->kind, floors[i].kind) != 0) {
                continue;
            }
            bytes = demand_fixture_read(fixture, catalog->model->n_ranks);
            call = bound_ns * 1000 / check_demand(vp_schedule_auto, catalog, bytes, &options);
            options.effort = VP_EFFORT_THOROUGH;
            thorough = bound_ns * 1000 / check_demand(vp_schedule_auto, catalog, bytes, &options);
            ck_assert_msg(call >= floors[i].call && thorough >= floors[i].thorough,
                          "%s %s: bound over time %" PRIu64 " and %" PRIu64
                          " per mille, floors are %" PRIu64 " and %" PRIu64,
                          floors[i].machine, floors[i].kind, call, thorough, floors[i].call,
                          floors[i].thorough);
            free(bytes);
        }
        vp_catalog_destroy(catalog);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("critical");
    TCase *tests = tcase_create("critical");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, critical_on_random_machines);
    tcase_add_test(tests, critical_on_large_random_machines);
    tcase_add_test(tests, thorough_critical_on_random_machines);
    tcase_add_test(tests, auto_on_random_machines);
    tcase_add_test(tests, ablations_are_refused);
    tcase_add_test(tests, thorough_auto_is_never_dearer_than_paper);
    tcase_add_test(tests, quality_on_fixtures);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
