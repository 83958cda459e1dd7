/*
 * Broken copies of the samples: each ends in one sentence that names the file
 * and what is wrong there, or, where the damage does not matter, in an import.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "test/import/samples.h"

#define N01 "n01-3090x8-2sw-1nic.xml"
#define H02 "h02-p100x2-pascal.xml"
#define T22 "t22-4090x8-bondnic.txt"

/* One fault in a sample, and what the message must say of it. */
static const struct {
    const char *file;
    const char *from;
    const char *to;
    const char *says;
} faults[] = {
    {N01, "busid=\"0000:10:00.0\"", "busid=\"0000:0f:00.0\"", "0000:0f:00.0 is there twice"},
    {N01, "<pci busid=\"0000:0f:00.0\"", "<pci busid=\"0000:0c:00.0\"",
     "0000:0c:00.0 is there twice"},
    {N01, "busid=\"0000:10:00.0\"", "busid=\"banana\"", "line 7: <pci>: busid=\"banana\""},
    {N01, "busid=\"0000:10:00.0\"", "busid=\"0000:10:40.0\"", "line 7: <pci>: busid"},
    {N01, "busid=\"0000:10:00.0\"", "", "line 7: <pci>: busid=\"\""},
    {N01, "class=\"0x030000\"", "class=\"0x03zz00\"", "line 4: <pci>: class"},
    {N01, "link_width=\"16\"", "link_width=\"-16\"", "line 3: <pci>: link_width=\"-16\""},
    {N01, "link_width=\"16\"", "link_width=\"7\"", "line 3: <pci>: link_width=\"7\""},
    {N01, "16.0 GT/s PCIe", "-16.0 GT/s PCIe", "line 3: <pci>: link_speed=\"-16.0 GT/s PCIe\""},
    {N01, "16.0 GT/s PCIe", "1e9 GT/s PCIe", "line 3: <pci>: link_speed"},
    {N01, "speed=\"56000\"", "speed=\"-56000\"", "<net>: speed=\"-56000\""},
    {N01, "speed=\"56000\"", "speed=\"99999999999999999999\"", "<net>: speed"},
    {N01, "name=\"mlx5_0\"", "", "<net>: has no name"},
    {N01, "dev=\"1\"", "dev=\"0\"", "two GPUs have the number 0"},
    {N01, "dev=\"1\"", "dev=\"1000000000\"", "line 8: <gpu>: dev=\"1000000000\""},
    {N01, "numaid=\"1\"", "numaid=\"one\"", "<cpu>: numaid=\"one\""},
    {N01, "<cpu numaid=\"0\"", "<cpu host_hash=\"0x1\" numaid=\"0\"", NULL},
    {N01, "</pci>", "", "not well-formed"},
    {N01, "<system version=\"1\">", "<system version=\"1>", "line "},
    {N01, "<system version=\"1\">", "<machine>", "line 1"},
    {N01, "<system version=\"1\">",
     "<!DOCTYPE system [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><system version=\"&b;\">",
     "declares entities"},
    {N01, "<system version=\"1\">",
     "<!DOCTYPE system [<!ENTITY f SYSTEM \"file:///etc/passwd\">]><system version=\"1\">&f;",
     "declares entities"},
    {H02, "<topology version=\"2.0\">", "<topology version=\"3.1\">", "version 3.1"},
    {H02, "<topology version=\"2.0\">", "<topology version=\"two\">", "version=\"two\""},
    {H02, "<topology version=\"2.0\">", "<topology version=\"2.0\"/><topology>", "not well-formed"},
    {H02, "bridge_type=\"0-1\"", "bridge_type=\"7-7\"", "<object>: bridge_type=\"7-7\""},
    {H02, "bridge_pci=\"0000:[00-0c]\"", "bridge_pci=\"0000:[0c-00]\"", "<object>: bridge_pci"},
    {H02, "pci_busid=\"0000:04:00.0\"", "pci_busid=\"0000:07:00.0\"",
     "0000:07:00.0 is there twice"},
    {H02, "pci_busid=\"0000:04:00.0\"", "pci_busid=\"4\"", "<object>: pci_busid=\"4\""},
    {H02, "pci_busid=\"0000:04:00.0\"", "", "<object>: pci_busid=\"\""},
    {H02, "pci_type=\"0302 [10de:15f8]", "pci_type=\"GPU [10de:15f8]", "<object>: pci_type"},
    {H02, "pci_link_speed=\"15.753846\"", "pci_link_speed=\"-15.75\"",
     "<object>: pci_link_speed=\"-15.75\""},
    {H02, "pci_link_speed=\"15.753846\"", "pci_link_speed=\"1000000000\"",
     "<object>: pci_link_speed"},
    {H02, "type=\"Package\"", "type=\"Parcel\"", "<object>: type=\"Parcel\""},
    {H02, "type=\"Package\"", "", "<object>: has no type"},
    {H02, "osdev_type=\"3\"", "osdev_type=\"three\"", "<object>: osdev_type=\"three\""},
    {H02, "nodeset=\"0x00000003\"", "nodeset=\"all\"", "<object>: nodeset=\"all\""},
    {T22, "PIX\tPIX\tPIX\tSYS", "PIX\tPIX\tSYS", "line 2: the row is torn: 8 of 9 cells"},
    {T22, "PIX\tPIX\tPIX\tSYS", "PIX\tPIX\tNODE\tSYS", "line 2: GPU0 to GPU3 is NODE"},
    {T22, " X \tPIX\tPIX\tPIX\tSYS", "PIX\t X \tPIX\tPIX\tSYS", "line 2: GPU0 to itself"},
    {T22, "PIX\tPIX\tPIX\tSYS", "PIX\tPIX\tPIXIE\tSYS", "line 2: not X, PIX"},
    {T22, "\tSYS\tPIX\t0-35", "\tSYS\tPIX\tPIX\t0-35", "line 2: more cells"},
    {T22, "\nGPU1\t", "\nGPU9\t", "line 3: a row of an unknown device \"GPU9\""},
    {T22, "\nGPU1\t", "\nGPU0\t", "line 3: a second row of \"GPU0\""},
    {T22, "GPU7\tNIC0", "GPU1000000000\tNIC0", "line 1: no node has a GPU \"GPU1000000000\""},
    {T22, "GPU7\tNIC0", "GPU6\tNIC0", "line 1: two columns are named \"GPU6\""},
    {T22, "  NIC0: mlx5", "  NIC7: mlx5", "the NIC legend names an unknown device \"NIC7\""},
};

