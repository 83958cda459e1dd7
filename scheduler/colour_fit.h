/*
 * First fit of pieces, longest first. Private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_COLOUR_FIT_H
#define VP_SCHEDULER_COLOUR_FIT_H

#include "scheduler/colour_kempe.h"
#include "scheduler/colouring.h"

typedef struct vp_fit_options {
    bool fill;      /* pieces off the critical ports may be split over free slack */
    uint32_t width; /* of Kempe changes, 0 .. VP_KEMPE_MAX_WIDTH */
    uint64_t limit; /* stop once the cost reaches it */
} vp_fit_options_t;

/*
 * Colours all pieces of a sorted cut, or stops where the cost has reached the
 * limit.
 */
vp_status_t vp_fit(vp_colouring_t *colouring, vp_kempe_t *kempe, const vp_cut_t *cut,
                   const vp_fit_options_t *options, vp_error_t *error) VP_MUST_CHECK;

#endif
