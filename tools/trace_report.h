/*
 * What a recorded trace says: which kinds of paths carried how much, when
 * they stood still, and which lanes were slow.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_TRACE_REPORT_H
#define VP_TOOLS_TRACE_REPORT_H

#include "tools/trace_read.h"

/* One kind of path. Times are sums over the ranks that sent over it. */
typedef struct vp_trace_class {
    size_t n_lanes;
    uint64_t n_bytes;
    uint64_t lane_ns; /* of all lanes, those at once each */
    uint64_t time_ns; /* a lane or more under way */
    uint64_t
        idle_ns; /* within the calls in which the rank had lanes, none of this kind under way */
} vp_trace_class_t;

typedef struct vp_trace_report {
    const vp_trace_t *trace; /* borrowed */
    size_t n_calls[VP_TRACE_N_VERDICTS];
    uint64_t n_bytes; /* that the ranks sent, in all calls */
    uint64_t span_ns; /* from the first beginning to the last end */
    vp_trace_class_t classes[VP_N_PATH_KINDS];
    size_t *slowest; /* lanes, those first that lost most against their kind's mean rate */
    size_t n_slowest;
} vp_trace_report_t;

/* The lanes may be put into another order. VP_ERR_NO_MEMORY. */
vp_status_t vp_trace_report_make(vp_trace_t *trace, size_t max_slowest, vp_trace_report_t *report,
                                 vp_error_t *error) VP_MUST_CHECK;
void vp_trace_report_release(vp_trace_report_t *report);

/* How much longer the lane took than at its kind's mean rate; 0: it did not. */
uint64_t vp_trace_lost_ns(const vp_trace_report_t *report, const vp_trace_lane_t *lane);

/* Draws what every rank sent over time (path "-": standard output). VP_ERR_IO; VP_ERR_NO_MEMORY. */
vp_status_t vp_trace_draw(const vp_trace_t *trace, const char *path,
                          vp_error_t *error) VP_MUST_CHECK;

#endif
