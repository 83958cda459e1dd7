/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/demand_gen.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/random.h"

static vp_error_t error;

static vp_demand_options_t options_of(vp_demand_kind_t kind)
{
    return (vp_demand_options_t){.kind = kind,
                                 .n_ranks = 32,
                                 .seed = 1,
                                 .bytes_per_rank = 1 << 26,
                                 .element_bytes = 4,
                                 .exponent = 0.8,
                                 .tokens = 64,
                                 .experts = 64,
                                 .top_k = 8,
                                 .hidden = 16,
                                 .ranks_per_node = 8,
                                 .n_hot = 2,
                                 .hot_ppm = 500000,
                                 .hot_factor = 1};
}

static uint64_t *generate(const vp_demand_options_t *options)
{
    uint64_t *demand;

    ck_assert_msg(vp_demand_generate(options, &demand, &error) == VP_OK, "%s", error.text);
    return demand;
}

static uint64_t row_sum(const uint64_t *demand, uint32_t n, uint32_t row)
{
    uint64_t sum = 0;
    uint32_t j;

    for (j = 0; j < n; j++) {
        sum += demand[(size_t)row * n + j];
    }
    return sum;
}

/* Reference values of SplitMix64 from seed 1234567 (Vigna's splitmix64.c). */
START_TEST(random_numbers_are_splitmix64)
{
    uint64_t state = 1234567;

    ck_assert_uint_eq(vp_random_next(&state), UINT64_C(6457827717110365317));
    ck_assert_uint_eq(vp_random_next(&state), UINT64_C(3203168211198807973));
    ck_assert_uint_eq(vp_random_next(&state), UINT64_C(9817491932198370423));
}
END_TEST

/* Every kind: zero diagonal, whole elements, the mean; the same twice; another seed differs. */
START_TEST(all_kinds_keep_the_rules)
{
    vp_demand_options_t options = options_of((vp_demand_kind_t)_i);
    uint32_t n = options.n_ranks;
    uint64_t *demand = generate(&options);
    uint64_t *again = generate(&options);
    uint64_t *other;
    uint64_t total = 0;
    uint32_t i;

    options.seed = 2;
    other = generate(&options);
    for (i = 0; i < n * n; i++) {
        ck_assert_uint_eq(demand[i] % options.element_bytes, 0);
        ck_assert(i % (n + 1) != 0 || demand[i] == 0);
        total += demand[i];
    }
    ck_assert_mem_eq(demand, again, n * n * sizeof(uint64_t));
    ck_assert_int_eq(memcmp(demand, other, n * n * sizeof(uint64_t)) == 0,
                     options.kind == VP_DEMAND_UNIFORM);
    if (options.kind != VP_DEMAND_MOE) {
        ck_assert_uint_le(total, options.bytes_per_rank * n + 4 * n * n);
        ck_assert_uint_ge(total, options.bytes_per_rank * n - 4 * n * n);
    }
    free(other);
    free(again);
    free(demand);
}
END_TEST

START_TEST(rows_are_scaled_when_asked)
{
    vp_demand_options_t options = options_of(VP_DEMAND_ZIPF);
    uint64_t *demand;
    uint32_t i;

    options.scale_rows = true;
    demand = generate(&options);
    for (i = 0; i < options.n_ranks; i++) {
        ck_assert_uint_le(row_sum(demand, 32, i), options.bytes_per_rank + 4 * 32);
        ck_assert_uint_ge(row_sum(demand, 32, i), options.bytes_per_rank - 4 * 32);
    }
    free(demand);
}
END_TEST

/*
 * Inverse CDF on [1, 1024]: the median weight of s = 0.5 is ((32 - 1) / 2 + 1)^2 =
 * 272.25, the mean (1024^1.5 - 1) / 1.5 / ((1024^0.5 - 1) / 0.5) = 352.33.
 */
START_TEST(zipf_has_the_median_of_its_cdf)
{
    vp_demand_options_t options = options_of(VP_DEMAND_ZIPF);
    double mean;
    uint64_t *demand;
    uint32_t n_below = 0;
    uint32_t i;

    options.exponent = 0.5;
    options.n_ranks = 256;
    demand = generate(&options);
    mean = (double)options.bytes_per_rank / 255.0;
    for (i = 0; i < 256 * 256; i++) {
        n_below += i % 257 != 0 && (double)demand[i] < mean * 272.25 / 352.33;
    }
    ck_assert_int_le(abs((int)n_below - 256 * 255 / 2), 600);
    free(demand);
}
END_TEST

/* Over destinations all rows agree, and the hottest column has 2^s times the second. */
START_TEST(zipf_over_destinations_makes_hot_columns)
{
    vp_demand_options_t options = options_of(VP_DEMAND_ZIPF);
    uint64_t *demand;
    uint64_t first = 0;
    uint64_t second = 0;
    uint32_t j;

    options.over = VP_ZIPF_DESTINATIONS;
    options.exponent = 1.0;
    demand = generate(&options);
    for (j = 0; j < 32; j++) {
        uint64_t cell = demand[j] > 0 ? demand[j] : demand[32 + j];

        if (cell > first) {
            second = first;
            first = cell;
        } else if (cell > second) {
            second = cell;
        }
    }
    ck_assert_msg(fabs((double)first / (double)second - 2.0) < 0.2, "%llu to %llu",
                  (unsigned long long)first, (unsigned long long)second);
    free(demand);
}
END_TEST

static int compare_cells(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;

    return (left < right) - (left > right);
}

