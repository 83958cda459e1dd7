/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/fail.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static bool uses(const vp_instance_t *instance, uint32_t resource)
{
    uint32_t i;

    for (i = 0; i < instance->n_resources && instance->resources[i] != resource; i++) {
    }
    return i < instance->n_resources;
}

static void drop_nics(vp_model_t *model, uint32_t resource)
{
    uint32_t n = 0;
    uint32_t i;

    for (i = 0; i < model->n_nics; i++) {
        if (model->nics[i].tx_resource == resource || model->nics[i].rx_resource == resource) {
            free(model->nics[i].name);
        } else {
            model->nics[n++] = model->nics[i];
        }
    }
    model->n_nics = n;
}

static void drop_instances(vp_model_t *model, uint32_t resource)
{
    size_t n_pairs = (size_t)model->n_groups * model->n_groups;
    uint32_t n = 0;
    uint32_t i;
    size_t pair;

    for (pair = 0; pair < n_pairs; pair++) {
        uint32_t begin = model->pair_begin[pair];
        uint32_t end = model->pair_begin[pair + 1];

        model->pair_begin[pair] = n;
        for (i = begin; i < end; i++) {
            if (!uses(&model->instances[i], resource)) {
                model->instances[n++] = model->instances[i];
            }
        }
    }
    model->pair_begin[n_pairs] = n;
    model->n_instances = n;
}

/* The nearest path of two groups, the fastest of its kind; NULL: none up to max_kind. */
static const vp_instance_t *nearest(const vp_model_t *model, uint32_t from, uint32_t to,
                                    vp_path_kind_t max_kind)
{
    const vp_instance_t *best = NULL;
    uint32_t i;

    for (i = model->pair_begin[vp_pair(model, from, to)];
         i < model->pair_begin[vp_pair(model, from, to) + 1]; i++) {
        const vp_instance_t *it = &model->instances[i];

        if (it->kind <= max_kind &&
            (best == NULL || it->kind < best->kind ||
             (it->kind == best->kind && it->bytes_per_s > best->bytes_per_s))) {
            best = it;
        }
    }
    return best;
}

/* NICs of a group, or of its whole node; returns their number. */
static uint32_t list_nics_of(const vp_model_t *model, uint32_t group, bool of_node, uint32_t *nics)
{
    uint32_t n = 0;
    uint32_t i;

    for (i = 0; i < model->n_nics; i++) {
        if (of_node ? model->nics[i].node == model->groups[group].node
                    : model->nics[i].group == group) {
            nics[n++] = i;
        }
    }
    return n;
}

/* NICs that a group can use: its own, else those of its node. */
static uint32_t list_nics(const vp_model_t *model, uint32_t group, uint32_t *nics)
{
    uint32_t n = list_nics_of(model, group, false, nics);

    return n > 0 ? n : list_nics_of(model, group, true, nics);
}

