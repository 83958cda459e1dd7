/*
 * The plan's lanes of this rank: a put and a flush per piece of a lane, each lane
 * when those before it have ended.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "base/units.h"
#include "coll_variopath/clock.h"
#include "coll_variopath/run.h"

/* A chunk's length, of an activation's overhead, where it is not given. */
enum { CHUNK_PERCENT = 200, LEAST_CHUNK_BYTES = 16384 };

/* The words belong to the first thing that goes wrong here. */
static vp_error_t *own_words(vp_run_t *run)
{
    return run->error->status == VP_OK ? run->error : NULL;
}

static void note_lane(vp_run_t *run, const vp_flight_t *flight, vp_status_t status)
{
    const vp_trouble_t trouble = {.cause = VP_CAUSE_LANE,
                                  .status = (int32_t)status,
                                  .lane = run->program->waits->own[flight->own],
                                  .rank = run->engine->rank,
                                  .peer = run->engine->place_rank[flight->lane->destination]};

    if (run->error->status == VP_OK) {
        run->error->status = status;
    }
    vp_run_note(run, &trouble);
}

/* Bytes that a lane moves in a part of an activation's overhead. */
static uint64_t bytes_in_overhead(const vp_run_t *run, const vp_lane_t *lane, uint64_t percent)
{
    const vp_engine_t *engine = run->engine;
    uint64_t alpha_ns =
        engine->options.alpha_ns != 0 ? engine->options.alpha_ns : engine->model->alpha_ns;

    return vp_bytes_in_ns(engine->model->instances[lane->instance].bytes_per_s,
                          vp_muldiv_floor(alpha_ns, percent, 100));
}

/*
 * Bytes at the end of a lane during which those who wait for it may start: it
 * takes them about that long to hear of it. At most half of the lane.
 */
static uint64_t tail_bytes(const vp_run_t *run, const vp_lane_t *lane)
{
    uint64_t n_bytes = bytes_in_overhead(run, lane, run->engine->options.overlap_percent);

    if (run->program->sync != VP_SYNC_DEPS) {
        return 0;
    }
    return n_bytes < lane->n_bytes / 2 ? n_bytes : lane->n_bytes / 2;
}

/*
 * The longest put. What acknowledges a peer's puts goes between two of one's own
 * where both directions share a connection (TCP): behind a whole lane, others would
 * hear of an end as late as that lane takes.
 */
static uint64_t chunk_bytes(const vp_run_t *run, const vp_lane_t *lane)
{
    uint64_t n_bytes = bytes_in_overhead(run, lane, CHUNK_PERCENT);

    if (run->engine->options.chunk_bytes != 0) {
        return run->engine->options.chunk_bytes;
    }
    if (run->program->sync != VP_SYNC_DEPS) {
        return UINT64_MAX;
    }
    return n_bytes > LEAST_CHUNK_BYTES ? n_bytes : LEAST_CHUNK_BYTES;
}

static vp_status_t put_piece(vp_run_t *run, vp_flight_t *flight, uint64_t n_bytes)
{
    const vp_engine_t *engine = run->engine;
    const vp_call_t *call = run->work->call;
    const vp_lane_t *lane = flight->lane;
    const vp_instance_t *instance = &engine->model->instances[lane->instance];
    uint32_t peer = engine->place_rank[lane->destination];
    vp_window_t *window = vp_windows_choose(engine, run->work, peer, instance);
    uint64_t offset = lane->offset_bytes + flight->put_bytes;

    if (window == NULL) {
        return vp_error_set(own_words(run), VP_ERR_INTERNAL,
                            "the plan uses a path to rank %u that is not connected; the call "
                            "fails, report this",
                            peer);
    }
    return vp_lanes_put(engine->lanes, window, (const char *)call->send[peer].address + offset,
                        run->work->on_device && vp_memory_is_device(call->send_memory),
                        engine->pairs[peer].receive_address + offset, (size_t)n_bytes,
                        &flight->pieces[flight->n_pieces], own_words(run));
}

/* The next put: an even part of what comes before the tail, then of the tail. */
static uint64_t next_piece(const vp_flight_t *flight)
{
    uint64_t rest = flight->n_bytes - flight->put_bytes;
    uint64_t part = rest > flight->tail_bytes ? rest - flight->tail_bytes : rest;
    uint64_t n_pieces = part / flight->chunk_bytes + (part % flight->chunk_bytes != 0);

    return part / n_pieces + (part % n_pieces != 0);
}

