/*
 * The plan's rows of this rank: put per lane, flush per lane, in plan order.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <sched.h>
#include <string.h>

#include "coll_variopath/clock.h"
#include "coll_variopath/engine_private.h"

enum {
    HOST_PROGRESS_EVERY = 8, /* spins between two calls of the host's progress */
    YIELD_AFTER = 32         /* idle spins before the core is offered to other ranks */
};

static void wait_once(const vp_engine_t *engine, unsigned spin, unsigned *n_idle_p)
{
    if (vp_lanes_progress(engine->lanes) > 0) {
        *n_idle_p = 0;
    } else {
        ++*n_idle_p;
    }
    if (spin % HOST_PROGRESS_EVERY == 0 && engine->around.progress != NULL) {
        engine->around.progress(engine->around.context);
    }
    if (*n_idle_p > YIELD_AFTER) {
        (void)sched_yield();
    }
}

static vp_status_t wait_for(const vp_engine_t *engine, const vp_lane_t *lane,
                            vp_operation_t *operation, vp_error_t *error)
{
    uint64_t limit_ns = (uint64_t)engine->options.timeout_ms * 1000000;
    uint64_t start_ns = vp_clock_ns();
    unsigned spin = 0, n_idle = 0;
    bool done = false;

    for (;;) {
        vp_status_t status = vp_lanes_test(engine->lanes, &operation, &done, error);

        if (status != VP_OK || done) {
            return status;
        }
        if (limit_ns != 0 && vp_clock_ns() - start_ns > limit_ns) {
            break;
        }
        wait_once(engine, spin++, &n_idle);
    }
    vp_lanes_cancel(engine->lanes, operation);
    return vp_error_set(error, VP_ERR_TIMEOUT,
                        "%llu bytes to rank %u did not arrive within %u ms; the lane was "
                        "cancelled and the call fails, raise coll_variopath_timeout_ms if the path "
                        "is just slow",
                        (unsigned long long)lane->n_bytes, engine->place_rank[lane->destination],
                        engine->options.timeout_ms);
}

static vp_status_t start_lane(vp_engine_t *engine, const vp_work_t *work, const vp_lane_t *lane,
                              vp_operation_t **operation_p, vp_error_t *error)
{
    const vp_instance_t *instance = &engine->model->instances[lane->instance];
    uint32_t peer = engine->place_rank[lane->destination];
    const vp_link_t *link =
        vp_windows_find(engine, peer, instance->source_class, instance->destination_class);
    const char *block = work->call->send[peer].address;

    if (link == NULL || link->window == NULL) {
        return vp_error_set(error, VP_ERR_INTERNAL,
                            "the plan uses a path to rank %u that is not connected; the call "
                            "fails, report this",
                            peer);
    }
    return vp_lanes_put(engine->lanes, link->window, block + lane->offset_bytes,
                        work->on_device && work->call->send_memory->kind == VP_MEMORY_DEVICE,
                        engine->pairs[peer].receive_address + lane->offset_bytes,
                        (size_t)lane->n_bytes, operation_p, error);
}

static void count_lane(vp_engine_t *engine, vp_work_t *work, const vp_lane_t *lane)
{
    vp_path_kind_t kind = engine->model->instances[lane->instance].kind;

    work->sent_bytes += lane->n_bytes;
    work->kind_bytes[kind] += lane->n_bytes;
    vp_counter_add(&engine->counters->n_lanes, 1);
    vp_counter_add(&engine->counters->sent_bytes[kind], lane->n_bytes);
}

static vp_status_t copy_block(const vp_work_t *work, void *to, const void *from, size_t n_bytes,
                              vp_error_t *error)
{
    const vp_call_t *call = work->call;

    if (!work->on_device) {
        memmove(to, from, n_bytes);
        return VP_OK;
    }
    return vp_device_copy(call->send_memory->kind == VP_MEMORY_DEVICE ? call->send_memory
                                                                      : call->receive_memory,
                          (uintptr_t)to, (uintptr_t)from, n_bytes, error);
}

