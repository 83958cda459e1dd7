/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/steps.h"

#include <stdlib.h>

#include "base/array.h"
#include "sim/traffic.h"

/* What later transfers wait for: the transfers of the latest step of a link, sender or pair. */
typedef struct turn {
    uint32_t step;
    uint32_t now;    /* gate that opens when the transfers of `step` are done */
    uint32_t before; /* the same for the step before; VP_NO_GATE */
} turn_t;

typedef struct play {
    vp_traffic_t traffic;
    const vp_steps_t *steps;
    turn_t *links; /* deps: [links]; free: [n_ranks]; barrier: [1] */
    turn_t *pairs; /* [n_ranks^3]: what arrived of a pair at a rank */
} play_t;

/* The turn moves on to this step: what was now is before. */
static vp_status_t advance(play_t *play, turn_t *turn, uint32_t step, vp_error_t *error)
{
    vp_status_t status;

    if (turn->now != VP_NO_GATE && turn->step == step) {
        return VP_OK;
    }
    turn->before = turn->now;
    turn->step = step;
    status = vp_traffic_gate(&play->traffic, &turn->now, error);
    if (status == VP_OK && turn->before != VP_NO_GATE) {
        status = vp_traffic_chain(&play->traffic, turn->before, turn->now, error);
    }
    return status;
}

/* The turns that a transfer waits for and makes others wait for; returns their number. */
static uint32_t list_turns(play_t *play, const vp_transfer_t *it, const vp_path_t *path,
                           turn_t **turns)
{
    uint32_t i;

    switch (play->steps->execution) {
    case VP_EXECUTION_BARRIER:
        turns[0] = &play->links[0];
        return 1;
    case VP_EXECUTION_FREE:
        turns[0] = &play->links[it->from];
        return 1;
    default:
        for (i = 0; i < path->n_links; i++) {
            turns[i] = &play->links[path->links[i]];
        }
        return path->n_links;
    }
}

static turn_t *pair_turn(play_t *play, const vp_transfer_t *it, uint32_t rank)
{
    size_t n = play->steps->n_ranks;

    return &play->pairs[((size_t)it->origin * n + it->final) * n + rank];
}

static vp_status_t wait_for(play_t *play, uint32_t gate, uint32_t earlier, vp_error_t *error)
{
    return earlier == VP_NO_GATE ? VP_OK : vp_traffic_chain(&play->traffic, earlier, gate, error);
}

/* Bytes of others wait for what earlier steps brought. */
static vp_status_t wait_for_bytes(play_t *play, const vp_transfer_t *it, uint32_t gate,
                                  vp_error_t *error)
{
    const turn_t *turn = pair_turn(play, it, it->from);

    if (it->from == it->origin) {
        return VP_OK;
    }
    return wait_for(play, gate, turn->step < it->step ? turn->now : turn->before, error);
}

static vp_status_t add_transfer(play_t *play, const vp_transfer_t *it, vp_error_t *error)
{
    turn_t *turns[VP_NETWORK_MAX_ROUTE];
    turn_t *arrival = pair_turn(play, it, it->to);
    vp_operation_t operation;
    vp_start_t start = VP_START_NOW;
    vp_path_t path;
    uint32_t flow;
    uint32_t n_turns;
    uint32_t i;
    vp_status_t status = vp_traffic_gate(&play->traffic, &start.gate, error);

    start.step = it->step;
    vp_path_over(play->traffic.machine, it->from, it->to, it->instance, &path);
    operation = path.kind == VP_PATH_NIC ? VP_OPERATION_PROXY : VP_OPERATION_COPY;
    n_turns = list_turns(play, it, &path, turns);
    for (i = 0; status == VP_OK && i < n_turns; i++) {
        status = advance(play, turns[i], it->step, error);
        if (status == VP_OK) {
            status = wait_for(play, start.gate, turns[i]->before, error);
        }
    }
    if (status == VP_OK) {
        status = wait_for_bytes(play, it, start.gate, error);
    }
    if (status == VP_OK) {
        status = advance(play, arrival, it->step, error);
    }
    if (status == VP_OK) {
        status = vp_traffic_send(&play->traffic, it->from, &path, it->n_bytes, operation, start,
                                 &flow, error);
    }
    for (i = 0; status == VP_OK && i < n_turns; i++) {
        status = vp_traffic_wait(&play->traffic, turns[i]->now, flow, error);
    }
    return status == VP_OK ? vp_traffic_wait(&play->traffic, arrival->now, flow, error) : status;
}

static turn_t *new_turns(size_t n)
{
    turn_t *turns = vp_array_new(n, sizeof(*turns));
    size_t i;

    for (i = 0; turns != NULL && i < n; i++) {
        turns[i] = (turn_t){0, VP_NO_GATE, VP_NO_GATE};
    }
    return turns;
}

vp_status_t vp_execute_steps(vp_machine_t *machine, const vp_steps_t *steps, vp_error_t *error)
{
    size_t n = steps->n_ranks;
    play_t play = {{machine, NULL, steps->n_ranks, 0}, steps, NULL, NULL};
    vp_status_t status = VP_OK;
    size_t i;

    play.links = new_turns(vp_network_n_links(machine->network));
    play.pairs = new_turns(n * n * n);
    if (play.links == NULL || play.pairs == NULL) {
        status = vp_error_no_memory(error, "the execution of a schedule");
    }
    for (i = 0; status == VP_OK && i < steps->n_transfers; i++) {
        status = add_transfer(&play, &steps->transfers[i], error);
    }
    free(play.pairs);
    free(play.links);
    return status;
}
