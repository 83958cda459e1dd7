/*
 * The collectives below us. They are reached through the saved pointers with
 * their own modules, never through the communicator, whose slots are ours. A call
 * that runs on a fiber has its own small ones instead.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mca/component.h"
#include "mca/rounds.h"

static vp_status_t below_allgather(void *context, const void *send, void *receive, size_t n_bytes)
{
    const vp_strand_t *strand = context;
    const vp_module_t *module = strand->module;

    if (NULL != strand->rounds) {
        return vp_rounds_allgather(strand->rounds, send, receive, n_bytes);
    }
    if (n_bytes > INT_MAX) {
        return VP_ERR_LIMIT;
    }
    return OMPI_SUCCESS == module->below_allgather(send, (int)n_bytes, MPI_BYTE, receive,
                                                   (int)n_bytes, MPI_BYTE, module->comm,
                                                   module->below_allgather_module)
               ? VP_OK
               : VP_ERR_TRANSPORT;
}

static vp_status_t below_alltoall(void *context, const void *send, void *receive, size_t n_bytes)
{
    const vp_strand_t *strand = context;
    const vp_module_t *module = strand->module;

    if (NULL != strand->rounds) {
        return vp_rounds_alltoall(strand->rounds, send, receive, n_bytes);
    }
    if (n_bytes > INT_MAX) {
        return VP_ERR_LIMIT;
    }
    return OMPI_SUCCESS == module->below_alltoall(send, (int)n_bytes, MPI_BYTE, receive,
                                                  (int)n_bytes, MPI_BYTE, module->comm,
                                                  module->below_alltoall_module)
               ? VP_OK
               : VP_ERR_TRANSPORT;
}

static void below_progress(void *context)
{
    const vp_strand_t *strand = context;

    if (NULL != strand->rounds) {
        vp_fiber_pause(strand->rounds->fiber);
    } else {
        opal_progress();
    }
}

void vp_below_fill(vp_strand_t *strand, vp_surroundings_t *surroundings)
{
    struct ompi_communicator_t *comm = strand->module->comm;

    *surroundings = (vp_surroundings_t){
        .context = strand,
        .rank = (uint32_t)ompi_comm_rank(comm),
        .n_ranks = (uint32_t)ompi_comm_size(comm),
        .allgather = below_allgather,
        .alltoall = below_alltoall,
        .send = vp_messages_send,
        .receive = vp_messages_receive,
        .abandon = vp_messages_abandon,
        .progress = below_progress,
    };
}
