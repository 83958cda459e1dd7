/*
 * openmpi-linear: Open MPI's basic linear alltoallv. Every rank posts all its
 * receives and sends, then waits for all. No window, no barrier; two-sided
 * messages on nearest paths.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sim/baselines/baselines.h"

vp_status_t vp_baseline_openmpi_linear(vp_traffic_t *traffic, vp_error_t *error)
{
    return vp_all_at_once(traffic, vp_path_nearest, VP_OPERATION_MESSAGE, error);
}
