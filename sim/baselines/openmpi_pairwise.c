/*
 * openmpi-pairwise: Open MPI's pairwise alltoallv. Step k: send to r + k,
 * receive from r - k; a rank's next step starts when both are done. One message
 * out and one in per rank, no global barrier; two-sided, nearest paths.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sim/baselines/baselines.h"

vp_status_t vp_baseline_openmpi_pairwise(vp_traffic_t *traffic, vp_error_t *error)
{
    return vp_stepped(traffic, 1, false, error);
}
