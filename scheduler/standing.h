/*
 * Splits of equal blocks, made before any call; private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_STANDING_H
#define VP_SCHEDULER_STANDING_H

#include "scheduler/schedule.h"
#include "scheduler/split.h"

struct vp_standing {
    vp_spread_t equal[2]; /* equal blocks on nearest paths */
    vp_split_t split[2];  /* of these: [0] under the profile, [1] on links that lose nothing */
    uint64_t reach_ns;    /* of the fullest resource after the first */
    bool has_even[2];
    vp_split_t even[2]; /* bytes to other nodes evenly over NICs: [0] the nearest, [1] all, as links
                           allow */
};

/*
 * About what the best split of a demand can reach: the fullest of the ranks'
 * own links, of the links that pairs cannot avoid, all NICs of a node together,
 * and what the equal blocks that lie within the demand take (standing NULL:
 * without these).
 */
vp_status_t vp_standing_reach(const vp_standing_t *standing, const vp_spread_t *spread,
                              uint64_t *reach_ns_p, vp_error_t *error) VP_MUST_CHECK;

#endif
