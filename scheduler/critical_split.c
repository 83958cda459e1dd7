/*
 * How jobs spread over their ways: port prices against shares, by
 * multiplicative weights. Ways of one group pair differ only in what lies
 * between the ranks, so that all jobs of the pair get the same shares.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/critical_lanes.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { ONE = VP_SHARE_ONE, POWER = 8, N_ROUNDS = 12 };

/* Of the jobs with several ways that have the same first way. */
typedef struct bundle {
    uint32_t n_ways;
    uint32_t count;
    uint64_t ticks;   /* on their first way */
    uint64_t fastest; /* length over that on the first way, of the fastest, in ONE */
    uint64_t price;   /* of their ranks, by ticks, in 1 / ONE */
} bundle_t;

typedef struct split {
    vp_lanes_t *lanes;
    uint32_t first;     /* lane with several ways; all after it have too */
    bundle_t *bundles;  /* [n_ways] at the first way of each */
    uint64_t *slowness; /* [n_ways] length over that on the bundle's first way, in ONE */
    uint32_t *share;    /* [n_ways] in ONE */
    const vp_critical_lane_t **example; /* [n_ways] a lane on each way */
    uint64_t *fixed;                    /* [n_ports] load of jobs with one way */
    uint64_t *price;                    /* [n_ports] load, then price */
    uint64_t *cost;                     /* [max_ways] */
} split_t;

static bool init(split_t *split)
{
    const vp_lanes_t *lanes = split->lanes;
    size_t n_ways = lanes->jobs->n_ways;

    split->bundles = vp_array_new(n_ways, sizeof(*split->bundles));
    split->slowness = vp_array_new(n_ways, sizeof(*split->slowness));
    split->share = vp_array_new(n_ways, sizeof(*split->share));
    split->example = vp_array_new(n_ways, sizeof(const vp_critical_lane_t *));
    split->fixed = vp_array_new(lanes->n_ports, sizeof(*split->fixed));
    split->price = vp_array_new(lanes->n_ports, sizeof(*split->price));
    split->cost = vp_array_new(lanes->max_ways, sizeof(*split->cost));
    return split->bundles != NULL && split->slowness != NULL && split->share != NULL &&
           split->example != NULL && split->fixed != NULL && split->price != NULL &&
           split->cost != NULL;
}

static void release(split_t *split)
{
    free(split->cost);
    free(split->price);
    free(split->fixed);
    free(split->example);
    free(split->share);
    free(split->slowness);
    free(split->bundles);
}

static const vp_job_t *job_of(const split_t *split, const vp_critical_lane_t *lane)
{
    return &split->lanes->jobs->jobs[lane->job];
}

/* Ratios above MAX_SLOWNESS count as that. */
static uint64_t slowness(uint64_t ticks_per_byte, uint64_t first_ticks_per_byte)
{
    enum { MAX_SLOWNESS = 16 };
    vp_uint128_t ratio = ((vp_uint128_t)ticks_per_byte << VP_SHARE_BITS) / first_ticks_per_byte;

    return ratio < MAX_SLOWNESS * ONE ? (uint64_t)ratio : MAX_SLOWNESS * ONE;
}

static void bundle_lane(split_t *split, const vp_critical_lane_t *lane)
{
    const vp_job_t *job = job_of(split, lane);
    bundle_t *bundle = &split->bundles[job->first_way];

    if (lane->way == job->first_way) {
        bundle->n_ways = job->n_ways;
        bundle->fastest = ONE;
        bundle->ticks += lane->ticks;
        bundle->count++;
    }
    if (split->example[lane->way] == NULL) {
        const vp_way_t *ways = split->lanes->jobs->ways;

        split->example[lane->way] = lane;
        split->share[lane->way] = ONE / job->n_ways;
        split->slowness[lane->way] =
            slowness(ways[lane->way].ticks_per_byte, ways[job->first_way].ticks_per_byte);
    }
    if (split->slowness[lane->way] < bundle->fastest) {
        bundle->fastest = split->slowness[lane->way];
    }
}

static void collect(split_t *split)
{
    const vp_lanes_t *lanes = split->lanes;
    uint32_t l;
    uint32_t i;

    for (l = 0; l < lanes->n_lanes && job_of(split, &lanes->lanes[l])->n_ways == 1; l++) {
        const vp_critical_lane_t *lane = &lanes->lanes[l];

        for (i = 0; i < lane->n_ports; i++) {
            split->fixed[lane->ports[i]] += lane->ticks + lanes->alpha;
        }
    }
    split->first = l;
    for (; l < lanes->n_lanes; l++) {
        bundle_lane(split, &lanes->lanes[l]);
    }
}

