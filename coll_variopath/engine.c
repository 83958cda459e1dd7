/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll_variopath/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "coll_variopath/clock.h"
#include "coll_variopath/engine_private.h"

const char *vp_verdict_text(vp_verdict_t verdict)
{
    switch (verdict) {
    case VP_CARRIED:
        return "carried";
    case VP_STAGED:
        return "staged";
    case VP_PASSED_ON:
        return "passed on";
    }
    return "unknown verdict";
}

bool vp_engine_declined(const vp_engine_t *engine)
{
    return engine->state == VP_ENGINE_DECLINED;
}

static vp_status_t fill_engine(vp_engine_t *engine, const vp_catalog_t *catalog,
                               const uint32_t *topology_rank, const uint64_t *peer_key,
                               vp_error_t *error)
{
    size_t n = engine->n_ranks;

    engine->place = vp_array_new(n, sizeof(*engine->place));
    engine->place_rank = vp_array_new(n, sizeof(*engine->place_rank));
    engine->peer_key = vp_array_new(n, sizeof(*engine->peer_key));
    if (engine->place == NULL || engine->place_rank == NULL || engine->peer_key == NULL) {
        return vp_error_no_memory(error, "the engine of a communicator");
    }
    memcpy(engine->peer_key, peer_key, n * sizeof(*peer_key));
    return vp_engine_place(engine, catalog, topology_rank, error);
}

vp_status_t vp_engine_create(const vp_catalog_t *catalog, vp_lanes_t *lanes,
                             const vp_surroundings_t *surroundings, const uint32_t *topology_rank,
                             const uint64_t *peer_key, const vp_engine_options_t *options,
                             vp_counters_t *counters, vp_engine_t **engine_p, vp_error_t *error)
{
    vp_engine_t *engine;
    vp_status_t status;

    engine = vp_array_new(1, sizeof(*engine));
    if (engine == NULL) {
        return vp_error_no_memory(error, "the engine of a communicator");
    }
    engine->lanes = lanes;
    engine->around = *surroundings;
    engine->options = *options;
    engine->counters = counters;
    engine->rank = surroundings->rank;
    engine->n_ranks = surroundings->n_ranks;
    status = fill_engine(engine, catalog, topology_rank, peer_key, error);
    if (status != VP_OK) {
        vp_engine_destroy(engine);
        return status;
    }
    *engine_p = engine;
    return VP_OK;
}

void vp_engine_destroy(vp_engine_t *engine)
{
    if (engine == NULL) {
        return;
    }
    vp_engine_setup_undo(engine);
    free(engine->place);
    free(engine->place_rank);
    free(engine->peer_key);
    vp_catalog_destroy(engine->own_catalog);
    free(engine);
}

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

static void fill_header(vp_engine_t *engine, const vp_work_t *work, vp_header_t *header)
{
    uint32_t peer;
    size_t keys_bytes = 0;

    memset(header->send_bytes, 0, engine->n_ranks * sizeof(*header->send_bytes));
    memset(header->receive_bytes, 0, engine->n_ranks * sizeof(*header->receive_bytes));
    header->obstacles = work->obstacles | (work->on_device ? VP_NOTE_DEVICE : 0);
    if (work->obstacles == 0) {
        for (peer = 0; peer < engine->n_ranks; peer++) {
            header->send_bytes[peer] = work->call->send[peer].n_bytes;
            header->receive_bytes[peer] = work->call->receive[peer].n_bytes;
        }
        if (vp_windows_changed(engine, work)) {
            (void)vp_region_keys(work->region, &keys_bytes);
        }
    }
    header->keys_bytes = (uint32_t)keys_bytes;
}

/* Step 2: what every rank sends, receives and cannot. */
static vp_status_t exchange_headers(vp_engine_t *engine, vp_work_t *work, vp_error_t *error)
{
    size_t n_bytes = vp_header_bytes(engine->n_ranks);
    uint32_t rank;
    vp_status_t status;

    look_at_memory(engine, work);
    if (!vp_windows_usable(engine)) {
        work->obstacles |= VP_OBSTACLE_PATH;
    }
    if (work->obstacles == 0) {
        vp_windows_register(engine, work);
    }
    fill_header(engine, work, &engine->headers[engine->rank]);
    vp_header_encode(&engine->headers[engine->rank], engine->n_ranks, engine->send_wire);
    status = vp_engine_allgather(engine, engine->send_wire, engine->receive_wire, n_bytes, error);
    if (status != VP_OK) {
        return status;
    }
    for (rank = 0; rank < engine->n_ranks; rank++) {
        vp_header_decode(engine->receive_wire + rank * n_bytes, engine->n_ranks,
                         &engine->headers[rank]);
        work->keys_changed = work->keys_changed || engine->headers[rank].keys_bytes > 0;
        engine->obstacles[rank] = engine->headers[rank].obstacles;
    }
    return vp_verdict_obstacles(engine, engine->obstacles, work, error);
}

