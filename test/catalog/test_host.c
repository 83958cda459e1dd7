/* SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "catalog/build.h"
#include "catalog/topology.h"

/*
 * Two sockets with memory of their own, a switch each, one NIC behind the first
 * switch; the pieces in %s: keys of the machine, of the cross-socket path, of
 * the first switch, of the NIC, and whole members.
 */
static const char format[] =
    "{\"format\": \"variopath-topology\", \"version\": 1, \"name\": \"m\", \"alpha_ns\": 1, %s"
    "\"rates\": {\"nominal\": {\"x\": {\"bytes_per_s\": 60, \"origin\": \"t\"},"
    " \"cross\": {\"bytes_per_s\": 40, \"origin\": \"t\"},"
    " \"nic\": {\"bytes_per_s\": 50, \"origin\": \"t\"},"
    " \"stage\": {\"bytes_per_s\": 55, \"origin\": \"t\"},"
    " \"memory\": {\"bytes_per_s\": 200, \"origin\": \"t\"}}}, \"gpu_link\": \"x\","
    "\"switches\": [{\"name\": \"a\", \"gpus\": 2%s},"
    " {\"name\": \"b\", \"gpus\": 3, \"to_host\": [\"b:up\", \"mem1\"],"
    " \"from_host\": [\"mem1\", \"b:down\"]}],"
    "\"links\": [{\"name\": \"a:up\", \"kind\": \"uplink\", \"rate\": \"x\"},"
    " {\"name\": \"a:down\", \"kind\": \"downlink\", \"rate\": \"x\"},"
    " {\"name\": \"b:up\", \"kind\": \"uplink\", \"rate\": \"x\"},"
    " {\"name\": \"b:down\", \"kind\": \"downlink\", \"rate\": \"x\"},"
    " {\"name\": \"a>b\", \"kind\": \"socket\", \"rate\": \"cross\"},"
    " {\"name\": \"b>a\", \"kind\": \"socket\", \"rate\": \"cross\"},"
    " {\"name\": \"mem0\", \"kind\": \"host-memory\", \"rate\": \"memory\"},"
    " {\"name\": \"mem1\", \"kind\": \"host-memory\", \"rate\": \"memory\"}],"
    "\"paths\": ["
    " {\"kind\": \"PIX\", \"from\": \"a\", \"to\": \"a\", \"rate\": \"x\", \"class\": \"p\"},"
    " {\"kind\": \"PIX\", \"from\": \"b\", \"to\": \"b\", \"rate\": \"x\", \"class\": \"p\"},"
    " {\"kind\": \"SYS\", \"from\": \"a\", \"to\": \"b\", \"rate\": \"cross\", \"class\": \"p\","
    "  \"links\": [\"a:up\", \"a>b\", \"b:down\"]%s},"
    " {\"kind\": \"SYS\", \"from\": \"b\", \"to\": \"a\", \"rate\": \"cross\", \"class\": \"p\","
    "  \"links\": [\"b:up\", \"b>a\", \"a:down\"]}],"
    "\"nics\": [{\"name\": \"n\", \"switch\": \"a\", \"rate\": \"nic\", \"class\": \"net\"%s}],"
    "\"transports\": {\"hardware\": {\"p\": {\"tls\": \"cuda_ipc\"}, \"net\": {\"tls\": \"rc\"},"
    " \"h\": {\"tls\": \"posix\"}}}}";

#define HOST "\"host\": {\"rate\": \"stage\", \"class\": \"h\"}, "
#define HOST_ALSO "\"host\": {\"rate\": \"stage\", \"class\": \"h\", \"alternatives\": true}, "
#define A_HOST ", \"to_host\": [\"a:up\", \"mem0\"], \"from_host\": [\"mem0\", \"a:down\"]"
#define SERVES_B                                                                                   \
    ", \"serves\": [{\"switch\": \"b\", \"out\": [\"b:up\", \"b>a\", \"a:down\"],"                 \
    " \"in\": [\"a:up\", \"a>b\", \"b:down\"]}]"

