/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/topology_spec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

/* A model that is being filled; texts that could not be copied are noticed at the end. */
typedef struct expansion {
    const vp_spec_t *spec;
    vp_model_t *model;
    bool is_out_of_memory;
} expansion_t;

static char *copy(expansion_t *expansion, const char *text)
{
    char *result = vp_string_copy(text);

    if (result == NULL) {
        expansion->is_out_of_memory = true;
    }
    return result;
}

/* "node1/nic0:tx" */
static char *element_name(expansion_t *expansion, uint32_t node, const char *name,
                          const char *suffix)
{
    char text[VP_MAX_NAME_BYTES + 1];

    (void)snprintf(text, sizeof(text), "node%" PRIu32 "/%s%s", node, name, suffix);
    return copy(expansion, text);
}

static void *make_array(expansion_t *expansion, size_t n, size_t size)
{
    void *array = vp_array_new(n, size);

    if (array == NULL) {
        expansion->is_out_of_memory = true;
    }
    return array;
}

static uint32_t resources_per_node(const vp_spec_t *spec)
{
    return spec->n_links + 2 * spec->n_nics;
}

/* Of a node: its links, then tx and rx of each NIC. */
static uint32_t link_resource(const vp_spec_t *spec, uint32_t node, uint32_t link)
{
    return node * resources_per_node(spec) + link;
}

static uint32_t tx_resource(const vp_spec_t *spec, uint32_t node, uint32_t nic)
{
    return link_resource(spec, node, spec->n_links + 2 * nic);
}

static void add_groups(expansion_t *expansion, uint32_t node)
{
    vp_model_t *model = expansion->model;
    uint32_t i;

    for (i = 0; i < expansion->spec->n_switches; i++) {
        const vp_spec_switch_t *from = &expansion->spec->switches[i];

        model->groups[model->n_groups++] =
            (vp_group_t){.name = element_name(expansion, node, from->name, ""),
                         .node = node,
                         .first_rank = model->n_ranks,
                         .n_ranks = from->n_gpus};
        model->n_ranks += from->n_gpus;
    }
}

static void add_resource(expansion_t *expansion, uint32_t node, const char *name,
                         const char *suffix, vp_resource_kind_t kind, const vp_spec_rate_t *rate)
{
    vp_model_t *model = expansion->model;

    model->resources[model->n_resources++] =
        (vp_resource_t){.name = element_name(expansion, node, name, suffix),
                        .kind = kind,
                        .node = node,
                        .bytes_per_s = rate->bytes_per_s,
                        .origin = copy(expansion, rate->origin)};
}

static void add_resources(expansion_t *expansion, uint32_t node)
{
    const vp_spec_t *spec = expansion->spec;
    uint32_t i;

    for (i = 0; i < spec->n_links; i++) {
        add_resource(expansion, node, spec->links[i].name, "", spec->links[i].kind,
                     &spec->links[i].rate);
    }
    for (i = 0; i < spec->n_nics; i++) {
        const vp_spec_nic_t *nic = &spec->nics[i];

        add_resource(expansion, node, nic->name, ":tx", VP_RESOURCE_NIC_TX, &nic->rate);
        add_resource(expansion, node, nic->name, ":rx", VP_RESOURCE_NIC_RX, &nic->rate);
    }
}

static void add_nics(expansion_t *expansion, uint32_t node)
{
    const vp_spec_t *spec = expansion->spec;
    vp_model_t *model = expansion->model;
    uint32_t i;

    for (i = 0; i < spec->n_nics; i++) {
        const vp_spec_nic_t *from = &spec->nics[i];

        model->nics[model->n_nics++] =
            (vp_nic_t){.name = element_name(expansion, node, from->name, ""),
                       .node = node,
                       .group = node * spec->n_switches + from->switch_idx,
                       .tx_resource = tx_resource(spec, node, i),
                       .rx_resource = tx_resource(spec, node, i) + 1,
                       .bytes_per_s = from->rate.bytes_per_s,
                       .path_class = from->path_class};
    }
}

