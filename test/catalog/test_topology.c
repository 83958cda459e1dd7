/* SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "catalog/topology.h"

static vp_model_t *resolve(const char *topology)
{
    vp_error_t error = {.text = ""};
    vp_model_t *model = NULL;

    ck_assert_msg(vp_topology_resolve(topology, &model, &error) == VP_OK, "%s: %s", topology,
                  error.text);
    ck_assert_msg(vp_model_check(model, &error) == VP_OK, "%s: %s", topology, error.text);
    return model;
}

START_TEST(shipped_topologies_resolve)
{
    static const struct {
        const char *name;
        uint32_t n_ranks;
        uint32_t n_groups;
        uint32_t n_nics;
        uint32_t n_resources;
        uint64_t nominal;  /* PIX */
        uint64_t measured; /* PIX */
    } expected[] = {
        {"fig1-6", 6, 2, 2, 6, UINT64_C(64000000000), UINT64_C(64000000000)},
        {"r5080-bf3", 8, 2, 2, 6, UINT64_C(64000000000), UINT64_C(54000000000)},
        {"r5090-bf3", 16, 4, 4, 18, UINT64_C(64000000000), UINT64_C(54000000000)},
        {"l20-cx7", 8, 2, 2, 6, UINT64_C(32000000000), UINT64_C(26000000000)},
        {"r5080-cx8", 8, 4, 8, 26, UINT64_C(64000000000), UINT64_C(54000000000)},
    };
    const char *const *names = vp_topology_shipped_names();
    char argument[128];
    size_t i;

    for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        vp_model_t *model = resolve(expected[i].name);

        ck_assert_str_eq(names[i], expected[i].name);
        ck_assert_ptr_nonnull(vp_topology_shipped_text(names[i]));
        ck_assert_str_eq(model->name, names[i]);
        ck_assert_uint_eq(model->n_nodes, 1);
        ck_assert_uint_eq(model->n_ranks, expected[i].n_ranks);
        ck_assert_uint_eq(model->n_groups, expected[i].n_groups);
        ck_assert_uint_eq(model->n_nics, expected[i].n_nics);
        ck_assert_uint_eq(model->n_resources, expected[i].n_resources);
        ck_assert_uint_eq(model->instances[0].bytes_per_s, expected[i].nominal);
        ck_assert_int_eq(model->instances[0].kind, VP_PATH_PIX);
        ck_assert_uint_eq(model->n_contention, 3);
        ck_assert_str_eq(model->contention[0].name, "ideal");
        vp_model_destroy(model);
        (void)snprintf(argument, sizeof(argument), "%s:rates=measured:nodes=2:transports=local",
                       names[i]);
        model = resolve(argument);
        ck_assert_uint_eq(model->n_ranks, 2 * expected[i].n_ranks);
        ck_assert_uint_eq(model->instances[0].bytes_per_s, expected[i].measured);
        ck_assert_str_eq(model->rates, "measured");
        ck_assert_str_eq(model->transport, "local");
        ck_assert_str_eq(model->classes[0].tls, "posix,cma");
        ck_assert_str_eq(model->classes[1].devices, "lo");
        vp_model_destroy(model);
    }
    ck_assert_ptr_null(names[i]);
    ck_assert_ptr_null(vp_topology_shipped_text("no-such"));
}
END_TEST

static const vp_instance_t *find_path(const vp_model_t *model, uint32_t from, uint32_t to,
                                      vp_path_kind_t kind)
{
    size_t pair = vp_pair(model, from, to);
    uint32_t i;

    for (i = model->pair_begin[pair]; i < model->pair_begin[pair + 1]; i++) {
        if (model->instances[i].kind == kind) {
            return &model->instances[i];
        }
    }
    return NULL;
}

static const char *resource_name(const vp_model_t *model, const vp_instance_t *path, uint32_t i)
{
    return model->resources[path->resources[i]].name;
}

