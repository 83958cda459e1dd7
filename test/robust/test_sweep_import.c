/*
 * Every allocation of the importers fails once, their own and jansson's. hwloc
 * and libxml2 take their memory elsewhere: neither of them survives without it.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "catalog/import/discover.h"
#include "catalog/import/facts.h"
#include "catalog/import/import.h"
#include "catalog/import/job.h"
#include "catalog/import/native.h"
#include "catalog/json_write.h"
#include "failing.h"
#include "sweep.h"
#include "test/import/samples.h"

static const char *const samples[] = {
    "h02-p100x2-pascal.xml",         "h03-mi60x4-corona.xml",   "h10-nogpu-c5n.xml",
    "n01-3090x8-2sw-1nic.xml",       "n09-aws-p4d.xml",         "n19-mi300ax4-cxi.xml",
    "t15-x2-pxb-nicrowsmissing.txt", "t17-a6000x8-nvpairs.txt", "t30-vmx8-nic-each.txt",
};
enum { N_SAMPLES = sizeof(samples) / sizeof(samples[0]) };

/* A sample, read before anything fails. */
typedef struct sample {
    const char *name;
    char *text;
    size_t n_bytes;
} sample_t;

static vp_status_t read_machine(const sample_t *sample, vp_hardware_t **machine_p,
                                vp_error_t *error)
{
    vp_import_format_t format = VP_IMPORT_AUTO;
    vp_status_t status =
        vp_import_detect(sample->name, sample->text, sample->n_bytes, &format, error);

    return status != VP_OK ? status
                           : vp_import_read(sample->name, sample->text, sample->n_bytes, format,
                                            machine_p, error);
}

static void add_text(uint64_t *digest_p, const char *text)
{
    *digest_p = *digest_p * 31 + vp_hash64(text, strlen(text));
}

/* The topology file, and the report of `topology import`. */
static vp_status_t describe(vp_hardware_t *machine, uint64_t *digest_p, vp_error_t *error)
{
    char *text = NULL;
    json_t *report = json_object();
    vp_status_t status = report == NULL ? vp_error_no_memory(error, "a report")
                                        : vp_hardware_report(machine, report, error);

    if (status == VP_OK) {
        text = vp_json_print(report, JSON_COMPACT);
        status = text == NULL ? vp_error_no_memory(error, "a report") : VP_OK;
    }
    if (status == VP_OK) {
        add_text(digest_p, text);
        free(text);
        status = vp_facts_topology(machine, "sample", &text, error);
    }
    if (status == VP_OK) {
        add_text(digest_p, text);
        free(text);
    }
    json_decref(report);
    return status;
}

/* A machine that no topology comes of is told so, with memory as without. */
static vp_status_t run_import(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    vp_hardware_t *machine = NULL;
    vp_status_t status = read_machine(argument, &machine, error);

    *digest_p = 0;
    if (status == VP_OK) {
        status = describe(machine, digest_p, error);
        vp_hardware_destroy(machine);
    }
    if (status == VP_ERR_BAD_INPUT) {
        add_text(digest_p, error->text);
        status = VP_OK;
    }
    return status;
}

START_TEST(machines_are_imported)
{
    sample_t sample = {.name = samples[_i]};

    sample.text = sample_read(sample.name, &sample.n_bytes);
    sweep(sample.name, run_import, &sample);
    free(sample.text);
}
END_TEST

static vp_status_t run_facts(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    const vp_writer_t *facts = argument;
    vp_writer_t writer = VP_WRITER_INIT;
    vp_hardware_t *machine;
    vp_status_t status = vp_facts_read(facts->data, facts->n_bytes, "facts", &machine, error);

    if (status != VP_OK) {
        return status;
    }
    vp_facts_write(&writer, machine);
    vp_hardware_destroy(machine);
    status = writer.failed ? vp_error_no_memory(error, "the facts") : VP_OK;
    *digest_p = writer.failed ? 0 : vp_hash64(writer.data, writer.n_bytes);
    vp_writer_clear(&writer);
    return status;
}

enum { N_KINDS = 2, N_MEMBERS = 4 };

/* Facts of two machines, and what the processes of a job tell of them. */
static vp_writer_t facts[N_KINDS];
static vp_writer_t records[N_MEMBERS];

static void make_facts(void)
{
    static const char *const files[N_KINDS] = {"h03-mi60x4-corona.xml", "h02-p100x2-pascal.xml"};
    static const char *const hosts[N_MEMBERS] = {"alpha", "alpha", "beta", "alpha"};
    uint32_t i;

    ck_assert_int_eq(unsetenv("CUDA_VISIBLE_DEVICES"), 0);
    for (i = 0; i < N_KINDS; i++) {
        sample_t sample = {.name = files[i]};
        vp_hardware_t *machine;
        vp_error_t error;

        sample.text = sample_read(files[i], &sample.n_bytes);
        ck_assert_int_eq(read_machine(&sample, &machine, &error), VP_OK);
        vp_facts_write(&facts[i], machine);
        ck_assert(!facts[i].failed);
        vp_hardware_destroy(machine);
        free(sample.text);
    }
    for (i = 0; i < N_MEMBERS; i++) {
        const vp_writer_t *of = &facts[hosts[i][0] == 'b'];
        vp_discovery_t discovery = {
            .facts = of->data, .n_bytes = of->n_bytes, .hash = vp_hash64(of->data, of->n_bytes)};

        vp_job_member_write(&records[i], &discovery, hosts[i], i);
        ck_assert(!records[i].failed);
    }
}

