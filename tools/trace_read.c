/*
 * A trace is a row of JSON objects, with commas, line ends and the brackets of an
 * array between them: a job may end before it has closed its array, and the files
 * of all ranks may stand one behind the other. Events that are not ours are
 * passed over; of ours every value is checked.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "tools/trace_read.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/units.h"

#define MAX_US 4e15 /* since 1970 up to 2096; in ns, twice that fits in 64 bits */

/* The object that is being read, for messages. */
typedef struct place {
    const char *where;
    size_t line;
    vp_error_t *error;
} place_t;

static const char *const verdict_texts[VP_TRACE_N_VERDICTS] = {"carried", "staged", "passed on"};

static vp_status_t refuse(const place_t *place, const char *what)
{
    return vp_error_set(place->error, VP_ERR_BAD_INPUT,
                        "%s:%zu: %s; give files that coll_variopath_trace wrote", place->where,
                        place->line, what);
}

static vp_status_t refuse_key(const place_t *place, const char *key, const char *wanted)
{
    char text[128];

    (void)snprintf(text, sizeof(text), "\"%s\" of an event is not %s", key, wanted);
    return refuse(place, text);
}

static vp_status_t get_integer(const place_t *place, const json_t *object, const char *key,
                               uint64_t most, uint64_t *value_p)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        (uint64_t)json_integer_value(value) > most) {
        return refuse_key(place, key, "a whole number within its range");
    }
    *value_p = (uint64_t)json_integer_value(value);
    return VP_OK;
}

static vp_status_t get_small(const place_t *place, const json_t *object, const char *key,
                             uint32_t most, uint32_t *value_p)
{
    uint64_t value = 0;
    vp_status_t status = get_integer(place, object, key, most, &value);

    *value_p = (uint32_t)value;
    return status;
}

/* Microseconds with a fraction. */
static vp_status_t get_time(const place_t *place, const json_t *object, const char *key,
                            uint64_t *ns_p)
{
    const json_t *value = json_object_get(object, key);
    double us = json_number_value(value);

    if (!json_is_number(value) || !(us >= 0.0 && us <= MAX_US)) {
        return refuse_key(place, key, "a time in microseconds");
    }
    /* Apart, because times of today in ns are beyond a double's whole numbers. */
    *ns_p = (uint64_t)us * 1000 + (uint64_t)llround((us - floor(us)) * 1e3);
    return VP_OK;
}

static vp_status_t get_kind(const place_t *place, const json_t *object, vp_path_kind_t *kind_p)
{
    const char *text = json_string_value(json_object_get(object, "kind"));

    if (text == NULL || !vp_path_kind_parse(text, kind_p)) {
        return refuse_key(place, "kind", "a kind of path");
    }
    return VP_OK;
}

static bool find_verdict(const char *text, vp_trace_verdict_t *verdict_p)
{
    int i;

    for (i = 0; text != NULL && i < VP_TRACE_N_VERDICTS; i++) {
        if (strcmp(text, verdict_texts[i]) == 0) {
            *verdict_p = (vp_trace_verdict_t)i;
            return true;
        }
    }
    return false;
}

static void see_rank(vp_trace_t *trace, uint32_t rank)
{
    trace->n_ranks = rank >= trace->n_ranks ? rank + 1 : trace->n_ranks;
}

/* Index + 1 of the rank's last call so far, 0: none. */
static size_t last_call(const vp_trace_t *trace, uint32_t rank)
{
    return rank < trace->last_capacity ? trace->last_call[rank] : 0;
}

static bool remember_call(vp_trace_t *trace, uint32_t rank, size_t call)
{
    size_t before = trace->last_capacity;

    if (!vp_array_reserve(&trace->last_call, &trace->last_capacity, (size_t)rank + 1,
                          sizeof(*trace->last_call))) {
        return false;
    }
    memset(trace->last_call + before, 0, (trace->last_capacity - before) * sizeof(size_t));
    trace->last_call[rank] = call + 1;
    return true;
}

