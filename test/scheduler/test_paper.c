/*
 * Algorithm 2: every plan is valid, repeatable and above the bound; plans of
 * the fixtures come close to it.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/schedule.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/scheduler/demands.h"
#include "test/scheduler/machines.h"

enum { ALPHA_NS = 10000 };

/* Verifies what holds of every plan. */
static void check_plan(const vp_plan_t *plan, const vp_model_t *model, const uint64_t *demand_bytes,
                       uint64_t alpha_ns, const char *what, uint64_t seed)
{
    vp_bound_t bound;
    vp_error_t error = {VP_OK, ""};

    ck_assert_msg(vp_plan_check(plan, model, demand_bytes, alpha_ns, &error) == VP_OK,
                  "%s, seed %" PRIu64 ": %s", what, seed, error.text);
    ck_assert_int_eq(vp_bound(model, demand_bytes, alpha_ns, &bound, &error), VP_OK);
    ck_assert_msg(plan->time_ns >= bound.bound_ns && plan->n_activations >= bound.kmin,
                  "%s, seed %" PRIu64 ": %" PRIu64 " ns in %u, bound %" PRIu64 " ns in %u", what,
                  seed, plan->time_ns, plan->n_activations, bound.bound_ns, bound.kmin);
}

/* Plans a demand twice and verifies all that holds of every plan. The caller destroys it. */
static vp_plan_t *plan_checked(const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                               uint64_t alpha_ns, uint64_t tau_ns, const char *what, uint64_t seed)
{
    vp_schedule_options_t options = {.alpha_ns = alpha_ns, .tau_ns = tau_ns};
    vp_plan_t *plan = NULL;
    vp_plan_t *again = NULL;
    vp_error_t error = {VP_OK, ""};

    ck_assert_msg(vp_schedule_paper(catalog, demand_bytes, &options, &plan, &error) == VP_OK,
                  "%s, seed %" PRIu64 ": %s", what, seed, error.text);
    check_plan(plan, catalog->model, demand_bytes, alpha_ns, what, seed);
    ck_assert_int_eq(vp_schedule_paper(catalog, demand_bytes, &options, &again, &error), VP_OK);
    ck_assert_msg(plan->hash == again->hash, "%s, seed %" PRIu64 ": hashes %" PRIx64 ", %" PRIx64,
                  what, seed, plan->hash, again->hash);
    vp_plan_destroy(again);
    return plan;
}

/* Loop over machines: all kinds of demand, several of each, several overheads. */
START_TEST(random_demands_are_planned)
{
    static const uint64_t alphas_ns[] = {ALPHA_NS, 0, 1000, VP_MAX_ALPHA_NS};
    vp_catalog_t *catalog = machine_catalog(&machines[_i]);
    uint64_t seed;

    (void)printf("%s: seeds 1 to %d\n", machines[_i].name, 10 * N_DEMAND_KINDS);
    for (seed = 1; seed <= 10 * N_DEMAND_KINDS; seed++) {
        demand_kind_t kind = (demand_kind_t)(seed % N_DEMAND_KINDS);
        uint64_t alpha_ns = alphas_ns[seed / N_DEMAND_KINDS % 4];
        uint64_t *demand_bytes = demand_make(kind, catalog->model->n_ranks, seed);

        vp_plan_destroy(
            plan_checked(catalog, demand_bytes, alpha_ns, 0, demand_kind_text(kind), seed));
        free(demand_bytes);
    }
    vp_catalog_destroy(catalog);
}
END_TEST

/* Loop over machines: the same without shapes and families. */
START_TEST(generated_catalogs_are_planned)
{
    vp_catalog_t *catalog = machine_generated(&machines[_i]);
    uint64_t seed;

    for (seed = 1; seed <= 3 * N_DEMAND_KINDS; seed++) {
        demand_kind_t kind = (demand_kind_t)(seed % N_DEMAND_KINDS);
        uint64_t *demand_bytes = demand_make(kind, catalog->model->n_ranks, seed);

        vp_plan_destroy(plan_checked(catalog, demand_bytes, seed % 2 * ALPHA_NS, 0,
                                     demand_kind_text(kind), seed));
        free(demand_bytes);
    }
    vp_catalog_destroy(catalog);
}
END_TEST

