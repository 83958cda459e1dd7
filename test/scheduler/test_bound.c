/*
 * Bounds against an independent solver, closed forms, and their refusals.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/bound.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/scheduler/demands.h"
#include "test/scheduler/machines.h"

START_TEST(fixtures_are_met)
{
    const demand_fixture_t *fixture = &demand_fixtures[_i];
    vp_catalog_t *catalog = machine_catalog(machine_find(fixture->machine));
    uint64_t *demand_bytes = demand_fixture_read(fixture, catalog->model->n_ranks);
    vp_bound_t bound;
    vp_error_t error;

    ck_assert_int_eq(vp_bound(catalog->model, demand_bytes, 10000, &bound, &error), VP_OK);
    (void)printf("%s %s: lp %" PRIu64 " ns of %" PRIu64 " ns (%.4f), kmin %u\n", fixture->machine,
                 fixture->kind, bound.lp_ns, fixture->lp_ns,
                 (double)bound.lp_ns / (double)fixture->lp_ns, bound.kmin);
    ck_assert_uint_le(bound.lp_ns, fixture->lp_ns + 1 + fixture->lp_ns / 1000000);
    ck_assert_uint_ge(bound.lp_ns, fixture->lp_ns - fixture->lp_ns / 200);
    ck_assert_uint_eq(bound.kmin, fixture->kmin);
    ck_assert_uint_eq(bound.bound_ns, bound.lp_ns + 10000 * (uint64_t)bound.kmin);
    free(demand_bytes);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(fluid_fixtures_are_met)
{
    const demand_fixture_t *fixture = &demand_fixtures[_i];
    vp_catalog_t *catalog = machine_catalog(machine_find(fixture->machine));
    uint64_t *demand_bytes = demand_fixture_read(fixture, catalog->model->n_ranks);
    uint64_t fluid_ns = 0;
    vp_error_t error;

    ck_assert_int_eq(vp_fluid_bound(catalog->model, demand_bytes, &fluid_ns, &error), VP_OK);
    (void)printf("%s %s: fluid %" PRIu64 " ns of %" PRIu64 " ns (%.4f)\n", fixture->machine,
                 fixture->kind, fluid_ns, fixture->fluid_ns,
                 (double)fluid_ns / (double)fixture->fluid_ns);
    ck_assert_uint_le(fluid_ns, fixture->fluid_ns + 1 + fixture->fluid_ns / 1000000);
    ck_assert_uint_ge(fluid_ns, fixture->fluid_ns - fixture->fluid_ns / 200);
    free(demand_bytes);
    vp_catalog_destroy(catalog);
}
END_TEST

/* Lanes at 64 and 50 out of one rank: exclusive ones take turns, shared ones fill its link. */
START_TEST(shared_links_are_filled)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("singles"));
    uint64_t demand_bytes[16] = {0};
    uint64_t fluid_ns = 0;
    vp_bound_t bound;
    vp_error_t error;

    demand_bytes[0 * 4 + 1] = 64000000; /* PXB or NIC */
    demand_bytes[0 * 4 + 2] = 32000000; /* NIC */
    demand_bytes[2 * 4 + 1] = 32000000;
    ck_assert_int_eq(vp_fluid_bound(catalog->model, demand_bytes, &fluid_ns, &error), VP_OK);
    ck_assert_uint_ge(fluid_ns, 1499900);
    ck_assert_uint_le(fluid_ns, 1500000); /* 96 MB out of a link of 64 GB/s */
    ck_assert_int_eq(vp_bound(catalog->model, demand_bytes, 0, &bound, &error), VP_OK);
    ck_assert_uint_ge(bound.lp_ns, 1639900);
    ck_assert_uint_le(bound.lp_ns, 1640000); /* 64 / 64 + 32 / 50 */
    demand_bytes[0] = 5;
    memset(demand_bytes + 1, 0, 15 * sizeof(*demand_bytes));
    ck_assert_int_eq(vp_fluid_bound(catalog->model, demand_bytes, &fluid_ns, &error), VP_OK);
    ck_assert_uint_eq(fluid_ns, 0);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(more_sweeps_never_lower_a_bound)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("uneven"));
    uint64_t *demand_bytes = demand_make(DEMAND_DENSE, catalog->model->n_ranks, 3);
    uint64_t last_ns = 0;
    uint32_t n_sweeps;
    vp_bound_t bound;
    vp_error_t error;

    for (n_sweeps = 1; n_sweeps <= 64; n_sweeps *= 2) {
        ck_assert_int_eq(vp_bound_search(catalog->model, demand_bytes, 0, n_sweeps, &bound, &error),
                         VP_OK);
        ck_assert_uint_ge(bound.lp_ns, last_ns);
        last_ns = bound.lp_ns;
    }
    free(demand_bytes);
    vp_catalog_destroy(catalog);
}
END_TEST

