/*
 * Where NCCL sends a message between two GPUs, fixed at communicator setup:
 *
 * - inside a node peer to peer up to PXB, that is not through a host bridge;
 * - else through a NIC on both sides, when that is faster than the GPU-GPU path
 *   by NCCL's own constants (src/graph/topo.h): PCIe 5.0 48 GB/s, PCIe 4.0 24
 *   GB/s, between sockets 16 GB/s;
 * - else through shared host memory.
 *
 * Between nodes the NIC of the GPU's index in its group, on both sides. PXN
 * needs NVLink and does not occur here.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sim/baselines/baselines.h"

#define GEN5_BYTES_PER_S UINT64_C(48000000000)
#define GEN4_BYTES_PER_S UINT64_C(24000000000)
#define SOCKET_BYTES_PER_S UINT64_C(16000000000)

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What NCCL takes a x16 link of this machine for. */
static uint64_t pcie_constant(const vp_model_t *model)
{
    return model->gpu_link_bytes_per_s >= GEN5_BYTES_PER_S ? GEN5_BYTES_PER_S : GEN4_BYTES_PER_S;
}

static uint64_t nic_constant(const vp_machine_t *machine, uint32_t group)
{
    uint64_t best = 0;
    uint32_t i;

    for (i = machine->nic_begin[group]; i < machine->nic_begin[group + 1]; i++) {
        uint64_t rate = machine->model->nics[machine->group_nics[i]].bytes_per_s;

        best = rate > best ? rate : best;
    }
    return least(best, pcie_constant(machine->model));
}

vp_status_t vp_nccl_path(const vp_machine_t *machine, uint32_t source, uint32_t destination,
                         vp_path_t *path_p, vp_error_t *error)
{
    const vp_model_t *model = machine->model;
    uint32_t from = model->rank_group[source];
    uint32_t to = model->rank_group[destination];
    uint64_t direct;
    vp_path_t nearest;
    vp_status_t status = vp_path_nearest(machine, source, destination, &nearest, error);

    if (status != VP_OK) {
        return status;
    }
    if (nearest.kind <= VP_PATH_PXB || nearest.kind == VP_PATH_NIC) {
        *path_p = nearest;
        return VP_OK;
    }
    direct = nearest.kind == VP_PATH_SYS ? SOCKET_BYTES_PER_S : pcie_constant(model);
    if (nic_constant(machine, from) > direct && nic_constant(machine, to) > direct) {
        return vp_path_nic(machine, source, destination, source - model->groups[from].first_rank,
                           path_p, error);
    }
    return vp_path_host(machine, source, destination, path_p, error);
}
