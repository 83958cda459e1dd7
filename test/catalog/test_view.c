/* What people read about machines: differences, advice, pictures. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "catalog/advice.h"
#include "catalog/build.h"
#include "catalog/diff.h"
#include "catalog/draw.h"
#include "catalog/restrict.h"
#include "catalog/topology.h"

static vp_model_t *resolve(const char *topology)
{
    vp_error_t error = {.text = ""};
    vp_model_t *model = NULL;

    ck_assert_msg(vp_topology_resolve(topology, &model, &error) == VP_OK, "%s: %s", topology,
                  error.text);
    return model;
}

static const struct {
    const char *a;
    const char *b;
    const char *facts[3]; /* the first ones; NULL: none */
} differences[] = {
    {"r5080-bf3:nodes=2", "r5080-bf3:nodes=2", {NULL}},
    {"r5080-bf3", "l20-cx7", {"topology: \"r5080-bf3\" and \"l20-cx7\""}},
    {"r5080-bf3",
     "r5080-bf3:nodes=2",
     {"nodes: 1 and 2", "ranks: 8 and 16", "rank groups: 2 and 4"}},
    {"r5080-bf3",
     "r5080-bf3:rates=measured",
     {"rate set: \"nominal\" and \"measured\"", "GPU link: bytes/s: 64000000000 and 54000000000",
      "GPU link: origin: \"nominal: PCIe 5.0 x16\""}},
    {"r5080-bf3",
     "r5080-bf3:transports=local",
     {"transport set: \"hardware\" and \"local\"", "path class 0: tls: \"cuda_ipc",
      "path class 1: tls: \"rc,cuda_copy\" and \"tcp\""}},
    {"synthetic:nic=40",
     "synthetic:nic=41",
     {"node0/nic0:tx: bytes/s: 40000000000 and 41000000000",
      "node0/nic0:rx: bytes/s: 40000000000 and 41000000000",
      "node0/nic1:tx: bytes/s: 40000000000 and 41000000000"}},
    {"synthetic:gpus=2",
     "synthetic:gpus=3",
     {"ranks: 4 and 6", "node0/sw0: ranks: 2 and 3", "node0/sw1: ranks: 2 and 3"}},
    {"synthetic:alpha_us=1", "synthetic:alpha_us=1.5", {"alpha_ns: 1000 and 1500"}},
    {"synthetic:pix=50,gpu=60",
     "synthetic:pix=51,gpu=60",
     {"path instance 0: PIX node0/sw0 -> node0/sw0 at 50000000000 bytes/s over 0 resources and "
      "PIX node0/sw0 -> node0/sw0 at 51000000000"}},
};

START_TEST(differences_are_named)
{
    vp_model_t *a = resolve(differences[_i].a);
    vp_model_t *b = resolve(differences[_i].b);
    bool is_equal = differences[_i].facts[0] == NULL;
    vp_diff_t diff;
    uint32_t i;

    ck_assert_int_eq(vp_model_diff(a, b, &diff), is_equal);
    ck_assert_int_eq(diff.n_facts == 0, is_equal);
    for (i = 0; i < 3 && differences[_i].facts[i] != NULL; i++) {
        ck_assert_msg(i < diff.n_facts && strncmp(diff.facts[i], differences[_i].facts[i],
                                                  strlen(differences[_i].facts[i])) == 0,
                      "fact %u is \"%s\", expected \"%s\"", i, diff.facts[i],
                      differences[_i].facts[i]);
    }
    ck_assert(diff.n_more == 0 || diff.n_facts == VP_DIFF_MAX_FACTS);
    vp_model_destroy(a);
    vp_model_destroy(b);
}
END_TEST

