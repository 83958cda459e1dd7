/*
 * Machines whose nodes are not all alike: addresses of GPUs, several ranks on
 * one, nodes of different kinds, some GPUs of a node.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalog/assemble.h"
#include "catalog/build.h"
#include "catalog/diff.h"
#include "catalog/restrict.h"
#include "catalog/store.h"
#include "catalog/topology.h"

static const char head[] =
    "{\"format\": \"variopath-topology\", \"version\": 1, \"name\": \"test\", \"alpha_ns\": 1000,"
    "\"rates\": {\"nominal\": {\"bus\": {\"bytes_per_s\": 64000000000, \"origin\": \"nominal: x\"},"
    "\"net\": {\"bytes_per_s\": 50000000000, \"origin\": \"nominal: y\"}}}, \"gpu_link\": \"bus\","
    "\"nics\": [{\"name\": \"n0\", \"switch\": \"a\", \"rate\": \"net\", \"class\": \"net\","
    "            \"pci\": \"0000:05:00.1\"}],"
    "\"paths\": [{\"kind\": \"PIX\", \"from\": \"a\", \"to\": \"a\", \"rate\": \"bus\","
    "             \"class\": \"bus\"}],"
    "\"transports\": {\"hardware\": {\"bus\": {\"tls\": \"posix\"}, \"net\": {\"tls\": \"rc\"}}},";

/* The machine of the text above with these switches; NULL with the error. */
static vp_model_t *resolve(const char *switches, const char *options, vp_error_t *error)
{
    char file[] = "/tmp/vp_test_assemble.XXXXXX";
    char argument[64];
    vp_model_t *model = NULL;
    FILE *stream = fdopen(mkstemp(file), "w");

    ck_assert_ptr_nonnull(stream);
    ck_assert_int_gt(fprintf(stream, "%s\"switches\": %s}", head, switches), 0);
    ck_assert_int_eq(fclose(stream), 0);
    (void)snprintf(argument, sizeof(argument), "%s%s", file, options);
    error->text[0] = '\0';
    ck_assert_int_eq(vp_topology_resolve(argument, &model, error) == VP_OK, model != NULL);
    ck_assert_int_eq(unlink(file), 0);
    return model;
}

START_TEST(addresses_are_read_and_written)
{
    static const struct {
        const char *text;
        const char *back; /* NULL: refused */
        vp_pci_t pci;
    } rows[] = {{"0000:0c:00.0", "0000:0c:00.0", 0x0c00},
                {"0C:1f.7", "0000:0c:1f.7", 0x0cff},
                {"10000:ff:01.2", "10000:ff:01.2", UINT64_C(0x10000ff0a)},
                {"0000:0c:20.0", NULL, 0},
                {"0000:0c:00.8", NULL, 0},
                {"0000:0c:00", NULL, 0},
                {"123456789:0c:00.0", NULL, 0},
                {"", NULL, 0}};
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[VP_PCI_TEXT_BYTES];
        vp_pci_t pci = 99;

        ck_assert_int_eq(vp_pci_parse(rows[i].text, &pci), rows[i].back != NULL);
        if (rows[i].back != NULL) {
            ck_assert_uint_eq(pci, rows[i].pci);
            vp_pci_format(pci, text);
            ck_assert_str_eq(text, rows[i].back);
        }
    }
}
END_TEST

