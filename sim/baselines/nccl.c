/*
 * nccl: NCCL 2.30 alltoallv: its rotation and window (nccl_schedule.c) over its
 * paths (nccl_path.c). No barrier.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sim/baselines/baselines.h"

vp_status_t vp_baseline_nccl(vp_traffic_t *traffic, vp_error_t *error)
{
    return vp_nccl_rotate(traffic, vp_nccl_path, error);
}
