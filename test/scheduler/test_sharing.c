/*
 * Plans whose lanes share links: "concurrent", pairs over two paths at once,
 * and what "auto" makes of them under contention.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/split.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "scheduler/jobs.h"
#include "scheduler/schedule.h"
#include "test/scheduler/demands.h"
#include "test/scheduler/machines.h"
#include "test/scheduler/random_machines.h"

enum { ALPHA_NS = 10000 };

static vp_plan_t *plan_with(vp_schedule_fn_t planner, const vp_catalog_t *catalog,
                            const uint64_t *bytes, const vp_schedule_options_t *options)
{
    vp_plan_t *plan = NULL;
    vp_error_t error;

    ck_assert_msg(planner(catalog, bytes, options, &plan, &error) == VP_OK, "%s", error.text);
    check_plan(plan, catalog->model, bytes, options->alpha_ns);
    return plan;
}

/* Two sources on a link of a table leave `ppm` of it. */
static void add_profile(vp_model_t *model, const char *name, uint32_t gpu_ppm, uint32_t uplink_ppm)
{
    const uint32_t shared_ppm[VP_N_CONTENTION_TABLES] = {gpu_ppm, uplink_ppm, 1000000};
    vp_contention_t *profile;
    uint32_t table;

    model->contention = realloc(model->contention, (model->n_contention + 1) * sizeof(*profile));
    ck_assert_ptr_nonnull(model->contention);
    profile = &model->contention[model->n_contention++];
    memset(profile, 0, sizeof(*profile));
    profile->name = strdup(name);
    for (table = 0; table < VP_N_CONTENTION_TABLES; table++) {
        profile->n_entries[table] = 2;
        profile->share_ppm[table][0] = 1000000;
        profile->share_ppm[table][1] = shared_ppm[table];
    }
}

/*
 * One pair between two groups, over a PXB link of 64 GB/s and a NIC of 50: the
 * GPU's link carries 64, so the second path gains nothing that lasts.
 */
START_TEST(the_nearest_path_is_plain)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("fig1-6"));
    const vp_schedule_options_t options = {.alpha_ns = ALPHA_NS};
    uint64_t bytes[36] = {0};
    vp_plan_t *plan;

    bytes[0 * 6 + 3] = 64000000;
    plan = plan_with(vp_schedule_concurrent, catalog, bytes, &options);
    ck_assert_int_eq(plan->form.order, VP_PLAN_CONCURRENT);
    ck_assert_uint_eq(plan->n_lanes, 1);
    ck_assert_uint_eq(plan->form.window, 1);
    ck_assert_uint_eq(plan->lanes[0].instance, machine_instance(catalog->model, VP_PATH_PXB, 0, 1));
    ck_assert_uint_eq(plan->time_ns, ALPHA_NS + 1000000);
    vp_plan_destroy(plan);
    vp_catalog_destroy(catalog);
}
END_TEST

/* All of one group to the other: 64 + 50 GB/s carry them, not 64 alone. */
START_TEST(bytes_are_spread_over_both_paths)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("fig1-6"));
    const vp_schedule_options_t options = {.alpha_ns = ALPHA_NS};
    uint64_t bytes[36] = {0};
    uint64_t best_ns = ALPHA_NS + 6 * UINT64_C(64000000) / 114;
    vp_plan_t *plan;
    uint32_t i;

    for (i = 0; i < 3; i++) {
        bytes[i * 6 + 3 + i] = 64000000;
        bytes[i * 6 + 3 + (i + 1) % 3] = 64000000;
    }
    plan = plan_with(vp_schedule_concurrent, catalog, bytes, &options);
    ck_assert_msg(plan->time_ns * 100 <= best_ns * 102, "%" PRIu64 " ns, at best %" PRIu64,
                  plan->time_ns, best_ns);
    ck_assert_uint_ge(plan->form.window, 4);
    vp_plan_destroy(plan);
    vp_catalog_destroy(catalog);
}
END_TEST

