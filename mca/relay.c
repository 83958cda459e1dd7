/* SPDX-License-Identifier: BSD-3-Clause */
#include "mca/relay.h"

/* Once per process, by rank 0 of a group; what a rank alone stages is not worth a word. */
static void tell_once(const vp_module_t *module)
{
    static bool told = false;
    const char *reason =
        NULL == module->refusal ? "coll_variopath_cts leaves this collective out" : module->refusal;

    if (!told && 0 == ompi_comm_rank(module->comm) &&
        (OMPI_COMM_IS_INTER(module->comm) || 1 < ompi_comm_size(module->comm))) {
        told = true;
        vp_help("staged", module->comm->c_name, reason, vp_lanes_runtime_version());
    }
}

/* What the buffers are; counts and tells when this rank has to stage. An OMPI code. */
static int look(vp_stage_t *stage, vp_module_t *module, const vp_side_t *send,
                const vp_side_t *receive)
{
    vp_counters_t *counters = &mca_coll_variopath_component.counters;
    uint32_t obstacles = vp_stage_look(stage, module->comm, NULL,
                                       MPI_IN_PLACE == send->buffer ? NULL : send, receive);

    if (0 != (obstacles & VP_OBSTACLE_DEVICE_LOST)) {
        return MPI_ERR_OTHER; /* was told; whatever the buffers are, nobody may touch them */
    }
    if (0 != obstacles) {
        (void)__atomic_fetch_add(&counters->n_staged, 1, __ATOMIC_RELAXED);
        (void)__atomic_fetch_add(&counters->n_reasons[VP_REASON_COMMUNICATOR], 1, __ATOMIC_RELAXED);
        tell_once(module);
    }
    return OMPI_SUCCESS;
}

static int enter(vp_stage_t *stage, vp_module_t *module, const vp_side_t *send,
                 const vp_side_t *receive)
{
    int code = look(stage, module, send, receive);

    return OMPI_SUCCESS == code ? vp_stage_enter(stage, false) : code;
}

/*
 * For a request: *relay_p takes the stage, with bounce memory that is filled unless the
 * request is persistent. NULL when nothing is staged here: the request below serves itself.
 */
static int enter_request(vp_stage_t *stage, vp_module_t *module, const vp_side_t *send,
                         const vp_side_t *receive, bool persistent, vp_relay_t **relay_p)
{
    int code = look(stage, module, send, receive);

    *relay_p = NULL;
    if (OMPI_SUCCESS == code) {
        code = persistent ? vp_stage_make(stage) : vp_stage_enter(stage, false);
    }
    if (OMPI_SUCCESS != code || (NULL == stage->send.bounce && NULL == stage->receive.bounce)) {
        return code;
    }
    *relay_p = vp_relay_create(stage, persistent);
    return NULL == *relay_p ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}

/* Where the collective below leaves its request. */
static ompi_request_t **slot(vp_relay_t *relay, ompi_request_t **request_p)
{
    return NULL == relay ? request_p : &relay->inner;
}

static int leave_request(vp_relay_t *relay, int code, ompi_request_t **request_p)
{
    return NULL == relay ? code : vp_relay_open(relay, code, request_p);
}

int vp_relay_alltoall(VP_UNIFORM_ARGUMENTS, mca_coll_base_module_t *base_module)
{
    vp_module_t *module = (vp_module_t *)base_module;
    const vp_side_t send = vp_side_uniform(send_buffer, (size_t)send_count, send_type);
    const vp_side_t receive = vp_side_uniform(receive_buffer, (size_t)receive_count, receive_type);
    vp_stage_t stage;
    int code = enter(&stage, module, &send, &receive);

    if (OMPI_SUCCESS != code) {
        return code;
    }
    code = module->below_alltoall(vp_stage_send_buffer(&stage), send_count, send_type,
                                  vp_stage_receive_buffer(&stage), receive_count, receive_type,
                                  comm, module->below_alltoall_module);
    return vp_stage_leave(&stage, code);
}