/* Rotation of a lane, and the properties of what each ablation leaves. */
static void check_fix(const vp_plan_t *plan, const vp_model_t *model, vp_fix_t fix)
{
    size_t i;

    for (i = 0; i < plan->n_lanes; i++) {
        const vp_lane_t *lane = &plan->lanes[i];
        const vp_lane_t *first = &plan->lanes[plan->activation_begin[lane->activation]];
        const vp_instance_t *used = &model->instances[lane->instance];
        uint32_t n = model->n_ranks;
        uint32_t r;

        if ((fix & VP_FIX_PEERS) != 0) {
            ck_assert_uint_eq((lane->destination + n - lane->source) % n,
                              (first->destination + n - first->source) % n);
        }
        for (r = 0; (fix & VP_FIX_PATHS) != 0 && r < model->n_instances; r++) {
            const vp_instance_t *other = &model->instances[r];

            if (other->from_group == used->from_group && other->to_group == used->to_group) {
                ck_assert_uint_le(other->bytes_per_s, used->bytes_per_s);
                ck_assert(other->bytes_per_s < used->bytes_per_s ||
                          other->n_resources >= used->n_resources);
            }
        }
    }
}

static void level_rates(vp_model_t *model)
{
    uint32_t r;

    for (r = 0; r < model->n_instances; r++) {
        model->instances[r].bytes_per_s = MACHINE_NIC_BYTES_PER_S;
    }
}

/* Loop over machines: all ablations of listed and of generated catalogs. */
START_TEST(ablations_keep_what_they_say)
{
    vp_catalog_t *catalogs[] = {machine_catalog(&machines[_i]), machine_generated(&machines[_i])};
    const vp_model_t *model = catalogs[0]->model;
    uint64_t seed;
    uint32_t k;

    for (seed = 1; seed <= N_DEMAND_KINDS; seed++) {
        uint64_t *demand_bytes =
            demand_make((demand_kind_t)(seed % N_DEMAND_KINDS), model->n_ranks, seed);

        if (seed == N_DEMAND_KINDS / 2) {
            /* From here on footprints alone tell what is nearest. */
            level_rates(catalogs[0]->model);
            level_rates(catalogs[1]->model);
        }

        for (k = 0; k < 6; k++) {
            vp_schedule_options_t options = {.alpha_ns = ALPHA_NS, .fix = (vp_fix_t)(1 + k / 2)};
            vp_plan_t *plan = NULL;
            vp_error_t error = {VP_OK, ""};

            ck_assert_msg(
                vp_schedule_paper(catalogs[k % 2], demand_bytes, &options, &plan, &error) == VP_OK,
                "seed %" PRIu64 ": %s", seed, error.text);
            check_plan(plan, model, demand_bytes, ALPHA_NS, "ablation", seed);
            check_fix(plan, model, options.fix);
            vp_plan_destroy(plan);
        }
        free(demand_bytes);
    }
    vp_catalog_destroy(catalogs[1]);
    vp_catalog_destroy(catalogs[0]);
}
END_TEST

/*
 * What an ablation takes away is missed. Between nodes the NIC is the only path,
 * so that fixed paths cost something inside a node only.
 */
