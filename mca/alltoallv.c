/*
 * MPI_Alltoallv and MPI_Alltoall: from counts, displacements and datatypes to
 * blocks of bytes, and from the engine's outcome to an MPI return value.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mca/component.h"

/* What one datatype contributes to the address and size of a block. */
typedef struct layout {
    ptrdiff_t extent;
    ptrdiff_t true_lower_bound;
    size_t size;
    bool contiguous;
} layout_t;

static layout_t layout_of(struct ompi_datatype_t *type)
{
    layout_t layout;
    ptrdiff_t lower_bound;
    ptrdiff_t true_extent;

    (void)ompi_datatype_get_extent(type, &lower_bound, &layout.extent);
    (void)ompi_datatype_get_true_extent(type, &layout.true_lower_bound, &true_extent);
    (void)ompi_datatype_type_size(type, &layout.size);
    /* Two elements: one alone never shows the gap behind it. */
    layout.contiguous = 0 != ompi_datatype_is_contiguous_memory_layout(type, 2);
    return layout;
}

/* Fills one block; returns the obstacle it is, or 0. */
static uint32_t fill_block(vp_block_t *block, const void *buffer, ptrdiff_t displacement,
                           size_t count, const layout_t *layout)
{
    block->n_bytes = (uint64_t)count * layout->size;
    block->address = NULL;
    if (0 == block->n_bytes) {
        return 0;
    }
    block->address =
        (char *)(uintptr_t)buffer + displacement * layout->extent + layout->true_lower_bound;
    return layout->contiguous ? 0 : VP_OBSTACLE_LAYOUT;
}

/* displs == NULL: block i starts at element i * counts[0] and all blocks are counts[0] long. */
static uint32_t fill_blocks(vp_block_t *blocks, int n_ranks, const void *buffer, const int *counts,
                            const int *displs, struct ompi_datatype_t *type)
{
    const layout_t layout = layout_of(type);
    uint32_t obstacles = 0;
    int i;

    for (i = 0; i < n_ranks; i++) {
        int count = NULL == displs ? counts[0] : counts[i];
        ptrdiff_t displacement = NULL == displs ? (ptrdiff_t)i * count : displs[i];

        obstacles |= fill_block(&blocks[i], buffer, displacement, (size_t)count, &layout);
    }
    return obstacles;
}

static uint32_t general_obstacles(const vp_stage_t *stage)
{
    uint32_t obstacles = 0;

    if (!mca_coll_variopath_component.params.host && vp_stage_has_host(stage)) {
        obstacles |= VP_OBSTACLE_HOST;
    }
    if (vp_process_shutting_down()) {
        obstacles |= VP_OBSTACLE_SHUTDOWN;
    }
    return obstacles;
}

static int mpi_code(vp_status_t status)
{
    switch (status) {
    case VP_OK:
        return OMPI_SUCCESS;
    case VP_ERR_TRUNCATE:
        return MPI_ERR_TRUNCATE;
    case VP_ERR_NO_MEMORY:
        return OMPI_ERR_OUT_OF_RESOURCE;
    default:
        return MPI_ERR_OTHER;
    }
}

/*
 * All ranks know that the job is set up wrongly, and which rank noticed: that
 * one tells the user, once. A catalog for the whole job never fits a smaller
 * communicator, so there only what is broken on this very rank counts.
 */
static void tell_fault(const vp_module_t *module, const vp_outcome_t *outcome)
{
    static bool told = false;
    uint32_t speaker = outcome->rank < (uint32_t)ompi_comm_size(module->comm) ? outcome->rank : 0;
    bool whole_job = module->comm == &ompi_mpi_comm_world.comm;
    const char *detail = vp_process_fault();

    if (told || !(whole_job || '\0' != detail[0])) {
        return;
    }
    told = true;
    if ((uint32_t)ompi_comm_rank(module->comm) == speaker) {
        vp_help("passed-on", module->comm->c_name, outcome->reason,
                '\0' == detail[0] ? "no further detail" : detail);
    }
}

/* Works, but not as fast as the machine: said once per job. */
static void tell_staged(const vp_module_t *module, const vp_outcome_t *outcome)
{
    static bool told = false;

    if (!told && module->comm == &ompi_mpi_comm_world.comm && 0 == ompi_comm_rank(module->comm)) {
        vp_help("staged", module->comm->c_name, outcome->reason, vp_lanes_runtime_version());
    }
    told = true;
}

/* The first verdict on a communicator is worth a line; later ones only at a higher verbosity. */
static void announce(vp_module_t *module, const char *what, const vp_outcome_t *outcome)
{
    const vp_log_t *log = &mca_coll_variopath_component.log;

    if (outcome->fault) {
        tell_fault(module, outcome);
    }
    if (VP_STAGED == outcome->verdict) {
        tell_staged(module, outcome);
    }
    if (!module->announced && 0 == ompi_comm_rank(module->comm)) {
        vp_log(log, VP_LOG_NOTE, "%s on %s: %s%s%s", what, module->comm->c_name,
               vp_verdict_text(outcome->verdict), '\0' == outcome->reason[0] ? "" : ": ",
               outcome->reason);
    }
    module->announced = true;
}

