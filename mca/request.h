/*
 * Requests of nonblocking and persistent calls: how they run, one after the
 * other on their strand, each on a fiber that Open MPI's progress resumes.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_MCA_REQUEST_H
#define VP_MCA_REQUEST_H

#include "mca/component.h"
#include "mca/rounds.h"

/* Open MPI hangs the datatypes that must outlive the call on the first member. */
struct vp_request {
    ompi_coll_base_nbc_request_t super;
    vp_strand_t *strand;
    vp_strand_t own; /* of a persistent request */
    const char *what;
    bool in_place;
    vp_side_t send;
    vp_side_t receive;
    struct ompi_datatype_t **types; /* [2 * n_ranks] copies that the sides point to; NULL: none */
    vp_block_t *blocks;             /* [2 * n_ranks] */
    vp_packed_t packed;
    vp_rounds_t rounds;
    int code;
    vp_request_t *next; /* on the strand, or among those that were just started */
};
OBJ_CLASS_DECLARATION(vp_request_t);

/*
 * A request of the call described by the sides, not started. Collective only in
 * that all ranks make it at the same place among their nonblocking calls. NULL: no
 * memory. The caller owns it until it is started or handed to the application.
 */
vp_request_t *vp_request_create(vp_module_t *module, const char *what, const vp_side_t *send,
                                const vp_side_t *receive, bool persistent);
/* Does what it can at once and leaves the rest to progress. OMPI_ERR_OUT_OF_RESOURCE. */
int vp_request_start(vp_request_t *request);

/* What every request of ours has: those above, and those that only stage (relay.h). */
void vp_request_init(ompi_request_t *base, struct ompi_communicator_t *comm, bool persistent,
                     ompi_request_start_fn_t start, ompi_request_free_fn_t release);
void vp_request_activate(ompi_request_t *base);

#endif
