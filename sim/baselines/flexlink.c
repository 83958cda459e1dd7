/*
 * flexlink: FlexLink (arXiv 2510.15882). Each pair's bytes are split once, in
 * proportion to the rates that its paths have alone: inside a node the nearest
 * PCIe path and the source's NIC, between nodes the NICs of the source's group.
 * Everything at once, no barrier.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sim/baselines/baselines.h"

#include "base/units.h"

enum { MAX_PATHS = 16 };

static vp_status_t find_paths(const vp_machine_t *machine, uint32_t source, uint32_t destination,
                              vp_path_t *paths, uint32_t *n_p, vp_error_t *error)
{
    const vp_model_t *model = machine->model;
    uint32_t from = model->rank_group[source];
    uint32_t to = model->rank_group[destination];
    uint32_t rail = source - model->groups[from].first_rank;
    uint32_t n_nics = vp_group_n_nics(machine, from);
    bool inside = vp_rank_node(machine, source) == vp_rank_node(machine, destination);
    vp_status_t status = VP_OK;

    *n_p = 1;
    if (inside) {
        status = vp_path_nearest(machine, source, destination, &paths[0], error);
        if (status == VP_OK && n_nics > 0 && vp_group_n_nics(machine, to) > 0 &&
            paths[0].kind != VP_PATH_NIC) {
            *n_p = 2;
            status = vp_path_nic(machine, source, destination, rail, &paths[1], error);
        }
        return status;
    }
    n_nics = n_nics > MAX_PATHS ? MAX_PATHS : n_nics;
    *n_p = n_nics == 0 ? 1 : n_nics;
    for (rail = 0; status == VP_OK && rail < *n_p; rail++) {
        status = vp_path_nic(machine, source, destination, rail, &paths[rail], error);
    }
    return status;
}

static vp_status_t split(vp_traffic_t *traffic, uint32_t source, uint32_t destination,
                         uint64_t n_bytes, vp_error_t *error)
{
    vp_path_t paths[MAX_PATHS];
    uint64_t total_rate = 0;
    uint64_t left = n_bytes;
    uint32_t n;
    uint32_t i;
    vp_status_t status = find_paths(traffic->machine, source, destination, paths, &n, error);

    for (i = 0; status == VP_OK && i < n; i++) {
        total_rate += vp_path_bytes_per_s(traffic->machine, &paths[i]);
    }
    for (i = n; status == VP_OK && i-- > 0;) {
        uint64_t part =
            vp_muldiv_floor(n_bytes, vp_path_bytes_per_s(traffic->machine, &paths[i]), total_rate);

        part = i == 0 ? left : part; /* the first path takes what rounding left */
        left -= part;
        if (part > 0) {
            status = vp_traffic_send(traffic, source, &paths[i], part, VP_OPERATION_PUT,
                                     VP_START_NOW, NULL, error);
        }
    }
    return status;
}

vp_status_t vp_baseline_flexlink(vp_traffic_t *traffic, vp_error_t *error)
{
    vp_status_t status = VP_OK;
    uint32_t step;
    uint32_t source;

    traffic->n_steps = 1;
    for (step = 1; step < traffic->n_ranks; step++) {
        for (source = 0; status == VP_OK && source < traffic->n_ranks; source++) {
            uint32_t destination = (source + step) % traffic->n_ranks;
            uint64_t n_bytes = vp_traffic_demand(traffic, source, destination);

            if (n_bytes > 0) {
                status = split(traffic, source, destination, n_bytes, error);
            }
        }
    }
    return status;
}