START_TEST(differences_of_trees_are_named)
{
    vp_error_t error;
    vp_diff_t diff;
    vp_model_t *model = resolve("fig1-6");
    vp_catalog_t *exhaustive = NULL;
    vp_catalog_t *other = NULL;

    ck_assert_int_eq(vp_catalog_build(&model, NULL, &exhaustive, &error), VP_OK);
    model = resolve("fig1-6");
    ck_assert_int_eq(vp_catalog_generate(&model, &other, &error), VP_OK);
    ck_assert(!vp_catalog_diff(exhaustive, other, &diff));
    ck_assert_str_eq(diff.facts[0], "mode: \"exhaustive\" and \"generated\"");
    ck_assert_str_eq(diff.facts[1], "shapes: 3 and 0");
    vp_catalog_destroy(other);
    model = resolve("fig1-6");
    ck_assert_int_eq(vp_catalog_build(&model, NULL, &other, &error), VP_OK);
    other->build_steps++;
    ck_assert(vp_catalog_diff(exhaustive, other, &diff));
    other->members[2].count++;
    ck_assert(!vp_catalog_diff(exhaustive, other, &diff));
    ck_assert_ptr_nonnull(strstr(diff.facts[0], "family member 2: instance "));
    vp_catalog_destroy(other);
    vp_catalog_destroy(exhaustive);
}
END_TEST

typedef struct heard {
    uint32_t n;
    char text[4096];
} heard_t;

static void hear(void *context, const char *text)
{
    heard_t *heard = context;
    size_t used = strlen(heard->text);

    heard->n++;
    (void)snprintf(heard->text + used, sizeof(heard->text) - used, "%s\n", text);
}

static void advise(const vp_model_t *model, uint32_t n_expected, const char *text)
{
    vp_error_t error;
    heard_t heard = {0};
    uint32_t n_told = 0;

    ck_assert_int_eq(vp_model_advise(model, hear, &heard, &n_told, &error), VP_OK);
    ck_assert_uint_eq(n_told, heard.n);
    ck_assert_msg(heard.n == n_expected, "%u sentences: %s", heard.n, heard.text);
    ck_assert_msg(strstr(heard.text, text) != NULL, "\"%s\" is not in: %s", text, heard.text);
}

START_TEST(oddities_are_told)
{
    static const uint32_t ranks[] = {0, 1, 2, 3, 4, 5};
    vp_model_t *model = resolve("r5080-bf3");
    vp_model_t *part = NULL;
    vp_error_t error;

    advise(model, 0, "");
    ck_assert_int_eq(vp_model_restrict(model, ranks, 6, &part, &error), VP_OK);
    advise(part, 1, "node0/sw0 has 4 ranks, node0/sw1 has 2");
    vp_model_destroy(part);
    vp_model_destroy(model);
    model = resolve("r5080-cx8");
    advise(model, 1, "the rate of node0/socket0>socket1 is an assumption (2 of 26");
    vp_model_destroy(model);
    model = resolve("synthetic:switches=3,nics=0");
    model->n_instances = 4; /* 0 -> 0, 0 -> 1, 0 -> 2, 1 -> 0 */
    ck_assert_int_eq(vp_model_finish(model, &error), VP_OK);
    advise(model, 3, "the ranks of node0/sw1 have no path to each other (2 such groups)");
    advise(model, 3, "no path leads from node0/sw1 to node0/sw2 (3 such pairs");
    advise(model, 3, "no path uses node0/sw1>sw2 (3 of 6");
    vp_model_destroy(model);
}
END_TEST

START_TEST(a_group_without_nic_is_told)
{
    vp_error_t error;
    vp_model_t *model = resolve("r5080-bf3");
    uint32_t i;
    uint32_t n = 0;

    for (i = 0; i < model->n_instances; i++) {
        if (model->instances[i].kind != VP_PATH_NIC || model->instances[i].from_group == 0) {
            model->instances[n++] = model->instances[i];
        }
    }
    model->n_instances = n;
    ck_assert_int_eq(vp_model_finish(model, &error), VP_OK);
    advise(model, 2, "node0/sw1 has no way through a NIC (1 of 2 groups)");
    vp_model_destroy(model);
}
END_TEST

