/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/calibrate.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "catalog/json_write.h"
#include "catalog/topology.h"

enum { MAX_NAME = 2 * VP_MAX_NAME_BYTES };

/* Measured values of one rate name. */
typedef struct values {
    uint64_t *list;
    size_t n;
    size_t capacity;
    bool failed;
} values_t;

uint64_t vp_probe_instance_rate(const vp_probe_findings_t *findings, uint32_t instance)
{
    size_t i;

    for (i = 0; i < findings->n_cases; i++) {
        const vp_probe_case_t *it = &findings->cases[i];

        if (it->resource == VP_PROBE_ALONE && it->flows[0].instance == instance) {
            return findings->results[i].median;
        }
    }
    return 0;
}

uint64_t vp_probe_resource_rate(const vp_probe_findings_t *findings, uint32_t resource)
{
    uint64_t most = 0;
    uint32_t k;
    size_t i;

    for (i = 0; i < findings->n_cases; i++) {
        const vp_probe_case_t *it = &findings->cases[i];
        const vp_instance_t *instance = &findings->model->instances[it->flows[0].instance];
        bool is_over = it->resource == resource;

        for (k = 0; it->resource == VP_PROBE_ALONE && k < instance->n_resources; k++) {
            is_over = is_over || instance->resources[k] == resource;
        }
        if (is_over && findings->results[i].median > most) {
            most = findings->results[i].median;
        }
    }
    return most;
}

static void add(values_t *values, uint64_t value)
{
    if (value == 0) {
        return;
    }
    if (!vp_array_reserve(&values->list, &values->capacity, values->n + 1, sizeof(value))) {
        values->failed = true;
        return;
    }
    values->list[values->n++] = value;
}

static bool has_rate(json_t *element, const char *rate)
{
    const char *own = json_string_value(json_object_get(element, "rate"));

    return own != NULL && strcmp(own, rate) == 0;
}

/* Resources called "node<n>/<name><end>", of all nodes. */
static void add_resources(const vp_probe_findings_t *findings, json_t *element, const char *end,
                          values_t *values)
{
    const char *name = json_string_value(json_object_get(element, "name"));
    char full[MAX_NAME];
    uint32_t i;

    for (i = 0; name != NULL && i < findings->model->n_resources; i++) {
        const vp_resource_t *it = &findings->model->resources[i];

        (void)snprintf(full, sizeof(full), "node%" PRIu32 "/%s%s", it->node, name, end);
        if (strcmp(full, it->name) == 0) {
            add(values, vp_probe_resource_rate(findings, i));
        }
    }
}

static bool is_group(const vp_group_t *group, json_t *element, const char *key)
{
    const char *name = json_string_value(json_object_get(element, key));
    char full[MAX_NAME];

    (void)snprintf(full, sizeof(full), "node%" PRIu32 "/%s", group->node, name == NULL ? "" : name);
    return strcmp(full, group->name) == 0;
}

static void add_paths(const vp_probe_findings_t *findings, json_t *element, values_t *values)
{
    const vp_model_t *model = findings->model;
    const char *kind = json_string_value(json_object_get(element, "kind"));
    uint32_t i;

    for (i = 0; kind != NULL && i < model->n_instances; i++) {
        const vp_instance_t *it = &model->instances[i];

        if (strcmp(vp_path_kind_text(it->kind), kind) == 0 &&
            is_group(&model->groups[it->from_group], element, "from") &&
            is_group(&model->groups[it->to_group], element, "to")) {
            add(values, vp_probe_instance_rate(findings, i));
        }
    }
}

/* A GPU's own link carries at least what the fastest path of its machine does. */
static void add_gpu_link(const vp_probe_findings_t *findings, values_t *values)
{
    uint64_t most = 0;
    uint32_t i;

    for (i = 0; i < findings->model->n_instances; i++) {
        uint64_t rate = vp_probe_instance_rate(findings, i);

        most = rate > most ? rate : most;
    }
    add(values, most);
}

