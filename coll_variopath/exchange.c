/*
 * Steps 2 and 3 of a call: what all ranks must know before the first byte moves,
 * in as few and as small records as the call allows.
 *
 * All ranks open with 16 bytes each. If they agree that it is worth while, and that
 * the counts are none of those seen lately, the rows of counts follow, then the
 * plan, then addresses, which only their peers get to know. A call with counts,
 * buffers and keys that were seen before needs no more than the opening.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "base/units.h"
#include "coll_variopath/clock.h"
#include "coll_variopath/run.h"

enum {
    /* Beside obstacles in openings, and none themselves: */
    NOTE_SAME_PLACES = 1 << 30, /* every peer knows this rank's addresses and room */
    MAX_SHORT = UINT16_MAX      /* longest keys */
};

/* Copies go from one allocation to another: what spans several is left to the staging above. */
static bool lanes_carry(const vp_memory_t *memory)
{
    return !vp_memory_is_device(memory) || memory->one_allocation;
}

/* Device buffers are no obstacle where all ranks' lanes move device memory. */
static void look_at_memory(const vp_engine_t *engine, vp_work_t *work)
{
    const vp_call_t *call = work->call;
    const vp_memory_t *memory;
    vp_error_t detail;

    work->obstacles = call->obstacles;
    if ((work->obstacles & VP_OBSTACLE_DEVICE) == 0 || !engine->carry_devices || !engine->devices ||
        call->send_memory == NULL || call->receive_memory == NULL ||
        !lanes_carry(call->send_memory) || !lanes_carry(call->receive_memory)) {
        return;
    }
    memory = vp_memory_is_device(call->send_memory) ? call->send_memory : call->receive_memory;
    if (vp_device_enter(memory, &detail) != VP_OK) {
        vp_log(engine->options.log, VP_LOG_WARN, "%s", detail.text);
        work->obstacles |= VP_OBSTACLE_DEVICE_LOST;
        return;
    }
    work->on_device = true;
    work->obstacles &= ~(uint32_t)VP_OBSTACLE_DEVICE;
}

/* Own bytes to each rank, without those to itself, which no plan moves. */
static void fill_row(vp_engine_t *engine, const vp_work_t *work)
{
    uint32_t peer;

    for (peer = 0; peer < engine->n_ranks; peer++) {
        engine->row[peer] =
            peer == engine->rank || work->obstacles != 0 ? 0 : work->call->send[peer].n_bytes;
    }
}

