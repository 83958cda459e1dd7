/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/schedule.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/units.h"
#include "scheduler/bound.h"
#include "scheduler/demand_check.h"
#include "scheduler/dual.h"

/* Cost of a byte on the fastest link. */
enum { COST_BITS = 20 };

static uint64_t fastest_link(const vp_model_t *model)
{
    uint64_t fastest = model->gpu_link_bytes_per_s;
    uint32_t i;

    for (i = 0; i < model->n_resources; i++) {
        uint64_t rate = model->resources[i].bytes_per_s;

        fastest = rate > fastest ? rate : fastest;
    }
    return fastest;
}

/*
 * The inverse of a rate. Links slower than the fastest by more than 2^12 count
 * as that fast, which lowers the bound.
 */
static uint64_t cost_of(uint64_t fastest, uint64_t rate)
{
    const uint64_t largest = UINT64_C(1) << VP_DUAL_MAX_COST_BITS;
    uint64_t cost = vp_muldiv_floor(fastest, UINT64_C(1) << COST_BITS, rate);

    return cost < largest ? cost : largest;
}

static vp_status_t solve(vp_dual_t *dual, const vp_model_t *model, uint64_t *fluid_ns_p,
                         vp_error_t *error)
{
    uint64_t fastest = fastest_link(model);
    uint64_t *unit_cost = vp_array_new(model->n_instances, sizeof(*unit_cost));
    uint64_t *resource_cost = vp_array_new(model->n_resources, sizeof(*resource_cost));
    vp_uint128_t best = 0;
    vp_status_t status;
    uint32_t i;

    if (unit_cost == NULL || resource_cost == NULL) {
        status = vp_error_no_memory(error, "a fluid bound");
        goto out;
    }
    for (i = 0; i < model->n_instances; i++) {
        unit_cost[i] = 1;
    }
    for (i = 0; i < model->n_resources; i++) {
        resource_cost[i] = cost_of(fastest, model->resources[i].bytes_per_s);
    }
    vp_dual_set_port_costs(dual, cost_of(fastest, model->gpu_link_bytes_per_s), resource_cost);
    status = vp_dual_solve(dual, VP_DUAL_BYTES, unit_cost, VP_BOUND_SWEEPS, &best, error);
    if (status == VP_OK) {
        vp_uint128_t ns = best * VP_NS_PER_S / ((vp_uint128_t)fastest << COST_BITS);

        *fluid_ns_p = ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
    }
out:
    free(resource_cost);
    free(unit_cost);
    return status;
}

vp_status_t vp_fluid_bound(const vp_model_t *model, const uint64_t *demand_bytes,
                           uint64_t *fluid_ns_p, vp_error_t *error)
{
    vp_dual_t *dual = NULL;
    uint64_t total_bytes = 0;
    vp_status_t status = vp_demand_check(model, demand_bytes, &total_bytes, error);

    if (status != VP_OK) {
        return status;
    }
    if (total_bytes == 0) {
        *fluid_ns_p = 0;
        return VP_OK;
    }
    status = vp_dual_create(model, demand_bytes, &dual, error);
    if (status == VP_OK) {
        status = solve(dual, model, fluid_ns_p, error);
    }
    vp_dual_destroy(dual);
    return status;
}