static vp_status_t put_pieces(vp_run_t *run, vp_flight_t *flight)
{
    vp_status_t status = VP_OK;

    while (status == VP_OK && flight->n_pieces < VP_PIECES && flight->put_bytes < flight->n_bytes) {
        uint64_t n_bytes = next_piece(flight);

        status = put_piece(run, flight, n_bytes);
        if (status == VP_OK) {
            flight->piece_bytes[flight->n_pieces++] = n_bytes;
            flight->put_bytes += n_bytes;
        }
    }
    return status;
}

/* Nothing of the lane is under way afterwards. */
static void drop_flight(vp_run_t *run, vp_flight_t *flight, vp_status_t status)
{
    while (flight->n_pieces > 0) {
        vp_lanes_cancel(run->engine->lanes, flight->pieces[--flight->n_pieces]);
    }
    note_lane(run, flight, status);
    *flight = run->program->flights[--run->n_flights];
}

static void count_lane(const vp_run_t *run, const vp_flight_t *flight)
{
    vp_engine_t *engine = run->engine;
    vp_work_t *work = run->work;
    const vp_lane_t *lane = flight->lane;
    vp_path_kind_t kind = engine->model->instances[lane->instance].kind;
    uint64_t now_ns = vp_clock_ns();

    vp_rates_observe(engine, run->program, lane, flight->n_bytes, now_ns - flight->start_ns);
    work->sent_bytes += flight->n_bytes;
    work->kind_bytes[kind] += flight->n_bytes;
    vp_counter_add(&engine->counters->n_lanes, 1);
    vp_counter_add(&engine->counters->sent_bytes[kind], flight->n_bytes);
    vp_log(engine->options.log, VP_LOG_DEBUG,
           "activation %u: %llu bytes to rank %u over %s in %llu ns", lane->activation,
           (unsigned long long)flight->n_bytes, engine->place_rank[lane->destination],
           vp_path_kind_text(kind), (unsigned long long)(now_ns - flight->start_ns));
    if (work->times != NULL) {
        vp_lane_time_t *time = &work->times[run->program->waits->own[flight->own]];

        time->start_ns = flight->start_ns - work->start_ns;
        time->end_ns = now_ns - work->start_ns;
    }
}

/* A lane that has ended gives its place to another flight. */
static void end_flight(vp_run_t *run, vp_flight_t *flight)
{
    if (run->program->state[flight->own] == VP_LANE_RUNS) {
        vp_run_release(run, flight->own);
    }
    count_lane(run, flight);
    *flight = run->program->flights[--run->n_flights];
}

/* What became of the oldest piece; true: the flight is over and its place is another's. */
static bool test_flight(vp_run_t *run, vp_flight_t *flight)
{
    bool done = false;
    vp_status_t status =
        vp_lanes_test(run->engine->lanes, &flight->pieces[0], &done, own_words(run));

    if (status == VP_OK && !done) {
        return false;
    }
    flight->n_pieces--;
    memmove(&flight->pieces[0], &flight->pieces[1], flight->n_pieces * sizeof(flight->pieces[0]));
    flight->arrived_bytes += flight->piece_bytes[0];
    memmove(&flight->piece_bytes[0], &flight->piece_bytes[1],
            flight->n_pieces * sizeof(flight->piece_bytes[0]));
    run->last_ns = vp_clock_ns();
    if (status == VP_OK) {
        status = put_pieces(run, flight);
    }
    if (status != VP_OK) {
        drop_flight(run, flight, status);
        return true;
    }
    if (run->program->state[flight->own] == VP_LANE_RUNS &&
        flight->n_bytes - flight->arrived_bytes <= flight->tail_bytes) {
        vp_run_release(run, flight->own);
    }
    if (flight->n_pieces > 0) {
        return false;
    }
    end_flight(run, flight);
    return true;
}

static void test_flights(vp_run_t *run)
{
    uint32_t i = 0;

    while (i < run->n_flights) {
        i += !test_flight(run, &run->program->flights[i]);
    }
}

static const vp_memory_t *device_side(const vp_call_t *call)
{
    return vp_memory_is_device(call->send_memory) ? call->send_memory : call->receive_memory;
}

/* What this rank sends itself, as far as there is room. */
static uint64_t own_bytes(const vp_engine_t *engine, const vp_call_t *call)
{
    uint64_t n_bytes = call->send[engine->rank].n_bytes;
    uint64_t room = call->receive[engine->rank].n_bytes;

    return n_bytes < room ? n_bytes : room;
}