START_TEST(ablations_are_slower)
{
    const demand_fixture_t *fixture = &demand_fixtures[4 + 4 * _i];
    vp_catalog_t *catalog = machine_catalog(machine_find(fixture->machine));
    uint64_t *demand_bytes = demand_fixture_read(fixture, catalog->model->n_ranks);
    uint64_t time_ns[4];
    uint32_t fix;

    ck_assert_str_eq(fixture->kind, "zipf06");
    for (fix = VP_FIX_NONE; fix <= VP_FIX_BOTH; fix++) {
        vp_schedule_options_t options = {.alpha_ns = ALPHA_NS, .fix = (vp_fix_t)fix};
        vp_plan_t *plan = NULL;
        vp_error_t error;

        ck_assert_int_eq(vp_schedule_paper(catalog, demand_bytes, &options, &plan, &error), VP_OK);
        time_ns[fix] = plan->time_ns;
        vp_plan_destroy(plan);
    }
    (void)printf("%s: fixed peers %.2f, paths %.2f, both %.2f times as long\n", fixture->machine,
                 (double)time_ns[1] / (double)time_ns[0], (double)time_ns[2] / (double)time_ns[0],
                 (double)time_ns[3] / (double)time_ns[0]);
    ck_assert_uint_gt(time_ns[VP_FIX_PEERS], time_ns[VP_FIX_NONE]);
    ck_assert_uint_ge(100 * time_ns[VP_FIX_PATHS], (_i == 0 ? 110 : 97) * time_ns[VP_FIX_NONE]);
    ck_assert_uint_ge(100 * time_ns[VP_FIX_BOTH], 97 * time_ns[VP_FIX_PEERS]);
    free(demand_bytes);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(nothing_needs_no_activation)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("r5080-bf3-1"));
    uint64_t *demand_bytes = demand_make(DEMAND_ZERO, catalog->model->n_ranks, 1);
    vp_plan_t *plan = plan_checked(catalog, demand_bytes, ALPHA_NS, 0, "zero", 1);

    ck_assert_uint_eq(plan->n_activations, 0);
    ck_assert_uint_eq(plan->n_lanes, 0);
    ck_assert_uint_eq(plan->time_ns, 0);
    ck_assert_str_eq(plan->scheduler, "paper");
    vp_plan_destroy(plan);
    free(demand_bytes);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(a_single_pair_takes_one_activation)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("fig1-6"));
    uint64_t demand_bytes[36] = {0};
    vp_plan_t *plan;

    demand_bytes[2 * 6 + 4] = 64000000;
    plan = plan_checked(catalog, demand_bytes, ALPHA_NS, 0, "single", 0);
    ck_assert_uint_eq(plan->n_lanes, 1);
    ck_assert_uint_eq(plan->lanes[0].instance, machine_instance(catalog->model, VP_PATH_PXB, 0, 1));
    ck_assert_uint_eq(plan->time_ns, ALPHA_NS + 1000000);
    vp_plan_destroy(plan);
    vp_catalog_destroy(catalog);
}
END_TEST

/* Very short and very long quanta, and quanta without overhead, all end. */
START_TEST(fixed_quanta_are_planned)
{
    static const uint64_t taus_ns[] = {1, 100, 20000, 1000000, UINT64_MAX};
    vp_catalog_t *catalog = machine_catalog(machine_find("r5080-bf3-1"));
    uint64_t *demand_bytes = demand_make(DEMAND_ZIPF, catalog->model->n_ranks, 11);
    uint32_t last_activations = UINT32_MAX;
    size_t i;

    for (i = 0; i < sizeof(taus_ns) / sizeof(taus_ns[0]); i++) {
        vp_plan_t *plan = plan_checked(catalog, demand_bytes, 0, taus_ns[i], "fixed quantum", 11);

        ck_assert_uint_lt(plan->n_activations, 64 * 64);
        ck_assert_uint_le(plan->n_activations, last_activations);
        last_activations = plan->n_activations;
        vp_plan_destroy(plan);
    }
    free(demand_bytes);
    vp_catalog_destroy(catalog);
}
END_TEST

/* The search keeps the fastest of its quanta, so a fixed one among them is never faster. */
START_TEST(the_search_beats_one_unlimited_quantum)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("r5080-bf3-2"));
    uint64_t seed;

    for (seed = 1; seed <= 5; seed++) {
        uint64_t *demand_bytes = demand_make(DEMAND_DENSE, catalog->model->n_ranks, seed);
        vp_plan_t *best = plan_checked(catalog, demand_bytes, ALPHA_NS, 0, "search", seed);
        vp_plan_t *fixed =
            plan_checked(catalog, demand_bytes, ALPHA_NS, UINT64_MAX, "unlimited", seed);

        ck_assert_uint_le(best->time_ns, fixed->time_ns);
        vp_plan_destroy(fixed);
        vp_plan_destroy(best);
        free(demand_bytes);
    }
    vp_catalog_destroy(catalog);
}
END_TEST

