/*
 * Improvement of a finished colouring. Private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_COLOUR_IMPROVE_H
#define VP_SCHEDULER_COLOUR_IMPROVE_H

#include "scheduler/colouring.h"

/*
 * Repeats two moves until a pass gains little or `max_steps` are spent:
 * recombination (two colours swap conflict-closed parts so that long pieces
 * are together) and trimming (what makes a colour long moves into the slack
 * of others). The cost never rises.
 */
vp_status_t vp_colouring_improve(vp_colouring_t *colouring, uint64_t max_steps,
                                 vp_error_t *error) VP_MUST_CHECK;

#endif
