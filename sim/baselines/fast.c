/*
 * fast: FAST (arXiv 2505.09764), for servers of equal size.
 *
 * 1. Balance. Per ordered pair of servers, GPUs that hold more than the rounded
 *    up mean pass their surplus to GPUs that hold less: givers, takers and
 *    destination columns in index order. The moves run inside each server as
 *    SpreadOut (step k: i to i + k, one message out per GPU). Nothing crosses
 *    servers before all servers are done: a barrier.
 * 2. The balanced server matrix is cut into Birkhoff stages (birkhoff.c), run in
 *    ascending order of their weight. In a stage GPU i sends to GPU i of the
 *    matched server over its nearest NIC. A server enters a stage when all its
 *    sends and receives of the stage before are done: no global barrier.
 * 3. What stage p brought is redistributed inside the destination (SpreadOut,
 *    one message out per GPU) while stage p + 1 crosses. The part of the demand
 *    that stays in a server runs after the balancing, beside the first stages.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sim/baselines/baselines.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sim/baselines/birkhoff.h"

typedef struct fast {
    vp_traffic_t *traffic;
    uint32_t n_servers;
    uint32_t size;     /* GPUs of a server */
    uint64_t *held;    /* [n_ranks][n_ranks] bytes at a GPU for a rank of another server */
    uint64_t *moves;   /* [n_ranks][size] bytes that a GPU passes to its server's GPU i */
    uint64_t *matrix;  /* [n_servers][n_servers] bytes of each GPU in each server pair */
    uint64_t *spread;  /* [n_ranks][size] bytes to redistribute after the stage */
    uint32_t *queues;  /* [n_ranks] one local message out at a time */
    uint32_t *reached; /* [n_servers] mark of each server in the stage */
    uint32_t balanced; /* gate after step 1 */
} fast_t;

static uint64_t *held_at(const fast_t *fast, uint32_t rank, uint32_t destination)
{
    return &fast->held[(size_t)rank * fast->traffic->n_ranks + destination];
}

static uint64_t held_for(const fast_t *fast, uint32_t rank, uint32_t server)
{
    uint64_t sum = 0;
    uint32_t j;

    for (j = 0; j < fast->size; j++) {
        sum += *held_at(fast, rank, server * fast->size + j);
    }
    return sum;
}

/* Moves n_bytes for a server from one GPU to another, destination columns in order. */
static void move(fast_t *fast, uint32_t giver, uint32_t taker, uint32_t server, uint64_t n_bytes)
{
    uint32_t j;

    fast->moves[(size_t)giver * fast->size + taker % fast->size] += n_bytes;
    for (j = 0; n_bytes > 0; j++) {
        uint64_t *from = held_at(fast, giver, server * fast->size + j);
        uint64_t part = *from < n_bytes ? *from : n_bytes;

        *from -= part;
        *held_at(fast, taker, server * fast->size + j) += part;
        n_bytes -= part;
    }
}

static void balance_pair(fast_t *fast, uint32_t source, uint32_t destination)
{
    uint32_t first = source * fast->size;
    uint64_t total = 0;
    uint64_t target;
    uint32_t giver;
    uint32_t taker;

    for (giver = 0; giver < fast->size; giver++) {
        total += held_for(fast, first + giver, destination);
    }
    target = total / fast->size + (total % fast->size != 0);
    fast->matrix[(size_t)source * fast->n_servers + destination] = target;
    for (giver = 0; giver < fast->size; giver++) {
        uint64_t has = held_for(fast, first + giver, destination);

        for (taker = 0; has > target && taker < fast->size; taker++) {
            uint64_t other = held_for(fast, first + taker, destination);
            uint64_t room = other < target ? target - other : 0;
            uint64_t part = has - target < room ? has - target : room;

            move(fast, first + giver, first + taker, destination, part);
            has -= part;
        }
    }
}

static vp_status_t send(fast_t *fast, uint32_t source, uint32_t destination, uint64_t n_bytes,
                        vp_operation_t operation, vp_start_t start, uint32_t *flow_p,
                        vp_error_t *error)
{
    vp_path_t path;
    vp_status_t status = vp_path_nearest(fast->traffic->machine, source, destination, &path, error);

    return status != VP_OK ? status
                           : vp_traffic_send(fast->traffic, source, &path, n_bytes, operation,
                                             start, flow_p, error);
}

