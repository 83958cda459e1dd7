/*
 * The shape with the largest score, against looking at all of them.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/scores.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "test/scheduler/demands.h"
#include "test/scheduler/machines.h"

enum { MAX_PAIRS = MACHINE_MAX_GROUPS * MACHINE_MAX_GROUPS };

/* UINT32_MAX: all score 0. */
static uint32_t first_best(const vp_catalog_t *catalog, const uint64_t *pressure)
{
    size_t n_pairs = vp_pair(catalog->model, catalog->model->n_groups, 0);
    uint32_t best_shape = UINT32_MAX;
    uint64_t best = 0;
    uint32_t shape;
    size_t pair;

    for (shape = 0; shape < catalog->n_shapes; shape++) {
        uint64_t score = 0;

        for (pair = 0; pair < n_pairs; pair++) {
            score += pressure[pair] * catalog->shape_lanes[shape * n_pairs + pair];
        }
        if (score > best) {
            best = score;
            best_shape = shape;
        }
    }
    return best_shape;
}

/* Loop over machines: unrelated pressures one after the other, dense, sparse and full of ties. */
START_TEST(the_first_of_the_best_shapes_is_chosen)
{
    static const uint64_t limits[] = {UINT64_C(1) << 47, 1000, 3, 1, 0};
    vp_catalog_t *catalog = machine_catalog(&machines[_i]);
    uint64_t pressure[MAX_PAIRS];
    vp_scores_t scores;
    vp_error_t error;
    uint64_t seed;
    size_t pair;

    ck_assert_int_eq(vp_scores_init(&scores, catalog, &error), VP_OK);
    for (seed = 1; seed <= 500; seed++) {
        uint64_t state = seed;
        uint32_t shape = UINT32_MAX;
        uint32_t expected;

        for (pair = 0; pair < MAX_PAIRS; pair++) {
            pressure[pair] = demand_random(&state) % (limits[seed % 5] + 1);
        }
        expected = first_best(catalog, pressure);
        if (vp_scores_choose(&scores, pressure, &shape) != (expected != UINT32_MAX) ||
            shape != expected) {
            ck_abort_msg("%s, seed %" PRIu64 ": shape %u, not %u", machines[_i].name, seed, shape,
                         expected);
        }
    }
    vp_scores_release(&scores);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(no_shapes_give_none)
{
    vp_catalog_t *catalog = machine_generated(machine_find("fig1-6"));
    uint64_t pressure[4] = {1, 1, 1, 1};
    uint32_t shape = 7;
    vp_scores_t scores;
    vp_error_t error;

    ck_assert_int_eq(vp_scores_init(&scores, catalog, &error), VP_OK);
    ck_assert(!vp_scores_choose(&scores, pressure, &shape));
    ck_assert_uint_eq(shape, 7);
    vp_scores_release(&scores);
    vp_catalog_destroy(catalog);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("scores");
    TCase *cases = tcase_create("scores");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, the_first_of_the_best_shapes_is_chosen, 0, (int)n_machines);
    tcase_add_test(cases, no_shapes_give_none);
    suite_add_tcase(suite, cases);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
