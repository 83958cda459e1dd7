/*
 * Device buffers through host memory. The collective below takes the same
 * counts, displacements and datatypes, but buffers in the host: their base is
 * shifted so that the touched bytes [begin, end) fall into the bounce memory.
 * This is a rank's own affair: others need not know, except that a rank which
 * cannot must not leave them waiting.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mca/component.h"

#include <stdlib.h>

/* From the first touched byte to behind the last one. */
static void find_span(vp_bounce_t *bounce, int n_ranks)
{
    int i;

    for (i = 0; i < n_ranks; i++) {
        const vp_piece_t piece = vp_side_piece(&bounce->side, i);
        const vp_extent_t extent = vp_piece_extent(&piece);

        if (0 == extent.n_bytes) {
            continue;
        }
        bounce->gaps = bounce->gaps || !extent.contiguous;
        if (bounce->begin == bounce->end || extent.begin < bounce->begin) {
            bounce->begin = extent.begin;
        }
        if (extent.end > bounce->end) {
            bounce->end = extent.end;
        }
    }
}

static bool is_device(const vp_bounce_t *bounce)
{
    return VP_MEMORY_DEVICE == bounce->memory.kind || VP_MEMORY_MANAGED == bounce->memory.kind;
}

static uint32_t look(vp_bounce_t *bounce, const vp_side_t *side, int n_ranks)
{
    vp_error_t error;
    vp_status_t status;

    bounce->side = *side;
    find_span(bounce, n_ranks);
    status = vp_device_classify(bounce->begin, bounce->end, &bounce->memory, &error);
    if (VP_OK == status && is_device(bounce) && mca_coll_variopath_component.params.sync_stream) {
        status = vp_device_wait(&bounce->memory, &error);
    }
    if (VP_OK != status) {
        opal_output(0, "coll:variopath: %s", error.text);
        return VP_OBSTACLE_DEVICE_LOST;
    }
    return is_device(bounce) ? VP_OBSTACLE_DEVICE : 0;
}

bool vp_stage_has_host(const vp_stage_t *stage)
{
    return !vp_device_present() || VP_MEMORY_HOST == stage->send.memory.kind ||
           VP_MEMORY_HOST == stage->receive.memory.kind;
}

/* Ranks that this one exchanges bytes with: of an inter-communicator, those of the other group. */
static int count_peers(struct ompi_communicator_t *comm)
{
    return OMPI_COMM_IS_INTER(comm) ? ompi_comm_remote_size(comm) : ompi_comm_size(comm);
}

uint32_t vp_stage_look(vp_stage_t *stage, struct ompi_communicator_t *comm, vp_engine_t *engine,
                       const vp_side_t *send, const vp_side_t *receive)
{
    uint32_t obstacles;

    *stage = (vp_stage_t){
        .comm = comm, .n_ranks = count_peers(comm), .engine = engine, .in_place = NULL == send};
    stage->receive.side = *receive;
    if (NULL != send) {
        stage->send.side = *send;
    }
    if (!vp_device_present()) {
        return 0;
    }
    obstacles = look(&stage->receive, receive, stage->n_ranks);
    if (NULL != send) {
        obstacles |= look(&stage->send, send, stage->n_ranks);
    }
    return obstacles;
}

/* One copy over a run of adjacent blocks. */
static vp_status_t copy_run(const vp_bounce_t *bounce, bool to_host, uint64_t begin, uint64_t end,
                            vp_error_t *error)
{
    char *host;

    if (begin == end) {
        return VP_OK;
    }
    host = bounce->bounce + (begin - bounce->begin);
    return to_host ? vp_device_read(&bounce->memory, host, begin, (size_t)(end - begin), error)
                   : vp_device_write(&bounce->memory, begin, host, (size_t)(end - begin), error);
}

/* Only blocks are copied: what lies between them is not this call's to write. */
static vp_status_t copy_blocks(const vp_bounce_t *bounce, int n_ranks, bool to_host,
                               vp_error_t *error)
{
    uint64_t run_begin = 0, run_end = 0;
    vp_status_t status = VP_OK;
    int i;

    for (i = 0; i < n_ranks && VP_OK == status; i++) {
        const vp_piece_t piece = vp_side_piece(&bounce->side, i);
        const vp_extent_t extent = vp_piece_extent(&piece);

        if (0 == extent.n_bytes) {
            continue;
        }
        if (extent.begin == run_end) {
            run_end = extent.end;
            continue;
        }
        status = copy_run(bounce, to_host, run_begin, run_end, error);
        run_begin = extent.begin;
        run_end = extent.end;
    }
    return VP_OK == status ? copy_run(bounce, to_host, run_begin, run_end, error) : status;
}