static vp_status_t read_text(const char *options, const char *machine, const char *of_a,
                             const char *path, const char *nic, vp_model_t **model_p,
                             vp_error_t *error)
{
    char text[sizeof(format) + 1024];
    char argument[128];
    char file[] = "/tmp/vp_test_host.XXXXXX";
    vp_status_t status;

    (void)snprintf(text, sizeof(text), format, machine, of_a, path, nic);
    (void)close(mkstemp(file));
    ck_assert_int_eq(vp_file_write(file, text, strlen(text), error), VP_OK);
    (void)snprintf(argument, sizeof(argument), "%s%s", file, options);
    status = vp_topology_resolve(argument, model_p, error);
    ck_assert_int_eq(unlink(file), 0);
    return status;
}

static vp_model_t *read_model(const char *options, const char *machine, const char *of_a,
                              const char *path, const char *nic)
{
    vp_error_t error = {.text = ""};
    vp_model_t *model = NULL;

    ck_assert_msg(read_text(options, machine, of_a, path, nic, &model, &error) == VP_OK, "%s",
                  error.text);
    return model;
}

/* "HOST a->b 40 a:up mem0" of each instance of a kind, one a line, without the name of node 0. */
static void list(const vp_model_t *model, char *text, size_t n_bytes)
{
    size_t used = 0;
    uint32_t i;
    uint32_t k;

    text[0] = '\0';
    for (i = 0; i < model->n_instances; i++) {
        const vp_instance_t *it = &model->instances[i];

        used +=
            (size_t)snprintf(text + used, n_bytes - used, "%s %s>%s %" PRIu64 "x%" PRIu32,
                             vp_path_kind_text(it->kind), model->groups[it->from_group].name + 4,
                             model->groups[it->to_group].name + 4, it->bytes_per_s, it->n_copies);
        for (k = 0; k < it->n_resources; k++) {
            used += (size_t)snprintf(text + used, n_bytes - used, " %s",
                                     model->resources[it->resources[k]].name + 4);
        }
        used += (size_t)snprintf(text + used, n_bytes - used, "\n");
    }
}

static const struct {
    const char *machine;
    const char *of_a;
    const char *path;
    const char *nic;
    const char *instances;
} cases[] = {
    /* as it is */
    {"", "", "", "",
     "PIX 0/a>0/a 60x2\n"
     "NIC 0/a>0/a 50x1 0/n:tx 0/n:rx\n"
     "SYS 0/a>0/b 40x1 0/a:up 0/b:down 0/a>b\n"
     "SYS 0/b>0/a 40x1 0/a:down 0/b:up 0/b>a\n"
     "PIX 0/b>0/b 60x3\n"},
    /* one path is refused: staged in both memories, still across the sockets */
    {HOST, A_HOST, ", \"peer_to_peer\": false", "",
     "PIX 0/a>0/a 60x2\n"
     "NIC 0/a>0/a 50x1 0/n:tx 0/n:rx\n"
     "HOST 0/a>0/b 40x1 0/a:up 0/b:down 0/a>b 0/mem0 0/mem1\n"
     "SYS 0/b>0/a 40x1 0/a:down 0/b:up 0/b>a\n"
     "PIX 0/b>0/b 60x3\n"},
    /* all are, but one says otherwise */
    {HOST "\"peer_to_peer\": false, ", A_HOST, ", \"peer_to_peer\": true", "",
     "NIC 0/a>0/a 50x1 0/n:tx 0/n:rx\n"
     "HOST 0/a>0/a 55x1 0/a:up 0/a:down 0/mem0\n"
     "SYS 0/a>0/b 40x1 0/a:up 0/b:down 0/a>b\n"
     "HOST 0/b>0/a 40x1 0/a:down 0/b:up 0/b>a 0/mem0 0/mem1\n"
     "HOST 0/b>0/b 55x1 0/b:up 0/b:down 0/mem1\n"},
    /* staged bytes that share nothing have copies */
    {HOST "\"peer_to_peer\": false, ", ", \"to_host\": [], \"from_host\": []", "", "",
     "NIC 0/a>0/a 50x1 0/n:tx 0/n:rx\n"
     "HOST 0/a>0/a 55x2\n"
     "HOST 0/a>0/b 40x1 0/b:down 0/a>b 0/mem1\n"
     "HOST 0/b>0/a 40x1 0/b:up 0/b>a 0/mem1\n"
     "HOST 0/b>0/b 55x1 0/b:up 0/b:down 0/mem1\n"},
    /* the NIC is refused: a lane out of it and into it again */
    {HOST "\"gpu_direct\": false, ", A_HOST, "", "",
     "PIX 0/a>0/a 60x2\n"
     "HOST 0/a>0/a 50x1 0/a:up 0/a:down 0/mem0 0/n:tx 0/n:rx\n"
     "SYS 0/a>0/b 40x1 0/a:up 0/b:down 0/a>b\n"
     "SYS 0/b>0/a 40x1 0/a:down 0/b:up 0/b>a\n"
     "PIX 0/b>0/b 60x3\n"},
    /* both ways everywhere */
    {HOST_ALSO, A_HOST, "", "",
     "PIX 0/a>0/a 60x2\n"
     "NIC 0/a>0/a 50x1 0/n:tx 0/n:rx\n"
     "HOST 0/a>0/a 50x1 0/a:up 0/a:down 0/mem0 0/n:tx 0/n:rx\n"
     "HOST 0/a>0/a 55x1 0/a:up 0/a:down 0/mem0\n"
     "SYS 0/a>0/b 40x1 0/a:up 0/b:down 0/a>b\n"
     "HOST 0/a>0/b 40x1 0/a:up 0/b:down 0/a>b 0/mem0 0/mem1\n"
     "SYS 0/b>0/a 40x1 0/a:down 0/b:up 0/b>a\n"
     "HOST 0/b>0/a 40x1 0/a:down 0/b:up 0/b>a 0/mem0 0/mem1\n"
     "PIX 0/b>0/b 60x3\n"
     "HOST 0/b>0/b 55x1 0/b:up 0/b:down 0/mem1\n"},
};

