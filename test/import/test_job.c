/*
 * A job without a topology file: what processes tell of their nodes, and the
 * catalogs that follow.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "catalog/import/facts.h"
#include "catalog/import/import.h"
#include "catalog/import/job.h"
#include "test/import/samples.h"

enum { FOUR, TWO, FAR, N_KINDS, MAX_MEMBERS = 8 };

/* 4 GPUs in 4 groups; 2 GPUs in one group; 16 GPUs without a NIC. */
static const char *const files[N_KINDS] = {"h03-mi60x4-corona.xml", "h02-p100x2-pascal.xml",
                                           "h13-dgx2-as-v2.xml"};
static vp_discovery_t found[N_KINDS];
static vp_writer_t records[MAX_MEMBERS];
static uint32_t n_records;

static void set_up(void)
{
    int i;

    ck_assert_int_eq(unsetenv("CUDA_VISIBLE_DEVICES"), 0);
    n_records = 0;
    for (i = 0; i < N_KINDS; i++) {
        vp_writer_t writer = VP_WRITER_INIT;
        vp_hardware_t *machine;
        vp_error_t error;
        size_t n_bytes;
        char *text = sample_read(files[i], &n_bytes);

        ck_assert_msg(vp_import_read(files[i], text, n_bytes, VP_IMPORT_HWLOC, &machine, &error) ==
                          VP_OK,
                      "%s", error.text);
        vp_facts_write(&writer, machine);
        found[i] = (vp_discovery_t){.facts = writer.data,
                                    .n_bytes = writer.n_bytes,
                                    .hash = vp_hash64(writer.data, writer.n_bytes)};
        vp_hardware_destroy(machine);
        free(text);
    }
}

static void tear_down(void)
{
    uint32_t i;

    for (i = 0; i < N_KINDS; i++) {
        vp_discovery_clear(&found[i]);
    }
    for (i = 0; i < n_records; i++) {
        vp_writer_clear(&records[i]);
    }
}

/* What the local_rank-th process on a host of that kind tells. */
static vp_job_member_t member(int kind, const char *host, uint32_t local_rank)
{
    vp_writer_t *writer = &records[n_records++];
    vp_job_member_t it;

    *writer = (vp_writer_t)VP_WRITER_INIT;
    vp_job_member_write(writer, &found[kind], host, local_rank);
    ck_assert(vp_job_member_read(writer->data, writer->n_bytes, &it));
    return it;
}

static vp_job_t *job_of(const vp_job_member_t *members, uint32_t n)
{
    vp_job_t *job = vp_job_create();
    vp_error_t error;
    uint32_t i;

    for (i = 0; i < n; i++) {
        ck_assert_int_eq(vp_job_add(job, &members[i], &error), VP_OK);
    }
    return job;
}

static vp_catalog_t *catalog_of(const vp_job_t *job, const vp_job_member_t *members,
                                const vp_pci_t *pci, uint32_t n, uint32_t *place)
{
    vp_catalog_t *catalog = NULL;
    vp_error_t error = {.text = ""};

    ck_assert_msg(vp_job_catalog(job, members, pci, n, "local", &catalog, place, &error) == VP_OK,
                  "%s", error.text);
    ck_assert_uint_eq(catalog->model->n_ranks, n);
    return catalog;
}

