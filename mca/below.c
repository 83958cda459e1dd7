/*
 * The collectives below us. They are reached through the saved pointers with
 * their own modules, never through the communicator, whose slots are ours.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mca/component.h"

static vp_status_t below_allgather(void *context, const void *send, void *receive, size_t n_bytes)
{
    const vp_module_t *module = context;

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
    const vp_module_t *module = context;

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
    (void)context;
    opal_progress();
}

void vp_below_fill(vp_module_t *module, vp_surroundings_t *surroundings)
{
    *surroundings = (vp_surroundings_t){
        .context = module,
        .rank = (uint32_t)ompi_comm_rank(module->comm),
        .n_ranks = (uint32_t)ompi_comm_size(module->comm),
        .allgather = below_allgather,
        .alltoall = below_alltoall,
        .send = vp_messages_send,
        .receive = vp_messages_receive,
        .abandon = vp_messages_abandon,
        .progress = below_progress,
    };
}