static void free_facts(void)
{
    uint32_t i;

    for (i = 0; i < N_KINDS; i++) {
        vp_writer_clear(&facts[i]);
    }
    for (i = 0; i < N_MEMBERS; i++) {
        vp_writer_clear(&records[i]);
    }
}

START_TEST(facts_are_read)
{
    sweep("facts", run_facts, &facts[_i]);
}
END_TEST

static vp_status_t read_members(vp_job_t *job, vp_job_member_t *members, vp_error_t *error)
{
    vp_status_t status = VP_OK;
    uint32_t i;

    for (i = 0; status == VP_OK && i < N_MEMBERS; i++) {
        if (!vp_job_member_read(records[i].data, records[i].n_bytes, &members[i])) {
            return vp_error_no_memory(error, "a member"); /* the records are sound */
        }
        status = vp_job_add(job, &members[i], error);
    }
    return status;
}

static vp_status_t digest_job(const vp_job_t *job, const vp_job_member_t *members,
                              uint64_t *digest_p, vp_error_t *error)
{
    vp_pci_t pci[N_MEMBERS];
    uint32_t place[N_MEMBERS];
    vp_catalog_t *catalog;
    vp_status_t status;
    uint32_t i;

    for (i = 0; i < N_MEMBERS; i++) {
        pci[i] = (vp_pci_t)VP_PCI_UNKNOWN;
    }
    status = vp_job_catalog(job, members, pci, N_MEMBERS, "local", &catalog, place, error);
    if (status == VP_OK) {
        *digest_p = catalog->fingerprint ^ vp_hash64(place, sizeof(place));
        vp_catalog_destroy(catalog);
    }
    return status;
}

static vp_status_t run_job(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    vp_job_member_t members[N_MEMBERS];
    vp_job_t *job = vp_job_create();
    vp_model_t *model = NULL;
    uint32_t rank;
    vp_status_t status =
        job == NULL ? vp_error_no_memory(error, "a job") : read_members(job, members, error);

    (void)argument;
    if (status == VP_OK) {
        status = digest_job(job, members, digest_p, error);
    }
    if (status == VP_OK) {
        status = vp_job_own_model(job, &members[2], (vp_pci_t)VP_PCI_UNKNOWN, "local", &model,
                                  &rank, error);
    }
    if (status == VP_OK) {
        *digest_p += model->n_instances + rank;
        vp_model_destroy(model);
    }
    vp_job_destroy(job);
    return status;
}

START_TEST(jobs_are_described)
{
    sweep("job", run_job, NULL);
}
END_TEST

static char cache[64];

static void make_cache(void)
{
    (void)snprintf(cache, sizeof(cache), "/tmp/vp-robust-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(cache));
    ck_assert_int_eq(setenv("XDG_CACHE_HOME", cache, 1), 0);
    ck_assert_int_eq(setenv("HWLOC_XMLFILE", VP_TEST_IMPORT_DIR "/data/h02-p100x2-pascal.xml", 1),
                     0);
}

/* Empties the cache; the number of files that are neither it nor its lock. */
static unsigned empty_cache(void)
{
    char path[128];
    DIR *folder;
    const struct dirent *entry;
    unsigned n_other = 0;

    (void)snprintf(path, sizeof(path), "%s/variopath", cache);
    folder = opendir(path);
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        const char *end = strrchr(entry->d_name, '.');

        if (entry->d_name[0] != '.') {
            n_other += strcmp(end, ".vpnode") != 0 && strcmp(end, ".lock") != 0;
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return n_other;
}

static void remove_cache(void)
{
    char path[128];

    (void)empty_cache();
    (void)snprintf(path, sizeof(path), "%s/variopath", cache);
    (void)rmdir(path);
    ck_assert_int_eq(rmdir(cache), 0);
}

/* Without memory for the cache it is done without; what is written is whole. */
static vp_status_t run_discover(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    vp_discovery_t discovery;
    vp_status_t status = vp_discover_node(&discovery, error);

    *digest_p = status == VP_OK ? discovery.hash : 0;
    if (status == VP_OK) {
        vp_discovery_clear(&discovery);
    }
    if (argument == NULL && empty_cache() != 0) {
        status = vp_error_set(error, VP_ERR_INTERNAL, "a temporary file is left");
    }
    return status;
}

START_TEST(a_node_is_discovered)
{
    sweep("discovery", run_discover, NULL);
    sweep("discovery with a cache", run_discover, "kept");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("allocations of the importers");
    TCase *tcase = tcase_create("sweep");
    SRunner *runner;
    int n_failed;

    failing_take_jansson();
    tcase_set_timeout(tcase, sweep_is_whole() ? 1200 : 120);
    tcase_add_loop_test(tcase, machines_are_imported, 0, N_SAMPLES);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("jobs");
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, make_facts, free_facts);
    tcase_add_loop_test(tcase, facts_are_read, 0, N_KINDS);
    tcase_add_test(tcase, jobs_are_described);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("discovery");
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, make_cache, remove_cache);
    tcase_add_test(tcase, a_node_is_discovered);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
