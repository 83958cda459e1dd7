/*
 * A flow-level network: directed links, flows over routes, and the conditions
 * under which flows start. One run plays every flow to its end.
 *
 * Sharing. Links are shared max-min fairly, computed by progressive filling
 * over the connected component of links and flows that an event touched. Rates
 * are integers in 1/65536 byte per second, rounded down at each fill; bytes
 * left are exact; an event happens at the nearest nanosecond. Nothing depends
 * on floats, addresses or hash order: equal networks give equal results.
 *
 * Up to VP_NETWORK_EXACT_FLOWS concurrent flows, every event shares the links
 * anew. Above it, shares of ended flows are handed out again as soon as
 * 1/VP_NETWORK_BATCH of the flows have ended or started, at the latest after
 * 1/VP_NETWORK_BATCH of the time that the busiest link needs for all its
 * bytes. Until then they lie idle, so batching never shortens a run.
 *
 * Conditions. A flow starts once its gate is open and its queue has a free
 * slot. A gate opens when all flows that it waits for are done. A queue starts
 * its flows strictly in the order they were added, `width` at a time. After
 * its start a flow spends `overhead_ns`, then transfers, then spends the sum of
 * its links' latencies, then is done. A flow without bytes is a pure delay.
 *
 * Not thread-safe.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SIM_NETWORK_H
#define VP_SIM_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { VP_NETWORK_EXACT_FLOWS = 4096, VP_NETWORK_BATCH = 128 };

/* Limits that keep all products below 128 bits. */
#define VP_NETWORK_MAX_BYTES_PER_S (UINT64_C(1) << 47)
#define VP_NETWORK_MAX_FLOW_BYTES (UINT64_C(1) << 62)
enum { VP_NETWORK_MAX_ROUTE = 32 };

#define VP_NO_GATE UINT32_MAX
#define VP_NO_QUEUE UINT32_MAX

typedef struct vp_link {
    uint64_t bytes_per_s; /* 1 .. VP_NETWORK_MAX_BYTES_PER_S */
    uint64_t latency_ns;
    /* Total rate in parts per million with k distinct sources on the link:
       entry k - 1, the last entry for all larger k. Borrowed until the network
       is destroyed; 0 entries: always all of it. */
    uint32_t n_shares;
    const uint32_t *share_ppm;
} vp_link_t;

typedef struct vp_flow {
    uint32_t source; /* < n_sources: whose data it is, for contention tables */
    uint32_t n_links;
    const uint32_t *links; /* copied; a link may appear twice */
    uint64_t n_bytes;
    uint64_t bytes_per_s; /* the flow's own limit; 0: none */
    uint64_t overhead_ns;
    uint32_t gate;
    uint32_t queue;
    uint32_t step; /* activation or round it belongs to: only reported */
} vp_flow_t;

typedef struct vp_network_result {
    uint64_t time_ns;     /* when the last flow was done */
    uint64_t n_reshares;  /* progressive fillings computed */
    uint64_t max_idle_ns; /* longest that a freed share lay idle; 0: exact */
} vp_network_result_t;

typedef struct vp_network vp_network_t;

/* Called from time to time during a run with flows done and in all. */
typedef void (*vp_network_progress_fn_t)(void *context, size_t n_done, size_t n_flows);

vp_status_t vp_network_create(uint32_t n_sources, vp_network_t **network_p,
                              vp_error_t *error) VP_MUST_CHECK;
void vp_network_destroy(vp_network_t *network);

/* Each writes the index of what it added to its last argument but one (NULL: not wanted). */
vp_status_t vp_network_add_link(vp_network_t *network, const vp_link_t *link, uint32_t *link_p,
                                vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_network_add_gate(vp_network_t *network, uint32_t *gate_p,
                                vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_network_add_queue(vp_network_t *network, uint32_t width, uint32_t *queue_p,
                                 vp_error_t *error) VP_MUST_CHECK;
/* A flow with bytes needs a route or a limit of its own, else VP_ERR_INTERNAL. */
vp_status_t vp_network_add_flow(vp_network_t *network, const vp_flow_t *flow, uint32_t *flow_p,
                                vp_error_t *error) VP_MUST_CHECK;
/* `gate` opens only after `flow` is done. */
vp_status_t vp_network_wait(vp_network_t *network, uint32_t gate, uint32_t flow,
                            vp_error_t *error) VP_MUST_CHECK;

void vp_network_set_progress(vp_network_t *network, vp_network_progress_fn_t progress,
                             void *context);
/* Before the run: keep what every link carries over time. */
vp_status_t vp_network_keep_usage(vp_network_t *network, vp_error_t *error) VP_MUST_CHECK;
/* Shares links anew at every event, whatever the number of flows. */
void vp_network_set_exact(vp_network_t *network, bool exact);

/*
 * Runs once. VP_ERR_INTERNAL: flows that can never start (a cycle of gates and
 * queues), or bytes lost or gained on a link, which is checked in every run.
 */
vp_status_t vp_network_run(vp_network_t *network, vp_network_result_t *result_p,
                           vp_error_t *error) VP_MUST_CHECK;

size_t vp_network_n_flows(const vp_network_t *network);
uint32_t vp_network_n_links(const vp_network_t *network);
/* After the run: bytes over a link, the time that it carried any, when a flow was done. */
uint64_t vp_network_link_bytes(const vp_network_t *network, uint32_t link);
uint64_t vp_network_link_busy_ns(const vp_network_t *network, uint32_t link);

/*
 * Flows after the run. A flow without bytes is a delay. Forgetting flows frees
 * most of the network's memory; only the calls about links work afterwards.
 */
uint64_t vp_network_flow_done_ns(const vp_network_t *network, uint32_t flow);
uint64_t vp_network_flow_start_ns(const vp_network_t *network, uint32_t flow);
uint64_t vp_network_flow_bytes(const vp_network_t *network, uint32_t flow);
uint32_t vp_network_flow_source(const vp_network_t *network, uint32_t flow);
uint32_t vp_network_flow_step(const vp_network_t *network, uint32_t flow);
uint32_t vp_network_flow_n_links(const vp_network_t *network, uint32_t flow);
uint32_t vp_network_flow_link(const vp_network_t *network, uint32_t flow, uint32_t hop);
void vp_network_forget_flows(vp_network_t *network);

/*
 * Bytes that a link carried in the `slice`-th of VP_USAGE_SLICES equal parts of
 * time, each usage_slice_ns long (a power of two); 0 ns: usage was not kept.
 */
enum { VP_USAGE_SLICES = 256 };
uint64_t vp_network_usage_slice_ns(const vp_network_t *network);
uint64_t vp_network_link_usage(const vp_network_t *network, uint32_t link, uint32_t slice);

#endif