/* Loads of what lies between ranks. */
static void load_ways(split_t *split, uint32_t first_way)
{
    const bundle_t *bundle = &split->bundles[first_way];
    uint32_t w;
    uint32_t i;

    for (w = first_way; w < first_way + bundle->n_ways; w++) {
        const vp_critical_lane_t *lane = split->example[w];
        uint64_t ticks = (bundle->ticks * split->slowness[w] >> VP_SHARE_BITS) +
                         bundle->count * split->lanes->alpha;

        for (i = VP_LANE_ENDS; i < lane->n_ports; i++) {
            split->price[lane->ports[i]] += ticks * split->share[w] >> VP_SHARE_BITS;
        }
    }
}

/* Loads of all ports under the shares, into `price`; returns the largest, at least 1. */
static uint64_t set_loads(split_t *split)
{
    const vp_lanes_t *lanes = split->lanes;
    uint64_t largest = 1;
    uint32_t first_way;
    uint32_t l;
    uint32_t i;

    memcpy(split->price, split->fixed, lanes->n_ports * sizeof(*split->price));
    for (first_way = 0; first_way < lanes->jobs->n_ways; first_way++) {
        if (split->bundles[first_way].count > 0) {
            load_ways(split, first_way);
        }
    }
    for (l = split->first; l < lanes->n_lanes; l += job_of(split, &lanes->lanes[l])->n_ways) {
        const vp_critical_lane_t *lane = &lanes->lanes[l];
        uint64_t ticks =
            (lane->ticks * split->bundles[lane->way].fastest >> VP_SHARE_BITS) + lanes->alpha;

        split->price[lane->ports[0]] += ticks;
        split->price[lane->ports[1]] += ticks;
    }
    for (i = 0; i < lanes->n_ports; i++) {
        largest = split->price[i] > largest ? split->price[i] : largest;
    }
    return largest;
}

static void set_prices(split_t *split)
{
    uint64_t largest = set_loads(split);
    uint32_t i;

    for (i = 0; i < split->lanes->n_ports; i++) {
        split->price[i] = vp_power(vp_fraction(split->price[i], largest), POWER);
    }
}

/* Mean price of the ranks of each bundle, by what their jobs take. */
static void price_ranks(split_t *split)
{
    const vp_lanes_t *lanes = split->lanes;
    uint32_t w;
    uint32_t l;

    for (w = 0; w < lanes->jobs->n_ways; w++) {
        split->bundles[w].price = 0;
    }
    for (l = split->first; l < lanes->n_lanes; l += job_of(split, &lanes->lanes[l])->n_ways) {
        const vp_critical_lane_t *lane = &lanes->lanes[l];

        split->bundles[lane->way].price +=
            lane->ticks * (split->price[lane->ports[0]] + split->price[lane->ports[1]]) >>
            VP_SHARE_BITS;
    }
}

/* Moves the shares of a bundle towards its cheaper ways. */
static void move(split_t *split, uint32_t first_way, uint32_t round)
{
    const bundle_t *bundle = &split->bundles[first_way];
    uint64_t ranks = (bundle->price << VP_SHARE_BITS) / (bundle->ticks + 1);
    uint64_t dearest = ONE;
    uint64_t cheapest = UINT64_MAX;
    uint64_t sum = 0;
    uint32_t w;
    uint32_t i;

    for (w = 0; w < bundle->n_ways; w++) {
        const vp_critical_lane_t *lane = split->example[first_way + w];
        uint64_t cost = ranks;

        for (i = VP_LANE_ENDS; i < lane->n_ports; i++) {
            cost += split->price[lane->ports[i]];
        }
        /* A slow way loads its ports for longer. */
        cost = cost * split->slowness[first_way + w] >> VP_SHARE_BITS;
        dearest = cost > dearest ? cost : dearest;
        cheapest = cost < cheapest ? cost : cheapest;
        split->cost[w] = cost;
    }
    for (w = 0; w < bundle->n_ways; w++) {
        uint64_t above = (split->cost[w] - cheapest) * ONE / dearest;
        uint64_t kept = ONE - above * 4 / (8 + round);
        uint32_t *share = &split->share[first_way + w];

        *share = (uint32_t)(*share * kept / ONE + 1);
        sum += *share;
    }
    for (w = 0; w < bundle->n_ways; w++) {
        uint32_t *share = &split->share[first_way + w];

        *share = (uint32_t)((uint64_t)*share * ONE / sum);
    }
}

vp_status_t vp_lanes_share(vp_lanes_t *lanes, vp_error_t *error)
{
    split_t split = {.lanes = lanes};
    uint32_t round;
    uint32_t l;

    if (!init(&split)) {
        release(&split);
        return vp_error_no_memory(error, "the shares of paths");
    }
    collect(&split);
    for (round = 0; round < N_ROUNDS && split.first < lanes->n_lanes; round++) {
        uint32_t w;

        set_prices(&split);
        price_ranks(&split);
        for (w = 0; w < lanes->jobs->n_ways; w++) {
            if (split.bundles[w].count > 0) {
                move(&split, w, round);
            }
        }
    }
    lanes->peak = set_loads(&split);
    for (l = split.first; l < lanes->n_lanes; l++) {
        lanes->lanes[l].share = split.share[lanes->lanes[l].way];
    }
    release(&split);
    return VP_OK;
}
