/*
 * A simulated network between ranks that are threads of one process: whatever the
 * engine exchanges goes as messages through memory, and every rank counts its own.
 * Collectives are made of messages as mca/rounds.c makes them: the allgather is
 * Bruck's, in the alltoall every record goes straight to its peer, all at once.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_WIRE_H
#define VP_TEST_WIRE_H

#include "coll_variopath/surroundings.h"

/* What one rank sent in one collective, or in swaps that follow each other. */
typedef struct wire_entry {
    const char *what;    /* "allgather", "alltoall", "swaps" */
    size_t record_bytes; /* of each rank, or for each pair */
    uint64_t n_steps;    /* messages on the longest chain up to its end, each sent when the last
                            one had come and what its sender sent before was gone */
    uint64_t n_messages;
    uint64_t sent_bytes;
    uint64_t between_bytes; /* of these, to other nodes */
} wire_entry_t;

enum { WIRE_ENTRIES = 64 };

typedef struct wire wire_t;

typedef struct wire_member {
    wire_t *wire;
    uint32_t rank;
    wire_entry_t entries[WIRE_ENTRIES];
    unsigned n_entries;
    uint64_t step;        /* of the last entry */
    unsigned n_swaps;     /* so far */
    unsigned lose_sent;   /* what this swap sends is lost, and its receiver told so; 0: none */
    unsigned lose_gotten; /* what this swap receives is lost; 0: none */
    wire_entry_t signals; /* the small messages while lanes run */
} wire_member_t;

/* node[n_ranks], borrowed. */
wire_t *wire_create(uint32_t n_ranks, const uint32_t *node);
void wire_destroy(wire_t *wire);

/* The table of an engine; member outlives it. */
vp_surroundings_t wire_surroundings(wire_member_t *member);
/* Counts from nothing again. */
void wire_forget(wire_member_t *member);

#endif
