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
    vp_spec_port_pair_t *inside; /* pairs of ports of one node */
    vp_spec_port_pair_t *across; /* and of two nodes */
    size_t n_inside;
    size_t n_across;
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
                          .bytes_per_s = path->bytes_per_s,
                          .source_class = path->path_class,
                          .destination_class = path->path_class,
                          .n_resources = path->links.n};
    if (path->links.n == 0) {
        it->n_copies = n_from < n_to ? n_from : n_to;
    }
    for (i = 0; i < path->links.n; i++) {
        it->resources[i] = link_resource(spec, node, path->links.links[i]);
    }
}

/* Puts a resource into an ascending footprint, unless it is there. */
static void use_resource(vp_instance_t *it, uint32_t resource)
{
    uint32_t begin = 0;
    uint32_t at;

    while (begin < it->n_resources && it->resources[begin] < resource) {
        begin++;
    }
    if (begin < it->n_resources && it->resources[begin] == resource) {
        return;
    }
    for (at = it->n_resources++; at > begin; at--) {
        it->resources[at] = it->resources[at - 1];
    }
    it->resources[begin] = resource;
}

/* A lane out of the NIC of one port into the NIC of another. */
static void add_nic_path(expansion_t *expansion, uint32_t from_node, uint32_t to_node,
                         const vp_spec_port_pair_t *pair)
{
    const vp_spec_t *spec = expansion->spec;
    const vp_spec_port_t *out = &spec->ports[pair->out];
    const vp_spec_port_t *in = &spec->ports[pair->in];
    vp_instance_t *it = &expansion->model->instances[expansion->model->n_instances++];
    uint32_t i;

    *it = (vp_instance_t){.kind = out->is_staged || in->is_staged ? VP_PATH_HOST : VP_PATH_NIC,
                          .from_group = from_node * spec->n_switches + out->switch_idx,
                          .to_group = to_node * spec->n_switches + in->switch_idx,
                          .n_copies = 1,
                          .bytes_per_s = out->out_bytes_per_s < in->in_bytes_per_s
                                             ? out->out_bytes_per_s
                                             : in->in_bytes_per_s,
                          .source_class = spec->nics[out->nic].path_class,
                          .destination_class = spec->nics[in->nic].path_class};
    use_resource(it, tx_resource(spec, from_node, out->nic));
    use_resource(it, tx_resource(spec, to_node, in->nic) + 1);
    for (i = 0; i < out->out.n; i++) {
        use_resource(it, link_resource(spec, from_node, out->out.links[i]));
    }
    for (i = 0; i < in->in.n; i++) {
        use_resource(it, link_resource(spec, to_node, in->in.links[i]));
    }
}

/* Instances that leave a node. */
static void add_instances(expansion_t *expansion, uint32_t node)
{
    const vp_spec_t *spec = expansion->spec;
    uint32_t to_node;
    size_t i;

    for (i = 0; i < spec->n_paths; i++) {
        add_path(expansion, node, &spec->paths[i]);
    }
    for (i = 0; i < expansion->n_inside; i++) {
        add_nic_path(expansion, node, node, &expansion->inside[i]);
    }
    for (to_node = 0; to_node < spec->n_nodes; to_node++) {
        for (i = 0; i < expansion->n_across && to_node != node; i++) {
            add_nic_path(expansion, node, to_node, &expansion->across[i]);
        }
    }
}

static void list_port_pairs(expansion_t *expansion)
{
    const vp_spec_t *spec = expansion->spec;

    expansion->n_inside = vp_spec_port_pairs(spec, true, NULL);
    expansion->n_across = spec->n_nodes > 1 ? vp_spec_port_pairs(spec, false, NULL) : 0;
    expansion->inside = make_array(expansion, expansion->n_inside, sizeof(*expansion->inside));
    expansion->across = make_array(expansion, expansion->n_across, sizeof(*expansion->across));
    if (expansion->inside != NULL) {
        (void)vp_spec_port_pairs(spec, true, expansion->inside);
    }
    if (expansion->across != NULL && expansion->n_across > 0) {
        (void)vp_spec_port_pairs(spec, false, expansion->across);
    }
}

static size_t count_instances(const expansion_t *expansion)
{
    size_t n_nodes = expansion->spec->n_nodes;

    return n_nodes * (expansion->spec->n_paths + expansion->n_inside) +
           n_nodes * (n_nodes - 1) * expansion->n_across;
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
    model->instances = make_array(expansion, count_instances(expansion), sizeof(*model->instances));
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
    list_port_pairs(&expansion);
    make_arrays(&expansion);
    if (!expansion.is_out_of_memory) {
        fill(&expansion);
    }
    free(expansion.inside);
    free(expansion.across);
    status = complete(&expansion, file, error);
    if (status != VP_OK) {
        vp_model_destroy(expansion.model);
        return status;
    }
    *model_p = expansion.model;
    return VP_OK;
}
