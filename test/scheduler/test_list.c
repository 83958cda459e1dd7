/*
 * The planner "list": which lane starts when, properties over random machines
 * and demands, and floors of quality against the bound for lists.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/list_order.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "test/scheduler/demands.h"
#include "test/scheduler/machines.h"
#include "test/scheduler/random_machines.h"

enum { ALPHA_NS = 10000 };

static vp_plan_t *plan_list(const vp_catalog_t *catalog, const uint64_t *bytes,
                            const vp_schedule_options_t *options)
{
    vp_plan_t *plan = NULL;
    vp_error_t error;

    ck_assert_msg(vp_schedule_list(catalog, bytes, options, &plan, &error) == VP_OK, "%s",
                  error.text);
    check_plan(plan, catalog->model, bytes, options->alpha_ns);
    ck_assert_int_eq(plan->form.order, VP_PLAN_LIST);
    return plan;
}

/*
 * Rank 0 of a switch of three has 3 and 2 units for the others, rank 1 has 1
 * for rank 2. The way out of rank 0 is the fullest port, its longest lane goes
 * first, and rank 1 does not wait.
 */
START_TEST(the_fullest_port_never_waits)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("fig1-6"));
    const vp_schedule_options_t options = {.alpha_ns = ALPHA_NS};
    uint64_t bytes[36] = {0};
    vp_plan_t *plan;

    bytes[0 * 6 + 1] = 3 * 640000;
    bytes[0 * 6 + 2] = 2 * 640000;
    bytes[1 * 6 + 2] = 640000;
    plan = plan_list(catalog, bytes, &options);
    ck_assert_uint_eq(plan->n_lanes, 3);
    ck_assert_uint_eq(plan->lanes[0].source, 0);
    ck_assert_uint_eq(plan->lanes[0].destination, 1);
    ck_assert_uint_eq(plan->lanes[1].source, 1);
    ck_assert_uint_eq(plan->lanes[2].destination, 2);
    ck_assert_uint_eq(plan->time_ns, 2 * ALPHA_NS + 50000);
    vp_plan_destroy(plan);
    vp_catalog_destroy(catalog);
}
END_TEST

/* Every piece once, and no sooner done than the fullest port. */
START_TEST(an_order_holds_every_piece_once)
{
    uint64_t state = 5;
    int round;

    for (round = 0; round < 60; round++) {
        vp_catalog_t *catalog = random_machine(&state, 12);
        uint64_t *bytes = random_demand(&state, catalog->model->n_ranks);
        vp_jobs_t jobs = {0};
        vp_cut_t cut = {0};
        vp_error_t error;
        uint32_t *order;
        bool *seen;
        uint64_t ticks = 0;
        size_t i;

        ck_assert_int_eq(vp_jobs_init(&jobs, catalog->model, bytes, ALPHA_NS, &error), VP_OK);
        ck_assert_int_eq(vp_cut_init(&cut, &jobs, &error), VP_OK);
        ck_assert_int_eq(vp_cut_make(&cut, &jobs, UINT64_MAX, &error), VP_OK);
        ck_assert_int_eq(vp_cut_sort(&cut, &error), VP_OK);
        order = calloc(cut.n_pieces + 1, sizeof(*order));
        seen = calloc(cut.n_pieces + 1, sizeof(*seen));
        ck_assert(order != NULL && seen != NULL);
        ck_assert_int_eq(
            vp_list_order(&jobs, &cut, (vp_urgency_t)(round % 2), order, &ticks, &error), VP_OK);
        for (i = 0; i < cut.n_pieces; i++) {
            ck_assert(order[i] < cut.n_pieces && !seen[order[i]]);
            seen[order[i]] = true;
        }
        ck_assert_uint_ge(ticks, cut.max_ticks);
        free(seen);
        free(order);
        vp_cut_release(&cut);
        vp_jobs_release(&jobs);
        free(bytes);
        vp_catalog_destroy(catalog);
    }
}
END_TEST

