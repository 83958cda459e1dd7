/* SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "catalog/model.h"
#include "test/catalog/machines.h"

START_TEST(kinds_have_texts)
{
    vp_path_kind_t path_kind = VP_PATH_PIX;
    vp_resource_kind_t resource_kind = VP_RESOURCE_UPLINK;
    int i;

    for (i = 0; i < VP_N_PATH_KINDS; i++) {
        ck_assert(vp_path_kind_parse(vp_path_kind_text((vp_path_kind_t)i), &path_kind));
        ck_assert_int_eq((int)path_kind, i);
    }
    for (i = 0; i < VP_N_RESOURCE_KINDS; i++) {
        ck_assert(
            vp_resource_kind_parse(vp_resource_kind_text((vp_resource_kind_t)i), &resource_kind));
        ck_assert_int_eq((int)resource_kind, i);
    }
    ck_assert_str_eq(vp_path_kind_text(VP_PATH_SYS), "SYS");
    ck_assert_str_eq(vp_resource_kind_text(VP_RESOURCE_NIC_TX), "nic-tx");
    ck_assert(!vp_path_kind_parse("pix", &path_kind));
    ck_assert(!vp_resource_kind_parse("", &resource_kind));
    ck_assert_str_eq(vp_path_kind_text(VP_N_PATH_KINDS), "unknown");
}
END_TEST

/* Two nodes: one group of two ranks on each, a NIC each, one link on the first. */
static vp_model_t *make_model(void)
{
    static const uint32_t ranks[] = {2, 1};
    vp_model_t *model = machine_new(ranks, 2, 5, 8);
    uint32_t i;

    model->n_nodes = 2;
    model->groups[1].node = 1;
    for (i = 0; i < 4; i++) {
        model->resources[1 + i].kind = i % 2 == 0 ? VP_RESOURCE_NIC_TX : VP_RESOURCE_NIC_RX;
        model->resources[1 + i].node = i / 2;
    }
    model->nics = vp_array_new(2, sizeof(*model->nics));
    for (i = 0; i < 2; i++) {
        model->nics[i] = (vp_nic_t){.name = vp_string_copy("nic"),
                                    .node = i,
                                    .group = i,
                                    .tx_resource = 1 + 2 * i,
                                    .rx_resource = 2 + 2 * i,
                                    .bytes_per_s = 50,
                                    .path_class = 1};
    }
    model->n_nics = 2;
    model->contention = vp_array_new(1, sizeof(*model->contention));
    model->contention[0] = (vp_contention_t){.name = vp_string_copy("ideal"),
                                             .n_entries = {1, 2, 1},
                                             .share_ppm = {{1000000}, {1000000, 5}, {1000000}}};
    model->n_contention = 1;
    machine_add(model, 1, 1, 64, 1, 0, 0);
    machine_add(model, 0, 0, 64, 2, 0, 0);
    machine_add(model, 1, 0, 50, 1, 1U << 2 | 1U << 3, 1);
    machine_add(model, 0, 1, 50, 1, 1U << 1 | 1U << 4, 1);
    machine_add(model, 0, 0, 70, 1, 1U << 0, 0);
    for (i = 2; i < 4; i++) {
        model->instances[i].kind = VP_PATH_NIC;
    }
    machine_finish(model);
    return model;
}

START_TEST(finish_sorts_and_indexes)
{
    vp_model_t *model = make_model();

    ck_assert_uint_eq(model->rank_group[0], 0);
    ck_assert_uint_eq(model->rank_group[1], 0);
    ck_assert_uint_eq(model->rank_group[2], 1);
    ck_assert_uint_eq(model->pair_begin[0], 0);
    ck_assert_uint_eq(model->pair_begin[1], 2);
    ck_assert_uint_eq(model->pair_begin[2], 3);
    ck_assert_uint_eq(model->pair_begin[3], 4);
    ck_assert_uint_eq(model->pair_begin[4], 5);
    ck_assert_uint_eq(model->instances[0].n_resources, 0); /* the shorter footprint first */
    ck_assert_uint_eq(model->instances[1].bytes_per_s, 70);
    ck_assert_uint_eq(model->instances[2].to_group, 1);
    vp_model_destroy(model);
    vp_model_destroy(NULL);
    vp_catalog_destroy(NULL);
}
END_TEST