static vp_status_t add_call(vp_trace_t *trace, const vp_trace_call_t *call, const place_t *place)
{
    if (!vp_array_reserve(&trace->calls, &trace->calls_capacity, trace->n_calls + 1,
                          sizeof(*call)) ||
        !remember_call(trace, call->rank, trace->n_calls)) {
        return vp_error_no_memory(place->error, place->where);
    }
    trace->calls[trace->n_calls++] = *call;
    see_rank(trace, call->rank);
    return VP_OK;
}

/* Of the rank's last call. */
static vp_status_t add_lane(vp_trace_t *trace, vp_trace_lane_t *lane, const place_t *place)
{
    size_t call = last_call(trace, lane->rank);

    if (call == 0) {
        return refuse(place, "a lane stands before the first call of its rank");
    }
    if (!vp_array_reserve(&trace->lanes, &trace->lanes_capacity, trace->n_lanes + 1,
                          sizeof(*lane))) {
        return vp_error_no_memory(place->error, place->where);
    }
    lane->call = call - 1;
    trace->lanes[trace->n_lanes++] = *lane;
    see_rank(trace, lane->destination);
    return VP_OK;
}

/* "alltoallv 12: carried" */
static vp_status_t read_name(const place_t *place, const char *name, vp_trace_call_t *call)
{
    static const char begin[] = "alltoallv ";
    const char *verdict = strstr(name, ": ");
    char *end = NULL;

    if (strncmp(name, begin, sizeof(begin) - 1) == 0) {
        call->number = strtoull(name + sizeof(begin) - 1, &end, 10);
    }
    if (end == NULL || end != verdict || !find_verdict(verdict + 2, &call->verdict)) {
        return refuse_key(place, "name", "that of a call");
    }
    return VP_OK;
}

static vp_status_t read_times(const place_t *place, const json_t *event, uint64_t *start_ns_p,
                              uint64_t *end_ns_p)
{
    uint64_t duration_ns = 0;
    vp_status_t status = get_time(place, event, "ts", start_ns_p);

    if (status == VP_OK) {
        status = get_time(place, event, "dur", &duration_ns);
    }
    *end_ns_p = *start_ns_p + duration_ns;
    return status;
}

static vp_status_t read_call_event(vp_trace_t *trace, const place_t *place, const json_t *event)
{
    vp_trace_call_t call = {0};
    const json_t *arguments = json_object_get(event, "args");
    const char *name = json_string_value(json_object_get(event, "name"));
    vp_status_t status = read_name(place, name == NULL ? "" : name, &call);

    if (status == VP_OK) {
        status = get_small(place, event, "pid", VP_TRACE_MAX_RANK, &call.rank);
    }
    if (status == VP_OK) {
        status = read_times(place, event, &call.start_ns, &call.end_ns);
    }
    if (status == VP_OK) {
        status = get_integer(place, arguments, "bytes", INT64_MAX, &call.n_bytes);
    }
    return status == VP_OK ? add_call(trace, &call, place) : status;
}

static vp_status_t read_lane_event(vp_trace_t *trace, const place_t *place, const json_t *event)
{
    vp_trace_lane_t lane = {0};
    const json_t *arguments = json_object_get(event, "args");
    const char *name = json_string_value(json_object_get(event, "name"));
    char rest;
    vp_status_t status;

    if (name == NULL || sscanf(name, "to %7" SCNu32 "%c", &lane.destination, &rest) != 1 ||
        lane.destination > VP_TRACE_MAX_RANK) {
        return refuse_key(place, "name", "that of a lane");
    }
    status = get_small(place, event, "pid", VP_TRACE_MAX_RANK, &lane.rank);
    if (status == VP_OK) {
        status = get_small(place, event, "tid", UINT16_MAX, &lane.row);
        lane.row -= lane.row > 0;
    }
    if (status == VP_OK) {
        status = read_times(place, event, &lane.start_ns, &lane.end_ns);
    }
    if (status == VP_OK) {
        status = get_integer(place, arguments, "bytes", INT64_MAX, &lane.n_bytes);
    }
    if (status == VP_OK) {
        status = get_small(place, arguments, "activation", UINT32_MAX, &lane.activation);
    }
    if (status == VP_OK) {
        status = get_kind(place, arguments, &lane.kind);
    }
    return status == VP_OK ? add_lane(trace, &lane, place) : status;
}

