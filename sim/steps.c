/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/steps.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"

static vp_status_t fault(const vp_steps_t *steps, size_t index, const char *what, vp_error_t *error)
{
    const vp_transfer_t *it = &steps->transfers[index];

    return vp_error_set(error, VP_ERR_BAD_INPUT,
                        "transfer %zu of the schedule (step %" PRIu32 ", rank %" PRIu32
                        " to rank %" PRIu32 ", bytes of %" PRIu32 " for %" PRIu32
                        ") %s; nothing was simulated, make the schedule anew for this topology "
                        "and demand",
                        index, it->step, it->from, it->to, it->origin, it->final, what);
}

static const char *transfer_fault(const vp_steps_t *steps, const vp_model_t *model, size_t index)
{
    const vp_transfer_t *it = &steps->transfers[index];
    uint32_t n = steps->n_ranks;

    if (index > 0 && it->step < steps->transfers[index - 1].step) {
        return "comes after one of a later step";
    }
    if (it->from >= n || it->to >= n || it->origin >= n || it->final >= n || it->from == it->to ||
        it->origin == it->final || it->n_bytes == 0) {
        return "names a rank that does not exist, stays on its rank, or moves nothing";
    }
    if (it->instance >= model->n_instances ||
        model->instances[it->instance].from_group != model->rank_group[it->from] ||
        model->instances[it->instance].to_group != model->rank_group[it->to]) {
        return "takes a path that does not connect its ranks";
    }
    return NULL;
}

static uint64_t *held_by(const vp_steps_t *steps, uint64_t *held, const vp_transfer_t *it,
                         uint32_t rank)
{
    size_t n = steps->n_ranks;

    return &held[((size_t)it->origin * n + it->final) * n + rank];
}

/* Moves the bytes of one step: all leave before any arrive. */
static vp_status_t move_step(const vp_steps_t *steps, size_t begin, size_t end, uint64_t *held,
                             vp_error_t *error)
{
    size_t i;

    for (i = begin; i < end; i++) {
        const vp_transfer_t *it = &steps->transfers[i];
        uint64_t *left = held_by(steps, held, it, it->from);

        if (*left < it->n_bytes) {
            return fault(steps, i, "moves bytes that its sender does not have", error);
        }
        *left -= it->n_bytes;
    }
    for (i = begin; i < end; i++) {
        const vp_transfer_t *it = &steps->transfers[i];

        *held_by(steps, held, it, it->to) += it->n_bytes;
    }
    return VP_OK;
}

static vp_status_t move_all(const vp_steps_t *steps, uint64_t *held, vp_error_t *error)
{
    vp_status_t status = VP_OK;
    size_t begin = 0;

    while (status == VP_OK && begin < steps->n_transfers) {
        size_t end = begin;

        while (end < steps->n_transfers &&
               steps->transfers[end].step == steps->transfers[begin].step) {
            end++;
        }
        status = move_step(steps, begin, end, held, error);
        begin = end;
    }
    return status;
}

static vp_status_t check_delivery(const vp_steps_t *steps, const uint64_t *demand_bytes,
                                  const uint64_t *held, vp_error_t *error)
{
    size_t n = steps->n_ranks;
    size_t i;
    size_t j;

    for (i = 0; i < n; i++) {
        for (j = 0; j < n; j++) {
            uint64_t arrived = held[(i * n + j) * n + j];

            if (i != j && arrived != demand_bytes[i * n + j]) {
                return vp_error_set(error, VP_ERR_BAD_INPUT,
                                    "the schedule brings %" PRIu64 " of %" PRIu64
                                    " bytes from rank %zu to rank %zu; nothing was simulated, "
                                    "make the schedule anew for this demand",
                                    arrived, demand_bytes[i * n + j], i, j);
            }
        }
    }
    return VP_OK;
}

vp_status_t vp_steps_check(const vp_steps_t *steps, const vp_model_t *model,
                           const uint64_t *demand_bytes, vp_error_t *error)
{
    size_t n = steps->n_ranks;
    uint64_t *held;
    vp_status_t status;
    size_t i;

    if (n != model->n_ranks || n > VP_STEPS_MAX_RANKS) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "the schedule is for %zu ranks, the topology \"%s\" has %" PRIu32
                            " and schedules are played for at most %d; give the topology that "
                            "the schedule was made for",
                            n, model->name, model->n_ranks, VP_STEPS_MAX_RANKS);
    }
    for (i = 0; i < steps->n_transfers; i++) {
        const char *what = transfer_fault(steps, model, i);

        if (what != NULL) {
            return fault(steps, i, what, error);
        }
    }
    held = vp_array_new(n * n * n, sizeof(uint64_t));
    if (held == NULL) {
        return vp_error_no_memory(error, "the check of a schedule");
    }
    for (i = 0; i < n * n; i++) {
        held[i * n + i / n] = i / n == i % n ? 0 : demand_bytes[i];
    }
    status = move_all(steps, held, error);
    if (status == VP_OK) {
        status = check_delivery(steps, demand_bytes, held, error);
    }
    free(held);
    return status;
}