/* SpreadOut of bytes[n_ranks][size] of one server; `done` (VP_NO_GATE: nobody) waits for all. */
static vp_status_t spread_out(fast_t *fast, uint32_t server, const uint64_t *bytes, uint32_t gate,
                              uint32_t done, vp_error_t *error)
{
    uint32_t first = server * fast->size;
    vp_status_t status = VP_OK;
    uint32_t step;
    uint32_t i;

    for (step = 1; step < fast->size; step++) {
        for (i = 0; status == VP_OK && i < fast->size; i++) {
            uint32_t to = (i + step) % fast->size;
            uint64_t n_bytes = bytes[(size_t)(first + i) * fast->size + to];
            uint32_t flow;

            if (n_bytes == 0) {
                continue;
            }
            status = send(fast, first + i, first + to, n_bytes, VP_OPERATION_COPY,
                          (vp_start_t){gate, fast->queues[first + i], 0}, &flow, error);
            if (status == VP_OK && done != VP_NO_GATE) {
                status = vp_traffic_wait(fast->traffic, done, flow, error);
            }
        }
    }
    return status;
}

static vp_status_t balance(fast_t *fast, vp_error_t *error)
{
    vp_status_t status = vp_traffic_gate(fast->traffic, &fast->balanced, error);
    uint32_t source;
    uint32_t destination;

    for (source = 0; status == VP_OK && source < fast->n_servers; source++) {
        for (destination = 0; destination < fast->n_servers; destination++) {
            if (source != destination) {
                balance_pair(fast, source, destination);
            }
        }
        status = spread_out(fast, source, fast->moves, VP_NO_GATE, fast->balanced, error);
    }
    return status;
}

/* The part of the demand that stays in each server. */
static vp_status_t add_local(fast_t *fast, vp_error_t *error)
{
    vp_status_t status = VP_OK;
    uint32_t rank;
    uint32_t i;

    for (rank = 0; rank < fast->traffic->n_ranks; rank++) {
        for (i = 0; i < fast->size; i++) {
            fast->spread[(size_t)rank * fast->size + i] =
                vp_traffic_demand(fast->traffic, rank, rank - rank % fast->size + i);
        }
    }
    for (i = 0; status == VP_OK && i < fast->n_servers; i++) {
        status = spread_out(fast, i, fast->spread, fast->balanced, VP_NO_GATE, error);
    }
    return status;
}

/* Takes up to n_bytes of what a GPU holds for a server, noting who gets it there. */
static uint64_t take(fast_t *fast, uint32_t rank, uint32_t server, uint64_t n_bytes)
{
    uint32_t arrives_at = server * fast->size + rank % fast->size;
    uint64_t taken = 0;
    uint32_t j;

    for (j = 0; j < fast->size && taken < n_bytes; j++) {
        uint64_t *held = held_at(fast, rank, server * fast->size + j);
        uint64_t part = *held < n_bytes - taken ? *held : n_bytes - taken;

        *held -= part;
        taken += part;
        fast->spread[(size_t)arrives_at * fast->size + j] += part;
    }
    return taken;
}

/* One server's sends of a stage: the `ends` of both servers and the arrival wait for them. */
static vp_status_t add_sends(fast_t *fast, uint32_t source, uint32_t destination, uint64_t n_bytes,
                             const uint32_t *ends, const uint32_t *arrived, vp_error_t *error)
{
    vp_start_t start = VP_START_NOW;
    vp_status_t status = vp_traffic_gate(fast->traffic, &start.gate, error);
    uint32_t i;

    if (status == VP_OK) {
        status = vp_traffic_wait(fast->traffic, start.gate, fast->reached[source], error);
    }
    if (status == VP_OK && destination != source) {
        status = vp_traffic_wait(fast->traffic, start.gate, fast->reached[destination], error);
    }
    for (i = 0; status == VP_OK && i < fast->size; i++) {
        uint32_t rank = source * fast->size + i;
        uint64_t part = take(fast, rank, destination, n_bytes);
        uint32_t flow;

        if (part == 0) {
            continue;
        }
        status = send(fast, rank, destination * fast->size + i, part, VP_OPERATION_MESSAGE, start,
                      &flow, error);
        if (status == VP_OK) {
            status = vp_traffic_wait(fast->traffic, ends[source], flow, error);
        }
        if (status == VP_OK) {
            status = vp_traffic_wait(fast->traffic, ends[destination], flow, error);
        }
        if (status == VP_OK) {
            status = vp_traffic_wait(fast->traffic, arrived[destination], flow, error);
        }
    }
    return status;
}

