/*
 * What a finished call leaves behind: counters, a log line, a trace line.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/array.h"
#include "coll_variopath/trace.h"

const vp_plan_t *vp_trace_plan(const vp_work_t *work)
{
    return work->program == NULL || work->outcome.verdict != VP_CARRIED ? NULL
                                                                        : work->program->plan;
}

void vp_trace_begin(const vp_engine_t *engine, vp_work_t *work)
{
    const vp_plan_t *plan = vp_trace_plan(work);

    if (engine->options.trace != NULL && plan != NULL) {
        work->times = vp_array_new(plan->n_lanes, sizeof(*work->times));
    }
}

void vp_trace_add(vp_writer_t *line, const char *format, ...)
{
    char text[512];
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof(text)) {
        line->failed = true;
    } else {
        vp_write_bytes(line, text, (size_t)length);
    }
}

void vp_trace_add_string(vp_writer_t *line, const char *text)
{
    vp_trace_add(line, "\"");
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\') {
            vp_trace_add(line, "\\%c", c);
        } else if (c < 0x20) {
            vp_trace_add(line, "\\u%04x", c);
        } else {
            vp_write_u8(line, c);
        }
    }
    vp_trace_add(line, "\"");
}

/* What the lane shares with others; the links of its two GPUs go without saying. */
static void add_links(const vp_model_t *model, const vp_instance_t *instance, vp_writer_t *line)
{
    uint32_t i;

    vp_trace_add(line, ",\"links\":[");
    for (i = 0; i < instance->n_resources; i++) {
        vp_trace_add(line, i == 0 ? "" : ",");
        vp_trace_add_string(line, model->resources[instance->resources[i]].name);
    }
    vp_trace_add(line, "]");
}

static void add_lane(const vp_engine_t *engine, const vp_lane_t *lane, const vp_lane_time_t *time,
                     vp_writer_t *line)
{
    const vp_model_t *model = engine->model;
    const vp_instance_t *instance = &model->instances[lane->instance];

    vp_trace_add(line, "{\"activation\":%u,\"source\":%u,\"destination\":%u,\"kind\":\"%s\"",
                 lane->activation, engine->place_rank[lane->source],
                 engine->place_rank[lane->destination], vp_path_kind_text(instance->kind));
    vp_trace_add(line, ",\"source_class\":");
    vp_trace_add_string(line, model->classes[instance->source_class].name);
    vp_trace_add(line, ",\"destination_class\":");
    vp_trace_add_string(line, model->classes[instance->destination_class].name);
    add_links(model, instance, line);
    vp_trace_add(line, ",\"bytes\":%" PRIu64 ",\"start_ns\":%" PRIu64 ",\"end_ns\":%" PRIu64 "}",
                 lane->n_bytes, time->start_ns, time->end_ns);
}

static void add_lanes(const vp_engine_t *engine, const vp_work_t *work, vp_writer_t *line)
{
    const vp_plan_t *plan = vp_trace_plan(work);
    bool first = true;
    size_t i;

    vp_trace_add(line, ",\"lanes\":[");
    for (i = 0; work->times != NULL && i < plan->n_lanes; i++) {
        /* A lane that ended at 0 never ran: another rank's, or behind a failure. */
        if (work->times[i].end_ns > 0) {
            vp_trace_add(line, first ? "" : ",");
            add_lane(engine, &plan->lanes[i], &work->times[i], line);
            first = false;
        }
    }
    vp_trace_add(line, "]");
}

