/*
 * Shortening a colour by moving bytes into the slack of others. Private to
 * this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_COLOUR_TRIM_H
#define VP_SCHEDULER_COLOUR_TRIM_H

#include "scheduler/colouring.h"

/* One step of a trial, to take back: bytes added to a piece, or a new piece. */
typedef struct vp_trim_step {
    uint32_t piece;
    bool is_new;
    uint64_t n_bytes;
} vp_trim_step_t;

typedef struct vp_trim {
    vp_colouring_t *colouring;
    uint32_t *first; /* [n_jobs] pieces of a job, linked by their `next` */
    size_t n_steps;
    size_t step_capacity;
    vp_trim_step_t *steps;
} vp_trim_t;

/* All colours have rows. */
vp_status_t vp_trim_init(vp_trim_t *trim, vp_colouring_t *colouring,
                         vp_error_t *error) VP_MUST_CHECK;
void vp_trim_release(vp_trim_t *trim);

/* Before the first vp_trim_lower, and after any other change of the colouring. */
vp_status_t vp_trim_start(vp_trim_t *trim, vp_error_t *error) VP_MUST_CHECK;

/*
 * Shortens a colour to at most `height` ticks (0: empties it) without making
 * any other longer. All or nothing; *done_p tells.
 */
vp_status_t vp_trim_lower(vp_trim_t *trim, uint32_t colour, uint64_t height, bool *done_p,
                          vp_error_t *error) VP_MUST_CHECK;

/* Longest piece of a colour that is shorter than the colour; 0 without one. */
uint64_t vp_trim_second(const vp_trim_t *trim, uint32_t colour);

#endif
