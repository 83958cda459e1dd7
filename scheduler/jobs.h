/*
 * A demand as jobs of ports, which is all that planners without a catalog
 * need: pairs with bytes, the ways each may take, and pieces cut from them.
 * Private to this room.
 *
 * A port is anything that one lane of an activation occupies alone: a rank's
 * way out, a rank's way in, a shared resource, one copy of an instance. Two
 * lanes may share an activation exactly if they share no port.
 *
 * Lengths are in ticks of 2^tick_shift ns, rounded up; the shift is 0 unless
 * the demand runs for years, and keeps every sum below 2^62.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_JOBS_H
#define VP_SCHEDULER_JOBS_H

#include "base/pool.h"
#include "base/units.h"
#include "catalog/model.h"
#include "scheduler/schedule.h"

enum {
    VP_JOBS_MIN_CUT_CHUNKS = 4, /* nothing smaller is cut off or left over */
    VP_JOBS_MAX_PORTS = VP_MAX_FOOTPRINT + 3
};

/*
 * One way between two groups: an instance, or one copy of it where copies are
 * scarce, or two instances at once where ports are shared and their rates
 * together come closer to the rate of a GPU's link.
 */
typedef struct vp_way {
    uint64_t bytes_per_s;
    uint64_t chunk_bytes;    /* of the jobs */
    uint64_t ticks_per_byte; /* with VP_JOBS_RATE_BITS fraction bits, rounded up */
    uint32_t instance;
    uint32_t partner; /* the second instance; VP_NO_PARTNER */
    uint32_t n_ports; /* beside those of the ranks */
    uint32_t ports[VP_JOBS_MAX_PORTS - 2];
} vp_way_t;

#define VP_NO_PARTNER UINT32_MAX

enum { VP_JOBS_RATE_BITS = 32 };

/* A pair with bytes. */
typedef struct vp_job {
    uint64_t n_bytes;
    uint64_t ticks;     /* whole, on the first way */
    uint32_t first_way; /* first_way .. first_way + n_ways - 1 */
    uint16_t n_ways;
    uint16_t source;
    uint16_t destination;
} vp_job_t;

/* A part of a job on one way. */
typedef struct vp_piece {
    uint64_t n_bytes;
    uint64_t ticks;
    uint32_t way;
    uint32_t job;
    uint32_t colour; /* VP_NO_COLOUR: none yet */
    uint32_t next;   /* in the list of its colour */
    uint16_t source;
    uint16_t destination;
} vp_piece_t;

#define VP_NO_COLOUR UINT32_MAX
#define VP_NO_PIECE UINT32_MAX

/* What lies on a port. */
typedef struct vp_port_load {
    uint64_t ticks; /* without alpha */
    uint32_t count; /* pieces */
} vp_port_load_t;

typedef struct vp_jobs {
    const vp_model_t *model;
    vp_pool_t *pool;      /* borrowed, or NULL: what holds jobs, pieces and colours comes from it */
    uint64_t chunk_bytes; /* blocks are cut at multiples of this, a power of two */
    uint64_t min_cut_bytes;
    bool shares_ports;   /* there may be ways over two instances */
    uint32_t contention; /* profile of the model that plans are timed under */
    uint32_t n_ports;    /* n_ranks ways out, n_ranks ways in, resources, scarce copies */
    uint32_t n_ways;
    uint32_t tick_shift;
    uint64_t alpha_ticks;
    uint64_t total_bytes;
    vp_way_t *ways;
    uint32_t *pair_ways; /* [n_groups * n_groups + 1] first way of each group pair */
    size_t n_jobs;
    size_t n_single; /* jobs with one way come first, then the others by descending bytes */
    vp_job_t *jobs;
    vp_port_load_t *single_load; /* [n_ports] of the jobs with one way, whole */
    bool *arrives; /* [n_ports] whether the port lies at the destination's end of a path */
} vp_jobs_t;

/* VP_ERR_UNSUPPORTED for options with ablations: what is fixed is not kept here. */
vp_status_t vp_jobs_refuse_fix(const vp_schedule_options_t *options, const char *planner,
                               vp_error_t *error) VP_MUST_CHECK;

/* VP_ERR_USAGE unless blocks can be cut at multiples of chunk_bytes. */
vp_status_t vp_jobs_check_chunk(uint64_t chunk_bytes, vp_error_t *error) VP_MUST_CHECK;

