/*
 * The remaining demand stays sorted and summed while bytes are taken from it.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/remaining.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>

#include "test/scheduler/demands.h"
#include "test/scheduler/machines.h"

/* Sums, order and completeness of the rests, from the matrix alone. */
static void check_all(const vp_remaining_t *remaining, uint64_t seed)
{
    const vp_model_t *model = remaining->model;
    uint64_t group_bytes[MACHINE_MAX_GROUPS * MACHINE_MAX_GROUPS] = {0};
    size_t n_rests = 0;
    uint32_t i;
    uint32_t j;
    size_t k;

    for (i = 0; i < model->n_ranks; i++) {
        for (j = 0; j < model->n_ranks; j++) {
            uint64_t n_bytes = remaining->bytes[i * model->n_ranks + j];

            n_rests += n_bytes > 0;
            group_bytes[vp_pair(model, model->rank_group[i], model->rank_group[j])] += n_bytes;
        }
        ck_assert_uint_eq(remaining->bytes[i * model->n_ranks + i], 0);
    }
    for (k = 0; k < vp_pair(model, model->n_groups, 0); k++) {
        ck_assert_msg(remaining->group_bytes[k] == group_bytes[k],
                      "seed %" PRIu64 ": group pair %zu sums to %" PRIu64 ", not %" PRIu64, seed, k,
                      remaining->group_bytes[k], group_bytes[k]);
    }
    ck_assert_uint_eq(remaining->n_left, n_rests);
}

static bool is_sorted(const vp_model_t *model, const vp_rest_t *before, const vp_rest_t *rest)
{
    return before->n_bytes > rest->n_bytes ||
           (before->n_bytes == rest->n_bytes &&
            before->source * model->n_ranks + before->destination <
                rest->source * model->n_ranks + rest->destination);
}

/* Walks all lists and counts what comes by. */
static void check_walk(const vp_remaining_t *remaining, vp_rest_walk_t *walk, uint64_t seed)
{
    const vp_model_t *model = remaining->model;
    size_t n_pairs = vp_pair(model, model->n_groups, 0);
    vp_rest_t before = {UINT64_MAX, 0, 0};
    const vp_rest_t *rest;
    size_t n_walked = 0;
    size_t pair;

    vp_rest_walk_clear(walk);
    for (pair = 0; pair < n_pairs; pair++) {
        vp_rest_walk_add(walk, remaining, pair);
    }
    for (; (rest = vp_rest_walk_first(walk, remaining)) != NULL;
         vp_rest_walk_next(walk, remaining)) {
        uint64_t n_bytes = remaining->bytes[rest->source * model->n_ranks + rest->destination];

        if (rest->n_bytes != n_bytes || n_bytes == 0 || !is_sorted(model, &before, rest)) {
            ck_abort_msg("seed %" PRIu64 ": rest %zu of %u to %u with %" PRIu64
                         " bytes is stale or out of order",
                         seed, n_walked, rest->source, rest->destination, rest->n_bytes);
        }
        before = *rest;
        n_walked++;
    }
    ck_assert_uint_eq(n_walked, remaining->n_left);
}

/* Leaving the first list is as if it had not been added. */
START_TEST(a_list_can_be_left)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("fig1-6"));
    uint64_t demand_bytes[36] = {0};
    vp_remaining_t remaining;
    vp_rest_walk_t walk;
    vp_error_t error;

    demand_bytes[0 * 6 + 1] = 9;
    demand_bytes[0 * 6 + 3] = 8;
    demand_bytes[1 * 6 + 0] = 7;
    ck_assert_int_eq(vp_remaining_init(&remaining, catalog->model, demand_bytes, 0, &error), VP_OK);
    ck_assert_int_eq(vp_rest_walk_init(&walk, catalog->model, &error), VP_OK);
    vp_rest_walk_add(&walk, &remaining, 0);
    vp_rest_walk_add(&walk, &remaining, 1);
    vp_rest_walk_add(&walk, &remaining, 2);
    ck_assert_uint_eq(vp_rest_walk_first(&walk, &remaining)->n_bytes, 9);
    vp_rest_walk_leave(&walk, &remaining);
    ck_assert_uint_eq(vp_rest_walk_first(&walk, &remaining)->n_bytes, 8);
    vp_rest_walk_next(&walk, &remaining);
    ck_assert_ptr_null(vp_rest_walk_first(&walk, &remaining));
    vp_rest_walk_release(&walk);
    vp_remaining_release(&remaining);
    vp_catalog_destroy(catalog);
}
END_TEST

