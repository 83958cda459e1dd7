/*
 * The alignment bound: by hand, and below the time of every plan.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/alignment.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>

#include "test/scheduler/demands.h"
#include "test/scheduler/machines.h"
#include "test/scheduler/random_machines.h"

static uint64_t bound_of(const vp_model_t *model, const uint64_t *bytes, uint64_t alpha_ns,
                         uint64_t *simple_ns_p)
{
    vp_bound_t bound;
    uint64_t ns = 0;
    vp_error_t error;

    ck_assert_int_eq(vp_bound(model, bytes, alpha_ns, &bound, &error), VP_OK);
    ck_assert_int_eq(vp_alignment_bound(model, bytes, alpha_ns, &bound, &ns, &error), VP_OK);
    *simple_ns_p = bound.bound_ns;
    return ns;
}

/*
 * One group, PIX only, 64 GB/s. Rank 0 sends for 1000 and 500 us, rank 3 twice
 * for 750 us. Two activations: one lasts at least 1000 us for rank 0, the other
 * 750 us for rank 3, where LP + alpha * Kmin sees 1500 us.
 */
START_TEST(two_ranks_that_do_not_align)
{
    static const uint64_t us = 64000; /* bytes */
    vp_catalog_t *catalog = machine_catalog(machine_find("one-group"));
    uint32_t n_ranks = catalog->model->n_ranks;
    uint64_t *bytes = demand_make(DEMAND_ZERO, n_ranks, 1);
    uint64_t simple_ns;

    bytes[0 * n_ranks + 1] = 1000 * us;
    bytes[0 * n_ranks + 2] = 500 * us;
    bytes[3 * n_ranks + 2] = 750 * us;
    bytes[3 * n_ranks + 4] = 750 * us;
    ck_assert_uint_eq(bound_of(catalog->model, bytes, 1000000, &simple_ns), 2000000 + 1750000);
    ck_assert_uint_le(simple_ns, 2000000 + 1750000);
    /* A third activation is cheaper than the 250 us of misalignment. */
    ck_assert_uint_eq(bound_of(catalog->model, bytes, 100000, &simple_ns), 300000 + 1500000);
    /* Without overhead nothing is lost by splitting. */
    ck_assert_uint_eq(bound_of(catalog->model, bytes, 0, &simple_ns), simple_ns);
    free(bytes);
    vp_catalog_destroy(catalog);
}
END_TEST

/*
 * Two ways from one group to the other, at 64 and 50 GB/s, and sixteen pairs of
 * 50 MB between them. Eight activations have no lane to spare, so that each has
 * a pair on the slow way, for 1 ms; LP + alpha * Kmin sees 800 MB at 114 GB/s.
 */
START_TEST(two_ways_of_different_rates)
{
    static const uint64_t pair_bytes = 50000000;
    vp_catalog_t *catalog = machine_catalog(machine_find("r5080-bf3-1"));
    const vp_model_t *model = catalog->model;
    uint64_t *bytes = demand_make(DEMAND_ZERO, model->n_ranks, 1);
    uint64_t simple_ns;
    uint32_t source;
    uint32_t destination;

    for (source = 0; source < model->n_ranks; source++) {
        for (destination = 0; destination < model->n_ranks; destination++) {
            if (model->rank_group[source] == 0 && model->rank_group[destination] == 1) {
                bytes[(size_t)source * model->n_ranks + destination] = pair_bytes;
            }
        }
    }
    ck_assert_uint_eq(bound_of(model, bytes, 1000000, &simple_ns), 8000000 + 8000000);
    ck_assert_uint_le(simple_ns, 8000000 + 7017543);
    ck_assert_uint_ge(simple_ns, 8000000 + 7000000);
    /* Cheap activations make it worth while to split. */
    ck_assert_uint_le(bound_of(model, bytes, 10000, &simple_ns), simple_ns + 8 * 10000);
    free(bytes);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(nothing_to_send)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("fig1-6"));
    uint64_t *bytes = demand_make(DEMAND_ZERO, catalog->model->n_ranks, 1);
    uint64_t simple_ns;

    ck_assert_uint_eq(bound_of(catalog->model, bytes, 10000, &simple_ns), 0);
    free(bytes);
    vp_catalog_destroy(catalog);
}
END_TEST

static void check_random(uint64_t seed, uint32_t n_rounds, uint32_t max_ranks, vp_effort_t effort)
{
    static const uint64_t alphas[] = {1000, 10000, 100000, 1000000};
    uint64_t state = seed;
    uint32_t n_raised = 0;
    uint32_t i;

    for (i = 0; i < n_rounds; i++) {
        vp_catalog_t *catalog = random_machine(&state, max_ranks);
        uint64_t *bytes = random_demand(&state, catalog->model->n_ranks);
        const vp_schedule_options_t options = {.alpha_ns = alphas[demand_random(&state) % 4],
                                               .effort = effort};
        vp_plan_t *plan = NULL;
        vp_error_t error;
        uint64_t simple_ns;
        uint64_t ns = bound_of(catalog->model, bytes, options.alpha_ns, &simple_ns);

        ck_assert_int_eq(vp_schedule_auto(catalog, bytes, &options, &plan, &error), VP_OK);
        ck_assert_msg(simple_ns <= ns && ns <= plan->time_ns,
                      "seed %" PRIu64 " round %" PRIu32 ": bounds %" PRIu64 " and %" PRIu64
                      ", plan %" PRIu64,
                      seed, i, simple_ns, ns, plan->time_ns);
        n_raised += ns > simple_ns;
        vp_plan_destroy(plan);
        free(bytes);
        vp_catalog_destroy(catalog);
    }
    ck_assert_msg(n_raised > n_rounds / 20, "raised %" PRIu32 " of %" PRIu32 " bounds", n_raised,
                  n_rounds);
}

START_TEST(below_every_plan)
{
    check_random(21, 1500, 12, VP_EFFORT_CALL);
    check_random(22, 40, 48, VP_EFFORT_CALL);
    check_random(23, 100, 8, VP_EFFORT_THOROUGH);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("alignment");
    TCase *tests = tcase_create("alignment");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, two_ranks_that_do_not_align);
    tcase_add_test(tests, two_ways_of_different_rates);
    tcase_add_test(tests, nothing_to_send);
    tcase_add_test(tests, below_every_plan);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