/* Each damages one invariant of the model above. */
static void no_ranks(vp_model_t *model)
{
    model->n_ranks = 0;
}
static void many_ranks(vp_model_t *model)
{
    model->n_ranks = VP_MAX_RANKS + 1;
}
static void uncovered_rank(vp_model_t *model)
{
    model->groups[1].first_rank = 1;
}
static void short_groups(vp_model_t *model)
{
    model->groups[0].n_ranks = 1;
    model->groups[1].first_rank = 1;
    model->rank_group[1] = 1;
}
static void empty_group(vp_model_t *model)
{
    model->groups[1].n_ranks = 0;
}
static void nodes_out_of_order(vp_model_t *model)
{
    model->groups[0].node = 1;
    model->groups[1].node = 0;
}
static void wrong_rank_group(vp_model_t *model)
{
    model->rank_group[2] = 0;
}
static void long_name(vp_model_t *model)
{
    free(model->groups[0].name);
    model->groups[0].name = vp_array_new(VP_MAX_NAME_BYTES + 2, 1);
    memset(model->groups[0].name, 'x', VP_MAX_NAME_BYTES + 1);
}
static void no_name(vp_model_t *model)
{
    free(model->resources[2].name);
    model->resources[2].name = NULL;
}
static void idle_resource(vp_model_t *model)
{
    model->resources[0].bytes_per_s = 0;
}
static void unknown_resource_kind(vp_model_t *model)
{
    model->resources[0].kind = VP_N_RESOURCE_KINDS;
}
static void resource_of_no_node(vp_model_t *model)
{
    model->resources[0].node = 2;
}
static void nic_of_other_node(vp_model_t *model)
{
    model->nics[0].group = 1;
}
static void nic_swaps_directions(vp_model_t *model)
{
    model->nics[0].tx_resource = 2;
    model->nics[0].rx_resource = 1;
}
static void nic_without_class(vp_model_t *model)
{
    model->nics[0].path_class = 2;
}
static void no_gpu_link(vp_model_t *model)
{
    model->gpu_link_bytes_per_s = 0;
}
static void no_transports(vp_model_t *model)
{
    free(model->classes[0].tls);
    model->classes[0].tls = NULL;
}
static void empty_contention_table(vp_model_t *model)
{
    model->contention[0].n_entries[VP_CONTENTION_NIC] = 0;
}
static void long_contention_table(vp_model_t *model)
{
    model->contention[0].n_entries[VP_CONTENTION_NIC] = VP_MAX_CONTENTION_ENTRIES + 1;
}
static void share_above_one(vp_model_t *model)
{
    model->contention[0].share_ppm[VP_CONTENTION_UPLINK][1] = 1000001;
}
static void idle_path(vp_model_t *model)
{
    model->instances[0].bytes_per_s = 0;
}
static void path_to_nowhere(vp_model_t *model)
{
    model->instances[4].to_group = 2;
}
static void path_of_unknown_kind(vp_model_t *model)
{
    model->instances[0].kind = VP_N_PATH_KINDS;
}
static void path_without_class(vp_model_t *model)
{
    model->instances[0].destination_class = 2;
}
static void pix_across_groups(vp_model_t *model)
{
    model->instances[2].kind = VP_PATH_PIX;
}
static void pxb_across_nodes(vp_model_t *model)
{
    model->instances[2].kind = VP_PATH_PXB;
}
static void too_many_copies(vp_model_t *model)
{
    model->instances[0].n_copies = 3;
}
static void copies_with_footprint(vp_model_t *model)
{
    model->instances[1].n_copies = 2;
}
static void no_copies(vp_model_t *model)
{
    model->instances[0].n_copies = 0;
}
static void large_footprint(vp_model_t *model)
{
    model->instances[1].n_resources = VP_MAX_FOOTPRINT + 1;
}
static void footprint_descends(vp_model_t *model)
{
    model->instances[2].resources[0] = 4;
    model->instances[2].resources[1] = 1;
}
static void footprint_of_nothing(vp_model_t *model)
{
    model->instances[1].resources[0] = 5;
}
static void footprint_of_far_nic(vp_model_t *model)
{
    model->instances[2].resources[0] = 3; /* transmits from the destination's NIC */
}
static void footprint_of_far_link(vp_model_t *model)
{
    model->instances[1].resources[0] = 4;
}
/* The link of node 0 goes behind all of node 1. */
static void resources_out_of_order(vp_model_t *model)
{
    vp_resource_t link = model->resources[0];
    vp_error_t error;
    uint32_t i;
    uint32_t k;

    memmove(model->resources, model->resources + 1, 4 * sizeof(link));
    model->resources[4] = link;
    for (i = 0; i < model->n_nics; i++) {
        model->nics[i].tx_resource--;
        model->nics[i].rx_resource--;
    }
    for (i = 0; i < model->n_instances; i++) {
        for (k = 0; k < model->instances[i].n_resources; k++) {
            model->instances[i].resources[k] = (model->instances[i].resources[k] + 4) % 5;
        }
    }
    ck_assert_int_eq(vp_model_finish(model, &error), VP_OK);
}
static void nics_out_of_order(vp_model_t *model)
{
    vp_nic_t first = model->nics[0];

    model->nics[0] = model->nics[1];
    model->nics[1] = first;
}
static void paths_out_of_order(vp_model_t *model)
{
    vp_instance_t first = model->instances[0];

    model->instances[0] = model->instances[1];
    model->instances[1] = first;
}
static void path_twice(vp_model_t *model)
{
    model->instances[1] = model->instances[0];
}
static void wrong_pair_index(vp_model_t *model)
{
    model->pair_begin[1] = 1;
}