static void add_classes(expansion_t *expansion)
{
    const vp_spec_t *spec = expansion->spec;
    vp_model_t *model = expansion->model;
    uint32_t i;

    for (i = 0; i < spec->n_classes; i++) {
        model->classes[model->n_classes++] =
            (vp_path_class_t){.name = copy(expansion, spec->classes[i].name),
                              .tls = copy(expansion, spec->classes[i].tls),
                              .devices = copy(expansion, spec->classes[i].devices)};
    }
}

static void add_contention(expansion_t *expansion)
{
    const vp_spec_t *spec = expansion->spec;
    vp_model_t *model = expansion->model;
    uint32_t i;
    uint32_t table;
    uint32_t k;

    for (i = 0; i < spec->n_contention; i++) {
        const vp_spec_contention_t *from = &spec->contention[i];
        vp_contention_t *to = &model->contention[model->n_contention++];

        to->name = copy(expansion, from->name);
        for (table = 0; table < VP_N_CONTENTION_TABLES; table++) {
            to->n_entries[table] = from->n_entries[table];
            to->origin[table] = copy(expansion, from->origin[table]);
            for (k = 0; k < from->n_entries[table]; k++) {
                to->share_ppm[table][k] = from->share_ppm[table][k];
            }
        }
    }
}

static void add_path(expansion_t *expansion, uint32_t node, const vp_spec_path_t *path)
{
    const vp_spec_t *spec = expansion->spec;
    vp_model_t *model = expansion->model;
    vp_instance_t *it = &model->instances[model->n_instances++];
    uint32_t n_from = spec->switches[path->from].n_gpus;
    uint32_t n_to = spec->switches[path->to].n_gpus;
    uint32_t i;

    *it = (vp_instance_t){.kind = path->kind,
                          .from_group = node * spec->n_switches + path->from,
                          .to_group = node * spec->n_switches + path->to,
                          .n_copies = 1,
                          .bytes_per_s = path->rate.bytes_per_s,
                          .source_class = path->path_class,
                          .destination_class = path->path_class,
                          .n_resources = path->n_links};
    if (path->n_links == 0) {
        it->n_copies = n_from < n_to ? n_from : n_to;
    }
    for (i = 0; i < path->n_links; i++) {
        it->resources[i] = link_resource(spec, node, path->links[i]);
    }
}

/*
 * A lane out of one NIC into another one: rail to rail unless the file allows
 * any pair. A single GPU has nobody behind its own switch to send to.
 */
static bool is_nic_path(const vp_spec_t *spec, bool is_same_node, uint32_t from, uint32_t to)
{
    const vp_spec_nic_t *source = &spec->nics[from];
    const vp_spec_nic_t *destination = &spec->nics[to];

    if (is_same_node && source->switch_idx == destination->switch_idx &&
        spec->switches[source->switch_idx].n_gpus == 1) {
        return false;
    }
    return spec->is_any_nic_pair || source->rail == destination->rail;
}

static void add_nic_path(expansion_t *expansion, uint32_t from, uint32_t to)
{
    vp_model_t *model = expansion->model;
    const vp_nic_t *source = &model->nics[from];
    const vp_nic_t *destination = &model->nics[to];
    bool is_tx_first = source->tx_resource < destination->rx_resource;

    model->instances[model->n_instances++] = (vp_instance_t){
        .kind = VP_PATH_NIC,
        .from_group = source->group,
        .to_group = destination->group,
        .n_copies = 1,
        .bytes_per_s = source->bytes_per_s < destination->bytes_per_s ? source->bytes_per_s
                                                                      : destination->bytes_per_s,
        .source_class = source->path_class,
        .destination_class = destination->path_class,
        .n_resources = 2,
        .resources = {is_tx_first ? source->tx_resource : destination->rx_resource,
                      is_tx_first ? destination->rx_resource : source->tx_resource}};
}

