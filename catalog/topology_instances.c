/*
 * The path instances of a machine: what the files state inside a node, and NIC
 * to NIC between nodes.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "catalog/topology_expansion.h"

static void add_path(vp_expansion_t *expansion, const vp_expanded_node_t *node,
                     const vp_spec_path_t *path)
{
    vp_model_t *model = expansion->model;
    vp_instance_t *it = &model->instances[model->n_instances++];
    uint32_t n_from = node->spec->switches[path->from].n_gpus;
    uint32_t n_to = node->spec->switches[path->to].n_gpus;
    uint32_t i;

    *it = (vp_instance_t){.kind = path->kind,
                          .from_group = node->first_group + path->from,
                          .to_group = node->first_group + path->to,
                          .n_copies = 1,
                          .bytes_per_s = path->bytes_per_s,
                          .source_class = vp_expanded_class(expansion, node, path->path_class),
                          .destination_class = vp_expanded_class(expansion, node, path->path_class),
                          .n_resources = path->links.n};
    if (path->links.n == 0) {
        it->n_copies = n_from < n_to ? n_from : n_to;
    }
    for (i = 0; i < path->links.n; i++) {
        it->resources[i] = vp_expanded_link(node, path->links.links[i]);
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
static void add_nic_path(vp_expansion_t *expansion, const vp_expanded_node_t *from,
                         const vp_spec_port_t *out, const vp_expanded_node_t *to,
                         const vp_spec_port_t *in)
{
    vp_instance_t *it = &expansion->model->instances[expansion->model->n_instances++];
    uint32_t i;

    *it = (vp_instance_t){
        .kind = out->is_staged || in->is_staged ? VP_PATH_HOST : VP_PATH_NIC,
        .from_group = from->first_group + out->switch_idx,
        .to_group = to->first_group + in->switch_idx,
        .n_copies = 1,
        .bytes_per_s =
            out->out_bytes_per_s < in->in_bytes_per_s ? out->out_bytes_per_s : in->in_bytes_per_s,
        .source_class = vp_expanded_class(expansion, from, from->spec->nics[out->nic].path_class),
        .destination_class = vp_expanded_class(expansion, to, to->spec->nics[in->nic].path_class)};
    use_resource(it, vp_expanded_tx(from, out->nic));
    use_resource(it, vp_expanded_tx(to, in->nic) + 1);
    for (i = 0; i < out->out.n; i++) {
        use_resource(it, vp_expanded_link(from, out->out.links[i]));
    }
    for (i = 0; i < in->in.n; i++) {
        use_resource(it, vp_expanded_link(to, in->in.links[i]));
    }
}

static void add_nic_paths(vp_expansion_t *expansion, const vp_expanded_node_t *from,
                          const vp_expanded_node_t *to)
{
    uint32_t out;
    uint32_t in;

    for (out = 0; out < from->spec->n_ports; out++) {
        for (in = 0; in < to->spec->n_ports; in++) {
            const vp_spec_port_t *source = &from->spec->ports[out];
            const vp_spec_port_t *destination = &to->spec->ports[in];

            if (vp_spec_is_pair(from->spec, source, to->spec, destination, from == to)) {
                add_nic_path(expansion, from, source, to, destination);
            }
        }
    }
}

void vp_expansion_add_instances(vp_expansion_t *expansion, const vp_expanded_node_t *node)
{
    uint32_t i;

    for (i = 0; i < node->spec->n_paths; i++) {
        add_path(expansion, node, &node->spec->paths[i]);
    }
    for (i = 0; i < expansion->in->n_nodes; i++) {
        add_nic_paths(expansion, node, &expansion->nodes[i]);
    }
}

uint64_t vp_expansion_count_instances(const vp_expansion_t *expansion)
{
    const vp_spec_nodes_t *in = expansion->in;
    uint64_t n_instances = 0;
    uint32_t a;
    uint32_t b;

    for (a = 0; a < in->n_specs; a++) {
        uint64_t n_a = expansion->spec_nodes[a];

        if (n_a > 0) {
            n_instances += n_a * (in->specs[a].n_paths +
                                  vp_spec_count_pairs(&in->specs[a], &in->specs[a], true));
        }
        for (b = 0; b < in->n_specs && n_a > 0; b++) {
            uint64_t n_pairs = n_a * (expansion->spec_nodes[b] - (a == b));

            if (n_pairs > 0) {
                n_instances += n_pairs * vp_spec_count_pairs(&in->specs[a], &in->specs[b], false);
            }
        }
    }
    return n_instances;
}
