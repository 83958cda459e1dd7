/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/topology_spec.h"

#include <inttypes.h>

/* Do the NICs of two switches have a rail in common? */
static bool is_railed(const vp_spec_t *from, uint32_t source, const vp_spec_t *to,
                      uint32_t destination)
{
    uint32_t a;
    uint32_t b;

    for (a = 0; a < from->n_ports; a++) {
        for (b = 0; b < to->n_ports && from->ports[a].switch_idx == source; b++) {
            if (to->ports[b].switch_idx == destination &&
                from->nics[from->ports[a].nic].rail == to->nics[to->ports[b].nic].rail) {
                return true;
            }
        }
    }
    return false;
}

/*
 * Rail to rail unless a file allows any pair, or nodes of different kinds have no
 * rail in common. A single GPU has nobody behind its own switch to send to. Ways
 * through host memory meet each other, or a direct one where the other NIC has
 * nothing else. A far NIC talks to the same NIC of other nodes only: with every
 * pair, ways would be as many as the square of a node's NICs, over the same links.
 */
bool vp_spec_is_pair(const vp_spec_t *from, const vp_spec_port_t *out, const vp_spec_t *to,
                     const vp_spec_port_t *in, bool is_same_node)
{
    const vp_spec_nic_t *source = &from->nics[out->nic];
    const vp_spec_nic_t *destination = &to->nics[in->nic];

    if (is_same_node && out->switch_idx == in->switch_idx &&
        from->switches[out->switch_idx].n_gpus == 1) {
        return false;
    }
    if (out->is_staged != in->is_staged &&
        (out->is_staged ? source->is_direct : destination->is_direct)) {
        return false;
    }
    if (out->is_far || in->is_far) {
        return !is_same_node && out->nic == in->nic;
    }
    return from->is_any_nic_pair || to->is_any_nic_pair || source->rail == destination->rail ||
           (from != to && !is_railed(from, out->switch_idx, to, in->switch_idx));
}

size_t vp_spec_count_pairs(const vp_spec_t *from, const vp_spec_t *to, bool is_same_node)
{
    size_t n = 0;
    uint32_t out;
    uint32_t in;

    for (out = 0; out < from->n_ports; out++) {
        for (in = 0; in < to->n_ports; in++) {
            n += vp_spec_is_pair(from, &from->ports[out], to, &to->ports[in], is_same_node);
        }
    }
    return n;
}

/* A lane uses both sides of both NICs and what lies between them and the GPUs. */
static void check_footprints(const vp_json_t *root, const vp_spec_t *spec)
{
    uint32_t longest_out = 0;
    uint32_t longest_in = 0;
    uint32_t i;

    for (i = 0; i < spec->n_ports; i++) {
        longest_out = spec->ports[i].out.n > longest_out ? spec->ports[i].out.n : longest_out;
        longest_in = spec->ports[i].in.n > longest_in ? spec->ports[i].in.n : longest_in;
    }
    if (longest_out + longest_in + 2 > VP_MAX_FOOTPRINT) {
        vp_json_mistake(root, VP_ERR_LIMIT,
                        "a lane over NICs uses up to %" PRIu32 " links before and %" PRIu32
                        " behind them; together with both NICs they may be %d, list fewer links "
                        "under \"serves\", \"to_host\" and \"from_host\"",
                        longest_out, longest_in, VP_MAX_FOOTPRINT);
    }
}

static void check_reach(const vp_json_t *root, const vp_spec_t *spec)
{
    uint32_t i;
    uint32_t k;

    for (i = 0; spec->n_nodes > 1 && i < spec->n_switches; i++) {
        for (k = 0; k < spec->n_ports && spec->ports[k].switch_idx != i; k++) {
        }
        if (k == spec->n_ports) {
            vp_json_mistake(root, VP_ERR_BAD_INPUT,
                            "switch \"%s\" has no NIC, so its GPUs cannot reach another node; add "
                            "one to \"nics\", let one serve it (\"serves\") or use one node",
                            spec->switches[i].name);
        }
    }
}

static uint64_t count_instances(const vp_spec_t *spec)
{
    uint64_t n_nodes = spec->n_nodes;
    uint64_t n_inside = spec->n_paths + vp_spec_count_pairs(spec, spec, true);
    uint64_t n_across = n_nodes > 1 ? vp_spec_count_pairs(spec, spec, false) : 0;

    return n_nodes * n_inside + n_nodes * (n_nodes - 1) * n_across;
}

void vp_spec_check_size(const vp_json_t *root, const vp_spec_t *spec)
{
    uint64_t n_nodes = spec->n_nodes;
    uint64_t n_gpus = 0;
    uint64_t n_instances;
    uint32_t i;

    if (vp_json_failed(root)) {
        return;
    }
    for (i = 0; i < spec->n_switches; i++) {
        n_gpus += spec->switches[i].n_gpus;
    }
    check_reach(root, spec);
    check_footprints(root, spec);
    n_instances = count_instances(spec);
    if (n_gpus * n_nodes > VP_MAX_RANKS || spec->n_switches * n_nodes > VP_MAX_GROUPS ||
        n_instances > VP_MAX_INSTANCES) {
        vp_json_mistake(root, VP_ERR_LIMIT,
                        "%" PRIu64 " nodes make %" PRIu64 " GPUs, %" PRIu64
                        " rank groups and %" PRIu64
                        " path instances; the limits are %d, %d and %d, use fewer nodes",
                        n_nodes, n_gpus * n_nodes, spec->n_switches * n_nodes, n_instances,
                        VP_MAX_RANKS, VP_MAX_GROUPS, VP_MAX_INSTANCES);
    }
    if ((spec->n_links + 2 * (uint64_t)spec->n_nics) * n_nodes > VP_MAX_RESOURCES ||
        spec->n_nics * n_nodes > VP_MAX_NICS) {
        vp_json_mistake(root, VP_ERR_LIMIT,
                        "%" PRIu64 " nodes make %" PRIu64 " shared resources and %" PRIu64
                        " NICs; the limits are %d and %d, use fewer nodes",
                        n_nodes, (spec->n_links + 2 * (uint64_t)spec->n_nics) * n_nodes,
                        spec->n_nics * n_nodes, VP_MAX_RESOURCES, VP_MAX_NICS);
    }
}