/* The rotations share the demand out among them. */
START_TEST(rotations_are_a_partition)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("uneven"));
    uint32_t n_ranks = catalog->model->n_ranks;
    uint64_t *demand_bytes = demand_make(DEMAND_SPARSE, n_ranks, 5);
    uint32_t i;
    uint32_t j;

    for (i = 1; i < n_ranks; i++) {
        vp_remaining_t remaining;
        vp_error_t error;

        ck_assert_int_eq(vp_remaining_init(&remaining, catalog->model, demand_bytes, i, &error),
                         VP_OK);
        check_all(&remaining, 5);
        for (j = 0; j < n_ranks * n_ranks; j++) {
            bool is_in = (j / n_ranks + i) % n_ranks == j % n_ranks;

            ck_assert_uint_eq(remaining.bytes[j], is_in ? demand_bytes[j] : 0);
        }
        vp_remaining_release(&remaining);
    }
    free(demand_bytes);
    vp_catalog_destroy(catalog);
}
END_TEST

/* Takes from one pair of each source, as a channel does, until nothing is left. */
START_TEST(rests_stay_sorted_and_summed)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("uneven"));
    uint32_t n_ranks = catalog->model->n_ranks;
    uint64_t seed;

    for (seed = 1; seed <= 3 * N_DEMAND_KINDS; seed++) {
        uint64_t *demand_bytes = demand_make((demand_kind_t)(seed % N_DEMAND_KINDS), n_ranks, seed);
        uint64_t state = seed;
        vp_remaining_t remaining;
        vp_rest_walk_t walk;
        vp_error_t error;
        size_t n_first;
        uint32_t round;
        uint32_t i;

        ck_assert_int_eq(vp_remaining_init(&remaining, catalog->model, demand_bytes, 0, &error),
                         VP_OK);
        ck_assert_int_eq(vp_rest_walk_init(&walk, catalog->model, &error), VP_OK);
        check_all(&remaining, seed);
        n_first = remaining.n_left;
        for (round = 0; round < 8 * n_ranks; round++) {
            for (i = 0; i < n_ranks; i++) {
                uint32_t j = (i + round) % n_ranks;
                uint64_t n_bytes = remaining.bytes[i * n_ranks + j];
                uint64_t taken =
                    round < 6 * n_ranks ? demand_random(&state) % (n_bytes + 1) : n_bytes;

                vp_remaining_take(&remaining, i, j, taken);
            }
            vp_remaining_settle(&remaining);
            check_all(&remaining, seed);
            check_walk(&remaining, &walk, seed);
        }
        ck_assert_uint_eq(remaining.n_left, 0);
        vp_remaining_reset(&remaining);
        check_all(&remaining, seed);
        check_walk(&remaining, &walk, seed);
        ck_assert_uint_eq(remaining.n_left, n_first);
        vp_rest_walk_release(&walk);
        vp_remaining_release(&remaining);
        free(demand_bytes);
    }
    vp_catalog_destroy(catalog);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("remaining");
    TCase *cases = tcase_create("remaining");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, rests_stay_sorted_and_summed);
    tcase_add_test(cases, a_list_can_be_left);
    tcase_add_test(cases, rotations_are_a_partition);
    suite_add_tcase(suite, cases);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
