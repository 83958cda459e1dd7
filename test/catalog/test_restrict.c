/* SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "catalog/build.h"
#include "catalog/diff.h"
#include "catalog/restrict.h"
#include "catalog/store.h"
#include "catalog/topology.h"
#include "test/catalog/machines.h"

enum { N_ROUNDS = 150 };

static vp_model_t *resolve(const char *topology)
{
    vp_error_t error = {.text = ""};
    vp_model_t *model = NULL;

    ck_assert_msg(vp_topology_resolve(topology, &model, &error) == VP_OK, "%s: %s", topology,
                  error.text);
    return model;
}

static vp_model_t *part_of(const vp_model_t *model, const uint32_t *ranks, uint32_t n_ranks)
{
    vp_error_t error = {.text = ""};
    vp_model_t *part = NULL;

    ck_assert_msg(vp_model_restrict(model, ranks, n_ranks, &part, &error) == VP_OK, "%s",
                  error.text);
    ck_assert_msg(vp_model_check(part, &error) == VP_OK, "%s", error.text);
    ck_assert_uint_eq(part->n_ranks, n_ranks);
    return part;
}

static void compare(const vp_model_t *a, const vp_model_t *b)
{
    vp_diff_t diff;

    ck_assert_msg(vp_model_diff(a, b, &diff), "%s", diff.facts[0]);
}

/* A random part of 0 .. n - 1, ascending, not empty; returns its size. */
static uint32_t choose(uint64_t *state, uint32_t n, uint32_t *chosen)
{
    uint32_t share = 1 + machine_random(state, 9);
    uint32_t n_chosen = 0;
    uint32_t i;

    for (i = 0; i < n; i++) {
        if (machine_random(state, 10) < share) {
            chosen[n_chosen++] = i;
        }
    }
    if (n_chosen == 0) {
        chosen[n_chosen++] = machine_random(state, n);
    }
    return n_chosen;
}

static const char *const topologies[] = {
    "fig1-6",
    "r5080-bf3:nodes=3",
    "r5090-bf3:nodes=2",
    "l20-cx7:nodes=2:rates=measured",
    "r5080-cx8:nodes=3",
    "synthetic:nodes=2,switches=3,gpus=3,nics=2,links=uplinks,p2p=off,gdr=off,memory=200",
};
enum { N_TOPOLOGIES = sizeof(topologies) / sizeof(topologies[0]) };

START_TEST(all_ranks_are_the_machine)
{
    vp_model_t *model = resolve(topologies[_i]);
    uint32_t *ranks = vp_array_new(model->n_ranks, sizeof(*ranks));
    vp_model_t *part;
    uint32_t i;

    for (i = 0; i < model->n_ranks; i++) {
        ranks[i] = i;
    }
    part = part_of(model, ranks, model->n_ranks);
    compare(model, part);
    ck_assert_mem_eq(model->pair_begin, part->pair_begin,
                     ((size_t)model->n_groups * model->n_groups + 1) * sizeof(uint32_t));
    vp_model_destroy(part);
    vp_model_destroy(model);
    free(ranks);
}
END_TEST

/* The ranks of the first nodes of a machine are the smaller machine. */
START_TEST(whole_nodes_are_a_smaller_machine)
{
    uint32_t ranks[16];
    vp_model_t *large = resolve("r5080-cx8:nodes=5");
    vp_model_t *small = resolve("r5080-cx8:nodes=2");
    vp_model_t *part;
    uint32_t i;

    for (i = 0; i < 16; i++) {
        ranks[i] = i;
    }
    part = part_of(large, ranks, 16);
    compare(small, part);
    vp_model_destroy(part);
    vp_model_destroy(small);
    vp_model_destroy(large);
}
END_TEST