/* Instances that leave a node; all NICs of the model are there already. */
static void add_instances(expansion_t *expansion, uint32_t node)
{
    const vp_spec_t *spec = expansion->spec;
    uint32_t to_node;
    uint32_t from;
    uint32_t to;
    uint32_t i;

    for (i = 0; i < spec->n_paths; i++) {
        add_path(expansion, node, &spec->paths[i]);
    }
    for (to_node = 0; to_node < spec->n_nodes; to_node++) {
        for (i = 0; i < spec->n_nics * spec->n_nics; i++) {
            from = i / spec->n_nics;
            to = i % spec->n_nics;
            if (is_nic_path(spec, node == to_node, from, to)) {
                add_nic_path(expansion, node * spec->n_nics + from, to_node * spec->n_nics + to);
            }
        }
    }
}

static size_t count_instances(const vp_spec_t *spec)
{
    size_t n_inside = spec->n_paths;
    size_t n_across = 0;
    uint32_t from;
    uint32_t to;

    for (from = 0; from < spec->n_nics; from++) {
        for (to = 0; to < spec->n_nics; to++) {
            n_inside += is_nic_path(spec, true, from, to);
            n_across += is_nic_path(spec, false, from, to);
        }
    }
    return spec->n_nodes * n_inside + (size_t)spec->n_nodes * (spec->n_nodes - 1) * n_across;
}

static void make_arrays(expansion_t *expansion)
{
    const vp_spec_t *spec = expansion->spec;
    vp_model_t *model = expansion->model;
    size_t n_nodes = spec->n_nodes;

    model->groups = make_array(expansion, n_nodes * spec->n_switches, sizeof(*model->groups));
    model->resources =
        make_array(expansion, n_nodes * resources_per_node(spec), sizeof(*model->resources));
    model->nics = make_array(expansion, n_nodes * spec->n_nics, sizeof(*model->nics));
    model->classes = make_array(expansion, spec->n_classes, sizeof(*model->classes));
    model->contention = make_array(expansion, spec->n_contention, sizeof(*model->contention));
    model->instances = make_array(expansion, count_instances(spec), sizeof(*model->instances));
}

static void fill(expansion_t *expansion)
{
    const vp_spec_t *spec = expansion->spec;
    vp_model_t *model = expansion->model;
    uint32_t node;

    model->name = copy(expansion, spec->name);
    model->rates = copy(expansion, spec->rates);
    model->transport = copy(expansion, spec->transport);
    model->gpu_link_origin = copy(expansion, spec->gpu_link.origin);
    model->n_nodes = spec->n_nodes;
    model->alpha_ns = spec->alpha_ns;
    model->put_overhead_ns = spec->put_overhead_ns;
    model->gpu_link_bytes_per_s = spec->gpu_link.bytes_per_s;
    add_classes(expansion);
    add_contention(expansion);
    for (node = 0; node < spec->n_nodes; node++) {
        add_groups(expansion, node);
        add_resources(expansion, node);
        add_nics(expansion, node);
    }
    for (node = 0; node < spec->n_nodes; node++) {
        add_instances(expansion, node);
    }
}

static vp_status_t complete(expansion_t *expansion, const char *file, vp_error_t *error)
{
    vp_error_t cause = {.status = VP_OK};
    vp_status_t status = VP_OK;

    if (expansion->is_out_of_memory) {
        return vp_error_no_memory(error, file);
    }
    status = vp_model_finish(expansion->model, error);
    if (status != VP_OK) {
        return status;
    }
    status = vp_model_check(expansion->model, &cause);
    if (status != VP_OK) {
        return vp_error_set(error, status, "%s: %s", file, cause.text);
    }
    return VP_OK;
}

vp_status_t vp_spec_expand(const vp_spec_t *spec, const char *file, vp_model_t **model_p,
                           vp_error_t *error)
{
    expansion_t expansion = {.spec = spec, .model = vp_array_new(1, sizeof(vp_model_t))};
    vp_status_t status;

    if (expansion.model == NULL) {
        return vp_error_no_memory(error, file);
    }
    make_arrays(&expansion);
    if (!expansion.is_out_of_memory) {
        fill(&expansion);
    }
    status = complete(&expansion, file, error);
    if (status != VP_OK) {
        vp_model_destroy(expansion.model);
        return status;
    }
    *model_p = expansion.model;
    return VP_OK;
}
