/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/trace_report.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/units.h"

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* By rank, kind and beginning; a total order, so that equal traces give equal reports. */
static int compare_lanes(const void *left, const void *right)
{
    const vp_trace_lane_t *a = left;
    const vp_trace_lane_t *b = right;
    int order = compare(a->rank, b->rank);

    order = order != 0 ? order : compare(a->kind, b->kind);
    order = order != 0 ? order : compare(a->start_ns, b->start_ns);
    order = order != 0 ? order : compare(a->end_ns, b->end_ns);
    order = order != 0 ? order : compare(a->destination, b->destination);
    return order != 0 ? order : compare(a->n_bytes, b->n_bytes);
}

/* Time of the calls in which the rank of lanes[begin .. end - 1] had lanes. */
static uint64_t sum_calls(const vp_trace_t *trace, size_t begin, size_t end, bool *is_counted)
{
    uint64_t sum_ns = 0;
    size_t i;

    for (i = begin; i < end; i++) {
        const vp_trace_call_t *call = &trace->calls[trace->lanes[i].call];

        if (!is_counted[trace->lanes[i].call]) {
            is_counted[trace->lanes[i].call] = true;
            sum_ns = vp_add_sat(sum_ns, call->end_ns - call->start_ns);
        }
    }
    return sum_ns;
}

/* Lanes of one rank and kind: adds what they carried; returns the time with one under way. */
static uint64_t add_lanes(const vp_trace_t *trace, size_t begin, size_t end,
                          vp_trace_class_t *class)
{
    uint64_t time_ns = 0;
    uint64_t done_ns = 0;
    size_t i;

    for (i = begin; i < end; i++) {
        const vp_trace_lane_t *lane = &trace->lanes[i];
        uint64_t start_ns = lane->start_ns > done_ns ? lane->start_ns : done_ns;

        class->n_lanes++;
        class->n_bytes = vp_add_sat(class->n_bytes, lane->n_bytes);
        class->lane_ns = vp_add_sat(class->lane_ns, lane->end_ns - lane->start_ns);
        if (lane->end_ns > start_ns) {
            time_ns += lane->end_ns - start_ns;
            done_ns = lane->end_ns;
        }
    }
    class->time_ns = vp_add_sat(class->time_ns, time_ns);
    return time_ns;
}

static void add_rank(vp_trace_report_t *report, size_t begin, size_t end, bool *is_counted)
{
    const vp_trace_lane_t *lanes = report->trace->lanes;
    uint64_t calls_ns = sum_calls(report->trace, begin, end, is_counted);

    while (begin < end) {
        vp_trace_class_t *class = &report->classes[lanes[begin].kind];
        size_t next = begin;
        uint64_t time_ns;

        while (next < end && lanes[next].kind == lanes[begin].kind) {
            next++;
        }
        time_ns = add_lanes(report->trace, begin, next, class);
        if (calls_ns > time_ns) {
            class->idle_ns = vp_add_sat(class->idle_ns, calls_ns - time_ns);
        }
        begin = next;
    }
}

static void add_ranks(vp_trace_report_t *report, bool *is_counted)
{
    const vp_trace_t *trace = report->trace;
    size_t begin = 0;
    size_t end = 0;

    for (; begin < trace->n_lanes; begin = end) {
        while (end < trace->n_lanes && trace->lanes[end].rank == trace->lanes[begin].rank) {
            end++;
        }
        add_rank(report, begin, end, is_counted);
    }
}

static void add_calls(vp_trace_report_t *report)
{
    const vp_trace_t *trace = report->trace;
    size_t i;

    for (i = 0; i < trace->n_calls; i++) {
        const vp_trace_call_t *call = &trace->calls[i];

        report->n_calls[call->verdict]++;
        report->n_bytes = vp_add_sat(report->n_bytes, call->n_bytes);
        report->span_ns = call->end_ns > report->span_ns ? call->end_ns : report->span_ns;
    }
    for (i = 0; i < trace->n_lanes; i++) {
        uint64_t end_ns = trace->lanes[i].end_ns;

        report->span_ns = end_ns > report->span_ns ? end_ns : report->span_ns;
    }
}

uint64_t vp_trace_lost_ns(const vp_trace_report_t *report, const vp_trace_lane_t *lane)
{
    const vp_trace_class_t *class = &report->classes[lane->kind];
    uint64_t mean_ns =
        class->n_bytes == 0 ? 0 : vp_muldiv_ceil(lane->n_bytes, class->lane_ns, class->n_bytes);
    uint64_t taken_ns = lane->end_ns - lane->start_ns;

    return taken_ns > mean_ns ? taken_ns - mean_ns : 0;
}

/* Keeps the list of the slowest in order; lanes of equal loss stay in theirs. */
static void rank_lanes(vp_trace_report_t *report, size_t max_slowest)
{
    const vp_trace_lane_t *lanes = report->trace->lanes;
    size_t i;

    for (i = 0; i < report->trace->n_lanes; i++) {
        uint64_t lost_ns = vp_trace_lost_ns(report, &lanes[i]);
        size_t at = report->n_slowest;

        while (at > 0 && vp_trace_lost_ns(report, &lanes[report->slowest[at - 1]]) < lost_ns) {
            if (at < max_slowest) {
                report->slowest[at] = report->slowest[at - 1];
            }
            at--;
        }
        if (lost_ns > 0 && at < max_slowest) {
            report->slowest[at] = i;
            report->n_slowest += report->n_slowest < max_slowest;
        }
    }
}

vp_status_t vp_trace_report_make(vp_trace_t *trace, size_t max_slowest, vp_trace_report_t *report,
                                 vp_error_t *error)
{
    vp_trace_report_t made = {.trace = trace};
    bool *is_counted = vp_array_new(trace->n_calls, sizeof(*is_counted));

    made.slowest = vp_array_new(max_slowest, sizeof(*made.slowest));
    if (is_counted == NULL || made.slowest == NULL) {
        free(is_counted);
        free(made.slowest);
        return vp_error_no_memory(error, "the summary of a trace");
    }
    vp_trace_begin_at_zero(trace);
    qsort(trace->lanes, trace->n_lanes, sizeof(*trace->lanes), compare_lanes);
    add_calls(&made);
    add_ranks(&made, is_counted);
    rank_lanes(&made, max_slowest);
    free(is_counted);
    *report = made;
    return VP_OK;
}

void vp_trace_report_release(vp_trace_report_t *report)
{
    free(report->slowest);
}
