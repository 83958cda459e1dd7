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

/*
 * Pairs with bytes, listed by group pair: those of group pair p are
 * rests[rest_begin[p]] .. + n_rests[p] - 1, in descending bytes, then ascending
 * ranks. A channel touches few group pairs, so that the lists of all others
 * need no care.
 */
typedef struct vp_remaining {
    const vp_model_t *model;
    uint64_t *bytes;       /* [n_ranks][n_ranks], diagonal 0 */
    uint64_t *group_bytes; /* [n_groups][n_groups], Equation 6 */
    vp_rest_t *rests;
    size_t *rest_begin; /* [n_groups * n_groups + 1] */
    uint32_t *n_rests;  /* [n_groups * n_groups] */
    size_t n_left;      /* pairs with bytes in all */
    vp_rest_t *all;     /* what rests was at the start */
    size_t *stale;      /* [n_stale] group pairs whose list settle brings up to date */
    size_t n_stale;
    bool *is_stale; /* [n_groups * n_groups] */
} vp_remaining_t;

/* `rotation` 0: the whole demand; k: only what rank i sends to rank i + k (modulo n_ranks). */
vp_status_t vp_remaining_init(vp_remaining_t *remaining, const vp_model_t *model,
                              const uint64_t *demand_bytes, uint32_t rotation,
                              vp_error_t *error) VP_MUST_CHECK;
/* Also after a failed or never made init of a zeroed record. */
void vp_remaining_release(vp_remaining_t *remaining);

/* Back to the full demand. */
void vp_remaining_reset(vp_remaining_t *remaining);

/* Subtracts served bytes of a pair. Lists are stale until vp_remaining_settle. */
void vp_remaining_take(vp_remaining_t *remaining, uint32_t source, uint32_t destination,
                       uint64_t n_bytes);
void vp_remaining_settle(vp_remaining_t *remaining);

/*
 * Walks the lists of several group pairs at once in the order of one list:
 * descending bytes, ascending ranks.
 */
typedef struct vp_rest_walk {
    size_t *next; /* [n_groups * n_groups] heap of positions in rests, the first rest on top */
    size_t n_next;
} vp_rest_walk_t;

vp_status_t vp_rest_walk_init(vp_rest_walk_t *walk, const vp_model_t *model,
                              vp_error_t *error) VP_MUST_CHECK;
void vp_rest_walk_release(vp_rest_walk_t *walk);
/* Empties the walk; then adds the list of one more group pair, each at most once. */
void vp_rest_walk_clear(vp_rest_walk_t *walk);
void vp_rest_walk_add(vp_rest_walk_t *walk, const vp_remaining_t *remaining, size_t pair);
/* The first rest of all lists, or NULL; it stays there until one of the calls below. */
const vp_rest_t *vp_rest_walk_first(const vp_rest_walk_t *walk, const vp_remaining_t *remaining);
/* Goes on to the rest behind the first one, or leaves the first one's list altogether. */
void vp_rest_walk_next(vp_rest_walk_t *walk, const vp_remaining_t *remaining);
void vp_rest_walk_leave(vp_rest_walk_t *walk, const vp_remaining_t *remaining);

#endif