/*
 * Runs a call whose blocks are filled. Unless *verdict_p is carried, the caller
 * is to use the collective below.
 */
static int run(vp_module_t *module, const char *what, uint32_t obstacles, const vp_stage_t *stage,
               vp_verdict_t *verdict_p)
{
    int n_ranks = ompi_comm_size(module->comm);
    const vp_call_t call = {
        .send = module->blocks,
        .receive = module->blocks + n_ranks,
        .obstacles = obstacles | general_obstacles(stage),
        .send_memory = &stage->send.memory,
        .receive_memory = &stage->receive.memory,
    };
    vp_outcome_t outcome;
    vp_error_t error;
    vp_status_t status = vp_engine_alltoallv(module->engine, &call, &outcome, &error);

    *verdict_p = VP_CARRIED;
    if (VP_OK != status) {
        opal_output(0, "coll:variopath: %s on %s, rank %d: %s", what, module->comm->c_name,
                    ompi_comm_rank(module->comm), error.text);
        return mpi_code(status);
    }
    announce(module, what, &outcome);
    *verdict_p = outcome.verdict;
    return OMPI_SUCCESS;
}

int vp_alltoallv(const void *send_buffer, const int *send_counts, const int *send_displs,
                 struct ompi_datatype_t *send_type, void *receive_buffer, const int *receive_counts,
                 const int *receive_displs, struct ompi_datatype_t *receive_type,
                 struct ompi_communicator_t *comm, mca_coll_base_module_t *base_module)
{
    vp_module_t *module = (vp_module_t *)base_module;
    bool in_place = MPI_IN_PLACE == send_buffer;
    const vp_side_t send = {(void *)(uintptr_t)send_buffer, send_counts, send_displs, send_type};
    const vp_side_t receive = {receive_buffer, receive_counts, receive_displs, receive_type};
    int n_ranks = ompi_comm_size(comm);
    uint32_t obstacles;
    vp_verdict_t verdict;
    vp_stage_t stage;
    int code;

    if (NULL == module->engine && OMPI_SUCCESS != (code = vp_module_prepare(module))) {
        return code;
    }
    obstacles = vp_stage_look(&stage, module, in_place ? NULL : &send, &receive);
    if (in_place) {
        /* The send arguments are not significant and may be anything. */
        obstacles |= VP_OBSTACLE_IN_PLACE;
    } else {
        obstacles |=
            fill_blocks(module->blocks, n_ranks, send_buffer, send_counts, send_displs, send_type);
        obstacles |= fill_blocks(module->blocks + n_ranks, n_ranks, receive_buffer, receive_counts,
                                 receive_displs, receive_type);
    }
    code = run(module, "alltoallv", obstacles, &stage, &verdict);
    if (VP_CARRIED == verdict) {
        return code;
    }
    code = vp_stage_enter(&stage, VP_STAGED == verdict);
    if (OMPI_SUCCESS != code) {
        return code;
    }
    code =
        module->below_alltoallv(vp_stage_send_buffer(&stage), send_counts, send_displs, send_type,
                                vp_stage_receive_buffer(&stage), receive_counts, receive_displs,
                                receive_type, comm, module->below_alltoallv_module);
    return vp_stage_leave(&stage, code);
}

int vp_alltoall(const void *send_buffer, int send_count, struct ompi_datatype_t *send_type,
                void *receive_buffer, int receive_count, struct ompi_datatype_t *receive_type,
                struct ompi_communicator_t *comm, mca_coll_base_module_t *base_module)
{
    vp_module_t *module = (vp_module_t *)base_module;
    bool in_place = MPI_IN_PLACE == send_buffer;
    const vp_side_t send = {(void *)(uintptr_t)send_buffer, &send_count, NULL, send_type};
    const vp_side_t receive = {receive_buffer, &receive_count, NULL, receive_type};
    int n_ranks = ompi_comm_size(comm);
    uint32_t obstacles;
    vp_verdict_t verdict;
    vp_stage_t stage;
    int code;

    if (NULL == module->engine && OMPI_SUCCESS != (code = vp_module_prepare(module))) {
        return code;
    }
    obstacles = vp_stage_look(&stage, module, in_place ? NULL : &send, &receive);
    if (in_place) {
        obstacles |= VP_OBSTACLE_IN_PLACE;
    } else {
        obstacles |=
            fill_blocks(module->blocks, n_ranks, send_buffer, &send_count, NULL, send_type);
        obstacles |= fill_blocks(module->blocks + n_ranks, n_ranks, receive_buffer, &receive_count,
                                 NULL, receive_type);
    }
    code = run(module, "alltoall", obstacles, &stage, &verdict);
    if (VP_CARRIED == verdict) {
        return code;
    }
    code = vp_stage_enter(&stage, VP_STAGED == verdict);
    if (OMPI_SUCCESS != code) {
        return code;
    }
    code = module->below_alltoall(vp_stage_send_buffer(&stage), send_count, send_type,
                                  vp_stage_receive_buffer(&stage), receive_count, receive_type,
                                  comm, module->below_alltoall_module);
    return vp_stage_leave(&stage, code);
}
