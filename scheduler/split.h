/*
 * How the bytes between two groups split over the ways between them so that
 * shared links are evenly loaded. What a rank's own links carry does not depend
 * on the ways, so only bytes by group pair count: the split is as good as one
 * made pair by pair, and a rank that knows it deals its own row out alone.
 * Private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_SPLIT_H
#define VP_SCHEDULER_SPLIT_H

#include "scheduler/spread.h"

typedef struct vp_split {
    const vp_spread_t *spread; /* borrowed: model, rates of ports */
    uint64_t *group_bytes;     /* [n_groups * n_groups] between two groups */
    uint64_t *way_bytes;       /* [n_instances] of them over each instance */
    bool *is_moved;            /* [n_groups * n_groups] whether its bytes left their first ways */
    bool *is_far;              /* [n_instances] over NICs, and longer than others of its pair */
    bool has_far;
    uint64_t *load_ns;   /* [n_resources] */
    uint64_t *price;     /* [n_resources] */
    uint64_t fullest_ns; /* of any port when the sweep began */
    uint32_t n_steps;    /* moves that were weighed: what solving cost */
} vp_split_t;

/* The spread's own bytes as they lie on its ways. VP_ERR_NO_MEMORY. */
vp_status_t vp_split_collect(vp_split_t *split, const vp_spread_t *spread,
                             vp_error_t *error) VP_MUST_CHECK;
/*
 * Moves bytes between ways, in ever smaller parts, as long as the fullest links
 * become less full: a sum of powers of loads falls with every move. Ends early
 * where a rank's own link is the fullest. Far NICs come in once the others are
 * evenly loaded, so that they gain or are left alone, and not at all unless
 * uses_far. O(group pairs * ways) per
 * sweep.
 */
void vp_split_solve(vp_split_t *split, bool uses_far);
/* Time of the fullest resource, at least 1. */
uint64_t vp_split_fullest_ns(const vp_split_t *split);
/* Loads anew, of bytes that were put on ways by hand. */
void vp_split_load(vp_split_t *split);
/* Moves that solving weighs at most. */
uint64_t vp_split_most_steps(const vp_split_t *split, bool uses_far);
/* Also after a failed or never made start of a zeroed record. */
void vp_split_release(vp_split_t *split);

/*
 * Deals the bytes of every pair out as the split says, row by row: what a row
 * gives a way differs from its part by less than a few chunks. Shares are whole
 * chunks but for one of each pair, and no slivers. VP_ERR_NO_MEMORY.
 */
vp_status_t vp_spread_deal(vp_spread_t *spread, const vp_split_t *split,
                           vp_error_t *error) VP_MUST_CHECK;

#endif