/* VP_ERR_BAD_INPUT as vp_demand_check; VP_ERR_NO_MEMORY. */
vp_status_t vp_jobs_init(vp_jobs_t *jobs, const vp_model_t *model, const uint64_t *demand_bytes,
                         uint64_t alpha_ns, vp_error_t *error) VP_MUST_CHECK;
/*
 * The same with what the options say: overhead, chunks, port sharing,
 * contention profile. VP_ERR_USAGE: a profile or chunk size that is none.
 */
vp_status_t vp_jobs_open(vp_jobs_t *jobs, const vp_model_t *model, const uint64_t *demand_bytes,
                         const vp_schedule_options_t *options, vp_error_t *error) VP_MUST_CHECK;
/* Also after a failed or never made init of a zeroed record. */
void vp_jobs_release(vp_jobs_t *jobs);

/* Pieces of all jobs, and what they put on each port. */
typedef struct vp_cut {
    vp_pool_t *pool; /* of the jobs */
    size_t n_pieces;
    size_t capacity;
    vp_piece_t *pieces; /* in the jobs' order */
    size_t order_capacity;
    uint64_t *order;      /* [n_pieces] pieces by descending length: low half the number */
    uint64_t *spare;      /* [n_pieces] room to sort */
    vp_port_load_t *load; /* [n_ports] */
    uint64_t max_ticks;   /* of any port */
    uint32_t max_count;
    uint64_t longest; /* piece */
    uint64_t grain;   /* pieces that are in the wrong order differ by less */
} vp_cut_t;

vp_status_t vp_cut_init(vp_cut_t *cut, const vp_jobs_t *jobs, vp_error_t *error) VP_MUST_CHECK;
void vp_cut_release(vp_cut_t *cut);

/*
 * Cuts every job into pieces of at most about tau_ticks (UINT64_MAX: whole)
 * and gives each piece the way that leaves the fullest of its ports least
 * full.
 */
vp_status_t vp_cut_make(vp_cut_t *cut, const vp_jobs_t *jobs, uint64_t tau_ticks,
                        vp_error_t *error) VP_MUST_CHECK;

/* Fills `order`; equals keep the jobs' order. */
vp_status_t vp_cut_sort(vp_cut_t *cut, vp_error_t *error) VP_MUST_CHECK;

/* No plan of these pieces as they are is shorter. */
uint64_t vp_cut_bound(const vp_cut_t *cut, const vp_jobs_t *jobs);

/* Length of bytes on a way, rounded up. */
static inline uint64_t vp_way_ticks(const vp_way_t *way, uint64_t n_bytes)
{
    const vp_uint128_t round_up = ((vp_uint128_t)1 << VP_JOBS_RATE_BITS) - 1;

    return (uint64_t)(((vp_uint128_t)n_bytes * way->ticks_per_byte + round_up) >>
                      VP_JOBS_RATE_BITS);
}

static inline uint64_t vp_round_to_chunks(const vp_jobs_t *jobs, uint64_t n_bytes)
{
    return (n_bytes + jobs->chunk_bytes - 1) & ~(jobs->chunk_bytes - 1);
}

/* Of a piece on a way over two instances: bytes on the first, whole chunks, or all of them. */
uint64_t vp_way_first_bytes(const vp_jobs_t *jobs, const vp_way_t *way, uint64_t n_bytes);

/* Whole chunks that take no longer than `ticks` on a way, in bytes. */
uint64_t vp_way_bytes_in(const vp_way_t *way, uint64_t ticks);

/* Ports of a lane, ends first; returns how many. */
static inline uint32_t vp_jobs_ports(const vp_jobs_t *jobs, uint32_t source, uint32_t destination,
                                     uint32_t way, uint32_t *ports)
{
    const vp_way_t *facts = &jobs->ways[way];
    uint32_t i;

    ports[0] = source;
    ports[1] = jobs->model->n_ranks + destination;
    for (i = 0; i < facts->n_ports; i++) {
        ports[2 + i] = facts->ports[i];
    }
    return 2 + facts->n_ports;
}

static inline uint32_t vp_piece_ports(const vp_jobs_t *jobs, const vp_piece_t *piece,
                                      uint32_t *ports)
{
    return vp_jobs_ports(jobs, piece->source, piece->destination, piece->way, ports);
}

/*
 * Takes n_bytes, whole chunks, off a piece that stays. What is left is whole
 * chunks too, rounded up: any piece of a cut job may become its last lane.
 */
void vp_piece_shorten(const vp_jobs_t *jobs, vp_piece_t *piece, uint64_t n_bytes);

#endif