/* Makes one shape of a catalog its only one. */
static void keep_shape(vp_catalog_t *catalog, uint32_t shape)
{
    size_t n_pairs = vp_pair(catalog->model, catalog->model->n_groups, 0);

    catalog->shapes[0] = catalog->shapes[shape];
    memmove(catalog->shape_lanes, catalog->shape_lanes + shape * n_pairs,
            n_pairs * sizeof(*catalog->shape_lanes));
    catalog->n_shapes = 1;
}

/* Three equal pairs inside each group fit into one activation of [[3,0],[0,3]] only. */
START_TEST(the_shape_with_the_largest_score_is_taken)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("fig1-6"));
    uint64_t demand_bytes[36] = {0};
    vp_plan_t *plan;
    uint32_t i;

    for (i = 0; i < 6; i++) {
        demand_bytes[i * 6 + i / 3 * 3 + (i + 1) % 3] = 64000;
    }
    plan = plan_checked(catalog, demand_bytes, ALPHA_NS, 0, "rotation", 0);
    ck_assert_uint_eq(plan->n_activations, 1);
    ck_assert_uint_eq(plan->n_lanes, 6);
    ck_assert_uint_eq(plan->time_ns, ALPHA_NS + 1000);
    vp_plan_destroy(plan);
    vp_catalog_destroy(catalog);
}
END_TEST

/* The four families of [[2,1],[1,2]] cross by PXB or NIC; PXB is faster. */
START_TEST(the_family_with_the_largest_utility_is_taken)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("fig1-6"));
    uint64_t demand_bytes[36] = {0};
    vp_plan_t *plan;

    keep_shape(catalog, 1);
    ck_assert_uint_eq(catalog->shapes[0].n_families, 4);
    demand_bytes[2 * 6 + 4] = 64000;
    demand_bytes[5 * 6 + 1] = 64000;
    plan = plan_checked(catalog, demand_bytes, ALPHA_NS, 0, "families", 0);
    ck_assert_uint_eq(plan->n_lanes, 2);
    ck_assert_uint_eq(plan->lanes[0].instance, machine_instance(catalog->model, VP_PATH_PXB, 0, 1));
    ck_assert_uint_eq(plan->lanes[1].instance, machine_instance(catalog->model, VP_PATH_PXB, 1, 0));
    vp_plan_destroy(plan);
    vp_catalog_destroy(catalog);
}
END_TEST

/* The last shape of fig1-6 has no lane between its groups, so the planner makes those itself. */
START_TEST(pairs_outside_all_families_are_forced)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("fig1-6"));
    uint64_t seed;

    keep_shape(catalog, catalog->n_shapes - 1);
    ck_assert_uint_eq(catalog->shape_lanes[0], 3);
    ck_assert_uint_eq(catalog->shape_lanes[1], 0);
    for (seed = 1; seed <= 20; seed++) {
        uint64_t *demand_bytes = demand_make(DEMAND_DENSE, catalog->model->n_ranks, seed);

        vp_plan_destroy(plan_checked(catalog, demand_bytes, ALPHA_NS, 0, "forced", seed));
        free(demand_bytes);
    }
    vp_catalog_destroy(catalog);
}
END_TEST