static vp_status_t copy_self(vp_engine_t *engine, const vp_work_t *work, vp_error_t *error)
{
    const vp_call_t *call = work->call;
    const vp_block_t *send = &call->send[engine->rank];
    const vp_block_t *receive = &call->receive[engine->rank];
    uint64_t n_bytes = send->n_bytes < receive->n_bytes ? send->n_bytes : receive->n_bytes;

    if (n_bytes == 0) {
        return VP_OK;
    }
    vp_counter_add(&engine->counters->self_bytes, n_bytes);
    return copy_block(work, receive->address, send->address, (size_t)n_bytes, error);
}

/* Bytes of the own block are copied while the first lane is under way. */
static vp_status_t run_lane(vp_engine_t *engine, vp_work_t *work, size_t index, vp_error_t *error)
{
    const vp_lane_t *lane = &work->plan->lanes[index];
    vp_operation_t *operation;
    uint64_t start_ns = vp_clock_ns();
    vp_status_t self = VP_OK, status = start_lane(engine, work, lane, &operation, error);

    if (!work->self_done) {
        work->self_done = true;
        self = copy_self(engine, work, status == VP_OK ? error : NULL);
    }
    if (status == VP_OK) {
        status = wait_for(engine, lane, operation, self == VP_OK ? error : NULL);
        status = self == VP_OK ? status : self;
    }
    if (status != VP_OK) {
        return status;
    }
    count_lane(engine, work, lane);
    vp_log(engine->options.log, VP_LOG_DEBUG,
           "activation %u: %llu bytes to rank %u over %s in %llu ns", lane->activation,
           (unsigned long long)lane->n_bytes, engine->place_rank[lane->destination],
           vp_path_kind_text(engine->model->instances[lane->instance].kind),
           (unsigned long long)(vp_clock_ns() - start_ns));
    if (work->times != NULL) {
        work->times[index].start_ns = start_ns - work->start_ns;
        work->times[index].end_ns = vp_clock_ns() - work->start_ns;
    }
    return VP_OK;
}

static vp_status_t run_activation(vp_engine_t *engine, vp_work_t *work, uint32_t activation,
                                  const vp_lane_t **lane_p, vp_error_t *error)
{
    const vp_plan_t *plan = work->plan;
    uint32_t mine = vp_engine_my_place(engine);
    vp_status_t status = VP_OK;
    size_t i;

    for (i = plan->activation_begin[activation];
         i < plan->activation_begin[activation + 1] && status == VP_OK; i++) {
        if (plan->lanes[i].source == mine) {
            status = run_lane(engine, work, i, error);
            if (status != VP_OK) {
                *lane_p = &plan->lanes[i];
            }
        }
    }
    return status;
}

static vp_status_t wait_for_all(const vp_engine_t *engine, vp_error_t *error)
{
    vp_status_t status = engine->around.barrier(engine->around.context);

    return status == VP_OK
               ? VP_OK
               : vp_error_set(error, status,
                              "the barrier below this collective failed (%s); the communicator "
                              "cannot be used further",
                              vp_status_text((int)status));
}

vp_status_t vp_execute(vp_engine_t *engine, vp_work_t *work, const vp_lane_t **lane_p,
                       vp_error_t *error)
{
    vp_status_t status = VP_OK, below = VP_OK;
    uint32_t activation, n_activations = work->plan == NULL ? 0 : work->plan->n_activations;

    for (activation = 0; activation < n_activations && below == VP_OK; activation++) {
        /* After a failure a rank still comes to every barrier: the others wait for it there. */
        if (status == VP_OK) {
            status = run_activation(engine, work, activation, lane_p, error);
        }
        if (engine->options.sync == VP_SYNC_BARRIER) {
            below = wait_for_all(engine, status == VP_OK ? error : NULL);
        }
    }
    if (!work->self_done && status == VP_OK) {
        work->self_done = true;
        status = copy_self(engine, work, error);
    }
    vp_counter_add(&engine->counters->n_activations, n_activations);
    return status != VP_OK ? status : below;
}
