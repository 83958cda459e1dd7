/*
 * Lanes in place of UCX: puts copy into memory that all ranks share at the
 * same address, a few polls after they were started. Every put must stay inside
 * the window that the peer's keys describe. Knobs break one thing at a time.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_LANES_FAKE_H
#define VP_TEST_LANES_FAKE_H

#include <stdbool.h>
#include <stdint.h>

/* 0: never. Counted from 1. */
typedef struct lanes_fake_knobs {
    unsigned refuse_put;    /* this put fails when it is started */
    unsigned break_put;     /* this put fails when it is tested */
    unsigned stall_put;     /* this put never completes */
    unsigned refuse_window; /* this window does not open */
    unsigned refuse_connect;
    bool lose_windows; /* all windows are gone with their endpoints */
    unsigned refuse_region;
    bool dry;            /* nothing is copied: addresses may be of no memory */
    unsigned generation; /* part of the keys: memory came back at the same address */
} lanes_fake_knobs_t;

typedef struct lanes_fake_state {
    lanes_fake_knobs_t knobs;
    unsigned n_puts;
    uint64_t longest_put;
    unsigned n_windows;
    unsigned n_connects;
    unsigned connect_limit_ms; /* of the last one */
    unsigned n_regions;
    unsigned n_cancelled;
    unsigned n_retired;
    int open_windows; /* not yet closed, and so on */
    int open_regions;
    int running;
} lanes_fake_state_t;

/* Of a rank, which is a process or a thread. */
extern _Thread_local lanes_fake_state_t lanes_fake;

#endif