/* A pair of groups with PXB and NIC takes x / (64 + 50); one pair of ranks likewise is x / 64. */
START_TEST(closed_forms_are_met)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("fig1-6"));
    uint64_t demand_bytes[36] = {0};
    vp_bound_t bound;
    vp_error_t error;
    uint32_t i;

    demand_bytes[0 * 6 + 3] = 64000000;
    ck_assert_int_eq(vp_bound(catalog->model, demand_bytes, 0, &bound, &error), VP_OK);
    ck_assert_uint_ge(bound.lp_ns, 999990);
    ck_assert_uint_le(bound.lp_ns, 1000000);
    ck_assert_uint_eq(bound.kmin, 1);

    for (i = 0; i < 3; i++) {
        demand_bytes[i * 6 + 3 + i] = 114000000;
    }
    ck_assert_int_eq(vp_bound(catalog->model, demand_bytes, 0, &bound, &error), VP_OK);
    ck_assert_uint_ge(bound.lp_ns, 2990000);
    ck_assert_uint_le(bound.lp_ns, 3000000);
    ck_assert_uint_eq(bound.kmin, 2); /* three lanes over two paths */
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(nothing_takes_no_time)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("r5080-bf3-1"));
    uint64_t *demand_bytes = demand_make(DEMAND_ZERO, catalog->model->n_ranks, 1);
    vp_bound_t bound = {7, 7, 7};
    vp_error_t error;

    ck_assert_int_eq(vp_bound(catalog->model, demand_bytes, 10000, &bound, &error), VP_OK);
    ck_assert_uint_eq(bound.lp_ns, 0);
    ck_assert_uint_eq(bound.kmin, 0);
    ck_assert_uint_eq(bound.bound_ns, 0);
    free(demand_bytes);
    vp_catalog_destroy(catalog);
}
END_TEST

/* Both nodes are whole, but nothing connects them. */
START_TEST(a_pair_without_path_is_named)
{
    static const machine_t islands = {"islands", 2, 1, {2, 2}, false, false};
    vp_catalog_t *catalog = machine_catalog(&islands);
    uint64_t demand_bytes[16] = {0, 5, 0, 0, 5, 0, 0, 0, 0, 0, 0, 5, 0, 0, 5, 0};
    vp_bound_t bound = {7, 7, 7};
    vp_error_t error;

    ck_assert_int_eq(vp_bound(catalog->model, demand_bytes, 0, &bound, &error), VP_OK);
    ck_assert_uint_eq(bound.kmin, 1);
    demand_bytes[1 * 4 + 2] = 9;
    ck_assert_int_eq(vp_bound(catalog->model, demand_bytes, 0, &bound, &error), VP_ERR_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "rank 1 sends 9 bytes to rank 2") != NULL, "says \"%s\"",
                  error.text);
    ck_assert_uint_eq(bound.kmin, 1);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(a_demand_beyond_all_reason_is_refused)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("one-group"));
    uint64_t demand_bytes[25] = {0};
    vp_bound_t bound;
    vp_error_t error;

    demand_bytes[1] = UINT64_C(1) << 60;
    ck_assert_int_eq(vp_bound(catalog->model, demand_bytes, 0, &bound, &error), VP_OK);
    ck_assert_uint_le(bound.lp_ns, UINT64_C(18014398509481984)); /* 2^60 / 64 */
    ck_assert_uint_ge(bound.lp_ns, UINT64_C(18014000000000000));
    demand_bytes[2] = 1;
    ck_assert_int_eq(vp_bound(catalog->model, demand_bytes, 0, &bound, &error), VP_ERR_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "2^60") != NULL, "says \"%s\"", error.text);
    vp_catalog_destroy(catalog);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bound");
    TCase *cases = tcase_create("bound");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, fixtures_are_met, 0, (int)n_demand_fixtures);
    tcase_add_loop_test(cases, fluid_fixtures_are_met, 0, (int)n_demand_fixtures);
    tcase_add_test(cases, shared_links_are_filled);
    tcase_add_test(cases, more_sweeps_never_lower_a_bound);
    tcase_add_test(cases, closed_forms_are_met);
    tcase_add_test(cases, nothing_takes_no_time);
    tcase_add_test(cases, a_pair_without_path_is_named);
    tcase_add_test(cases, a_demand_beyond_all_reason_is_refused);
    suite_add_tcase(suite, cases);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
