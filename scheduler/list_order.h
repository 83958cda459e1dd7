/*
 * One pass of the list scheduler: a start for every piece of a cut such that
 * pieces that share a port follow each other. Private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_LIST_ORDER_H
#define VP_SCHEDULER_LIST_ORDER_H

#include "scheduler/jobs.h"

/* Which of the pieces that could start does. A port is as urgent as it has work left. */
typedef enum vp_urgency {
    VP_URGENCY_FULLEST, /* by the most urgent of its ports */
    VP_URGENCY_SQUARES, /* by all of them, the sum of squares */
    VP_N_URGENCIES
} vp_urgency_t;

/*
 * Fills order[n_pieces] with the numbers of the cut's pieces, which has been
 * sorted, in the order of their starts, and *ticks_p with when the last one
 * ends, each taking its ticks and the overhead. At every moment at which ports
 * fall free, the most urgent first, the most urgent piece over each starts; of
 * equals the longest. O(pieces * pieces per port). VP_ERR_NO_MEMORY.
 */
vp_status_t vp_list_order(const vp_jobs_t *jobs, const vp_cut_t *cut, vp_urgency_t urgency,
                          uint32_t *order, uint64_t *ticks_p, vp_error_t *error) VP_MUST_CHECK;

#endif
