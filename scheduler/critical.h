/*
 * The search of the planner "critical", for planners that build on it. Private
 * to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_CRITICAL_H
#define VP_SCHEDULER_CRITICAL_H

#include "scheduler/colouring.h"
#include "scheduler/schedule.h"

/*
 * The cheapest colouring that greedy runs with different options give, each
 * improved. `best` has been initialised; one that it already holds is kept
 * unless a run is cheaper.
 */
vp_status_t vp_critical_search(const vp_jobs_t *jobs, const vp_schedule_options_t *options,
                               vp_colouring_t *best, vp_error_t *error) VP_MUST_CHECK;

#endif