START_TEST(refused_paths_are_staged)
{
    vp_model_t *model =
        read_model("", cases[_i].machine, cases[_i].of_a, cases[_i].path, cases[_i].nic);
    char text[4096];

    list(model, text, sizeof(text));
    ck_assert_str_eq(text, cases[_i].instances);
    vp_model_destroy(model);
}
END_TEST

static void expect_line(const char *text, const char *line)
{
    ck_assert_msg(strstr(text, line) != NULL, "\"%s\" is not in:\n%s", line, text);
}

/* A switch without a NIC reaches other nodes by the NIC of its neighbour. */
START_TEST(a_nic_serves_other_switches)
{
    vp_error_t error;
    vp_model_t *model = NULL;
    char text[16384];

    ck_assert_int_eq(read_text(":nodes=2", "", "", "", "", &model, &error), VP_ERR_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "let one serve it"));
    model = read_model(":nodes=2", "", "", "", SERVES_B);
    list(model, text, sizeof(text));
    expect_line(text, "NIC 0/a>1/a 50x1 0/n:tx 1/n:rx\n");
    expect_line(text, "NIC 0/b>1/a 40x1 0/a:down 0/b:up 0/b>a 0/n:tx 1/n:rx\n");
    expect_line(text,
                "NIC 1/b>0/b 40x1 0/a:up 0/b:down 0/a>b 0/n:rx 1/a:down 1/b:up 1/b>a 1/n:tx\n");
    ck_assert_uint_eq(model->n_nics, 2);
    vp_model_destroy(model);
}
END_TEST

/* Down to the host, up again: a NIC behind the switch loads the uplink both ways. */
START_TEST(staged_nic_lanes_start_and_end_in_memory)
{
    vp_model_t *model =
        read_model(":nodes=2", HOST, A_HOST, "", ", \"gpu_direct\": false" SERVES_B);
    char text[16384];

    list(model, text, sizeof(text));
    expect_line(text, "HOST 0/a>1/a 50x1 0/a:up 0/a:down 0/mem0 0/n:tx 1/a:up 1/a:down 1/mem0 "
                      "1/n:rx\n");
    ck_assert_ptr_null(strstr(text, "NIC"));
    vp_model_destroy(model);
    /* A NIC at the host bridge does not: its own links to the host are others. */
    model = read_model(":nodes=2", HOST, A_HOST, "",
                       ", \"gpu_direct\": false, \"to_host\": [\"mem0\"], \"from_host\": [\"mem0\"]"
                       ", \"serves\": [{\"switch\": \"a\", \"out\": [\"a:up\"], \"in\": "
                       "[\"a:down\"]}, {\"switch\": \"b\"}]");
    list(model, text, sizeof(text));
    expect_line(text, "HOST 0/a>1/a 50x1 0/a:up 0/mem0 0/n:tx 1/a:down 1/mem0 1/n:rx\n");
    expect_line(text, "HOST 0/b>1/a 50x1 0/b:up 0/mem0 0/mem1 0/n:tx 1/a:down 1/mem0 1/n:rx\n");
    vp_model_destroy(model);
    model = read_model(":nodes=2", "", "", "",
                       ", \"serves\": [{\"switch\": \"a\", \"out\": [\"a:up\"], \"in\": "
                       "[\"a:down\"]}, {\"switch\": \"b\"}]");
    list(model, text, sizeof(text));
    expect_line(text, "NIC 0/a>1/a 50x1 0/a:up 0/n:tx 1/a:down 1/n:rx\n");
    vp_model_destroy(model);
}
END_TEST

