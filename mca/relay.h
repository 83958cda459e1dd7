/*
 * Calls that this component does not carry but still keeps device buffers out of: on
 * communicators that are not served, and of collectives that coll_variopath_cts leaves
 * out. Each rank moves its own device bytes through host memory and calls the collective
 * below. Nothing is agreed, because other ranks may not have this component: a rank that
 * cannot stage returns an error, and the others wait as for any rank that fails.
 *
 *   relay.c          the functions of the framework
 *   relay_request.c  requests of nonblocking and persistent calls
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_MCA_RELAY_H
#define VP_MCA_RELAY_H

#include "mca/component.h"

/* Around a request of the collective below. Datatypes hang on the first member. */
typedef struct vp_relay {
    ompi_coll_base_nbc_request_t super;
    vp_stage_t stage;
    struct ompi_datatype_t **types; /* what the sides borrow; NULL: nothing */
    ompi_request_t *inner;          /* of the collective below */
    struct vp_relay *next;          /* among those that wait for it */
} vp_relay_t;
OBJ_CLASS_DECLARATION(vp_relay_t);

/*
 * A request that takes the stage over, its memory too. NULL: no memory; the stage is released.
 */
vp_relay_t *vp_relay_create(const vp_stage_t *stage, bool persistent);
/*
 * Hands it out once the collective below has been called with the staged buffers: code is what
 * it returned, relay->inner its request. A request that is not persistent has begun by that.
 */
int vp_relay_open(vp_relay_t *relay, int code, ompi_request_t **request_p);

int vp_relay_alltoall(VP_UNIFORM_ARGUMENTS, mca_coll_base_module_t *base_module);
int vp_relay_alltoallv(VP_ELEMENTS_ARGUMENTS, mca_coll_base_module_t *base_module);
int vp_relay_alltoallw(VP_BYTES_ARGUMENTS, mca_coll_base_module_t *base_module);
int vp_relay_ialltoall(VP_UNIFORM_ARGUMENTS, ompi_request_t **request_p,
                       mca_coll_base_module_t *base_module);
int vp_relay_ialltoallv(VP_ELEMENTS_ARGUMENTS, ompi_request_t **request_p,
                        mca_coll_base_module_t *base_module);
int vp_relay_ialltoallw(VP_BYTES_ARGUMENTS, ompi_request_t **request_p,
                        mca_coll_base_module_t *base_module);
int vp_relay_alltoall_init(VP_UNIFORM_ARGUMENTS, struct ompi_info_t *info,
                           ompi_request_t **request_p, mca_coll_base_module_t *base_module);
int vp_relay_alltoallv_init(VP_ELEMENTS_ARGUMENTS, struct ompi_info_t *info,
                            ompi_request_t **request_p, mca_coll_base_module_t *base_module);
int vp_relay_alltoallw_init(VP_BYTES_ARGUMENTS, struct ompi_info_t *info,
                            ompi_request_t **request_p, mca_coll_base_module_t *base_module);

#endif
