/*
 * Shapes and families made from path instances where a catalog lists none
 * (VP_CATALOG_GENERATED); private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_SHAPER_H
#define VP_SCHEDULER_SHAPER_H

#include "catalog/model.h"
#include "scheduler/flow.h"
#include "scheduler/remaining.h"

typedef struct vp_shaper {
    const vp_model_t *model;
    const bool *is_excluded; /* [n_instances], or NULL */
    vp_flow_t flow;
    uint32_t *arc;       /* [n_instances] arc of each instance */
    uint32_t first_idle; /* the arcs from here on are idle lanes, one for each group */
    int64_t dearest;     /* cost of an arc that serves nothing */

    /* Resources that the network leaves out, and the instances that use them. */
    uint32_t n_sides;
    uint32_t max_sides;   /* up to which they are branched over, not chosen greedily */
    uint32_t *user_begin; /* [n_sides + 1] into users */
    uint32_t *users;
    uint32_t *keeper;     /* [n_sides] the only user that is allowed, or UINT32_MAX */
    uint32_t *side_begin; /* [n_instances + 1] into sides: the left-out resources of each */
    uint32_t *sides;
    uint32_t n_steps;   /* of the branch and bound over them */
    uint32_t max_steps; /* after which it takes the best so far */
    uint64_t best_score;
    uint32_t *best; /* [n_instances] lanes of each in the best selection so far */

    bool *resource_used;  /* [n_resources] all false between calls */
    vp_member_t *members; /* [n_members] what the last call chose, ascending */
    uint32_t n_members;
} vp_shaper_t;

vp_status_t vp_shaper_init(vp_shaper_t *shaper, const vp_model_t *model, const bool *is_excluded,
                           vp_error_t *error) VP_MUST_CHECK;
/* Also after a failed or never made init of a zeroed record. */
void vp_shaper_release(vp_shaper_t *shaper);

/* Forgets the last solution, so that what follows depends on what follows only. */
void vp_shaper_reset(vp_shaper_t *shaper);

/*
 * Chooses the shape with the largest score, sum of lanes[a][d] *
 * pressure[a][d] (each below 2^48), among the shapes of the exhaustive catalog
 * without listing them, and instances for it: per group pair those that carry
 * the largest remaining pair in a quantum, the faster ones first. Lanes between
 * groups without pressure are left out. False: nothing scores above 0.
 *
 * The score is the largest there is where the network leaves out no resource,
 * which is so for links between two groups, uplinks and NICs of one group, and
 * up to max_sides (16) left-out resources as long as the branching ends within
 * max_steps (256 in a small machine, 8192 / arcs in a larger one).
 * Otherwise it is that of a greedy choice over what is left out.
 */
bool vp_shaper_choose(vp_shaper_t *shaper, const uint64_t *pressure,
                      const vp_remaining_t *remaining, const uint64_t *quantum_bytes);

#endif
