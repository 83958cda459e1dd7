/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/network.h"

#include <stdlib.h>

#include "base/array.h"
#include "sim/state.h"

enum { PROGRESS_EVERY = 1024 }; /* flows done */

static vp_status_t schedule(vp_network_t *network, uint64_t delay_ns, uint32_t kind, uint32_t flow,
                            vp_error_t *error)
{
    vp_event_t event = {vp_add_sat(network->now_ns, delay_ns), kind, flow};

    return vp_events_push(&network->events, event) ? VP_OK : vp_error_no_memory(error, "events");
}

static vp_status_t begin(vp_network_t *network, uint32_t flow, vp_error_t *error)
{
    vp_flow_run_t *run = &network->flows[flow];

    run->state = VP_FLOW_STARTING;
    run->start_ns = network->now_ns;
    return schedule(network, run->overhead_ns, VP_EVENT_START, flow, error);
}

static bool is_closed(const vp_network_t *network, uint32_t gate)
{
    return gate != VP_NO_GATE && network->gates[gate].n_open_after > 0;
}

/* Starts flows of a queue while it has slots; a first flow with a closed gate waits there. */
static vp_status_t advance(vp_network_t *network, uint32_t index, vp_error_t *error)
{
    vp_queue_t *queue = &network->queues[index];
    vp_status_t status = VP_OK;

    while (status == VP_OK && queue->n_free > 0 && queue->first != VP_NONE) {
        uint32_t flow = queue->first;
        vp_flow_run_t *run = &network->flows[flow];

        if (is_closed(network, run->gate)) {
            if (run->state == VP_FLOW_WAITING) {
                run->state = VP_FLOW_GATED;
                run->next_waiting = network->gates[run->gate].first_waiting;
                network->gates[run->gate].first_waiting = flow;
            }
            break;
        }
        queue->first = run->next_queued;
        queue->n_free--;
        status = begin(network, flow, error);
    }
    return status;
}

static vp_status_t open_gate(vp_network_t *network, uint32_t index, vp_error_t *error)
{
    vp_status_t status = VP_OK;
    uint32_t flow = network->gates[index].first_waiting;

    while (status == VP_OK && flow != VP_NONE) {
        const vp_flow_run_t *run = &network->flows[flow];
        uint32_t next = run->next_waiting;

        if (run->queue != VP_NO_QUEUE) {
            status = advance(network, run->queue, error);
        } else {
            status = begin(network, flow, error);
        }
        flow = next;
    }
    return status;
}

static vp_status_t begin_all(vp_network_t *network, vp_error_t *error)
{
    vp_status_t status = VP_OK;
    uint32_t i;

    for (i = 0; status == VP_OK && i < network->n_queues; i++) {
        status = advance(network, i, error);
    }
    for (i = 0; status == VP_OK && i < network->n_flows; i++) {
        if (network->flows[i].queue == VP_NO_QUEUE && !is_closed(network, network->flows[i].gate)) {
            status = begin(network, i, error);
        }
    }
    return status;
}

static vp_status_t on_start(vp_network_t *network, uint32_t flow, vp_error_t *error)
{
    vp_flow_run_t *run = &network->flows[flow];

    if (run->n_bytes == 0) {
        run->state = VP_FLOW_ARRIVING;
        return schedule(network, 0, VP_EVENT_DONE, flow, error);
    }
    run->state = VP_FLOW_ACTIVE;
    return vp_fill_enter(network, flow, error);
}

/* What the flow moved must be what it had to move, up to half a nanosecond of its rate. */
static vp_status_t check_moved(const vp_network_t *network, uint32_t flow, vp_error_t *error)
{
    const vp_flow_run_t *run = &network->flows[flow];
    vp_uint128_t moved = (vp_uint128_t)run->rate * (network->now_ns - run->settled_ns);
    vp_uint128_t difference =
        moved > run->remaining ? moved - run->remaining : run->remaining - moved;

    if (difference > run->rate) {
        return vp_error_set(error, VP_ERR_INTERNAL,
                            "flow %u of %llu bytes ended at %llu ns with bytes missing or in "
                            "excess; this is a bug in the simulator",
                            flow, (unsigned long long)run->n_bytes,
                            (unsigned long long)network->now_ns);
    }
    return VP_OK;
}

static vp_status_t on_finish(vp_network_t *network, uint32_t flow, vp_error_t *error)
{
    vp_flow_run_t *run = &network->flows[flow];
    vp_status_t status;
    uint64_t latency_ns = 0;
    uint32_t i;

    if (run->state != VP_FLOW_ACTIVE || run->finish_ns != network->now_ns) {
        /* Its rate changed after this event was listed; another change may bring the end back. */
        run->listed_ns = run->listed_ns == network->now_ns ? VP_NEVER : run->listed_ns;
        return VP_OK;
    }
    status = check_moved(network, flow, error);
    vp_usage_note(network, run);
    if (status == VP_OK) {
        status = vp_fill_leave(network, flow, error);
    }
    for (i = 0; i < run->n_links; i++) {
        latency_ns =
            vp_add_sat(latency_ns, network->links[network->hops[run->route + i].link].latency_ns);
    }
    run->state = VP_FLOW_ARRIVING;
    return status != VP_OK ? status : schedule(network, latency_ns, VP_EVENT_DONE, flow, error);
}

