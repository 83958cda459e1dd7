/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/demand_check.h"

#include <inttypes.h>

static vp_status_t no_path(const vp_model_t *model, uint32_t source, uint32_t destination,
                           uint64_t n_bytes, vp_error_t *error)
{
    return vp_error_set(error, VP_ERR_BAD_INPUT,
                        "rank %" PRIu32 " sends %" PRIu64 " bytes to rank %" PRIu32
                        ", but the topology has no path from group %" PRIu32 " to group %" PRIu32
                        "; there is no plan, add a path or leave the pair out",
                        source, n_bytes, destination, model->rank_group[source],
                        model->rank_group[destination]);
}

vp_status_t vp_demand_check(const vp_model_t *model, const uint64_t *demand_bytes,
                            uint64_t *total_bytes_p, vp_error_t *error)
{
    uint64_t total_bytes = 0;
    uint32_t source;
    uint32_t destination;

    for (source = 0; source < model->n_ranks; source++) {
        for (destination = 0; destination < model->n_ranks; destination++) {
            uint64_t n_bytes = demand_bytes[(size_t)source * model->n_ranks + destination];
            uint32_t first;
            uint32_t end;

            if (source == destination || n_bytes == 0) {
                continue;
            }
            vp_rank_pair_instances(model, source, destination, &first, &end);
            if (first == end) {
                return no_path(model, source, destination, n_bytes, error);
            }
            if (n_bytes > VP_DEMAND_MAX_BYTES - total_bytes) {
                return vp_error_set(error, VP_ERR_BAD_INPUT,
                                    "the demand sums to more than 2^60 bytes (reached at rank "
                                    "%" PRIu32 " to rank %" PRIu32 "); there is no plan, check "
                                    "the counts",
                                    source, destination);
            }
            total_bytes += n_bytes;
        }
    }
    *total_bytes_p = total_bytes;
    return VP_OK;
}
