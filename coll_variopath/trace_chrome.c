/*
 * Calls and lanes as events of the Chrome trace format, which Perfetto and
 * chrome://tracing show: a process per rank, the calls in its first row, lanes
 * below, in as many rows as lanes may be under way. Times are those of the
 * system's clock, so that ranks share one axis as far as their hosts' clocks agree.
 *
 * Every event ends in a comma, and only rank 0 opens the array, so that the files of
 * all ranks, one behind the other, are one trace.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <inttypes.h>
#include <time.h>

#include "coll_variopath/clock.h"
#include "coll_variopath/trace.h"

enum { NS_PER_US = 1000 };

/* From the clock of a call to the system's. */
static uint64_t clock_offset_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * VP_NS_PER_S + (uint64_t)now.tv_nsec - vp_clock_ns();
}

static void add_times(vp_writer_t *line, uint64_t start_ns, uint64_t duration_ns)
{
    vp_trace_add(line, "\"ph\":\"X\",\"ts\":%" PRIu64 ".%03u,\"dur\":%" PRIu64 ".%03u,",
                 start_ns / NS_PER_US, (unsigned)(start_ns % NS_PER_US), duration_ns / NS_PER_US,
                 (unsigned)(duration_ns % NS_PER_US));
}

static void add_process(const vp_engine_t *engine, vp_writer_t *line)
{
    uint32_t process = engine->options.trace_process;

    vp_trace_add(line,
                 "%s{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%u,\"tid\":0,"
                 "\"args\":{\"name\":\"rank %u\"}},\n",
                 process == 0 ? "[\n" : "", process, process);
}

static void add_call(const vp_engine_t *engine, const vp_work_t *work, uint64_t offset_ns,
                     vp_writer_t *line)
{
    const vp_plan_t *plan = vp_trace_plan(work);

    vp_trace_add(line, "{\"name\":\"alltoallv %" PRIu64 ": %s\",\"cat\":\"call\",", engine->n_calls,
                 vp_verdict_text(work->outcome.verdict));
    add_times(line, work->start_ns + offset_ns, vp_clock_ns() - work->start_ns);
    vp_trace_add(line,
                 "\"pid\":%u,\"tid\":0,\"args\":{\"communicator\":", engine->options.trace_process);
    vp_trace_add_string(line, engine->options.name == NULL ? "" : engine->options.name);
    vp_trace_add(line,
                 ",\"bytes\":%" PRIu64 ",\"planning_ns\":%" PRIu64 ",\"predicted_ns\":%" PRIu64
                 ",\"reason\":",
                 work->sent_bytes, work->planning_ns, plan == NULL ? 0 : plan->time_ns);
    vp_trace_add_string(line, work->outcome.reason);
    vp_trace_add(line, "}},\n");
}

static void add_lane(const vp_engine_t *engine, const vp_work_t *work, uint32_t own,
                     uint64_t offset_ns, vp_writer_t *line)
{
    const vp_program_t *program = work->program;
    uint32_t index = program->waits->own[own];
    const vp_lane_t *lane = &program->plan->lanes[index];
    const vp_lane_time_t *time = &work->times[index];
    const vp_instance_t *instance = &engine->model->instances[lane->instance];

    if (time->end_ns == 0) {
        return; /* it never ran, behind a failure */
    }
    vp_trace_add(line, "{\"name\":\"to %u\",\"cat\":\"lane\",",
                 engine->place_rank[lane->destination]);
    add_times(line, work->start_ns + offset_ns + time->start_ns, time->end_ns - time->start_ns);
    vp_trace_add(line,
                 "\"pid\":%u,\"tid\":%u,\"args\":{\"lane\":%u,\"activation\":%u,\"bytes\":%" PRIu64
                 ",\"kind\":\"%s\",\"source_class\":",
                 engine->options.trace_process, 1 + own % program->window, index, lane->activation,
                 lane->n_bytes, vp_path_kind_text(instance->kind));
    vp_trace_add_string(line, engine->model->classes[instance->source_class].name);
    vp_trace_add(line, ",\"destination_class\":");
    vp_trace_add_string(line, engine->model->classes[instance->destination_class].name);
    vp_trace_add(line, "}},\n");
}

void vp_trace_add_events(const vp_engine_t *engine, const vp_work_t *work, vp_writer_t *line)
{
    uint64_t offset_ns = clock_offset_ns();
    uint32_t own;

    if (__atomic_fetch_add(&engine->counters->n_traced, 1, __ATOMIC_RELAXED) == 0) {
        add_process(engine, line);
    }
    add_call(engine, work, offset_ns, line);
    for (own = 0; work->times != NULL && own < work->program->waits->n_own; own++) {
        add_lane(engine, work, own, offset_ns, line);
    }
}
