/*
 * What the engine needs from whoever hosts it: a communicator's collectives
 * below us, and a way to advance everything else. Open MPI's component fills
 * the table with the saved previous functions; tests fill it with shared
 * memory, so the engine runs without MPI.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_COLL_SURROUNDINGS_H
#define VP_COLL_SURROUNDINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct vp_surroundings {
    void *context;
    uint32_t rank;    /* mine, in the communicator */
    uint32_t n_ranks; /* of the communicator */
    /*
     * Blocking collectives over host memory; every rank calls them in the same
     * order. n_bytes is the size of one rank's contribution (allgather) or of
     * one pair's record (alltoall). While they wait, the host must keep calling
     * vp_lanes_progress. VP_ERR_TRANSPORT when the layer below fails.
     */
    vp_status_t (*allgather)(void *context, const void *send, void *receive, size_t n_bytes);
    vp_status_t (*alltoall)(void *context, const void *send, void *receive, size_t n_bytes);
    vp_status_t (*barrier)(void *context);
    /* Advances the host's own traffic once; may be NULL. Called while the engine waits. */
    void (*progress)(void *context);
} vp_surroundings_t;

#endif
