/*
 * Lower bounds on the lengths of activations from the ways out of a group, and
 * into it. Private to the alignment bound.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_ALIGNMENT_CUTS_H
#define VP_SCHEDULER_ALIGNMENT_CUTS_H

#include "catalog/model.h"

/*
 * Pairs whose every path uses one of a few resources ("doors"): an activation
 * has at most as many of their lanes as there are doors.
 */
typedef struct vp_cut_doors {
    size_t n_pairs;
    size_t capacity;
    uint64_t *n_bytes; /* [n_pairs] descending */
    uint32_t n_doors;
    uint64_t *rates; /* [n_doors] descending: no path through the door is faster */
} vp_cut_doors_t;

typedef struct vp_cuts {
    uint32_t n_cuts; /* two for each group: out, in */
    vp_cut_doors_t *cuts;
} vp_cuts_t;

vp_status_t vp_cuts_init(vp_cuts_t *cuts, const vp_model_t *model, const uint64_t *demand_bytes,
                         vp_error_t *error) VP_MUST_CHECK;
/* Also after a failed or never made init of a zeroed record. */
void vp_cuts_release(vp_cuts_t *cuts);

/*
 * Raises length[j], a lower bound on the j-th longest of n activations of any
 * plan of exclusive lanes with n activations. With p pairs and d doors there
 * are s = d * n - p lanes to spare, so that all pairs but s are whole. Of the
 * whole ones w - t * n at least take neither of the t fastest doors, and d - t
 * of them at most share an activation; it lasts as long as they do.
 */
void vp_cuts_raise(const vp_cuts_t *cuts, size_t n, uint64_t *length);

#endif
