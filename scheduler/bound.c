/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/bound.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/units.h"
#include "scheduler/demand_check.h"
#include "scheduler/dual.h"

/* Unit cost of a byte on the fastest instance, and of a lane. */
enum { COST_BITS = 20 };

static uint64_t fastest_rate(const vp_model_t *model)
{
    uint64_t fastest = 1;
    uint32_t r;

    for (r = 0; r < model->n_instances; r++) {
        uint64_t rate = model->instances[r].bytes_per_s;

        fastest = rate > fastest ? rate : fastest;
    }
    return fastest;
}

/*
 * The LP in bytes: an instance costs the inverse of its rate. Instances slower
 * than the fastest by more than 2^12 count as that fast, which lowers the bound.
 */
static vp_status_t bound_time(vp_dual_t *dual, const vp_model_t *model, uint64_t *unit_cost,
                              uint32_t n_sweeps, uint64_t *lp_ns_p, vp_error_t *error)
{
    const uint64_t largest = UINT64_C(1) << VP_DUAL_MAX_COST_BITS;
    uint64_t fastest = fastest_rate(model);
    vp_uint128_t best = 0;
    vp_uint128_t ns;
    vp_status_t status;
    uint32_t r;

    for (r = 0; r < model->n_instances; r++) {
        uint64_t cost =
            vp_muldiv_floor(fastest, UINT64_C(1) << COST_BITS, model->instances[r].bytes_per_s);

        unit_cost[r] = cost < largest ? cost : largest;
    }
    status = vp_dual_solve(dual, VP_DUAL_BYTES, unit_cost, n_sweeps, &best, error);
    if (status != VP_OK) {
        return status;
    }
    ns = best * VP_NS_PER_S / ((vp_uint128_t)fastest << COST_BITS);
    *lp_ns_p = ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
    return VP_OK;
}

/* A time in the unit costs of the LP in bytes, rounded down. */
static uint64_t cost_of_ns(uint64_t fastest, uint64_t ns)
{
    const uint64_t per_ns = vp_muldiv_floor(fastest, UINT64_C(1) << COST_BITS, VP_NS_PER_S);

    return vp_mul_sat(per_ns, ns);
}

/* The LP in lanes: each pair needs one at least, each port carries one per activation. */
static vp_status_t bound_activations(vp_dual_t *dual, const vp_model_t *model, uint64_t *unit_cost,
                                     uint32_t n_sweeps, uint32_t *kmin_p, vp_error_t *error)
{
    const vp_uint128_t one = (vp_uint128_t)1 << COST_BITS;
    vp_uint128_t best = 0;
    vp_status_t status;
    uint32_t r;

    for (r = 0; r < model->n_instances; r++) {
        unit_cost[r] = (uint64_t)one;
    }
    status = vp_dual_solve(dual, VP_DUAL_LANES, unit_cost, n_sweeps, &best, error);
    if (status != VP_OK) {
        return status;
    }
    /* Activations are whole: the least whole number at or above a bound is a bound. */
    *kmin_p = (uint32_t)((best + one - 1) / one);
    return VP_OK;
}

static vp_status_t bound_demand(vp_dual_t *dual, const vp_model_t *model, uint64_t alpha_ns,
                                uint32_t n_sweeps, vp_bound_t *bound_p, vp_error_t *error)
{
    uint64_t *unit_cost = vp_array_new(model->n_instances, sizeof(*unit_cost));
    vp_bound_t bound = {0};
    vp_status_t status;

    if (unit_cost == NULL) {
        return vp_error_no_memory(error, "a bound");
    }
    status = bound_time(dual, model, unit_cost, n_sweeps, &bound.lp_ns, error);
    if (status == VP_OK) {
        status = bound_activations(dual, model, unit_cost, n_sweeps, &bound.kmin, error);
    }
    free(unit_cost);
    if (status != VP_OK) {
        return status;
    }
    bound.bound_ns = vp_add_sat(bound.lp_ns, vp_mul_sat(alpha_ns, bound.kmin));
    *bound_p = bound;
    return VP_OK;
}

vp_status_t vp_bound_search(const vp_model_t *model, const uint64_t *demand_bytes,
                            uint64_t alpha_ns, uint32_t n_sweeps, vp_bound_t *bound_p,
                            vp_error_t *error)
{
    vp_dual_t *dual = NULL;
    uint64_t total_bytes = 0;
    vp_status_t status = vp_demand_check(model, demand_bytes, &total_bytes, error);

    if (status != VP_OK) {
        return status;
    }
    if (total_bytes == 0) {
        *bound_p = (vp_bound_t){0};
        return VP_OK;
    }
    status = vp_dual_create(model, demand_bytes, &dual, error);
    if (status == VP_OK) {
        status = bound_demand(dual, model, alpha_ns, n_sweeps, bound_p, error);
    }
    vp_dual_destroy(dual);
    return status;
}

vp_status_t vp_bound(const vp_model_t *model, const uint64_t *demand_bytes, uint64_t alpha_ns,
                     vp_bound_t *bound_p, vp_error_t *error)
{
    return vp_bound_search(model, demand_bytes, alpha_ns, VP_BOUND_SWEEPS, bound_p, error);
}

vp_status_t vp_list_bound_search(const vp_model_t *model, const uint64_t *demand_bytes,
                                 uint64_t alpha_ns, uint32_t n_sweeps, uint64_t *list_ns_p,
                                 vp_error_t *error)
{
    vp_dual_t *dual = NULL;
    uint64_t *unit_cost = NULL;
    uint64_t total_bytes = 0;
    vp_status_t status = vp_demand_check(model, demand_bytes, &total_bytes, error);

    if (status != VP_OK) {
        return status;
    }
    if (total_bytes == 0) {
        *list_ns_p = 0;
        return VP_OK;
    }
    unit_cost = vp_array_new(model->n_instances, sizeof(*unit_cost));
    if (unit_cost == NULL) {
        return vp_error_no_memory(error, "a bound");
    }
    status = vp_dual_create(model, demand_bytes, &dual, error);
    if (status == VP_OK) {
        vp_dual_set_lane_cost(dual, cost_of_ns(fastest_rate(model), alpha_ns));
        status = bound_time(dual, model, unit_cost, n_sweeps, list_ns_p, error);
    }
    vp_dual_destroy(dual);
    free(unit_cost);
    return status;
}

vp_status_t vp_list_bound(const vp_model_t *model, const uint64_t *demand_bytes, uint64_t alpha_ns,
                          uint64_t *list_ns_p, vp_error_t *error)
{
    return vp_list_bound_search(model, demand_bytes, alpha_ns, VP_BOUND_SWEEPS, list_ns_p, error);
}
