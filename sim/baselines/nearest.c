/*
 * nearest: one-sided puts of everything at once on the static nearest path
 * (closest PCIe kind inside a node; between nodes the NIC of the source's index
 * in its group). No window, no order, no barrier.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sim/baselines/baselines.h"

vp_status_t vp_baseline_nearest(vp_traffic_t *traffic, vp_error_t *error)
{
    return vp_all_at_once(traffic, vp_path_nearest, VP_OPERATION_PUT, error);
}
