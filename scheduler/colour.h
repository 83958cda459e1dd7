/*
 * The search of the planner "colour", for planners that build on it. Private
 * to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_COLOUR_H
#define VP_SCHEDULER_COLOUR_H

#include "scheduler/colouring.h"
#include "scheduler/schedule.h"

/* The cheapest colouring of the jobs that the candidates give; `best` has been initialised. */
vp_status_t vp_colour_search(const vp_jobs_t *jobs, const vp_schedule_options_t *options,
                             vp_colouring_t *best, vp_error_t *error) VP_MUST_CHECK;

/* Steps, of about 1 ns each, that planning may take inside a call; `whole` is cut without limit. */
uint64_t vp_call_budget(const vp_jobs_t *jobs, const vp_cut_t *whole);

#endif
