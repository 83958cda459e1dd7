/*
 * All lanes that jobs could take, one for each way, with their ports as bit
 * masks. Private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_CRITICAL_LANES_H
#define VP_SCHEDULER_CRITICAL_LANES_H

#include "scheduler/jobs.h"

enum { VP_SHARE_BITS = 16, VP_SHARE_ONE = 1 << VP_SHARE_BITS, VP_LANE_ENDS = 2 };

typedef struct vp_critical_lane {
    uint64_t ticks; /* that what is left of the job takes on this way, scaled */
    uint32_t job;
    uint32_t way;
    uint32_t share; /* of the job's bytes in the path split, in VP_SHARE_ONE */
    uint32_t speed; /* of the way, over that of the job's fastest, in VP_SHARE_ONE */
    uint32_t n_ports;
    uint32_t ports[VP_JOBS_MAX_PORTS]; /* numbered densely; first the ends, which are ranks' */
} vp_critical_lane_t;

typedef struct vp_lanes {
    const vp_jobs_t *jobs;
    uint32_t n_lanes; /* by job, then way */
    uint32_t n_ports; /* that any lane uses */
    uint32_t n_words; /* of a mask */
    uint32_t max_ways;
    uint32_t tick_shift; /* scaled ticks are below 2^VP_LANE_TICK_BITS */
    uint64_t alpha;      /* scaled */
    uint64_t peak;       /* scaled time of the fullest port under the shares, overheads counted */
    vp_critical_lane_t *lanes;
    uint64_t *masks;    /* [n_lanes][n_words] ports of each lane */
    uint32_t n_sources; /* ranks with something to send */
    uint32_t *sources;  /* [n_ranks] their ports */
} vp_lanes_t;

/*
 * A lane is worth less than 2^VP_LANE_WEIGHT_BITS: its price, at most 2^20, times scaled ticks
 * with the overhead added.
 */
enum { VP_LANE_TICK_BITS = 30, VP_LANE_WEIGHT_BITS = VP_LANE_TICK_BITS + 21 };

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

/* A fraction to a power. */
static inline uint64_t vp_power(uint64_t fraction, uint32_t exponent)
{
    uint64_t power = VP_SHARE_ONE;

    for (; exponent > 0; exponent >>= 1) {
        power = (exponent & 1) != 0 ? power * fraction >> VP_SHARE_BITS : power;
        fraction = fraction * fraction >> VP_SHARE_BITS;
    }
    return power;
}

#endif