static void check_random(vp_effort_t effort, uint64_t seed, uint32_t n_rounds, uint32_t max_ranks)
{
    static const uint64_t alphas[] = {0, 1, 1000, 10000, 1000000};
    uint64_t state = seed;
    uint32_t i;

    for (i = 0; i < n_rounds; i++) {
        vp_catalog_t *catalog = random_machine(&state, max_ranks);
        uint64_t *bytes = random_demand(&state, catalog->model->n_ranks);
        const vp_schedule_options_t options = {.alpha_ns = alphas[demand_random(&state) % 5],
                                               .effort = effort};
        vp_plan_t *plan = plan_list(catalog, bytes, &options);
        vp_plan_t *again = plan_list(catalog, bytes, &options);

        ck_assert_msg(plan->hash == again->hash, "seed %" PRIu64 ", round %u: two plans differ",
                      seed, i);
        vp_plan_destroy(again);
        vp_plan_destroy(plan);
        free(bytes);
        vp_catalog_destroy(catalog);
    }
}

START_TEST(lists_on_random_machines)
{
    check_random(VP_EFFORT_CALL, 21, 500, 16);
}
END_TEST

START_TEST(lists_on_large_random_machines)
{
    check_random(VP_EFFORT_CALL, 22, 10, 64);
}
END_TEST

START_TEST(thorough_lists_on_random_machines)
{
    check_random(VP_EFFORT_THOROUGH, 23, 20, 8);
}
END_TEST

/* The fixtures of two nodes; the bound for lists is tight there. */
START_TEST(quality_on_fixtures)
{
    const vp_schedule_options_t options = {.alpha_ns = ALPHA_NS};
    vp_catalog_t *catalog = machine_catalog(machine_find("r5080-bf3-2"));
    uint32_t n_seen = 0;
    uint32_t f;

    for (f = 0; f < n_demand_fixtures; f++) {
        const demand_fixture_t *fixture = &demand_fixtures[f];
        uint64_t bound_ns = 0;
        uint64_t *bytes;
        vp_plan_t *plan;
        vp_error_t error;

        if (strcmp(fixture->machine, "r5080-bf3-2") != 0) {
            continue;
        }
        n_seen++;
        bytes = demand_fixture_read(fixture, catalog->model->n_ranks);
        plan = plan_list(catalog, bytes, &options);
        ck_assert_int_eq(vp_list_bound(catalog->model, bytes, ALPHA_NS, &bound_ns, &error), VP_OK);
        ck_assert_msg(bound_ns * 1000 >= plan->time_ns * 985,
                      "%s: bound %" PRIu64 " ns, list %" PRIu64 " ns", fixture->kind, bound_ns,
                      plan->time_ns);
        vp_plan_destroy(plan);
        free(bytes);
    }
    ck_assert_uint_eq(n_seen, 4);
    vp_catalog_destroy(catalog);
}
END_TEST

/* One pair alone: its transfer and one overhead, whatever the path; two pairs out of a rank. */
START_TEST(the_bound_in_closed_form)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("fig1-6"));
    uint64_t bytes[36] = {0};
    uint64_t bound_ns = 0;
    vp_error_t error;

    ck_assert_int_eq(vp_list_bound(catalog->model, bytes, ALPHA_NS, &bound_ns, &error), VP_OK);
    ck_assert_uint_eq(bound_ns, 0);
    bytes[1] = 64000;
    bytes[2] = 128000;
    ck_assert_int_eq(vp_list_bound(catalog->model, bytes, ALPHA_NS, &bound_ns, &error), VP_OK);
    ck_assert(bound_ns <= 2 * ALPHA_NS + 3000 && bound_ns + 2 >= 2 * ALPHA_NS + 3000);
    vp_catalog_destroy(catalog);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("list");
    TCase *tests = tcase_create("list");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, the_fullest_port_never_waits);
    tcase_add_test(tests, an_order_holds_every_piece_once);
    tcase_add_test(tests, lists_on_random_machines);
    tcase_add_test(tests, lists_on_large_random_machines);
    tcase_add_test(tests, thorough_lists_on_random_machines);
    tcase_add_test(tests, quality_on_fixtures);
    tcase_add_test(tests, the_bound_in_closed_form);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
