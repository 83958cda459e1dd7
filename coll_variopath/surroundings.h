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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { VP_MESSAGE_BYTES = 40 };
#define VP_NOBODY UINT32_MAX /* in place of a rank */

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
    /*
     * n_sent bytes to a rank and n_received, known to both, from a rank; either may be
     * VP_NOBODY. Both at once, waiting as the collectives do, in the order of calls between
     * two ranks. VP_ERR_TRANSPORT: what was to be received is undefined, and the layer below
     * may use both memories until the process ends. NULL: the host has no such thing.
     */
    vp_status_t (*swap)(void *context, const void *send, size_t n_sent, uint32_t to, void *receive,
                        size_t n_received, uint32_t from);
    /*
     * Messages of VP_MESSAGE_BYTES between two ranks, outside the collectives and
     * apart from all other traffic. send copies, does not wait for the receiver, and
     * keeps the order of messages to one rank. receive takes the next message of any
     * rank, if one is there; it is only called while more are certain to come, so that
     * the host may post a receive for it, or until `abandon`. VP_ERR_TRANSPORT when the
     * layer below fails.
     */
    vp_status_t (*send)(void *context, uint32_t peer, const void *message);
    vp_status_t (*receive)(void *context, void *message, bool *arrived_p);
    /* Nobody waits for messages any more although some were to come. */
    void (*abandon)(void *context);
    /* Advances the host's own traffic once; may be NULL. Called while the engine waits. */
    void (*progress)(void *context);
    /*
     * Is a member known to have died, or the communicator to be of no use any more? Nobody
     * is waited for then. *peer_p: who died; the own rank: nobody in particular. NULL: that
     * is never known.
     */
    bool (*is_broken)(void *context, uint32_t *peer_p);
} vp_surroundings_t;

#endif