static vp_status_t read_event(vp_trace_t *trace, const place_t *place, const json_t *event)
{
    const char *category = json_string_value(json_object_get(event, "cat"));

    if (!json_is_string(json_object_get(event, "ph"))) {
        return refuse(place, "an object is no event of a trace");
    }
    if (category != NULL && strcmp(category, "call") == 0) {
        return read_call_event(trace, place, event);
    }
    if (category != NULL && strcmp(category, "lane") == 0) {
        return read_lane_event(trace, place, event);
    }
    return VP_OK;
}

/* Where the rank's calls so far end: a line has no time of its own. */
static uint64_t rank_end_ns(const vp_trace_t *trace, uint32_t rank)
{
    size_t call = last_call(trace, rank);

    return call == 0 ? 0 : trace->calls[call - 1].end_ns;
}

static vp_status_t read_line_lane(vp_trace_t *trace, const place_t *place, const json_t *object,
                                  size_t call)
{
    vp_trace_lane_t lane = {.call = call};
    uint64_t begin_ns = trace->calls[call].start_ns;
    vp_status_t status = get_small(place, object, "source", VP_TRACE_MAX_RANK, &lane.rank);

    if (status == VP_OK) {
        status = get_small(place, object, "destination", VP_TRACE_MAX_RANK, &lane.destination);
    }
    if (status == VP_OK) {
        status = get_small(place, object, "activation", UINT32_MAX, &lane.activation);
    }
    if (status == VP_OK) {
        status = get_integer(place, object, "bytes", INT64_MAX, &lane.n_bytes);
    }
    if (status == VP_OK) {
        status = get_integer(place, object, "start_ns", INT64_MAX, &lane.start_ns);
    }
    if (status == VP_OK) {
        status = get_integer(place, object, "end_ns", INT64_MAX, &lane.end_ns);
    }
    if (status == VP_OK) {
        status = get_kind(place, object, &lane.kind);
    }
    if (status == VP_OK &&
        (lane.end_ns < lane.start_ns || lane.end_ns > (uint64_t)(MAX_US * 1e3))) {
        status = refuse_key(place, "end_ns", "behind \"start_ns\"");
    }
    if (status == VP_OK && lane.rank != trace->calls[call].rank) {
        status = refuse_key(place, "source", "the rank of the call");
    }
    if (status != VP_OK) {
        return status;
    }
    lane.start_ns = vp_add_sat(lane.start_ns, begin_ns);
    lane.end_ns = vp_add_sat(lane.end_ns, begin_ns);
    if (lane.end_ns > trace->calls[call].end_ns) {
        trace->calls[call].end_ns = lane.end_ns;
    }
    return add_lane(trace, &lane, place);
}

