/*
 * Every sample against its expectation in expected/, which was written by
 * hand from what is known of the machine.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/import/model_report.h"
#include "test/import/samples.h"

/* Both as text, for messages. */
static void check_equal(const char *file, const char *what, const json_t *found,
                        const json_t *expected)
{
    char *found_text = json_dumps(found, JSON_ENCODE_ANY);
    char *expected_text = json_dumps(expected, JSON_ENCODE_ANY);

    ck_assert_msg(json_equal(found, expected), "%s: %s: found %s, expected %s", file, what,
                  found_text == NULL ? "nothing" : found_text, expected_text);
    free(found_text);
    free(expected_text);
}

/* GPU lists by group, from "gpus". */
static json_t *groups_of(const json_t *report)
{
    json_t *groups = json_array();
    size_t i;
    json_t *gpu;

    json_array_foreach(json_object_get(report, "gpus"), i, gpu)
    {
        size_t group = (size_t)json_integer_value(json_object_get(gpu, "group"));

        ck_assert_int_eq(json_integer_value(json_object_get(gpu, "index")), (json_int_t)i);
        while (json_array_size(groups) <= group) {
            ck_assert_int_eq(json_array_append_new(groups, json_array()), 0);
        }
        ck_assert_int_eq(
            json_array_append_new(json_array_get(groups, group), json_integer((json_int_t)i)), 0);
    }
    return groups;
}

/* Of each NIC its name and its kinds to all GPUs. */
static json_t *nics_of(const json_t *report)
{
    json_t *nics = json_array();
    size_t i;
    json_t *nic;

    json_array_foreach(json_object_get(report, "nic_distances"), i, nic)
    {
        ck_assert_int_eq(json_array_append_new(
                             nics, json_pack("{s:O, s:O}", "name", json_object_get(nic, "name"),
                                             "kinds", json_object_get(nic, "kinds"))),
                         0);
    }
    return nics;
}

/* Every expected list is the list of GPUs below some switch, and above its groups. */
static void check_second_level(const char *file, const json_t *report, const json_t *expected)
{
    size_t i;
    size_t k;
    json_t *gpus;
    json_t *it;

    json_array_foreach(expected, i, gpus)
    {
        bool is_found = false;

        json_array_foreach(json_object_get(report, "switch_tree"), k, it)
        {
            is_found = is_found || json_equal(json_object_get(it, "gpus"), gpus);
        }
        ck_assert_msg(is_found, "%s: no switch above the GPUs of second_level %zu", file, i);
    }
}

static void check_ignored(const char *file, const json_t *report, const json_t *expected)
{
    size_t i;
    size_t k;
    json_t *what;
    json_t *note;

    json_array_foreach(expected, i, what)
    {
        bool is_found = false;

        json_array_foreach(json_object_get(report, "ignored"), k, note)
        {
            is_found = is_found || json_equal(json_object_get(note, "what"), what);
        }
        ck_assert_msg(is_found, "%s: \"%s\" is not among what was ignored", file,
                      json_string_value(what));
    }
}

/* The topology file has a switch per group with as many GPUs. */
static void check_native(const char *file, const json_t *report, const json_t *groups)
{
    const json_t *switches = json_object_get(json_object_get(report, "native"), "switches");
    size_t i;
    json_t *group;

    ck_assert_msg(json_array_size(switches) == json_array_size(groups),
                  "%s: %zu switches, %zu groups", file, json_array_size(switches),
                  json_array_size(groups));
    json_array_foreach(groups, i, group)
    {
        const json_t *gpus = json_object_get(json_array_get(switches, i), "gpus");

        ck_assert_int_eq(json_is_array(gpus) ? (json_int_t)json_array_size(gpus)
                                             : json_integer_value(gpus),
                         (json_int_t)json_array_size(group));
    }
}