int vp_relay_alltoallv(VP_ELEMENTS_ARGUMENTS, mca_coll_base_module_t *base_module)
{
    vp_module_t *module = (vp_module_t *)base_module;
    const vp_side_t send = vp_side_elements(send_buffer, send_counts, send_displs, send_type);
    const vp_side_t receive =
        vp_side_elements(receive_buffer, receive_counts, receive_displs, receive_type);
    vp_stage_t stage;
    int code = enter(&stage, module, &send, &receive);

    if (OMPI_SUCCESS != code) {
        return code;
    }
    code =
        module->below_alltoallv(vp_stage_send_buffer(&stage), send_counts, send_displs, send_type,
                                vp_stage_receive_buffer(&stage), receive_counts, receive_displs,
                                receive_type, comm, module->below_alltoallv_module);
    return vp_stage_leave(&stage, code);
}

int vp_relay_alltoallw(VP_BYTES_ARGUMENTS, mca_coll_base_module_t *base_module)
{
    vp_module_t *module = (vp_module_t *)base_module;
    const vp_side_t send = vp_side_bytes(send_buffer, send_counts, send_displs, send_types);
    const vp_side_t receive =
        vp_side_bytes(receive_buffer, receive_counts, receive_displs, receive_types);
    vp_stage_t stage;
    int code = enter(&stage, module, &send, &receive);

    if (OMPI_SUCCESS != code) {
        return code;
    }
    code =
        module->below_alltoallw(vp_stage_send_buffer(&stage), send_counts, send_displs, send_types,
                                vp_stage_receive_buffer(&stage), receive_counts, receive_displs,
                                receive_types, comm, module->below_alltoallw_module);
    return vp_stage_leave(&stage, code);
}

int vp_relay_ialltoall(VP_UNIFORM_ARGUMENTS, ompi_request_t **request_p,
                       mca_coll_base_module_t *base_module)
{
    vp_module_t *module = (vp_module_t *)base_module;
    const vp_side_t send = vp_side_uniform(send_buffer, (size_t)send_count, send_type);
    const vp_side_t receive = vp_side_uniform(receive_buffer, (size_t)receive_count, receive_type);
    vp_stage_t stage;
    vp_relay_t *relay;
    int code = enter_request(&stage, module, &send, &receive, false, &relay);

    if (OMPI_SUCCESS != code) {
        return code;
    }
    code = module->below_ialltoall(vp_stage_send_buffer(&stage), send_count, send_type,
                                   vp_stage_receive_buffer(&stage), receive_count, receive_type,
                                   comm, slot(relay, request_p), module->below_ialltoall_module);
    return leave_request(relay, code, request_p);
}

int vp_relay_ialltoallv(VP_ELEMENTS_ARGUMENTS, ompi_request_t **request_p,
                        mca_coll_base_module_t *base_module)
{
    vp_module_t *module = (vp_module_t *)base_module;
    const vp_side_t send = vp_side_elements(send_buffer, send_counts, send_displs, send_type);
    const vp_side_t receive =
        vp_side_elements(receive_buffer, receive_counts, receive_displs, receive_type);
    vp_stage_t stage;
    vp_relay_t *relay;
    int code = enter_request(&stage, module, &send, &receive, false, &relay);

    if (OMPI_SUCCESS != code) {
        return code;
    }
    code = module->below_ialltoallv(vp_stage_send_buffer(&stage), send_counts, send_displs,
                                    send_type, vp_stage_receive_buffer(&stage), receive_counts,
                                    receive_displs, receive_type, comm, slot(relay, request_p),
                                    module->below_ialltoallv_module);
    return leave_request(relay, code, request_p);
}