static uint32_t sum_row(const vp_engine_t *engine)
{
    uint64_t sum = 0;
    uint32_t peer;

    for (peer = 0; peer < engine->n_ranks; peer++) {
        sum = vp_add_sat(sum, engine->row[peer]);
    }
    return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

/* Where a peer's bytes go, as it is to be told. */
static vp_pair_t own_place(const vp_work_t *work, uint32_t peer)
{
    const vp_block_t *block = &work->call->receive[peer];
    vp_pair_t place = {.receive_address = 0};

    if (block->n_bytes > 0) {
        place.receive_address = (uintptr_t)block->address;
        place.room = block->n_bytes;
    }
    return place;
}

static bool same_places(const vp_engine_t *engine, const vp_work_t *work)
{
    uint32_t peer;
    bool same = engine->places_told;

    for (peer = 0; peer < engine->n_ranks && same; peer++) {
        vp_pair_t place = own_place(work, peer);

        same = engine->told[peer].receive_address == place.receive_address &&
               engine->told[peer].room == place.room;
    }
    return same;
}

static vp_opening_t own_opening(vp_engine_t *engine, vp_work_t *work)
{
    uint32_t note = work->on_device ? VP_NOTE_DEVICE : 0;
    vp_opening_t opening = {.obstacles = work->obstacles | note};
    size_t keys_bytes = 0;

    fill_row(engine, work);
    if (work->obstacles != 0) {
        return opening;
    }
    if (vp_windows_changed(engine, work)) {
        (void)vp_region_keys(work->region, &keys_bytes);
    }
    if (keys_bytes > MAX_SHORT) {
        opening.obstacles = VP_OBSTACLE_MEMORY | note;
        return opening;
    }
    opening.obstacles = note | (same_places(engine, work) ? (uint32_t)NOTE_SAME_PLACES : 0);
    opening.matches = vp_cache_matches(engine);
    opening.keys_bytes = (uint32_t)keys_bytes;
    opening.row_bytes = (uint32_t)vp_row_bytes(engine->row, engine->n_ranks);
    opening.sent_bytes = sum_row(engine);
    return opening;
}

/* What follows from all openings together. */
typedef struct summary {
    uint32_t matches;
    uint32_t longest_row;
    uint64_t sent_bytes;
    bool same_places;
} summary_t;

static void summarize(vp_engine_t *engine, vp_work_t *work, summary_t *summary)
{
    uint32_t rank;

    *summary = (summary_t){.matches = UINT32_MAX, .same_places = true};
    for (rank = 0; rank < engine->n_ranks; rank++) {
        vp_opening_t *opening = &engine->openings[rank];

        vp_opening_decode(engine->receive_wire + (size_t)rank * VP_OPENING_BYTES, opening);
        summary->matches &= opening->matches;
        summary->same_places = summary->same_places && (opening->obstacles & NOTE_SAME_PLACES) != 0;
        summary->sent_bytes += opening->sent_bytes;
        if (opening->row_bytes > summary->longest_row) {
            summary->longest_row = opening->row_bytes;
        }
        work->keys_changed = work->keys_changed || opening->keys_bytes > 0;
        engine->obstacles[rank] = opening->obstacles & ~(uint32_t)NOTE_SAME_PLACES;
    }
}

/* Step 2: what every rank has and has not. Leaves the verdict as far as it is known. */
static vp_status_t exchange_openings(vp_engine_t *engine, vp_work_t *work, summary_t *summary,
                                     vp_error_t *error)
{
    vp_opening_t opening;
    vp_status_t status;

    look_at_memory(engine, work);
    if (!vp_windows_usable(engine)) {
        work->obstacles |= VP_OBSTACLE_PATH;
    }
    if (work->obstacles == 0) {
        vp_windows_register(engine, work);
    }
    opening = own_opening(engine, work);
    vp_dump_step(engine->options.dump, &engine->dump, VP_STEP_OPENING);
    vp_opening_encode(&opening, engine->send_wire);
    status = vp_engine_allgather(engine, engine->send_wire, engine->receive_wire, VP_OPENING_BYTES,
                                 error);
    if (status != VP_OK) {
        return status;
    }
    summarize(engine, work, summary);
    if (summary->longest_row > VP_ROW_HEAD_BYTES + (uint64_t)engine->n_ranks * 8) {
        return vp_error_set(error, VP_ERR_MISMATCH,
                            "a rank announces %u bytes of counts for %u ranks; the communicator "
                            "cannot be used further, report this",
                            summary->longest_row, engine->n_ranks);
    }
    return vp_verdict_obstacles(engine, engine->obstacles, work, error);
}

/* The same answer on all ranks. */
static bool go_by_leaders(const vp_engine_t *engine, size_t n_bytes)
{
    return engine->use_leaders == VP_LEADERS_ON ||
           (engine->use_leaders == VP_LEADERS_AUTO &&
            vp_leaders_pay(engine->leaders, engine->model, n_bytes));
}

/*
 * Own row into everyone's receive_wire. Where a rank of a leader's allgather misses rows, its
 * pair records say so to all; in the collective below nobody can be told.
 */
static vp_status_t gather_rows(vp_engine_t *engine, vp_work_t *work, uint32_t stride,
                               vp_error_t *error)
{
    if (!go_by_leaders(engine, stride)) {
        return vp_engine_allgather(engine, engine->send_wire, engine->receive_wire, stride, error);
    }
    vp_log(engine->options.log, VP_LOG_DEBUG, "counts go by way of the nodes' leaders");
    work->rows_status = vp_leaders_allgather(engine->leaders, &engine->around, engine->send_wire,
                                             engine->receive_wire, stride);
    return VP_OK;
}

/* Rows of all ranks, into the demand. */
static vp_status_t exchange_rows(vp_engine_t *engine, vp_work_t *work, uint32_t stride,
                                 vp_error_t *error)
{
    uint32_t rank, peer, n = engine->n_ranks;
    vp_status_t status;

    vp_dump_step(engine->options.dump, &engine->dump, VP_STEP_COUNTS);
    memset(engine->send_wire, 0, stride);
    vp_row_encode(engine->row, n, engine->send_wire);
    status = gather_rows(engine, work, stride, error);
    for (rank = 0; status == VP_OK && work->rows_status == VP_OK && rank < n; rank++) {
        uint64_t *demand = engine->demand + (size_t)engine->place[rank] * n;

        if (!vp_row_decode(engine->receive_wire + (size_t)rank * stride,
                           engine->openings[rank].row_bytes, n, engine->row)) {
            return vp_error_set(error, VP_ERR_MISMATCH,
                                "the counts of rank %u do not parse; the communicator cannot be "
                                "used further, report this",
                                rank);
        }
        for (peer = 0; peer < n; peer++) {
            demand[engine->place[peer]] = engine->row[peer];
        }
    }
    return status;
}

/* Own preparations that may fail; how they went is part of the next record. */
static vp_status_t prepare(vp_engine_t *engine, vp_work_t *work, vp_error_t *error)
{
    uint64_t start_ns = vp_clock_ns();
    vp_status_t status = VP_OK;

    if (work->rows_status != VP_OK) {
        return vp_error_set(error, work->rows_status,
                            "counts got lost on the way over the nodes' leaders");
    }
    if (work->program == NULL) {
        status = vp_verdict_plan(engine, work, error);
        work->planning_ns = vp_clock_ns() - start_ns;
        vp_counter_add(&engine->counters->planning_ns, work->planning_ns);
    }
    return status == VP_OK ? vp_windows_prepare(engine, work, error) : status;
}

static vp_status_t exchange_pairs(vp_engine_t *engine, const vp_work_t *work, vp_status_t prepared,
                                  vp_error_t *error)
{
    uint32_t peer;
    vp_status_t status;

    vp_dump_step(engine->options.dump, &engine->dump, VP_STEP_PLACES);
    for (peer = 0; peer < engine->n_ranks; peer++) {
        vp_pair_t *pair = &engine->told[peer];

        *pair = own_place(work, peer);
        pair->status = (int32_t)prepared;
        pair->plan_hash = work->program == NULL ? 0 : work->program->plan->hash;
        vp_pair_encode(pair, engine->send_wire + (size_t)peer * VP_PAIR_BYTES);
    }
    status =
        vp_engine_alltoall(engine, engine->send_wire, engine->receive_wire, VP_PAIR_BYTES, error);
    if (status != VP_OK) {
        return status;
    }
    for (peer = 0; peer < engine->n_ranks; peer++) {
        vp_pair_decode(engine->receive_wire + (size_t)peer * VP_PAIR_BYTES, &engine->pairs[peer]);
    }
    engine->places_told = true;
    return VP_OK;
}

/* Passes on when a rank derived another plan: their lanes would collide, or leave bytes out. */
static void judge_plans(const vp_engine_t *engine, vp_work_t *work)
{
    uint32_t rank;

    for (rank = 1; rank < engine->n_ranks; rank++) {
        if (engine->pairs[rank].plan_hash != engine->pairs[0].plan_hash) {
            vp_verdict_pass(work, VP_REASON_PLAN, "rank %u derived another plan than rank 0", rank);
            return;
        }
    }
}

/* Passes on when a rank could not prepare; its own words only when all ranks say the same. */
static void judge_preparations(const vp_engine_t *engine, vp_work_t *work, const char *own_text)
{
    int32_t first = engine->pairs[0].status;
    bool alike = true;
    uint32_t rank, bad = engine->n_ranks;

    for (rank = 0; rank < engine->n_ranks; rank++) {
        alike = alike && engine->pairs[rank].status == first;
        if (engine->pairs[rank].status != VP_OK && bad == engine->n_ranks) {
            bad = rank;
        }
    }
    if (bad == engine->n_ranks) {
        judge_plans(engine, work);
        return;
    }
    if (alike && first != VP_ERR_NO_MEMORY && first != VP_ERR_INTERNAL) {
        vp_verdict_pass(work, VP_REASON_PLAN, "no plan: %s", own_text);
    } else {
        vp_verdict_pass(work, VP_REASON_PLAN, "rank %u could not prepare the call: %s", bad,
                        vp_status_text(engine->pairs[bad].status));
    }
}

/* A way that lost counts is not gone again, by any rank. */
static void judge_leaders(vp_engine_t *engine)
{
    uint32_t rank;

    for (rank = 0; rank < engine->n_ranks; rank++) {
        if (engine->pairs[rank].status == VP_ERR_TRANSPORT) {
            engine->use_leaders = VP_LEADERS_OFF;
        }
    }
}

/* Step 3: plan, addresses, keys. Up to its end the call can be passed on. */
static vp_status_t exchange_details(vp_engine_t *engine, vp_work_t *work, vp_error_t *error)
{
    vp_error_t detail;
    vp_status_t prepared = prepare(engine, work, &detail);
    vp_status_t status = exchange_pairs(engine, work, prepared, error);

    if (status != VP_OK) {
        return status;
    }
    if (prepared != VP_OK) {
        vp_log(engine->options.log, VP_LOG_CALL, "%s", detail.text);
    }
    judge_preparations(engine, work, detail.text);
    judge_leaders(engine);
    if (work->outcome.verdict == VP_CARRIED && !work->is_cached) {
        vp_cache_keep(engine, work);
    }
    vp_verdict_worth(engine, work);
    if (work->outcome.verdict == VP_CARRIED && work->keys_changed) {
        status = vp_windows_exchange(engine, work, error);
    }
    return status;
}

/* Is the call so small that lanes cannot pay? */
static bool is_small(const vp_engine_t *engine, vp_work_t *work, uint64_t sent_bytes)
{
    if (sent_bytes >= engine->options.min_bytes) {
        return false;
    }
    vp_verdict_pass(work, VP_REASON_SMALL,
                    "%llu bytes of all ranks, fewer than coll_variopath_min_bytes",
                    (unsigned long long)sent_bytes);
    return true;
}

vp_status_t vp_exchange(vp_engine_t *engine, vp_work_t *work, vp_error_t *error)
{
    const vp_catalog_t *catalog = engine->catalog;
    summary_t summary;
    vp_status_t status = exchange_openings(engine, work, &summary, error);

    if (status != VP_OK || work->outcome.verdict != VP_CARRIED || summary.sent_bytes == 0 ||
        is_small(engine, work, summary.sent_bytes)) {
        return status;
    }
    status = vp_trust_check(engine, work, error);
    if (status != VP_OK) {
        return status;
    }
    if (summary.matches != 0 && engine->catalog == catalog) {
        vp_cache_take(engine, work, summary.matches);
        vp_verdict_worth(engine, work);
        if (work->outcome.verdict != VP_CARRIED || (summary.same_places && !work->keys_changed)) {
            return VP_OK;
        }
        return exchange_details(engine, work, error);
    }
    status = exchange_rows(engine, work, summary.longest_row, error);
    return status == VP_OK ? exchange_details(engine, work, error) : status;
}
