/*
 * Primal-dual minimum-cost flow. Potentials from the last solution stay; arcs
 * that contradict them are filled or emptied, and the excess which that leaves
 * is routed along shortest ways, as many at once as one search finds.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define NONE UINT32_MAX

vp_status_t vp_flow_init(vp_flow_t *flow, uint32_t max_nodes, uint32_t max_arcs, vp_error_t *error)
{
    *flow = (vp_flow_t){.n_nodes = max_nodes};
    flow->arcs = vp_array_new(max_arcs, sizeof(*flow->arcs));
    flow->place = vp_array_new(max_arcs, sizeof(*flow->place));
    flow->out_begin = vp_array_new((size_t)max_nodes + 2, sizeof(*flow->out_begin));
    flow->fed_by = vp_array_new(max_nodes, sizeof(*flow->fed_by));
    flow->excess = vp_array_new(max_nodes, sizeof(*flow->excess));
    flow->potential = vp_array_new(max_nodes, sizeof(*flow->potential));
    flow->label = vp_array_new(max_nodes, sizeof(*flow->label));
    flow->current = vp_array_new(max_nodes, sizeof(*flow->current));
    flow->way = vp_array_new(max_nodes, sizeof(*flow->way));
    flow->visited = vp_array_new(max_nodes, sizeof(*flow->visited));
    flow->heap = vp_array_new(2 * (size_t)max_arcs + max_nodes, sizeof(*flow->heap));
    if (flow->arcs == NULL || flow->place == NULL || flow->out_begin == NULL ||
        flow->fed_by == NULL || flow->excess == NULL || flow->potential == NULL ||
        flow->label == NULL || flow->current == NULL || flow->way == NULL ||
        flow->visited == NULL || flow->heap == NULL) {
        vp_flow_release(flow);
        return vp_error_no_memory(error, "a flow network");
    }
    return VP_OK;
}

void vp_flow_release(vp_flow_t *flow)
{
    free(flow->heap);
    free(flow->visited);
    free(flow->way);
    free(flow->current);
    free(flow->label);
    free(flow->potential);
    free(flow->excess);
    free(flow->fed_by);
    free(flow->out_begin);
    free(flow->place);
    free(flow->arcs);
    *flow = (vp_flow_t){0};
}

uint32_t vp_flow_add(vp_flow_t *flow, uint32_t tail, uint32_t head, uint32_t capacity)
{
    flow->arcs[flow->n_arcs] = (vp_arc_t){.tail = tail, .head = head, .capacity = capacity};
    return flow->n_arcs++;
}

vp_status_t vp_flow_open(vp_flow_t *flow, vp_error_t *error)
{
    uint32_t *end = flow->out_begin + 1; /* of each node's arcs, while they are placed */
    vp_arc_t *sorted = vp_array_new(flow->n_arcs, sizeof(*sorted));
    uint32_t i;

    if (sorted == NULL) {
        return vp_error_no_memory(error, "a flow network");
    }
    for (i = 0; i < flow->n_arcs; i++) {
        end[flow->arcs[i].tail + 1]++;
    }
    for (i = 0; i < flow->n_nodes; i++) {
        end[i + 1] += end[i];
    }
    for (i = 0; i < flow->n_arcs; i++) {
        flow->place[i] = end[flow->arcs[i].tail]++;
        sorted[flow->place[i]] = flow->arcs[i];
    }
    free(flow->arcs);
    flow->arcs = sorted;
    vp_flow_reset(flow);
    return VP_OK;
}

void vp_flow_reset(vp_flow_t *flow)
{
    uint32_t i;

    for (i = 0; i < flow->n_arcs; i++) {
        flow->arcs[i].flow = 0;
    }
    for (i = 0; i < flow->n_nodes; i++) {
        flow->fed_by[i] = NONE;
        flow->excess[i] = 0;
        flow->potential[i] = 0;
    }
}

/* Sets the flow of an arc and whether it is in its head's list. */
static void set_flow(vp_flow_t *flow, uint32_t number, uint32_t amount)
{
    vp_arc_t *arc = &flow->arcs[number];
    uint32_t *first = &flow->fed_by[arc->head];

    if (arc->flow == 0 && amount > 0) {
        arc->previous = NONE;
        arc->next = *first;
        if (*first != NONE) {
            flow->arcs[*first].previous = number;
        }
        *first = number;
    } else if (arc->flow > 0 && amount == 0) {
        if (arc->next != NONE) {
            flow->arcs[arc->next].previous = arc->previous;
        }
        if (arc->previous != NONE) {
            flow->arcs[arc->previous].next = arc->next;
        } else {
            *first = arc->next;
        }
    }
    arc->flow = amount;
}