/* Addresses of GPUs and NICs reach the model, its part, and a catalog file and back. */
START_TEST(addresses_are_kept)
{
    static const uint32_t ranks[] = {1, 2};
    vp_error_t error;
    vp_model_t *model = resolve("[{\"name\": \"a\", \"gpus\": [{\"pci\": \"01:00.0\"},"
                                "{\"pci\": \"0000:02:00.0\"}, {}]}]",
                                ":nodes=2", &error);
    vp_model_t *part;
    vp_catalog_t *catalog;
    vp_catalog_t *loaded;
    vp_diff_t diff;
    uint8_t *data;
    size_t n_bytes;

    ck_assert_msg(model != NULL, "%s", error.text);
    ck_assert_uint_eq(model->n_ranks, 6);
    ck_assert_uint_eq(model->rank_pci[0], 0x0100);
    ck_assert_uint_eq(model->rank_pci[4], 0x0200);
    ck_assert_uint_eq(model->rank_pci[5], VP_PCI_UNKNOWN);
    ck_assert_uint_eq(model->nics[1].pci, 0x0501);
    ck_assert_int_eq(vp_model_restrict(model, ranks, 2, &part, &error), VP_OK);
    ck_assert_uint_eq(part->rank_pci[0], 0x0200);
    ck_assert_uint_eq(part->rank_pci[1], VP_PCI_UNKNOWN);
    ck_assert_int_eq(vp_catalog_generate(&part, &catalog, &error), VP_OK);
    ck_assert_int_eq(vp_catalog_seal(catalog, &error), VP_OK);
    ck_assert_int_eq(vp_catalog_encode(catalog, &data, &n_bytes, &error), VP_OK);
    ck_assert_msg(vp_catalog_decode(data, n_bytes, "file", &loaded, &error) == VP_OK, "%s",
                  error.text);
    ck_assert(vp_catalog_diff(catalog, loaded, &diff));
    ck_assert_uint_eq(loaded->model->rank_pci[0], 0x0200);
    loaded->model->rank_pci[0] = 0x0300;
    ck_assert(!vp_catalog_diff(catalog, loaded, &diff));
    ck_assert_str_eq(diff.facts[0],
                     "GPU of rank 0: PCI address: \"0000:02:00.0\" and \"0000:03:00.0\"");
    free(data);
    vp_catalog_destroy(loaded);
    vp_catalog_destroy(catalog);
    vp_model_destroy(model);
}
END_TEST

START_TEST(bad_gpus_are_refused)
{
    static const char *const rows[][2] = {
        {"[{\"pci\": \"01:00.0\"}, {\"pci\": \"0000:01:00.0\"}]", "$.switches[0].gpus[1]: "},
        {"[{\"pci\": \"1.2.3\"}]", "$.switches[0].gpus[0].pci: "},
        {"[{\"pci\": \"00:00.0\"}]", "$.switches[0].gpus[0].pci: "},
        {"[{\"ranks\": 0}]", "$.switches[0].gpus[0].ranks: "},
        {"[{\"ranks\": 4096}, {}]", "$: a node has 4097 ranks"},
        {"[{\"rank\": 1}]", "$.switches[0].gpus[0]: "},
        {"[]", "$.switches[0].gpus: "},
        {"\"4\"", "$.switches[0].gpus: "}};
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char switches[256];
        vp_error_t error;

        (void)snprintf(switches, sizeof(switches), "[{\"name\": \"a\", \"gpus\": %s}]", rows[i][0]);
        ck_assert_ptr_null(resolve(switches, "", &error));
        ck_assert_msg(strstr(error.text, rows[i][1]) != NULL, "%s: %s", rows[i][0], error.text);
    }
}
END_TEST

/* How many of the instance's resources are links of a GPU. */
static uint32_t count_gpu_links(const vp_model_t *model, const vp_instance_t *it)
{
    uint32_t n = 0;
    uint32_t k;

    for (k = 0; k < it->n_resources; k++) {
        n += model->resources[it->resources[k]].kind == VP_RESOURCE_GPU_LINK;
    }
    return n;
}

/*
 * Three GPUs, the second with two ranks: these are a group whose link is a
 * resource, so that no channel has two lanes over it.
 */
START_TEST(ranks_that_share_a_gpu)
{
    vp_error_t error;
    vp_model_t *model =
        resolve("[{\"name\": \"a\", \"gpus\": [{}, {\"ranks\": 2}, {}]}]", "", &error);
    vp_catalog_t *catalog;
    uint32_t i;

    ck_assert_msg(model != NULL, "%s", error.text);
    ck_assert_uint_eq(model->n_ranks, 4);
    ck_assert_uint_eq(model->n_groups, 2);
    ck_assert_str_eq(model->groups[0].name, "node0/a");
    ck_assert_str_eq(model->groups[1].name, "node0/a.gpu1");
    ck_assert_uint_eq(model->groups[1].n_ranks, 2);
    ck_assert_str_eq(model->resources[0].name, "node0/a.gpu1:out");
    ck_assert_uint_eq(model->resources[0].bytes_per_s, UINT64_C(64000000000));
    for (i = 0; i < model->n_instances; i++) {
        const vp_instance_t *it = &model->instances[i];
        uint32_t n_ends = (it->from_group == 1 ? 1U : 0U) + (it->to_group == 1 ? 1U : 0U);

        if (it->kind == VP_PATH_NIC) {
            ck_assert_uint_eq(count_gpu_links(model, it), n_ends);
        } else {
            ck_assert_uint_eq(count_gpu_links(model, it),
                              it->from_group == it->to_group ? 0 : n_ends);
        }
    }
    ck_assert_int_eq(vp_catalog_build(&model, NULL, &catalog, &error), VP_OK);
    ck_assert_int_eq(vp_catalog_check(catalog, &error), VP_OK);
    for (i = 0; i < catalog->n_shapes; i++) {
        ck_assert_uint_le(catalog->shape_lanes[4 * i + 1], 1); /* group 0 to the shared GPU */
        ck_assert_uint_le(catalog->shape_lanes[4 * i + 2], 1);
    }
    vp_catalog_destroy(catalog);
}
END_TEST

