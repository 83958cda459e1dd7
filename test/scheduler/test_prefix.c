/*
 * Plans that begin before they are complete: the prefix is valid by itself,
 * leads the whole plan, and costs little.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/schedule.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>

#include "test/scheduler/demands.h"
#include "test/scheduler/machines.h"
#include "test/scheduler/random_machines.h"

static vp_plan_t *prefix_of(const vp_catalog_t *catalog, const uint64_t *bytes,
                            const vp_schedule_options_t *options)
{
    vp_plan_t *prefix = NULL;
    vp_error_t error;

    ck_assert_msg(vp_schedule_prefix(catalog->model, bytes, options, &prefix, &error) == VP_OK,
                  "%s", error.text);
    ck_assert_uint_le(prefix->n_activations, 1);
    return prefix;
}

/* A plan of exactly what it carries. */
static void check_prefix(const vp_plan_t *prefix, const vp_catalog_t *catalog, uint64_t alpha_ns)
{
    uint32_t n = catalog->model->n_ranks;
    uint64_t *carried = calloc((size_t)n * n, sizeof(*carried));
    vp_error_t error;
    size_t i;

    ck_assert_ptr_nonnull(carried);
    for (i = 0; i < prefix->n_lanes; i++) {
        carried[(size_t)prefix->lanes[i].source * n + prefix->lanes[i].destination] =
            prefix->lanes[i].n_bytes;
    }
    ck_assert_msg(vp_plan_check(prefix, catalog->model, carried, alpha_ns, &error) == VP_OK, "%s",
                  error.text);
    free(carried);
}

/* The prefix's lane of a source is its first in the plan, byte for byte. */
static void check_lead(const vp_plan_t *prefix, const vp_plan_t *plan)
{
    size_t i;
    size_t k;

    for (i = 0; i < prefix->n_lanes; i++) {
        const vp_lane_t *lane = &prefix->lanes[i];

        for (k = 0; plan->lanes[k].source != lane->source; k++) {
        }
        ck_assert_uint_eq(plan->lanes[k].destination, lane->destination);
        ck_assert_uint_eq(plan->lanes[k].instance, lane->instance);
        ck_assert_uint_eq(plan->lanes[k].offset_bytes, 0);
        ck_assert_uint_eq(plan->lanes[k].n_bytes, lane->n_bytes);
    }
}

START_TEST(prefixes_of_random_instances)
{
    static const char *const planners[] = {"auto", "colour", "list", "concurrent"};
    static const uint64_t alphas[] = {0, 1000, 10000};
    uint64_t state = 51;
    int round;

    for (round = 0; round < 400; round++) {
        vp_catalog_t *catalog = random_machine(&state, round % 40 == 0 ? 64 : 12);
        uint64_t *bytes = random_demand(&state, catalog->model->n_ranks);
        const vp_schedule_options_t options = {.alpha_ns = alphas[round % 3]};
        vp_plan_t *prefix = prefix_of(catalog, bytes, &options);
        vp_plan_t *plan = NULL;
        vp_error_t error;

        check_prefix(prefix, catalog, options.alpha_ns);
        ck_assert_msg(vp_schedule_after(prefix, vp_schedule_find(planners[round % 4]), catalog,
                                        bytes, &options, &plan, &error) == VP_OK,
                      "%s", error.text);
        check_plan(plan, catalog->model, bytes, options.alpha_ns);
        check_lead(prefix, plan);
        ck_assert((prefix->n_lanes == 0) == (plan->n_lanes == 0));
        vp_plan_destroy(plan);
        vp_plan_destroy(prefix);
        free(bytes);
        vp_catalog_destroy(catalog);
    }
}
END_TEST

/* On two nodes all ranks send at once, both NICs of a node among them, and time is lost nowhere. */
START_TEST(a_prefix_costs_little)
{
    const vp_schedule_options_t options = {.alpha_ns = 10000};
    vp_catalog_t *catalog = machine_catalog(machine_find("r5080-bf3-2"));
    uint64_t draw;

    for (draw = 0; draw < 5; draw++) {
        uint64_t *bytes = demand_make(DEMAND_DENSE, catalog->model->n_ranks, draw);
        vp_plan_t *prefix = prefix_of(catalog, bytes, &options);
        vp_plan_t *with = NULL;
        vp_plan_t *without = NULL;
        uint32_t n_far = 0;
        vp_error_t error;
        size_t i;

        for (i = 0; i < prefix->n_lanes; i++) {
            n_far += catalog->model->instances[prefix->lanes[i].instance].kind == VP_PATH_NIC;
        }
        ck_assert_uint_ge(prefix->n_lanes, 14);
        ck_assert_uint_eq(n_far, 4);
        ck_assert_int_eq(
            vp_schedule_after(prefix, vp_schedule_colour, catalog, bytes, &options, &with, &error),
            VP_OK);
        ck_assert_int_eq(vp_schedule_colour(catalog, bytes, &options, &without, &error), VP_OK);
        ck_assert_msg(with->time_ns * 100 <= without->time_ns * 105,
                      "%" PRIu64 " ns with a prefix, %" PRIu64 " without", with->time_ns,
                      without->time_ns);
        vp_plan_destroy(without);
        vp_plan_destroy(with);
        vp_plan_destroy(prefix);
        free(bytes);
    }
    vp_catalog_destroy(catalog);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("prefix");
    TCase *tests = tcase_create("prefix");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, prefixes_of_random_instances);
    tcase_add_test(tests, a_prefix_costs_little);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