START_TEST(what_a_process_tells)
{
    vp_job_member_t it = member(FOUR, "alpha", 6);
    vp_discovery_t none = {.refusal = "no GPU found"};
    vp_writer_t writer = VP_WRITER_INIT;
    size_t i;

    ck_assert_uint_eq(it.host, vp_hash64("alpha", 5));
    ck_assert_uint_eq(it.hash, found[FOUR].hash);
    ck_assert_uint_eq(it.gpu, 2); /* by turns */
    ck_assert_uint_eq(it.n_facts, found[FOUR].n_bytes);
    ck_assert_mem_eq(it.facts, found[FOUR].facts, it.n_facts);
    vp_job_member_write(&writer, &none, NULL, 0);
    ck_assert(vp_job_member_read(writer.data, writer.n_bytes, &it));
    ck_assert_uint_eq(it.hash, 0);
    ck_assert_str_eq(it.refusal, "no GPU found");
    vp_writer_clear(&writer);
    /* Cut short, or with another byte anywhere in the facts: not understood. */
    for (i = 0; i < records[0].n_bytes; i++) {
        ck_assert(!vp_job_member_read(records[0].data, i, &it));
    }
    records[0].data[records[0].n_bytes - 1] ^= 1;
    ck_assert(!vp_job_member_read(records[0].data, records[0].n_bytes, &it));
    records[0].data[records[0].n_bytes - 1] ^= 1;
    records[0].data[0]++;
    ck_assert(!vp_job_member_read(records[0].data, records[0].n_bytes, &it));
}
END_TEST

START_TEST(which_gpu_a_process_will_use)
{
    static const struct {
        const char *visible;
        uint32_t local_rank;
        uint32_t gpu;
    } rows[] = {{"3", 0, 3},      {"3", 1, 3},        {"2,0", 0, 2}, {"2,0", 1, 0}, {"2,0", 2, 2},
                {"GPU-ab", 1, 1}, {"1,GPU-ab", 1, 1}, {"", 1, 1},    {"1,", 0, 1},  {"2x", 1, 1}};
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        n_records = 0;
        ck_assert_int_eq(setenv("CUDA_VISIBLE_DEVICES", rows[i].visible, 1), 0);
        ck_assert_msg(member(FOUR, "a", rows[i].local_rank).gpu == rows[i].gpu, "row %zu", i);
        vp_writer_clear(&records[0]);
    }
    n_records = 0;
}
END_TEST

/* Two hosts of one kind are two nodes; one host that shows two kinds is, too. */
START_TEST(nodes_of_a_job)
{
    vp_job_member_t members[] = {member(TWO, "a", 0), member(TWO, "b", 0), member(TWO, "a", 1),
                                 member(FOUR, "a", 3)};
    static const uint32_t expected[] = {0, 2, 1, 3};
    vp_job_t *job = job_of(members, 4);
    uint32_t place[4];
    vp_catalog_t *catalog = catalog_of(job, members, NULL, 4, place);
    const vp_model_t *model = catalog->model;
    char text[64];
    int i;

    ck_assert_uint_eq(vp_job_n_kinds(job), 2);
    ck_assert(vp_job_describe(job, found[TWO].hash, text, sizeof(text)));
    ck_assert_str_eq(text, "2 GPUs in 1 group, 1 NIC");
    ck_assert(!vp_job_describe(job, found[FAR].hash, text, sizeof(text)));
    ck_assert_uint_eq(model->n_nodes, 3);
    ck_assert_uint_eq(model->n_groups, 3);
    for (i = 0; i < 4; i++) {
        ck_assert_uint_eq(place[i], expected[i]);
    }
    ck_assert_str_eq(model->groups[2].name, "node2/sw3");
    ck_assert_uint_ne(catalog->fingerprint, 0);
    vp_catalog_destroy(catalog);
    vp_job_destroy(job);
}
END_TEST