static const struct {
    const char *options;
    const char *machine;
    const char *of_a;
    const char *path;
    const char *nic;
    vp_status_t status;
    const char *text;
} mistakes[] = {
    {"", "", A_HOST, ", \"peer_to_peer\": false", "", VP_ERR_BAD_INPUT, "the key \"host\" is"},
    {"", HOST, "", ", \"peer_to_peer\": false", "", VP_ERR_BAD_INPUT, "bytes of switch \"a\""},
    {"", HOST "\"gpu_direct\": false, ", "", "", "", VP_ERR_BAD_INPUT, "bytes of switch \"a\""},
    {"", "", ", \"to_host\": []", "", "", VP_ERR_BAD_INPUT, "$.switches[0]: has only one of"},
    {"", "", ", \"to_host\": [\"c\"], \"from_host\": []", "", "", VP_ERR_BAD_INPUT,
     "$.switches[0].to_host[0]: names the link \"c\""},
    {"", "\"host\": {\"rate\": \"stage\"}, ", "", "", "", VP_ERR_BAD_INPUT,
     "$.host: the key \"class\" is missing"},
    {"", "\"host\": {\"rate\": \"fast\", \"class\": \"h\"}, ", "", "", "", VP_ERR_BAD_INPUT,
     "$.host.rate: names the rate \"fast\""},
    {"", "\"host\": true, ", "", "", "", VP_ERR_BAD_INPUT, "$.host: is true or false"},
    {"", "\"peer_to_peer\": 0, ", "", "", "", VP_ERR_BAD_INPUT,
     "$.peer_to_peer: is an integer; write true or false"},
    {"", "", "", ", \"peer_to_peer\": \"no\"", "", VP_ERR_BAD_INPUT, "$.paths[2].peer_to_peer"},
    {"", "", "", "", ", \"gpu_direct\": null", VP_ERR_BAD_INPUT, "$.nics[0].gpu_direct: is null"},
    {"", "", "", "", ", \"serves\": {}", VP_ERR_BAD_INPUT, "$.nics[0].serves: is an object"},
    {"", "", "", "", ", \"serves\": [{\"switch\": \"c\"}]", VP_ERR_BAD_INPUT,
     "$.nics[0].serves[0].switch: names the switch \"c\""},
    {"", "", "", "", ", \"serves\": [{\"switch\": \"b\"}, {\"switch\": \"b\"}]", VP_ERR_BAD_INPUT,
     "$.nics[0].serves[1]: serves the switch \"b\" twice"},
    {"", "", "", "", ", \"serves\": [{\"switch\": \"b\", \"inn\": []}]", VP_ERR_BAD_INPUT,
     "unknown key \"inn\""},
    {"", "", "", "",
     ", \"serves\": [{\"switch\": \"b\", \"out\": [\"a:up\", \"a:down\", \"b:up\", \"b:down\", "
     "\"a>b\", \"b>a\"], \"in\": [\"a:up\", \"a:down\", \"b:up\", \"b:down\", \"mem0\"]}]",
     VP_ERR_LIMIT, "up to 6 links before and 5 behind"},
};

START_TEST(mistakes_are_located)
{
    vp_error_t error = {.text = ""};
    vp_model_t *model = NULL;
    vp_status_t status = read_text(mistakes[_i].options, mistakes[_i].machine, mistakes[_i].of_a,
                                   mistakes[_i].path, mistakes[_i].nic, &model, &error);

    ck_assert_msg(status == mistakes[_i].status, "case %d: %s: %s", _i, vp_status_text(status),
                  error.text);
    ck_assert_msg(strstr(error.text, mistakes[_i].text) != NULL, "case %d: \"%s\" is not in: %s",
                  _i, mistakes[_i].text, error.text);
    ck_assert_ptr_null(model);
}
END_TEST

