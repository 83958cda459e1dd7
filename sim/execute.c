/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/execute.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const char *const texts[] = {"barrier", "free", "deps", "window"};

const char *vp_execution_text(vp_execution_t execution)
{
    return (unsigned)execution < 4 ? texts[execution] : "unknown";
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

vp_execution_t vp_execution_of(const vp_plan_t *plan, vp_execution_t asked)
{
    switch (plan->form.order) {
    case VP_PLAN_CONCURRENT:
        return VP_EXECUTION_WINDOW;
    case VP_PLAN_LIST:
        return asked == VP_EXECUTION_BARRIER ? VP_EXECUTION_DEPS : asked;
    default:
        return asked;
    }
}

/* A lane at one of its ports: a rank's way out, its way in, or a resource. */
typedef struct user {
    uint32_t flow;
    uint32_t next; /* in play_t's users; UINT32_MAX: none */
} user_t;

/* The lanes of the last two activations that used a port. */
typedef struct port {
    uint32_t activation; /* of `now` */
    uint32_t now;        /* first of a list in play_t's users; UINT32_MAX: empty */
    uint32_t before;
} port_t;

/* One execution under way. */
typedef struct play {
    vp_machine_t *machine;
    const vp_plan_t *plan;
    const vp_execute_options_t *options;
    uint64_t overhead_ns; /* of a lane */
    uint32_t preamble;    /* gate that opens after planning; VP_NO_GATE */
    port_t *ports;        /* [links] */
    user_t *users;        /* of all ports */
    size_t n_users, capacity_users;
    uint32_t *queues; /* [n_ranks] */
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
                      .overhead_ns = play->overhead_ns,
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

/* Each source runs its lanes in plan order, as many at a time as the plan's window. */
static vp_status_t play_queues(play_t *play, vp_error_t *error)
{
    vp_status_t status = VP_OK;
    uint32_t rank;
    size_t i;

    for (rank = 0; status == VP_OK && rank < play->plan->n_ranks; rank++) {
        status = vp_network_add_queue(play->machine->network, play->plan->form.window,
                                      &play->queues[rank], error);
    }
    for (i = 0; status == VP_OK && i < play->plan->n_lanes; i++) {
        const vp_lane_t *lane = &play->plan->lanes[i];

        status = add_lane(play, lane, play->preamble, play->queues[lane->source], NULL, error);
    }
    return status;
}

/* `gate` opens after the lanes of a list. */
static vp_status_t wait_for(play_t *play, uint32_t gate, uint32_t first, bool *waits_p,
                            vp_error_t *error)
{
    vp_status_t status = VP_OK;
    uint32_t at;

    for (at = first; status == VP_OK && at != UINT32_MAX; at = play->users[at].next) {
        status = vp_network_wait(play->machine->network, gate, play->users[at].flow, error);
        *waits_p = true;
    }
    return status;
}

/* Whether two lists name the same lanes: both ports had one and the same lane last. */
static bool is_same(const play_t *play, uint32_t one, uint32_t other)
{
    return one != UINT32_MAX && other != UINT32_MAX && play->users[one].next == UINT32_MAX &&
           play->users[other].next == UINT32_MAX &&
           play->users[one].flow == play->users[other].flow;
}

static vp_status_t use_port(play_t *play, port_t *port, uint32_t flow, vp_error_t *error)
{
    if (!vp_array_reserve(&play->users, &play->capacity_users, play->n_users + 1,
                          sizeof(*play->users))) {
        return vp_error_no_memory(error, "the execution of a plan");
    }
    play->users[play->n_users] = (user_t){flow, port->now};
    port->now = (uint32_t)play->n_users++;
    return VP_OK;
}

/* The ports of a lane are the links of its path. */
static vp_status_t chain_lane(play_t *play, const vp_lane_t *lane, vp_error_t *error)
{
    vp_path_t path;
    uint32_t gate;
    uint32_t flow;
    uint32_t i;
    uint32_t k;
    bool waits = false;
    vp_status_t status = vp_network_add_gate(play->machine->network, &gate, error);

    vp_path_over(play->machine, lane->source, lane->destination, lane->instance, &path);
    for (i = 0; status == VP_OK && i < path.n_links; i++) {
        port_t *port = &play->ports[path.links[i]];

        if (port->activation != lane->activation) {
            *port = (port_t){lane->activation, UINT32_MAX, port->now};
        }
        for (k = 0; k < i && !is_same(play, play->ports[path.links[k]].before, port->before); k++) {
        }
        if (k == i) {
            status = wait_for(play, gate, port->before, &waits, error);
        }
    }
    if (status == VP_OK) {
        status = add_lane(play, lane, waits ? gate : play->preamble, VP_NO_QUEUE, &flow, error);
    }
    for (i = 0; status == VP_OK && i < path.n_links; i++) {
        status = use_port(play, &play->ports[path.links[i]], flow, error);
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

static vp_status_t prepare(play_t *play, vp_error_t *error)
{
    uint32_t n_links = vp_network_n_links(play->machine->network);
    uint32_t i;

    play->ports = vp_array_new(n_links, sizeof(*play->ports));
    play->queues = vp_array_new(play->plan->n_ranks, sizeof(uint32_t));
    if (play->ports == NULL || play->queues == NULL) {
        return vp_error_no_memory(error, "the execution of a plan");
    }
    for (i = 0; i < n_links; i++) {
        play->ports[i] = (port_t){UINT32_MAX, UINT32_MAX, UINT32_MAX};
    }
    return add_preamble(play, error);
}

vp_status_t vp_execute_plan(vp_machine_t *machine, const vp_plan_t *plan,
                            const vp_execute_options_t *options, vp_error_t *error)
{
    play_t play = {.machine = machine,
                   .plan = plan,
                   .options = options,
                   .overhead_ns = options->alpha_ns,
                   .preamble = VP_NO_GATE};
    vp_status_t status = prepare(&play, error);

    if (status != VP_OK) {
        goto out;
    }
    switch (vp_execution_of(plan, options->execution)) {
    case VP_EXECUTION_BARRIER:
        status = play_barrier(&play, error);
        break;
    case VP_EXECUTION_DEPS:
        status = play_deps(&play, error);
        break;
    default:
        play.overhead_ns -= options->saved_ns;
        status = play_queues(&play, error);
        break;
    }
out:
    free(play.queues);
    free(play.users);
    free(play.ports);
    return status;
}
