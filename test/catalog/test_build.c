/* SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/build.h"
#include "catalog/topology.h"
#include "test/catalog/brute_force.h"
#include "test/catalog/machines.h"

enum { N_RANDOM_MACHINES = 400 };

static vp_model_t *resolve(const char *topology)
{
    vp_error_t error = {.text = ""};
    vp_model_t *model = NULL;

    ck_assert_msg(vp_topology_resolve(topology, &model, &error) == VP_OK, "%s: %s", topology,
                  error.text);
    return model;
}

/* Builds and checks; takes the model over. */
static vp_catalog_t *build(vp_model_t *model)
{
    vp_error_t error = {.text = ""};
    vp_catalog_t *catalog = NULL;

    ck_assert_msg(vp_catalog_build(&model, NULL, &catalog, &error) == VP_OK, "%s", error.text);
    ck_assert_ptr_null(model);
    ck_assert_msg(vp_catalog_check(catalog, &error) == VP_OK, "%s", error.text);
    return catalog;
}

/* The steps are what the search takes now; more of them mean that SuffixOK got worse. */
static const struct {
    const char *topology;
    uint32_t n_shapes;
    uint32_t n_families;
    uint64_t max_steps;
} golden[] = {
    {"fig1-6", 3, 6, 26},
    {"fig1-6:rates=measured", 3, 6, 26},
    {"l20-cx7", 3, 6, 26},
    {"r5080-bf3", 3, 6, 26},
    {"r5080-bf3:nodes=2", 89, 152, 1405},
    {"r5080-bf3:nodes=2:rates=measured", 89, 152, 1405},
    {"r5080-bf3:nodes=3", 5483, 9264, 126346},
    {"r5090-bf3", 273, 832, 10419},
};

