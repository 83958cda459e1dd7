/*
 * Kempe changes: two colours swap a part of their pieces that is closed under
 * conflicts, so that a further piece fits into one of them. Private to this
 * room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_COLOUR_KEMPE_H
#define VP_SCHEDULER_COLOUR_KEMPE_H

#include "scheduler/colouring.h"

typedef struct vp_kempe {
    vp_colouring_t *colouring;
    uint32_t stamp;
    size_t mark_capacity;
    uint32_t *mark;  /* [mark_capacity] by piece: stamp of the change it belongs to */
    uint32_t *moved; /* [2 * n_ranks] pieces of the change; the first colour's have odd marks */
    uint32_t n_moved;
    uint32_t *from_a; /* candidates: colours free at the piece's source end */
    uint32_t *from_b; /* and at its destination end */
} vp_kempe_t;

enum { VP_KEMPE_MAX_WIDTH = 64 };

vp_status_t vp_kempe_init(vp_kempe_t *kempe, vp_colouring_t *colouring,
                          vp_error_t *error) VP_MUST_CHECK;
/* Also after a failed or never made init of a zeroed record. */
void vp_kempe_release(vp_kempe_t *kempe);

/*
 * Places a piece that has no colour by the change that costs least, among at
 * most width * width pairs of colours and below limit_ticks. *placed_p tells
 * whether there was one.
 */
vp_status_t vp_kempe_place(vp_kempe_t *kempe, uint32_t number, uint32_t width, uint64_t limit_ticks,
                           bool *placed_p, vp_error_t *error) VP_MUST_CHECK;

#endif