START_TEST(one_fault)
{
    const char *file = faults[_i].file;
    char *text = sample_edit(file, faults[_i].from, faults[_i].to);
    vp_error_t error = {0};
    json_t *report = sample_import(file, text, strlen(text), &error);

    free(text);
    if (faults[_i].says == NULL) {
        ck_assert_msg(report != NULL, "%s", error.text);
        json_decref(report);
        return;
    }
    ck_assert_msg(report == NULL, "fault %d (%s) was imported", _i, faults[_i].to);
    sample_check_error(file, &error);
    ck_assert_msg(strstr(error.text, faults[_i].says) != NULL, "\"%s\" does not say \"%s\"",
                  error.text, faults[_i].says);
}
END_TEST

/* A table in which two devices are near to a third, but far from each other. */
START_TEST(no_tree)
{
    static const char text[] = "\tGPU0\tGPU1\tGPU2\tCPU Affinity\n"
                               "GPU0\t X \tPIX\tSYS\t0\n"
                               "GPU1\tPIX\t X \tPIX\t0\n"
                               "GPU2\tSYS\tPIX\t X \t0\n";
    vp_error_t error = {0};

    ck_assert_ptr_null(sample_import("t.txt", text, strlen(text), &error));
    sample_check_error("t.txt", &error);
    ck_assert_msg(strstr(error.text, "line 2: GPU0 to GPU2 is SYS, but GPU1 is nearer") != NULL,
                  "%s", error.text);
}
END_TEST

/* Writes head, n times the row with its number, tail. */
static char *repeat(const char *head, const char *row, unsigned n, const char *tail)
{
    size_t n_bytes = strlen(head) + n * (strlen(row) + 16) + strlen(tail) + 1;
    char *text = vp_array_new(n_bytes, 1);
    size_t used;
    unsigned i;

    ck_assert_ptr_nonnull(text);
    used = (size_t)snprintf(text, n_bytes, "%s", head);
    for (i = 0; i < n; i++) {
        used += (size_t)snprintf(text + used, n_bytes - used, "%s", row);
        /* The row holds "@@@@@" where its number goes. */
        if (strstr(row, "@@@@@") != NULL) {
            char number[8];

            (void)snprintf(number, sizeof(number), "%05x", i);
            memcpy(strstr(text + used - strlen(row), "@@@@@"), number, 5);
        }
    }
    (void)snprintf(text + used, n_bytes - used, "%s", tail);
    return text;
}

static void refuse(const char *file, char *text, const char *says)
{
    vp_error_t error = {0};
    json_t *report = sample_import(file, text, strlen(text), &error);

    ck_assert_msg(report == NULL, "%s was imported", file);
    sample_check_error(file, &error);
    ck_assert_msg(strstr(error.text, says) != NULL, "\"%s\" does not say \"%s\"", error.text, says);
    free(text);
}

/* More of something than any node has. */
START_TEST(too_much)
{
    refuse("deep.xml",
           repeat("<system><cpu numaid=\"0\">", "<pci busid=\"0000:00:00.0\">", 200, ""),
           "deep.xml: line 1: not well-formed");
    refuse("gpus.xml",
           repeat("<system><cpu numaid=\"0\">",
                  "<pci busid=\"@@@@@:01:00.0\" class=\"0x030200\"/>\n", 300, "</cpu></system>"),
           "300 GPUs");
    refuse("objects.xml",
           repeat("<system><cpu numaid=\"0\">",
                  "<pci busid=\"@@@@@:01:00.0\" class=\"0x020000\"/>\n", 70000, "</cpu></system>"),
           "more than 65536");
    refuse("objects.xml",
           repeat("<topology version=\"2.0\"><object type=\"Machine\">", "<object type=\"PU\"/>\n",
                  70000, "</object></topology>"),
           "more than 65536");
    refuse("columns.txt", repeat("\tGPU0", " nic@@@@@", 2000, "\nGPU0 X\n"),
           "line 1: more columns");
}
END_TEST

