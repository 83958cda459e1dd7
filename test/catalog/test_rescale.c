/* SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdlib.h>

#include "catalog/build.h"
#include "catalog/rescale.h"
#include "catalog/store.h"
#include "catalog/topology.h"

static vp_catalog_t *make_catalog(const char *topology)
{
    vp_model_t *model = NULL;
    vp_catalog_t *catalog = NULL;
    vp_error_t error;

    ck_assert_msg(vp_topology_resolve(topology, &model, &error) == VP_OK, "%s", error.text);
    ck_assert_msg(vp_catalog_make(&model, VP_BUILD_AUTO, NULL, NULL, &catalog, &error) == VP_OK,
                  "%s", error.text);
    vp_model_destroy(model);
    return catalog;
}

/* The first instance of a kind between two groups. */
static const vp_instance_t *find(const vp_model_t *model, uint32_t from, uint32_t to,
                                 vp_path_kind_t kind)
{
    uint32_t i = model->pair_begin[vp_pair(model, from, to)];

    while (model->instances[i].kind != kind) {
        ck_assert_uint_lt(++i, model->pair_begin[vp_pair(model, from, to) + 1]);
    }
    return &model->instances[i];
}

static vp_catalog_t *rescale(const vp_catalog_t *catalog, const vp_instance_t *instance,
                             uint32_t ppm)
{
    const vp_rescaled_t rescaled = {instance->kind, instance->source_class,
                                    instance->destination_class, ppm};
    vp_catalog_t *result = NULL;
    vp_error_t error;

    ck_assert_msg(vp_catalog_rescale(catalog, &rescaled, 1, &result, &error) == VP_OK, "%s",
                  error.text);
    ck_assert_msg(vp_model_check(result->model, &error) == VP_OK, "%s", error.text);
    return result;
}

START_TEST(a_path_and_what_it_alone_uses_change)
{
    vp_catalog_t *catalog = make_catalog("r5080-bf3");
    const vp_instance_t *pxb = find(catalog->model, 0, 1, VP_PATH_PXB);
    const vp_instance_t *nic = find(catalog->model, 0, 1, VP_PATH_NIC);
    vp_catalog_t *half = rescale(catalog, pxb, 500000);
    const vp_instance_t *after = find(half->model, 0, 1, VP_PATH_PXB);

    ck_assert_uint_eq(after->bytes_per_s, pxb->bytes_per_s / 2);
    ck_assert_uint_eq(half->model->resources[after->resources[0]].bytes_per_s,
                      catalog->model->resources[pxb->resources[0]].bytes_per_s / 2);
    ck_assert_uint_eq(find(half->model, 0, 1, VP_PATH_NIC)->bytes_per_s, nic->bytes_per_s);
    ck_assert_uint_eq(half->model->gpu_link_bytes_per_s, catalog->model->gpu_link_bytes_per_s);
    ck_assert_uint_eq(half->model->n_instances, catalog->model->n_instances);
    vp_catalog_destroy(half);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(links_of_gpus_grow_with_paths)
{
    vp_catalog_t *catalog = make_catalog("r5080-bf3");
    const vp_instance_t *pxb = find(catalog->model, 0, 1, VP_PATH_PXB);
    vp_catalog_t *fast = rescale(catalog, pxb, 8000000);

    ck_assert_uint_eq(find(fast->model, 0, 1, VP_PATH_PXB)->bytes_per_s, 8 * pxb->bytes_per_s);
    ck_assert_uint_ge(fast->model->gpu_link_bytes_per_s, 8 * pxb->bytes_per_s);
    vp_catalog_destroy(fast);
    vp_catalog_destroy(catalog);
}
END_TEST

/* What ranks derive alone is the same, to the fingerprint; and the way back is exact here. */
START_TEST(it_depends_on_its_arguments_alone)
{
    vp_catalog_t *catalog = make_catalog("r5080-bf3");
    const vp_instance_t *pxb = find(catalog->model, 0, 1, VP_PATH_PXB);
    vp_catalog_t *one = rescale(catalog, pxb, 500000), *two = rescale(catalog, pxb, 500000);
    vp_catalog_t *back = rescale(one, find(one->model, 0, 1, VP_PATH_PXB), 2000000);
    vp_error_t error;

    ck_assert(vp_catalog_seal(one, &error) == VP_OK && vp_catalog_seal(two, &error) == VP_OK);
    ck_assert_uint_eq(one->fingerprint, two->fingerprint);
    ck_assert_uint_eq(find(back->model, 0, 1, VP_PATH_PXB)->bytes_per_s, pxb->bytes_per_s);
    vp_catalog_destroy(one);
    vp_catalog_destroy(two);
    vp_catalog_destroy(back);
    vp_catalog_destroy(catalog);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("catalogs with other rates");
    TCase *tcase = tcase_create("rescale");
    SRunner *runner;
    int n_failed;

    tcase_add_test(tcase, a_path_and_what_it_alone_uses_change);
    tcase_add_test(tcase, links_of_gpus_grow_with_paths);
    tcase_add_test(tcase, it_depends_on_its_arguments_alone);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
