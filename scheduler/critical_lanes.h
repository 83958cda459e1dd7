/*
 * All lanes that jobs could take, one for each way, with their ports as bit
 * masks. Private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_CRITICAL_LANES_H
#define VP_SCHEDULER_CRITICAL_LANES_H

#include "scheduler/jobs.h"

enum { VP_SHARE_BITS = 16, VP_SHARE_ONE = 1 << VP_SHARE_BITS };

typedef struct vp_critical_lane {
    uint64_t ticks; /* that what is left of the job takes on this way, scaled */
    uint32_t job;
    uint32_t way;
    uint32_t share; /* of the job's bytes in the path split, in VP_SHARE_ONE */
    uint32_t n_ports;
    uint32_t ports[VP_JOBS_MAX_PORTS]; /* numbered densely */
} vp_critical_lane_t;

typedef struct vp_lanes {
    const vp_jobs_t *jobs;
    uint32_t n_lanes; /* by job, then way */
    uint32_t n_ports; /* that any lane uses */
    uint32_t n_words; /* of a mask */
    uint32_t max_ways;
    uint32_t tick_shift; /* scaled ticks are below 2^VP_LANE_TICK_BITS */
    uint64_t alpha;      /* scaled */
    vp_critical_lane_t *lanes;
    uint64_t *masks; /* [n_lanes][n_words] ports of each lane */
} vp_lanes_t;

/* Weights are prices of at most 2^20 times scaled ticks, and sum over at most 2^12 lanes. */
enum { VP_LANE_TICK_BITS = 30 };

vp_status_t vp_lanes_init(vp_lanes_t *lanes, const vp_jobs_t *jobs,
                          vp_error_t *error) VP_MUST_CHECK;
/* Also after a failed or never made init of a zeroed record. */
void vp_lanes_release(vp_lanes_t *lanes);

/* Sets the shares by multiplicative weights; ticks are those of whole jobs. */
vp_status_t vp_lanes_share(vp_lanes_t *lanes, vp_error_t *error) VP_MUST_CHECK;

/* value / whole in VP_SHARE_ONE; value <= whole < 2^47. */
static inline uint64_t vp_fraction(uint64_t value, uint64_t whole)
{
    return (value << VP_SHARE_BITS) / whole;
}

/* A fraction to the power 2^n_squarings. */
static inline uint64_t vp_power(uint64_t fraction, uint32_t n_squarings)
{
    for (; n_squarings > 0; n_squarings--) {
        fraction = fraction * fraction >> VP_SHARE_BITS;
    }
    return fraction;
}

#endif
