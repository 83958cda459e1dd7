/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll_variopath/dump.h"

#include <stdio.h>

#include "base/units.h"
#include "coll_variopath/clock.h"
#include "coll_variopath/run.h"

#define NS_PER_MS (VP_NS_PER_S / 1000)

enum { MAX_AWAITED = 8 }; /* lanes of others that are told one by one */

static const char *step_text(vp_step_t step)
{
    static const char *const texts[VP_N_STEPS] = {
#define STEP_TEXT(name, text) text,
        VP_STEP_MAP(STEP_TEXT)
#undef STEP_TEXT
    };

    return texts[step];
}

void vp_dump_enter(vp_dump_t *dump, vp_dump_call_t *call)
{
    if (dump == NULL) {
        return;
    }
    call->written_ns = 0;
    call->n_seen = __atomic_load_n(&dump->n_asked, __ATOMIC_RELAXED);
    (void)pthread_mutex_lock(&dump->lock);
    call->next = dump->calls;
    dump->calls = call;
    (void)pthread_mutex_unlock(&dump->lock);
}

void vp_dump_leave(vp_dump_t *dump, vp_dump_call_t *call)
{
    vp_dump_call_t **link;

    if (dump == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&dump->lock);
    for (link = &dump->calls; *link != NULL && *link != call; link = &(*link)->next) {
    }
    if (*link == call) {
        *link = call->next;
    }
    (void)pthread_mutex_unlock(&dump->lock);
}

void vp_dump_step(vp_dump_t *dump, vp_dump_call_t *call, vp_step_t step)
{
    if (dump != NULL) {
        __atomic_store_n(&call->since_ns, vp_clock_ns(), __ATOMIC_RELAXED);
        __atomic_store_n(&call->step, step, __ATOMIC_RELAXED);
    }
}

bool vp_dump_due(const vp_dump_t *dump, vp_dump_call_t *call, uint64_t last_ns)
{
    unsigned n_asked;
    uint64_t now_ns;

    if (dump == NULL) {
        return false;
    }
    n_asked = __atomic_load_n(&dump->n_asked, __ATOMIC_RELAXED);
    if (n_asked == call->n_seen && dump->silence_ms == 0) {
        return false;
    }
    now_ns = vp_clock_ns();
    last_ns = last_ns < call->written_ns ? call->written_ns : last_ns;
    if (n_asked == call->n_seen &&
        (now_ns <= last_ns || now_ns - last_ns < (uint64_t)dump->silence_ms * NS_PER_MS)) {
        return false;
    }
    call->n_seen = n_asked;
    call->written_ns = now_ns;
    return true;
}

static void describe_step(const vp_dump_t *dump, vp_dump_call_t *call)
{
    vp_step_t step = __atomic_load_n(&call->step, __ATOMIC_RELAXED);
    uint64_t since_ns = __atomic_load_n(&call->since_ns, __ATOMIC_RELAXED);

    /* What lanes do, their own thread tells. */
    if (step != VP_STEP_LANES && vp_dump_due(dump, call, since_ns)) {
        vp_log(dump->log, VP_LOG_WARN, "state: rank %u of %s, call %llu: waits for %s, %llu ms",
               call->rank, call->name, (unsigned long long)call->number, step_text(step),
               (unsigned long long)((vp_clock_ns() - since_ns) / NS_PER_MS));
    }
}

void vp_dump_look(vp_dump_t *dump)
{
    unsigned n_asked = __atomic_load_n(&dump->n_asked, __ATOMIC_RELAXED);
    vp_dump_call_t *call;

    if ((n_asked == dump->n_seen && dump->silence_ms == 0) ||
        pthread_mutex_trylock(&dump->lock) != 0) {
        return;
    }
    if (dump->calls == NULL && n_asked != dump->n_seen) {
        vp_log(dump->log, VP_LOG_WARN, "state: no call is under way in this process");
    }
    dump->n_seen = n_asked;
    for (call = dump->calls; call != NULL; call = call->next) {
        describe_step(dump, call);
    }
    (void)pthread_mutex_unlock(&dump->lock);
}

/* "state: rank 2 of MPI_COMM_WORLD, call 7" */
static void head(const vp_run_t *run, char *text, size_t n_bytes)
{
    const vp_dump_call_t *call = &run->engine->dump;

    (void)snprintf(text, n_bytes, "state: rank %u of %s, call %llu", call->rank, call->name,
                   (unsigned long long)call->number);
}

static void describe_flight(const vp_run_t *run, const vp_flight_t *flight, const char *start)
{
    char lane[128];

    vp_engine_lane_text(run->engine, flight->lane, run->program->waits->own[flight->own], lane,
                        sizeof(lane));
    vp_log(run->engine->options.log, VP_LOG_WARN,
           "%s: %s: %llu of %llu bytes outstanding, under way for %llu ms", start, lane,
           (unsigned long long)(flight->n_bytes - flight->arrived_bytes),
           (unsigned long long)flight->n_bytes,
           (unsigned long long)((vp_clock_ns() - flight->start_ns) / NS_PER_MS));
}

static void describe_awaited(const vp_run_t *run, const char *start)
{
    const vp_wait_list_t *remote = &run->program->waits->remote;
    size_t i, n_told = 0;
    char lane[128];

    for (i = 0; i < remote->n_waits && n_told < MAX_AWAITED; i++) {
        uint32_t from = remote->waits[i].from;

        if ((i == 0 || remote->waits[i - 1].from != from) && !run->program->seen[i]) {
            vp_engine_lane_text(run->engine, &run->program->plan->lanes[from], from, lane,
                                sizeof(lane));
            vp_log(run->engine->options.log, VP_LOG_WARN, "%s: awaits the end of %s, %llu bytes",
                   start, lane, (unsigned long long)run->program->plan->lanes[from].n_bytes);
            n_told++;
        }
    }
}

static void describe_rest(const vp_run_t *run, const char *start)
{
    size_t i, n_waiting = 0;

    for (i = 0; i < run->program->waits->n_own; i++) {
        n_waiting += run->program->state[i] == VP_LANE_WAITS;
    }
    if (run->meets) {
        vp_log(run->engine->options.log, VP_LOG_WARN, "%s: awaits rank %u at the meeting of all",
               start, run->meets_rank);
    } else {
        vp_log(run->engine->options.log, VP_LOG_WARN,
               "%s: %zu own lanes not started, %zu ends of others' lanes not told", start,
               n_waiting, run->n_awaited);
    }
}

void vp_dump_run(vp_run_t *run)
{
    char start[160];
    uint32_t i;

    if (!vp_dump_due(run->engine->options.dump, &run->engine->dump, run->last_ns)) {
        return;
    }
    head(run, start, sizeof(start));
    for (i = 0; i < run->n_flights; i++) {
        describe_flight(run, &run->program->flights[i], start);
    }
    describe_awaited(run, start);
    describe_rest(run, start);
}
