/*
 * deepep-rail: DeepEP's normal mode without deduplication. Between nodes, GPU i
 * sends over its NIC to GPU i (modulo the node's size) of the destination's
 * node, which forwards over the nearest local path; both legs run together
 * (chunks are forwarded as they arrive). Inside a node, nearest path. All at
 * once, no barrier but start and end.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sim/baselines/baselines.h"

static vp_status_t rail_path(const vp_machine_t *machine, uint32_t source, uint32_t destination,
                             vp_path_t *path_p, vp_error_t *error)
{
    uint32_t node = vp_rank_node(machine, destination);
    uint32_t forwarder;
    vp_path_t first;
    vp_path_t second;
    vp_status_t status;

    if (vp_rank_node(machine, source) == node) {
        return vp_path_nearest(machine, source, destination, path_p, error);
    }
    forwarder =
        machine->node_first[node] + machine->rank_index[source] % vp_node_size(machine, node);
    status = vp_path_nearest(machine, source, forwarder, &first, error);
    if (status != VP_OK) {
        return status;
    }
    if (forwarder == destination) {
        *path_p = first;
        return VP_OK;
    }
    status = vp_path_nearest(machine, forwarder, destination, &second, error);
    if (status == VP_OK) {
        vp_path_join(&first, &second, path_p);
    }
    return status;
}

vp_status_t vp_baseline_deepep_rail(vp_traffic_t *traffic, vp_error_t *error)
{
    return vp_all_at_once(traffic, rail_path, VP_OPERATION_PUT, error);
}