static vp_status_t on_done(vp_network_t *network, uint32_t flow, vp_error_t *error)
{
    vp_flow_run_t *run = &network->flows[flow];
    vp_status_t status = VP_OK;
    uint32_t signal;

    run->state = VP_FLOW_DONE;
    run->done_ns = network->now_ns;
    network->n_done++;
    if (network->progress != NULL && network->n_done % PROGRESS_EVERY == 0) {
        network->progress(network->progress_context, network->n_done, network->n_flows);
    }
    for (signal = run->first_signal; status == VP_OK && signal != VP_NONE;
         signal = network->signals[signal].next) {
        uint32_t gate = network->signals[signal].gate;

        if (--network->gates[gate].n_open_after == 0) {
            status = open_gate(network, gate, error);
        }
    }
    if (status == VP_OK && run->queue != VP_NO_QUEUE) {
        network->queues[run->queue].n_free++;
        status = advance(network, run->queue, error);
    }
    return status;
}

static vp_status_t handle(vp_network_t *network, const vp_event_t *event, vp_error_t *error)
{
    switch (event->kind) {
    case VP_EVENT_FINISH:
        return on_finish(network, event->index, error);
    case VP_EVENT_DONE:
        return on_done(network, event->index, error);
    default:
        return on_start(network, event->index, error);
    }
}

static bool has_changes(const vp_network_t *network)
{
    return network->n_joined > 0 || network->n_left > 0;
}

/* Whether so much has changed that the links must be shared anew. */
static bool is_share_due(const vp_network_t *network)
{
    size_t n = network->n_joined > network->n_left ? network->n_joined : network->n_left;

    return network->exact || network->n_active <= VP_NETWORK_EXACT_FLOWS ||
           n >= network->n_active / VP_NETWORK_BATCH;
}

static vp_status_t loop(vp_network_t *network, vp_error_t *error)
{
    vp_status_t status = VP_OK;

    while (status == VP_OK && (network->events.n > 0 || has_changes(network))) {
        uint64_t next_ns = network->events.n > 0 ? network->events.items[0].key : VP_NEVER;
        uint64_t due_ns = vp_add_sat(network->changed_since_ns, network->patience_ns);

        if (has_changes(network) && next_ns > network->now_ns && is_share_due(network)) {
            status = vp_fill_share(network, error);
        } else if (has_changes(network) && next_ns > due_ns) {
            network->now_ns = due_ns;
            status = vp_fill_share(network, error);
        } else {
            vp_event_t event = vp_events_pop(&network->events);

            network->now_ns = event.key;
            status = handle(network, &event, error);
        }
    }
    return status;
}

/* The time that the busiest link needs for all its bytes. */
static uint64_t busiest_ns(const vp_network_t *network)
{
    uint64_t busiest = 0;
    size_t i;

    for (i = 0; i < network->n_links; i++) {
        uint64_t time_ns =
            vp_transfer_ns(network->links[i].planned_bytes, network->links[i].full >> VP_RATE_BITS);

        busiest = time_ns > busiest ? time_ns : busiest;
    }
    return busiest;
}

static vp_status_t check_links(const vp_network_t *network, vp_error_t *error)
{
    size_t i;

    if (network->n_done < network->n_flows) {
        return vp_error_set(error, VP_ERR_INTERNAL,
                            "%zu of %zu flows never started: their conditions form a cycle, or "
                            "their links have no rate; this is a bug in the algorithm's model",
                            network->n_flows - network->n_done, network->n_flows);
    }
    for (i = 0; i < network->n_links; i++) {
        if (network->links[i].bytes != network->links[i].planned_bytes) {
            return vp_error_set(error, VP_ERR_INTERNAL,
                                "link %zu carried %llu bytes instead of %llu; this is a bug in "
                                "the simulator",
                                i, (unsigned long long)network->links[i].bytes,
                                (unsigned long long)network->links[i].planned_bytes);
        }
    }
    return VP_OK;
}

static vp_status_t prepare(vp_network_t *network, vp_error_t *error)
{
    size_t i;

    network->visited = vp_array_new(network->n_flows, sizeof(uint32_t));
    network->frozen = vp_array_new(network->n_flows, sizeof(uint32_t));
    network->fill_flows = vp_array_new(network->n_flows + 1, sizeof(uint32_t));
    network->fill_links = vp_array_new(network->n_links, sizeof(uint32_t));
    network->link_fills = vp_array_new(network->n_links, sizeof(vp_link_fill_t));
    network->route_begin = vp_array_new(network->n_flows + 1, sizeof(uint32_t));
    if (network->visited == NULL || network->frozen == NULL || network->fill_flows == NULL ||
        network->fill_links == NULL || network->link_fills == NULL ||
        network->route_begin == NULL) {
        return vp_error_no_memory(error, "link sharing");
    }
    for (i = 0; i < network->n_flows; i++) {
        network->route_begin[i] = (uint32_t)network->flows[i].route;
    }
    network->route_begin[network->n_flows] = (uint32_t)network->n_hops;
    if (!network->exact && network->n_flows > VP_NETWORK_EXACT_FLOWS) {
        network->patience_ns = busiest_ns(network) / VP_NETWORK_BATCH;
    }
    return VP_OK;
}

vp_status_t vp_network_run(vp_network_t *network, vp_network_result_t *result_p, vp_error_t *error)
{
    vp_status_t status;

    if (network->ran) {
        return vp_error_set(error, VP_ERR_INTERNAL,
                            "a simulated network was run twice; this is a bug in the caller");
    }
    network->ran = true;
    status = prepare(network, error);
    if (status != VP_OK) {
        return status;
    }
    status = begin_all(network, error);
    if (status == VP_OK) {
        status = loop(network, error);
    }
    if (status == VP_OK) {
        status = check_links(network, error);
    }
    if (status == VP_OK) {
        *result_p =
            (vp_network_result_t){network->now_ns, network->n_reshares, network->max_idle_ns};
    }
    return status;
}
