/*
 * The mixture-of-experts demand of sim/demand_gen.h; private to the generator.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SIM_DEMAND_MOE_H
#define VP_SIM_DEMAND_MOE_H

#include "sim/demand_gen.h"

/* A uniformly random order of 0 .. n - 1 in new memory. */
vp_status_t vp_random_permutation(uint32_t n, uint64_t *state, uint32_t **permutation_p,
                                  vp_error_t *error) VP_MUST_CHECK;

/* Adds to demand_bytes[n_ranks][n_ranks]. */
vp_status_t vp_demand_moe(const vp_demand_options_t *options, uint64_t *demand_bytes,
                          vp_error_t *error) VP_MUST_CHECK;

#endif