/* The route of an instance, in names, which do not change when indices do. */
static void write_route(const vp_model_t *model, const vp_instance_t *it, char *text,
                        size_t n_bytes)
{
    size_t used;
    uint32_t k;

    used = (size_t)snprintf(text, n_bytes, "%s %s %s %" PRIu64 " %" PRIu32 " %" PRIu32,
                            vp_path_kind_text(it->kind), model->groups[it->from_group].name,
                            model->groups[it->to_group].name, it->bytes_per_s, it->source_class,
                            it->destination_class);
    for (k = 0; k < it->n_resources; k++) {
        used += (size_t)snprintf(text + used, n_bytes - used, " %s",
                                 model->resources[it->resources[k]].name);
    }
}

/* Between two ranks of the part: the very routes that the machine has between them. */
static void compare_routes(const vp_model_t *model, const vp_model_t *part, uint32_t from,
                           uint32_t to, const uint32_t *ranks)
{
    size_t in_part = vp_pair(part, part->rank_group[from], part->rank_group[to]);
    size_t in_model = vp_pair(model, model->rank_group[ranks[from]], model->rank_group[ranks[to]]);
    uint32_t a = part->pair_begin[in_part];
    uint32_t b = model->pair_begin[in_model];
    char text_a[512];
    char text_b[512];

    ck_assert_uint_eq(part->pair_begin[in_part + 1] - a, model->pair_begin[in_model + 1] - b);
    for (; a < part->pair_begin[in_part + 1]; a++, b++) {
        write_route(part, &part->instances[a], text_a, sizeof(text_a));
        write_route(model, &model->instances[b], text_b, sizeof(text_b));
        ck_assert_str_eq(text_a, text_b);
    }
}

START_TEST(routes_between_ranks_stay)
{
    uint64_t state = machine_seed();
    vp_model_t *model = resolve(topologies[_i]);
    uint32_t *ranks = vp_array_new(model->n_ranks, sizeof(*ranks));
    int round;

    for (round = 0; round < N_ROUNDS; round++) {
        uint32_t n = choose(&state, model->n_ranks, ranks);
        vp_model_t *part = part_of(model, ranks, n);
        uint32_t i;
        uint32_t k;

        for (i = 0; i < n; i++) {
            for (k = 0; k < n; k++) {
                if (i != k) {
                    compare_routes(model, part, i, k, ranks);
                }
            }
        }
        vp_model_destroy(part);
    }
    vp_model_destroy(model);
    free(ranks);
}
END_TEST

START_TEST(parts_of_parts_are_parts)
{
    uint64_t state = machine_seed();
    vp_model_t *model = resolve(topologies[_i]);
    uint32_t *outer = vp_array_new(model->n_ranks, sizeof(*outer));
    uint32_t *inner = vp_array_new(model->n_ranks, sizeof(*inner));
    int round;

    for (round = 0; round < N_ROUNDS; round++) {
        uint32_t n_outer = choose(&state, model->n_ranks, outer);
        uint32_t n_inner = choose(&state, n_outer, inner);
        vp_model_t *part = part_of(model, outer, n_outer);
        vp_model_t *twice = part_of(part, inner, n_inner);
        vp_model_t *once;
        uint32_t i;

        for (i = 0; i < n_inner; i++) {
            inner[i] = outer[inner[i]];
        }
        once = part_of(model, inner, n_inner);
        compare(once, twice);
        vp_model_destroy(once);
        vp_model_destroy(twice);
        vp_model_destroy(part);
    }
    vp_model_destroy(model);
    free(outer);
    free(inner);
}
END_TEST

/* Pruning before or only after makes no difference, also on machines that nobody would build. */
START_TEST(pruning_commutes)
{
    uint64_t state = machine_seed();
    int round;

    for (round = 0; round < 1000; round++) {
        vp_model_t *model = machine_make_random(&state);
        uint32_t ranks[16];
        uint32_t n = choose(&state, model->n_ranks, ranks);
        vp_model_t *late = part_of(model, ranks, n);
        vp_model_t *early;

        vp_model_prune_paths(late);
        vp_model_prune_paths(model);
        early = part_of(model, ranks, n);
        vp_model_prune_paths(early);
        ck_assert_uint_eq(early->n_instances, late->n_instances);
        vp_model_destroy(early);
        vp_model_destroy(late);
        vp_model_destroy(model);
    }
}
END_TEST