/* One number of every rank, into engine->obstacles. */
static vp_status_t exchange_notices(vp_engine_t *engine, uint32_t mine, vp_error_t *error)
{
    uint32_t rank;
    vp_status_t status;

    vp_notice_encode(mine, engine->send_wire);
    status = vp_engine_allgather(engine, engine->send_wire, engine->receive_wire, VP_NOTICE_BYTES,
                                 error);
    for (rank = 0; status == VP_OK && rank < engine->n_ranks; rank++) {
        engine->obstacles[rank] =
            vp_notice_decode(engine->receive_wire + (size_t)rank * VP_NOTICE_BYTES);
    }
    return status;
}

/* A call on a communicator that is not carried: device buffers of any rank still count. */
static vp_status_t pass_on(vp_engine_t *engine, vp_work_t *work, vp_error_t *error)
{
    vp_status_t status;

    if (engine->devices) {
        status = exchange_notices(engine, work->call->obstacles, error);
        if (status == VP_OK) {
            status = vp_verdict_obstacles(engine, engine->obstacles, work, error);
        }
        if (status != VP_OK) {
            return status;
        }
    }
    if (work->outcome.verdict != VP_STAGED) {
        vp_verdict_pass(work, "%s", engine->reason);
    } else if (engine->fault) {
        /* Worth telling too: with the job set up rightly, lanes might have carried the call. */
        vp_verdict_pass(work, "%s", engine->reason);
        work->outcome.verdict = VP_STAGED;
    }
    work->outcome.rank = engine->reason_rank;
    work->outcome.fault = engine->fault;
    return VP_OK;
}

vp_status_t vp_engine_agree_staging(vp_engine_t *engine, vp_status_t mine, vp_error_t *error)
{
    uint32_t rank;
    vp_status_t status = exchange_notices(engine, (uint32_t)mine, error);

    for (rank = 0; status == VP_OK && rank < engine->n_ranks; rank++) {
        status = (vp_status_t)(int32_t)engine->obstacles[rank];
        if (status != VP_OK) {
            (void)vp_error_set(error, status,
                               "rank %u could not stage its device buffers: %s; the call fails on "
                               "all ranks before a byte moved",
                               rank, vp_status_text((int)status));
        }
    }
    return status;
}

/* Own preparations that may fail; how they went is part of the next record. */
static vp_status_t prepare(vp_engine_t *engine, vp_work_t *work, bool *worth_p, vp_error_t *error)
{
    uint64_t start_ns = vp_clock_ns();
    vp_status_t status = vp_verdict_plan(engine, work, worth_p, error);

    work->planning_ns = vp_clock_ns() - start_ns;
    vp_counter_add(&engine->counters->planning_ns, work->planning_ns);
    return status == VP_OK ? vp_windows_prepare(engine, work, error) : status;
}

static vp_status_t exchange_pairs(vp_engine_t *engine, const vp_work_t *work, vp_status_t prepared,
                                  vp_error_t *error)
{
    uint32_t peer;
    vp_status_t status;

    for (peer = 0; peer < engine->n_ranks; peer++) {
        const vp_block_t *block = &work->call->receive[peer];
        vp_pair_t pair = {.status = (int32_t)prepared,
                          .plan_hash = work->plan == NULL ? 0 : work->plan->hash};

        if (block->n_bytes > 0) {
            pair.receive_address = (uintptr_t)block->address;
        }
        vp_pair_encode(&pair, engine->send_wire + (size_t)peer * VP_PAIR_BYTES);
    }
    status =
        vp_engine_alltoall(engine, engine->send_wire, engine->receive_wire, VP_PAIR_BYTES, error);
    if (status != VP_OK) {
        return status;
    }
    for (peer = 0; peer < engine->n_ranks; peer++) {
        vp_pair_decode(engine->receive_wire + (size_t)peer * VP_PAIR_BYTES, &engine->pairs[peer]);
    }
    return VP_OK;
}

