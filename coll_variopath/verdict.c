/*
 * From everyone's records to one verdict. All of it is derived from what was
 * allgathered, so it comes out the same on every rank.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "coll_variopath/run.h"

static const char *obstacle_text(uint32_t obstacles)
{
#define OBSTACLE_CASE(name, bit, text)                                                             \
    if ((obstacles & name) != 0) {                                                                 \
        return text;                                                                               \
    }
    VP_OBSTACLE_MAP(OBSTACLE_CASE)
#undef OBSTACLE_CASE
    return "an unknown obstacle";
}

void vp_verdict_pass(vp_work_t *work, vp_reason_t reason, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(work->outcome.reason, sizeof(work->outcome.reason), format, arguments);
    va_end(arguments);
    work->outcome.verdict = VP_PASSED_ON;
    work->reason = reason;
}

/* The lowest rank with any of these obstacles; n_ranks: none. */
static uint32_t find_rank(const vp_engine_t *engine, const uint32_t *obstacles, uint32_t wanted)
{
    uint32_t rank = 0;

    while (rank < engine->n_ranks && (obstacles[rank] & wanted) == 0) {
        rank++;
    }
    return rank;
}

/* Device buffers come first: whatever else is in the way, the collective below must not see them.
 */
vp_status_t vp_verdict_obstacles(const vp_engine_t *engine, const uint32_t *obstacles,
                                 vp_work_t *work, vp_error_t *error)
{
    uint32_t lost = find_rank(engine, obstacles, VP_OBSTACLE_DEVICE_LOST);
    uint32_t staged = find_rank(engine, obstacles, VP_OBSTACLE_DEVICE);
    uint32_t any = find_rank(engine, obstacles, ~VP_NOTE_DEVICE);

    work->any_device = find_rank(engine, obstacles, VP_NOTE_DEVICE) < engine->n_ranks;
    if (lost < engine->n_ranks) {
        return vp_error_set(error, VP_ERR_DEVICE,
                            "rank %u: the CUDA driver does not say what the buffers are; the call "
                            "fails on all ranks before a byte moved, look for an earlier failure "
                            "of that rank's device",
                            lost);
    }
    if (staged < engine->n_ranks) {
        vp_verdict_pass(work, VP_REASON_OBSTACLE, "rank %u: %s", staged,
                        obstacle_text(VP_OBSTACLE_DEVICE));
        work->outcome.verdict = VP_STAGED;
    } else if (any < engine->n_ranks) {
        vp_verdict_pass(work, VP_REASON_OBSTACLE, "rank %u: %s", any,
                        obstacle_text(obstacles[any]));
    }
    return VP_OK;
}

/*
 * Own lanes must stay inside what was agreed, whatever a planner did: offsets
 * are addresses from here on.
 */
static vp_status_t check_own_lanes(const vp_engine_t *engine, const vp_plan_t *plan,
                                   vp_error_t *error)
{
    uint32_t mine = vp_engine_my_place(engine), n = engine->n_ranks;
    uint64_t planned = 0, wanted = 0;
    size_t i;

    for (i = 0; i < plan->n_lanes; i++) {
        const vp_lane_t *lane = &plan->lanes[i];
        uint64_t room;

        if (lane->source != mine) {
            continue;
        }
        room = lane->destination < n ? engine->demand[(size_t)mine * n + lane->destination] : 0;
        if (lane->n_bytes > room || lane->offset_bytes > room - lane->n_bytes ||
            lane->instance >= engine->model->n_instances) {
            return vp_error_set(error, VP_ERR_INTERNAL,
                                "lane %zu of the plan (%s) leaves its block; the call is passed "
                                "on, report this",
                                i, plan->scheduler);
        }
        planned += lane->n_bytes;
    }
    for (i = 0; i < n; i++) {
        wanted += engine->demand[(size_t)mine * n + i];
    }
    return planned == wanted
               ? VP_OK
               : vp_error_set(error, VP_ERR_INTERNAL,
                              "the plan (%s) does not move all bytes of this rank; the call is "
                              "passed on, report this",
                              plan->scheduler);
}

/* Is the plan faster than the pairwise exchange by the gain that is asked for? */
static vp_status_t weigh(const vp_engine_t *engine, uint64_t alpha_ns, vp_program_t *program,
                         vp_error_t *error)
{
    uint32_t gain = engine->options.min_gain_percent;
    vp_status_t status;

    program->worth = true;
    if (gain == 0 && !engine->options.compare) {
        return VP_OK;
    }
    status = vp_pairwise_ns(engine->model, engine->demand, alpha_ns, &program->pairwise_ns, error);
    if (status == VP_OK && gain != 0) {
        program->worth = program->pairwise_ns >=
                         vp_muldiv_ceil(program->plan->time_ns, 100 + (uint64_t)gain, 100);
    }
    return status;
}