/* Two nodes share NICs between instances of different group pairs. */
START_TEST(a_catalog_without_shapes_still_plans)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("r5080-bf3-2"));
    uint64_t seed;

    catalog->n_shapes = 0;
    for (seed = 1; seed <= 20; seed++) {
        uint64_t *demand_bytes =
            demand_make((demand_kind_t)(seed % N_DEMAND_KINDS), catalog->model->n_ranks, seed);

        vp_plan_destroy(plan_checked(catalog, demand_bytes, ALPHA_NS, 0, "no shapes", seed));
        free(demand_bytes);
    }
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(a_forced_activation_fills_its_channel)
{
    vp_catalog_t *catalog = machine_catalog(machine_find("fig1-6"));
    uint64_t demand_bytes[36] = {0};
    vp_plan_t *plan;

    catalog->n_shapes = 0;
    demand_bytes[0 * 6 + 3] = 9000;
    demand_bytes[1 * 6 + 4] = 8000; /* PXB is taken: the NIC */
    demand_bytes[2 * 6 + 5] = 7000; /* both are taken: the next activation */
    demand_bytes[3 * 6 + 4] = 6000; /* its destination is taken, too */
    demand_bytes[4 * 6 + 5] = 5000;
    plan = plan_checked(catalog, demand_bytes, ALPHA_NS, UINT64_MAX, "fill", 0);
    ck_assert_uint_eq(plan->n_activations, 2);
    ck_assert_uint_eq(plan->activation_begin[1], 3);
    ck_assert_uint_eq(plan->lanes[0].instance, machine_instance(catalog->model, VP_PATH_PXB, 0, 1));
    ck_assert_uint_eq(plan->lanes[1].instance, machine_instance(catalog->model, VP_PATH_NIC, 0, 1));
    ck_assert_uint_eq(plan->lanes[2].source, 4);
    vp_plan_destroy(plan);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(a_pair_without_path_is_named)
{
    static const machine_t islands = {"islands", 2, 1, {2, 2}, false, false};
    vp_catalog_t *catalog = machine_catalog(&islands);
    vp_schedule_options_t options = {.alpha_ns = ALPHA_NS};
    uint64_t demand_bytes[16] = {0, 5, 0, 0, 0, 0, 0, 0, 0, 3, 0, 5, 0, 0, 5, 0};
    vp_plan_t *plan = NULL;
    uint64_t time_ns = 7;
    vp_error_t error;

    ck_assert_int_eq(vp_schedule_paper(catalog, demand_bytes, &options, &plan, &error),
                     VP_ERR_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "rank 2 sends 3 bytes to rank 1") != NULL, "says \"%s\"",
                  error.text);
    ck_assert_ptr_null(plan);
    ck_assert_int_eq(vp_pairwise_ns(catalog->model, demand_bytes, 0, &time_ns, &error),
                     VP_ERR_BAD_INPUT);
    ck_assert_uint_eq(time_ns, 7);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(planners_have_names)
{
    ck_assert(vp_schedule_find("paper") == vp_schedule_paper);
    ck_assert(vp_schedule_find("auto") == vp_schedule_auto);
    ck_assert(vp_schedule_find("colour") == vp_schedule_colour);
    ck_assert(vp_schedule_find("critical") == vp_schedule_critical);
    ck_assert(vp_schedule_find("list") == vp_schedule_list);
    ck_assert(vp_schedule_find("pap") == NULL);
    ck_assert(vp_schedule_find("") == NULL);
    ck_assert_str_eq(vp_schedule_names(), "auto, colour, concurrent, critical, list, paper");
}
END_TEST

START_TEST(an_overhead_above_the_limit_is_refused)
{
    static const uint64_t nothing[64 * 64] = {0};
    vp_schedule_options_t options = {.alpha_ns = VP_MAX_ALPHA_NS + 1};
    vp_catalog_t *catalog = machine_catalog(&machines[0]);
    vp_plan_t *plan = NULL;
    vp_error_t error;

    ck_assert_int_eq(vp_schedule_paper(catalog, nothing, &options, &plan, &error), VP_ERR_USAGE);
    ck_assert_ptr_null(plan);
    vp_catalog_destroy(catalog);
}
END_TEST

/* Loose floors under what was measured; the figures are printed. */
START_TEST(fixtures_come_close_to_their_bounds)
{
    const demand_fixture_t *fixture = &demand_fixtures[_i];
    vp_catalog_t *catalog = machine_catalog(machine_find(fixture->machine));
    uint64_t *demand_bytes = demand_fixture_read(fixture, catalog->model->n_ranks);
    vp_plan_t *plan =
        plan_checked(catalog, demand_bytes, ALPHA_NS, 0, fixture->kind, catalog->model->n_ranks);
    uint64_t bound_ns = fixture->lp_ns + ALPHA_NS * (uint64_t)fixture->kmin;
    uint64_t floor_percent = catalog->model->n_ranks == 16  ? 85
                             : catalog->model->n_ranks == 8 ? 80
                                                            : 70;

    (void)printf("%s %s: bound %" PRIu64 " ns, plan %" PRIu64 " ns (%.4f) in %u activations\n",
                 fixture->machine, fixture->kind, bound_ns, plan->time_ns,
                 (double)bound_ns / (double)plan->time_ns, plan->n_activations);
    ck_assert_uint_ge(100 * bound_ns, floor_percent * plan->time_ns);
    vp_plan_destroy(plan);
    free(demand_bytes);
    vp_catalog_destroy(catalog);
}
END_TEST

/* Where both kinds of catalog exist, plans of one are about as good as of the other. */
START_TEST(generated_catalogs_are_as_good)
{
    const demand_fixture_t *fixture = &demand_fixtures[_i];
    vp_catalog_t *listed = machine_catalog(machine_find(fixture->machine));
    vp_catalog_t *generated = machine_generated(machine_find(fixture->machine));
    uint64_t *demand_bytes = demand_fixture_read(fixture, listed->model->n_ranks);
    vp_plan_t *a = plan_checked(listed, demand_bytes, ALPHA_NS, 0, fixture->kind, 0);
    vp_plan_t *b = plan_checked(generated, demand_bytes, ALPHA_NS, 0, fixture->kind, 0);

    (void)printf("%s %s: listed %" PRIu64 " ns, generated %" PRIu64 " ns (%.4f)\n",
                 fixture->machine, fixture->kind, a->time_ns, b->time_ns,
                 (double)a->time_ns / (double)b->time_ns);
    ck_assert_uint_ge(100 * a->time_ns, 95 * b->time_ns);
    vp_plan_destroy(b);
    vp_plan_destroy(a);
    free(demand_bytes);
    vp_catalog_destroy(generated);
    vp_catalog_destroy(listed);
}
END_TEST

/* The machines that other tests rely on have the catalogs of the model page. */
START_TEST(catalogs_have_the_papers_counts)
{
    static const uint32_t counts[][2] = {{3, 6}, {3, 6}, {89, 152}};
    uint32_t m;

    for (m = 0; m < 3; m++) {
        vp_catalog_t *catalog = machine_catalog(&machines[m]);

        ck_assert_uint_eq(catalog->n_shapes, counts[m][0]);
        ck_assert_uint_eq(catalog->n_families, counts[m][1]);
        vp_catalog_destroy(catalog);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("paper");
    TCase *cases = tcase_create("paper");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, catalogs_have_the_papers_counts);
    tcase_add_loop_test(cases, random_demands_are_planned, 0, (int)n_machines);
    tcase_add_loop_test(cases, generated_catalogs_are_planned, 0, (int)n_machines);
    tcase_add_loop_test(cases, generated_catalogs_are_as_good, 0, (int)n_demand_fixtures);
    tcase_add_loop_test(cases, ablations_keep_what_they_say, 0, (int)n_machines);
    tcase_add_loop_test(cases, ablations_are_slower, 0, 2);
    tcase_add_test(cases, nothing_needs_no_activation);
    tcase_add_test(cases, a_single_pair_takes_one_activation);
    tcase_add_test(cases, fixed_quanta_are_planned);
    tcase_add_test(cases, the_search_beats_one_unlimited_quantum);
    tcase_add_test(cases, the_shape_with_the_largest_score_is_taken);
    tcase_add_test(cases, the_family_with_the_largest_utility_is_taken);
    tcase_add_test(cases, pairs_outside_all_families_are_forced);
    tcase_add_test(cases, a_catalog_without_shapes_still_plans);
    tcase_add_test(cases, a_forced_activation_fills_its_channel);
    tcase_add_test(cases, a_pair_without_path_is_named);
    tcase_add_test(cases, planners_have_names);
    tcase_add_test(cases, an_overhead_above_the_limit_is_refused);
    tcase_add_loop_test(cases, fixtures_come_close_to_their_bounds, 0, (int)n_demand_fixtures);
    suite_add_tcase(suite, cases);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
