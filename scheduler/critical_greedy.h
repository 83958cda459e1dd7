/*
 * The greedy step of the planner "critical". Private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_CRITICAL_GREEDY_H
#define VP_SCHEDULER_CRITICAL_GREEDY_H

#include "scheduler/colouring.h"
#include "scheduler/critical_lanes.h"

/* How one run differs from another. */
typedef struct vp_greedy_options {
    uint32_t price_power;    /* prices are port potentials to this power */
    uint32_t n_lengths;      /* candidates for an activation's length, 1 .. 8, and two more */
    uint32_t length_percent; /* all candidates are scaled by this */
    uint32_t n_swaps;        /* passes of improvement by exchange, for every length */
    uint32_t n_refine;       /* and for the length that was best */
    uint32_t noise;          /* prices of lanes vary by up to this share of VP_SHARE_ONE */
    uint64_t seed;           /* of the noise */
    uint64_t alpha_floor;    /* scaled; with no overhead at all slivers would win */
} vp_greedy_options_t;

/*
 * Fills an initialised colouring: activation after activation, the channel
 * that takes most off the ports with most left to do, counting an overhead for
 * every job that it finishes. Stops early, incomplete, once the cost reaches
 * `limit`.
 */
vp_status_t vp_greedy_run(const vp_lanes_t *lanes, const vp_greedy_options_t *options,
                          uint64_t limit, vp_colouring_t *colouring,
                          vp_error_t *error) VP_MUST_CHECK;

/* Steps, of about 1 ns each, that one activation takes with so many lanes left. */
uint64_t vp_greedy_steps(const vp_lanes_t *lanes, const vp_greedy_options_t *options,
                         uint32_t n_live);

#endif
