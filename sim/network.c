/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/network.h"

#include <stdlib.h>

#include "base/array.h"
#include "sim/state.h"

vp_status_t vp_network_create(uint32_t n_sources, vp_network_t **network_p, vp_error_t *error)
{
    vp_network_t *network = calloc(1, sizeof(*network));

    if (network == NULL) {
        return vp_error_no_memory(error, "a simulated network");
    }
    network->n_sources = n_sources;
    *network_p = network;
    return VP_OK;
}

void vp_network_forget_flows(vp_network_t *network)
{
    size_t i;

    for (i = 0; i < network->n_links; i++) {
        free(network->links[i].members);
        free(network->links[i].source_flows);
        network->links[i].members = NULL;
        network->links[i].source_flows = NULL;
    }
    vp_events_release(&network->events);
    vp_events_release(&network->levels);
    free(network->changed);
    free(network->entered);
    free(network->visited);
    free(network->frozen);
    free(network->fill_flows);
    free(network->fill_links);
    free(network->link_fills);
    free(network->route_begin);
    free(network->unfrozen);
    free(network->flows);
    free(network->hops);
    free(network->gates);
    free(network->signals);
    free(network->queues);
    network->changed = network->entered = network->visited = network->frozen = NULL;
    network->fill_flows = network->fill_links = network->unfrozen = NULL;
    network->link_fills = NULL;
    network->route_begin = NULL;
    network->flows = NULL;
    network->hops = NULL;
    network->gates = NULL;
    network->signals = NULL;
    network->queues = NULL;
}

void vp_network_destroy(vp_network_t *network)
{
    if (network == NULL) {
        return;
    }
    vp_network_forget_flows(network);
    free(network->links);
    free(network->usage);
    free(network);
}

/* Room for one more element; indices stay below VP_NONE. */
static vp_status_t reserve(void *array_p, size_t *capacity_p, size_t n, size_t size,
                           const char *what, vp_error_t *error)
{
    if (n >= VP_NONE - 1) {
        return vp_error_set(error, VP_ERR_LIMIT,
                            "the simulation needs more than %u %s; simulate fewer ranks or a "
                            "sparser demand",
                            VP_NONE - 1, what);
    }
    if (!vp_array_reserve(array_p, capacity_p, n + 1, size)) {
        return vp_error_no_memory(error, what);
    }
    return VP_OK;
}

static void give(uint32_t *index_p, size_t index)
{
    if (index_p != NULL) {
        *index_p = (uint32_t)index;
    }
}

vp_status_t vp_network_add_link(vp_network_t *network, const vp_link_t *link, uint32_t *link_p,
                                vp_error_t *error)
{
    vp_link_run_t *run;
    vp_status_t status;

    if (link->bytes_per_s == 0 || link->bytes_per_s > VP_NETWORK_MAX_BYTES_PER_S) {
        return vp_error_set(error, VP_ERR_LIMIT,
                            "a simulated link runs at %llu bytes/s, outside 1 .. %llu; correct "
                            "the rate in the topology file",
                            (unsigned long long)link->bytes_per_s,
                            (unsigned long long)VP_NETWORK_MAX_BYTES_PER_S);
    }
    status = reserve(&network->links, &network->capacity_links, network->n_links, sizeof(*run),
                     "links", error);
    if (status != VP_OK) {
        return status;
    }
    run = &network->links[network->n_links];
    *run = (vp_link_run_t){.full = link->bytes_per_s << VP_RATE_BITS,
                           .n_shares = link->n_shares,
                           .share_ppm = link->share_ppm,
                           .latency_ns = link->latency_ns};
    run->capacity = run->full;
    give(link_p, network->n_links++);
    return VP_OK;
}

vp_status_t vp_network_add_gate(vp_network_t *network, uint32_t *gate_p, vp_error_t *error)
{
    vp_status_t status = reserve(&network->gates, &network->capacity_gates, network->n_gates,
                                 sizeof(*network->gates), "gates", error);

    if (status != VP_OK) {
        return status;
    }
    network->gates[network->n_gates] = (vp_gate_t){0, VP_NONE};
    give(gate_p, network->n_gates++);
    return VP_OK;
}

vp_status_t vp_network_add_queue(vp_network_t *network, uint32_t width, uint32_t *queue_p,
                                 vp_error_t *error)
{
    vp_status_t status = reserve(&network->queues, &network->capacity_queues, network->n_queues,
                                 sizeof(*network->queues), "queues", error);

    if (status != VP_OK) {
        return status;
    }
    network->queues[network->n_queues] = (vp_queue_t){VP_NONE, VP_NONE, width};
    give(queue_p, network->n_queues++);
    return VP_OK;
}