START_TEST(deep_but_whole)
{
    enum { DEPTH = 200 };
    char *head = repeat("<topology version=\"2.0\">", "<object type=\"Group\">", DEPTH, "");
    char *text = repeat(head, "</object>", DEPTH, "</topology>");

    free(head);
    refuse("deep.xml", text, "nested");
}
END_TEST

START_TEST(nothing_of_use)
{
    refuse("empty", repeat("", "\n", 3, ""), "the file is empty");
    refuse("prose", repeat("Dear all,\n", "no table here\n", 3, ""), "line 1: neither XML");
    refuse("prose", repeat("Dear all,\n", "my GPU is slow\n", 3, ""), "no header line");
    refuse("html", repeat("<!DOCTYPE html><html>", "<p>x</p>", 3, "</html>"),
           "its root is neither");
    refuse("torn.json", repeat("{", "\"a\":", 1, ""), "torn.json: line 1");
}
END_TEST

typedef void (*sample_fn_t)(const char *name, const char *text, size_t n_bytes);

static void for_every_sample(sample_fn_t run)
{
    DIR *directory = opendir(VP_TEST_IMPORT_DIR "/data");
    const struct dirent *entry;

    ck_assert_ptr_nonnull(directory);
    while ((entry = readdir(directory)) != NULL) {
        if (strchr("hnt", entry->d_name[0]) != NULL) {
            size_t n_bytes;
            char *text = sample_read(entry->d_name, &n_bytes);

            run(entry->d_name, text, n_bytes);
            free(text);
        }
    }
    (void)closedir(directory);
}

/* Imports a copy of exactly these bytes, so that a tool sees any step beyond them. */
static json_t *import_copy(const char *name, const char *text, size_t n_bytes, vp_error_t *error)
{
    char *copy = vp_array_new(n_bytes + 1, 1);
    json_t *report;

    ck_assert_ptr_nonnull(copy);
    memcpy(copy, text, n_bytes);
    report = sample_import(name, copy, n_bytes, error);
    free(copy);
    if (report == NULL) {
        sample_check_error(name, error);
    }
    return report;
}

/* XML without its end is never whole. A table is, once all of its rows are there. */
static void truncate_sample(const char *name, const char *text, size_t n_bytes)
{
    const char *end = strrchr(text, '>');
    size_t n_cuts = n_bytes < 4096 ? n_bytes / 7 : 60;
    size_t i;

    for (i = 0; i < n_cuts; i++) {
        size_t n = n_bytes * i / n_cuts;
        vp_error_t error = {0};
        json_t *report = import_copy(name, text, n, &error);

        ck_assert_msg(report == NULL || (name[0] == 't' ? n > 40 : n > (size_t)(end - text)),
                      "%s was imported from %zu of %zu bytes", name, n, n_bytes);
        json_decref(report);
    }
}

START_TEST(truncated)
{
    for_every_sample(truncate_sample);
}
END_TEST

static uint64_t random_state;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void damage_sample(const char *name, const char *text, size_t n_bytes)
{
    static const char bytes[] = "0-9af<>\"/ \tXPIS,:.[]\n\x1b\x80";
    unsigned n_copies = n_bytes < 8192 ? 60 : 12;
    unsigned i;

    for (i = 0; i < n_copies; i++) {
        char *copy = vp_array_new(n_bytes + 1, 1);
        unsigned n_faults = (unsigned)(next_random() % 4) + 1;
        vp_error_t error = {0};

        ck_assert_ptr_nonnull(copy);
        memcpy(copy, text, n_bytes);
        while (n_faults-- > 0) {
            copy[next_random() % n_bytes] = bytes[next_random() % (sizeof(bytes) - 1)];
        }
        json_decref(import_copy(name, copy, n_bytes, &error));
        free(copy);
    }
}

START_TEST(damaged)
{
    const char *seed = getenv("VP_TEST_SEED");

    random_state = seed != NULL ? strtoull(seed, NULL, 10) : 20260101;
    (void)printf("seed %" PRIu64 " (VP_TEST_SEED)\n", random_state);
    for_every_sample(damage_sample);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("import broken");
    TCase *tests = tcase_create("broken");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_add_loop_test(tests, one_fault, 0, sizeof(faults) / sizeof(faults[0]));
    tcase_add_test(tests, no_tree);
    tcase_add_test(tests, too_much);
    tcase_add_test(tests, deep_but_whole);
    tcase_add_test(tests, nothing_of_use);
    tcase_add_test(tests, truncated);
    tcase_add_test(tests, damaged);
    tcase_set_timeout(tests, 120);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