static const struct {
    void (*damage)(vp_model_t *model);
    const char *text;
} damages[] = {
    {no_ranks, "0 ranks"},
    {many_ranks, "4097 ranks"},
    {uncovered_rank, "must hold at least one and begin at rank 2"},
    {short_groups, "hold 2 ranks of 3"},
    {empty_group, "holds 0 ranks"},
    {nodes_out_of_order, "node by node"},
    {wrong_rank_group, "rank 2 is indexed under group 0"},
    {long_name, "rank group 0 has no name or one longer"},
    {no_name, "resource 2 has no name"},
    {idle_resource, "resource 0"},
    {unknown_resource_kind, "resource 0"},
    {resource_of_no_node, "resource 0"},
    {nic_of_other_node, "NIC 0"},
    {nic_swaps_directions, "NIC 0"},
    {nic_without_class, "NIC 0"},
    {no_gpu_link, "GPU link"},
    {no_transports, "path class 0"},
    {empty_contention_table, "profile ideal, table 2"},
    {long_contention_table, "profile ideal, table 2"},
    {share_above_one, "profile ideal, table 1"},
    {idle_path, "path instance 0 (PIX from group 0 to group 0) has a rate of 0"},
    {path_to_nowhere, "touches a group that does not exist"},
    {path_of_unknown_kind, "unknown kind"},
    {path_without_class, "path class that does not exist"},
    {pix_across_groups, "joins two groups"},
    {pxb_across_nodes, "joins two nodes"},
    {too_many_copies, "more often"},
    {copies_with_footprint, "more often"},
    {no_copies, "or never"},
    {large_footprint, "too many resources"},
    {footprint_descends, "not ascending"},
    {footprint_of_nothing, "a resource that does not exist"},
    {footprint_of_far_nic, "of a node that it does not touch"},
    {footprint_of_far_link, "of a node that it does not touch"},
    {paths_out_of_order, "listed twice or out of order"},
    {path_twice, "listed twice or out of order"},
    {wrong_pair_index, "group pair 1"},
};

