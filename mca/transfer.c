/* SPDX-License-Identifier: BSD-3-Clause */
#include "mca/transfer.h"

#include <stdio.h>
#include <stdlib.h>

/* Packed blocks start at cache lines. */
enum { PACKED_ALIGNMENT = 64 };

static bool is_device(const vp_memory_t *memory)
{
    return VP_MEMORY_DEVICE == memory->kind || VP_MEMORY_MANAGED == memory->kind;
}

static uint64_t packed_size(uint64_t n_bytes)
{
    return (n_bytes + PACKED_ALIGNMENT - 1) / PACKED_ALIGNMENT * PACKED_ALIGNMENT;
}

/*
 * Fills the blocks of one side. Those that cannot move where they lie have bytes
 * but no address; *n_packed_p is what they take together, packed.
 */
static void fill_blocks(vp_block_t *blocks, const vp_side_t *side, int n_ranks, bool pack_all,
                        uint64_t *n_packed_p)
{
    int i;

    for (i = 0; i < n_ranks; i++) {
        const vp_piece_t piece = vp_side_piece(side, i);
        const vp_extent_t extent = vp_piece_extent(&piece);

        blocks[i] = (vp_block_t){.n_bytes = extent.n_bytes};
        if (0 == extent.n_bytes) {
            continue;
        }
        if (extent.contiguous && !pack_all) {
            blocks[i].address = (void *)(uintptr_t)extent.begin;
        } else {
            *n_packed_p += packed_size(extent.n_bytes);
        }
    }
}

static bool reserve(vp_packed_t *packed, uint64_t n_bytes)
{
    if (n_bytes <= packed->n_bytes) {
        return true;
    }
    if (n_bytes > mca_coll_variopath_component.params.pack_max_bytes) {
        return false;
    }
    free(packed->memory);
    packed->n_bytes = 0;
    packed->memory = aligned_alloc(PACKED_ALIGNMENT, (size_t)n_bytes);
    if (NULL == packed->memory) {
        return false;
    }
    packed->n_bytes = (size_t)n_bytes;
    return true;
}

static char *place_packed(vp_block_t *blocks, int n_ranks, char *memory)
{
    int i;

    for (i = 0; i < n_ranks; i++) {
        if (0 < blocks[i].n_bytes && NULL == blocks[i].address) {
            blocks[i].address = memory;
            memory += packed_size(blocks[i].n_bytes);
        }
    }
    return memory;
}

/* Is this block of the side in packed memory? */
static bool is_packed(const vp_block_t *block, const vp_packed_t *packed)
{
    return 0 < block->n_bytes && (char *)block->address >= packed->memory &&
           (char *)block->address < packed->memory + packed->n_bytes;
}

static bool convert_side(const vp_transfer_t *transfer, bool pack)
{
    const vp_side_t *side = pack ? &transfer->send : &transfer->receive;
    int n_ranks = ompi_comm_size(transfer->module->comm);
    const vp_block_t *blocks = transfer->blocks + (pack ? 0 : n_ranks);
    bool done = true;
    int i;

    for (i = 0; i < n_ranks && done; i++) {
        const vp_piece_t piece = vp_side_piece(side, i);

        if (!is_packed(&blocks[i], transfer->packed)) {
            continue;
        }
        done = pack ? vp_piece_pack(&piece, blocks[i].address, blocks[i].n_bytes)
                    : vp_piece_unpack(&piece, blocks[i].address, blocks[i].n_bytes);
    }
    return done;
}

/* What keeps a block that must be packed from being so. */
static uint32_t pack_obstacle(const vp_transfer_t *transfer)
{
    return transfer->in_place ? VP_OBSTACLE_IN_PLACE : VP_OBSTACLE_LAYOUT;
}

/* The own block of an in-place call is where it belongs. */
static void skip_own_block(const vp_transfer_t *transfer)
{
    int n_ranks = ompi_comm_size(transfer->module->comm);
    int rank = ompi_comm_rank(transfer->module->comm);

    transfer->blocks[rank] = (vp_block_t){0};
    transfer->blocks[n_ranks + rank] = (vp_block_t){0};
}

