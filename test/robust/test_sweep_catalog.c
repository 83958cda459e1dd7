/*
 * Every allocation of the catalog room fails once: topologies, catalogs made,
 * stored, loaded, restricted, rescaled, drawn.
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
#include "catalog/advice.h"
#include "catalog/assemble.h"
#include "catalog/avoid.h"
#include "catalog/build.h"
#include "catalog/diff.h"
#include "catalog/draw.h"
#include "catalog/rescale.h"
#include "catalog/restrict.h"
#include "catalog/store.h"
#include "catalog/topology.h"
#include "failing.h"
#include "sweep.h"

static vp_status_t digest_catalog(const vp_catalog_t *catalog, uint64_t *digest_p,
                                  vp_error_t *error)
{
    uint8_t *data;
    size_t n_bytes;
    vp_status_t status = vp_catalog_encode(catalog, &data, &n_bytes, error);

    if (status == VP_OK) {
        *digest_p = vp_hash64(data, n_bytes);
        free(data);
    }
    return status;
}

/* Models are told apart by what a catalog of them would hold. */
static vp_status_t digest_model(vp_model_t *model, uint64_t *digest_p, vp_error_t *error)
{
    vp_catalog_t *catalog;
    vp_status_t status = vp_catalog_generate(&model, &catalog, error);

    if (status == VP_OK) {
        status = digest_catalog(catalog, digest_p, error);
        vp_catalog_destroy(catalog);
    }
    vp_model_destroy(model);
    return status;
}

static vp_status_t run_topology(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    vp_model_t *model;
    vp_status_t status = vp_topology_resolve(argument, &model, error);

    return status != VP_OK ? status : digest_model(model, digest_p, error);
}

static const char *const topologies[] = {
    "fig1-6",
    "r5080-bf3:nodes=3:transports=local",
    "synthetic:nodes=2,links=uplinks,p2p=off,gdr=off,memory=200",
    "synthetic:nodes=2,switches=2,gpus=4,nics=1,pix=54,pxb=52.5,pairs=any",
    VP_SOURCE_DIR "/catalog/topologies/r5080-bf3.json",
};
enum { N_TOPOLOGIES = sizeof(topologies) / sizeof(topologies[0]) };

START_TEST(topologies_resolve)
{
    sweep(topologies[_i], run_topology, topologies[_i]);
}
END_TEST

typedef struct make_case {
    const char *name;
    const char *topology;
    vp_build_mode_t mode;
} make_case_t;

static const make_case_t make_cases[] = {
    {"exhaustive catalog", "fig1-6", VP_BUILD_EXHAUSTIVE},
    {"generated catalog", "r5080-bf3:nodes=2", VP_BUILD_GENERATED},
    {"catalog of either kind", "synthetic:nodes=1,switches=2,gpus=2,nics=1", VP_BUILD_AUTO},
};
enum { N_MAKE_CASES = sizeof(make_cases) / sizeof(make_cases[0]) };

static vp_status_t make_catalog(const make_case_t *it, vp_catalog_t **catalog_p, vp_error_t *error)
{
    vp_model_t *model = NULL;
    vp_status_t status = vp_topology_resolve(it->topology, &model, error);

    if (status == VP_OK) {
        status = vp_catalog_make(&model, it->mode, NULL, NULL, catalog_p, error);
    }
    if (status == VP_OK) {
        status = vp_catalog_seal(*catalog_p, error);
        if (status != VP_OK) {
            vp_catalog_destroy(*catalog_p);
        }
    }
    vp_model_destroy(model);
    return status;
}

static vp_status_t run_make(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    vp_catalog_t *catalog;
    vp_status_t status = make_catalog(argument, &catalog, error);

    if (status == VP_OK) {
        status = digest_catalog(catalog, digest_p, error);
        vp_catalog_destroy(catalog);
    }
    return status;
}

START_TEST(catalogs_are_made)
{
    sweep(make_cases[_i].name, run_make, &make_cases[_i]);
}
END_TEST

/* What follows works on this catalog, made before anything fails. */
static vp_catalog_t *given;
static char directory[64];
static char path[96];

