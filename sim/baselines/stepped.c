/*
 * Step k: rank r sends to r + k and receives from r - k (backwards: the other
 * way round). Steps form blocks; a rank reaches a block when all its sends and
 * receives of the block before are done, and a message starts when both its
 * ranks have reached its block. Empty messages are sent: they cost their
 * overhead.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sim/baselines/baselines.h"

#include <stdlib.h>

#include "base/array.h"

typedef struct stepped {
    vp_traffic_t *traffic;
    uint32_t *reached;  /* [n_ranks] mark of each rank in this block; UINT32_MAX: at t = 0 */
    uint32_t *finished; /* [n_ranks] gate of each rank at this block's end */
    bool backwards;
} stepped_t;

static vp_status_t open_block(stepped_t *stepped, bool is_first, vp_error_t *error)
{
    vp_status_t status = VP_OK;
    uint32_t rank;

    for (rank = 0; status == VP_OK && rank < stepped->traffic->n_ranks; rank++) {
        stepped->reached[rank] = UINT32_MAX;
        if (!is_first) {
            status = vp_traffic_mark(stepped->traffic, stepped->finished[rank],
                                     &stepped->reached[rank], error);
        }
        if (status == VP_OK) {
            status = vp_traffic_gate(stepped->traffic, &stepped->finished[rank], error);
        }
    }
    return status;
}

static vp_status_t add_message(stepped_t *stepped, uint32_t source, uint32_t destination,
                               vp_error_t *error)
{
    vp_traffic_t *traffic = stepped->traffic;
    vp_start_t start = VP_START_NOW;
    vp_path_t path;
    uint32_t flow;
    vp_status_t status = vp_path_nearest(traffic->machine, source, destination, &path, error);

    if (status == VP_OK && stepped->reached[source] != UINT32_MAX) {
        status = vp_traffic_gate(traffic, &start.gate, error);
        if (status == VP_OK) {
            status = vp_traffic_wait(traffic, start.gate, stepped->reached[source], error);
        }
        if (status == VP_OK) {
            status = vp_traffic_wait(traffic, start.gate, stepped->reached[destination], error);
        }
    }
    if (status == VP_OK) {
        status =
            vp_traffic_send(traffic, source, &path, vp_traffic_demand(traffic, source, destination),
                            VP_OPERATION_MESSAGE, start, &flow, error);
    }
    if (status == VP_OK) {
        status = vp_traffic_wait(traffic, stepped->finished[source], flow, error);
    }
    return status == VP_OK ? vp_traffic_wait(traffic, stepped->finished[destination], flow, error)
                           : status;
}

static vp_status_t add_step(stepped_t *stepped, uint32_t step, vp_error_t *error)
{
    uint32_t n = stepped->traffic->n_ranks;
    vp_status_t status = VP_OK;
    uint32_t source;

    for (source = 0; status == VP_OK && source < n; source++) {
        status = add_message(stepped, source, (source + (stepped->backwards ? n - step : step)) % n,
                             error);
    }
    return status;
}

vp_status_t vp_stepped(vp_traffic_t *traffic, uint32_t steps_per_block, bool backwards,
                       vp_error_t *error)
{
    stepped_t stepped = {traffic, NULL, NULL, backwards};
    vp_status_t status = VP_OK;
    uint32_t step;

    stepped.reached = vp_array_new(traffic->n_ranks, sizeof(uint32_t));
    stepped.finished = vp_array_new(traffic->n_ranks, sizeof(uint32_t));
    if (stepped.reached == NULL || stepped.finished == NULL) {
        status = vp_error_no_memory(error, "a stepped exchange");
    }
    traffic->n_steps = (traffic->n_ranks - 1 + steps_per_block - 1) / steps_per_block;
    for (step = 1; status == VP_OK && step < traffic->n_ranks; step++) {
        if ((step - 1) % steps_per_block == 0) {
            status = open_block(&stepped, step == 1, error);
        }
        if (status == VP_OK) {
            status = add_step(&stepped, step, error);
        }
    }
    free(stepped.reached);
    free(stepped.finished);
    return status;
}
