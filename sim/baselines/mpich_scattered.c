/*
 * mpich-scattered: MPICH's scattered alltoallv. Blocks of 32 sends and receives
 * (ALLTOALL_THROTTLE), then a wait for all of them, then the next block. No
 * global barrier; two-sided, nearest paths.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sim/baselines/baselines.h"

enum { THROTTLE = 32 };

vp_status_t vp_baseline_mpich_scattered(vp_traffic_t *traffic, vp_error_t *error)
{
    return vp_stepped(traffic, THROTTLE, false, error);
}