/* Loads of ports are the sums of what the shares put on them. */
START_TEST(spreading_never_loads_the_fullest_link_much_more)
{
    uint64_t state = 31;
    int round;

    for (round = 0; round < 100; round++) {
        vp_catalog_t *catalog = random_machine(&state, 16);
        uint64_t *bytes = random_demand(&state, catalog->model->n_ranks);
        vp_spread_t spread = {0};
        uint64_t fullest_ns[2] = {0, 0};
        vp_error_t error;
        size_t k;
        uint32_t way;
        int step;

        ck_assert_int_eq(vp_spread_nearest(&spread, catalog->model, bytes, VP_LINKS_IDEAL,
                                           VP_CHUNK_BYTES, &error),
                         VP_OK);
        for (step = 0; step < 2; step++) {
            for (k = 0; k < spread.n_ports; k++) {
                fullest_ns[step] =
                    spread.load_ns[k] > fullest_ns[step] ? spread.load_ns[k] : fullest_ns[step];
            }
            for (k = 0; k < spread.n_pairs; k++) {
                uint64_t sum = 0;

                for (way = 0; way < spread.pairs[k].n_ways; way++) {
                    sum += spread.shares[spread.pairs[k].first_share + way];
                }
                ck_assert_uint_eq(sum, spread.pairs[k].n_bytes);
            }
            if (step == 0) {
                vp_split_t split = {0};

                ck_assert_int_eq(vp_split_collect(&split, &spread, &error), VP_OK);
                vp_split_solve(&split, true);
                ck_assert_int_eq(vp_spread_deal(&spread, &split, &error), VP_OK);
                vp_split_release(&split);
            }
        }
        ck_assert_msg(fullest_ns[1] <= fullest_ns[0] + fullest_ns[0] / 10 + 10000,
                      "round %d: %" PRIu64 " ns became %" PRIu64, round, fullest_ns[0],
                      fullest_ns[1]);
        vp_spread_release(&spread);
        free(bytes);
        vp_catalog_destroy(catalog);
    }
}
END_TEST

/* Two NICs of 50 GB/s between two groups of one rank each, GPU links of 64. */
static vp_catalog_t *two_nics(void)
{
    uint64_t state = 1;
    vp_catalog_t *catalog = NULL;
    uint32_t i;

    do {
        vp_catalog_destroy(catalog);
        catalog = random_machine(&state, 2);
    } while (catalog->model->n_nodes != 2 || catalog->model->n_groups != 2 ||
             catalog->model->pair_begin[2] - catalog->model->pair_begin[1] != 2);
    catalog->model->gpu_link_bytes_per_s = UINT64_C(64000000000);
    for (i = 0; i < catalog->model->n_instances; i++) {
        catalog->model->instances[i].bytes_per_s = UINT64_C(50000000000);
    }
    return catalog;
}

START_TEST(a_pair_uses_two_paths_at_once)
{
    vp_catalog_t *catalog = two_nics();
    vp_schedule_options_t options = {.alpha_ns = ALPHA_NS, .sharing = VP_SHARING_ON};
    uint64_t bytes[4] = {0, 64 * 4096 * 1000, 0, 0};
    uint64_t link_ns = bytes[1] / 64;
    vp_plan_t *plan;

    plan = plan_with(vp_schedule_colour, catalog, bytes, &options);
    ck_assert_int_eq(plan->form.order, VP_PLAN_ACTIVATIONS);
    ck_assert(plan->form.shares_ports);
    ck_assert_uint_eq(plan->form.window, 2);
    ck_assert_uint_eq(plan->n_activations, 1);
    ck_assert_uint_eq(plan->n_lanes, 2);
    ck_assert(plan->lanes[0].instance != plan->lanes[1].instance);
    ck_assert_uint_eq(plan->time_ns, ALPHA_NS + link_ns);
    vp_plan_destroy(plan);
    options.sharing = VP_SHARING_OFF;
    plan = plan_with(vp_schedule_colour, catalog, bytes, &options);
    ck_assert(!plan->form.shares_ports);
    vp_plan_destroy(plan);
    vp_catalog_destroy(catalog);
}
END_TEST