START_TEST(check_finds_every_damage)
{
    vp_error_t error = {.text = ""};
    vp_model_t *model = make_model();

    damages[_i].damage(model);
    ck_assert_msg(vp_model_check(model, &error) == VP_ERR_BAD_INPUT, "damage %d is not found", _i);
    ck_assert_msg(strstr(error.text, damages[_i].text) != NULL, "damage %d: \"%s\" is not in: %s",
                  _i, damages[_i].text, error.text);
    vp_model_destroy(model);
}
END_TEST

/* Only files care in which order resources and NICs are, so only catalogs must keep one. */
START_TEST(catalogs_go_node_by_node)
{
    static void (*const damage[])(vp_model_t *) = {resources_out_of_order, nics_out_of_order};
    static const char *const texts[] = {"resource 4 of the catalog follows one of a later node",
                                        "NIC 1 of the catalog follows one of a later node"};
    vp_error_t error = {.text = ""};
    uint32_t member_begin = 0;
    vp_catalog_t catalog = {
        .model = make_model(), .mode = VP_CATALOG_GENERATED, .member_begin = &member_begin};

    ck_assert_msg(vp_catalog_check(&catalog, &error) == VP_OK, "%s", error.text);
    damage[_i](catalog.model);
    ck_assert_msg(vp_model_check(catalog.model, &error) == VP_OK, "%s", error.text);
    ck_assert_int_eq(vp_catalog_check(&catalog, &error), VP_ERR_BAD_INPUT);
    ck_assert_msg(strstr(error.text, texts[_i]) != NULL, "%s", error.text);
    vp_model_destroy(catalog.model);
}
END_TEST

START_TEST(limits_of_size)
{
    static const char *const texts[] = {"262145 shared resources", "32769 NICs",
                                        "12582913 path instances"};
    vp_error_t error = {.text = ""};
    vp_model_t *model = make_model();
    uint32_t *counts[] = {&model->n_resources, &model->n_nics, &model->n_instances};
    const uint32_t limits[] = {VP_MAX_RESOURCES, VP_MAX_NICS, VP_MAX_INSTANCES};
    uint32_t kept = *counts[_i];

    *counts[_i] = limits[_i] + 1;
    ck_assert_int_eq(vp_model_check(model, &error), VP_ERR_BAD_INPUT);
    ck_assert_msg(strstr(error.text, texts[_i]) != NULL, "\"%s\" is not in: %s", texts[_i],
                  error.text);
    *counts[_i] = kept;
    vp_model_destroy(model);
}
END_TEST

/* Whatever the order in which a producer lists instances, the model is the same. */
START_TEST(finish_sorts_any_order)
{
    uint64_t state = machine_seed();
    vp_error_t error = {.text = ""};
    int round;

    for (round = 0; round < 500; round++) {
        vp_model_t *model = machine_make_random(&state);
        size_t n_bytes = model->n_instances * sizeof(*model->instances);
        vp_instance_t *sorted = vp_array_new(model->n_instances, sizeof(*sorted));
        uint32_t i;

        memcpy(sorted, model->instances, n_bytes);
        for (i = model->n_instances; i > 1; i--) {
            uint32_t k = machine_random(&state, i);
            vp_instance_t other = model->instances[k];

            model->instances[k] = model->instances[i - 1];
            model->instances[i - 1] = other;
        }
        ck_assert_int_eq(vp_model_finish(model, &error), VP_OK);
        ck_assert_mem_eq(model->instances, sorted, n_bytes);
        ck_assert_msg(vp_model_check(model, &error) == VP_OK, "round %d: %s", round, error.text);
        free(sorted);
        vp_model_destroy(model);
    }
}
END_TEST