static void write_line(vp_engine_t *engine, const vp_writer_t *line)
{
    int fd = open(engine->options.trace, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

    /* One write: communicators that share a file do not mix their lines. */
    if (fd < 0 || write(fd, line->data, line->n_bytes) != (ssize_t)line->n_bytes) {
        if (__atomic_fetch_add(&engine->counters->n_trace_failures, 1, __ATOMIC_RELAXED) == 0) {
            vp_log(engine->options.log, VP_LOG_WARN,
                   "cannot write the trace to %s; tracing stops, check the path and its "
                   "permissions",
                   engine->options.trace);
        }
        engine->options.trace = NULL;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

static void add_call(const vp_engine_t *engine, const vp_work_t *work, vp_status_t status,
                     vp_writer_t *line)
{
    vp_trace_add(line, "{\"communicator\":");
    vp_trace_add_string(line, engine->options.name == NULL ? "" : engine->options.name);
    vp_trace_add(
        line, ",\"call\":%" PRIu64 ",\"rank\":%u,\"ranks\":%u,\"verdict\":\"%s\",\"status\":",
        engine->n_calls, engine->rank, engine->n_ranks, vp_verdict_text(work->outcome.verdict));
    vp_trace_add_string(line, vp_status_text((int)status));
    vp_trace_add(line, ",\"reason\":");
    vp_trace_add_string(line, work->outcome.reason);
    vp_trace_add(line, ",\"bytes\":%" PRIu64 ",\"activations\":%u", work->sent_bytes,
                 vp_trace_plan(work) == NULL ? 0 : vp_trace_plan(work)->n_activations);
    add_lanes(engine, work, line);
    vp_trace_add(line, "}\n");
}

static void trace(vp_engine_t *engine, const vp_work_t *work, vp_status_t status)
{
    vp_writer_t line = VP_WRITER_INIT;

    if (engine->options.trace_chrome) {
        vp_trace_add_events(engine, work, &line);
    } else {
        add_call(engine, work, status, &line);
    }
    if (!line.failed) {
        write_line(engine, &line);
    }
    vp_writer_clear(&line);
}

/* " PIX 4096 NIC 512" */
static void kinds_text(const vp_work_t *work, char *text, size_t n_bytes)
{
    size_t used = 0;
    int kind;

    text[0] = '\0';
    for (kind = 0; kind < VP_N_PATH_KINDS; kind++) {
        if (work->kind_bytes[kind] > 0 && used < n_bytes) {
            used +=
                (size_t)snprintf(text + used, n_bytes - used, " %s %" PRIu64,
                                 vp_path_kind_text((vp_path_kind_t)kind), work->kind_bytes[kind]);
        }
    }
}

static void log_call(const vp_engine_t *engine, const vp_work_t *work, vp_status_t status)
{
    const vp_plan_t *plan = vp_trace_plan(work);
    char kinds[256];

    kinds_text(work, kinds, sizeof(kinds));
    if (status != VP_OK) {
        vp_log(engine->options.log, VP_LOG_CALL, "alltoallv %" PRIu64 " on %u ranks: %s",
               engine->n_calls, engine->n_ranks, vp_status_text((int)status));
    } else if (work->outcome.verdict == VP_CARRIED) {
        vp_log(engine->options.log, VP_LOG_CALL,
               "alltoallv %" PRIu64 " on %u ranks: carried, %" PRIu64
               " bytes of all ranks in %u activations; own bytes:%s",
               engine->n_calls, engine->n_ranks, plan == NULL ? 0 : plan->total_bytes,
               plan == NULL ? 0 : plan->n_activations, kinds[0] == '\0' ? " none" : kinds);
    } else {
        vp_log(engine->options.log, VP_LOG_CALL, "alltoallv %" PRIu64 " on %u ranks: %s (%s)",
               engine->n_calls, engine->n_ranks, vp_verdict_text(work->outcome.verdict),
               work->outcome.reason);
    }
}

static uint64_t *verdict_counter(vp_engine_t *engine, vp_verdict_t verdict)
{
    switch (verdict) {
    case VP_CARRIED:
        return &engine->counters->n_carried;
    case VP_STAGED:
        return &engine->counters->n_staged;
    default:
        return &engine->counters->n_passed_on;
    }
}

void vp_trace_call(vp_engine_t *engine, const vp_work_t *work, vp_status_t status)
{
    if (status == VP_OK || status == VP_ERR_TRUNCATE) {
        vp_counter_add(verdict_counter(engine, work->outcome.verdict), 1);
        if (work->outcome.verdict != VP_CARRIED) {
            vp_counter_add(&engine->counters->n_reasons[work->reason], 1);
        }
    }
    log_call(engine, work, status);
    if (engine->options.trace != NULL) {
        trace(engine, work, status);
    }
}
