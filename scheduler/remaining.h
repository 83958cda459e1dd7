/*
 * The demand that a planning run has not served yet (D^rem of Algorithm 2);
 * private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_REMAINING_H
#define VP_SCHEDULER_REMAINING_H

#include "catalog/model.h"

typedef struct vp_rest {
    uint64_t n_bytes; /* >= 1 */
    uint32_t source;
    uint32_t destination;
} vp_rest_t;

typedef struct vp_remaining {
    const vp_model_t *model;
    uint64_t *bytes;       /* [n_ranks][n_ranks], diagonal 0 */
    uint64_t *group_bytes; /* [n_groups][n_groups], Equation 6 */
    vp_rest_t *rests;      /* [n_rests] pairs with bytes: descending bytes, ascending ranks */
    size_t n_rests;
    vp_rest_t *all; /* [n_all] what rests was at the start, in order */
    size_t n_all;
    vp_rest_t *moved; /* [n_ranks] for settle */
} vp_remaining_t;

vp_status_t vp_remaining_init(vp_remaining_t *remaining, const vp_model_t *model,
                              const uint64_t *demand_bytes, vp_error_t *error) VP_MUST_CHECK;
/* Also after a failed or never made init of a zeroed record. */
void vp_remaining_release(vp_remaining_t *remaining);

/* Back to the full demand. */
void vp_remaining_reset(vp_remaining_t *remaining);

/* Subtracts served bytes of a pair. `rests` is stale until vp_remaining_settle. */
void vp_remaining_take(vp_remaining_t *remaining, uint32_t source, uint32_t destination,
                       uint64_t n_bytes);

/* Brings `rests` up to date after takes from at most n_ranks pairs. */
void vp_remaining_settle(vp_remaining_t *remaining);

#endif