static vp_schedule_options_t random_options(uint64_t *state_p)
{
    static const uint64_t alphas[] = {0, 1, 1000, 10000, 1000000};
    static const char *const links[] = {"ideal", "well", "badly"};

    return (vp_schedule_options_t){.alpha_ns = alphas[demand_random(state_p) % 5],
                                   .sharing = VP_SHARING_AUTO,
                                   .links = links[demand_random(state_p) % 3],
                                   .by_dependencies = demand_random(state_p) % 2 == 0};
}

/* Everything at once on nearest paths, whole. */
static vp_plan_t *plain_plan(const vp_model_t *model, const uint64_t *bytes,
                             const vp_schedule_options_t *options)
{
    vp_plan_form_t form = {VP_PLAN_CONCURRENT, model->n_ranks, true, VP_LINKS_IDEAL};
    vp_plan_builder_t *builder = NULL;
    vp_spread_t spread = {0};
    vp_plan_t *plan = NULL;
    vp_error_t error;
    size_t k;
    uint32_t way;

    ck_assert_int_eq(vp_links_find(model, options->links, &form.contention, &error), VP_OK);
    ck_assert_int_eq(
        vp_spread_nearest(&spread, model, bytes, form.contention, VP_CHUNK_BYTES, &error), VP_OK);
    ck_assert_int_eq(vp_plan_builder_create(model, &builder, &error), VP_OK);
    vp_plan_builder_set_form(builder, &form);
    for (k = 0; k < spread.n_pairs; k++) {
        const vp_spread_pair_t *pair = &spread.pairs[k];

        for (way = 0; way < pair->n_ways; way++) {
            ck_assert_int_eq(vp_plan_builder_add(builder, pair->source, pair->destination,
                                                 pair->first_instance + way,
                                                 spread.shares[pair->first_share + way], &error),
                             VP_OK);
        }
    }
    ck_assert_int_eq(vp_plan_builder_finish(builder, options->alpha_ns, "plain", &plan, &error),
                     VP_OK);
    vp_plan_builder_destroy(builder);
    vp_spread_release(&spread);
    return plan;
}

/*
 * A call with its planning charged beside everything at once, which costs none:
 * turns may take a fiftieth longer, for where lanes alone do not fill links.
 */
static void check_call(const vp_catalog_t *catalog, const uint64_t *bytes,
                       const vp_schedule_options_t *options)
{
    vp_plan_t *best = plan_with(vp_schedule_auto, catalog, bytes, options);
    vp_plan_t *again = plan_with(vp_schedule_auto, catalog, bytes, options);
    vp_plan_t *plain = plain_plan(catalog->model, bytes, options);
    vp_standing_t *standing = NULL;
    vp_schedule_options_t kept = *options;
    vp_error_t error;

    ck_assert_msg(best->time_ns + best->planning_ns <= plain->time_ns + plain->time_ns / 50,
                  "%s, %s: %" PRIu64 " ns and planning %" PRIu64 ", at once %" PRIu64,
                  best->scheduler, options->links, best->time_ns, best->planning_ns,
                  plain->time_ns);
    ck_assert_uint_eq(best->hash, again->hash);
    ck_assert_uint_eq(best->planning_ns, again->planning_ns);
    vp_plan_destroy(again);
    ck_assert_int_eq(vp_standing_create(catalog->model, options->links, &standing, &error), VP_OK);
    kept.standing = standing;
    again = plan_with(vp_schedule_auto, catalog, bytes, &kept);
    ck_assert_uint_eq(best->hash, again->hash);
    vp_standing_destroy(standing);
    vp_plan_destroy(plain);
    vp_plan_destroy(again);
    vp_plan_destroy(best);
}