/* Passes on when a rank derived another plan: their lanes would collide, or leave bytes out. */
static void judge_plans(const vp_engine_t *engine, vp_work_t *work)
{
    uint32_t rank;

    for (rank = 1; rank < engine->n_ranks; rank++) {
        if (engine->pairs[rank].plan_hash != engine->pairs[0].plan_hash) {
            vp_verdict_pass(work, "rank %u derived another plan than rank 0", rank);
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
        vp_verdict_pass(work, "no plan: %s", own_text);
    } else {
        vp_verdict_pass(work, "rank %u could not prepare the call: %s", bad,
                        vp_status_text(engine->pairs[bad].status));
    }
}

/* Step 3: plan, addresses, keys. Up to its end the call can be passed on. */
static vp_status_t exchange_details(vp_engine_t *engine, vp_work_t *work, vp_error_t *error)
{
    vp_error_t detail;
    bool worth = false;
    vp_status_t prepared = prepare(engine, work, &worth, &detail);
    vp_status_t status = exchange_pairs(engine, work, prepared, error);

    if (status != VP_OK) {
        return status;
    }
    if (prepared != VP_OK) {
        vp_log(engine->options.log, VP_LOG_CALL, "%s", detail.text);
    }
    judge_preparations(engine, work, detail.text);
    if (work->outcome.verdict == VP_CARRIED && !worth) {
        vp_verdict_pass(work, "the plan gains less than %u%% over the pairwise exchange",
                        engine->options.min_gain_percent);
    }
    if (work->outcome.verdict == VP_CARRIED && work->keys_changed) {
        status = vp_windows_exchange(engine, work, error);
    }
    return status;
}

static vp_status_t fail_all(vp_engine_t *engine, const vp_trouble_t *trouble, const vp_plan_t *plan,
                            const vp_error_t *own, vp_error_t *error)
{
    char text[160];

    vp_engine_trouble_text(engine, trouble, plan, text, sizeof(text));
    vp_engine_decline(engine, engine->n_ranks, "an earlier call failed: %s", text);
    return vp_error_set(
        error, trouble->status == VP_ERR_TIMEOUT ? VP_ERR_TIMEOUT : VP_ERR_TRANSPORT,
        "alltoallv failed after bytes had moved: %s; receive buffers are "
        "undefined and this communicator is not carried any more%s%s",
        text, own->status != VP_OK ? ". Here: " : "", own->status != VP_OK ? own->text : "");
}

/* Steps 4 and 5. Without bytes between ranks there is nothing that ranks could wait for. */
static vp_status_t carry(vp_engine_t *engine, vp_work_t *work, vp_error_t *error)
{
    vp_error_t own = {.status = VP_OK};
    vp_trouble_t trouble;
    vp_status_t status;

    if (work->program == NULL) {
        status = vp_execute_self(engine, work, error);
        return status == VP_OK ? vp_verdict_truncation(engine, error) : status;
    }
    vp_execute(engine, work, &trouble, &own);
    return trouble.cause == VP_CAUSE_NONE ? vp_verdict_truncation(engine, error)
                                          : fail_all(engine, &trouble, work->plan, &own, error);
}

static vp_status_t run_call(vp_engine_t *engine, vp_work_t *work, vp_error_t *error)
{
    uint64_t start_ns = vp_clock_ns();
    vp_status_t status = exchange_headers(engine, work, error);

    if (status == VP_OK && work->outcome.verdict == VP_CARRIED) {
        vp_verdict_demand(engine, work);
        if (work->total_bytes > 0) {
            status = exchange_details(engine, work, error);
        }
    }
    if (work->outcome.verdict == VP_PASSED_ON && work->any_device) {
        work->outcome.verdict = VP_STAGED;
    }
    vp_counter_add(&engine->counters->exchange_ns, vp_clock_ns() - start_ns - work->planning_ns);
    if (status == VP_OK && work->outcome.verdict == VP_CARRIED) {
        vp_trace_begin(engine, work);
        status = carry(engine, work, error);
    }
    return status;
}

vp_status_t vp_engine_alltoallv(vp_engine_t *engine, const vp_call_t *call, vp_outcome_t *outcome_p,
                                vp_error_t *error)
{
    vp_work_t work = {
        .call = call, .start_ns = vp_clock_ns(), .outcome = {.rank = engine->n_ranks}};
    vp_status_t status = VP_OK;

    engine->n_calls++;
    if (engine->state == VP_ENGINE_NEW) {
        status = vp_engine_setup(engine, error);
    }
    if (status == VP_OK && engine->state == VP_ENGINE_DECLINED) {
        status = pass_on(engine, &work, error);
    } else if (status == VP_OK) {
        status = run_call(engine, &work, error);
    }
    if (status != VP_OK && status != VP_ERR_TRUNCATE && status != VP_ERR_DEVICE &&
        engine->state != VP_ENGINE_DECLINED) {
        /* A collective below failed and left the ranks apart: this one will not try again. */
        vp_engine_decline(engine, engine->n_ranks, "an earlier call failed: %s",
                          vp_status_text((int)status));
    }
    vp_trace_call(engine, &work, status);
    vp_program_destroy(work.program);
    vp_lanes_unregister(engine->lanes, work.region);
    vp_lanes_unregister(engine->lanes, work.send_region);
    if (work.on_device) {
        vp_device_leave();
    }
    free(work.times);
    free(work.keys);
    if (status == VP_OK || status == VP_ERR_TRUNCATE) {
        *outcome_p = work.outcome;
    }
    return status;
}