/* Adds the PCIe way between two groups to a detour; false: there is none, or no room. */
static bool append_way(const vp_model_t *model, uint32_t from, uint32_t to, vp_instance_t *detour)
{
    const vp_instance_t *way = from == to ? NULL : nearest(model, from, to, VP_PATH_SYS);
    uint32_t i;

    if (from == to) {
        return true;
    }
    if (way == NULL || detour->n_resources + way->n_resources > VP_MAX_FOOTPRINT) {
        return false;
    }
    for (i = 0; i < way->n_resources; i++) {
        detour->resources[detour->n_resources++] = way->resources[i];
    }
    if (way->bytes_per_s < detour->bytes_per_s) {
        detour->bytes_per_s = way->bytes_per_s;
    }
    return true;
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a;
    uint32_t right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

/* From one group out of a NIC, into a NIC, to the other; false: no such path. */
static bool make_detour(const vp_model_t *model, uint32_t from, uint32_t to, const vp_nic_t *out,
                        const vp_nic_t *in, vp_instance_t *detour)
{
    uint32_t i;

    *detour = (vp_instance_t){.kind = VP_PATH_NIC,
                              .from_group = from,
                              .to_group = to,
                              .n_copies = 1,
                              .bytes_per_s = out->bytes_per_s < in->bytes_per_s ? out->bytes_per_s
                                                                                : in->bytes_per_s,
                              .source_class = out->path_class,
                              .destination_class = in->path_class,
                              .n_resources = 2,
                              .resources = {out->tx_resource, in->rx_resource}};
    if (!append_way(model, from, out->group, detour) || !append_way(model, in->group, to, detour)) {
        return false;
    }
    qsort(detour->resources, detour->n_resources, sizeof(uint32_t), compare_u32);
    for (i = 1; i < detour->n_resources; i++) {
        if (detour->resources[i] == detour->resources[i - 1]) {
            return false;
        }
    }
    return true;
}

typedef struct detours {
    vp_instance_t *items;
    size_t n, capacity;
    uint32_t *out; /* [n_nics] scratch */
    uint32_t *in;
} detours_t;

/* Rail to rail, the shorter list around again. */
static vp_status_t detour_pair(const vp_model_t *model, uint32_t from, uint32_t to,
                               detours_t *detours, vp_error_t *error)
{
    uint32_t n_out = list_nics(model, from, detours->out);
    uint32_t n_in = list_nics(model, to, detours->in);
    uint32_t n = n_out > n_in ? n_out : n_in;
    uint32_t k;

    for (k = 0; k < n && n_out > 0 && n_in > 0; k++) {
        const vp_nic_t *out = &model->nics[detours->out[k % n_out]];
        const vp_nic_t *in = &model->nics[detours->in[k % n_in]];

        if (!vp_array_reserve(&detours->items, &detours->capacity, detours->n + 1,
                              sizeof(vp_instance_t))) {
            return vp_error_no_memory(error, "detours around a failed link");
        }
        detours->n +=
            out != in && make_detour(model, from, to, out, in, &detours->items[detours->n]);
    }
    return VP_OK;
}

static vp_status_t add_detours(vp_model_t *model, const detours_t *detours, vp_error_t *error)
{
    size_t n = model->n_instances + detours->n;
    vp_instance_t *instances;

    if (detours->n == 0) {
        return VP_OK;
    }
    instances = vp_array_new(n, sizeof(*instances));
    if (instances == NULL) {
        return vp_error_no_memory(error, "detours around a failed link");
    }
    memcpy(instances, model->instances, model->n_instances * sizeof(*instances));
    memcpy(instances + model->n_instances, detours->items, detours->n * sizeof(*instances));
    free(model->instances);
    model->instances = instances;
    model->n_instances = (uint32_t)n;
    return vp_model_finish(model, error);
}

static vp_status_t find_detours(vp_model_t *model, vp_error_t *error)
{
    detours_t detours = {NULL, 0, 0, NULL, NULL};
    vp_status_t status = VP_OK;
    uint32_t from;
    uint32_t to;

    detours.out = vp_array_new(model->n_nics, sizeof(uint32_t));
    detours.in = vp_array_new(model->n_nics, sizeof(uint32_t));
    if (detours.out == NULL || detours.in == NULL) {
        status = vp_error_no_memory(error, "detours around a failed link");
    }
    for (from = 0; status == VP_OK && from < model->n_groups; from++) {
        for (to = 0; status == VP_OK && to < model->n_groups; to++) {
            size_t pair = vp_pair(model, from, to);

            if (from != to && model->pair_begin[pair] == model->pair_begin[pair + 1]) {
                status = detour_pair(model, from, to, &detours, error);
            }
        }
    }
    if (status == VP_OK) {
        status = add_detours(model, &detours, error);
    }
    free(detours.in);
    free(detours.out);
    free(detours.items);
    return status;
}

vp_status_t vp_model_fail_link(vp_model_t *model, const char *name, vp_error_t *error)
{
    uint32_t resource;

    for (resource = 0; resource < model->n_resources; resource++) {
        if (strcmp(model->resources[resource].name, name) == 0) {
            drop_instances(model, resource);
            drop_nics(model, resource);
            return find_detours(model, error);
        }
    }
    return vp_error_set(error, VP_ERR_USAGE,
                        "topology \"%s\" has no link \"%.200s\" that could fail; "
                        "`variopath topology show` lists its resources",
                        model->name, name);
}

static bool is_same_path(const vp_instance_t *a, const vp_instance_t *b)
{
    return a->kind == b->kind && a->bytes_per_s == b->bytes_per_s &&
           a->source_class == b->source_class && a->destination_class == b->destination_class &&
           a->n_resources == b->n_resources &&
           memcmp(a->resources, b->resources, a->n_resources * sizeof(uint32_t)) == 0;
}

/* The actual machine's instance for a planned one; n_instances: none. */
static uint32_t find_path(const vp_model_t *actual, const vp_instance_t *planned)
{
    size_t pair = vp_pair(actual, planned->from_group, planned->to_group);
    const vp_instance_t *other;
    uint32_t i;

    for (i = actual->pair_begin[pair]; i < actual->pair_begin[pair + 1]; i++) {
        if (is_same_path(&actual->instances[i], planned)) {
            return i;
        }
    }
    other = nearest(actual, planned->from_group, planned->to_group, VP_N_PATH_KINDS);
    return other == NULL ? actual->n_instances : (uint32_t)(other - actual->instances);
}

vp_status_t vp_plan_reroute(vp_plan_t *plan, const vp_model_t *planned, const vp_model_t *actual,
                            vp_error_t *error)
{
    size_t i;

    for (i = 0; i < plan->n_lanes; i++) {
        vp_lane_t *lane = &plan->lanes[i];
        uint32_t instance = find_path(actual, &planned->instances[lane->instance]);

        if (instance == actual->n_instances) {
            return vp_error_set(error, VP_ERR_BAD_INPUT,
                                "rank %" PRIu32 " has no path to rank %" PRIu32
                                " left in topology \"%s\"; the plan cannot run there, let another "
                                "link fail",
                                lane->source, lane->destination, actual->name);
        }
        lane->instance = instance;
    }
    return VP_OK;
}