/* Ranked: the k-th largest of a row, or of all, is the largest divided by k^s. */
START_TEST(ranked_zipf_has_each_weight_once)
{
    vp_demand_options_t options = options_of(VP_DEMAND_ZIPF);
    uint64_t *demand;
    size_t n_cells = 32 * 32;
    size_t k;

    options.over = VP_ZIPF_RANKED_PAIRS;
    options.exponent = 0.5;
    demand = generate(&options);
    qsort(demand, n_cells, sizeof(uint64_t), compare_cells);
    for (k = 1; k <= 32 * 31; k++) {
        ck_assert_double_eq_tol((double)demand[k - 1] / (double)demand[0], 1.0 / sqrt((double)k),
                                1e-4);
    }
    ck_assert_uint_eq(demand[32 * 31], 0);
    free(demand);
    options.over = VP_ZIPF_RANKED_ROWS;
    demand = generate(&options);
    ck_assert_int_le(labs((long)(row_sum(demand, 32, 3) - row_sum(demand, 32, 30))), 4 * 32);
    qsort(demand + 32 * 3, 32, sizeof(uint64_t), compare_cells);
    ck_assert_double_eq_tol((double)demand[32 * 3 + 30] / (double)demand[32 * 3], 1.0 / sqrt(31.0),
                            1e-4);
    free(demand);
}
END_TEST

/* Two of 32 destinations get five times the bytes: 2 * 5 + 30 instead of 32 columns. */
START_TEST(hot_destinations_are_multiplied)
{
    vp_demand_options_t options = options_of(VP_DEMAND_UNIFORM);
    uint64_t *demand;
    uint64_t least = UINT64_MAX;
    uint32_t n_hot = 0;
    uint32_t j;

    options.hot_factor = 5;
    demand = generate(&options);
    for (j = 1; j < 32; j++) {
        least = demand[j] < least ? demand[j] : least;
    }
    for (j = 0; j < 32; j++) {
        uint64_t cell = j == 0 ? demand[32] : demand[j];

        n_hot += cell == 5 * least;
        ck_assert(cell == least || cell == 5 * least);
    }
    ck_assert_uint_eq(n_hot, 2);
    free(demand);
}
END_TEST

START_TEST(hotspots_draw_their_share)
{
    vp_demand_options_t options = options_of(VP_DEMAND_HOTSPOT);
    uint64_t *demand;
    uint32_t n_hot = 0;
    uint32_t j;

    demand = generate(&options);
    for (j = 0; j < 32; j++) {
        uint64_t cell = j == 0 ? demand[32] : demand[j];

        n_hot += cell > options.bytes_per_rank / 8;
    }
    ck_assert_uint_eq(n_hot, 2);
    free(demand);
}
END_TEST

/* With as many experts per token as there are, every rank gets its experts' copies. */
START_TEST(moe_counts_tokens)
{
    vp_demand_options_t options = options_of(VP_DEMAND_MOE);
    uint64_t token = 16 * 4;
    uint64_t *demand;

    options.top_k = 64; /* two experts on each of 32 ranks */
    demand = generate(&options);
    ck_assert_uint_eq(demand[1], 2 * 64 * token);
    free(demand);
    options.dedup = VP_DEDUP_RANK;
    demand = generate(&options);
    ck_assert_uint_eq(demand[1], 64 * token);
    ck_assert_uint_eq(row_sum(demand, 32, 5), 31 * 64 * token);
    free(demand);
    options.dedup = VP_DEDUP_NODE; /* once per node, to its first rank */
    demand = generate(&options);
    ck_assert_uint_eq(demand[1], 0);
    ck_assert_uint_eq(row_sum(demand, 32, 5), 4 * 64 * token);
    ck_assert_uint_eq(row_sum(demand, 32, 8), 3 * 64 * token);
    free(demand);
}
END_TEST

START_TEST(bad_options_are_refused)
{
    vp_demand_options_t options = options_of(VP_DEMAND_ZIPF);
    uint64_t *demand = NULL;

    options.n_ranks = 1;
    ck_assert_int_eq(vp_demand_generate(&options, &demand, &error), VP_ERR_USAGE);
    options = options_of(VP_DEMAND_ZIPF);
    options.exponent = NAN;
    ck_assert_int_eq(vp_demand_generate(&options, &demand, &error), VP_ERR_USAGE);
    options = options_of(VP_DEMAND_HOTSPOT);
    options.n_hot = 32;
    ck_assert_int_eq(vp_demand_generate(&options, &demand, &error), VP_ERR_USAGE);
    options = options_of(VP_DEMAND_MOE);
    options.hot_factor = 0;
    ck_assert_int_eq(vp_demand_generate(&options, &demand, &error), VP_ERR_USAGE);
    options = options_of(VP_DEMAND_MOE);
    options.top_k = 65;
    ck_assert_int_eq(vp_demand_generate(&options, &demand, &error), VP_ERR_USAGE);
    ck_assert_ptr_null(demand);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("demand_gen");
    TCase *cases = tcase_create("kinds");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_add_test(cases, random_numbers_are_splitmix64);
    tcase_add_loop_test(cases, all_kinds_keep_the_rules, 0, 5);
    tcase_add_test(cases, rows_are_scaled_when_asked);
    tcase_add_test(cases, zipf_has_the_median_of_its_cdf);
    tcase_add_test(cases, zipf_over_destinations_makes_hot_columns);
    tcase_add_test(cases, ranked_zipf_has_each_weight_once);
    tcase_add_test(cases, hot_destinations_are_multiplied);
    tcase_add_test(cases, hotspots_draw_their_share);
    tcase_add_test(cases, moe_counts_tokens);
    tcase_add_test(cases, bad_options_are_refused);
    suite_add_tcase(suite, cases);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