void vp_verdict_worth(const vp_engine_t *engine, vp_work_t *work)
{
    if (work->outcome.verdict == VP_CARRIED && !work->program->worth) {
        vp_verdict_pass(work, VP_REASON_GAIN,
                        "the plan gains less than %u%% over the pairwise exchange",
                        engine->options.min_gain_percent);
    }
}

/* The contention profile that was measured together with the rates in use; NULL: none. */
static const char *measured_links(const vp_model_t *model)
{
    uint32_t i;

    for (i = 0; model->rates != NULL && i < model->n_contention; i++) {
        if (strcmp(model->contention[i].name, model->rates) == 0) {
            return model->contention[i].name;
        }
    }
    return NULL;
}

/* What plans may do beside activations of exclusive lanes. */
static void allow_forms(const vp_engine_t *engine, vp_schedule_options_t *options)
{
    const char *links = engine->options.links;

    options->by_dependencies =
        engine->options.sync == VP_SYNC_AUTO || engine->options.sync == VP_SYNC_DEPS;
    options->links = links != NULL && links[0] != '\0' ? links : measured_links(engine->model);
    options->sharing = engine->options.sharing == VP_SHARING_AUTO && options->links == NULL
                           ? VP_SHARING_OFF
                           : engine->options.sharing;
}

/* Made for the first call that may share links, kept as long as the catalog. */
static vp_status_t open_standing(vp_engine_t *engine, vp_schedule_options_t *options,
                                 vp_error_t *error)
{
    vp_status_t status = VP_OK;

    if (options->sharing == VP_SHARING_AUTO && engine->standing == NULL) {
        status = vp_standing_create(engine->model, options->links, &engine->standing, error);
    }
    options->standing = engine->standing;
    return status;
}

vp_status_t vp_verdict_plan(vp_engine_t *engine, vp_work_t *work, vp_error_t *error)
{
    vp_schedule_fn_t schedule = vp_schedule_find(engine->options.scheduler);
    vp_schedule_options_t options = {0};
    vp_program_t *program;
    vp_plan_t *plan;
    vp_status_t status;

    if (schedule == NULL) {
        return vp_error_set(error, VP_ERR_USAGE, "there is no scheduler \"%s\" (known: %s)",
                            engine->options.scheduler, vp_schedule_names());
    }
    options.alpha_ns =
        engine->options.alpha_ns != 0 ? engine->options.alpha_ns : engine->model->alpha_ns;
    options.pool = engine->pool;
    allow_forms(engine, &options);
    status = open_standing(engine, &options, error);
    if (status != VP_OK) {
        return status;
    }
    status = schedule(engine->catalog, engine->demand, &options, &plan, error);
    if (status != VP_OK) {
        return status;
    }
    status = check_own_lanes(engine, plan, error);
    if (status != VP_OK) {
        vp_plan_destroy(plan);
        return status;
    }
    status = vp_program_create(engine, plan, &program, error);
    if (status != VP_OK) {
        return status;
    }
    status = weigh(engine, options.alpha_ns, program, error);
    if (status != VP_OK) {
        vp_program_destroy(program);
        return status;
    }
    work->program = program;
    return VP_OK;
}

/* `from` sends more than `to` has room for. */
static vp_status_t truncation(uint32_t from, uint64_t sent, uint32_t to, uint64_t room,
                              vp_error_t *error)
{
    return vp_error_set(error, VP_ERR_TRUNCATE,
                        "rank %u sends %llu bytes, but rank %u has room for %llu; the block was "
                        "cut, make the counts of both ranks agree",
                        from, (unsigned long long)sent, to, (unsigned long long)room);
}

vp_status_t vp_verdict_truncation(const vp_engine_t *engine, const vp_work_t *work,
                                  vp_error_t *error)
{
    const vp_call_t *call = work->call;
    uint32_t peer, rank = engine->rank;

    if (call->send[rank].n_bytes > call->receive[rank].n_bytes) {
        return truncation(rank, call->send[rank].n_bytes, rank, call->receive[rank].n_bytes, error);
    }
    for (peer = 0; work->program != NULL && peer < engine->n_ranks; peer++) {
        if (peer == rank) {
            continue;
        }
        if (work->program->column[peer] > call->receive[peer].n_bytes) {
            return truncation(peer, work->program->column[peer], rank, call->receive[peer].n_bytes,
                              error);
        }
        if (call->send[peer].n_bytes > engine->pairs[peer].room) {
            return truncation(rank, call->send[peer].n_bytes, peer, engine->pairs[peer].room,
                              error);
        }
    }
    return VP_OK;
}