static const struct {
    const char *argument;
    uint32_t n_nodes;
    uint32_t n_ranks;
    uint32_t n_groups;
    uint32_t n_nics;
    uint32_t n_resources;
    uint32_t n_instances;
    uint64_t alpha_ns;
    uint64_t first_rate;
} machines[] = {
    {"synthetic:nodes=1", 1, 8, 2, 2, 6, 8, 10000, UINT64_C(64000000000)},
    {"synthetic:nodes=32,switches=2,gpus=4,nics=1,pix=54,pxb=52,nic=47", 32, 256, 64, 64, 192,
     4096 + 128, 10000, UINT64_C(54000000000)},
    {"synthetic:nodes=3,nics=2,alpha_us=2.5,pix=0.5", 3, 24, 6, 12, 30, 72 + 12, 2500,
     UINT64_C(500000000)},
    {"synthetic:nodes=3,nics=2,pairs=any:transports=local", 3, 24, 6, 12, 30, 144 + 12, 10000,
     UINT64_C(64000000000)},
    {"synthetic:nodes=3,nics=2:nodes=1", 1, 8, 2, 4, 10, 8 + 4, 10000, UINT64_C(64000000000)},
    {"synthetic:switches=3,gpus=1,nics=0,links=uplinks,memory=200", 1, 3, 3, 0, 7, 9, 10000,
     UINT64_C(64000000000)},
    {"synthetic:links=uplinks,p2p=off,gdr=off,host=20", 1, 8, 2, 2, 8, 8, 10000,
     UINT64_C(20000000000)},
};

START_TEST(synthetic_machines)
{
    vp_error_t error = {.text = ""};
    vp_model_t *model = NULL;

    ck_assert_msg(vp_topology_resolve(machines[_i].argument, &model, &error) == VP_OK, "%s",
                  error.text);
    ck_assert_str_eq(model->name, "synthetic");
    ck_assert_uint_eq(model->n_nodes, machines[_i].n_nodes);
    ck_assert_uint_eq(model->n_ranks, machines[_i].n_ranks);
    ck_assert_uint_eq(model->n_groups, machines[_i].n_groups);
    ck_assert_uint_eq(model->n_nics, machines[_i].n_nics);
    ck_assert_uint_eq(model->n_resources, machines[_i].n_resources);
    ck_assert_uint_eq(model->n_instances, machines[_i].n_instances);
    ck_assert_uint_eq(model->alpha_ns, machines[_i].alpha_ns);
    ck_assert_uint_eq(model->instances[0].bytes_per_s, machines[_i].first_rate);
    vp_model_destroy(model);
}
END_TEST

/* The short form is the shipped machine, where that is made of equal switches. */
START_TEST(synthetic_is_as_shipped)
{
    vp_error_t error = {.text = ""};
    vp_model_t *shipped = NULL;
    vp_model_t *model = NULL;
    uint32_t i;

    ck_assert_int_eq(vp_topology_resolve("r5080-bf3:nodes=4", &shipped, &error), VP_OK);
    ck_assert_int_eq(vp_topology_resolve("synthetic:nodes=4", &model, &error), VP_OK);
    ck_assert_uint_eq(model->n_instances, shipped->n_instances);
    for (i = 0; i < model->n_instances; i++) {
        ck_assert_mem_eq(&model->instances[i], &shipped->instances[i], sizeof(vp_instance_t));
    }
    vp_model_destroy(shipped);
    vp_model_destroy(model);
}
END_TEST