/* Two such nodes are a machine if any GPU has a NIC: a far one serves groups that have none. */
static void check_two_nodes(const char *file, const json_t *report)
{
    json_t *native = json_deep_copy(json_object_get(report, "native"));
    size_t n_nics = json_array_size(json_object_get(native, "nics"));
    vp_model_t *model = NULL;
    vp_error_t error = {0};
    vp_status_t status;
    char *text;

    ck_assert_int_eq(json_object_set_new(native, "nodes", json_integer(2)), 0);
    text = json_dumps(native, 0);
    status = vp_import_model(file, text, strlen(text), &model, &error);
    ck_assert_msg(status == (n_nics > 0 ? VP_OK : VP_ERR_BAD_INPUT), "%s: two nodes: %s", file,
                  error.text);
    if (status == VP_OK) {
        size_t n_pairs = (size_t)model->n_groups * model->n_groups;
        size_t pair;

        for (pair = 0; pair < n_pairs; pair++) {
            ck_assert_msg(model->pair_begin[pair] < model->pair_begin[pair + 1],
                          "%s: two nodes: no path for group pair %zu", file, pair);
        }
    }
    vp_model_destroy(model);
    free(text);
    json_decref(native);
}

static void check_report(const char *file, const json_t *report, const json_t *expected)
{
    json_t *groups = groups_of(report);
    json_t *nics = nics_of(report);

    check_equal(file, "groups", groups, json_object_get(expected, "groups"));
    check_equal(file, "pairs", json_object_get(report, "pairs"),
                json_object_get(expected, "pairs"));
    check_equal(file, "nics", nics, json_object_get(expected, "nics"));
    check_equal(file, "nearest_nics", json_object_get(report, "nearest_nics"),
                json_object_get(expected, "nearest_nics"));
    check_second_level(file, report, json_object_get(expected, "second_level"));
    check_ignored(file, report, json_object_get(expected, "ignored"));
    check_native(file, report, groups);
    check_two_nodes(file, report);
    json_decref(groups);
    json_decref(nics);
}

static void check_sample(const json_t *expected)
{
    const char *file = json_string_value(json_object_get(expected, "file"));
    const char *refusal = json_string_value(json_object_get(expected, "error"));
    vp_error_t error = {0};
    size_t n_bytes;
    char *text = sample_read(file, &n_bytes);
    json_t *report = sample_import(file, text, n_bytes, &error);

    free(text);
    if (report == NULL && json_object_get(expected, "xml_version") != NULL) {
        /* Read by later releases; refused with the version of the file and of the library. */
        sample_check_error(file, &error);
        refusal = json_string_value(json_object_get(expected, "xml_version"));
    }
    if (refusal != NULL) {
        ck_assert_msg(report == NULL, "%s: imported", file);
        sample_check_error(file, &error);
        ck_assert_msg(strstr(error.text, refusal) != NULL, "%s does not say \"%s\"", error.text,
                      refusal);
        return;
    }
    ck_assert_msg(report != NULL, "%s", error.text);
    check_report(file, report, expected);
    json_decref(report);
}

START_TEST(every_sample)
{
    DIR *directory = opendir(VP_TEST_IMPORT_DIR "/expected");
    const struct dirent *entry;
    unsigned n_samples = 0;

    ck_assert_ptr_nonnull(directory);
    while ((entry = readdir(directory)) != NULL) {
        char path[1024];
        json_t *expected;
        json_error_t place;

        if (entry->d_name[0] == '.') {
            continue;
        }
        (void)snprintf(path, sizeof(path), VP_TEST_IMPORT_DIR "/expected/%s", entry->d_name);
        expected = json_load_file(path, JSON_REJECT_DUPLICATES, &place);
        ck_assert_msg(expected != NULL, "%s: line %d: %s", path, place.line, place.text);
        check_sample(expected);
        json_decref(expected);
        n_samples++;
    }
    (void)closedir(directory);
    ck_assert_uint_eq(n_samples, 37);
}
END_TEST

static json_t *import_sample(const char *name)
{
    vp_error_t error = {0};
    size_t n_bytes;
    char *text = sample_read(name, &n_bytes);
    json_t *report = sample_import(name, text, n_bytes, &error);

    ck_assert_msg(report != NULL, "%s", error.text);
    free(text);
    return report;
}

/* A rate of the topology file by its name. */
static json_int_t rate_of(const json_t *report, const char *name)
{
    const json_t *rates = json_object_get(json_object_get(report, "native"), "rates");
    const json_t *rate = json_object_get(json_object_get(rates, "nominal"), name);

    ck_assert_msg(rate != NULL, "no rate %s", name);
    ck_assert_ptr_nonnull(json_string_value(json_object_get(rate, "origin")));
    return json_integer_value(json_object_get(rate, "bytes_per_s"));
}

