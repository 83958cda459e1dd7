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

/* Blocking calls have a tag of their own; what a failure leaves there meets nothing else. */
static vp_status_t below_swap(void *context, const void *send, size_t n_sent, uint32_t to,
                              void *receive, size_t n_received, uint32_t from)
{
    const vp_strand_t *strand = context;
    vp_rounds_t rounds = {.comm = strand->module->comm, .tag = VP_SWAP_TAG};

    return vp_rounds_swap(NULL == strand->rounds ? &rounds : strand->rounds, send, n_sent, to,
                          receive, n_received, from);
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

#if VP_FAULT_TOLERANT
int vp_below_fault(struct ompi_communicator_t *comm)
{
    int code = OMPI_SUCCESS;

    return ompi_ftmpi_enabled && !ompi_comm_iface_coll_check(comm, &code) ? code : OMPI_SUCCESS;
}

int vp_below_find_dead(struct ompi_communicator_t *comm)
{
    int i;

    for (i = 0; i < ompi_comm_size(comm); i++) {
        if (!ompi_comm_is_proc_active(comm, i, false)) {
            return i;
        }
    }
    return -1;
}
#else
int vp_below_fault(struct ompi_communicator_t *comm)
{
    (void)comm;
    return OMPI_SUCCESS;
}

int vp_below_find_dead(struct ompi_communicator_t *comm)
{
    (void)comm;
    return -1;
}
#endif

int vp_below_code(struct ompi_communicator_t *comm, int code)
{
    int fault = OMPI_SUCCESS == code ? OMPI_SUCCESS : vp_below_fault(comm);

    return OMPI_SUCCESS == fault ? code : fault;
}

static bool below_is_broken(void *context, uint32_t *peer_p)
{
    struct ompi_communicator_t *comm = ((const vp_strand_t *)context)->module->comm;

    int dead;

    if (OMPI_SUCCESS == vp_below_fault(comm)) {
        return false;
    }
    dead = vp_below_find_dead(comm);
    *peer_p = (uint32_t)(0 > dead ? ompi_comm_rank(comm) : dead);
    return true;
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
        .swap = below_swap,
        .send = vp_messages_send,
        .receive = vp_messages_receive,
        .abandon = vp_messages_abandon,
        .progress = below_progress,
        .is_broken = below_is_broken,
    };
}
