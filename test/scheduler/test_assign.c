/*
 * The assignment against all permutations.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/assign.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>

#include "test/scheduler/demands.h"

enum { MAX_SIZE = 6 };

/* The largest sum of credits over all choices of distinct columns for rows `row` and up. */
static uint64_t exhaustive(const uint64_t *credits, uint32_t n_rows, uint32_t n_columns,
                           uint32_t row, uint32_t used)
{
    uint64_t best = 0;
    uint32_t column;

    if (row == n_rows) {
        return 0;
    }
    for (column = 0; column < n_columns; column++) {
        uint64_t sum;

        if (used & (1U << column)) {
            continue;
        }
        sum = credits[row * n_columns + column] +
              exhaustive(credits, n_rows, n_columns, row + 1, used | (1U << column));
        best = sum > best ? sum : best;
    }
    return best;
}

static void check_one(vp_assign_t *assign, uint64_t seed, uint64_t limit)
{
    uint64_t credits[MAX_SIZE * MAX_SIZE];
    uint32_t column_of_row[MAX_SIZE];
    uint64_t state = seed;
    uint32_t n_columns = 1 + (uint32_t)(demand_random(&state) % MAX_SIZE);
    uint32_t n_rows = 1 + (uint32_t)(demand_random(&state) % n_columns);
    uint32_t used = 0;
    uint64_t sum = 0;
    uint64_t stated;
    uint64_t best;
    uint32_t i;

    for (i = 0; i < n_rows * n_columns; i++) {
        credits[i] = demand_random(&state) % limit;
    }
    stated = vp_assign_best(assign, credits, n_rows, n_columns, column_of_row);
    best = exhaustive(credits, n_rows, n_columns, 0, 0);
    for (i = 0; i < n_rows; i++) {
        ck_assert_uint_lt(column_of_row[i], n_columns);
        ck_assert_msg((used & (1U << column_of_row[i])) == 0, "seed %" PRIu64 ": column %u twice",
                      seed, column_of_row[i]);
        used |= 1U << column_of_row[i];
        sum += credits[i * n_columns + column_of_row[i]];
    }
    ck_assert_msg(sum == best && stated == best,
                  "seed %" PRIu64 ": %ux%u gives %" PRIu64 ", states %" PRIu64 ", best is %" PRIu64,
                  seed, n_rows, n_columns, sum, stated, best);
}

START_TEST(assignments_are_best)
{
    static const uint64_t limits[] = {2, 5, 1000, UINT64_C(1) << 40, UINT64_C(1) << 55};
    vp_assign_t assign;
    vp_error_t error;
    uint64_t seed;

    ck_assert_int_eq(vp_assign_init(&assign, MAX_SIZE, &error), VP_OK);
    for (seed = 1; seed <= 5000; seed++) {
        check_one(&assign, seed, limits[seed % (sizeof(limits) / sizeof(limits[0]))]);
    }
    vp_assign_release(&assign);
}
END_TEST

START_TEST(ties_fall_the_same_way)
{
    static const uint64_t equal[9] = {7, 7, 7, 7, 7, 7, 7, 7, 7};
    uint32_t column_of_row[3] = {9, 9, 9};
    vp_assign_t assign;
    vp_error_t error;
    uint32_t i;

    ck_assert_int_eq(vp_assign_init(&assign, 3, &error), VP_OK);
    ck_assert_uint_eq(vp_assign_best(&assign, equal, 3, 3, column_of_row), 21);
    for (i = 0; i < 3; i++) {
        ck_assert_uint_eq(column_of_row[i], i);
    }
    vp_assign_release(&assign);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("assign");
    TCase *cases = tcase_create("assign");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, assignments_are_best);
    tcase_add_test(cases, ties_fall_the_same_way);
    suite_add_tcase(suite, cases);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