static vp_node_kind_t shipped(const char *name)
{
    const char *text = vp_topology_shipped_text(name);

    return (vp_node_kind_t){text, strlen(text)};
}

/* Whole nodes of one kind are the topology with that many nodes, up to names and places. */
START_TEST(whole_nodes_are_the_topology)
{
    vp_node_kind_t kinds[] = {shipped("r5080-bf3")};
    uint32_t node_kind[2] = {0, 0};
    uint32_t rank_node[16];
    uint32_t rank_gpu[16];
    uint32_t place[16];
    vp_assembly_t in = {kinds, 1, node_kind, 2, rank_node, rank_gpu, 16, "local"};
    vp_model_t *model;
    vp_model_t *whole;
    vp_catalog_t *a;
    vp_catalog_t *b;
    vp_error_t error = {.text = ""};
    vp_diff_t diff;
    uint32_t i;

    for (i = 0; i < 16; i++) {
        rank_node[i] = i % 2;
        rank_gpu[i] = 7 - i / 2;
    }
    ck_assert_msg(vp_assemble(&in, "job", &model, place, &error) == VP_OK, "%s", error.text);
    for (i = 0; i < 16; i++) {
        ck_assert_uint_eq(place[i], 8 * (i % 2) + 7 - i / 2);
    }
    ck_assert_int_eq(vp_topology_resolve("r5080-bf3:nodes=2:transports=local", &whole, &error),
                     VP_OK);
    ck_assert_int_eq(vp_catalog_generate(&model, &a, &error), VP_OK);
    ck_assert_int_eq(vp_catalog_generate(&whole, &b, &error), VP_OK);
    ck_assert_msg(vp_catalog_diff(a, b, &diff), "%s", diff.facts[0]);
    vp_catalog_destroy(a);
    vp_catalog_destroy(b);
}
END_TEST

/*
 * A node of 2 x 4 GPUs with one NIC per switch, of which three ranks use GPUs 1,
 * 1 and 6, and one of 4 x 2 with two NICs per switch, of which two ranks use
 * GPUs 0 and 7.
 */
static vp_model_t *assemble_mixed(uint32_t n_ranks, uint32_t *place)
{
    static const uint32_t node_kind[] = {1, 0};
    static const uint32_t rank_node[] = {1, 1, 0, 1, 0};
    static const uint32_t rank_gpu[] = {6, 1, 7, 1, 0};
    vp_node_kind_t kinds[] = {shipped("r5080-bf3"), shipped("r5080-cx8"), shipped("l20-cx7")};
    vp_assembly_t in = {kinds,     3,        node_kind, n_ranks > 2 ? 2 : 1,
                        rank_node, rank_gpu, n_ranks,   "hardware"};
    vp_model_t *model = NULL;
    vp_error_t error = {.text = ""};

    if (n_ranks <= 2) {
        static const uint32_t one_node[] = {0, 0};
        static const uint32_t its_kind[] = {0};

        in.rank_node = one_node;
        in.node_kind = its_kind;
    }
    ck_assert_msg(vp_assemble(&in, "job", &model, place, &error) == VP_OK, "%s", error.text);
    return model;
}

