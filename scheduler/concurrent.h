/*
 * Plans whose lanes share links, with what they say about dearer planners;
 * private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_CONCURRENT_H
#define VP_SCHEDULER_CONCURRENT_H

#include "scheduler/schedule.h"

/*
 * vp_schedule_concurrent. With is_frugal the split is made for this demand
 * only where it may gain more than it costs. *exclusive_ns_p: about what lanes
 * that share nothing can reach, overheads counted; UINT64_MAX: nothing better.
 */
vp_status_t vp_concurrent_search(const vp_model_t *model, const uint64_t *demand_bytes,
                                 const vp_schedule_options_t *options, bool is_frugal,
                                 vp_plan_t **plan_p, uint64_t *exclusive_ns_p,
                                 vp_error_t *error) VP_MUST_CHECK;

#endif