START_TEST(nodes_are_copied)
{
    vp_model_t *model = resolve("r5080-bf3:nodes=2");
    const vp_instance_t *path;

    ck_assert_str_eq(model->groups[3].name, "node1/sw1");
    ck_assert_uint_eq(model->groups[3].first_rank, 12);
    ck_assert_uint_eq(model->groups[3].node, 1);
    ck_assert_uint_eq(model->rank_group[11], 2);
    path = find_path(model, 2, 3, VP_PATH_PXB);
    ck_assert_ptr_nonnull(path);
    ck_assert_uint_eq(path->n_resources, 1);
    ck_assert_str_eq(resource_name(model, path, 0), "node1/sw0>sw1");
    ck_assert_ptr_null(find_path(model, 0, 2, VP_PATH_PXB));
    path = find_path(model, 3, 0, VP_PATH_NIC);
    ck_assert_ptr_nonnull(path);
    ck_assert_uint_eq(path->n_resources, 2);
    ck_assert_str_eq(resource_name(model, path, 0), "node0/nic0:rx");
    ck_assert_str_eq(resource_name(model, path, 1), "node1/nic1:tx");
    ck_assert_str_eq(model->classes[path->source_class].name, "nic1");
    ck_assert_str_eq(model->classes[path->destination_class].name, "nic0");
    /* From a group to itself, too, out of its NIC and in again. */
    path = find_path(model, 1, 1, VP_PATH_NIC);
    ck_assert_ptr_nonnull(path);
    ck_assert_str_eq(resource_name(model, path, 0), "node0/nic1:tx");
    ck_assert_uint_eq(find_path(model, 1, 1, VP_PATH_PIX)->n_copies, 4);
    vp_model_destroy(model);
}
END_TEST

START_TEST(trees_use_up_and_down_links)
{
    vp_model_t *model = resolve("r5090-bf3");
    const vp_instance_t *path = find_path(model, 0, 1, VP_PATH_PHB);

    ck_assert_ptr_nonnull(path);
    ck_assert_uint_eq(path->n_resources, 2);
    ck_assert_str_eq(resource_name(model, path, 0), "node0/sw0:up");
    ck_assert_str_eq(resource_name(model, path, 1), "node0/sw1:down");
    path = find_path(model, 3, 0, VP_PATH_SYS);
    ck_assert_ptr_nonnull(path);
    ck_assert_uint_eq(path->n_resources, 3);
    ck_assert_str_eq(resource_name(model, path, 0), "node0/sw0:down");
    ck_assert_str_eq(resource_name(model, path, 1), "node0/sw3:up");
    ck_assert_str_eq(resource_name(model, path, 2), "node0/socket1>socket0");
    vp_model_destroy(model);

    model = resolve("r5080-cx8"); /* two NICs per switch, rail to rail */
    path = find_path(model, 0, 3, VP_PATH_NIC);
    ck_assert_ptr_nonnull(path);
    ck_assert_str_eq(resource_name(model, path, 0), "node0/nic0:tx");
    ck_assert_str_eq(resource_name(model, path, 1), "node0/nic6:rx");
    ck_assert_str_eq(resource_name(model, path + 1, 0), "node0/nic1:tx");
    ck_assert_str_eq(resource_name(model, path + 1, 1), "node0/nic7:rx");
    ck_assert_uint_eq(model->pair_begin[4] - model->pair_begin[3], 3);
    vp_model_destroy(model);
}
END_TEST

/* A path with exactly these resources, in order; NULL ends them. */
static const vp_instance_t *find_footprint(const vp_model_t *model, uint32_t from, uint32_t to,
                                           const char *const *names)
{
    size_t pair = vp_pair(model, from, to);
    uint32_t r;
    uint32_t i;

    for (r = model->pair_begin[pair]; r < model->pair_begin[pair + 1]; r++) {
        const vp_instance_t *instance = &model->instances[r];

        for (i = 0; i < instance->n_resources && names[i] != NULL &&
                    strcmp(resource_name(model, instance, i), names[i]) == 0;
             i++) {
        }
        if (i == instance->n_resources && names[i] == NULL) {
            return instance;
        }
    }
    return NULL;
}

static uint32_t n_paths(const vp_model_t *model, uint32_t from, uint32_t to)
{
    return model->pair_begin[vp_pair(model, from, to) + 1] -
           model->pair_begin[vp_pair(model, from, to)];
}

/* Far NICs lie behind the links to them, join the same NIC of another node, and stay outside a
 * node. */
