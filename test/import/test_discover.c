/*
 * The facts of a node as bytes, and the cache of its discovery: hwloc is given
 * files for machines.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "catalog/import/discover.h"
#include "catalog/import/facts.h"
#include "catalog/import/import.h"
#include "test/import/samples.h"

static const char *const samples[] = {
    "h01-t4x8-g4dnmetal.xml",   "h02-p100x2-pascal.xml",    "h03-mi60x4-corona.xml",
    "h05-corona-hwloc1.xml",    "h06-l4x8-g6.xml",          "h13-dgx2-as-v2.xml",
    "n01-3090x8-2sw-1nic.xml",  "n06-4090x2-dualport.xml",  "n09-aws-p4d.xml",
    "n12-azure-ndv5.xml",       "n14-mi50x8-2plx-1nic.xml", "n16-mi50x8-rootports.xml",
    "n19-mi300ax4-cxi.xml",     "t01-p40x8-1root.txt",      "t17-a6000x8-nvpairs.txt",
    "t21-x8-pix-pxb-2root.txt", "t30-vmx8-nic-each.txt"};

static vp_hardware_t *import_sample(const char *name)
{
    vp_import_format_t format;
    vp_hardware_t *machine;
    vp_error_t error;
    size_t n_bytes;
    char *text = sample_read(name, &n_bytes);

    ck_assert_int_eq(vp_import_detect(name, text, n_bytes, &format, &error), VP_OK);
    ck_assert_msg(vp_import_read(name, text, n_bytes, format, &machine, &error) == VP_OK, "%s",
                  error.text);
    free(text);
    return machine;
}

static char *topology_of(vp_hardware_t *machine)
{
    char *text = NULL;
    vp_error_t error;

    ck_assert_msg(vp_facts_topology(machine, "node", &text, &error) == VP_OK, "%s", error.text);
    return text;
}

/* What is read back has the same topology and the same facts. */
START_TEST(facts_round_trip)
{
    vp_hardware_t *machine = import_sample(samples[_i]);
    vp_writer_t first = VP_WRITER_INIT;
    vp_writer_t second = VP_WRITER_INIT;
    vp_hardware_t *again;
    vp_error_t error;
    char *before;
    char *after;
    bool is_equal;

    vp_facts_write(&first, machine);
    ck_assert(!first.failed);
    ck_assert_uint_lt(first.n_bytes, 6000);
    ck_assert_msg(vp_facts_read(first.data, first.n_bytes, "facts", &again, &error) == VP_OK,
                  "%s: %s", samples[_i], error.text);
    vp_facts_write(&second, again);
    ck_assert_uint_eq(first.n_bytes, second.n_bytes);
    ck_assert_mem_eq(first.data, second.data, first.n_bytes);
    before = topology_of(machine);
    after = topology_of(again);
    /* Before the rates, the file tells the format that was imported. */
    is_equal = strcmp(strstr(before, "\"rates\":{"), strstr(after, "\"rates\":{")) == 0;
    ck_assert_msg(is_equal, "%s: another topology after reading", samples[_i]);
    free(before);
    free(after);
    vp_writer_clear(&first);
    vp_writer_clear(&second);
    vp_hardware_destroy(machine);
    vp_hardware_destroy(again);
}
END_TEST

/* Cut and changed facts are read or refused, and never more than that. */
START_TEST(damaged_facts)
{
    vp_hardware_t *machine = import_sample(samples[_i]);
    vp_writer_t writer = VP_WRITER_INIT;
    vp_error_t error;
    unsigned n_refused = 0;
    size_t i;

    vp_facts_write(&writer, machine);
    vp_hardware_destroy(machine);
    for (i = 0; i < writer.n_bytes; i++) {
        ck_assert_int_ne(vp_facts_read(writer.data, i, "facts", &machine, &error), VP_OK);
    }
    for (i = 0; i < writer.n_bytes; i++) {
        writer.data[i] ^= 0xff;
        if (vp_facts_read(writer.data, writer.n_bytes, "facts", &machine, &error) == VP_OK) {
            free(topology_of(machine));
            vp_hardware_destroy(machine);
        } else {
            ck_assert_ptr_nonnull(strstr(error.text, "facts"));
            n_refused++;
        }
        writer.data[i] ^= 0xff;
    }
    ck_assert_uint_gt(n_refused, writer.n_bytes / 20);
    vp_writer_clear(&writer);
}
END_TEST

