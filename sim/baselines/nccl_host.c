/*
 * nccl-host: NCCL's rotation and window (nccl_schedule.c) where peer-to-peer and
 * GPUDirect RDMA are refused, as on stock consumer boards. Inside a node: GPU,
 * host memory, GPU. Between nodes: GPU, host memory, NIC, NIC, host memory, GPU,
 * where a NIC behind the GPU's switch loads that switch's uplink again. No
 * barrier.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sim/baselines/baselines.h"

vp_status_t vp_baseline_nccl_host(vp_traffic_t *traffic, vp_error_t *error)
{
    return vp_nccl_rotate(traffic, vp_path_host, error);
}
