/*
 * Bounds from the dual of the port/resource LP of a demand; private to this
 * room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_DUAL_H
#define VP_SCHEDULER_DUAL_H

#include "base/units.h"
#include "catalog/model.h"

/* Unit costs stay at or below 2^this. */
enum { VP_DUAL_MAX_COST_BITS = 32 };

/* What each pair with bytes has to bring through: its bytes, or one lane. */
typedef enum vp_dual_amount { VP_DUAL_BYTES, VP_DUAL_LANES } vp_dual_amount_t;

typedef struct vp_dual vp_dual_t;

/* demand_bytes has passed vp_demand_check and is read here only; the model is borrowed. */
vp_status_t vp_dual_create(const vp_model_t *model, const uint64_t *demand_bytes,
                           vp_dual_t **dual_p, vp_error_t *error) VP_MUST_CHECK;
void vp_dual_destroy(vp_dual_t *dual);

/*
 * What a unit costs each kind of port by itself, on top of what its instance
 * costs: rank_cost at ways out and in, resource_cost[n_resources] (borrowed) at
 * resources; all from 1 to 2^VP_DUAL_MAX_COST_BITS. 1 everywhere at first.
 */
void vp_dual_set_port_costs(vp_dual_t *dual, uint64_t rank_cost, const uint64_t *resource_cost);

/*
 * What bringing a pair through costs each port on its way whatever its bytes,
 * in parts where it takes several ways; 0 at first. Counts in whole unit costs
 * for each unit of a pair's amount, rounded down.
 */
void vp_dual_set_lane_cost(vp_dual_t *dual, uint64_t lane_cost);

/*
 * A lower bound on the load of the fullest port (a rank's way out or in, a
 * resource), where an amount over instance r loads each port on its way by
 * unit_cost[r] per unit, times the port's cost, rounded down. Instances or
 * ports may have costs, not both. More sweeps never lower it. Time
 * O(n_sweeps * (pairs with bytes * instances of a pair)).
 */
vp_status_t vp_dual_solve(vp_dual_t *dual, vp_dual_amount_t amount, const uint64_t *unit_cost,
                          uint32_t n_sweeps, vp_uint128_t *best_p, vp_error_t *error) VP_MUST_CHECK;

#endif