static char *draw(const vp_model_t *model)
{
    vp_writer_t writer = VP_WRITER_INIT;

    vp_model_draw(&writer, model);
    vp_write_u8(&writer, 0);
    ck_assert(!writer.failed);
    return (char *)writer.data;
}

static size_t count(const char *text, const char *piece)
{
    size_t n = 0;

    for (text = strstr(text, piece); text != NULL; text = strstr(text + 1, piece)) {
        n++;
    }
    return n;
}

static const struct {
    const char *topology;
    size_t n_nodes;
    size_t n_switches;
    size_t n_ranks;
    size_t n_nics;
    size_t n_links; /* between neighbours */
    size_t n_uplinks;
    const char *texts[3];
} pictures[] = {
    {"r5080-bf3", 1, 2, 8, 2, 2, 0, {">sw1</text>", "64.0 &gt;", "nominal: 400 Gb/s"}},
    {"r5090-bf3:nodes=4", 2, 8, 32, 8, 0, 8, {"64 ranks", "the first two drawn", "x 16"}},
    {"synthetic:switches=16,links=uplinks,memory=200",
     1,
     16,
     64,
     16,
     0,
     16,
     {"memory 200.0", ">63</text>", "host-memory"}},
    {"synthetic:switches=2,gpus=20,nics=9",
     1,
     2,
     32,
     16,
     2,
     0,
     {"and 4 more, to 19", "and 1 more", ""}},
};

START_TEST(pictures_show_the_tree)
{
    vp_model_t *model = resolve(pictures[_i].topology);
    char *svg = draw(model);
    size_t i;

    ck_assert_int_eq(strncmp(svg, "<svg xmlns=", 11), 0);
    ck_assert_str_eq(svg + strlen(svg) - 7, "</svg>\n");
    ck_assert_uint_eq(count(svg, "<rect class=\"node\""), pictures[_i].n_nodes);
    ck_assert_uint_eq(count(svg, "<rect class=\"switch\""), pictures[_i].n_switches);
    ck_assert_uint_eq(count(svg, "<rect class=\"rank\""), pictures[_i].n_ranks);
    ck_assert_uint_eq(count(svg, "<rect class=\"nic\""), pictures[_i].n_nics);
    ck_assert_uint_eq(count(svg, "<line class=\"link\""), pictures[_i].n_links);
    ck_assert_uint_eq(count(svg, "<line class=\"uplink\""), pictures[_i].n_uplinks);
    ck_assert_uint_eq(count(svg, "<text"), count(svg, "</text>"));
    for (i = 0; i < 3; i++) {
        ck_assert_msg(strstr(svg, pictures[_i].texts[i]) != NULL, "\"%s\" is not in the picture",
                      pictures[_i].texts[i]);
    }
    free(svg);
    vp_model_destroy(model);
}
END_TEST

START_TEST(names_are_escaped)
{
    vp_model_t *model = resolve("r5080-bf3");
    char *svg;

    free(model->groups[0].name);
    model->groups[0].name = vp_string_copy("node0/<&\x01\">");
    free(model->groups[1].name);
    model->groups[1].name = vp_string_copy("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3"
                                           "\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4");
    svg = draw(model);
    ck_assert_ptr_nonnull(strstr(svg, "&lt;&amp;?\"&gt;</text>"));
    ck_assert_ptr_nonnull(strstr(svg, "\xc3\xa4..</text>")); /* cut between two letters */
    free(svg);
    vp_model_destroy(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("catalog view");
    TCase *cases = tcase_create("view");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_add_loop_test(cases, differences_are_named, 0,
                        sizeof(differences) / sizeof(differences[0]));
    tcase_add_test(cases, differences_of_trees_are_named);
    tcase_add_test(cases, oddities_are_told);
    tcase_add_test(cases, a_group_without_nic_is_told);
    tcase_add_loop_test(cases, pictures_show_the_tree, 0, sizeof(pictures) / sizeof(pictures[0]));
    tcase_add_test(cases, names_are_escaped);
    suite_add_tcase(suite, cases);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
