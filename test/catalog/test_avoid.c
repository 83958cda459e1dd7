/* SPDX-License-Identifier: BSD-3-Clause */
#include <check.h>
#include <stdlib.h>

#include "catalog/avoid.h"
#include "catalog/build.h"
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

static uint32_t count_kind(const vp_model_t *model, uint32_t from, uint32_t to, vp_path_kind_t kind)
{
    size_t pair = vp_pair(model, from, to);
    uint32_t i, n = 0;

    for (i = model->pair_begin[pair]; i < model->pair_begin[pair + 1]; i++) {
        n += model->instances[i].kind == kind;
    }
    return n;
}

static vp_avoided_t avoid_kind(const vp_model_t *model, uint32_t from, uint32_t to,
                               vp_path_kind_t kind)
{
    size_t pair = vp_pair(model, from, to);
    uint32_t i = model->pair_begin[pair];

    while (model->instances[i].kind != kind) {
        ck_assert_uint_lt(++i, model->pair_begin[pair + 1]);
    }
    return (vp_avoided_t){from, to, model->instances[i].source_class,
                          model->instances[i].destination_class};
}

static vp_catalog_t *avoid(const vp_catalog_t *catalog, const vp_avoided_t *avoided, size_t n)
{
    vp_catalog_t *result = NULL;
    vp_error_t error;

    ck_assert_msg(vp_catalog_avoid(catalog, avoided, n, &result, &error) == VP_OK, "%s",
                  error.text);
    ck_assert_msg(vp_model_check(result->model, &error) == VP_OK, "%s", error.text);
    return result;
}

START_TEST(a_path_goes_where_another_is_left)
{
    vp_catalog_t *catalog = make_catalog("r5080-bf3");
    vp_avoided_t avoided = avoid_kind(catalog->model, 0, 1, VP_PATH_PXB);
    vp_catalog_t *result = avoid(catalog, &avoided, 1);

    ck_assert_uint_eq(count_kind(catalog->model, 0, 1, VP_PATH_PXB), 1);
    ck_assert_uint_eq(count_kind(result->model, 0, 1, VP_PATH_PXB), 0);
    ck_assert_uint_eq(count_kind(result->model, 0, 1, VP_PATH_HOST), 0);
    ck_assert_uint_eq(count_kind(result->model, 0, 1, VP_PATH_NIC), 1);
    ck_assert_uint_eq(count_kind(result->model, 1, 0, VP_PATH_PXB), 1);
    ck_assert_uint_eq(result->model->n_instances, catalog->model->n_instances - 1);
    vp_catalog_destroy(result);
    vp_catalog_destroy(catalog);
}
END_TEST

START_TEST(the_last_path_goes_through_the_host)
{
    vp_catalog_t *catalog = make_catalog("r5080-bf3");
    vp_avoided_t avoided[2] = {avoid_kind(catalog->model, 0, 1, VP_PATH_PXB),
                               avoid_kind(catalog->model, 0, 1, VP_PATH_NIC)};
    vp_catalog_t *both = avoid(catalog, avoided, 2), *again;

    ck_assert_uint_eq(both->model->n_instances, catalog->model->n_instances);
    ck_assert_uint_eq(count_kind(both->model, 0, 1, VP_PATH_HOST), 2);
    ck_assert_uint_eq(count_kind(both->model, 1, 0, VP_PATH_HOST), 0);
    /* What is staged already is not avoided. */
    again = avoid(both, avoided, 2);
    ck_assert_uint_eq(again->model->n_instances, both->model->n_instances);
    ck_assert_uint_eq(count_kind(again->model, 0, 1, VP_PATH_HOST), 2);
    vp_catalog_destroy(again);
    vp_catalog_destroy(both);
    vp_catalog_destroy(catalog);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("avoided paths");
    TCase *tcase = tcase_create("avoided paths");
    SRunner *runner;
    int n_failed;

    tcase_add_test(tcase, a_path_goes_where_another_is_left);
    tcase_add_test(tcase, the_last_path_goes_through_the_host);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
