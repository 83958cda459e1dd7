/*
 * What the engine of n ranks exchanges before the bytes of a call move: ranks are
 * threads on a simulated network, their lanes carry nothing, counts may be as large
 * as they like.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_METER_H
#define VP_TEST_METER_H

#include "wire.h"

/* The calls of a run: all is new; other counts between the same buffers; those again. */
enum { METER_FIRST, METER_NEW_COUNTS, METER_SAME_COUNTS, METER_CALLS };

typedef enum meter_counts {
    METER_WIDEST, /* bytes up to 2^31 - 1 without a common divisor */
    METER_TOKENS, /* up to 200 tokens of 4096 bytes */
    METER_N_COUNTS
} meter_counts_t;

typedef struct meter_shape {
    uint32_t n_nodes;
    uint32_t n_per_node;
    meter_counts_t counts;
    bool leaders;   /* rows by way of the nodes' leaders */
    bool shuffled;  /* the order of ranks knows nothing of nodes */
    bool unwilling; /* the loser does without leaders */
    /* Of this rank's swaps in the first call one is lost, which passes that call on; 0: none. */
    uint32_t loser;
    unsigned lose_sent;
    unsigned lose_gotten;
} meter_shape_t;

typedef struct meter_call {
    unsigned n_entries;
    wire_entry_t total[WIRE_ENTRIES]; /* of all ranks; steps: of one */
    wire_entry_t most[WIRE_ENTRIES];  /* the most of any rank */
    wire_entry_t signals;             /* of all ranks */
} meter_call_t;

void meter_run(const meter_shape_t *shape, meter_call_t calls[METER_CALLS]);

#endif
