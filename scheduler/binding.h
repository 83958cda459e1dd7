/*
 * Channels: a family with its endpoints bound to ranks (Step 2 of Algorithm 2);
 * private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_BINDING_H
#define VP_SCHEDULER_BINDING_H

#include "catalog/model.h"
#include "scheduler/assign.h"
#include "scheduler/remaining.h"

/* A channel with a volume on each lane; lanes without bytes are idle. */
typedef struct vp_channel {
    uint32_t n_lanes;
    uint32_t *instance;    /* [n_ranks] */
    uint32_t *source;      /* [n_ranks] */
    uint32_t *destination; /* [n_ranks] */
    uint64_t *n_bytes;     /* [n_ranks] */
} vp_channel_t;

vp_status_t vp_channel_init(vp_channel_t *channel, uint32_t n_ranks,
                            vp_error_t *error) VP_MUST_CHECK;
/* Also after a failed or never made init of a zeroed record. */
void vp_channel_release(vp_channel_t *channel);

/* Room for binding families of one model, at one quantum at a time. */
typedef struct vp_binder {
    const vp_model_t *model;
    uint64_t *quantum_bytes; /* [n_instances] bytes of one quantum; 0: excluded */
    vp_assign_t assign;
    vp_rest_walk_t walk;
    uint64_t *credits;      /* [largest group][largest group] */
    uint32_t *chosen;       /* [largest group] column of each row */
    uint32_t *pair_lanes;   /* [n_groups * n_groups + 1] first lane of each group pair */
    uint32_t *pair_open;    /* [n_groups * n_groups] lanes that the seed has not bound */
    uint32_t *from_lanes;   /* [n_ranks] lanes by source group */
    uint32_t *into_lanes;   /* [n_ranks] lanes by destination group */
    uint32_t *into_begin;   /* [n_groups + 1] into into_lanes */
    bool *source_used;      /* [n_ranks] */
    bool *destination_used; /* [n_ranks] */
    uint32_t *copies_used;  /* [n_instances], all 0 between calls */
    bool *resource_used;    /* [n_resources], all false between calls */
} vp_binder_t;

vp_status_t vp_binder_init(vp_binder_t *binder, const vp_model_t *model,
                           vp_error_t *error) VP_MUST_CHECK;
/* Also after a failed or never made init of a zeroed record. */
void vp_binder_release(vp_binder_t *binder);

/*
 * Sets tau; UINT64_MAX: lanes take all that is left of their pair. Instances r
 * with is_excluded[r] carry nothing (NULL: none is excluded).
 */
void vp_binder_set_quantum(vp_binder_t *binder, uint64_t tau_ns, const bool *is_excluded);

/*
 * Binds the family of these members (ascending by instance): endpoints seeded
 * from the largest remaining pairs, then alternating assignment until the sum
 * of credits (Equation 7, in bytes) stops rising. A family with a lane where
 * bytes remain, on an instance that is not excluded, gets a channel that moves
 * bytes.
 */
void vp_binder_bind(vp_binder_t *binder, const vp_remaining_t *remaining,
                    const vp_member_t *members, uint32_t n_members, vp_channel_t *channel);

/*
 * A channel straight from path instances, without a family: the largest
 * remaining pair, then every further pair, in descending order, that the lanes
 * before it leave room for. Moves bytes whenever any remain.
 */
void vp_binder_force(vp_binder_t *binder, const vp_remaining_t *remaining, vp_channel_t *channel);

#endif