static inline int64_t reduced_cost(const vp_flow_t *flow, const vp_arc_t *arc)
{
    return arc->cost + flow->potential[arc->tail] - flow->potential[arc->head];
}

/* Fills and empties arcs as the potentials tell. */
static void obey_potentials(vp_flow_t *flow)
{
    uint32_t i;

    for (i = 0; i < flow->n_arcs; i++) {
        const vp_arc_t *arc = &flow->arcs[i];
        int64_t cost = reduced_cost(flow, arc);
        uint32_t wanted = arc->flow < arc->capacity ? arc->flow : arc->capacity;

        if (cost != 0) {
            wanted = cost < 0 ? arc->capacity : 0;
        }
        if (wanted != arc->flow) {
            flow->excess[arc->tail] += (int64_t)arc->flow - wanted;
            flow->excess[arc->head] -= (int64_t)arc->flow - wanted;
            set_flow(flow, i, wanted);
        }
    }
}

static bool comes_first(vp_flow_entry_t a, vp_flow_entry_t b)
{
    return a.distance != b.distance ? a.distance < b.distance : a.node < b.node;
}

static void push(vp_flow_t *flow, int64_t distance, uint32_t node)
{
    vp_flow_entry_t entry = {distance, node};
    size_t at = flow->n_heap++;

    for (; at > 0 && comes_first(entry, flow->heap[(at - 1) / 2]); at = (at - 1) / 2) {
        flow->heap[at] = flow->heap[(at - 1) / 2];
    }
    flow->heap[at] = entry;
}

static vp_flow_entry_t pop(vp_flow_t *flow)
{
    vp_flow_entry_t top = flow->heap[0];
    vp_flow_entry_t last = flow->heap[--flow->n_heap];
    size_t at = 0;

    for (;;) {
        size_t child = 2 * at + 1;

        if (child + 1 < flow->n_heap && comes_first(flow->heap[child + 1], flow->heap[child])) {
            child++;
        }
        if (child >= flow->n_heap || comes_first(last, flow->heap[child])) {
            flow->heap[at] = last;
            return top;
        }
        flow->heap[at] = flow->heap[child];
        at = child;
    }
}

static void reach(vp_flow_t *flow, uint32_t node, int64_t label)
{
    if (label < flow->label[node]) {
        flow->label[node] = label;
        push(flow, label - flow->potential[node], node);
    }
}

static void relax(vp_flow_t *flow, uint32_t node)
{
    int64_t label = flow->label[node];
    uint32_t i;

    for (i = flow->out_begin[node]; i < flow->out_begin[node + 1]; i++) {
        const vp_arc_t *arc = &flow->arcs[i];

        if (arc->flow < arc->capacity) {
            reach(flow, arc->head, label + arc->cost);
        }
    }
    for (i = flow->fed_by[node]; i != NONE; i = flow->arcs[i].next) {
        reach(flow, flow->arcs[i].tail, label - flow->arcs[i].cost);
    }
}

/*
 * Labels of the nodes nearest to excess, until they miss as many units as there
 * are too many. Returns the distance up to which labels are final.
 */
static int64_t search_distances(vp_flow_t *flow)
{
    int64_t farthest = 0;
    int64_t n_excess = 0;
    uint32_t node;

    flow->n_heap = 0;
    for (node = 0; node < flow->n_nodes; node++) {
        flow->label[node] = INT64_MAX;
        if (flow->excess[node] > 0) {
            reach(flow, node, flow->potential[node]);
            n_excess += flow->excess[node];
        }
    }
    while (flow->n_heap > 0 && n_excess > 0) {
        vp_flow_entry_t entry = pop(flow);

        if (entry.distance == flow->label[entry.node] - flow->potential[entry.node]) {
            farthest = entry.distance;
            n_excess += flow->excess[entry.node] < 0 ? flow->excess[entry.node] : 0;
            relax(flow, entry.node);
        }
    }
    return farthest;
}

/*
 * Potentials under which shortest ways up to that distance cost nothing. They
 * stay >= 0 and the least of them is 0.
 */
