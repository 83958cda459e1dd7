/*
 * A planner with knobs, in place of the scheduler room: rotations, each block
 * cut in as many pieces as there are ways to its destination.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_PLANNER_FAKE_H
#define VP_TEST_PLANNER_FAKE_H

#include <stdint.h>

typedef enum planner_mode {
    PLANNER_GOOD,
    PLANNER_REVERSED,  /* rotates the other way round: another hash */
    PLANNER_NO_PATH,   /* VP_ERR_BAD_INPUT "no path for this pair" */
    PLANNER_NO_MEMORY, /* VP_ERR_NO_MEMORY */
    PLANNER_OUTSIDE,   /* the last lane leaves its block */
    PLANNER_SHORT      /* a byte of every lane is left out */
} planner_mode_t;

/* Of this process. */
extern planner_mode_t planner_mode;
extern uint64_t planner_pairwise_ns; /* answer of vp_pairwise_ns */

#endif