static char cache[64];

static void set_up(void)
{
    (void)snprintf(cache, sizeof(cache), "/tmp/vp_test_discover.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(cache));
    ck_assert_int_eq(setenv("XDG_CACHE_HOME", cache, 1), 0);
    ck_assert_int_eq(setenv("HWLOC_XMLFILE", VP_TEST_IMPORT_DIR "/data/h02-p100x2-pascal.xml", 1),
                     0);
}

static void tear_down(void)
{
    char path[128];
    DIR *folder;
    const struct dirent *entry;

    (void)snprintf(path, sizeof(path), "%s/variopath", cache);
    (void)chmod(path, 0700);
    folder = opendir(path);
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    (void)rmdir(path);
    (void)rmdir(cache);
}

static vp_discovery_t discover(void)
{
    vp_discovery_t discovery;
    vp_error_t error;

    ck_assert_msg(vp_discover_node(&discovery, &error) == VP_OK, "%s", error.text);
    return discovery;
}

/* Discovers, checks where the answer came from, and that it is the machine of the sample. */
static uint64_t check_source(vp_discovery_source_t source)
{
    vp_discovery_t discovery = discover();
    vp_hardware_t *machine;
    vp_error_t error;
    uint64_t hash = discovery.hash;

    ck_assert_int_eq(discovery.source, source);
    ck_assert_ptr_nonnull(discovery.facts);
    ck_assert_int_eq(vp_facts_read(discovery.facts, discovery.n_bytes, "facts", &machine, &error),
                     VP_OK);
    ck_assert_uint_eq(machine->n_gpus, 2);
    ck_assert_uint_eq(machine->n_groups, 1);
    ck_assert_uint_eq(machine->n_nics, 1);
    vp_hardware_destroy(machine);
    vp_discovery_clear(&discovery);
    return hash;
}

static void change_cache(size_t offset, bool is_cut)
{
    vp_discovery_t discovery = discover();
    vp_error_t error;
    char *data;
    size_t n_bytes;

    ck_assert_int_eq(vp_file_read(discovery.path, 1 << 20, &data, &n_bytes, &error), VP_OK);
    ck_assert_uint_lt(offset, n_bytes);
    data[offset] = (char)(data[offset] ^ 1);
    ck_assert_int_eq(vp_file_write(discovery.path, data, is_cut ? offset : n_bytes, &error), VP_OK);
    free(data);
    vp_discovery_clear(&discovery);
}

/* Nothing is written where others could have put a link. */
START_TEST(a_folder_of_others_is_no_place)
{
    char path[128];

    (void)check_source(VP_DISCOVERY_NEW);
    (void)snprintf(path, sizeof(path), "%s/variopath", cache);
    ck_assert_int_eq(chmod(path, 0777), 0);
    (void)check_source(VP_DISCOVERY_UNCACHED);
    ck_assert_int_eq(chmod(path, 0755), 0);
    (void)check_source(VP_DISCOVERY_CACHED);
}
END_TEST

/* Any part of the file may be wrong: magic, version, fingerprint, checksum, outcome, facts, length.
 */
START_TEST(cache_is_used_and_mended)
{
    static const size_t offsets[] = {0, 8, 12, 20, 28, 60};
    uint64_t hash = check_source(VP_DISCOVERY_NEW);
    size_t i;

    ck_assert_uint_eq(check_source(VP_DISCOVERY_CACHED), hash);
    for (i = 0; i < 2 * sizeof(offsets) / sizeof(offsets[0]); i++) {
        change_cache(offsets[i / 2], i % 2 == 1);
        ck_assert_uint_eq(check_source(VP_DISCOVERY_NEW), hash);
        ck_assert_uint_eq(check_source(VP_DISCOVERY_CACHED), hash);
    }
}
END_TEST

/* Another hwloc environment is another machine, in a file of its own. */
START_TEST(caches_do_not_mix)
{
    vp_discovery_t none;
    vp_discovery_t again;

    (void)check_source(VP_DISCOVERY_NEW);
    ck_assert_int_eq(setenv("HWLOC_XMLFILE", VP_TEST_IMPORT_DIR "/data/h10-nogpu-c5n.xml", 1), 0);
    none = discover();
    ck_assert_ptr_null(none.facts);
    ck_assert_int_eq(none.source, VP_DISCOVERY_NEW);
    ck_assert_ptr_nonnull(strstr(none.refusal, "no GPU found"));
    again = discover();
    ck_assert_ptr_null(again.facts);
    ck_assert_int_eq(again.source, VP_DISCOVERY_CACHED);
    ck_assert_str_eq(again.refusal, none.refusal);
    vp_discovery_clear(&none);
    vp_discovery_clear(&again);
    ck_assert_int_eq(setenv("HWLOC_XMLFILE", VP_TEST_IMPORT_DIR "/data/h02-p100x2-pascal.xml", 1),
                     0);
    (void)check_source(VP_DISCOVERY_CACHED);
}
END_TEST

START_TEST(works_without_a_cache)
{
    ck_assert_int_eq(setenv("XDG_CACHE_HOME", "/dev/null", 1), 0);
    (void)check_source(VP_DISCOVERY_UNCACHED);
    ck_assert_int_eq(unsetenv("XDG_CACHE_HOME"), 0);
    ck_assert_int_eq(unsetenv("HOME"), 0);
    (void)check_source(VP_DISCOVERY_UNCACHED);
    ck_assert_int_eq(setenv("HOME", cache, 1), 0);
    ck_assert_int_eq(setenv("XDG_CACHE_HOME", "relative", 1), 0);
    (void)check_source(VP_DISCOVERY_NEW);
    /* The folder that this made. */
    {
        vp_discovery_t discovery = discover();
        char folder[128];

        (void)snprintf(folder, sizeof(folder), "%s/.cache/variopath/", cache);
        ck_assert_int_eq(strncmp(discovery.path, folder, strlen(folder)), 0);
        (void)unlink(discovery.path);
        (void)strcat(discovery.path, ".lock");
        (void)unlink(discovery.path);
        (void)rmdir(folder);
        (void)snprintf(folder, sizeof(folder), "%s/.cache", cache);
        (void)rmdir(folder);
        vp_discovery_clear(&discovery);
    }
}
END_TEST

/* Of processes that start together one discovers, and all have the same facts. */
START_TEST(one_of_many_discovers)
{
    enum { N = 12 };
    int n_new = 0;
    int i;

    for (i = 0; i < N; i++) {
        if (fork() == 0) {
            vp_discovery_t discovery = discover();

            _exit(discovery.facts == NULL ? 99 : (int)discovery.source);
        }
    }
    for (i = 0; i < N; i++) {
        int status;

        ck_assert_int_gt(wait(&status), 0);
        ck_assert(WIFEXITED(status));
        n_new += WEXITSTATUS(status) == VP_DISCOVERY_NEW;
        ck_assert(WEXITSTATUS(status) == VP_DISCOVERY_NEW ||
                  WEXITSTATUS(status) == VP_DISCOVERY_CACHED);
    }
    ck_assert_int_eq(n_new, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("discover");
    TCase *facts = tcase_create("facts");
    TCase *tests = tcase_create("cache");
    SRunner *runner = srunner_create(suite);
    int n_samples = (int)(sizeof(samples) / sizeof(samples[0]));
    int n_failed;

    tcase_add_loop_test(facts, facts_round_trip, 0, n_samples);
    tcase_add_loop_test(facts, damaged_facts, 0, n_samples);
    tcase_set_timeout(facts, 60);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, cache_is_used_and_mended);
    tcase_add_test(tests, a_folder_of_others_is_no_place);
    tcase_add_test(tests, caches_do_not_mix);
    tcase_add_test(tests, works_without_a_cache);
    tcase_add_test(tests, one_of_many_discovers);
    tcase_set_timeout(tests, 60);
    suite_add_tcase(suite, facts);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
