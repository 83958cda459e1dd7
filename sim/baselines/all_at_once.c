/*
 * Everything at once: every message of every rank starts at t = 0 and the
 * links share. No window, no order, no barrier.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sim/baselines/baselines.h"

vp_status_t vp_all_at_once(vp_traffic_t *traffic, vp_path_fn_t find_path, vp_operation_t operation,
                           vp_error_t *error)
{
    vp_status_t status = VP_OK;
    uint32_t step;
    uint32_t source;

    traffic->n_steps = 1;
    for (step = 1; step < traffic->n_ranks; step++) {
        for (source = 0; status == VP_OK && source < traffic->n_ranks; source++) {
            uint32_t destination = (source + step) % traffic->n_ranks;
            uint64_t n_bytes = vp_traffic_demand(traffic, source, destination);
            vp_path_t path;

            if (n_bytes == 0) {
                continue;
            }
            status = find_path(traffic->machine, source, destination, &path, error);
            if (status == VP_OK) {
                status = vp_traffic_send(traffic, source, &path, n_bytes, operation, VP_START_NOW,
                                         NULL, error);
            }
        }
    }
    return status;
}
