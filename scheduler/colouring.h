/*
 * A plan in the making, seen as an edge colouring: each activation is a
 * colour, each piece of a job gets one, and pieces that share a port differ.
 * Private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_COLOURING_H
#define VP_SCHEDULER_COLOURING_H

#include "scheduler/jobs.h"

/* In place of a list. */
#define VP_HAS_ROW (UINT32_MAX - 1)

typedef struct vp_colouring {
    const vp_jobs_t *jobs;
    uint32_t n_colours; /* may hold empty ones */
    uint32_t capacity;  /* of colours, 64 * n_words */
    uint32_t n_words;
    uint64_t *free;    /* [n_ports][n_words] bit k: the port is free in colour k */
    uint32_t *hint;    /* [n_ports] words before it have no bit */
    uint64_t *ticks;   /* [capacity] longest piece of each colour */
    uint32_t *n_lanes; /* [capacity] pieces of each colour */
    uint32_t *list;    /* [capacity] pieces of a colour without a row, linked; or VP_HAS_ROW */
    uint32_t *owner;   /* [capacity][n_ports] rows: piece on a port, where it is not free */
    size_t n_pieces;
    size_t piece_capacity;
    vp_piece_t *pieces;
    uint64_t cost;  /* ticks and alphas of all colours with pieces */
    uint64_t steps; /* of work so far: words and entries looked at */
} vp_colouring_t;

vp_status_t vp_colouring_init(vp_colouring_t *colouring, const vp_jobs_t *jobs,
                              vp_error_t *error) VP_MUST_CHECK;
/* Also after a failed or never made init of a zeroed record. */
void vp_colouring_release(vp_colouring_t *colouring);

/* No colours, no pieces; room for n_colours. */
vp_status_t vp_colouring_reset(vp_colouring_t *colouring, uint32_t n_colours,
                               vp_error_t *error) VP_MUST_CHECK;

/* Number of a new piece, or VP_ERR_NO_MEMORY. Pieces move in memory. */
vp_status_t vp_colouring_add_piece(vp_colouring_t *colouring, const vp_piece_t *piece,
                                   uint32_t *number_p, vp_error_t *error) VP_MUST_CHECK;

/* A new, empty colour. */
vp_status_t vp_colouring_open(vp_colouring_t *colouring, uint32_t *colour_p,
                              vp_error_t *error) VP_MUST_CHECK;

/*
 * Rows tell who occupies a port; most colours never need one, so they are made
 * when vp_colouring_need_row first asks for them.
 */
void vp_colouring_need_row(vp_colouring_t *colouring, uint32_t colour);

/* Puts a piece into a colour in which its ports are free; takes it out of one that has a row. */
void vp_colouring_put(vp_colouring_t *colouring, uint32_t colour, uint32_t number);
void vp_colouring_take(vp_colouring_t *colouring, uint32_t colour, uint32_t number);

/* Sets the length of a colour with a row anew after pieces were taken or shortened. */
void vp_colouring_measure(vp_colouring_t *colouring, uint32_t colour);

/* First colour at or after `from` in which all ports are free; VP_NO_COLOUR: none so far. */
uint32_t vp_colouring_first(vp_colouring_t *colouring, const uint32_t *ports, uint32_t n_ports,
                            uint32_t from);

static inline bool vp_colouring_is_free(const vp_colouring_t *colouring, uint32_t port,
                                        uint32_t colour)
{
    return (colouring->free[(size_t)port * colouring->n_words + colour / 64] >> (colour % 64) &
            1) != 0;
}

/* The piece on a port that is not free, in a colour with a row. */
static inline uint32_t vp_colouring_owner(const vp_colouring_t *colouring, uint32_t port,
                                          uint32_t colour)
{
    return colouring->owner[(size_t)colour * colouring->jobs->n_ports + port];
}

/* The plan of the colouring, which it trims; colours without pieces are left out. */
vp_status_t vp_colouring_plan(vp_colouring_t *colouring, uint64_t alpha_ns, const char *scheduler,
                              vp_plan_t **plan_p, vp_error_t *error) VP_MUST_CHECK;

/* A search for the cheapest colouring of jobs; `best` has been initialised. */
typedef vp_status_t (*vp_colouring_search_fn_t)(const vp_jobs_t *jobs,
                                                const vp_schedule_options_t *options,
                                                vp_colouring_t *best, vp_error_t *error);

/* A planner that is such a search: see vp_schedule_fn_t. */
vp_status_t vp_colouring_schedule(vp_colouring_search_fn_t search, const char *scheduler,
                                  const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                                  const vp_schedule_options_t *options, vp_plan_t **plan_p,
                                  vp_error_t *error) VP_MUST_CHECK;

/* Swaps contents. */
static inline void vp_colouring_swap(vp_colouring_t *a, vp_colouring_t *b)
{
    vp_colouring_t other = *a;

    *a = *b;
    *b = other;
}

#endif