/* Every part has a catalog, and its fingerprint tells it from the others. */
START_TEST(parts_have_catalogs)
{
    static const uint32_t parts[3][4] = {{0, 1, 2, 4}, {0, 1, 4, 5}, {0, 1, 4, 8}};
    static const uint32_t n_families[] = {5, 6, 12};
    vp_model_t *model = resolve("r5080-bf3:nodes=2");
    uint64_t fingerprints[3];
    vp_error_t error = {.text = ""};
    uint32_t i;

    for (i = 0; i < 3; i++) {
        vp_model_t *part = part_of(model, parts[i], 4);
        vp_catalog_t *catalog = NULL;

        ck_assert_int_eq(vp_catalog_build(&part, NULL, &catalog, &error), VP_OK);
        ck_assert_msg(vp_catalog_check(catalog, &error) == VP_OK, "%s", error.text);
        ck_assert_int_eq(vp_catalog_seal(catalog, &error), VP_OK);
        fingerprints[i] = catalog->fingerprint;
        (void)printf("part %" PRIu32 ": %" PRIu32 " families\n", i, catalog->n_families);
        ck_assert_uint_eq(catalog->n_families, n_families[i]);
        vp_catalog_destroy(catalog);
    }
    ck_assert_uint_ne(fingerprints[0], fingerprints[1]);
    ck_assert_uint_ne(fingerprints[1], fingerprints[2]);
    vp_model_destroy(model);
}
END_TEST

START_TEST(one_rank_has_its_local_path_only)
{
    static const uint32_t rank = 13;
    vp_model_t *model = resolve("r5080-bf3:nodes=2");
    vp_model_t *part = part_of(model, &rank, 1);

    ck_assert_uint_eq(part->n_groups, 1);
    ck_assert_uint_eq(part->n_nodes, 1);
    ck_assert_str_eq(part->groups[0].name, "node1/sw1");
    ck_assert_uint_eq(part->n_instances, 1);
    ck_assert_int_eq(part->instances[0].kind, VP_PATH_PIX);
    ck_assert_uint_eq(part->instances[0].n_copies, 1);
    ck_assert_uint_eq(part->n_nics, 1);
    ck_assert_uint_eq(part->n_resources, 2); /* those of the NIC */
    vp_model_destroy(part);
    vp_model_destroy(model);
}
END_TEST

START_TEST(wrong_ranks_are_refused)
{
    static const uint32_t lists[][3] = {{0, 1, 6}, {0, 2, 2}, {3, 2, 1}};
    static const char *const texts[] = {"is rank 6; list ranks below 6", "is rank 2; list",
                                        "element 1 "};
    vp_error_t error = {.text = ""};
    vp_model_t *model = resolve("fig1-6");
    vp_model_t *part = NULL;
    size_t i;

    for (i = 0; i < 3; i++) {
        ck_assert_int_eq(vp_model_restrict(model, lists[i], 3, &part, &error), VP_ERR_USAGE);
        ck_assert_msg(strstr(error.text, texts[i]) != NULL, "%s", error.text);
    }
    ck_assert_int_eq(vp_model_restrict(model, lists[0], 0, &part, &error), VP_ERR_USAGE);
    ck_assert_ptr_nonnull(strstr(error.text, "no ranks"));
    ck_assert_ptr_null(part);
    vp_model_destroy(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("catalog restrict");
    TCase *cases = tcase_create("restrict");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, all_ranks_are_the_machine, 0, N_TOPOLOGIES);
    tcase_add_test(cases, whole_nodes_are_a_smaller_machine);
    tcase_add_loop_test(cases, routes_between_ranks_stay, 0, N_TOPOLOGIES);
    tcase_add_loop_test(cases, parts_of_parts_are_parts, 0, N_TOPOLOGIES);
    tcase_add_test(cases, pruning_commutes);
    tcase_add_test(cases, parts_have_catalogs);
    tcase_add_test(cases, one_rank_has_its_local_path_only);
    tcase_add_test(cases, wrong_ranks_are_refused);
    suite_add_tcase(suite, cases);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