/* What planning costs does not matter to it, whatever the links do and whatever is allowed. */
static void check_thorough(const vp_catalog_t *catalog, const uint64_t *bytes,
                           vp_schedule_options_t options)
{
    vp_plan_t *best;
    vp_plan_t *concurrent;
    vp_plan_t *exclusive;

    options.effort = VP_EFFORT_THOROUGH;
    best = plan_with(vp_schedule_auto, catalog, bytes, &options);
    concurrent = plan_with(vp_schedule_concurrent, catalog, bytes, &options);
    ck_assert_msg(best->time_ns <= concurrent->time_ns,
                  "auto (%s) %" PRIu64 " ns, concurrent %" PRIu64, best->scheduler, best->time_ns,
                  concurrent->time_ns);
    options.sharing = VP_SHARING_OFF;
    options.by_dependencies = false;
    options.effort = VP_EFFORT_CALL;
    exclusive = plan_with(vp_schedule_auto, catalog, bytes, &options);
    ck_assert(!exclusive->form.shares_ports && exclusive->form.order == VP_PLAN_ACTIVATIONS);
    ck_assert_uint_le(best->time_ns, exclusive->time_ns);
    vp_plan_destroy(exclusive);
    vp_plan_destroy(concurrent);
    vp_plan_destroy(best);
}

static void check_random(uint64_t seed, int n_rounds, uint32_t max_ranks)
{
    uint64_t state = seed;
    int round;

    for (round = 0; round < n_rounds; round++) {
        vp_catalog_t *catalog = random_machine(&state, max_ranks);
        uint64_t *bytes = random_demand(&state, catalog->model->n_ranks);
        vp_schedule_options_t options;

        add_profile(catalog->model, "well", 750000, 970000);
        add_profile(catalog->model, "badly", 500000, 250000);
        options = random_options(&state);
        check_call(catalog, bytes, &options);
        if (round % 20 == 0 && catalog->model->n_ranks <= 6) {
            check_thorough(catalog, bytes, options);
        }
        free(bytes);
        vp_catalog_destroy(catalog);
    }
}

START_TEST(auto_on_random_machines)
{
    check_random(41, 200, 16);
}
END_TEST

START_TEST(auto_on_large_random_machines)
{
    check_random(42, 5, 64);
}
END_TEST

START_TEST(contention_decides)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("r5080-bf3-1"));
    vp_schedule_options_t options = {
        .alpha_ns = ALPHA_NS, .sharing = VP_SHARING_AUTO, .links = "badly"};
    uint64_t *bytes = demand_make(DEMAND_DENSE, catalog->model->n_ranks, 3);
    vp_plan_t *plan;
    size_t i;

    for (i = 0; i < (size_t)catalog->model->n_ranks * catalog->model->n_ranks; i++) {
        bytes[i] *= 16; /* planning pays */
    }
    add_profile(catalog->model, "badly", 500000, 250000);
    plan = plan_with(vp_schedule_auto, catalog, bytes, &options);
    ck_assert_int_eq(plan->form.order, VP_PLAN_ACTIVATIONS);
    vp_plan_destroy(plan);
    options.links = NULL;
    plan = plan_with(vp_schedule_auto, catalog, bytes, &options);
    ck_assert_int_eq(plan->form.order, VP_PLAN_CONCURRENT);
    vp_plan_destroy(plan);
    free(bytes);
    vp_catalog_destroy(catalog);
}
END_TEST

/* Blocks of which none has more than twice the mean are cut in turns where starts are free. */
START_TEST(turns_are_had_where_they_cost_nothing)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("r5080-bf3-1"));
    vp_schedule_options_t options = {.alpha_ns = 0, .sharing = VP_SHARING_AUTO};
    uint32_t n = catalog->model->n_ranks, i, j;
    uint64_t *bytes = vp_array_new((size_t)n * n, sizeof(*bytes));
    size_t n_lanes;
    vp_plan_t *plan;

    ck_assert_ptr_nonnull(bytes);
    for (i = 0; i < n; i++) {
        for (j = 0; j < n; j++) {
            bytes[(size_t)i * n + j] = i == j ? 0 : (i + 2 * j) % 3 == 0 ? 48 << 20 : 16 << 20;
        }
    }
    plan = plan_with(vp_schedule_concurrent, catalog, bytes, &options);
    n_lanes = plan->n_lanes;
    vp_plan_destroy(plan);
    options.alpha_ns = ALPHA_NS;
    plan = plan_with(vp_schedule_concurrent, catalog, bytes, &options);
    ck_assert_uint_gt(n_lanes, 4 * plan->n_lanes);
    vp_plan_destroy(plan);
    free(bytes);
    vp_catalog_destroy(catalog);
}
END_TEST

