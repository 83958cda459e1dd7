/*
 * MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw: what the framework calls, and
 * the way to the collective below for what is not carried.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mca/transfer.h"

/* Bytes of all ranks that are known to be the same everywhere; only MPI_Alltoall's are. */
#define UNKNOWN_BYTES UINT64_MAX

static uint64_t uniform_bytes(const vp_module_t *module, size_t count, struct ompi_datatype_t *type)
{
    uint64_t n = (uint64_t)ompi_comm_size(module->comm), n_bytes;
    size_t size;

    (void)ompi_datatype_type_size(type, &size);
    return __builtin_mul_overflow((uint64_t)count, size, &n_bytes) ||
                   __builtin_mul_overflow(n_bytes, n * (n - 1), &n_bytes)
               ? UNKNOWN_BYTES
               : n_bytes;
}

static int try_to_carry(vp_transfer_t *transfer, vp_module_t *module, const char *what,
                        const vp_side_t *send, const vp_side_t *receive, uint64_t n_bytes,
                        vp_verdict_t *verdict_p)
{
    bool in_place = MPI_IN_PLACE == send->buffer;
    int code;

    vp_request_drain(&module->strand);
    *verdict_p = VP_CARRIED;
    code = vp_module_prepare(module, receive->buffer);
    if (OMPI_SUCCESS != code) {
        return code;
    }
    /* The send arguments of an in-place call are not significant and may be anything. */
    vp_transfer_begin(transfer, &module->strand, what, in_place ? NULL : send, receive,
                      module->blocks, &module->packed);
    if (vp_engine_pass_small(module->strand.engine, n_bytes)) {
        *verdict_p = VP_PASSED_ON;
    } else {
        code = vp_transfer_run(transfer, verdict_p);
    }
    return VP_CARRIED == *verdict_p ? code
                                    : vp_stage_enter(&transfer->stage, VP_STAGED == *verdict_p);
}

/* From the arguments to a verdict. Unless *verdict_p is carried, the stage is entered. */
static int carry_or_stage(vp_transfer_t *transfer, vp_module_t *module, const char *what,
                          const vp_side_t *send, const vp_side_t *receive, uint64_t n_bytes,
                          vp_verdict_t *verdict_p)
{
    return vp_below_code(module->comm,
                         try_to_carry(transfer, module, what, send, receive, n_bytes, verdict_p));
}

int vp_alltoall(VP_UNIFORM_ARGUMENTS, mca_coll_base_module_t *base_module)
{
    vp_module_t *module = (vp_module_t *)base_module;
    const vp_side_t send = vp_side_uniform(send_buffer, (size_t)send_count, send_type);
    const vp_side_t receive = vp_side_uniform(receive_buffer, (size_t)receive_count, receive_type);
    vp_transfer_t transfer;
    vp_verdict_t verdict;
    int code = carry_or_stage(&transfer, module, "alltoall", &send, &receive,
                              uniform_bytes(module, (size_t)receive_count, receive_type), &verdict);

    if (OMPI_SUCCESS != code || VP_CARRIED == verdict) {
        return code;
    }
    code = module->below_alltoall(vp_stage_send_buffer(&transfer.stage), send_count, send_type,
                                  vp_stage_receive_buffer(&transfer.stage), receive_count,
                                  receive_type, comm, module->below_alltoall_module);
    return vp_stage_leave(&transfer.stage, code);
}

int vp_alltoallv(VP_ELEMENTS_ARGUMENTS, mca_coll_base_module_t *base_module)
{
    vp_module_t *module = (vp_module_t *)base_module;
    const vp_side_t send = vp_side_elements(send_buffer, send_counts, send_displs, send_type);
    const vp_side_t receive =
        vp_side_elements(receive_buffer, receive_counts, receive_displs, receive_type);
    vp_transfer_t transfer;
    vp_verdict_t verdict;
    int code =
        carry_or_stage(&transfer, module, "alltoallv", &send, &receive, UNKNOWN_BYTES, &verdict);

    if (OMPI_SUCCESS != code || VP_CARRIED == verdict) {
        return code;
    }
    code =
        module->below_alltoallv(vp_stage_send_buffer(&transfer.stage), send_counts, send_displs,
                                send_type, vp_stage_receive_buffer(&transfer.stage), receive_counts,
                                receive_displs, receive_type, comm, module->below_alltoallv_module);
    return vp_stage_leave(&transfer.stage, code);
}

int vp_alltoallw(VP_BYTES_ARGUMENTS, mca_coll_base_module_t *base_module)
{
    vp_module_t *module = (vp_module_t *)base_module;
    const vp_side_t send = vp_side_bytes(send_buffer, send_counts, send_displs, send_types);
    const vp_side_t receive =
        vp_side_bytes(receive_buffer, receive_counts, receive_displs, receive_types);
    vp_transfer_t transfer;
    vp_verdict_t verdict;
    int code =
        carry_or_stage(&transfer, module, "alltoallw", &send, &receive, UNKNOWN_BYTES, &verdict);

    if (OMPI_SUCCESS != code || VP_CARRIED == verdict) {
        return code;
    }
    code = module->below_alltoallw(vp_stage_send_buffer(&transfer.stage), send_counts, send_displs,
                                   send_types, vp_stage_receive_buffer(&transfer.stage),
                                   receive_counts, receive_displs, receive_types, comm,
                                   module->below_alltoallw_module);
    return vp_stage_leave(&transfer.stage, code);
}