START_TEST(all_nics_serve_all_switches)
{
    static const char *const both_far[] = {
        "node0/sw0:up",          "node0/sw2:down", "node0/socket0>socket1",
        "node0/nic2:tx",         "node1/sw0:down", "node1/sw2:up",
        "node1/socket1>socket0", "node1/nic2:rx",  NULL};
    static const char *const out_far[] = {"node0/sw0:up", "node0/sw1:down", "node0/nic1:tx",
                                          "node1/nic1:rx", NULL};
    static const char *const in_far[] = {"node0/nic0:tx", "node1/sw0:up", "node1/sw1:down",
                                         "node1/nic0:rx", NULL};
    static const char *const crossed[] = {"node0/nic0:tx", "node1/nic1:rx", NULL};
    vp_model_t *near = resolve("r5090-bf3:nodes=2:rates=measured:nics=near");
    vp_model_t *plain = resolve("r5090-bf3:nodes=2:rates=measured");
    vp_model_t *all = resolve("r5090-bf3:nics=all:nodes=2:rates=measured");
    const vp_instance_t *path;

    ck_assert_uint_eq(near->n_instances, plain->n_instances);
    ck_assert_uint_eq(n_paths(near, 0, 4), 1);
    ck_assert_uint_eq(n_paths(all, 0, 4), 4); /* by each NIC to the same one */
    ck_assert_uint_eq(n_paths(all, 0, 5), 5); /* and by the near ones of both */
    ck_assert_uint_eq(n_paths(all, 0, 1), n_paths(near, 0, 1));
    ck_assert_uint_eq(n_paths(all, 0, 0), n_paths(near, 0, 0));
    path = find_footprint(all, 0, 4, both_far);
    ck_assert_ptr_nonnull(path);
    ck_assert_int_eq(path->kind, VP_PATH_NIC);
    ck_assert_uint_eq(path->bytes_per_s, UINT64_C(44000000000)); /* of the sockets */
    ck_assert_str_eq(all->classes[path->source_class].name, "nic2");
    path = find_footprint(all, 0, 5, out_far);
    ck_assert_ptr_nonnull(path);
    ck_assert_uint_eq(path->bytes_per_s, UINT64_C(47000000000)); /* of the NIC */
    ck_assert_ptr_nonnull(find_footprint(all, 0, 5, in_far));
    ck_assert_ptr_nonnull(find_footprint(all, 0, 5, crossed));
    vp_model_destroy(all);
    vp_model_destroy(plain);
    vp_model_destroy(near);
}
END_TEST

static const struct {
    const char *argument;
    vp_status_t status;
    const char *text;
} bad_arguments[] = {
    {"no-such", VP_ERR_USAGE, "the shipped ones are fig1-6, r5080-bf3"},
    {"", VP_ERR_USAGE, "neither a shipped topology nor a file"},
    {"no-such.json", VP_ERR_IO, "no-such.json"},
    {"/nonexistent/x", VP_ERR_IO, "/nonexistent/x"},
    {"/", VP_ERR_BAD_INPUT, "directory"},
    {"fig1-6:", VP_OK, ""},
    {"fig1-6:nodes=0", VP_ERR_USAGE, "from 1 to 2048"},
    {"fig1-6:nodes=-1", VP_ERR_USAGE, "nodes=-1"},
    {"fig1-6:nodes=2x", VP_ERR_USAGE, "nodes=2x"},
    {"fig1-6:nodes=99999999999999999999", VP_ERR_USAGE, "from 1 to 2048"},
    {"fig1-6:nodes=", VP_ERR_USAGE, "\":nodes=\""},
    {"fig1-6:nodes", VP_ERR_USAGE, "\":nodes\""},
    {"fig1-6:colour=red", VP_ERR_USAGE, ":nodes=N"},
    {"fig1-6:nodes=2:", VP_ERR_IO, ""}, /* the name of a file then */
    {"fig1-6::nodes=2", VP_ERR_USAGE, "\":\""},
    {"fig1-6:nics=far", VP_ERR_USAGE, ":nics=near or :nics=all"},
    {"fig1-6:nics=", VP_ERR_USAGE, "\":nics=\""},
    {"fig1-6:nics=all", VP_OK, ""},
    {"fig1-6:rates=guessed", VP_ERR_USAGE, "fig1-6: $.rates: has no set \"guessed\""},
    {"fig1-6:transports=pigeon", VP_ERR_USAGE, "fig1-6: $.transports: has no set \"pigeon\""},
    {"r5080-bf3:nodes=2000", VP_ERR_LIMIT, "the limits are 4096, 2048"},
};

START_TEST(arguments_are_checked)
{
    vp_error_t error = {.text = ""};
    vp_model_t *model = NULL;
    vp_status_t status = vp_topology_resolve(bad_arguments[_i].argument, &model, &error);

    ck_assert_msg(status == bad_arguments[_i].status ||
                      (bad_arguments[_i].status == VP_ERR_IO && status == VP_ERR_USAGE),
                  "\"%s\": %s, expected %s: %s", bad_arguments[_i].argument, vp_status_text(status),
                  vp_status_text(bad_arguments[_i].status), error.text);
    ck_assert_msg(strstr(error.text, bad_arguments[_i].text) != NULL, "\"%s\" is not in: %s",
                  bad_arguments[_i].text, error.text);
    ck_assert_int_eq(model == NULL, status != VP_OK);
    vp_model_destroy(model);
}
END_TEST