START_TEST(nodes_of_different_kinds)
{
    uint32_t place[5];
    vp_model_t *model = assemble_mixed(5, place);
    size_t pair;

    ck_assert_uint_eq(model->n_ranks, 5);
    ck_assert_uint_eq(model->n_nodes, 2);
    ck_assert_uint_eq(model->n_groups, 4);
    ck_assert_str_eq(model->groups[0].name, "node0/sw0");
    ck_assert_str_eq(model->groups[1].name, "node0/sw3");
    ck_assert_str_eq(model->groups[2].name, "node1/sw0.gpu1");
    ck_assert_str_eq(model->groups[3].name, "node1/sw1");
    /* By node, GPU, and where two ranks are on one GPU, as listed. */
    ck_assert_uint_eq(place[4], 0);
    ck_assert_uint_eq(place[2], 1);
    ck_assert_uint_eq(place[1], 2);
    ck_assert_uint_eq(place[3], 3);
    ck_assert_uint_eq(place[0], 4);
    for (pair = 0; pair < 16; pair++) {
        ck_assert_uint_lt(model->pair_begin[pair], model->pair_begin[pair + 1]);
    }
    /* NICs of switches without ranks are gone: two of two switches, one of each of two. */
    ck_assert_uint_eq(model->n_nics, 6);
    vp_model_destroy(model);
}
END_TEST

/* A class has the same number in every machine of a job. */
START_TEST(classes_do_not_depend_on_the_nodes)
{
    uint32_t place[5];
    vp_model_t *all = assemble_mixed(5, place);
    vp_model_t *some = assemble_mixed(2, place);
    uint32_t i;

    ck_assert_uint_eq(some->n_nodes, 1);
    ck_assert_uint_eq(all->n_classes, some->n_classes);
    for (i = 0; i < all->n_classes; i++) {
        ck_assert_str_eq(all->classes[i].name, some->classes[i].name);
        ck_assert_str_eq(all->classes[i].tls, some->classes[i].tls);
        ck_assert_str_eq(all->classes[i].devices, some->classes[i].devices);
    }
    vp_model_destroy(all);
    vp_model_destroy(some);
}
END_TEST

START_TEST(bad_assemblies_are_refused)
{
    static const char no_nic[] =
        "{\"format\": \"variopath-topology\", \"version\": 1, \"name\": \"t\", \"alpha_ns\": 1,"
        "\"rates\": {\"nominal\": {\"b\": {\"bytes_per_s\": 1, \"origin\": \"o\"}}},"
        "\"gpu_link\": \"b\", \"switches\": [{\"name\": \"a\", \"gpus\": 2}], \"paths\": [],"
        "\"transports\": {\"hardware\": {}}}";
    static const uint32_t zeros[] = {0, 0};
    static const uint32_t both[] = {0, 1};
    static const uint32_t far[] = {0, 8};
    vp_node_kind_t kinds[] = {shipped("r5080-bf3"), {no_nic, sizeof(no_nic) - 1}};
    vp_assembly_t rows[] = {{kinds, 2, both, 2, both, zeros, 2, "hardware"},
                            {kinds, 1, zeros, 1, zeros, far, 2, "hardware"},
                            {kinds, 1, zeros, 2, zeros, zeros, 2, "hardware"},
                            {kinds, 1, both, 2, both, zeros, 2, "hardware"},
                            {kinds, 1, zeros, 1, both, zeros, 2, "hardware"},
                            {kinds, 1, zeros, 1, zeros, both, 2, "carrier"}};
    static const char *const texts[] = {
        "switch \"a\" has no NIC", "rank 1 uses GPU 8", "node 1 has no rank",
        "do not fit together",     "do not fit",        "\"carrier\""};
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        vp_model_t *model = NULL;
        uint32_t place[2] = {77, 77};
        vp_error_t error = {.text = ""};

        ck_assert_int_ne(vp_assemble(&rows[i], "job", &model, place, &error), VP_OK);
        ck_assert_ptr_null(model);
        ck_assert_uint_eq(place[0], 77);
        ck_assert_msg(strstr(error.text, texts[i]) != NULL, "%zu: %s", i, error.text);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("assemble");
    TCase *tests = tcase_create("assemble");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_add_test(tests, addresses_are_read_and_written);
    tcase_add_test(tests, addresses_are_kept);
    tcase_add_test(tests, bad_gpus_are_refused);
    tcase_add_test(tests, ranks_that_share_a_gpu);
    tcase_add_test(tests, whole_nodes_are_the_topology);
    tcase_add_test(tests, nodes_of_different_kinds);
    tcase_add_test(tests, classes_do_not_depend_on_the_nodes);
    tcase_add_test(tests, bad_assemblies_are_refused);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
