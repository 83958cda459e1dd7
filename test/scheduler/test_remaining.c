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
    ck_assert_uint_eq(remaining->n_rests, n_rests);
    for (k = 0; k < n_rests; k++) {
        const vp_rest_t *rest = &remaining->rests[k];

        bool is_right =
            rest->n_bytes == remaining->bytes[rest->source * model->n_ranks + rest->destination];

        if (k > 0) {
            const vp_rest_t *before = rest - 1;
            uint32_t place = rest->source * model->n_ranks + rest->destination;

            is_right =
                is_right && (before->n_bytes > rest->n_bytes ||
                             (before->n_bytes == rest->n_bytes &&
                              before->source * model->n_ranks + before->destination < place));
        }
        if (!is_right) {
            ck_abort_msg("seed %" PRIu64 ": rest %zu of %u to %u with %" PRIu64
                         " bytes is stale or out of order",
                         seed, k, rest->source, rest->destination, rest->n_bytes);
        }
    }
}

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
        vp_error_t error;
        uint32_t round;
        uint32_t i;

        ck_assert_int_eq(vp_remaining_init(&remaining, catalog->model, demand_bytes, &error),
                         VP_OK);
        check_all(&remaining, seed);
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
        }
        ck_assert_uint_eq(remaining.n_rests, 0);
        vp_remaining_reset(&remaining);
        check_all(&remaining, seed);
        ck_assert_uint_eq(remaining.n_rests, remaining.n_all);
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
    suite_add_tcase(suite, cases);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
