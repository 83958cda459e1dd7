/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll_variopath/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "coll_variopath/clock.h"
#include "coll_variopath/run.h"

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
    if (engine->place == NULL || engine->place_rank == NULL || engine->peer_key == NULL ||
        !vp_engine_make_records(engine)) {
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
    engine->dump.rank = engine->rank;
    engine->dump.name = options->name == NULL ? "" : options->name;
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
        vp_verdict_pass(work, VP_REASON_COMMUNICATOR, "%s", engine->reason);
    } else if (engine->fault) {
        /* Worth telling too: with the job set up rightly, lanes might have carried the call. */
        vp_verdict_pass(work, VP_REASON_COMMUNICATOR, "%s", engine->reason);
        work->outcome.verdict = VP_STAGED;
    }
    work->outcome.rank = engine->reason_rank;
    work->outcome.fault = engine->fault;
    return VP_OK;
}

bool vp_engine_pass_small(vp_engine_t *engine, uint64_t n_bytes)
{
    if (engine->state != VP_ENGINE_READY || engine->devices ||
        n_bytes >= engine->options.min_bytes) {
        return false;
    }
    vp_counter_add(&engine->counters->n_passed_on, 1);
    vp_counter_add(&engine->counters->n_reasons[VP_REASON_SMALL], 1);
    return true;
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

/* Bytes that NICs put into device memory may be seen by the device only after a flush. */
static vp_status_t flush_writes(const vp_engine_t *engine, const vp_work_t *work, vp_error_t *error)
{
    uint32_t i;

    if (!work->on_device || !vp_memory_is_device(work->call->receive_memory)) {
        return VP_OK;
    }
    for (i = 0; i < engine->model->n_classes; i++) {
        if (engine->model->classes[i].devices[0] != '\0' &&
            vp_lanes_class_puts_device(engine->lanes, i)) {
            return vp_device_flush_writes(work->call->receive_memory, error);
        }
    }
    return VP_OK;
}

/* Steps 4 and 5. Without bytes between ranks there is nothing that ranks could wait for. */
static vp_status_t carry(vp_engine_t *engine, vp_work_t *work, vp_error_t *error)
{
    vp_error_t own = {.status = VP_OK};
    uint64_t start_ns = vp_clock_ns();
    vp_trouble_t trouble;
    vp_status_t status;

    if (work->program == NULL) {
        status = vp_execute_self(engine, work, error);
        return status == VP_OK ? vp_verdict_truncation(engine, work, error) : status;
    }
    vp_execute(engine, work, &trouble, &own);
    vp_counter_add(&engine->counters->execution_ns, vp_clock_ns() - start_ns);
    vp_counter_add(&engine->counters->predicted_ns, work->program->plan->time_ns);
    vp_counter_add(&engine->counters->pairwise_ns, work->program->pairwise_ns);
    if (trouble.cause != VP_CAUSE_NONE) {
        return fail_all(engine, &trouble, work->program->plan, &own, error);
    }
    status = flush_writes(engine, work, error);
    return status == VP_OK ? vp_verdict_truncation(engine, work, error) : status;
}

static vp_status_t run_call(vp_engine_t *engine, vp_work_t *work, vp_error_t *error)
{
    uint64_t start_ns = vp_clock_ns();
    vp_status_t status = vp_rates_settle(engine, error);

    if (status == VP_OK) {
        status = vp_exchange(engine, work, error);
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
    engine->patient = call->patient;
    engine->dump.number = engine->n_calls;
    vp_dump_step(engine->options.dump, &engine->dump,
                 engine->state == VP_ENGINE_NEW ? VP_STEP_SETUP : VP_STEP_OPENING);
    vp_dump_enter(engine->options.dump, &engine->dump);
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
    vp_dump_leave(engine->options.dump, &engine->dump);
    vp_trace_call(engine, &work, status);
    if (!work.is_cached) {
        vp_program_destroy(work.program);
    }
    if (work.owns_region) {
        vp_lanes_unregister(engine->lanes, work.region);
    }
    if (engine->state == VP_ENGINE_DECLINED) {
        vp_regions_clear(engine);
    }
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
