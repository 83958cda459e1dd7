/*
 * What a network holds; private to network.c (building), fill.c (sharing) and
 * run.c (events).
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SIM_STATE_H
#define VP_SIM_STATE_H

#include "base/units.h"
#include "sim/events.h"
#include "sim/network.h"

#define VP_NONE UINT32_MAX
#define VP_NEVER UINT64_MAX

enum { VP_RATE_BITS = 16 }; /* rates are in 2^-16 byte per second */

/* Kinds of events. At one instant, ends come before arrivals, arrivals before starts. */
enum { VP_EVENT_FINISH, VP_EVENT_DONE, VP_EVENT_START };

typedef enum vp_flow_state {
    VP_FLOW_WAITING,
    VP_FLOW_GATED,    /* first of its queue, listed at its gate */
    VP_FLOW_STARTING, /* overhead runs */
    VP_FLOW_ACTIVE,   /* on the links */
    VP_FLOW_ARRIVING, /* latency runs */
    VP_FLOW_DONE
} vp_flow_state_t;

/* What a fill touches comes first and fills one cache line. */
typedef struct vp_flow_run {
    vp_uint128_t remaining; /* rate units times ns, exact */
    uint64_t rate;          /* 0: not yet shared in */
    uint64_t settled_ns;    /* when `remaining` was true */
    uint64_t finish_ns;     /* at this rate */
    size_t route;           /* first entry in hops */
    uint16_t n_links;
    uint8_t state;
    bool limited; /* its own limit is tighter than its links */
    uint32_t source;

    uint64_t limit;     /* own limit, in rate units */
    uint64_t ceiling;   /* least of limit and the links' full rates */
    uint64_t listed_ns; /* the finish that the event queue knows */
    uint64_t n_bytes;
    uint64_t overhead_ns;
    uint64_t start_ns;
    uint64_t done_ns;
    uint32_t gate;
    uint32_t queue;
    uint32_t next_waiting; /* of the same gate */
    uint32_t first_signal;
    uint32_t next_queued;
    uint32_t step;
} vp_flow_run_t;

/* One step of a route, and where the flow stands among the link's members. */
typedef struct vp_hop {
    uint32_t link;
    uint32_t position;
} vp_hop_t;

typedef struct vp_member_ref {
    uint32_t flow;
    uint32_t hop; /* hops after the flow's first */
} vp_member_ref_t;

/* What fills need of a link; small, so that those of all links stay in a cache. */
typedef struct vp_link_fill {
    uint64_t left;    /* rate that is not given away yet */
    uint32_t n_left;  /* flows without a rate */
    uint32_t visited; /* fill number whose component the link is part of */
    uint32_t reached; /* fill number that looked at the link */
} vp_link_fill_t;

typedef struct vp_link_run {
    uint64_t full;     /* rate units */
    uint64_t capacity; /* with the sources of now */
    uint32_t n_sources;
    uint32_t n_shares;
    bool contended;        /* its flows could overload it */
    bool changed;          /* listed in network->changed */
    vp_uint128_t ceilings; /* sum over its members */
    vp_member_ref_t *members;
    size_t n_members;
    size_t capacity_members;
    uint32_t *source_flows; /* [n_sources] members of each source; NULL until needed */
    const uint32_t *share_ppm;
    uint64_t latency_ns;
    uint64_t planned_bytes;
    uint64_t bytes;
    uint64_t busy_ns;
    uint64_t busy_since_ns;
} vp_link_run_t;

typedef struct vp_gate {
    uint32_t n_open_after; /* arrivals still missing */
    uint32_t first_waiting;
} vp_gate_t;

typedef struct vp_signal {
    uint32_t gate;
    uint32_t next;
} vp_signal_t;

typedef struct vp_queue {
    uint32_t first;
    uint32_t last;
    uint32_t n_free;
} vp_queue_t;

struct vp_network {
    uint32_t n_sources;
    vp_link_run_t *links;
    size_t n_links, capacity_links;
    vp_flow_run_t *flows;
    size_t n_flows, capacity_flows;
    vp_hop_t *hops;
    size_t n_hops, capacity_hops;
    vp_gate_t *gates;
    size_t n_gates, capacity_gates;
    vp_signal_t *signals;
    size_t n_signals, capacity_signals;
    vp_queue_t *queues;
    size_t n_queues, capacity_queues;

    vp_uint128_t *usage; /* [n_links][VP_USAGE_SLICES] rate units times ns; NULL: not kept */
    uint64_t slice_ns;

    vp_events_t events;
    uint64_t now_ns;
    size_t n_done;
    size_t n_active;
    bool exact;
    bool ran;
    vp_network_progress_fn_t progress;
    void *progress_context;

    /* Changes since the links were last shared. */
    uint32_t *changed; /* links */
    size_t n_changed, capacity_changed;
    uint32_t *entered; /* flows */
    size_t n_entered, capacity_entered;
    size_t n_joined; /* flows */
    size_t n_left;
    uint64_t changed_since_ns;
    uint64_t patience_ns; /* longest that a change may wait */

    /* Scratch of fills. */
    uint32_t fill;
    uint32_t *visited;    /* [n_flows] fill number that reached the flow */
    uint32_t *frozen;     /* [n_flows] fill number that gave it its rate */
    uint32_t *fill_flows; /* [n_flows + 1] the component */
    size_t n_fill_flows;
    uint32_t *fill_links;       /* [n_links] */
    vp_link_fill_t *link_fills; /* [n_links] */
    uint32_t *route_begin;      /* [n_flows + 1] into hops: the same as the flows' route */
    size_t n_fill_links;
    uint32_t *unfrozen; /* of one link */
    size_t capacity_unfrozen;
    vp_events_t levels;
    uint64_t n_reshares;
    uint64_t max_idle_ns;
};

/* usage.c: a flow kept its rate from settled_ns until now. */
void vp_usage_note(vp_network_t *network, const vp_flow_run_t *run);

/* fill.c: an active flow takes or leaves its links; then sharing anew. */
vp_status_t vp_fill_enter(vp_network_t *network, uint32_t flow, vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_fill_leave(vp_network_t *network, uint32_t flow, vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_fill_share(vp_network_t *network, vp_error_t *error) VP_MUST_CHECK;

#endif