/* Returns the obstacle that the layout of the data is, or 0. */
static uint32_t arrange(vp_transfer_t *transfer)
{
    int n_ranks = ompi_comm_size(transfer->module->comm);
    const vp_stage_t *stage = &transfer->stage;
    uint64_t n_sent = 0, n_received = 0;
    char *rest;

    fill_blocks(transfer->blocks, &transfer->send, n_ranks, transfer->in_place, &n_sent);
    fill_blocks(transfer->blocks + n_ranks, &transfer->receive, n_ranks, false, &n_received);
    if (transfer->in_place) {
        skip_own_block(transfer);
    }
    if (0 == n_sent + n_received) {
        return 0;
    }
    if ((0 < n_sent &&
         is_device(transfer->in_place ? &stage->receive.memory : &stage->send.memory)) ||
        (0 < n_received && is_device(&stage->receive.memory)) ||
        !reserve(transfer->packed, n_sent + n_received)) {
        return pack_obstacle(transfer);
    }
    rest = place_packed(transfer->blocks, n_ranks, transfer->packed->memory);
    (void)place_packed(transfer->blocks + n_ranks, n_ranks, rest);
    return convert_side(transfer, true) ? 0 : pack_obstacle(transfer);
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

void vp_transfer_begin(vp_transfer_t *transfer, vp_strand_t *strand, const char *what,
                       const vp_side_t *send, const vp_side_t *receive, vp_block_t *blocks,
                       vp_packed_t *packed)
{
    *transfer = (vp_transfer_t){.strand = strand,
                                .module = strand->module,
                                .what = what,
                                .in_place = NULL == send,
                                .send = NULL == send ? *receive : *send,
                                .receive = *receive,
                                .blocks = blocks,
                                .packed = packed};
    transfer->obstacles =
        vp_stage_look(&transfer->stage, strand->module->comm, strand->engine, send, receive);
    transfer->obstacles |= general_obstacles(&transfer->stage);
    /* What all ranks will pass on needs no blocks. */
    if (0 == (transfer->obstacles & ~(uint32_t)VP_OBSTACLE_DEVICE) &&
        !vp_engine_declined(strand->engine)) {
        transfer->obstacles |= arrange(transfer);
    }
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

static void tell_error(const vp_transfer_t *transfer, const char *text)
{
    struct ompi_communicator_t *comm = transfer->module->comm;
    bool broken = OMPI_SUCCESS != vp_below_fault(comm);
    int dead = broken ? vp_below_find_dead(comm) : -1;
    char cause[48] = "";

    if (broken && 0 > dead) {
        (void)snprintf(cause, sizeof(cause), ". The communicator was revoked");
    } else if (broken) {
        (void)snprintf(cause, sizeof(cause), ". Rank %d has died", dead);
    }
    opal_output(0, "coll:variopath: %s on %s, rank %d: %s%s", transfer->what, comm->c_name,
                ompi_comm_rank(comm), text, cause);
}

/* What arrived packed goes where it belongs. */
static int unpack(const vp_transfer_t *transfer)
{
    if (convert_side(transfer, false)) {
        return OMPI_SUCCESS;
    }
    tell_error(transfer, "received data does not fit its datatype; the receive buffer is "
                         "undefined, commit the datatype");
    return MPI_ERR_TYPE;
}

int vp_transfer_run(vp_transfer_t *transfer, vp_verdict_t *verdict_p)
{
    vp_module_t *module = transfer->module;
    /*
     * A CUDA context that is current belongs to a thread, so a fiber cannot keep it
     * while it is paused: device buffers of nonblocking calls are staged.
     */
    bool on_fiber = NULL != transfer->strand->rounds;
    const vp_call_t call = {
        .send = transfer->blocks,
        .receive = transfer->blocks + ompi_comm_size(module->comm),
        .obstacles = transfer->obstacles,
        .send_memory = on_fiber ? NULL : &transfer->stage.send.memory,
        .receive_memory = on_fiber ? NULL : &transfer->stage.receive.memory,
        .patient = on_fiber,
    };
    vp_outcome_t outcome;
    vp_error_t error;
    vp_status_t status = vp_engine_alltoallv(transfer->strand->engine, &call, &outcome, &error);

    *verdict_p = VP_CARRIED;
    if (VP_OK != status && VP_ERR_TRUNCATE != status) {
        tell_error(transfer, error.text);
        return mpi_code(status);
    }
    if (VP_CARRIED == outcome.verdict && OMPI_SUCCESS != unpack(transfer)) {
        return MPI_ERR_TYPE;
    }
    if (VP_OK != status) {
        tell_error(transfer, error.text);
        return mpi_code(status);
    }
    announce(module, transfer->what, &outcome);
    *verdict_p = outcome.verdict;
    return OMPI_SUCCESS;
}