static void collect(const vp_probe_findings_t *findings, json_t *root, const char *rate,
                    values_t *values)
{
    const char *gpu_link = json_string_value(json_object_get(root, "gpu_link"));
    json_t *element;
    size_t i;

    json_array_foreach(json_object_get(root, "links"), i, element)
    {
        if (has_rate(element, rate)) {
            add_resources(findings, element, "", values);
        }
    }
    json_array_foreach(json_object_get(root, "nics"), i, element)
    {
        if (has_rate(element, rate)) {
            add_resources(findings, element, ":tx", values);
            add_resources(findings, element, ":rx", values);
        }
    }
    json_array_foreach(json_object_get(root, "paths"), i, element)
    {
        if (has_rate(element, rate)) {
            add_paths(findings, element, values);
        }
    }
    if (values->n == 0 && gpu_link != NULL && strcmp(gpu_link, rate) == 0) {
        add_gpu_link(findings, values);
    }
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* {"bytes_per_s", "origin"} of one rate name; a new reference, NULL when memory is out. */
static json_t *calibrated(const vp_probe_findings_t *findings, json_t *root, const char *rate,
                          json_t *before)
{
    values_t values = {0};
    char origin[256];
    json_t *made = NULL;

    collect(findings, root, rate, &values);
    if (!values.failed && values.n == 0) {
        made = json_deep_copy(before);
    } else if (!values.failed) {
        qsort(values.list, values.n, sizeof(*values.list), compare);
        (void)snprintf(origin, sizeof(origin),
                       "measured: %s, median of %zu from %" PRIu64 " to %" PRIu64, findings->how,
                       values.n, values.list[0], values.list[values.n - 1]);
        made = json_pack("{s:I, s:s}", "bytes_per_s", (json_int_t)values.list[values.n / 2],
                         "origin", origin);
    }
    free(values.list);
    return made;
}

/* The JSON of a TOPOLOGY argument: shipped text, or a file up to the first colon. */
static json_t *load(const char *argument, vp_error_t *error)
{
    size_t n_name = strcspn(argument, ":");
    char *name = vp_string_copy(argument);
    json_error_t problem = {.text = "out of memory"};
    const char *shipped;
    json_t *root = NULL;

    if (name != NULL) {
        name[n_name] = '\0';
        shipped = vp_topology_shipped_text(name);
        root =
            shipped != NULL ? json_loads(shipped, 0, &problem) : json_load_file(name, 0, &problem);
    }
    if (root == NULL) {
        (void)vp_error_set(
            error, VP_ERR_IO,
            "cannot read the topology \"%s\" again to calibrate it: %s; a file whose "
            "name holds a colon needs another name",
            argument, problem.text);
    }
    free(name);
    return root;
}

static bool add_set(const vp_probe_findings_t *findings, json_t *root, const char *set)
{
    json_t *sets = json_object_get(root, "rates");
    json_t *before = json_object_get(sets, findings->model->rates);
    json_t *made = json_object();
    const char *rate;
    json_t *value;

    json_object_foreach(before, rate, value)
    {
        json_t *one = calibrated(findings, root, rate, value);

        if (one == NULL || json_object_set_new(made, rate, one) != 0) {
            json_decref(made);
            return false;
        }
    }
    return json_object_set_new(sets, set, made) == 0 &&
           json_object_set_new(root, "alpha_ns", json_integer((json_int_t)findings->alpha_ns)) == 0;
}

static json_t *shares(const vp_contention_t *contention, uint32_t table)
{
    json_t *list = json_array();
    uint32_t i;

    for (i = 0; i < contention->n_entries[table]; i++) {
        if (json_array_append_new(list, json_integer(contention->share_ppm[table][i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* Tables in which nothing was measured are left out: they count as ideal. */
static bool add_contention(const vp_probe_findings_t *findings, json_t *root, const char *set)
{
    static const char *const names[VP_N_CONTENTION_TABLES] = {"gpu", "uplink", "nic"};
    const vp_contention_t *contention = findings->contention;
    json_t *profiles = json_object_get(root, "contention");
    json_t *made = json_object();
    char origin[256];
    uint32_t table;

    (void)snprintf(origin, sizeof(origin), "measured: %s", findings->how);
    for (table = 0; table < VP_N_CONTENTION_TABLES; table++) {
        if (contention->n_entries[table] > 1 &&
            json_object_set_new(made, names[table],
                                json_pack("{s:o, s:s}", "share_ppm", shares(contention, table),
                                          "origin", origin)) != 0) {
            json_decref(made);
            return false;
        }
    }
    if (profiles == NULL) {
        profiles = json_object();
        if (json_object_set_new(root, "contention", profiles) != 0) {
            json_decref(made);
            return false;
        }
    }
    return json_object_set_new(profiles, set, made) == 0;
}

/* Takes root. */
static vp_status_t calibrate(json_t *root, const char *set, const vp_probe_findings_t *findings,
                             char **text_p, vp_error_t *error)
{
    char *text = NULL;

    if (json_object_get(json_object_get(root, "rates"), set) != NULL) {
        json_decref(root);
        return vp_error_set(error, VP_ERR_USAGE,
                            "the topology has a rate set \"%s\" already; name another with --set",
                            set);
    }
    if (add_set(findings, root, set) &&
        (findings->contention == NULL || add_contention(findings, root, set))) {
        text = vp_json_print(root, JSON_INDENT(2));
    }
    json_decref(root);
    if (text == NULL) {
        return vp_error_no_memory(error, "the calibrated topology");
    }
    *text_p = text;
    return VP_OK;
}

vp_status_t vp_probe_calibrate(const char *argument, const char *set,
                               const vp_probe_findings_t *findings, char **text_p,
                               vp_error_t *error)
{
    json_t *root = load(argument, error);

    return root == NULL ? VP_ERR_IO : calibrate(root, set, findings, text_p, error);
}

vp_status_t vp_probe_calibrate_text(const char *text, const char *set,
                                    const vp_probe_findings_t *findings, char **text_p,
                                    vp_error_t *error)
{
    json_error_t problem;
    json_t *root = json_loads(text, 0, &problem);

    return root == NULL ? vp_error_set(error, VP_ERR_BAD_INPUT,
                                       "the topology to calibrate is damaged: %s", problem.text)
                        : calibrate(root, set, findings, text_p, error);
}