static void set_up(void)
{
    vp_error_t error;

    ck_assert_int_eq(make_catalog(&make_cases[0], &given, &error), VP_OK);
    (void)snprintf(directory, sizeof(directory), "/tmp/vp-robust-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    (void)snprintf(path, sizeof(path), "%s/catalog.vpc", directory);
}

static void tear_down(void)
{
    (void)unlink(path);
    ck_assert_int_eq(rmdir(directory), 0);
    vp_catalog_destroy(given);
}

static unsigned count_files(void)
{
    DIR *stream = opendir(directory);
    unsigned n = 0;

    while (stream != NULL && readdir(stream) != NULL) {
        n++;
    }
    if (stream != NULL) {
        (void)closedir(stream);
    }
    return n < 2 ? UINT32_MAX : n - 2;
}

/* Either the whole file is there, or none at all. */
static vp_status_t run_store(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    vp_catalog_t *catalog = NULL;
    vp_status_t status;
    unsigned n_files;

    (void)argument;
    (void)unlink(path);
    status = vp_catalog_store(given, path, NULL, error);
    n_files = count_files();
    if (status != VP_OK) {
        return n_files == 0 ? status : vp_error_set(error, VP_ERR_INTERNAL, "a file is left");
    }
    status = vp_catalog_load(path, &catalog, NULL, error);
    if (status == VP_OK) {
        status = digest_catalog(catalog, digest_p, error);
        vp_catalog_destroy(catalog);
    }
    return status;
}

/* The file that was there stays as it was unless the new one is whole. */
static vp_status_t run_replace(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    vp_status_t status = vp_catalog_store(given, path, NULL, error);

    (void)argument;
    *digest_p = count_files();
    return status;
}

START_TEST(files_are_whole_or_not_there)
{
    vp_error_t error;
    vp_catalog_t *catalog;

    sweep("store and load", run_store, NULL);
    ck_assert_int_eq(vp_catalog_store(given, path, NULL, &error), VP_OK);
    sweep("replace a file", run_replace, NULL);
    ck_assert_uint_eq(count_files(), 1);
    ck_assert_int_eq(vp_catalog_load(path, &catalog, NULL, &error), VP_OK);
    vp_catalog_destroy(catalog);
}
END_TEST

static vp_status_t run_restrict(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    static const uint32_t ranks[] = {0, 2, 4};
    vp_catalog_t *catalog;
    vp_status_t status = vp_catalog_restrict(given, ranks, 3, &catalog, error);

    (void)argument;
    if (status == VP_OK) {
        *digest_p = catalog->model->n_instances * 1000 + catalog->n_families;
        vp_catalog_destroy(catalog);
    }
    return status;
}

static vp_status_t run_restrict_to_all(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    vp_catalog_t *catalog;
    vp_status_t status = vp_catalog_restrict_to_all(given, &catalog, error);

    (void)argument;
    if (status == VP_OK) {
        *digest_p = catalog->model->n_instances * 1000 + catalog->n_families;
        vp_catalog_destroy(catalog);
    }
    return status;
}

static vp_status_t run_rescale(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    const vp_instance_t *instance = &given->model->instances[0];
    vp_rescaled_t rescaled = {instance->kind, instance->source_class, instance->destination_class,
                              700000};
    vp_catalog_t *catalog;
    vp_status_t status = vp_catalog_rescale(given, &rescaled, 1, &catalog, error);

    (void)argument;
    if (status != VP_OK) {
        return status;
    }
    status = vp_catalog_seal(catalog, error);
    if (status == VP_OK) {
        status = digest_catalog(catalog, digest_p, error);
    }
    vp_catalog_destroy(catalog);
    return status;
}

static vp_status_t run_avoid(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    const vp_instance_t *instance = &given->model->instances[0];
    vp_avoided_t avoided = {instance->from_group, instance->to_group, instance->source_class,
                            instance->destination_class};
    vp_catalog_t *catalog;
    vp_status_t status = vp_catalog_avoid(given, &avoided, 1, &catalog, error);

    (void)argument;
    if (status != VP_OK) {
        return status;
    }
    status = vp_catalog_seal(catalog, error);
    if (status == VP_OK) {
        status = digest_catalog(catalog, digest_p, error);
    }
    vp_catalog_destroy(catalog);
    return status;
}

static void count_advice(void *context, const char *text)
{
    *(uint64_t *)context += strlen(text);
}

static vp_status_t run_advise(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    uint32_t n_told = 0;
    uint64_t n_characters = 0;
    vp_status_t status = vp_model_advise(given->model, count_advice, &n_characters, &n_told, error);

    (void)argument;
    *digest_p = n_characters * 100 + n_told;
    return status;
}

static vp_status_t run_draw(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    vp_writer_t writer = VP_WRITER_INIT;
    vp_status_t status = VP_OK;

    (void)argument;
    vp_model_draw(&writer, given->model);
    if (writer.failed) {
        status = vp_error_no_memory(error, "the drawing");
    } else {
        *digest_p = vp_hash64(writer.data, writer.n_bytes);
    }
    vp_writer_clear(&writer);
    return status;
}

START_TEST(catalogs_are_worked_with)
{
    sweep("restrict", run_restrict, NULL);
    sweep("restrict to all", run_restrict_to_all, NULL);
    sweep("rescale", run_rescale, NULL);
    sweep("avoid", run_avoid, NULL);
    sweep("advise", run_advise, NULL);
    sweep("draw", run_draw, NULL);
}
END_TEST

static vp_status_t run_assemble(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    static const uint32_t node_kind[] = {0, 1};
    static const uint32_t rank_node[] = {0, 1, 0, 1, 1};
    static const uint32_t rank_gpu[] = {0, 0, 5, 3, 3};
    const char *first = vp_topology_shipped_text("fig1-6");
    const char *second = vp_topology_shipped_text("r5080-bf3");
    vp_node_kind_t kinds[] = {{first, strlen(first)}, {second, strlen(second)}};
    vp_assembly_t assembly = {kinds, 2, node_kind, 2, rank_node, rank_gpu, 5, "hardware"};
    uint32_t place[5];
    vp_model_t *model;
    vp_status_t status = vp_assemble(&assembly, "the job", &model, place, error);

    (void)argument;
    return status != VP_OK ? status : digest_model(model, digest_p, error);
}

START_TEST(jobs_are_assembled)
{
    sweep("assemble", run_assemble, NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("allocations of the catalog");
    TCase *tcase = tcase_create("sweep");
    SRunner *runner;
    int n_failed;

    failing_take_jansson();
    tcase_set_timeout(tcase, sweep_is_whole() ? 1200 : 120);
    tcase_add_loop_test(tcase, topologies_resolve, 0, N_TOPOLOGIES);
    tcase_add_loop_test(tcase, catalogs_are_made, 0, N_MAKE_CASES);
    tcase_add_test(tcase, jobs_are_assembled);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("one catalog");
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, files_are_whole_or_not_there);
    tcase_add_test(tcase, catalogs_are_worked_with);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
