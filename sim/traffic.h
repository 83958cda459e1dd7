/*
 * What every baseline is written in: messages over paths on one machine, with
 * the gates and queues of sim/network.h, and one table of overheads.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SIM_TRAFFIC_H
#define VP_SIM_TRAFFIC_H

#include "sim/machine.h"

/*
 * Overhead of one operation, the same for all algorithms, in units of the
 * topology's put_overhead_ns. The factors are assumptions, stated here once:
 * a one-sided put costs one post; a two-sided message a handshake and a post;
 * a message that a GPU kernel hands to a CPU proxy the hand-over and a post;
 * a copy between two GPUs of a node by a running kernel one post.
 */
#define VP_OPERATION_MAP(X)                                                                        \
    X(VP_OPERATION_PUT, 1)                                                                         \
    X(VP_OPERATION_MESSAGE, 2)                                                                     \
    X(VP_OPERATION_PROXY, 2)                                                                       \
    X(VP_OPERATION_COPY, 1)

typedef enum vp_operation {
#define VP_OPERATION_ENUM(name, factor) name,
    VP_OPERATION_MAP(VP_OPERATION_ENUM)
#undef VP_OPERATION_ENUM
        VP_N_OPERATIONS
} vp_operation_t;

typedef struct vp_traffic {
    vp_machine_t *machine;
    const uint64_t *demand_bytes; /* [n_ranks][n_ranks], row = source */
    uint32_t n_ranks;
    uint64_t n_steps; /* what the algorithm counts as its steps; 1 = everything at once */
} vp_traffic_t;

/* When a message starts. */
typedef struct vp_start {
    uint32_t gate;  /* VP_NO_GATE */
    uint32_t queue; /* VP_NO_QUEUE */
    uint32_t step;  /* only reported */
} vp_start_t;

#define VP_START_NOW ((vp_start_t){VP_NO_GATE, VP_NO_QUEUE, 0})

uint64_t vp_traffic_demand(const vp_traffic_t *traffic, uint32_t source, uint32_t destination);
uint64_t vp_operation_ns(const vp_traffic_t *traffic, vp_operation_t operation);

/* One message of n_bytes; flow_p may be NULL. */
vp_status_t vp_traffic_send(vp_traffic_t *traffic, uint32_t source, const vp_path_t *path,
                            uint64_t n_bytes, vp_operation_t operation, vp_start_t start,
                            uint32_t *flow_p, vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_traffic_gate(vp_traffic_t *traffic, uint32_t *gate_p,
                            vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_traffic_wait(vp_traffic_t *traffic, uint32_t gate, uint32_t flow,
                            vp_error_t *error) VP_MUST_CHECK;
/* A flow of no bytes and no time that is done once `gate` opens: gates can wait for it. */
vp_status_t vp_traffic_mark(vp_traffic_t *traffic, uint32_t gate, uint32_t *flow_p,
                            vp_error_t *error) VP_MUST_CHECK;
/* A gate that waits for `gate` to open. */
vp_status_t vp_traffic_chain(vp_traffic_t *traffic, uint32_t from, uint32_t to,
                             vp_error_t *error) VP_MUST_CHECK;

#endif
