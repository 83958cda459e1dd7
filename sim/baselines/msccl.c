/*
 * msccl: the two-step all-to-all of MSCCL (msccl-tools, alltoall_a100_two_step).
 * Step 1: for every other node n2, GPU g1 copies its chunk for (n2, g2) to GPU g2
 * of its own node. Step 2: g2 sends one merged message to (n2, g2), once all
 * chunks for n2 have arrived at it. Chunks for GPUs of the own node run beside
 * that. No window, no barrier: step 2 depends only on the chunks that it merges.
 *
 * It knows equal chunks only: every chunk is padded to the largest of the
 * demand. On one node, and on nodes of different size, it falls back to NCCL.
 * Paths are NCCL's.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sim/baselines/baselines.h"

#include "base/units.h"

typedef struct msccl {
    vp_traffic_t *traffic;
    uint64_t chunk_bytes;
    uint32_t node_size;
} msccl_t;

static uint64_t largest_chunk(const vp_traffic_t *traffic)
{
    uint64_t largest = 0;
    uint32_t i;
    uint32_t j;

    for (i = 0; i < traffic->n_ranks; i++) {
        for (j = 0; j < traffic->n_ranks; j++) {
            uint64_t n_bytes = vp_traffic_demand(traffic, i, j);

            largest = n_bytes > largest ? n_bytes : largest;
        }
    }
    return largest;
}

static vp_status_t send(msccl_t *msccl, uint32_t source, uint32_t destination, uint64_t n_bytes,
                        vp_operation_t operation, uint32_t gate, uint32_t *flow_p,
                        vp_error_t *error)
{
    vp_start_t start = {gate, VP_NO_QUEUE, 0};
    vp_path_t path;
    vp_status_t status = vp_nccl_path(msccl->traffic->machine, source, destination, &path, error);

    return status != VP_OK ? status
                           : vp_traffic_send(msccl->traffic, source, &path, n_bytes, operation,
                                             start, flow_p, error);
}

/* Both steps for the merged message that `merger` sends to `destination`. */
static vp_status_t add_merged(msccl_t *msccl, uint32_t merger, uint32_t destination,
                              vp_error_t *error)
{
    uint32_t first = merger - merger % msccl->node_size;
    uint32_t gate;
    uint32_t source;
    uint32_t flow;
    vp_status_t status = vp_traffic_gate(msccl->traffic, &gate, error);

    for (source = first; status == VP_OK && source < first + msccl->node_size; source++) {
        if (source == merger) {
            continue;
        }
        status = send(msccl, source, merger, msccl->chunk_bytes, VP_OPERATION_COPY, VP_NO_GATE,
                      &flow, error);
        if (status == VP_OK) {
            status = vp_traffic_wait(msccl->traffic, gate, flow, error);
        }
    }
    return status != VP_OK
               ? status
               : send(msccl, merger, destination, vp_mul_sat(msccl->chunk_bytes, msccl->node_size),
                      VP_OPERATION_PROXY, gate, NULL, error);
}

static vp_status_t add_rank(msccl_t *msccl, uint32_t rank, vp_error_t *error)
{
    uint32_t size = msccl->node_size;
    uint32_t n_nodes = msccl->traffic->n_ranks / size;
    vp_status_t status = VP_OK;
    uint32_t i;

    for (i = 1; status == VP_OK && i < size; i++) {
        uint32_t peer = rank - rank % size + (rank + i) % size;

        status =
            send(msccl, rank, peer, msccl->chunk_bytes, VP_OPERATION_COPY, VP_NO_GATE, NULL, error);
    }
    for (i = 1; status == VP_OK && i < n_nodes; i++) {
        uint32_t node = (rank / size + i) % n_nodes;

        status = add_merged(msccl, rank, node * size + rank % size, error);
    }
    return status;
}

vp_status_t vp_baseline_msccl(vp_traffic_t *traffic, vp_error_t *error)
{
    msccl_t msccl = {traffic, largest_chunk(traffic), vp_node_size(traffic->machine, 0)};
    vp_status_t status = VP_OK;
    uint32_t i;

    for (i = 0; i < traffic->machine->model->n_nodes; i++) {
        if (vp_node_size(traffic->machine, i) != msccl.node_size ||
            traffic->machine->model->n_nodes == 1) {
            return vp_nccl_rotate(traffic, vp_nccl_path, error);
        }
    }
    traffic->n_steps = 2;
    for (i = 0; status == VP_OK && msccl.chunk_bytes > 0 && i < traffic->n_ranks; i++) {
        status = add_rank(&msccl, i, error);
    }
    return status;
}
