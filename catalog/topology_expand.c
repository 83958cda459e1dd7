/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/topology_expansion.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static char *copy(vp_expansion_t *expansion, const char *text)
{
    char *result = vp_string_copy(text);

    if (result == NULL) {
        expansion->is_out_of_memory = true;
    }
    return result;
}

/* "node1/nic0:tx" */
static char *element_name(vp_expansion_t *expansion, uint32_t node, const char *name,
                          const char *suffix)
{
    char text[VP_MAX_NAME_BYTES + 1];

    (void)snprintf(text, sizeof(text), "node%" PRIu32 "/%s%s", node, name, suffix);
    return copy(expansion, text);
}

static void *make_array(vp_expansion_t *expansion, size_t n, size_t size)
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

static void add_groups(vp_expansion_t *expansion, uint32_t node)
{
    const vp_spec_t *spec = expansion->nodes[node].spec;
    vp_model_t *model = expansion->model;
    uint32_t i;

    for (i = 0; i < spec->n_switches; i++) {
        const vp_spec_switch_t *from = &spec->switches[i];

        model->groups[model->n_groups++] =
            (vp_group_t){.name = element_name(expansion, node, from->name, from->suffix),
                         .node = node,
                         .first_rank = model->n_ranks,
                         .n_ranks = from->n_gpus};
        model->n_ranks += from->n_gpus;
    }
    for (i = 0; i < spec->n_ranks && model->rank_pci != NULL; i++) {
        model->rank_pci[model->n_ranks - spec->n_ranks + i] = spec->rank_pci[i];
    }
}