static const struct {
    const char *argument;
    vp_status_t status;
    const char *text;
} bad_arguments[] = {
    {"synthetic:", VP_ERR_USAGE, "cannot read \"\"; write KEY=VALUE"},
    {"synthetic", VP_ERR_USAGE, "synthetic:KEY=VALUE,... makes one up"},
    {"synthetic:nodes", VP_ERR_USAGE, "cannot read \"nodes\""},
    {"synthetic:node=3", VP_ERR_USAGE, "with the keys nodes, switches, gpus, nics, pix"},
    {"synthetic:nodes=3,nodes=4", VP_ERR_USAGE, "cannot read \"nodes=4\""},
    {"synthetic:nodes=3,", VP_ERR_USAGE, "cannot read \"\""},
    {"synthetic:nodes=", VP_ERR_USAGE, "nodes=: give a number from 1 to 2048"},
    {"synthetic:nodes=0", VP_ERR_USAGE, "nodes=0: give a number from 1 to 2048"},
    {"synthetic:nodes=1.5", VP_ERR_USAGE, "nodes=1.5: give a number"},
    {"synthetic:nodes=99999999999999999999999", VP_ERR_USAGE, "give a number"},
    {"synthetic:switches=65", VP_ERR_USAGE, "give a number from 1 to 64"},
    {"synthetic:nics=16", VP_ERR_USAGE, "give a number from 0 to 15"},
    {"synthetic:pix=0", VP_ERR_USAGE, "pix=0: give GB/s, such as 52.5"},
    {"synthetic:pix=-5", VP_ERR_USAGE, "pix=-5: give GB/s"},
    {"synthetic:pix=.5", VP_ERR_USAGE, "pix=.5: give GB/s"},
    {"synthetic:pix=5.", VP_ERR_USAGE, "pix=5.: give GB/s"},
    {"synthetic:pix=1.0000000001", VP_ERR_USAGE, "give GB/s"},
    {"synthetic:pix=1000001", VP_ERR_USAGE, "give GB/s"},
    {"synthetic:alpha_us=1000001", VP_ERR_USAGE, "give microseconds"},
    {"synthetic:links=tree", VP_ERR_USAGE, "links=tree: give direct or uplinks"},
    {"synthetic:p2p=off", VP_ERR_USAGE, "add links=uplinks"},
    {"synthetic:nodes=2,nics=0", VP_ERR_BAD_INPUT, "synthetic topology: $: switch \"sw0\" has no"},
    {"synthetic:gpus=4096", VP_ERR_LIMIT, "8192 GPUs"},
    {"synthetic:rates=fast", VP_ERR_USAGE, "cannot read \"rates=fast\""},
    {"synthetic:nodes=1:rates=fast", VP_ERR_USAGE, "has no set \"fast\""},
    {"synthetic:nodes=1:", VP_ERR_USAGE, "cannot read \":\""},
    /* counted exactly: 512 nodes with 64 pairs of NICs each, 16 paths a node */
    {"synthetic:nodes=512,switches=4,gpus=2,nics=2,pairs=any", VP_ERR_LIMIT,
     "2048 rank groups and 16785408 path instances"},
    {"synthetic:nodes=2048,switches=1,gpus=1,nics=1,pairs=any,links=uplinks:nodes=2049",
     VP_ERR_USAGE, "from 1 to 2048"},
};

START_TEST(bad_synthetic_arguments)
{
    vp_error_t error = {.text = ""};
    vp_model_t *model = NULL;
    vp_status_t status = vp_topology_resolve(bad_arguments[_i].argument, &model, &error);

    ck_assert_msg(status == bad_arguments[_i].status, "%s: %s: %s", bad_arguments[_i].argument,
                  vp_status_text(status), error.text);
    ck_assert_msg(strstr(error.text, bad_arguments[_i].text) != NULL, "%s: \"%s\" is not in: %s",
                  bad_arguments[_i].argument, bad_arguments[_i].text, error.text);
    ck_assert_ptr_null(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("catalog host");
    TCase *host = tcase_create("host");
    TCase *synthetic = tcase_create("synthetic");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_add_loop_test(host, refused_paths_are_staged, 0, sizeof(cases) / sizeof(cases[0]));
    tcase_add_test(host, a_nic_serves_other_switches);
    tcase_add_test(host, staged_nic_lanes_start_and_end_in_memory);
    tcase_add_loop_test(host, mistakes_are_located, 0, sizeof(mistakes) / sizeof(mistakes[0]));
    tcase_add_loop_test(synthetic, synthetic_machines, 0, sizeof(machines) / sizeof(machines[0]));
    tcase_add_test(synthetic, synthetic_is_as_shipped);
    tcase_add_loop_test(synthetic, bad_synthetic_arguments, 0,
                        sizeof(bad_arguments) / sizeof(bad_arguments[0]));
    suite_add_tcase(suite, host);
    suite_add_tcase(suite, synthetic);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