/* gates: [2][n_servers] scratch. */
static vp_status_t add_stage(fast_t *fast, const uint32_t *matches, const uint64_t *bytes,
                             uint32_t *gates, vp_error_t *error)
{
    uint32_t n = fast->n_servers;
    vp_status_t status = VP_OK;
    uint32_t i;

    memset(fast->spread, 0, (size_t)fast->traffic->n_ranks * fast->size * sizeof(uint64_t));
    for (i = 0; status == VP_OK && i < 2 * n; i++) {
        status = vp_traffic_gate(fast->traffic, &gates[i], error);
    }
    for (i = 0; status == VP_OK && i < n; i++) {
        status = vp_traffic_wait(fast->traffic, gates[i], fast->reached[i], error);
    }
    for (i = 0; status == VP_OK && i < n; i++) {
        if (bytes[i] > 0) {
            status = add_sends(fast, i, matches[i], bytes[i], gates, gates + n, error);
        }
    }
    for (i = 0; status == VP_OK && i < n; i++) {
        status = spread_out(fast, i, fast->spread, gates[n + i], VP_NO_GATE, error);
        if (status == VP_OK) {
            status = vp_traffic_mark(fast->traffic, gates[i], &fast->reached[i], error);
        }
    }
    return status;
}

static vp_status_t add_stages(fast_t *fast, vp_error_t *error)
{
    vp_stages_t stages = {0};
    uint32_t *gates = vp_array_new(2 * (size_t)fast->n_servers, sizeof(uint32_t));
    vp_status_t status = gates == NULL ? vp_error_no_memory(error, "the stages of FAST")
                                       : vp_birkhoff(fast->matrix, fast->n_servers, &stages, error);
    size_t stage;
    uint32_t i;

    for (i = 0; status == VP_OK && i < fast->n_servers; i++) {
        status = vp_traffic_mark(fast->traffic, fast->balanced, &fast->reached[i], error);
    }
    for (stage = 0; status == VP_OK && stage < stages.n_stages; stage++) {
        status = add_stage(fast, stages.matches + stage * fast->n_servers,
                           stages.bytes + stage * fast->n_servers, gates, error);
    }
    fast->traffic->n_steps = stages.n_stages + 1;
    vp_stages_release(&stages);
    free(gates);
    return status;
}

static vp_status_t prepare(fast_t *fast, vp_error_t *error)
{
    size_t n = fast->traffic->n_ranks;
    vp_status_t status = VP_OK;
    uint32_t i;
    uint32_t j;

    fast->held = vp_array_new(n * n, sizeof(uint64_t));
    fast->moves = vp_array_new(n * fast->size, sizeof(uint64_t));
    fast->spread = vp_array_new(n * fast->size, sizeof(uint64_t));
    fast->matrix = vp_array_new((size_t)fast->n_servers * fast->n_servers, sizeof(uint64_t));
    fast->queues = vp_array_new(n, sizeof(uint32_t));
    fast->reached = vp_array_new(fast->n_servers, sizeof(uint32_t));
    if (fast->held == NULL || fast->moves == NULL || fast->spread == NULL || fast->matrix == NULL ||
        fast->queues == NULL || fast->reached == NULL) {
        return vp_error_no_memory(error, "the balancing of FAST");
    }
    for (i = 0; status == VP_OK && i < n; i++) {
        for (j = 0; j < n; j++) {
            if (i / fast->size != j / fast->size) {
                *held_at(fast, i, j) = vp_traffic_demand(fast->traffic, i, j);
            }
        }
        status = vp_network_add_queue(fast->traffic->machine->network, 1, &fast->queues[i], error);
    }
    return status;
}

static vp_status_t check_servers(const vp_traffic_t *traffic, vp_error_t *error)
{
    const vp_machine_t *machine = traffic->machine;
    uint32_t i;

    for (i = 1; i < machine->model->n_nodes; i++) {
        if (vp_node_size(machine, i) != vp_node_size(machine, 0)) {
            return vp_error_set(error, VP_ERR_UNSUPPORTED,
                                "algorithm \"fast\" needs nodes of equal size, which topology "
                                "\"%s\" does not have; leave it out",
                                machine->model->name);
        }
    }
    return VP_OK;
}

vp_status_t vp_baseline_fast(vp_traffic_t *traffic, vp_error_t *error)
{
    fast_t fast = {.traffic = traffic,
                   .n_servers = traffic->machine->model->n_nodes,
                   .size = vp_node_size(traffic->machine, 0)};
    vp_status_t status = check_servers(traffic, error);

    if (status == VP_OK) {
        status = prepare(&fast, error);
    }
    if (status == VP_OK) {
        status = balance(&fast, error);
    }
    if (status == VP_OK) {
        status = add_local(&fast, error);
    }
    if (status == VP_OK) {
        status = add_stages(&fast, error);
    }
    free(fast.reached);
    free(fast.queues);
    free(fast.matrix);
    free(fast.spread);
    free(fast.moves);
    free(fast.held);
    return status;
}
