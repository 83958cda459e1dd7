/*
 * The alignment bound: LP + alpha * Kmin forgets that lanes of one activation
 * wait for each other. Private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_ALIGNMENT_H
#define VP_SCHEDULER_ALIGNMENT_H

#include "scheduler/schedule.h"

/*
 * A lower bound on the time of any plan of exclusive lanes; at least
 * bound->bound_ns, from which it starts. Sort the activations of a plan by
 * length, l_1 >= .. >= l_K. A port with n jobs has s = K - n slots to spare, so
 * at most s of its jobs are split. Its m longest jobs fill at most s + m
 * slots, which are at least as long together, and among its s + j longest jobs
 * j are whole, so l_j is at least as long as the shortest of those. So it is
 * with all ways out of a group together, and into it, whose rates may differ
 * (alignment_cuts.h). The bound is the least over K. O(ports * K) for each K
 * that could be the best.
 */
vp_status_t vp_alignment_bound(const vp_model_t *model, const uint64_t *demand_bytes,
                               uint64_t alpha_ns, const vp_bound_t *bound, uint64_t *bound_ns_p,
                               vp_error_t *error) VP_MUST_CHECK;

#endif