/* A good file; each bad one below is this one with one piece replaced. */
static const char good_text[] =
    "{\"format\": \"variopath-topology\", \"version\": 1, \"name\": \"good\", \"about\": "
    "\"test\",\n"
    " \"nodes\": 1, \"alpha_ns\": 10, \"put_overhead_ns\": 5, \"gpu_link\": \"fast\",\n"
    " \"rates\": {\"nominal\": {\"fast\": {\"bytes_per_s\": 64, \"origin\": \"test\"},\n"
    "   \"slow\": {\"bytes_per_s\": 50, \"origin\": \"test\"}},\n"
    "  \"measured\": {\"fast\": {\"bytes_per_s\": 60, \"origin\": \"test\"},\n"
    "   \"slow\": {\"bytes_per_s\": 40, \"origin\": \"test\"}}},\n"
    " \"switches\": [{\"name\": \"a\", \"gpus\": 3}, {\"name\": \"b\", \"gpus\": 1}],\n"
    " \"nics\": [{\"name\": \"n0\", \"switch\": \"a\", \"rate\": \"slow\", \"class\": \"net\"},\n"
    "  {\"name\": \"n1\", \"switch\": \"b\", \"rate\": \"fast\", \"class\": \"net\"},\n"
    "  {\"name\": \"n2\", \"switch\": \"a\", \"rate\": \"fast\", \"class\": \"net\"}],\n"
    " \"links\": [{\"name\": \"a>b\", \"kind\": \"inter-switch\", \"rate\": \"slow\"},\n"
    "  {\"name\": \"b>a\", \"kind\": \"inter-switch\", \"rate\": \"slow\"}],\n"
    " \"paths\": [{\"kind\": \"PIX\", \"from\": \"a\", \"to\": \"a\", \"rate\": \"fast\", "
    "\"class\": "
    "\"bus\"},\n"
    "  {\"kind\": \"PIX\", \"from\": \"b\", \"to\": \"b\", \"rate\": \"fast\", \"class\": "
    "\"bus\"},\n"
    "  {\"kind\": \"PXB\", \"from\": \"a\", \"to\": \"b\", \"rate\": \"fast\", \"links\": "
    "[\"a>b\"], "
    "\"class\": \"bus\"},\n"
    "  {\"kind\": \"PXB\", \"from\": \"b\", \"to\": \"a\", \"rate\": \"fast\", \"links\": "
    "[\"b>a\"], "
    "\"class\": \"bus\"}],\n"
    " \"nic_pairs\": \"rail\",\n"
    " \"transports\": {\"hardware\": {\"bus\": {\"tls\": \"cuda_ipc\", \"devices\": \"\"}, "
    "\"net\": "
    "{\"tls\": \"rc\"}},\n"
    "  \"local\": {\"bus\": {\"tls\": \"posix\"}, \"net\": {\"tls\": \"tcp\", \"devices\": "
    "\"lo\"}}},\n"
    " \"contention\": {\"shares\": {\"gpu\": {\"share_ppm\": [1000000, 750000], \"origin\": "
    "\"test\"}}}}\n";

static char directory[32];
static char path[128];