int vp_relay_ialltoallw(VP_BYTES_ARGUMENTS, ompi_request_t **request_p,
                        mca_coll_base_module_t *base_module)
{
    vp_module_t *module = (vp_module_t *)base_module;
    const vp_side_t send = vp_side_bytes(send_buffer, send_counts, send_displs, send_types);
    const vp_side_t receive =
        vp_side_bytes(receive_buffer, receive_counts, receive_displs, receive_types);
    vp_stage_t stage;
    vp_relay_t *relay;
    int code = enter_request(&stage, module, &send, &receive, false, &relay);

    if (OMPI_SUCCESS != code) {
        return code;
    }
    code = module->below_ialltoallw(vp_stage_send_buffer(&stage), send_counts, send_displs,
                                    send_types, vp_stage_receive_buffer(&stage), receive_counts,
                                    receive_displs, receive_types, comm, slot(relay, request_p),
                                    module->below_ialltoallw_module);
    return leave_request(relay, code, request_p);
}

int vp_relay_alltoall_init(VP_UNIFORM_ARGUMENTS, struct ompi_info_t *info,
                           ompi_request_t **request_p, mca_coll_base_module_t *base_module)
{
    vp_module_t *module = (vp_module_t *)base_module;
    const vp_side_t send = vp_side_uniform(send_buffer, (size_t)send_count, send_type);
    const vp_side_t receive = vp_side_uniform(receive_buffer, (size_t)receive_count, receive_type);
    vp_stage_t stage;
    vp_relay_t *relay;
    int code = enter_request(&stage, module, &send, &receive, true, &relay);

    if (OMPI_SUCCESS != code) {
        return code;
    }
    code = module->below_alltoall_init(vp_stage_send_buffer(&stage), send_count, send_type,
                                       vp_stage_receive_buffer(&stage), receive_count, receive_type,
                                       comm, info, slot(relay, request_p),
                                       module->below_alltoall_init_module);
    return leave_request(relay, code, request_p);
}

int vp_relay_alltoallv_init(VP_ELEMENTS_ARGUMENTS, struct ompi_info_t *info,
                            ompi_request_t **request_p, mca_coll_base_module_t *base_module)
{
    vp_module_t *module = (vp_module_t *)base_module;
    const vp_side_t send = vp_side_elements(send_buffer, send_counts, send_displs, send_type);
    const vp_side_t receive =
        vp_side_elements(receive_buffer, receive_counts, receive_displs, receive_type);
    vp_stage_t stage;
    vp_relay_t *relay;
    int code = enter_request(&stage, module, &send, &receive, true, &relay);

    if (OMPI_SUCCESS != code) {
        return code;
    }
    code = module->below_alltoallv_init(
        vp_stage_send_buffer(&stage), send_counts, send_displs, send_type,
        vp_stage_receive_buffer(&stage), receive_counts, receive_displs, receive_type, comm, info,
        slot(relay, request_p), module->below_alltoallv_init_module);
    return leave_request(relay, code, request_p);
}

int vp_relay_alltoallw_init(VP_BYTES_ARGUMENTS, struct ompi_info_t *info,
                            ompi_request_t **request_p, mca_coll_base_module_t *base_module)
{
    vp_module_t *module = (vp_module_t *)base_module;
    const vp_side_t send = vp_side_bytes(send_buffer, send_counts, send_displs, send_types);
    const vp_side_t receive =
        vp_side_bytes(receive_buffer, receive_counts, receive_displs, receive_types);
    vp_stage_t stage;
    vp_relay_t *relay;
    int code = enter_request(&stage, module, &send, &receive, true, &relay);

    if (OMPI_SUCCESS != code) {
        return code;
    }
    code = module->below_alltoallw_init(
        vp_stage_send_buffer(&stage), send_counts, send_displs, send_types,
        vp_stage_receive_buffer(&stage), receive_counts, receive_displs, receive_types, comm, info,
        slot(relay, request_p), module->below_alltoallw_init_module);
    return leave_request(relay, code, request_p);
}