static vp_status_t make_bounce(vp_bounce_t *bounce, vp_error_t *error)
{
    if (!is_device(bounce) || NULL != bounce->bounce) {
        return VP_OK;
    }
    bounce->bounce = malloc((size_t)(bounce->end - bounce->begin));
    return NULL == bounce->bounce ? vp_error_no_memory(error, "the staging of a device buffer")
                                  : VP_OK;
}

/*
 * Bytes in the gaps of a datatype are written back with the blocks around
 * them, so they have to be fetched first.
 */
static vp_status_t fill_bounces(vp_stage_t *stage, vp_error_t *error)
{
    bool fetch = stage->in_place || stage->receive.gaps;
    vp_status_t status = make_bounce(&stage->send, error);

    if (VP_OK == status) {
        status = make_bounce(&stage->receive, error);
    }
    if (VP_OK == status && NULL != stage->send.bounce) {
        status = copy_blocks(&stage->send, stage->n_ranks, true, error);
    }
    if (VP_OK == status && fetch && NULL != stage->receive.bounce) {
        status = copy_blocks(&stage->receive, stage->n_ranks, true, error);
    }
    return status;
}

void vp_stage_release(vp_stage_t *stage)
{
    free(stage->send.bounce);
    free(stage->receive.bounce);
    stage->send.bounce = NULL;
    stage->receive.bounce = NULL;
}

static int stage_code(vp_status_t status)
{
    return VP_ERR_NO_MEMORY == status ? OMPI_ERR_OUT_OF_RESOURCE : MPI_ERR_OTHER;
}

static void tell(const vp_stage_t *stage, const vp_error_t *error)
{
    opal_output(0, "coll:variopath: %s, rank %d: %s", stage->comm->c_name,
                ompi_comm_rank(stage->comm), error->text);
}

int vp_stage_make(vp_stage_t *stage)
{
    vp_error_t error;
    vp_status_t status = make_bounce(&stage->send, &error);

    if (VP_OK == status) {
        status = make_bounce(&stage->receive, &error);
    }
    if (VP_OK == status) {
        return OMPI_SUCCESS;
    }
    tell(stage, &error);
    vp_stage_release(stage);
    return stage_code(status);
}

int vp_stage_fill(vp_stage_t *stage)
{
    vp_error_t error;
    vp_status_t status = fill_bounces(stage, &error);

    if (VP_OK == status) {
        return OMPI_SUCCESS;
    }
    tell(stage, &error);
    return stage_code(status);
}

int vp_stage_enter(vp_stage_t *stage, bool agreed)
{
    vp_error_t error;
    vp_status_t mine = fill_bounces(stage, &error);
    vp_status_t status = mine;

    if (VP_OK != mine) {
        tell(stage, &error);
    }
    if (agreed) {
        status = vp_engine_agree_staging(stage->engine, mine, &error);
    }
    if (VP_OK == status) {
        return OMPI_SUCCESS;
    }
    if (VP_OK == mine) {
        tell(stage, &error);
    }
    vp_stage_release(stage);
    return stage_code(status);
}

/* Where the buffer would begin if its touched bytes were those of the bounce memory. */
static void *shifted(const vp_bounce_t *bounce)
{
    if (NULL == bounce->bounce) {
        return bounce->side.buffer;
    }
    return (void *)((uintptr_t)bounce->bounce +
                    ((uintptr_t)bounce->side.buffer - (uintptr_t)bounce->begin));
}

void *vp_stage_send_buffer(const vp_stage_t *stage)
{
    return stage->in_place ? MPI_IN_PLACE : shifted(&stage->send);
}

void *vp_stage_receive_buffer(const vp_stage_t *stage)
{
    return shifted(&stage->receive);
}

int vp_stage_empty(vp_stage_t *stage)
{
    vp_error_t error;

    if (NULL == stage->receive.bounce ||
        VP_OK == copy_blocks(&stage->receive, stage->n_ranks, false, &error)) {
        return OMPI_SUCCESS;
    }
    tell(stage, &error);
    return stage_code(error.status);
}

int vp_stage_leave(vp_stage_t *stage, int code)
{
    if (OMPI_SUCCESS == code) {
        code = vp_stage_empty(stage);
    }
    vp_stage_release(stage);
    return code;
}