/* The GPU that a process was seen to use counts, if it is on its node. */
START_TEST(gpus_that_were_seen)
{
    vp_job_member_t members[] = {member(TWO, "a", 0), member(TWO, "a", 1)};
    vp_job_t *job = job_of(members, 2);
    uint32_t place[2];
    vp_catalog_t *catalog = catalog_of(job, members, NULL, 2, place);
    vp_pci_t pci[2] = {catalog->model->rank_pci[1], catalog->model->rank_pci[0]};

    ck_assert_uint_ne(pci[0], VP_PCI_UNKNOWN);
    ck_assert_uint_eq(place[0], 0);
    vp_catalog_destroy(catalog);
    catalog = catalog_of(job, members, pci, 2, place);
    ck_assert_uint_eq(place[0], 1);
    ck_assert_uint_eq(place[1], 0);
    vp_catalog_destroy(catalog);
    pci[0] = pci[1]; /* both on one GPU */
    catalog = catalog_of(job, members, pci, 2, place);
    ck_assert_uint_eq(catalog->model->n_groups, 1);
    ck_assert_str_eq(catalog->model->groups[0].name, "node0/sw0.gpu0");
    vp_catalog_destroy(catalog);
    pci[0] = 0xffff; /* no such GPU: as launched */
    pci[1] = VP_PCI_UNKNOWN;
    catalog = catalog_of(job, members, pci, 2, place);
    ck_assert_uint_eq(place[0], 0);
    ck_assert_uint_eq(place[1], 1);
    vp_catalog_destroy(catalog);
    vp_job_destroy(job);
}
END_TEST

START_TEST(jobs_that_have_no_catalog)
{
    vp_job_member_t members[] = {member(FAR, "a", 0), member(FOUR, "b", 0)};
    vp_job_t *job = job_of(members, 2);
    vp_catalog_t *catalog = NULL;
    uint32_t place[2] = {7, 7};
    vp_error_t error;

    ck_assert_int_eq(vp_job_catalog(job, members, NULL, 2, "local", &catalog, place, &error),
                     VP_ERR_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "has no NIC"));
    ck_assert_int_eq(vp_job_catalog(job, members, NULL, 1, "moon", &catalog, place, &error),
                     VP_ERR_USAGE);
    members[1].hash++;
    ck_assert_int_eq(vp_job_catalog(job, members, NULL, 2, "local", &catalog, place, &error),
                     VP_ERR_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "rank 1 "));
    ck_assert_ptr_null(catalog);
    ck_assert_uint_eq(place[0], 7);
    vp_job_destroy(job);
}
END_TEST

/* The classes of a node have the numbers that they have in the job's catalogs, whoever is in them.
 */
START_TEST(classes_of_the_own_node)
{
    vp_job_member_t members[] = {member(TWO, "a", 0), member(FOUR, "b", 1), member(FAR, "c", 5)};
    vp_job_t *job = job_of(members, 3);
    uint32_t place[2];
    vp_catalog_t *catalog = catalog_of(job, members, NULL, 2, place);
    int i;

    for (i = 0; i < 3; i++) {
        vp_model_t *own = NULL;
        vp_error_t error = {.text = ""};
        uint32_t rank = 99;
        uint32_t k;

        ck_assert_msg(vp_job_own_model(job, &members[i], VP_PCI_UNKNOWN, "local", &own, &rank,
                                       &error) == VP_OK,
                      "%s", error.text);
        ck_assert_uint_eq(rank, members[i].gpu);
        ck_assert_uint_eq(own->n_nodes, i == 2 ? 1 : 2);
        ck_assert_uint_eq(own->n_classes, catalog->model->n_classes);
        for (k = 0; k < own->n_classes; k++) {
            ck_assert_str_eq(own->classes[k].name, catalog->model->classes[k].name);
            ck_assert_str_eq(own->classes[k].tls, catalog->model->classes[k].tls);
            ck_assert_str_eq(own->classes[k].devices, catalog->model->classes[k].devices);
        }
        vp_model_destroy(own);
    }
    vp_catalog_destroy(catalog);
    vp_job_destroy(job);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("job");
    TCase *tests = tcase_create("job");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, what_a_process_tells);
    tcase_add_test(tests, which_gpu_a_process_will_use);
    tcase_add_test(tests, nodes_of_a_job);
    tcase_add_test(tests, gpus_that_were_seen);
    tcase_add_test(tests, jobs_that_have_no_catalog);
    tcase_add_test(tests, classes_of_the_own_node);
    tcase_set_timeout(tests, 30);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