static void raise_potentials(vp_flow_t *flow, int64_t farthest)
{
    int64_t least = INT64_MAX;
    uint32_t node;

    for (node = 0; node < flow->n_nodes; node++) {
        int64_t limit = flow->potential[node] + farthest;

        flow->potential[node] = flow->label[node] < limit ? flow->label[node] : limit;
        least = flow->potential[node] < least ? flow->potential[node] : least;
    }
    for (node = 0; node < flow->n_nodes; node++) {
        flow->potential[node] -= least;
    }
}

static bool costs_nothing(const vp_flow_t *flow, const vp_arc_t *arc)
{
    return reduced_cost(flow, arc) == 0;
}

/* A link of a node that costs nothing, has room and leads to a node that is new. */
static bool advance(vp_flow_t *flow, uint32_t node, uint32_t *link_p)
{
    uint32_t i;

    for (; flow->current[node] < flow->out_begin[node + 1]; flow->current[node]++) {
        const vp_arc_t *arc = &flow->arcs[flow->current[node]];

        if (arc->flow < arc->capacity && !flow->visited[arc->head] && costs_nothing(flow, arc)) {
            *link_p = 2 * flow->current[node];
            return true;
        }
    }
    for (i = flow->fed_by[node]; i != NONE; i = flow->arcs[i].next) {
        if (!flow->visited[flow->arcs[i].tail] && costs_nothing(flow, &flow->arcs[i])) {
            *link_p = 2 * i + 1;
            return true;
        }
    }
    return false;
}

static uint32_t link_target(const vp_flow_t *flow, uint32_t link)
{
    return link % 2 == 0 ? flow->arcs[link / 2].head : flow->arcs[link / 2].tail;
}

static int64_t link_room(const vp_flow_t *flow, uint32_t link)
{
    const vp_arc_t *arc = &flow->arcs[link / 2];

    return link % 2 == 0 ? arc->capacity - arc->flow : arc->flow;
}

/* Sends what the way, its source and its end have room for; later ways may use its nodes again. */
static void send(vp_flow_t *flow, uint32_t source, uint32_t end, uint32_t n_links)
{
    int64_t amount = flow->excess[source];
    uint32_t i;

    amount = -flow->excess[end] < amount ? -flow->excess[end] : amount;
    for (i = 0; i < n_links; i++) {
        int64_t room = link_room(flow, flow->way[i]);

        amount = room < amount ? room : amount;
    }
    for (i = 0; i < n_links; i++) {
        uint32_t link = flow->way[i];
        int64_t before = flow->arcs[link / 2].flow;

        flow->visited[link_target(flow, link)] = false;
        set_flow(flow, link / 2, (uint32_t)(link % 2 == 0 ? before + amount : before - amount));
    }
    flow->excess[source] -= amount;
    flow->excess[end] += amount;
}

/* Depth-first from `source` over links that cost nothing, until an end that misses units. */
static bool find_way(vp_flow_t *flow, uint32_t source, uint32_t *n_links_p, uint32_t *end_p)
{
    uint32_t node = source;
    uint32_t n_links = 0;

    flow->visited[source] = true;
    while (flow->excess[node] >= 0) {
        uint32_t link;

        if (advance(flow, node, &link)) {
            flow->way[n_links++] = link;
            node = link_target(flow, link);
            flow->visited[node] = true;
        } else if (n_links == 0) {
            return false;
        } else {
            node = link_target(flow, flow->way[--n_links] ^ 1);
        }
    }
    *n_links_p = n_links;
    *end_p = node;
    return true;
}

/* Sends excess over ways that cost nothing; the first search of a round always finds one. */
static void send_along_shortest(vp_flow_t *flow)
{
    uint32_t source;

    memcpy(flow->current, flow->out_begin, flow->n_nodes * sizeof(*flow->current));
    memset(flow->visited, 0, flow->n_nodes * sizeof(*flow->visited));
    for (source = 0; source < flow->n_nodes; source++) {
        uint32_t n_links;
        uint32_t end;

        while (flow->excess[source] > 0 && find_way(flow, source, &n_links, &end)) {
            send(flow, source, end, n_links);
        }
    }
}

static bool has_excess(const vp_flow_t *flow)
{
    uint32_t node;

    for (node = 0; node < flow->n_nodes && flow->excess[node] <= 0; node++) {
    }
    return node < flow->n_nodes;
}

void vp_flow_settle(vp_flow_t *flow)
{
    obey_potentials(flow);
    while (has_excess(flow)) {
        raise_potentials(flow, search_distances(flow));
        send_along_shortest(flow);
    }
}
