/*
 * What every planner and bound needs of a demand before it starts; private to
 * this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_DEMAND_CHECK_H
#define VP_SCHEDULER_DEMAND_CHECK_H

#include "catalog/model.h"

/*
 * Largest sum of a demand. It keeps sums of credits in 64 bits and products of
 * bytes with nanoseconds or prices in 128 bits.
 */
#define VP_DEMAND_MAX_BYTES (UINT64_C(1) << 60)

/*
 * Sums demand_bytes[n_ranks][n_ranks] without its diagonal. VP_ERR_BAD_INPUT:
 * a pair with bytes but no path instance (names the pair), or a larger sum.
 */
vp_status_t vp_demand_check(const vp_model_t *model, const uint64_t *demand_bytes,
                            uint64_t *total_bytes_p, vp_error_t *error) VP_MUST_CHECK;

/* The instances of a rank pair: first .. end - 1. */
static inline void vp_rank_pair_instances(const vp_model_t *model, uint32_t source,
                                          uint32_t destination, uint32_t *first_p, uint32_t *end_p)
{
    size_t pair = vp_pair(model, model->rank_group[source], model->rank_group[destination]);

    *first_p = model->pair_begin[pair];
    *end_p = model->pair_begin[pair + 1];
}

#endif