static vp_status_t add_route(vp_network_t *network, const vp_flow_t *flow, vp_flow_run_t *run,
                             vp_error_t *error)
{
    uint32_t i;

    if (flow->n_links > VP_NETWORK_MAX_ROUTE ||
        (flow->n_bytes > 0 && flow->n_links == 0 && flow->bytes_per_s == 0)) {
        return vp_error_set(error, VP_ERR_INTERNAL,
                            "a flow of rank %u has a route of %u links and no rate; this is a "
                            "bug in the simulator",
                            flow->source, flow->n_links);
    }
    if (network->n_hops + flow->n_links >= VP_NONE) {
        return vp_error_set(error, VP_ERR_LIMIT,
                            "the simulation needs more than %u steps of routes; simulate fewer "
                            "ranks or a sparser demand",
                            VP_NONE - 1);
    }
    if (!vp_array_reserve(&network->hops, &network->capacity_hops, network->n_hops + flow->n_links,
                          sizeof(*network->hops))) {
        return vp_error_no_memory(error, "routes");
    }
    run->route = network->n_hops;
    run->n_links = (uint16_t)flow->n_links;
    for (i = 0; i < flow->n_links; i++) {
        vp_link_run_t *link = &network->links[flow->links[i]];

        network->hops[network->n_hops + i] = (vp_hop_t){flow->links[i], 0};
        link->planned_bytes = vp_add_sat(link->planned_bytes, flow->n_bytes);
        if (link->full <= run->ceiling) {
            run->ceiling = link->full;
            run->limited = false;
        }
    }
    network->n_hops += flow->n_links;
    return VP_OK;
}

static void append_to_queue(vp_network_t *network, uint32_t index, uint32_t queue_index)
{
    vp_queue_t *queue = &network->queues[queue_index];

    if (queue->first == VP_NONE) {
        queue->first = index;
    } else {
        network->flows[queue->last].next_queued = index;
    }
    queue->last = index;
}

vp_status_t vp_network_add_flow(vp_network_t *network, const vp_flow_t *flow, uint32_t *flow_p,
                                vp_error_t *error)
{
    vp_flow_run_t *run;
    uint32_t index = (uint32_t)network->n_flows;
    vp_status_t status;

    status = reserve(&network->flows, &network->capacity_flows, network->n_flows, sizeof(*run),
                     "flows", error);
    if (status != VP_OK) {
        return status;
    }
    run = &network->flows[index];
    *run = (vp_flow_run_t){
        .remaining = (vp_uint128_t)flow->n_bytes * VP_NS_PER_S << VP_RATE_BITS,
        .finish_ns = VP_NEVER,
        .listed_ns = VP_NEVER,
        .limit = flow->bytes_per_s == 0 || flow->bytes_per_s > VP_NETWORK_MAX_BYTES_PER_S
                     ? VP_NETWORK_MAX_BYTES_PER_S << VP_RATE_BITS
                     : flow->bytes_per_s << VP_RATE_BITS,
        .limited = true,
        .n_bytes = flow->n_bytes,
        .overhead_ns = flow->overhead_ns,
        .source = flow->source,
        .gate = flow->gate,
        .queue = flow->queue,
        .step = flow->step,
        .next_waiting = VP_NONE,
        .first_signal = VP_NONE,
        .next_queued = VP_NONE,
    };
    run->ceiling = run->limit;
    status = add_route(network, flow, run, error);
    if (status != VP_OK) {
        return status;
    }
    if (flow->queue != VP_NO_QUEUE) {
        append_to_queue(network, index, flow->queue);
    } else if (flow->gate != VP_NO_GATE) {
        run->next_waiting = network->gates[flow->gate].first_waiting;
        network->gates[flow->gate].first_waiting = index;
    }
    network->n_flows++;
    give(flow_p, index);
    return VP_OK;
}

vp_status_t vp_network_wait(vp_network_t *network, uint32_t gate, uint32_t flow, vp_error_t *error)
{
    vp_status_t status = reserve(&network->signals, &network->capacity_signals, network->n_signals,
                                 sizeof(*network->signals), "dependencies", error);

    if (status != VP_OK) {
        return status;
    }
    network->signals[network->n_signals] = (vp_signal_t){gate, network->flows[flow].first_signal};
    network->flows[flow].first_signal = (uint32_t)network->n_signals++;
    network->gates[gate].n_open_after++;
    return VP_OK;
}

void vp_network_set_progress(vp_network_t *network, vp_network_progress_fn_t progress,
                             void *context)
{
    network->progress = progress;
    network->progress_context = context;
}

void vp_network_set_exact(vp_network_t *network, bool exact)
{
    network->exact = exact;
}

size_t vp_network_n_flows(const vp_network_t *network)
{
    return network->n_flows;
}

uint32_t vp_network_n_links(const vp_network_t *network)
{
    return (uint32_t)network->n_links;
}

uint64_t vp_network_link_bytes(const vp_network_t *network, uint32_t link)
{
    return network->links[link].bytes;
}

uint64_t vp_network_link_busy_ns(const vp_network_t *network, uint32_t link)
{
    return network->links[link].busy_ns;
}

uint64_t vp_network_flow_start_ns(const vp_network_t *network, uint32_t flow)
{
    return network->flows[flow].start_ns;
}

uint64_t vp_network_flow_done_ns(const vp_network_t *network, uint32_t flow)
{
    return network->flows[flow].done_ns;
}

uint64_t vp_network_flow_bytes(const vp_network_t *network, uint32_t flow)
{
    return network->flows[flow].n_bytes;
}

uint32_t vp_network_flow_source(const vp_network_t *network, uint32_t flow)
{
    return network->flows[flow].source;
}

uint32_t vp_network_flow_step(const vp_network_t *network, uint32_t flow)
{
    return network->flows[flow].step;
}

uint32_t vp_network_flow_n_links(const vp_network_t *network, uint32_t flow)
{
    return network->flows[flow].n_links;
}

uint32_t vp_network_flow_link(const vp_network_t *network, uint32_t flow, uint32_t hop)
{
    return network->hops[network->flows[flow].route + hop].link;
}
