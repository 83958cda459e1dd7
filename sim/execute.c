/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/execute.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const char *const texts[] = {"barrier", "free", "deps"};

const char *vp_execution_text(vp_execution_t execution)
{
    return (unsigned)execution < 3 ? texts[execution] : "unknown";
}

bool vp_execution_parse(const char *text, vp_execution_t *execution_p)
{
    int i;

    for (i = 0; i < 3; i++) {
        if (strcmp(texts[i], text) == 0) {
            *execution_p = (vp_execution_t)i;
            return true;
        }
    }
    return false;
}

/* One execution under way. A port is a rank's way out, its way in, or a resource. */
typedef struct play {
    vp_machine_t *machine;
    const vp_plan_t *plan;
    const vp_execute_options_t *options;
    uint32_t preamble; /* gate that opens after planning; VP_NO_GATE */
    uint32_t *last;    /* [ports] latest lane's flow of each port; UINT32_MAX */
    uint32_t *queues;  /* [n_ranks] */
} play_t;

static vp_status_t add_preamble(play_t *play, vp_error_t *error)
{
    vp_flow_t flow = {0};
    uint32_t index;
    vp_status_t status;

    play->preamble = VP_NO_GATE;
    if (play->options->preamble_ns == 0) {
        return VP_OK;
    }
    flow.overhead_ns = play->options->preamble_ns;
    flow.gate = VP_NO_GATE;
    flow.queue = VP_NO_QUEUE;
    status = vp_network_add_flow(play->machine->network, &flow, &index, error);
    if (status == VP_OK) {
        status = vp_network_add_gate(play->machine->network, &play->preamble, error);
    }
    return status == VP_OK ? vp_network_wait(play->machine->network, play->preamble, index, error)
                           : status;
}

static vp_status_t add_lane(play_t *play, const vp_lane_t *lane, uint32_t gate, uint32_t queue,
                            uint32_t *flow_p, vp_error_t *error)
{
    vp_path_t path;
    vp_flow_t flow = {.source = lane->source,
                      .n_bytes = lane->n_bytes,
                      .overhead_ns = play->options->alpha_ns,
                      .gate = gate,
                      .queue = queue,
                      .step = lane->activation};

    vp_path_over(play->machine, lane->source, lane->destination, lane->instance, &path);
    flow.n_links = path.n_links;
    flow.links = path.links;
    flow.bytes_per_s = path.bytes_per_s;
    return vp_network_add_flow(play->machine->network, &flow, flow_p, error);
}

static vp_status_t play_barrier(play_t *play, vp_error_t *error)
{
    vp_network_t *network = play->machine->network;
    const vp_plan_t *plan = play->plan;
    uint32_t gate = play->preamble;
    vp_status_t status = VP_OK;
    uint32_t activation;
    size_t i;

    for (activation = 0; status == VP_OK && activation < plan->n_activations; activation++) {
        uint32_t next;
        uint32_t flow;

        status = vp_network_add_gate(network, &next, error);
        for (i = plan->activation_begin[activation];
             status == VP_OK && i < plan->activation_begin[activation + 1]; i++) {
            status = add_lane(play, &plan->lanes[i], gate, VP_NO_QUEUE, &flow, error);
            if (status == VP_OK) {
                status = vp_network_wait(network, next, flow, error);
            }
        }
        gate = next;
    }
    return status;
}

static vp_status_t play_free(play_t *play, vp_error_t *error)
{
    vp_status_t status = VP_OK;
    uint32_t rank;
    size_t i;

    for (rank = 0; status == VP_OK && rank < play->plan->n_ranks; rank++) {
        status = vp_network_add_queue(play->machine->network, 1, &play->queues[rank], error);
    }
    for (i = 0; status == VP_OK && i < play->plan->n_lanes; i++) {
        const vp_lane_t *lane = &play->plan->lanes[i];

        status = add_lane(play, lane, play->preamble, play->queues[lane->source], NULL, error);
    }
    return status;
}

/* The ports of a lane are the links of its path. */
static vp_status_t chain_lane(play_t *play, const vp_lane_t *lane, vp_error_t *error)
{
    vp_network_t *network = play->machine->network;
    vp_path_t path;
    uint32_t gate;
    uint32_t flow;
    uint32_t i;
    uint32_t k;
    bool first = true;
    vp_status_t status = vp_network_add_gate(network, &gate, error);

    vp_path_over(play->machine, lane->source, lane->destination, lane->instance, &path);
    for (i = 0; status == VP_OK && i < path.n_links; i++) {
        uint32_t previous = play->last[path.links[i]];

        for (k = 0; k < i && play->last[path.links[k]] != previous; k++) {
        }
        if (previous != UINT32_MAX && k == i) {
            status = vp_network_wait(network, gate, previous, error);
            first = false;
        }
    }
    if (status == VP_OK) {
        status = add_lane(play, lane, first ? play->preamble : gate, VP_NO_QUEUE, &flow, error);
    }
    for (i = 0; status == VP_OK && i < path.n_links; i++) {
        play->last[path.links[i]] = flow;
    }
    return status;
}

static vp_status_t play_deps(play_t *play, vp_error_t *error)
{
    vp_status_t status = VP_OK;
    size_t i;

    for (i = 0; status == VP_OK && i < play->plan->n_lanes; i++) {
        status = chain_lane(play, &play->plan->lanes[i], error);
    }
    return status;
}

vp_status_t vp_execute_plan(vp_machine_t *machine, const vp_plan_t *plan,
                            const vp_execute_options_t *options, vp_error_t *error)
{
    play_t play = {machine, plan, options, VP_NO_GATE, NULL, NULL};
    uint32_t n_links = vp_network_n_links(machine->network);
    vp_status_t status;

    play.last = vp_array_new(n_links, sizeof(uint32_t));
    play.queues = vp_array_new(plan->n_ranks, sizeof(uint32_t));
    if (play.last == NULL || play.queues == NULL) {
        status = vp_error_no_memory(error, "the execution of a plan");
        goto out;
    }
    memset(play.last, 0xff, n_links * sizeof(uint32_t));
    status = add_preamble(&play, error);
    if (status != VP_OK) {
        goto out;
    }
    switch (options->execution) {
    case VP_EXECUTION_BARRIER:
        status = play_barrier(&play, error);
        break;
    case VP_EXECUTION_FREE:
        status = play_free(&play, error);
        break;
    default:
        status = play_deps(&play, error);
        break;
    }
out:
    free(play.queues);
    free(play.last);
    return status;
}