vp_status_t vp_execute_self(vp_engine_t *engine, vp_work_t *work, vp_error_t *error)
{
    const vp_call_t *call = work->call;
    void *to = call->receive[engine->rank].address;
    const void *from = call->send[engine->rank].address;
    uint64_t n_bytes = own_bytes(engine, call);

    if (n_bytes == 0) {
        return VP_OK;
    }
    vp_counter_add(&engine->counters->self_bytes, n_bytes);
    if (!work->on_device) {
        memmove(to, from, (size_t)n_bytes);
        return VP_OK;
    }
    return vp_device_copy(device_side(call), (uintptr_t)to, (uintptr_t)from, (size_t)n_bytes,
                          error);
}

static void note_self(vp_run_t *run, vp_status_t status)
{
    const vp_trouble_t trouble = {.cause = VP_CAUSE_LANE,
                                  .status = (int32_t)status,
                                  .lane = UINT32_MAX,
                                  .rank = run->engine->rank,
                                  .peer = run->engine->rank};

    if (status != VP_OK) {
        vp_run_note(run, &trouble);
    }
}

/*
 * The device copies its own block while lanes run. Memory without a context of
 * its own is left to copy_self, like host memory, which only the CPU moves.
 */
static void start_self(vp_run_t *run)
{
    const vp_call_t *call = run->work->call;
    uint32_t rank = run->engine->rank;
    uint64_t n_bytes = own_bytes(run->engine, call);

    if (!run->work->on_device || n_bytes == 0 || device_side(call)->context == NULL) {
        return;
    }
    run->work->self_done = true;
    vp_counter_add(&run->engine->counters->self_bytes, n_bytes);
    note_self(run,
              vp_copy_start(&run->self, device_side(call)->context,
                            vp_memory_is_device(call->receive_memory),
                            (uintptr_t)call->receive[rank].address,
                            (uintptr_t)call->send[rank].address, (size_t)n_bytes, own_words(run)));
}

static void end_self(vp_run_t *run)
{
    bool done;

    vp_copy_wait(&run->self);
    note_self(run, vp_copy_test(&run->self, &done, own_words(run)));
    vp_copy_free(&run->self);
}

/* The CPU copies the own block while the first lane is under way. */
static void copy_self(vp_run_t *run)
{
    if (!run->work->self_done) {
        run->work->self_done = true;
        note_self(run, vp_execute_self(run->engine, run->work, own_words(run)));
    }
}

/* Bytes of a lane that the receiver has room for; more is an error of the program, told later. */
static uint64_t fitting_bytes(const vp_run_t *run, const vp_lane_t *lane)
{
    uint64_t room = run->engine->pairs[run->engine->place_rank[lane->destination]].room;
    uint64_t left = room > lane->offset_bytes ? room - lane->offset_bytes : 0;

    return lane->n_bytes < left ? lane->n_bytes : left;
}

static void start_lane(vp_run_t *run, uint32_t own)
{
    vp_flight_t *flight = &run->program->flights[run->n_flights++];
    vp_status_t status;

    *flight = (vp_flight_t){.own = own,
                            .lane = &run->program->plan->lanes[run->program->waits->own[own]],
                            .start_ns = vp_clock_ns()};
    flight->n_bytes = fitting_bytes(run, flight->lane);
    flight->tail_bytes = tail_bytes(run, flight->lane);
    flight->chunk_bytes = chunk_bytes(run, flight->lane);
    run->program->state[own] = VP_LANE_RUNS;
    run->last_ns = flight->start_ns;
    status = put_pieces(run, flight);
    if (status != VP_OK) {
        drop_flight(run, flight, status);
    } else if (flight->n_pieces == 0) {
        end_flight(run, flight);
    }
    copy_self(run);
}

/* Lanes of one activation may overtake each other, activations never do. */
static void start_lanes(vp_run_t *run)
{
    const vp_program_t *program = run->program;
    const vp_lane_t *lanes = program->plan->lanes;
    const uint32_t *own = program->waits->own;
    size_t i;

    while (run->next < run->end && program->state[run->next] != VP_LANE_WAITS) {
        run->next++;
    }
    for (i = run->next;
         i < run->end && run->n_flights < program->window && run->trouble.cause == VP_CAUSE_NONE &&
         lanes[own[i]].activation == lanes[own[run->next]].activation;
         i++) {
        if (program->state[i] == VP_LANE_WAITS && program->left[i] == 0) {
            start_lane(run, (uint32_t)i);
        }
    }
}

static bool has_lanes(const vp_run_t *run)
{
    return run->n_flights > 0 || (run->next < run->end && run->trouble.cause == VP_CAUSE_NONE);
}

