/*
 * Traces that the component has recorded (coll_variopath_trace), in both of
 * its formats: events of the Chrome trace format, or a line of JSON per call.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_TRACE_READ_H
#define VP_TOOLS_TRACE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "catalog/model.h"

/* What became of a call; the order is that of `variopath trace`'s report. */
typedef enum vp_trace_verdict {
    VP_TRACE_CARRIED,
    VP_TRACE_STAGED,
    VP_TRACE_PASSED_ON,
    VP_TRACE_N_VERDICTS
} vp_trace_verdict_t;

typedef struct vp_trace_call {
    uint32_t rank; /* in MPI_COMM_WORLD */
    uint64_t number;
    vp_trace_verdict_t verdict;
    uint64_t start_ns; /* since the first event of the trace, once it is sorted */
    uint64_t end_ns;
    uint64_t n_bytes; /* that the rank sent */
} vp_trace_call_t;

typedef struct vp_trace_lane {
    uint32_t rank; /* its source */
    uint32_t destination;
    vp_path_kind_t kind;
    uint32_t row; /* place among the lanes under way, from 0 */
    uint32_t activation;
    size_t call; /* index into calls */
    uint64_t start_ns;
    uint64_t end_ns;
    uint64_t n_bytes;
} vp_trace_lane_t;

typedef struct vp_trace {
    vp_trace_call_t *calls;
    size_t n_calls;
    size_t calls_capacity;
    vp_trace_lane_t *lanes;
    size_t n_lanes;
    size_t lanes_capacity;
    size_t *last_call; /* of each rank seen so far, + 1; 0: none */
    size_t last_capacity;
    uint32_t n_ranks; /* 1 + the highest rank */
    bool is_relative; /* the ranks' times have no common beginning */
} vp_trace_t;

enum { VP_TRACE_MAX_RANK = 1 << 20 };

/*
 * Adds what a text holds; `where` names it in messages. A trace that begins as
 * {0} may be filled from several texts. VP_ERR_BAD_INPUT: not a trace, cut off,
 * or a value out of range, with file and line; VP_ERR_NO_MEMORY. What came
 * before an error stays: release it.
 */
vp_status_t vp_trace_read(vp_trace_t *trace, const char *where, const char *text, size_t n_bytes,
                          vp_error_t *error) VP_MUST_CHECK;

/* To be called once all is read: times begin at 0. */
void vp_trace_begin_at_zero(vp_trace_t *trace);
void vp_trace_release(vp_trace_t *trace);

#endif