static void check_text(const json_t *list, size_t index, const char *key, const char *expected)
{
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(list, index), key)),
                     expected);
}

/* Eight GPUs, two switches of one root: 8 GT/s x16 uplinks, one 100 Gb/s NIC. */
START_TEST(native_of_two_switches)
{
    json_t *report = import_sample("n14-mi50x8-2plx-1nic.xml");
    const json_t *native = json_object_get(report, "native");
    const json_t *links = json_object_get(native, "links");
    const json_t *paths = json_object_get(native, "paths");
    const json_t *nics = json_object_get(native, "nics");

    ck_assert_uint_eq(json_array_size(links), 4);
    check_text(links, 0, "name", "sw0:up");
    check_text(links, 0, "kind", "uplink");
    check_text(links, 3, "name", "sw1:down");
    check_text(links, 3, "kind", "downlink");
    ck_assert_uint_eq(json_array_size(paths), 4);
    check_text(paths, 1, "kind", "PHB");
    check_text(json_object_get(json_array_get(paths, 1), "links") == NULL ? NULL : paths, 1, "from",
               "sw0");
    ck_assert_str_eq(
        json_string_value(json_array_get(json_object_get(json_array_get(paths, 1), "links"), 0)),
        "sw0:up");
    ck_assert_str_eq(
        json_string_value(json_array_get(json_object_get(json_array_get(paths, 1), "links"), 1)),
        "sw1:down");
    ck_assert_uint_eq(json_array_size(nics), 1);
    check_text(nics, 0, "switch", "sw0");
    /* 8 GT/s x16: 16e9 B/s * 128/130 * 256/280. The GPUs' own links: 16 GT/s behind 8 GT/s. */
    ck_assert_int_eq(rate_of(report, "uplink"), 14403516482);
    ck_assert_int_eq(rate_of(report, "nic"), 12500000000);
    ck_assert_int_eq(rate_of(report, "gpu"), 14403516482);
    json_decref(report);
}
END_TEST

static void check_names(const json_t *list, const char *const *names)
{
    size_t i;

    for (i = 0; names[i] != NULL; i++) {
        ck_assert_str_eq(json_string_value(json_array_get(list, i)), names[i]);
    }
    ck_assert_uint_eq(json_array_size(list), i);
}

/* The only NIC is behind the second switch, on the other socket: it serves the first one from afar.
 */
START_TEST(native_of_a_far_nic)
{
    static const char *const out[] = {"sw0:up", "socket0>socket1", "sw1:down", NULL};
    static const char *const in[] = {"sw1:up", "socket1>socket0", "sw0:down", NULL};
    json_t *report = import_sample("n01-3090x8-2sw-1nic.xml");
    const json_t *nics = json_object_get(json_object_get(report, "native"), "nics");
    const json_t *serves = json_object_get(json_array_get(nics, 0), "serves");

    ck_assert_uint_eq(json_array_size(nics), 1);
    check_text(nics, 0, "switch", "sw1");
    ck_assert_uint_eq(json_array_size(serves), 1);
    check_text(serves, 0, "switch", "sw0");
    check_names(json_object_get(json_array_get(serves, 0), "out"), out);
    check_names(json_object_get(json_array_get(serves, 0), "in"), in);
    json_decref(report);
}
END_TEST

/* Two ports behind one x4 link of 8 GT/s are one NIC that is no faster than the link. */
START_TEST(native_of_a_card_with_two_ports)
{
    json_t *report = import_sample("n16-mi50x8-rootports.xml");
    const json_t *native = json_object_get(report, "native");
    const json_t *hardware = json_object_get(json_object_get(native, "transports"), "hardware");

    ck_assert_uint_eq(json_array_size(json_object_get(native, "nics")), 1);
    ck_assert_int_eq(rate_of(report, "nic"), 3600879120);
    ck_assert_str_eq(
        json_string_value(json_object_get(json_object_get(hardware, "nic-mlx5_0"), "devices")),
        "mlx5_0:1,mlx5_1:1");
    /* Two sockets: a link in each direction, and nothing else that paths share. */
    ck_assert_uint_eq(json_array_size(json_object_get(native, "links")), 2);
    check_text(json_object_get(native, "links"), 0, "kind", "socket");
    check_text(json_object_get(native, "links"), 0, "name", "socket0>socket1");
    json_decref(report);
}
END_TEST