/* A call and its lanes, as one object. Its end is that of its last lane. */
static vp_status_t read_line(vp_trace_t *trace, const place_t *place, const json_t *line)
{
    vp_trace_call_t call = {0};
    const json_t *lanes = json_object_get(line, "lanes");
    const char *verdict = json_string_value(json_object_get(line, "verdict"));
    size_t index = trace->n_calls;
    vp_status_t status;
    size_t i;

    if (!find_verdict(verdict, &call.verdict)) {
        return refuse_key(place, "verdict", "one");
    }
    status = get_small(place, line, "rank", VP_TRACE_MAX_RANK, &call.rank);
    if (status == VP_OK) {
        status = get_integer(place, line, "call", INT64_MAX, &call.number);
    }
    if (status == VP_OK) {
        status = get_integer(place, line, "bytes", INT64_MAX, &call.n_bytes);
    }
    /* The rank in the communicator may not be that of its lanes, which is the world's. */
    if (status == VP_OK && json_array_size(lanes) > 0) {
        status =
            get_small(place, json_array_get(lanes, 0), "source", VP_TRACE_MAX_RANK, &call.rank);
    }
    if (status == VP_OK) {
        call.start_ns = rank_end_ns(trace, call.rank);
        call.end_ns = call.start_ns;
        status = add_call(trace, &call, place);
    }
    for (i = 0; status == VP_OK && i < json_array_size(lanes); i++) {
        status = read_line_lane(trace, place, json_array_get(lanes, i), index);
    }
    trace->is_relative = true;
    return status;
}

static vp_status_t read_object(vp_trace_t *trace, const place_t *place, const json_t *object)
{
    const json_t *events = json_object_get(object, "traceEvents");
    vp_status_t status = VP_OK;
    size_t i;

    if (!json_is_object(object)) {
        return refuse(place, "something else than an object stands there");
    }
    if (json_is_array(json_object_get(object, "lanes"))) {
        return read_line(trace, place, object);
    }
    if (events == NULL) {
        return read_event(trace, place, object);
    }
    for (i = 0; status == VP_OK && i < json_array_size(events); i++) {
        status = read_event(trace, place, json_array_get(events, i));
    }
    return status;
}

/* Goes to the next object, counting lines; false: there is none. */
static bool find_object(const char *text, size_t n_bytes, size_t *at_p, size_t *line_p)
{
    while (*at_p < n_bytes && strchr(" \t\r\n,[]", text[*at_p]) != NULL && text[*at_p] != '\0') {
        *line_p += text[*at_p] == '\n';
        (*at_p)++;
    }
    return *at_p < n_bytes;
}

vp_status_t vp_trace_read(vp_trace_t *trace, const char *where, const char *text, size_t n_bytes,
                          vp_error_t *error)
{
    place_t place = {where, 1, error};
    size_t n_before = trace->n_calls;
    size_t at = 0;

    while (find_object(text, n_bytes, &at, &place.line)) {
        json_error_t found;
        json_t *object = json_loadb(text + at, n_bytes - at,
                                    JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &found);
        vp_status_t status;
        const char *line;

        if (object == NULL) {
            place.line += found.line > 0 ? (size_t)found.line - 1 : 0;
            return refuse(&place, found.text);
        }
        status = read_object(trace, &place, object);
        json_decref(object);
        if (status != VP_OK) {
            return status;
        }
        for (line = text + at; line < text + at + found.position; line++) {
            place.line += *line == '\n';
        }
        at += (size_t)found.position;
    }
    if (trace->n_calls == n_before) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "%s: holds no call; give files that coll_variopath_trace wrote", where);
    }
    return VP_OK;
}

void vp_trace_begin_at_zero(vp_trace_t *trace)
{
    uint64_t first_ns = UINT64_MAX;
    size_t i;

    for (i = 0; i < trace->n_calls; i++) {
        first_ns = trace->calls[i].start_ns < first_ns ? trace->calls[i].start_ns : first_ns;
    }
    for (i = 0; i < trace->n_lanes; i++) {
        first_ns = trace->lanes[i].start_ns < first_ns ? trace->lanes[i].start_ns : first_ns;
    }
    for (i = 0; i < trace->n_calls; i++) {
        trace->calls[i].start_ns -= first_ns;
        trace->calls[i].end_ns -= first_ns;
    }
    for (i = 0; i < trace->n_lanes; i++) {
        trace->lanes[i].start_ns -= first_ns;
        trace->lanes[i].end_ns -= first_ns;
    }
}

void vp_trace_release(vp_trace_t *trace)
{
    free(trace->calls);
    free(trace->lanes);
    free(trace->last_call);
}
