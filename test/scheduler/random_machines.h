/*
 * Random machines of any shape for property tests: uneven groups, several
 * NICs, links with long footprints, scarce copies, any rates.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_SCHEDULER_RANDOM_MACHINES_H
#define VP_TEST_SCHEDULER_RANDOM_MACHINES_H

#include "catalog/model.h"
#include "scheduler/plan.h"

/* A catalog without shapes; every pair of ranks has a path. Ends the process without memory. */
vp_catalog_t *random_machine(uint64_t *state_p, uint32_t max_ranks);

/* A demand of a random kind, some with a single huge entry; the caller frees it. */
uint64_t *random_demand(uint64_t *state_p, uint32_t n_ranks);

/*
 * Fails the running test unless the plan passes its check, takes at least the
 * bound for its form, and cuts blocks at whole chunks without slivers.
 */
void check_plan(const vp_plan_t *plan, const vp_model_t *model, const uint64_t *demand_bytes,
                uint64_t alpha_ns);

#endif
