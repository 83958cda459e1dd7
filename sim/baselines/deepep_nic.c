/*
 * deepep-nic: DeepEP's mode for boards without NVLink: all traffic, that inside
 * a node too, leaves by the source's NIC and enters by the destination's, as
 * one-sided puts to all peers at once. No forwarding, window or barrier.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sim/baselines/baselines.h"

/* Each GPU has its NIC at both ends: the one of its index in its group. */
static vp_status_t own_nics(const vp_machine_t *machine, uint32_t source, uint32_t destination,
                            vp_path_t *path_p, vp_error_t *error)
{
    const vp_model_t *model = machine->model;
    uint32_t from = model->rank_group[source];
    uint32_t to = model->rank_group[destination];
    uint32_t n_from = vp_group_n_nics(machine, from);
    uint32_t n_to = vp_group_n_nics(machine, to);
    uint32_t out = source - model->groups[from].first_rank;
    uint32_t in = destination - model->groups[to].first_rank;

    if (n_from == 0 || n_to == 0) {
        return vp_path_nic(machine, source, destination, out, path_p, error);
    }
    return vp_path_between_nics(
        machine, source, destination, machine->group_nics[machine->nic_begin[from] + out % n_from],
        machine->group_nics[machine->nic_begin[to] + in % n_to], path_p, error);
}

vp_status_t vp_baseline_deepep_nic(vp_traffic_t *traffic, vp_error_t *error)
{
    return vp_all_at_once(traffic, own_nics, VP_OPERATION_PUT, error);
}
