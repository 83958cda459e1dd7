/*
 * The bound with a chosen effort; private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_BOUND_H
#define VP_SCHEDULER_BOUND_H

#include "scheduler/schedule.h"

/* Sweeps of vp_bound, and of planners that only need a scale for their quanta. */
enum { VP_BOUND_SWEEPS = 128, VP_BOUND_SWEEPS_ROUGH = 24 };

/*
 * vp_bound with n_sweeps >= 1; more sweeps never lower the result. Time
 * O(n_sweeps * (pairs with bytes * instances of a pair)).
 */
vp_status_t vp_bound_search(const vp_model_t *model, const uint64_t *demand_bytes,
                            uint64_t alpha_ns, uint32_t n_sweeps, vp_bound_t *bound_p,
                            vp_error_t *error) VP_MUST_CHECK;

/* vp_list_bound with n_sweeps >= 1. */
vp_status_t vp_list_bound_search(const vp_model_t *model, const uint64_t *demand_bytes,
                                 uint64_t alpha_ns, uint32_t n_sweeps, uint64_t *list_ns_p,
                                 vp_error_t *error) VP_MUST_CHECK;

#endif