START_TEST(golden_counts)
{
    vp_catalog_t *catalog = build(resolve(golden[_i].topology));

    ck_assert_msg(
        catalog->n_shapes == golden[_i].n_shapes && catalog->n_families == golden[_i].n_families,
        "%s: %" PRIu32 " shapes and %" PRIu32 " families, expected %" PRIu32 " and %" PRIu32,
        golden[_i].topology, catalog->n_shapes, catalog->n_families, golden[_i].n_shapes,
        golden[_i].n_families);
    ck_assert_uint_le(catalog->build_steps, golden[_i].max_steps);
    ck_assert_int_eq(catalog->mode, VP_CATALOG_EXHAUSTIVE);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(figure_1_shapes)
{
    static const uint16_t lanes[3][4] = {{1, 2, 2, 1}, {2, 1, 1, 2}, {3, 0, 0, 3}};
    static const uint32_t families[3] = {1, 4, 1};
    vp_catalog_t *catalog = build(resolve("fig1-6"));
    uint32_t shape;
    uint32_t k;

    ck_assert_uint_eq(catalog->n_shapes, 3);
    for (shape = 0; shape < 3; shape++) {
        ck_assert_uint_eq(catalog->shapes[shape].n_families, families[shape]);
        for (k = 0; k < 4; k++) {
            ck_assert_uint_eq(catalog->shape_lanes[shape * 4 + k], lanes[shape][k]);
        }
    }
    /* Figure 1, stage C: one PIX, one PXB and one NIC lane per group make 356 GB/s. */
    ck_assert_uint_eq(catalog->shapes[0].first_family, 0);
    {
        uint64_t total = 0;

        for (k = catalog->member_begin[0]; k < catalog->member_begin[1]; k++) {
            total += catalog->model->instances[catalog->members[k].instance].bytes_per_s *
                     catalog->members[k].count;
        }
        ck_assert_uint_eq(total, UINT64_C(356000000000));
    }
    vp_catalog_destroy(catalog);
}
END_TEST

static void print_family(const char *who, const brute_family_t *family)
{
    uint32_t i;

    (void)printf("%s:", who);
    for (i = 0; i < family->n_lanes; i++) {
        (void)printf(" pair %" PRIu32 " mask %" PRIx32 " rate %" PRIu64 ";", family->lanes[i].pair,
                     family->lanes[i].resource_mask, family->lanes[i].bytes_per_s);
    }
    (void)printf("\n");
}

static void compare_lists(const brute_list_t *expected, const brute_list_t *built, int machine)
{
    size_t i;

    for (i = 0; i < expected->n && i < built->n; i++) {
        if (brute_compare(&expected->families[i], &built->families[i]) != 0) {
            print_family("brute force", &expected->families[i]);
            print_family("product", &built->families[i]);
            ck_abort_msg("machine %d: family %zu differs", machine, i);
        }
    }
    ck_assert_msg(expected->n == built->n,
                  "machine %d: brute force finds %zu families, the product %zu", machine,
                  expected->n, built->n);
}

START_TEST(random_machines_against_brute_force)
{
    uint64_t state = machine_seed();
    size_t n_families = 0;
    int machine;

    for (machine = 0; machine < N_RANDOM_MACHINES; machine++) {
        vp_model_t *model = machine_make_random(&state);
        brute_list_t expected = {0};
        brute_list_t built = {0};
        vp_catalog_t *catalog;

        brute_enumerate(model, &expected);
        catalog = build(model);
        brute_convert(catalog, &built);
        compare_lists(&expected, &built, machine);
        n_families += expected.n;
        free(expected.families);
        free(built.families);
        vp_catalog_destroy(catalog);
    }
    ck_assert_uint_gt(n_families, N_RANDOM_MACHINES); /* the machines are not all trivial */
}
END_TEST

/* Counts the families with that many lanes from group `from` to group `to`. */
static uint32_t count_families(const vp_catalog_t *catalog, uint32_t from, uint32_t to,
                               uint32_t lanes)
{
    size_t n_groups = catalog->model->n_groups;
    uint32_t n = 0;
    uint32_t shape;

    for (shape = 0; shape < catalog->n_shapes; shape++) {
        if (catalog->shape_lanes[shape * n_groups * n_groups + from * n_groups + to] == lanes) {
            n += catalog->shapes[shape].n_families;
        }
    }
    return n;
}

START_TEST(uneven_groups_and_single_ranks)
{
    static const uint32_t ranks[] = {3, 1};
    vp_model_t *model = machine_new(ranks, 2, 4, 6);
    vp_catalog_t *catalog;

    machine_add(model, 0, 0, 64, 3, 0, 0);
    machine_add(model, 1, 1, 64, 1, 0, 0);
    machine_add(model, 0, 1, 64, 1, 1 << 0, 0);
    machine_add(model, 1, 0, 64, 1, 1 << 1, 0);
    machine_add(model, 0, 1, 50, 1, 1 << 2, 1);
    machine_add(model, 1, 0, 50, 1, 1 << 3, 1);
    machine_finish(model);
    catalog = build(model);
    /* All local, or one lane each way: two choices out times two back. */
    ck_assert_uint_eq(catalog->n_shapes, 2);
    ck_assert_uint_eq(count_families(catalog, 0, 1, 0), 1);
    ck_assert_uint_eq(count_families(catalog, 0, 1, 1), 4);
    ck_assert_uint_eq(count_families(catalog, 0, 1, 2), 0); /* the single rank receives once */
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(groups_without_local_paths_stay_idle)
{
    static const uint32_t ranks[] = {2, 2};
    vp_model_t *model = machine_new(ranks, 2, 2, 2);
    vp_catalog_t *catalog;

    machine_add(model, 0, 1, 64, 1, 1 << 0, 0);
    machine_add(model, 1, 0, 64, 1, 1 << 1, 0);
    machine_finish(model);
    catalog = build(model);
    /* One rank of each group has no lane; the family without any lane is none. */
    ck_assert_uint_eq(catalog->n_families, 1);
    ck_assert_uint_eq(count_families(catalog, 0, 1, 1), 1);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(a_machine_without_paths_has_no_families)
{
    static const uint32_t ranks[] = {1};
    vp_model_t *model = machine_new(ranks, 1, 0, 0);
    vp_catalog_t *catalog;

    machine_finish(model);
    catalog = build(model);
    ck_assert_uint_eq(catalog->n_shapes, 0);
    ck_assert_uint_eq(catalog->n_families, 0);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(paths_are_pruned)
{
    static const uint32_t ranks[] = {2, 3};
    static const struct {
        uint64_t bytes_per_s;
        uint32_t n_copies;
        uint32_t mask;
        bool is_kept;
    } paths[] = {
        {50, 1, 0x3, true},  /* L = {0, 1} */
        {50, 1, 0x7, false}, /* more resources, no faster */
        {60, 1, 0x7, true},  /* more resources, faster */
        {40, 1, 0x3, false}, /* the same resources, slower */
        {30, 1, 0x8, true},  /* other resources */
        {30, 1, 0x18, false},
        {70, 1, 0, true}, /* no resource, but one copy for two lanes: dominates nothing */
    };
    vp_model_t *model = machine_new(ranks, 2, 5, 8);
    uint32_t n_kept = 0;
    size_t i;

    for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        machine_add(model, 0, 1, paths[i].bytes_per_s, paths[i].n_copies, paths[i].mask, 0);
        n_kept += paths[i].is_kept;
    }
    machine_finish(model);
    vp_model_prune_paths(model);
    ck_assert_uint_eq(model->n_instances, n_kept);
    ck_assert_uint_eq(model->pair_begin[1], 0);
    ck_assert_uint_eq(model->pair_begin[2], n_kept);
    for (i = 0; i < model->n_instances; i++) {
        const vp_instance_t *it = &model->instances[i];

        ck_assert_uint_ne(it->bytes_per_s, 40);
        ck_assert(it->n_resources != 2 || it->resources[0] == 0);
    }
    machine_finish(model);
    vp_model_destroy(model);
}
END_TEST

START_TEST(a_plentiful_path_without_resources_wins)
{
    static const uint32_t ranks[] = {2, 3};
    vp_model_t *model = machine_new(ranks, 2, 2, 4);

    machine_add(model, 0, 1, 50, 2, 0, 0); /* both ranks of the smaller group may use it */
    machine_add(model, 0, 1, 50, 1, 1, 0);
    machine_add(model, 0, 1, 51, 1, 2, 0);
    machine_add(model, 1, 0, 50, 1, 1, 0); /* another pair */
    machine_finish(model);
    vp_model_prune_paths(model);
    ck_assert_uint_eq(model->n_instances, 3);
    ck_assert_uint_eq(model->instances[0].n_resources, 0);
    ck_assert_uint_eq(model->instances[1].bytes_per_s, 51);
    ck_assert_uint_eq(model->instances[2].from_group, 1);
    vp_model_destroy(model);
}
END_TEST

START_TEST(families_are_pruned)
{
    static const uint32_t ranks[] = {2, 2};
    vp_model_t *model = machine_new(ranks, 2, 1, 6);
    vp_catalog_t *catalog;
    uint32_t i;

    machine_add(model, 0, 0, 64, 2, 0, 0);
    machine_add(model, 1, 1, 64, 2, 0, 0);
    machine_add(model, 0, 1, 50, 1, 0, 0); /* slow, once */
    machine_add(model, 0, 1, 60, 1, 0, 1); /* fast, once */
    machine_add(model, 1, 0, 64, 2, 0, 0);
    machine_add(model, 1, 0, 64, 2, 0, 1); /* the same with another class: exact duplicates */
    machine_finish(model);
    catalog = build(model);
    /* 0, 1 or 2 lanes across; with one lane the slow copy loses. */
    ck_assert_uint_eq(catalog->n_shapes, 3);
    ck_assert_uint_eq(catalog->n_families, 3);
    for (i = catalog->member_begin[1]; i < catalog->member_begin[2]; i++) {
        ck_assert_uint_ne(catalog->model->instances[catalog->members[i].instance].bytes_per_s, 50);
    }
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(copies_of_equal_paths_add_up)
{
    static const uint32_t ranks[] = {2, 2};
    vp_model_t *model = machine_new(ranks, 2, 1, 5);
    vp_catalog_t *catalog;

    machine_add(model, 0, 0, 64, 2, 0, 0);
    machine_add(model, 1, 1, 64, 2, 0, 0);
    machine_add(model, 0, 1, 60, 1, 0, 0);
    machine_add(model, 0, 1, 60, 1, 0, 1); /* a duplicate alone, but needed beside the other */
    machine_add(model, 1, 0, 64, 2, 0, 0);
    machine_finish(model);
    catalog = build(model);
    ck_assert_uint_eq(catalog->n_families, 3);
    ck_assert_uint_eq(count_families(catalog, 0, 1, 1), 1);
    ck_assert_uint_eq(count_families(catalog, 0, 1, 2), 1);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(budgets_are_exact)
{
    vp_error_t error;
    vp_build_options_t options = {0};
    vp_model_t *model = resolve("r5080-bf3");
    vp_catalog_t *catalog = build(resolve("r5080-bf3"));
    uint64_t n_steps = catalog->build_steps;

    vp_catalog_destroy(catalog);
    catalog = NULL;
    options.max_steps = n_steps - 1;
    ck_assert_int_eq(vp_catalog_build(&model, &options, &catalog, &error), VP_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(error.text, "budget of steps"));
    options.max_steps = 0;
    options.max_families = 5;
    ck_assert_int_eq(vp_catalog_build(&model, &options, &catalog, &error), VP_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(error.text, "budget of families"));
    ck_assert_ptr_nonnull(strstr(error.text, "r5080-bf3"));
    ck_assert_ptr_null(catalog);
    ck_assert_ptr_nonnull(model); /* still ours, and usable */
    options.max_steps = n_steps;
    options.max_families = 6;
    ck_assert_int_eq(vp_catalog_build(&model, &options, &catalog, &error), VP_OK);
    ck_assert_uint_eq(catalog->n_families, 6);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(large_machines_end_at_a_budget)
{
    static const char *const topologies[] = {"r5090-bf3:nodes=2", "r5080-cx8", "r5080-bf3:nodes=4",
                                             "r5080-bf3:nodes=64"};
    vp_error_t error;
    vp_model_t *model = resolve(topologies[_i]);
    vp_catalog_t *catalog = NULL;

    ck_assert_int_eq(vp_catalog_build(&model, NULL, &catalog, &error), VP_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(error.text, "use fewer nodes"));
    vp_model_destroy(model);
}
END_TEST

START_TEST(generated_catalogs_have_the_paths_only)
{
    static const struct {
        const char *topology;
        uint32_t n_instances;
    } expected[] = {
        {"fig1-6", 6},
        {"r5080-bf3:nodes=4", 72},
        {"r5080-cx8:nodes=16", 8320},
        {"synthetic:nodes=2,switches=1,gpus=1", 4},
    };
    vp_error_t error = {.text = ""};
    vp_model_t *model = resolve(expected[_i].topology);
    vp_catalog_t *catalog = NULL;
    uint32_t i;

    ck_assert_msg(vp_catalog_generate(&model, &catalog, &error) == VP_OK, "%s", error.text);
    ck_assert_ptr_null(model);
    ck_assert_int_eq(catalog->mode, VP_CATALOG_GENERATED);
    ck_assert_uint_eq(catalog->n_shapes, 0);
    ck_assert_uint_eq(catalog->n_families, 0);
    ck_assert_uint_eq(catalog->member_begin[0], 0);
    ck_assert_uint_eq(catalog->build_steps, 0);
    ck_assert_uint_eq(catalog->model->n_instances, expected[_i].n_instances);
    ck_assert_msg(vp_catalog_check(catalog, &error) == VP_OK, "%s", error.text);
    /* Pruned as an exhaustive one is: no way over a NIC inside a group. */
    for (i = 0; i < catalog->model->n_instances; i++) {
        const vp_instance_t *it = &catalog->model->instances[i];

        ck_assert(it->kind != VP_PATH_NIC || it->from_group != it->to_group);
    }
    vp_catalog_destroy(catalog);
}
END_TEST

/* An exhaustive tree does not pass for a generated catalog. */
START_TEST(a_generated_catalog_lists_nothing)
{
    vp_error_t error = {.text = ""};
    vp_catalog_t *catalog = build(resolve("fig1-6"));

    catalog->mode = VP_CATALOG_GENERATED;
    ck_assert_int_eq(vp_catalog_check(catalog, &error), VP_ERR_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "lists 3 shapes and 6 families"));
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(auto_is_exhaustive_within_the_budgets)
{
    static const struct {
        const char *topology;
        vp_build_options_t options;
        vp_catalog_mode_t mode;
    } expected[] = {
        {"r5080-bf3:nodes=2", {0, 0}, VP_CATALOG_EXHAUSTIVE},
        {"r5080-bf3:nodes=3", {0, 0}, VP_CATALOG_EXHAUSTIVE},
        {"r5080-bf3:nodes=4", {0, 0}, VP_CATALOG_GENERATED},
        {"r5080-bf3:nodes=2", {100, 0}, VP_CATALOG_GENERATED},
        {"r5080-bf3:nodes=2", {0, 10}, VP_CATALOG_GENERATED},
        /* Few enough families, but more groups than are tried. */
        {"synthetic:switches=17,gpus=1,nics=0,links=uplinks,p2p=off,memory=64",
         {0, 0},
         VP_CATALOG_GENERATED},
    };
    vp_error_t error = {.text = ""};
    vp_model_t *model = resolve(expected[_i].topology);
    vp_catalog_t *catalog = NULL;

    ck_assert_msg(vp_catalog_make(&model, VP_BUILD_AUTO, &expected[_i].options, NULL, &catalog,
                                  &error) == VP_OK,
                  "%s", error.text);
    ck_assert_msg(catalog->mode == expected[_i].mode, "case %d: mode %d", _i, (int)catalog->mode);
    ck_assert_msg(vp_catalog_check(catalog, &error) == VP_OK, "%s", error.text);
    vp_catalog_destroy(catalog);
}
END_TEST

static void count_words(void *context, uint64_t n_steps, size_t n_families)
{
    uint64_t *last = context;

    ck_assert_uint_eq(n_steps, *last + 65536);
    ck_assert_uint_gt(n_families, 0);
    *last = n_steps;
}

START_TEST(a_watch_is_told)
{
    uint64_t last = 0;
    vp_build_watch_t watch = {.tell = count_words, .context = &last};
    vp_error_t error = {.text = ""};
    vp_model_t *model = resolve("r5080-bf3:nodes=3");
    vp_catalog_t *catalog = NULL;

    ck_assert_int_eq(vp_catalog_make(&model, VP_BUILD_EXHAUSTIVE, NULL, &watch, &catalog, &error),
                     VP_OK);
    ck_assert_uint_eq(last, 65536);
    vp_catalog_destroy(catalog);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("catalog build");
    TCase *generated = tcase_create("generated");
    TCase *counts = tcase_create("counts");
    TCase *pruning = tcase_create("pruning");
    TCase *budgets = tcase_create("budgets");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_set_timeout(counts, 60);
    tcase_add_loop_test(counts, golden_counts, 0, sizeof(golden) / sizeof(golden[0]));
    tcase_add_test(counts, figure_1_shapes);
    tcase_add_test(counts, random_machines_against_brute_force);
    tcase_add_test(counts, uneven_groups_and_single_ranks);
    tcase_add_test(counts, groups_without_local_paths_stay_idle);
    tcase_add_test(counts, a_machine_without_paths_has_no_families);
    tcase_add_test(pruning, paths_are_pruned);
    tcase_add_test(pruning, a_plentiful_path_without_resources_wins);
    tcase_add_test(pruning, families_are_pruned);
    tcase_add_test(pruning, copies_of_equal_paths_add_up);
    tcase_set_timeout(budgets, 60);
    tcase_add_test(budgets, budgets_are_exact);
    tcase_add_loop_test(budgets, large_machines_end_at_a_budget, 0, 4);
    tcase_add_loop_test(generated, generated_catalogs_have_the_paths_only, 0, 4);
    tcase_add_test(generated, a_generated_catalog_lists_nothing);
    tcase_add_loop_test(generated, auto_is_exhaustive_within_the_budgets, 0, 6);
    tcase_add_test(generated, a_watch_is_told);
    suite_add_tcase(suite, generated);
    suite_add_tcase(suite, counts);
    suite_add_tcase(suite, pruning);
    suite_add_tcase(suite, budgets);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