/* Cuts at multiples of what the options say, in every form of plan. */
START_TEST(blocks_are_cut_at_whole_chunks)
{
    static const uint64_t chunks[] = {1, 512, 65536, 1 << 20};
    static const char *const planners[] = {"auto", "colour", "concurrent", "critical", "list"};
    vp_catalog_t *catalog = machine_catalog(machine_find("r5080-bf3-1"));
    uint64_t *bytes = demand_make(DEMAND_ZIPF, catalog->model->n_ranks, 3);
    size_t c;
    size_t p;
    size_t i;

    for (c = 0; c < sizeof(chunks) / sizeof(chunks[0]); c++) {
        for (p = 0; p < sizeof(planners) / sizeof(planners[0]); p++) {
            const vp_schedule_options_t options = {.alpha_ns = 1000, .chunk_bytes = chunks[c]};
            vp_plan_t *plan = NULL;
            vp_error_t error;

            ck_assert_msg(vp_schedule_find(planners[p])(catalog, bytes, &options, &plan, &error) ==
                              VP_OK,
                          "%s", error.text);
            ck_assert_int_eq(vp_plan_check(plan, catalog->model, bytes, 1000, &error), VP_OK);
            for (i = 0; i < plan->n_lanes; i++) {
                ck_assert_msg(plan->lanes[i].offset_bytes % chunks[c] == 0,
                              "%s, chunks of %" PRIu64 ": a lane begins at %" PRIu64, planners[p],
                              chunks[c], plan->lanes[i].offset_bytes);
            }
            vp_plan_destroy(plan);
        }
    }
    free(bytes);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(odd_chunks_are_refused)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("fig1-6"));
    const vp_schedule_options_t options = {.chunk_bytes = 5000};
    const uint64_t bytes[36] = {0, 1};
    vp_plan_t *plan = NULL;
    vp_error_t error;

    ck_assert_int_eq(vp_schedule_concurrent(catalog, bytes, &options, &plan, &error), VP_ERR_USAGE);
    ck_assert_int_eq(vp_schedule_list(catalog, bytes, &options, &plan, &error), VP_ERR_USAGE);
    ck_assert_msg(strstr(error.text, "multiples of 5000 bytes") != NULL, "%s", error.text);
    ck_assert_ptr_null(plan);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(unknown_profiles_are_refused)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("fig1-6"));
    const vp_schedule_options_t options = {.links = "no such"};
    const uint64_t bytes[36] = {0, 1};
    vp_plan_t *plan = NULL;
    vp_error_t error;

    ck_assert_int_eq(vp_schedule_concurrent(catalog, bytes, &options, &plan, &error), VP_ERR_USAGE);
    ck_assert_int_eq(vp_schedule_colour(catalog, bytes, &options, &plan, &error), VP_ERR_USAGE);
    ck_assert_msg(strstr(error.text, "\"no such\"") != NULL, "%s", error.text);
    ck_assert_ptr_null(plan);
    vp_catalog_destroy(catalog);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sharing");
    TCase *tests = tcase_create("sharing");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, the_nearest_path_is_plain);
    tcase_add_test(tests, bytes_are_spread_over_both_paths);
    tcase_add_test(tests, spreading_never_loads_the_fullest_link_much_more);
    tcase_add_test(tests, a_pair_uses_two_paths_at_once);
    tcase_add_test(tests, auto_on_random_machines);
    tcase_add_test(tests, auto_on_large_random_machines);
    tcase_add_test(tests, contention_decides);
    tcase_add_test(tests, turns_are_had_where_they_cost_nothing);
    tcase_add_test(tests, blocks_are_cut_at_whole_chunks);
    tcase_add_test(tests, odd_chunks_are_refused);
    tcase_add_test(tests, unknown_profiles_are_refused);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