/* Which end of a link counts when one of them sleeps, and speeds in the wrong unit. */
START_TEST(native_rates)
{
    json_t *report = import_sample("h06-l4x8-g6.xml");

    /* The GPU reads 2.000 GB/s, its root port 15.754. */
    ck_assert_int_eq(rate_of(report, "gpu"), 14403657142);
    json_decref(report);
    report = import_sample("h03-mi60x4-corona.xml");
    /* The bridge on the card reads 1.000 GB/s, the GPU behind it 31.508. */
    ck_assert_int_eq(rate_of(report, "gpu"), 28807314285);
    json_decref(report);
    report = import_sample("n19-mi300ax4-cxi.xml");
    ck_assert_int_eq(rate_of(report, "nic"), 25000000000);
    json_decref(report);
}
END_TEST

/* Nested switches: leaf links are between switches, the upper one's go to the host bridge. */
START_TEST(native_of_nested_switches)
{
    json_t *report = import_sample("h13-dgx2-as-v2.xml");
    const json_t *paths = json_object_get(json_object_get(report, "native"), "paths");
    size_t i;
    json_t *path;
    size_t n_by_links[8] = {0};

    json_array_foreach(paths, i, path)
    {
        size_t n_links = json_array_size(json_object_get(path, "links"));
        const char *kind = json_string_value(json_object_get(path, "kind"));
        size_t expected = strcmp(kind, "PIX") == 0    ? 0
                          : strcmp(kind, "PXB") == 0  ? 2
                          : strcmp(kind, "NODE") == 0 ? 4
                                                      : 5;

        ck_assert_uint_eq(n_links, expected);
        n_by_links[n_links]++;
    }
    ck_assert_uint_eq(n_by_links[0], 8);
    ck_assert_uint_eq(n_by_links[2], 8);
    ck_assert_uint_eq(n_by_links[4], 16);
    ck_assert_uint_eq(n_by_links[5], 32);
    json_decref(report);
}
END_TEST

/* A topology file is imported as it is, with the classes of its paths. */
START_TEST(native_file_again)
{
    json_t *report = import_sample("t21-x8-pix-pxb-2root.txt");
    char *text = json_dumps(json_object_get(report, "native"), 0);
    vp_error_t error = {0};
    json_t *again = sample_import("again.json", text, strlen(text), &error);

    ck_assert_msg(again != NULL, "%s", error.text);
    check_equal("again.json", "pairs", json_object_get(again, "pairs"),
                json_object_get(report, "pairs"));
    json_decref(again);
    json_decref(report);
    free(text);
}
END_TEST

/* What is no device's address is not handed on: the topology file would be refused. */
START_TEST(native_of_an_address_of_zeros)
{
    static const char *const addresses[] = {"0000:0f:00.0", "0000:9a:00.0"}; /* a GPU, the NIC */
    ;
    vp_error_t error = {0};
    size_t n_bytes;
    char *text = sample_read("n01-3090x8-2sw-1nic.xml", &n_bytes);
    char *address = strstr(text, addresses[_i]);
    json_t *report, *again;

    ck_assert_ptr_nonnull(address);
    memcpy(address, "0000:00:00.0", strlen("0000:00:00.0"));
    report = sample_import("zeros.xml", text, n_bytes, &error);
    ck_assert_msg(report != NULL, "%s", error.text);
    free(text);
    text = json_dumps(json_object_get(report, "native"), 0);
    ck_assert_ptr_null(strstr(text, "\"pci\": \"0000:00:00.0\""));
    again = sample_import("again.json", text, strlen(text), &error);
    ck_assert_msg(again != NULL, "%s", error.text);
    json_decref(again);
    json_decref(report);
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("import golden");
    TCase *tests = tcase_create("samples");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_add_test(tests, every_sample);
    tcase_add_test(tests, native_of_two_switches);
    tcase_add_test(tests, native_of_a_far_nic);
    tcase_add_test(tests, native_of_a_card_with_two_ports);
    tcase_add_test(tests, native_rates);
    tcase_add_test(tests, native_of_nested_switches);
    tcase_add_test(tests, native_file_again);
    tcase_add_loop_test(tests, native_of_an_address_of_zeros, 0, 2);
    tcase_set_timeout(tests, 30);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