static void make_directory(void)
{
    (void)snprintf(directory, sizeof(directory), "/tmp/vp_test_topology.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void remove_directory(void)
{
    (void)unlink(path);
    ck_assert_int_eq(rmdir(directory), 0);
}

static vp_status_t resolve_text(const char *text, const char *options, vp_model_t **model_p,
                                vp_error_t *error)
{
    char argument[160];

    (void)snprintf(path, sizeof(path), "%s/file.json", directory);
    ck_assert_int_eq(vp_file_write(path, text, strlen(text), error), VP_OK);
    (void)snprintf(argument, sizeof(argument), "%s%s", path, options);
    return vp_topology_resolve(argument, model_p, error);
}

/* The good file with the first occurrence of a piece behind `after` replaced. */
static char *replace(const char *after, const char *piece, const char *by)
{
    const char *begin = strstr(good_text, after);
    size_t n_bytes = sizeof(good_text) + strlen(by);
    char *text = calloc(1, n_bytes);

    ck_assert_msg(begin != NULL, "\"%s\" is not in the good file", after);
    begin = strstr(begin, piece);
    ck_assert_msg(begin != NULL, "\"%s\" is not in the good file behind \"%s\"", piece, after);
    ck_assert_ptr_nonnull(text);
    (void)snprintf(text, n_bytes, "%.*s%s%s", (int)(begin - good_text), good_text, by,
                   begin + strlen(piece));
    return text;
}

START_TEST(a_file_is_read)
{
    vp_error_t error = {.text = ""};
    vp_model_t *model = NULL;
    const vp_instance_t *nic;

    ck_assert_msg(resolve_text(good_text, ":nodes=2", &model, &error) == VP_OK, "%s", error.text);
    ck_assert_uint_eq(model->n_ranks, 8);
    ck_assert_uint_eq(model->alpha_ns, 10);
    ck_assert_uint_eq(model->put_overhead_ns, 5);
    ck_assert_uint_eq(model->gpu_link_bytes_per_s, 64);
    ck_assert_uint_eq(find_path(model, 0, 0, VP_PATH_PIX)->n_copies, 3);
    ck_assert_uint_eq(find_path(model, 1, 1, VP_PATH_PIX)->n_copies, 1);
    nic = find_path(model, 0, 3, VP_PATH_NIC);
    ck_assert_uint_eq(nic->bytes_per_s, 50); /* the slower NIC of the two */
    /* A single rank has nobody to reach through its own NIC; n2 is on a rail of its own. */
    ck_assert_ptr_null(find_path(model, 1, 1, VP_PATH_NIC));
    ck_assert_uint_eq(
        model->pair_begin[vp_pair(model, 0, 2) + 1] - model->pair_begin[vp_pair(model, 0, 2)], 2);
    ck_assert_uint_eq(
        model->pair_begin[vp_pair(model, 0, 3) + 1] - model->pair_begin[vp_pair(model, 0, 3)], 1);
    ck_assert_uint_eq(model->n_contention, 2);
    ck_assert_uint_eq(model->contention[1].n_entries[VP_CONTENTION_GPU], 2);
    ck_assert_uint_eq(model->contention[1].n_entries[VP_CONTENTION_NIC], 1);
    ck_assert_uint_eq(model->contention[1].share_ppm[VP_CONTENTION_NIC][0], 1000000);
    vp_model_destroy(model);
}
END_TEST

START_TEST(any_nic_pair)
{
    vp_error_t error = {.text = ""};
    vp_model_t *model = NULL;
    char *text = replace("nic_pairs", "rail", "any");

    ck_assert_msg(resolve_text(text, ":nodes=2", &model, &error) == VP_OK, "%s", error.text);
    ck_assert_uint_eq(
        model->pair_begin[vp_pair(model, 0, 2) + 1] - model->pair_begin[vp_pair(model, 0, 2)], 4);
    ck_assert_uint_eq(
        model->pair_begin[vp_pair(model, 0, 3) + 1] - model->pair_begin[vp_pair(model, 0, 3)], 2);
    vp_model_destroy(model);
    free(text);
}
END_TEST

START_TEST(a_path_without_links_has_copies)
{
    vp_error_t error = {.text = ""};
    vp_model_t *model = NULL;
    char *text = replace("\"PXB\"", "\"links\": [\"a>b\"], ", "");

    ck_assert_msg(resolve_text(text, "", &model, &error) == VP_OK, "%s", error.text);
    ck_assert_uint_eq(find_path(model, 0, 1, VP_PATH_PXB)->n_resources, 0);
    ck_assert_uint_eq(find_path(model, 0, 1, VP_PATH_PXB)->n_copies, 1); /* of 3 and 1 ranks */
    vp_model_destroy(model);
    free(text);
}
END_TEST

START_TEST(a_colon_in_a_file_name)
{
    vp_error_t error = {.text = ""};
    vp_model_t *model = NULL;
    char argument[160];

    (void)snprintf(path, sizeof(path), "%s/a:nodes=3", directory);
    ck_assert_int_eq(vp_file_write(path, good_text, strlen(good_text), &error), VP_OK);
    (void)snprintf(argument, sizeof(argument), "%s:", path);
    ck_assert_msg(vp_topology_resolve(argument, &model, &error) == VP_OK, "%s", error.text);
    ck_assert_uint_eq(model->n_nodes, 1);
    vp_model_destroy(model);
}
END_TEST

static const struct {
    const char *after;
    const char *piece;
    const char *by;
    vp_status_t status;
    const char *json_path; /* or the line, for syntax */
    const char *text;
} bad_files[] = {
    /* syntax */
    {"{", "{", "", VP_ERR_BAD_INPUT, "line 1, column ", "not valid JSON"},
    {"\"alpha_ns\"", ":", "", VP_ERR_BAD_INPUT, "line 2, column ", "not valid JSON"},
    {"\"nodes\"", "1,", "1, \"nodes\": 2,", VP_ERR_BAD_INPUT, "line 2", "duplicate"},
    {"\"nodes\"", "1", "99999999999999999999", VP_ERR_BAD_INPUT, "line 2", "too big"},
    {"\"good\"", "good", "\xff", VP_ERR_BAD_INPUT, "line 1", "decode byte 0xff"},
    {"\"good\"", "good", "g\\u0000d", VP_ERR_BAD_INPUT, "line 1", "u0000"},
    /* unknown keys */
    {"\"nodes\"", "nodes", "nods", VP_ERR_BAD_INPUT, "$:", "\"nods\"; the nearest"},
    {"\"gpus\"", "gpus", "gpu", VP_ERR_BAD_INPUT, "$.switches[0]", "\"gpus\""},
    {"\"n1\"", "class", "clas", VP_ERR_BAD_INPUT, "$.nics[1]", "\"class\""},
    {"\"kind\": \"inter", "kind", "typ", VP_ERR_BAD_INPUT, "$.links[0]", "unknown key \"typ\""},
    {"\"PXB\"", "from", "form", VP_ERR_BAD_INPUT, "$.paths[2]", "\"from\""},
    {"\"fast\": {", "origin", "orgin", VP_ERR_BAD_INPUT, "$.rates.nominal.fast", "\"origin\""},
    {"\"bus\": {", "devices", "device", VP_ERR_BAD_INPUT, "$.transports.hardware.bus", "devices"},
    {"\"shares\"", "gpu", "gpus", VP_ERR_BAD_INPUT, "$.contention.shares", "\"gpu\""},
    {"share_ppm", "origin", "source", VP_ERR_BAD_INPUT, "$.contention.shares.gpu", "\"origin\""},
    /* missing keys */
    {"\"name\": \"good\"", "\"name\": \"good\", ", "", VP_ERR_BAD_INPUT,
     "$:", "the key \"name\" is missing"},
    {"{", "\"format\": \"variopath-topology\", ", "", VP_ERR_BAD_INPUT,
     "$:", "the key \"format\" is missing"},
    {"\"version\"", "\"version\": 1,", "", VP_ERR_BAD_INPUT,
     "$:", "the key \"version\" is missing"},
    {"\"alpha_ns\"", "\"alpha_ns\": 10,", "", VP_ERR_BAD_INPUT,
     "$:", "the key \"alpha_ns\" is missing"},
    {"\"put_overhead_ns\"", ", \"gpu_link\": \"fast\"", "", VP_ERR_BAD_INPUT,
     "$:", "the key \"gpu_link\" is missing"},
    {"\"a\", \"gpus\"", ", \"gpus\": 3", "", VP_ERR_BAD_INPUT,
     "$.switches[0]:", "the key \"gpus\" is missing"},
    {"\"tls\": \"tcp\"", "\"tls\": \"tcp\", ", "", VP_ERR_BAD_INPUT,
     "$.transports.local.net:", "the key \"tls\" is missing"},
    /* wrong types */
    {"{", "\"version\": 1", "\"version\": \"1\"", VP_ERR_BAD_INPUT, "$.version", "is a text"},
    {"\"nodes\"", "1", "1.5", VP_ERR_BAD_INPUT, "$.nodes", "fraction"},
    {"\"nodes\"", "1", "1e0", VP_ERR_BAD_INPUT, "$.nodes", "fraction or exponent"},
    {"\"nodes\"", "1", "null", VP_ERR_BAD_INPUT, "$.nodes", "is null"},
    {"\"nodes\"", "1", "true", VP_ERR_BAD_INPUT, "$.nodes", "true or false"},
    {"\"good\"", "\"good\"", "7", VP_ERR_BAD_INPUT, "$.name", "is an integer"},
    {"\"links\": [\"a>b\"]", "[\"a>b\"]", "\"a>b\"", VP_ERR_BAD_INPUT, "$.paths[2].links",
     "an array"},
    {"\"links\": [\"a>b\"]", "\"a>b\"", "0", VP_ERR_BAD_INPUT, "$.paths[2].links[0]", "a text"},
    {"{\"name\": \"b\"", "{\"name\": \"b\", \"gpus\": 1}", "\"b\"", VP_ERR_BAD_INPUT,
     "$.switches[1]", "an object"},
    {"\"measured\"", "\"fast\": {\"bytes_per_s\": 60, \"origin\": \"test\"}", "\"fast\": 60",
     VP_ERR_BAD_INPUT, "$.rates.measured.fast", "an object"},
    {"\"nic_pairs\"", "\"rail\"", "[]", VP_ERR_BAD_INPUT, "$.nic_pairs", "an array"},
    {"share_ppm", "[1000000, 750000]", "750000", VP_ERR_BAD_INPUT,
     "$.contention.shares.gpu.share_ppm", "an array"},
    /* dangling names */
    {"\"gpu_link\"", "fast", "fats", VP_ERR_BAD_INPUT, "$.gpu_link", "rates.nominal does not have"},
    {"\"measured\"", "slow", "slower", VP_ERR_BAD_INPUT, "$.links[0].rate",
     "rates.measured does not have"},
    {"\"n0\"", "\"switch\": \"a\"", "\"switch\": \"c\"", VP_ERR_BAD_INPUT, "$.nics[0].switch",
     "\"c\""},
    {"\"n2\"", "net", "web", VP_ERR_BAD_INPUT, "$.nics[2].class",
     "transports.hardware does not have"},
    {"\"local\"", "bus", "buss", VP_ERR_BAD_INPUT, "$.paths[0].class",
     "transports.local does not have"},
    {"\"PXB\"", "\"from\": \"a\"", "\"from\": \"z\"", VP_ERR_BAD_INPUT, "$.paths[2].from", "\"z\""},
    {"\"PXB\"", "\"to\": \"b\"", "\"to\": \"z\"", VP_ERR_BAD_INPUT, "$.paths[2].to", "\"z\""},
    {"\"PXB\"", "a>b", "a>c", VP_ERR_BAD_INPUT, "$.paths[2].links[0]", "\"a>c\""},
    {"\"PXB\"", "fast", "quick", VP_ERR_BAD_INPUT, "$.paths[2].rate", "\"quick\""},
    /* duplicates */
    {"\"switches\"", "\"b\"", "\"a\"", VP_ERR_BAD_INPUT, "$.switches[1]", "of element 0"},
    {"\"n2\"", "n2", "n1", VP_ERR_BAD_INPUT, "$.nics[2]", "of element 1"},
    {"\"links\": [{", "b>a", "a>b", VP_ERR_BAD_INPUT, "$.links[1]", "of element 0"},
    {"\"PXB\"", "[\"a>b\"]", "[\"a>b\", \"a>b\"]", VP_ERR_BAD_INPUT, "$.paths[2].links[1]",
     "twice"},
    {"\"PIX\", \"from\": \"b\"", "\"from\": \"b\", \"to\": \"b\"", "\"from\": \"a\", \"to\": \"a\"",
     VP_ERR_BAD_INPUT, "$.paths[1]", "the same path as element 0"},
    /* ranges */
    {"\"a\", \"gpus\"", "3", "0", VP_ERR_BAD_INPUT, "$.switches[0].gpus", "from 1 to 4096"},
    {"\"a\", \"gpus\"", "3", "4096", VP_ERR_LIMIT, "$:", "4097 GPUs"},
    {"\"nodes\"", "1", "0", VP_ERR_BAD_INPUT, "$.nodes", "from 1 to 2048"},
    {"\"nodes\"", "1", "2049", VP_ERR_BAD_INPUT, "$.nodes", "from 1 to 2048"},
    {"\"nodes\"", "1", "2048", VP_ERR_LIMIT, "$:", "use fewer nodes"},
    {"\"nominal\"", "64", "-64", VP_ERR_BAD_INPUT, "$.rates.nominal.fast.bytes_per_s", "is -64"},
    {"\"measured\"", "60", "0", VP_ERR_BAD_INPUT, "$.rates.measured.fast.bytes_per_s", "is 0"},
    {"\"nominal\"", "64", "9223372036854775807", VP_ERR_BAD_INPUT,
     "$.rates.nominal.fast.bytes_per_s", "to 1000000000000000"},
    {"\"alpha_ns\"", "10", "-1", VP_ERR_BAD_INPUT, "$.alpha_ns", "is -1"},
    {"\"put_overhead_ns\"", "5", "1000000001", VP_ERR_BAD_INPUT, "$.put_overhead_ns",
     "to 1000000000"},
    {"{", "\"version\": 1", "\"version\": 2", VP_ERR_BAD_INPUT, "$.version", "from 1 to 1"},
    {"\"good\"", "good", "", VP_ERR_BAD_INPUT, "$.name", "0 bytes"},
    {"share_ppm", "750000", "1000001", VP_ERR_BAD_INPUT, "$.contention.shares.gpu.share_ppm[1]",
     "to 1000000"},
    {"share_ppm", "1000000", "999999", VP_ERR_BAD_INPUT, "$.contention.shares.gpu.share_ppm[0]",
     "one source"},
    {"share_ppm", "[1000000, 750000]", "[]", VP_ERR_BAD_INPUT, "$.contention.shares.gpu.share_ppm",
     "0 elements"},
    {"share_ppm", "750000", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", VP_ERR_BAD_INPUT,
     "$.contention.shares.gpu.share_ppm", "17 elements"},
    {"\"switches\"", "[{\"name\": \"a\", \"gpus\": 3}, {\"name\": \"b\", \"gpus\": 1}]", "[]",
     VP_ERR_BAD_INPUT, "$.switches", "0 elements"},
    {"\"PXB\"", "[\"a>b\"]", "[1,1,1,1,1,1,1,1,1,1,1,1,1]", VP_ERR_BAD_INPUT, "$.paths[2].links",
     "13 elements"},
    /* words with a fixed choice */
    {"{", "variopath-topology", "hwloc", VP_ERR_BAD_INPUT, "$.format", "\"hwloc\""},
    {"\"nic_pairs\"", "rail", "all", VP_ERR_BAD_INPUT, "$.nic_pairs", "\"rail\" or \"any\""},
    {"\"paths\"", "PIX", "pix", VP_ERR_BAD_INPUT, "$.paths[0].kind", "write PIX"},
    {"\"paths\"", "PIX", "NIC", VP_ERR_BAD_INPUT, "$.paths[0].kind", "NIC paths follow"},
    {"\"links\"", "inter-switch", "nic-tx", VP_ERR_BAD_INPUT, "$.links[0].kind", "listed under"},
    {"\"contention\"", "shares", "ideal", VP_ERR_BAD_INPUT, "$.contention.ideal", "built in"},
    {"\"PXB\"", "PXB", "PIX", VP_ERR_BAD_INPUT, "$.paths[2]", "write PXB"},
    /* sets and reachability */
    {"\"nominal\"", "nominal", "normal", VP_ERR_USAGE, "$.rates", "\"normal\""},
    {"\"hardware\"", "hardware", "software", VP_ERR_USAGE, "$.transports", "\"software\""},
    {"\"nodes\"", "1, \"alpha_ns\": 10, \"put_overhead_ns\": 5, \"gpu_link\": \"fast\"",
     "2, \"alpha_ns\": 10, \"gpu_link\": \"fast\"", VP_OK, "", ""},
};

START_TEST(mistakes_in_files_are_located)
{
    vp_error_t error = {.text = ""};
    vp_model_t *model = NULL;
    char *text = replace(bad_files[_i].after, bad_files[_i].piece, bad_files[_i].by);
    char place[256];
    vp_status_t status = resolve_text(text, "", &model, &error);

    ck_assert_msg(status == bad_files[_i].status, "case %d: %s, expected %s: %s", _i,
                  vp_status_text(status), vp_status_text(bad_files[_i].status), error.text);
    if (status != VP_OK) {
        (void)snprintf(place, sizeof(place), "%s: %s", path, bad_files[_i].json_path);
        ck_assert_msg(strncmp(error.text, place, strlen(place)) == 0,
                      "case %d: it does not begin with \"%s\": %s", _i, place, error.text);
        ck_assert_msg(strstr(error.text + strlen(place), bad_files[_i].text) != NULL,
                      "case %d: \"%s\" is not in: %s", _i, bad_files[_i].text, error.text);
    }
    ck_assert_int_eq(model == NULL, status != VP_OK);
    vp_model_destroy(model);
    free(text);
}
END_TEST

START_TEST(a_switch_without_nic_on_two_nodes)
{
    vp_error_t error = {.text = ""};
    vp_model_t *model = NULL;
    char *text = replace("\"n1\"", "\"switch\": \"b\"", "\"switch\": \"a\"");

    ck_assert_int_eq(resolve_text(text, ":nodes=1", &model, &error), VP_OK);
    vp_model_destroy(model);
    model = NULL;
    ck_assert_int_eq(resolve_text(text, ":nodes=2", &model, &error), VP_ERR_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "switch \"b\" has no NIC"));
    ck_assert_ptr_null(model);
    free(text);
}
END_TEST

START_TEST(files_that_are_not_whole)
{
    vp_error_t error = {.text = ""};
    vp_model_t *model = NULL;
    char *text = replace("\"nodes\"", "1", "1");

    text[strlen(text) / 2] = '\0'; /* a file that ends in the middle */
    ck_assert_int_eq(resolve_text(text, "", &model, &error), VP_ERR_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, path));
    ck_assert_int_eq(resolve_text("", "", &model, &error), VP_ERR_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "line 1"));
    ck_assert_int_eq(resolve_text("[]", "", &model, &error), VP_ERR_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "$: is an array; write an object"));
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("catalog topology");
    TCase *shipped = tcase_create("shipped");
    TCase *files = tcase_create("files");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_add_test(shipped, shipped_topologies_resolve);
    tcase_add_test(shipped, nodes_are_copied);
    tcase_add_test(shipped, trees_use_up_and_down_links);
    tcase_add_test(shipped, all_nics_serve_all_switches);
    tcase_add_loop_test(shipped, arguments_are_checked, 0,
                        sizeof(bad_arguments) / sizeof(bad_arguments[0]));
    tcase_add_checked_fixture(files, make_directory, remove_directory);
    tcase_add_test(files, a_file_is_read);
    tcase_add_test(files, any_nic_pair);
    tcase_add_test(files, a_path_without_links_has_copies);
    tcase_add_test(files, a_colon_in_a_file_name);
    tcase_add_loop_test(files, mistakes_in_files_are_located, 0,
                        sizeof(bad_files) / sizeof(bad_files[0]));
    tcase_add_test(files, a_switch_without_nic_on_two_nodes);
    tcase_add_test(files, files_that_are_not_whole);
    suite_add_tcase(suite, shipped);
    suite_add_tcase(suite, files);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
