/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/critical_lanes.h"

#include "base/array.h"

#include <stdlib.h>

enum { ONE = VP_SHARE_ONE, N_ROUNDS = 24, POWER_BITS = 3 };

/* Load of each port under the shares; returns the largest. */
static uint64_t load_ports(const vp_lanes_t *lanes, uint64_t *load)
{
    uint64_t largest = 1;
    uint32_t l;
    uint32_t p;

    for (p = 0; p < lanes->n_ports; p++) {
        load[p] = 0;
    }
    for (l = 0; l < lanes->n_lanes; l++) {
        const vp_critical_lane_t *lane = &lanes->lanes[l];
        uint64_t part = (lane->ticks + lanes->alpha) * lane->share / ONE;

        for (p = 0; p < lane->n_ports; p++) {
            load[lane->ports[p]] += part;
        }
    }
    for (p = 0; p < lanes->n_ports; p++) {
        largest = load[p] > largest ? load[p] : largest;
    }
    return largest;
}

/* Moves the shares of one job towards its cheaper lanes, first .. end - 1. */
static void move(vp_lanes_t *lanes, uint32_t first, uint32_t end, const uint64_t *price,
                 uint64_t *cost, uint32_t round)
{
    uint64_t dearest = 1;
    uint64_t cheapest = UINT64_MAX;
    uint64_t sum = 0;
    uint32_t l;
    uint32_t p;

    for (l = first; l < end; l++) {
        const vp_critical_lane_t *lane = &lanes->lanes[l];

        cost[l - first] = 0;
        for (p = 0; p < lane->n_ports; p++) {
            cost[l - first] += price[lane->ports[p]];
        }
        /* A slow way loads its ports for longer. */
        cost[l - first] = cost[l - first] * (lane->ticks + 1) / (lanes->lanes[first].ticks + 1);
        dearest = cost[l - first] > dearest ? cost[l - first] : dearest;
        cheapest = cost[l - first] < cheapest ? cost[l - first] : cheapest;
    }
    for (l = first; l < end; l++) {
        uint64_t above = (cost[l - first] - cheapest) * ONE / (dearest > ONE ? dearest : ONE);
        uint64_t kept = ONE - above * 4 / (8 + round);

        lanes->lanes[l].share = (uint32_t)((uint64_t)lanes->lanes[l].share * kept / ONE + 1);
        sum += lanes->lanes[l].share;
    }
    for (l = first; l < end; l++) {
        lanes->lanes[l].share = (uint32_t)((uint64_t)lanes->lanes[l].share * ONE / sum);
    }
}

vp_status_t vp_lanes_share(vp_lanes_t *lanes, vp_error_t *error)
{
    uint64_t *load = vp_array_new(lanes->n_ports, sizeof(*load));
    uint64_t *cost = vp_array_new(lanes->max_ways, sizeof(*cost));
    uint32_t round;
    uint32_t p;

    if (load == NULL || cost == NULL) {
        free(cost);
        free(load);
        return vp_error_no_memory(error, "the shares of paths");
    }
    for (round = 0; round < N_ROUNDS && lanes->max_ways > 1; round++) {
        uint64_t largest = load_ports(lanes, load);
        uint32_t l;
        uint32_t end;

        for (p = 0; p < lanes->n_ports; p++) {
            load[p] = vp_power(vp_fraction(load[p], largest), POWER_BITS);
        }
        for (l = 0; l < lanes->n_lanes; l = end) {
            for (end = l + 1; end < lanes->n_lanes && lanes->lanes[end].job == lanes->lanes[l].job;
                 end++) {
            }
            if (end > l + 1) {
                move(lanes, l, end, load, cost, round);
            }
        }
    }
    free(cost);
    free(load);
    return VP_OK;
}
