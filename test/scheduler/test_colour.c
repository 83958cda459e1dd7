/*
 * The planner "colour": properties over random machines and demands, floors
 * of quality on fixtures, and its helpers.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/colour.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "test/scheduler/demands.h"
#include "test/scheduler/machines.h"
#include "test/scheduler/random_machines.h"

static vp_plan_t *plan_demand(const vp_catalog_t *catalog, const uint64_t *bytes,
                              const vp_schedule_options_t *options)
{
    vp_plan_t *plan = NULL;
    vp_error_t error;

    ck_assert_msg(vp_schedule_colour(catalog, bytes, options, &plan, &error) == VP_OK, "%s",
                  error.text);
    return plan;
}

/* Plans twice, checks both, and returns the time. */
static uint64_t check_demand(const vp_catalog_t *catalog, const uint64_t *bytes,
                             const vp_schedule_options_t *options)
{
    vp_plan_t *plan = plan_demand(catalog, bytes, options);
    vp_plan_t *again = plan_demand(catalog, bytes, options);
    uint64_t time_ns = plan->time_ns;

    check_plan(plan, catalog->model, bytes, options->alpha_ns);
    ck_assert_msg(plan->hash == again->hash && plan->time_ns == again->time_ns,
                  "two runs differ: hash %016" PRIx64 " and %016" PRIx64, plan->hash, again->hash);
    vp_plan_destroy(again);
    vp_plan_destroy(plan);
    return time_ns;
}

static void check_random(uint64_t seed, uint32_t n_rounds, uint32_t max_ranks)
{
    static const uint64_t alphas[] = {0, 1, 1000, 10000, 1000000};
    uint64_t state = seed;
    uint32_t i;

    for (i = 0; i < n_rounds; i++) {
        vp_catalog_t *catalog = random_machine(&state, max_ranks);
        uint64_t *bytes = random_demand(&state, catalog->model->n_ranks);
        vp_schedule_options_t options = {.alpha_ns = alphas[demand_random(&state) % 5]};
        uint64_t call_ns;
        uint64_t thorough_ns;

        call_ns = check_demand(catalog, bytes, &options);
        options.effort = VP_EFFORT_THOROUGH;
        thorough_ns = check_demand(catalog, bytes, &options);
        /* The search counts whole chunks, the plan does not. */
        ck_assert_msg(thorough_ns <= call_ns + call_ns / 1000 + 1000,
                      "seed %" PRIu64 " round %" PRIu32 ": thorough %" PRIu64 " ns, call %" PRIu64,
                      seed, i, thorough_ns, call_ns);
        options.tau_ns = 1 + demand_random(&state) % 100000;
        (void)check_demand(catalog, bytes, &options);
        free(bytes);
        vp_catalog_destroy(catalog);
    }
}

START_TEST(small_random_machines)
{
    check_random(1, 600, 12);
}
END_TEST

START_TEST(large_random_machines)
{
    check_random(2, 24, 64);
}
END_TEST

/* Bound over time in parts per thousand. */
static uint64_t ratio_of(const char *machine, const char *kind, vp_effort_t effort)
{
    vp_catalog_t *catalog = machine_catalog(machine_find(machine));
    const vp_schedule_options_t options = {.alpha_ns = 10000, .effort = effort};
    uint64_t ratio = 0;
    uint32_t i;

    for (i = 0; i < n_demand_fixtures; i++) {
        const demand_fixture_t *fixture = &demand_fixtures[i];

        if (strcmp(fixture->machine, machine) == 0 && strcmp(fixture->kind, kind) == 0) {
            uint64_t *bytes = demand_fixture_read(fixture, catalog->model->n_ranks);
            uint64_t time_ns = check_demand(catalog, bytes, &options);

            ratio = (fixture->lp_ns + options.alpha_ns * fixture->kmin) * 1000 / time_ns;
            free(bytes);
        }
    }
    vp_catalog_destroy(catalog);
    return ratio;
}

START_TEST(quality_on_fixtures)
{
    static const struct {
        const char *machine;
        const char *kind;
        uint64_t call;
        uint64_t thorough;
    } floors[] = {
        {"r5080-bf3-2", "zipf06", 940, 960},
        {"r5080-bf3-2", "hot", 880, 975},
        {"r5080-bf3-2", "uniform", 995, 995},
        {"r5080-bf3-2", "sparse70", 980, 980},
    };
    size_t i;

    for (i = 0; i < sizeof(floors) / sizeof(floors[0]); i++) {
        uint64_t call = ratio_of(floors[i].machine, floors[i].kind, VP_EFFORT_CALL);
        uint64_t thorough = ratio_of(floors[i].machine, floors[i].kind, VP_EFFORT_THOROUGH);

        ck_assert_msg(call >= floors[i].call && thorough >= floors[i].thorough,
                      "%s %s: bound over time %" PRIu64 " and %" PRIu64
                      " per mille, floors are %" PRIu64 " and %" PRIu64,
                      floors[i].machine, floors[i].kind, call, thorough, floors[i].call,
                      floors[i].thorough);
    }
}
END_TEST