static void give_up_flights(vp_run_t *run)
{
    const vp_flight_t *flight = &run->program->flights[0];

    (void)vp_error_set(own_words(run), VP_ERR_TIMEOUT,
                       "%llu of %llu bytes to rank %u did not arrive and nothing has moved for "
                       "%llu ms; the lane was cancelled and the call fails, raise "
                       "coll_variopath_timeout_ms if the path is just slow",
                       (unsigned long long)(flight->n_bytes - flight->arrived_bytes),
                       (unsigned long long)flight->n_bytes,
                       run->engine->place_rank[flight->lane->destination],
                       (unsigned long long)((vp_clock_ns() - run->last_ns) / 1000000));
    while (run->n_flights > 0) {
        drop_flight(run, &run->program->flights[0], VP_ERR_TIMEOUT);
    }
}

/*
 * Runs own lanes before `end` until they have ended. After a trouble anywhere, no
 * lane is started any more. Lateness is looked at before a lane is started: a rank
 * that was stopped for long must not write into buffers that others have given up.
 */
static void run_lanes(vp_run_t *run, size_t end)
{
    run->end = end;
    while (has_lanes(run)) {
        if (vp_run_is_late(run, run->n_flights == 0)) {
            if (run->n_flights > 0) {
                give_up_flights(run);
            } else {
                vp_run_give_up(run, VP_CAUSE_WAIT, run->engine->rank, VP_ERR_TIMEOUT);
            }
            continue;
        }
        start_lanes(run);
        vp_run_advance(run);
        test_flights(run);
    }
}

/* Whoever waits for a lane that is not run hears of it, with the reason. */
static void release_rest(vp_run_t *run)
{
    size_t i;

    for (i = 0; i < run->program->waits->n_own; i++) {
        if (run->program->state[i] != VP_LANE_RELEASED) {
            vp_run_release(run, (uint32_t)i);
        }
    }
}

static uint32_t count_rounds(uint32_t n_ranks)
{
    uint32_t n_rounds = 0;

    while (n_rounds < VP_MAX_ROUNDS && UINT32_C(1) << n_rounds < n_ranks) {
        n_rounds++;
    }
    return n_rounds;
}

static void begin_run(vp_run_t *run)
{
    vp_program_t *program = run->program;
    const vp_waits_t *waits = program->waits;
    uint32_t n_meetings = program->sync == VP_SYNC_BARRIER ? program->plan->n_activations : 1;

    memcpy(program->left, waits->n_before, waits->n_own * sizeof(*program->left));
    memset(program->state, VP_LANE_WAITS, waits->n_own * sizeof(*program->state));
    memset(program->seen, 0, waits->remote.n_waits * sizeof(*program->seen));
    run->n_awaited = waits->n_remote_lanes;
    run->n_rounds = count_rounds(run->engine->n_ranks);
    run->n_to_come = run->n_awaited + (size_t)n_meetings * run->n_rounds;
    run->last_ns = vp_clock_ns();
}

/* The own lanes of an activation end where the next activation's begin. */
static size_t own_end(const vp_run_t *run, uint32_t activation)
{
    const vp_waits_t *waits = run->program->waits;
    size_t end = run->end;

    while (end < waits->n_own &&
           run->program->plan->lanes[waits->own[end]].activation <= activation) {
        end++;
    }
    return end;
}

/* The last meeting of activations is the one that ends the call. */
static void run_activations(vp_run_t *run)
{
    uint32_t activation;

    for (activation = 0; activation + 1 < run->program->plan->n_activations && !run->alone;
         activation++) {
        run_lanes(run, own_end(run, activation));
        vp_run_meet(run);
    }
}

void vp_execute(vp_engine_t *engine, vp_work_t *work, vp_trouble_t *trouble_p, vp_error_t *own)
{
    vp_run_t run = {.engine = engine, .work = work, .program = work->program, .error = own};

    vp_dump_step(engine->options.dump, &engine->dump, VP_STEP_LANES);
    begin_run(&run);
    start_self(&run);
    if (run.program->sync == VP_SYNC_BARRIER) {
        run_activations(&run);
    }
    run_lanes(&run, run.program->waits->n_own);
    copy_self(&run);
    end_self(&run);
    release_rest(&run);
    vp_run_collect(&run);
    vp_run_meet(&run);
    if (run.n_to_come > 0) {
        engine->around.abandon(engine->around.context);
    }
    if (run.is_unsure) {
        vp_lanes_retire(engine->lanes);
    }
    vp_counter_add(&engine->counters->n_activations, run.program->plan->n_activations);
    *trouble_p = run.trouble;
}
