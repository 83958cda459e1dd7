/*
 * Cheapest flow through a network, in integers, kept optimal while costs and
 * capacities change; private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_FLOW_H
#define VP_SCHEDULER_FLOW_H

#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct vp_arc {
    int64_t cost; /* of one unit; n_nodes times the largest stays below 2^62 */
    uint32_t tail;
    uint32_t head;
    uint32_t capacity;
    uint32_t flow;     /* above 0: the arc is in the list of its head */
    uint32_t previous; /* in that list, UINT32_MAX at its ends */
    uint32_t next;
} vp_arc_t;

typedef struct vp_flow_entry {
    int64_t distance;
    uint32_t node;
} vp_flow_entry_t;

/*
 * The owner adds all arcs between init and open, which sorts them by tail.
 * Costs, capacities and excess may change any time.
 */
typedef struct vp_flow {
    uint32_t n_nodes;
    uint32_t n_arcs;
    vp_arc_t *arcs;      /* [n_arcs] */
    uint32_t *place;     /* [n_arcs] index into arcs by order of addition */
    uint32_t *out_begin; /* [n_nodes + 1] arcs by tail */
    uint32_t *fed_by;    /* [n_nodes] first arc with flow into a node, UINT32_MAX: none */
    int64_t *excess;     /* [n_nodes] units that come in and do not go out; sum 0 */
    int64_t *potential;  /* [n_nodes] */
    int64_t *label;      /* [n_nodes] distance + potential */
    uint32_t *current;   /* [n_nodes] next arc out to try of each node on the search's way */
    uint32_t *way; /* [n_nodes] links of the way: 2 * arc, or 2 * arc + 1 to go back over it */
    bool *visited; /* [n_nodes] */
    vp_flow_entry_t *heap;
    size_t n_heap;
} vp_flow_t;

vp_status_t vp_flow_init(vp_flow_t *flow, uint32_t max_nodes, uint32_t max_arcs,
                         vp_error_t *error) VP_MUST_CHECK;
/* Also after a failed or never made init of a zeroed record. */
void vp_flow_release(vp_flow_t *flow);

/* Returns the new arc's number, for vp_flow_arc. */
uint32_t vp_flow_add(vp_flow_t *flow, uint32_t tail, uint32_t head, uint32_t capacity);
vp_status_t vp_flow_open(vp_flow_t *flow, vp_error_t *error) VP_MUST_CHECK;

static inline vp_arc_t *vp_flow_arc(const vp_flow_t *flow, uint32_t number)
{
    return &flow->arcs[flow->place[number]];
}

/* No flow, no excess, no memory of the last solution. */
void vp_flow_reset(vp_flow_t *flow);

/*
 * Routes all excess at the least cost for the arcs' present costs and
 * capacities, starting from the last solution. The network must have room for
 * the excess. Equal sequences of calls give equal flows.
 */
void vp_flow_settle(vp_flow_t *flow);

#endif