START_TEST(nothing_to_send)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("r5080-bf3-1"));
    uint64_t *bytes = demand_make(DEMAND_ZERO, catalog->model->n_ranks, 1);
    const vp_schedule_options_t options = {.alpha_ns = 10000};
    vp_plan_t *plan = plan_demand(catalog, bytes, &options);

    ck_assert_uint_eq(plan->n_lanes, 0);
    ck_assert_uint_eq(plan->n_activations, 0);
    ck_assert_uint_eq(plan->time_ns, 0);
    vp_plan_destroy(plan);
    free(bytes);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(pair_without_path)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("r5080-bf3-2"));
    uint64_t *bytes = demand_make(DEMAND_DENSE, catalog->model->n_ranks, 1);
    const vp_schedule_options_t options = {.alpha_ns = 10000};
    vp_plan_t *plan = NULL;
    vp_error_t error;
    uint32_t pair;

    for (pair = 1; pair < 17; pair++) {
        catalog->model->pair_begin[pair] = catalog->model->pair_begin[1];
    }
    ck_assert_int_eq(vp_schedule_colour(catalog, bytes, &options, &plan, &error), VP_ERR_BAD_INPUT);
    ck_assert_ptr_null(plan);
    free(bytes);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(uniform_demand_is_optimal)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("r5080-bf3-2"));
    uint32_t n_ranks = catalog->model->n_ranks;
    uint64_t *bytes = demand_make(DEMAND_BYTES, n_ranks, 1);
    const vp_schedule_options_t options = {.alpha_ns = 10000};
    vp_plan_t *plan;
    size_t i;

    for (i = 0; i < (size_t)n_ranks * n_ranks; i++) {
        bytes[i] *= UINT64_C(1) << 20;
    }
    plan = plan_demand(catalog, bytes, &options);
    ck_assert_uint_eq(plan->n_activations, 32);
    ck_assert_uint_eq(plan->n_lanes, (size_t)n_ranks * (n_ranks - 1));
    vp_plan_destroy(plan);
    free(bytes);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(order_is_by_length)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("r5080-bf3-2"));
    uint64_t *bytes = demand_make(DEMAND_DENSE, catalog->model->n_ranks, 3);
    vp_jobs_t jobs;
    vp_cut_t cut;
    vp_error_t error;
    size_t i;

    ck_assert_int_eq(vp_jobs_init(&jobs, catalog->model, bytes, 10000, &error), VP_OK);
    ck_assert_int_eq(vp_cut_init(&cut, &jobs, &error), VP_OK);
    ck_assert_int_eq(vp_cut_make(&cut, &jobs, 20000, &error), VP_OK);
    ck_assert_int_eq(vp_cut_sort(&cut, &error), VP_OK);
    ck_assert_uint_gt(cut.n_pieces, jobs.n_jobs);
    for (i = 1; i < cut.n_pieces; i++) {
        uint64_t before = cut.pieces[(uint32_t)cut.order[i - 1]].ticks;
        uint64_t after = cut.pieces[(uint32_t)cut.order[i]].ticks;

        ck_assert_msg(before + cut.grain > after, "piece %zu: %" PRIu64 " before %" PRIu64, i,
                      before, after);
    }
    vp_cut_release(&cut);
    vp_jobs_release(&jobs);
    free(bytes);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(length_and_bytes_agree)
{
    uint64_t state = 5;
    uint32_t i;

    for (i = 0; i < 10000; i++) {
        uint64_t rate = 1 + demand_random(&state) % UINT64_C(100000000000);
        vp_way_t way = {.bytes_per_s = rate,
                        .chunk_bytes = VP_CHUNK_BYTES,
                        .ticks_per_byte =
                            (uint64_t)(((vp_uint128_t)VP_NS_PER_S << VP_JOBS_RATE_BITS) / rate) +
                            1};
        uint64_t ticks = demand_random(&state) % (UINT64_C(1) << 40);
        uint64_t n_bytes = vp_way_bytes_in(&way, ticks);

        ck_assert_uint_eq(n_bytes % VP_CHUNK_BYTES, 0);
        ck_assert_msg(vp_way_ticks(&way, n_bytes) <= ticks,
                      "%" PRIu64 " bytes at %" PRIu64 " B/s take more than %" PRIu64 " ticks",
                      n_bytes, rate, ticks);
        ck_assert_msg(vp_way_ticks(&way, n_bytes) >= vp_transfer_ns(n_bytes, rate),
                      "%" PRIu64 " bytes at %" PRIu64 " B/s: too short", n_bytes, rate);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("colour");
    TCase *tests = tcase_create("colour");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, small_random_machines);
    tcase_add_test(tests, large_random_machines);
    tcase_add_test(tests, quality_on_fixtures);
    tcase_add_test(tests, nothing_to_send);
    tcase_add_test(tests, pair_without_path);
    tcase_add_test(tests, uniform_demand_is_optimal);
    tcase_add_test(tests, order_is_by_length);
    tcase_add_test(tests, length_and_bytes_agree);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