static void add_resource(vp_expansion_t *expansion, uint32_t node, const char *name,
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

static void add_resources(vp_expansion_t *expansion, uint32_t node)
{
    const vp_spec_t *spec = expansion->nodes[node].spec;
    uint32_t i;

    for (i = 0; i < spec->n_links; i++) {
        add_resource(expansion, node, spec->links[i].name, spec->links[i].suffix,
                     spec->links[i].kind, &spec->links[i].rate);
    }
    for (i = 0; i < spec->n_nics; i++) {
        const vp_spec_nic_t *nic = &spec->nics[i];

        add_resource(expansion, node, nic->name, ":tx", VP_RESOURCE_NIC_TX, &nic->rate);
        add_resource(expansion, node, nic->name, ":rx", VP_RESOURCE_NIC_RX, &nic->rate);
    }
}

static void add_nics(vp_expansion_t *expansion, uint32_t node)
{
    const vp_expanded_node_t *at = &expansion->nodes[node];
    vp_model_t *model = expansion->model;
    uint32_t i;

    for (i = 0; i < at->spec->n_nics; i++) {
        const vp_spec_nic_t *from = &at->spec->nics[i];

        model->nics[model->n_nics++] =
            (vp_nic_t){.name = element_name(expansion, node, from->name, ""),
                       .node = node,
                       .group = at->first_group + from->switch_idx,
                       .tx_resource = vp_expanded_tx(at, i),
                       .rx_resource = vp_expanded_tx(at, i) + 1,
                       .bytes_per_s = from->rate.bytes_per_s,
                       .path_class = vp_expanded_class(expansion, at, from->path_class),
                       .pci = from->pci};
    }
}

static uint32_t find_class_name(const vp_model_t *model, const char *name)
{
    uint32_t i = 0;

    while (i < model->n_classes && strcmp(model->classes[i].name, name) != 0) {
        i++;
    }
    return i;
}

/*
 * The model's number of a class, which is added unless it is there. Nodes of
 * another kind may have other devices under its name: that gets a number behind it.
 */
static uint32_t find_class(vp_expansion_t *expansion, const vp_spec_class_t *from)
{
    vp_model_t *model = expansion->model;
    char name[VP_MAX_NAME_BYTES + 1];
    uint32_t n_alike = 0;
    uint32_t i;

    (void)snprintf(name, sizeof(name), "%s", from->name);
    i = find_class_name(model, name);
    while (i < model->n_classes && (strcmp(model->classes[i].tls, from->tls) != 0 ||
                                    strcmp(model->classes[i].devices, from->devices) != 0)) {
        (void)snprintf(name, sizeof(name), "%s.%" PRIu32, from->name, ++n_alike);
        i = find_class_name(model, name);
    }
    if (i == model->n_classes) {
        model->classes[i] = (vp_path_class_t){.name = copy(expansion, name),
                                              .tls = copy(expansion, from->tls),
                                              .devices = copy(expansion, from->devices)};
        model->n_classes++;
    }
    return i;
}

static void add_classes(vp_expansion_t *expansion)
{
    uint32_t i;
    uint32_t k;

    for (i = 0; i < expansion->in->n_specs && !expansion->is_out_of_memory; i++) {
        const vp_spec_t *spec = &expansion->in->specs[i];

        for (k = 0; k < spec->n_classes && !expansion->is_out_of_memory; k++) {
            expansion->spec_class[i][k] = find_class(expansion, &spec->classes[k]);
        }
    }
}

static void add_contention(vp_expansion_t *expansion)
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

/* Where each node begins; the totals go into *sum. */
static void place_nodes(vp_expansion_t *expansion, vp_model_t *sum)
{
    const vp_spec_nodes_t *in = expansion->in;
    uint32_t i;

    for (i = 0; i < in->n_nodes; i++) {
        vp_expanded_node_t *node = &expansion->nodes[i];

        node->spec_idx = in->node_spec == NULL ? 0 : in->node_spec[i];
        node->spec = &in->specs[node->spec_idx];
        node->first_group = sum->n_groups;
        node->first_resource = sum->n_resources;
        expansion->spec_nodes[node->spec_idx]++;
        sum->n_groups += node->spec->n_switches;
        sum->n_ranks += node->spec->n_ranks;
        sum->n_nics += node->spec->n_nics;
        sum->n_resources += resources_per_node(node->spec);
    }
}

static bool has_addresses(const vp_expansion_t *expansion)
{
    uint32_t i;
    uint32_t k;

    for (i = 0; i < expansion->in->n_specs; i++) {
        for (k = 0; k < expansion->in->specs[i].n_ranks; k++) {
            if (expansion->spec_nodes[i] > 0 &&
                expansion->in->specs[i].rank_pci[k] != VP_PCI_UNKNOWN) {
                return true;
            }
        }
    }
    return false;
}

static vp_status_t check_limits(const vp_spec_nodes_t *in, const vp_model_t *sum,
                                uint64_t n_instances, const char *file, vp_error_t *error)
{
    if (in->n_nodes > VP_MAX_GROUPS || sum->n_ranks > VP_MAX_RANKS ||
        sum->n_groups > VP_MAX_GROUPS || sum->n_nics > VP_MAX_NICS ||
        sum->n_resources > VP_MAX_RESOURCES || n_instances > VP_MAX_INSTANCES) {
        return vp_error_set(error, VP_ERR_LIMIT,
                            "%s: %" PRIu32 " nodes make %" PRIu32 " ranks, %" PRIu32
                            " rank groups, %" PRIu32 " NICs, %" PRIu32
                            " shared resources and %" PRIu64
                            " path instances; the limits are %d, %d, %d, %d and %d, use fewer",
                            file, in->n_nodes, sum->n_ranks, sum->n_groups, sum->n_nics,
                            sum->n_resources, n_instances, VP_MAX_RANKS, VP_MAX_GROUPS, VP_MAX_NICS,
                            VP_MAX_RESOURCES, VP_MAX_INSTANCES);
    }
    return VP_OK;
}

static void make_arrays(vp_expansion_t *expansion, const vp_model_t *sum, uint64_t n_instances)
{
    const vp_spec_nodes_t *in = expansion->in;
    vp_model_t *model = expansion->model;
    size_t n_classes = 0;
    uint32_t i;

    expansion->spec_class = make_array(expansion, in->n_specs, sizeof(*expansion->spec_class));
    for (i = 0; i < in->n_specs && expansion->spec_class != NULL; i++) {
        expansion->spec_class[i] =
            make_array(expansion, in->specs[i].n_classes, sizeof(**expansion->spec_class));
        n_classes += in->specs[i].n_classes;
    }
    model->groups = make_array(expansion, sum->n_groups, sizeof(*model->groups));
    model->resources = make_array(expansion, sum->n_resources, sizeof(*model->resources));
    model->nics = make_array(expansion, sum->n_nics, sizeof(*model->nics));
    model->classes = make_array(expansion, n_classes, sizeof(*model->classes));
    model->contention =
        make_array(expansion, expansion->spec->n_contention, sizeof(*model->contention));
    model->instances = make_array(expansion, n_instances, sizeof(*model->instances));
    if (has_addresses(expansion)) {
        model->rank_pci = make_array(expansion, sum->n_ranks, sizeof(*model->rank_pci));
    }
}

/* What the model says once: the slowest GPU link and the largest overheads of its nodes. */
static void fill_head(vp_expansion_t *expansion)
{
    const vp_spec_t *spec = expansion->spec;
    const vp_spec_t *slowest = NULL;
    vp_model_t *model = expansion->model;
    uint32_t i;

    model->name = copy(expansion, spec->name);
    model->rates = copy(expansion, spec->rates);
    model->transport = copy(expansion, spec->transport);
    model->n_nodes = expansion->in->n_nodes;
    for (i = 0; i < expansion->in->n_specs; i++) {
        const vp_spec_t *it = &expansion->in->specs[i];

        if (expansion->spec_nodes[i] == 0) {
            continue;
        }
        model->alpha_ns = it->alpha_ns > model->alpha_ns ? it->alpha_ns : model->alpha_ns;
        if (it->put_overhead_ns > model->put_overhead_ns) {
            model->put_overhead_ns = it->put_overhead_ns;
        }
        if (slowest == NULL || it->gpu_link.bytes_per_s < slowest->gpu_link.bytes_per_s) {
            slowest = it;
        }
    }
    slowest = slowest == NULL ? spec : slowest;
    model->gpu_link_origin = copy(expansion, slowest->gpu_link.origin);
    model->gpu_link_bytes_per_s = slowest->gpu_link.bytes_per_s;
}

static void fill(vp_expansion_t *expansion)
{
    uint32_t node;

    fill_head(expansion);
    add_classes(expansion);
    add_contention(expansion);
    if (expansion->is_out_of_memory) {
        return;
    }
    for (node = 0; node < expansion->in->n_nodes; node++) {
        add_groups(expansion, node);
        add_resources(expansion, node);
        add_nics(expansion, node);
    }
    for (node = 0; node < expansion->in->n_nodes; node++) {
        vp_expansion_add_instances(expansion, &expansion->nodes[node]);
    }
}

static vp_status_t complete(vp_expansion_t *expansion, const char *file, vp_error_t *error)
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

static vp_status_t expand(vp_expansion_t *expansion, const char *file, vp_error_t *error)
{
    vp_model_t sum = {0};
    uint64_t n_instances;
    vp_status_t status;

    place_nodes(expansion, &sum);
    n_instances = vp_expansion_count_instances(expansion);
    status = check_limits(expansion->in, &sum, n_instances, file, error);
    if (status != VP_OK) {
        return status;
    }
    make_arrays(expansion, &sum, n_instances);
    if (!expansion->is_out_of_memory) {
        fill(expansion);
    }
    return complete(expansion, file, error);
}

static void clear(vp_expansion_t *expansion)
{
    uint32_t i;

    for (i = 0; i < expansion->in->n_specs && expansion->spec_class != NULL; i++) {
        free(expansion->spec_class[i]);
    }
    free(expansion->spec_class);
    free(expansion->spec_nodes);
    free(expansion->nodes);
    vp_model_destroy(expansion->model);
}

vp_status_t vp_spec_expand(const vp_spec_nodes_t *nodes, const char *file, vp_model_t **model_p,
                           vp_error_t *error)
{
    vp_expansion_t expansion = {.in = nodes, .spec = &nodes->specs[0]};
    vp_status_t status;

    expansion.model = make_array(&expansion, 1, sizeof(*expansion.model));
    expansion.nodes = make_array(&expansion, nodes->n_nodes, sizeof(*expansion.nodes));
    expansion.spec_nodes = make_array(&expansion, nodes->n_specs, sizeof(*expansion.spec_nodes));
    status = expansion.is_out_of_memory ? vp_error_no_memory(error, file)
                                        : expand(&expansion, file, error);
    if (status == VP_OK) {
        *model_p = expansion.model;
        expansion.model = NULL;
    }
    clear(&expansion);
    return status;
}

vp_status_t vp_spec_expand_one(const vp_spec_t *spec, const char *file, vp_model_t **model_p,
                               vp_error_t *error)
{
    const vp_spec_nodes_t nodes = {.specs = spec, .n_specs = 1, .n_nodes = spec->n_nodes};

    return vp_spec_expand(&nodes, file, model_p, error);
}