START_TEST(a_rank_opens_sixteen_classes)
{
    static const uint32_t ranks[] = {1, 1};
    vp_error_t error = {.text = ""};
    vp_model_t *model = machine_new(ranks, 2, 17, 17);
    vp_path_class_t *classes = vp_array_new(17, sizeof(*classes));
    uint32_t i;

    for (i = 0; i < 17; i++) {
        classes[i] = (vp_path_class_t){.name = vp_string_copy("class"),
                                       .tls = vp_string_copy("tcp"),
                                       .devices = vp_string_copy("")};
    }
    for (i = 0; i < model->n_classes; i++) {
        free(model->classes[i].name);
        free(model->classes[i].tls);
        free(model->classes[i].devices);
    }
    free(model->classes);
    model->classes = classes;
    model->n_classes = 17;
    for (i = 0; i < 16; i++) {
        machine_add(model, 0, 1, 64, 1, 1U << i, i);
    }
    machine_finish(model);
    machine_add(model, 0, 1, 64, 1, 1U << 16, 16);
    ck_assert_int_eq(vp_model_finish(model, &error), VP_OK);
    ck_assert_int_eq(vp_model_check(model, &error), VP_ERR_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "16 path classes"));
    vp_model_destroy(model);
}
END_TEST

/*
 * A catalog over the model above without its extra local path: all local, or
 * a lane across both ways.
 */
static vp_catalog_t *make_catalog(void)
{
    static const uint16_t lanes[] = {1, 1, 1, 0, 2, 0, 0, 1};
    static const vp_member_t members[] = {{0, 1}, {2, 1}, {3, 1}, {0, 2}, {4, 1}};
    static const uint32_t member_begin[] = {0, 3, 5};
    vp_catalog_t *catalog = vp_array_new(1, sizeof(*catalog));
    vp_error_t error = {.text = ""};

    catalog->model = make_model();
    catalog->mode = VP_CATALOG_EXHAUSTIVE;
    catalog->n_shapes = 2;
    catalog->n_families = 2;
    catalog->shape_lanes = vp_array_new(8, sizeof(lanes[0]));
    memcpy(catalog->shape_lanes, lanes, sizeof(lanes));
    catalog->shapes = vp_array_new(2, sizeof(*catalog->shapes));
    catalog->shapes[0] = (vp_shape_t){0, 1};
    catalog->shapes[1] = (vp_shape_t){1, 1};
    catalog->member_begin = vp_array_new(3, sizeof(member_begin[0]));
    memcpy(catalog->member_begin, member_begin, sizeof(member_begin));
    catalog->members = vp_array_new(5, sizeof(members[0]));
    memcpy(catalog->members, members, sizeof(members));
    ck_assert_msg(vp_catalog_check(catalog, &error) == VP_OK, "%s", error.text);
    return catalog;
}

