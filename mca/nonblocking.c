/*
 * MPI_Ialltoall, MPI_Alltoall_init and their v and w forms, as the framework
 * calls them.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mca/request.h"

static int start(mca_coll_base_module_t *base_module, const char *what, const vp_side_t *send,
                 const vp_side_t *receive, ompi_request_t **request_p)
{
    vp_request_t *request =
        vp_request_create((vp_module_t *)base_module, what, send, receive, false);
    int code;

    if (NULL == request) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    code = vp_request_start(request);
    if (OMPI_SUCCESS != code) {
        OBJ_RELEASE(request);
        return code;
    }
    *request_p = &request->super.super;
    return OMPI_SUCCESS;
}

static int create(mca_coll_base_module_t *base_module, const char *what, const vp_side_t *send,
                  const vp_side_t *receive, ompi_request_t **request_p)
{
    vp_request_t *request =
        vp_request_create((vp_module_t *)base_module, what, send, receive, true);

    if (NULL == request) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    *request_p = &request->super.super;
    return OMPI_SUCCESS;
}

int vp_ialltoall(VP_UNIFORM_ARGUMENTS, ompi_request_t **request_p,
                 mca_coll_base_module_t *base_module)
{
    const vp_side_t send = vp_side_uniform(send_buffer, (size_t)send_count, send_type);
    const vp_side_t receive = vp_side_uniform(receive_buffer, (size_t)receive_count, receive_type);

    (void)comm;
    return start(base_module, "ialltoall", &send, &receive, request_p);
}

int vp_ialltoallv(VP_ELEMENTS_ARGUMENTS, ompi_request_t **request_p,
                  mca_coll_base_module_t *base_module)
{
    const vp_side_t send = vp_side_elements(send_buffer, send_counts, send_displs, send_type);
    const vp_side_t receive =
        vp_side_elements(receive_buffer, receive_counts, receive_displs, receive_type);

    (void)comm;
    return start(base_module, "ialltoallv", &send, &receive, request_p);
}

int vp_ialltoallw(VP_BYTES_ARGUMENTS, ompi_request_t **request_p,
                  mca_coll_base_module_t *base_module)
{
    const vp_side_t send = vp_side_bytes(send_buffer, send_counts, send_displs, send_types);
    const vp_side_t receive =
        vp_side_bytes(receive_buffer, receive_counts, receive_displs, receive_types);

    (void)comm;
    return start(base_module, "ialltoallw", &send, &receive, request_p);
}

int vp_alltoall_init(VP_UNIFORM_ARGUMENTS, struct ompi_info_t *info, ompi_request_t **request_p,
                     mca_coll_base_module_t *base_module)
{
    const vp_side_t send = vp_side_uniform(send_buffer, (size_t)send_count, send_type);
    const vp_side_t receive = vp_side_uniform(receive_buffer, (size_t)receive_count, receive_type);

    (void)comm;
    (void)info;
    return create(base_module, "alltoall_init", &send, &receive, request_p);
}

int vp_alltoallv_init(VP_ELEMENTS_ARGUMENTS, struct ompi_info_t *info, ompi_request_t **request_p,
                      mca_coll_base_module_t *base_module)
{
    const vp_side_t send = vp_side_elements(send_buffer, send_counts, send_displs, send_type);
    const vp_side_t receive =
        vp_side_elements(receive_buffer, receive_counts, receive_displs, receive_type);

    (void)comm;
    (void)info;
    return create(base_module, "alltoallv_init", &send, &receive, request_p);
}

int vp_alltoallw_init(VP_BYTES_ARGUMENTS, struct ompi_info_t *info, ompi_request_t **request_p,
                      mca_coll_base_module_t *base_module)
{
    const vp_side_t send = vp_side_bytes(send_buffer, send_counts, send_displs, send_types);
    const vp_side_t receive =
        vp_side_bytes(receive_buffer, receive_counts, receive_displs, receive_types);

    (void)comm;
    (void)info;
    return create(base_module, "alltoallw_init", &send, &receive, request_p);
}
