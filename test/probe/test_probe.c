/*
 * What the probe tries out, and what becomes of its figures.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/topology.h"
#include "tools/probe/calibrate.h"

typedef struct setting {
    vp_model_t *model;
    vp_probe_case_t *cases;
    size_t n_cases;
    vp_probe_result_t *results;
} setting_t;

static setting_t setting;

static void load(const char *topology)
{
    vp_error_t error;

    ck_assert_msg(vp_topology_resolve(topology, &setting.model, &error) == VP_OK, "%s", error.text);
    ck_assert_msg(vp_probe_cases(setting.model, &setting.cases, &setting.n_cases, &error) == VP_OK,
                  "%s", error.text);
    setting.results = calloc(setting.n_cases + 1, sizeof(*setting.results));
    ck_assert_ptr_nonnull(setting.results);
}

static void clear(void)
{
    vp_model_destroy(setting.model);
    free(setting.cases);
    free(setting.results);
    memset(&setting, 0, sizeof(setting));
}

static bool is_over(const vp_instance_t *instance, uint32_t resource)
{
    uint32_t i;

    for (i = 0; i < instance->n_resources; i++) {
        if (instance->resources[i] == resource) {
            return true;
        }
    }
    return false;
}

static void check_flow(const vp_probe_flow_t *flow)
{
    const vp_instance_t *instance = &setting.model->instances[flow->instance];

    ck_assert_uint_ne(flow->source, flow->destination);
    ck_assert_uint_eq(setting.model->rank_group[flow->source], instance->from_group);
    ck_assert_uint_eq(setting.model->rank_group[flow->destination], instance->to_group);
}

static void check_shared(const vp_probe_case_t *it)
{
    const vp_instance_t *one = &setting.model->instances[it->flows[0].instance];
    const vp_instance_t *other = &setting.model->instances[it->flows[1].instance];
    uint32_t n_common = 0;
    uint32_t i;

    ck_assert_uint_eq(it->n_flows, 2);
    ck_assert_uint_ne(it->flows[0].source, it->flows[1].source);
    ck_assert_uint_ne(it->flows[0].destination, it->flows[1].destination);
    for (i = 0; i < setting.model->n_resources; i++) {
        n_common += is_over(one, i) && is_over(other, i);
    }
    ck_assert_uint_eq(n_common, 1);
    ck_assert(is_over(one, it->resource) && is_over(other, it->resource));
}

/* Every path alone, and every link with two flows that meet nowhere else. */
static void check_cases(const char *topology)
{
    size_t n_alone = 0;
    size_t i;

    load(topology);
    for (i = 0; i < setting.n_cases; i++) {
        const vp_probe_case_t *it = &setting.cases[i];

        check_flow(&it->flows[0]);
        if (it->resource == VP_PROBE_ALONE) {
            ck_assert_uint_eq(it->flows[0].instance, n_alone);
            n_alone++;
        } else {
            check_flow(&it->flows[1]);
            check_shared(it);
        }
    }
    ck_assert_uint_eq(n_alone, setting.model->n_instances);
    ck_assert_uint_eq(setting.n_cases - n_alone, setting.model->n_resources);
    clear();
}

START_TEST(cases_of_machines)
{
    check_cases("fig1-6");
    check_cases("r5080-bf3:nodes=2");
    check_cases("r5090-bf3");
}
END_TEST

START_TEST(too_many_cases)
{
    vp_model_t *model = NULL;
    vp_probe_case_t *cases = NULL;
    size_t n_cases;
    vp_error_t error;

    ck_assert_int_eq(vp_topology_resolve("r5090-bf3:nodes=32", &model, &error), VP_OK);
    ck_assert_int_eq(vp_probe_cases(model, &cases, &n_cases, &error), VP_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(error.text, ":nodes="));
    vp_model_destroy(model);
}
END_TEST

static vp_probe_findings_t findings(void)
{
    return (vp_probe_findings_t){.model = setting.model,
                                 .cases = setting.cases,
                                 .results = setting.results,
                                 .n_cases = setting.n_cases,
                                 .alpha_ns = 12345,
                                 .how = "a test"};
}

/* 0.9 of the file for paths alone, 0.8 for links that two share, but nothing for NICs. */
static void invent(void)
{
    size_t i;

    for (i = 0; i < setting.n_cases; i++) {
        const vp_probe_case_t *it = &setting.cases[i];
        const vp_instance_t *instance = &setting.model->instances[it->flows[0].instance];

        if (instance->kind != VP_PATH_NIC) {
            setting.results[i].median =
                instance->bytes_per_s / 10 * (it->resource == VP_PROBE_ALONE ? 9 : 8);
        }
    }
}

START_TEST(the_larger_of_one_and_two_flows)
{
    vp_probe_findings_t found;
    uint32_t i;

    load("fig1-6");
    invent();
    found = findings();
    for (i = 0; i < setting.model->n_resources; i++) {
        const vp_resource_t *it = &setting.model->resources[i];
        uint64_t expected =
            it->kind == VP_RESOURCE_INTER_SWITCH ? it->bytes_per_s / 10 * 9 : UINT64_C(0);

        ck_assert_msg(vp_probe_resource_rate(&found, i) == expected,
                      "%s: %" PRIu64 " instead of %" PRIu64, it->name,
                      vp_probe_resource_rate(&found, i), expected);
    }
    clear();
}
END_TEST

static json_int_t rate(json_t *root, const char *set, const char *name)
{
    json_t *it = json_object_get(json_object_get(json_object_get(root, "rates"), set), name);

    return json_integer_value(json_object_get(it, "bytes_per_s"));
}

START_TEST(a_calibrated_topology)
{
    vp_probe_findings_t found;
    char *text = NULL;
    vp_error_t error;
    json_t *root;
    json_t *sets;
    const char *name;
    json_t *value;

    load("fig1-6");
    invent();
    found = findings();
    ck_assert_msg(vp_probe_calibrate("fig1-6", "mine", &found, &text, &error) == VP_OK, "%s",
                  error.text);
    root = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(root);
    sets = json_object_get(root, "rates");
    ck_assert_int_eq(json_integer_value(json_object_get(root, "alpha_ns")), 12345);
    json_object_foreach(json_object_get(sets, "nominal"), name, value)
    {
        json_int_t before = rate(root, "nominal", name);
        json_int_t after = rate(root, "mine", name);

        ck_assert_msg(after == (strcmp(name, "nic") == 0 ? before : before / 10 * 9),
                      "%s: %" JSON_INTEGER_FORMAT " became %" JSON_INTEGER_FORMAT, name, before,
                      after);
    }
    json_decref(root);
    free(text);
    clear();
}
END_TEST

START_TEST(a_set_that_exists)
{
    vp_probe_findings_t found;
    char *text = NULL;
    vp_error_t error;

    load("fig1-6");
    found = findings();
    ck_assert_int_eq(vp_probe_calibrate("fig1-6", "nominal", &found, &text, &error), VP_ERR_USAGE);
    ck_assert_ptr_null(text);
    ck_assert_ptr_nonnull(strstr(error.text, "--set"));
    ck_assert_int_eq(vp_probe_calibrate("/nonexistent.json", "mine", &found, &text, &error),
                     VP_ERR_IO);
    clear();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("probe");
    TCase *tests = tcase_create("probe");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_add_test(tests, cases_of_machines);
    tcase_add_test(tests, too_many_cases);
    tcase_add_test(tests, the_larger_of_one_and_two_flows);
    tcase_add_test(tests, a_calibrated_topology);
    tcase_add_test(tests, a_set_that_exists);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_ENV);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed != 0;
}