static void unknown_mode(vp_catalog_t *catalog)
{
    catalog->mode = 0;
}
static void broken_model(vp_catalog_t *catalog)
{
    catalog->model->n_nodes = 3;
}
static void unbalanced(vp_catalog_t *catalog)
{
    catalog->members[0].count = 2; /* three lanes out of a group of two */
}
static void missing_filler(vp_catalog_t *catalog)
{
    catalog->member_begin[2] = 4; /* group 1 stays idle although it has a local copy */
    catalog->shape_lanes[7] = 0;
}
static void more_than_copies(vp_catalog_t *catalog)
{
    catalog->members[2].count = 2;
}
static void zero_count(vp_catalog_t *catalog)
{
    catalog->members[1].count = 0;
}
static void unknown_member(vp_catalog_t *catalog)
{
    catalog->members[4].instance = 5;
}
static void members_descend(vp_catalog_t *catalog)
{
    catalog->members[0].instance = 2;
    catalog->members[1].instance = 0;
}
static void other_shape(vp_catalog_t *catalog)
{
    catalog->shape_lanes[1] = 0;
}
static void shapes_descend(vp_catalog_t *catalog)
{
    catalog->shape_lanes[0] = 3;
}
static void empty_shape(vp_catalog_t *catalog)
{
    catalog->shapes[0].n_families = 0;
}
static void family_of_no_shape(vp_catalog_t *catalog)
{
    catalog->n_shapes = 1;
}
static void overlapping_shapes(vp_catalog_t *catalog)
{
    catalog->shapes[1].first_family = 0;
}
static void negative_members(vp_catalog_t *catalog)
{
    catalog->member_begin[1] = 6;
}
static void empty_family(vp_catalog_t *catalog)
{
    catalog->member_begin[1] = 0;
}
static void resource_twice(vp_catalog_t *catalog)
{
    vp_model_t *model = catalog->model;

    model->resources[0].node = 0;
    model->instances[2].n_resources = 3;
    model->instances[2].resources[0] = 0;
    model->instances[2].resources[1] = 1;
    model->instances[2].resources[2] = 4;
    catalog->members[0].instance = 1; /* over link 0, as is now the lane across */
}
static void family_twice(vp_catalog_t *catalog)
{
    static const vp_member_t members[] = {{0, 2}, {4, 1}, {0, 2}, {4, 1}};

    memcpy(catalog->members, members, sizeof(members));
    catalog->member_begin[1] = 2;
    catalog->member_begin[2] = 4;
    catalog->n_shapes = 1;
    catalog->shapes[0].n_families = 2;
    memmove(catalog->shape_lanes, catalog->shape_lanes + 4, 4 * sizeof(uint16_t));
}

static const struct {
    void (*damage)(vp_catalog_t *catalog);
    const char *text;
} tree_damages[] = {
    {unknown_mode, "unknown mode 0"},
    {broken_model, "3 nodes for 2 rank groups"},
    {unbalanced, "family 0 of the catalog has more lanes at a group than that has ranks"},
    {missing_filler, "family 1 of the catalog does not balance"},
    {more_than_copies, "more often than it has copies"},
    {zero_count, "never or more often"},
    {unknown_member, "family 1 of the catalog has members that do not exist"},
    {members_descend, "not ascending"},
    {other_shape, "does not have the lanes of its shape"},
    {shapes_descend, "of its shape"},
    {empty_shape, "shape 0 of the catalog has no families"},
    {family_of_no_shape, "hold 1 families of 2"},
    {overlapping_shapes, "shape 1 of the catalog has no families or those of another"},
    {negative_members, "family 1 of the catalog has a negative number of members"},
    {empty_family, "family 0 of the catalog is empty"},
    {resource_twice, "uses a shared resource twice"},
    {family_twice, "family 1 of the catalog is listed twice"},
};

START_TEST(check_finds_every_damage_of_the_tree)
{
    vp_error_t error = {.text = ""};
    vp_catalog_t *catalog = make_catalog();

    tree_damages[_i].damage(catalog);
    ck_assert_msg(vp_catalog_check(catalog, &error) == VP_ERR_BAD_INPUT,
                  "damage %d of the tree is not found", _i);
    ck_assert_msg(strstr(error.text, tree_damages[_i].text) != NULL,
                  "damage %d of the tree: \"%s\" is not in: %s", _i, tree_damages[_i].text,
                  error.text);
    vp_catalog_destroy(catalog);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("catalog model");
    TCase *cases = tcase_create("model");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_add_test(cases, kinds_have_texts);
    tcase_add_test(cases, finish_sorts_and_indexes);
    tcase_add_loop_test(cases, check_finds_every_damage, 0, sizeof(damages) / sizeof(damages[0]));
    tcase_add_loop_test(cases, catalogs_go_node_by_node, 0, 2);
    tcase_add_loop_test(cases, limits_of_size, 0, 3);
    tcase_add_test(cases, finish_sorts_any_order);
    tcase_add_test(cases, a_rank_opens_sixteen_classes);
    tcase_add_loop_test(cases, check_finds_every_damage_of_the_tree, 0,
                        sizeof(tree_damages) / sizeof(tree_damages[0]));
    suite_add_tcase(suite, cases);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
