/*
 * Small collectives in rounds of point-to-point messages, for calls that run on
 * a fiber. The nonblocking collectives below cannot serve there: they count their
 * tags in the order of calls, and what a fiber starts while progress is made comes
 * at another place in that order on each rank. So each request reserves one tag when the
 * application makes the call, which is in the same order everywhere, and all of its
 * messages use it; between two ranks they do not overtake each other.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_MCA_ROUNDS_H
#define VP_MCA_ROUNDS_H

#include "base/status.h"
#include "mca/fiber.h"
#include "mca/side.h"

typedef struct vp_rounds {
    struct ompi_communicator_t *comm;
    int tag;
    vp_fiber_t *fiber;        /* NULL: a blocking call, which waits where it is */
    ompi_request_t **waiting; /* [n_waiting] what the fiber waits for; NULL: for anything else */
    int n_waiting;
} vp_rounds_t;

/* Is there a reason to resume the fiber? */
bool vp_rounds_ready(const vp_rounds_t *rounds);

/* As in vp_surroundings_t; they pause the fiber while they wait. */
vp_status_t vp_rounds_allgather(vp_rounds_t *rounds, const void *send, void *receive,
                                size_t n_bytes);
vp_status_t vp_rounds_alltoall(vp_rounds_t *rounds, const void *send, void *receive,
                               size_t n_bytes);

vp_status_t vp_rounds_swap(vp_rounds_t *rounds, const void *send, size_t n_sent, uint32_t to,
                           void *receive, size_t n_received, uint32_t from);

/* The call itself: every block by one message, all at once. An OMPI or MPI code. */
int vp_rounds_exchange(vp_rounds_t *rounds, const vp_side_t *send, const vp_side_t *receive);

#endif
