/*
 * Algorithm 2 of the paper: each activation is the best channel of the best
 * shape for what remains, at one quantum tau for the whole call; and a search
 * for tau around it.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/schedule.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/units.h"
#include "scheduler/binding.h"
#include "scheduler/bound.h"
#include "scheduler/demand_check.h"
#include "scheduler/remaining.h"

static const char planner_name[] = "paper";

typedef struct planner {
    const vp_catalog_t *catalog;
    uint64_t alpha_ns;
    uint64_t score_alpha_ns; /* in utilities: with no overhead at all slivers would win */
    uint32_t score_shift;    /* of bytes in shape scores, which then fit 64 bits */
    uint64_t *pressure;      /* [n_groups][n_groups] group demand, shifted */
    vp_remaining_t remaining;
    vp_binder_t binder;
    vp_channel_t channels[2]; /* the best so far and the one being tried */
} planner_t;

/* What a channel moves in one activation. */
typedef struct outcome {
    uint64_t n_bytes;
    uint64_t slowest_ns;
} outcome_t;

/* A quantum as a multiple of lp_ns / kmin; divisor 0: unlimited. */
typedef struct fraction {
    uint64_t factor;
    uint64_t divisor;
} fraction_t;

static outcome_t measure(const planner_t *planner, const vp_channel_t *channel)
{
    const vp_model_t *model = planner->catalog->model;
    outcome_t outcome = {0, 0};
    uint32_t lane;

    for (lane = 0; lane < channel->n_lanes; lane++) {
        uint64_t ns = vp_transfer_ns(channel->n_bytes[lane],
                                     model->instances[channel->instance[lane]].bytes_per_s);

        outcome.n_bytes += channel->n_bytes[lane];
        outcome.slowest_ns = ns > outcome.slowest_ns ? ns : outcome.slowest_ns;
    }
    return outcome;
}

/* Whether a has the larger utility, bytes / (alpha + slowest lane), compared exactly. */
static bool is_better(const planner_t *planner, outcome_t a, outcome_t b)
{
    uint64_t a_ns = vp_add_sat(planner->score_alpha_ns, a.slowest_ns);
    uint64_t b_ns = vp_add_sat(planner->score_alpha_ns, b.slowest_ns);

    return (vp_uint128_t)a.n_bytes * b_ns > (vp_uint128_t)b.n_bytes * a_ns;
}

/* Step 1: the shape with the largest score S(M), the first of equals; false if all score 0. */
static bool choose_shape(const planner_t *planner, uint32_t *shape_p)
{
    const vp_catalog_t *catalog = planner->catalog;
    size_t n_pairs = vp_pair(catalog->model, catalog->model->n_groups, 0);
    const uint16_t *lanes = catalog->shape_lanes;
    uint64_t best = 0;
    uint32_t shape;
    size_t pair;

    for (pair = 0; pair < n_pairs; pair++) {
        planner->pressure[pair] = planner->remaining.group_bytes[pair] >> planner->score_shift;
    }
    for (shape = 0; shape < catalog->n_shapes; shape++) {
        uint64_t score = 0;

        for (pair = 0; pair < n_pairs; pair++) {
            score += planner->pressure[pair] * lanes[pair];
        }
        if (score > best) {
            best = score;
            *shape_p = shape;
        }
        lanes += n_pairs;
    }
    return best > 0;
}

/* Steps 2 and 3: binds every family of the shape and returns the best channel. */
static const vp_channel_t *bind_shape(planner_t *planner, uint32_t shape, outcome_t *outcome_p)
{
    const vp_shape_t *bucket = &planner->catalog->shapes[shape];
    vp_channel_t *best = &planner->channels[0];
    vp_channel_t *trial = &planner->channels[1];
    uint32_t i;

    *outcome_p = (outcome_t){0, 0};
    for (i = 0; i < bucket->n_families; i++) {
        outcome_t outcome;

        vp_binder_bind(&planner->binder, &planner->remaining, bucket->first_family + i, trial);
        outcome = measure(planner, trial);
        if (is_better(planner, outcome, *outcome_p)) {
            vp_channel_t *worse = best;

            best = trial;
            trial = worse;
            *outcome_p = outcome;
        }
    }
    return best;
}

/* The channel of the next activation; without a shape for what remains, one without a family. */
static const vp_channel_t *choose_channel(planner_t *planner, outcome_t *outcome_p)
{
    uint32_t shape;

    if (choose_shape(planner, &shape)) {
        const vp_channel_t *channel = bind_shape(planner, shape, outcome_p);

        if (outcome_p->n_bytes > 0) {
            return channel;
        }
    }
    vp_binder_force(&planner->binder, &planner->remaining, &planner->channels[0]);
    *outcome_p = measure(planner, &planner->channels[0]);
    return &planner->channels[0];
}

static vp_status_t append(planner_t *planner, const vp_channel_t *channel,
                          vp_plan_builder_t *builder, vp_error_t *error)
{
    uint32_t lane;

    vp_plan_builder_next(builder);
    for (lane = 0; lane < channel->n_lanes; lane++) {
        vp_status_t status =
            vp_plan_builder_add(builder, channel->source[lane], channel->destination[lane],
                                channel->instance[lane], channel->n_bytes[lane], error);

        if (status != VP_OK) {
            return status;
        }
        vp_remaining_take(&planner->remaining, channel->source[lane], channel->destination[lane],
                          channel->n_bytes[lane]);
    }
    vp_remaining_settle(&planner->remaining);
    return VP_OK;
}

/* Adds activations until nothing remains or the plan takes limit_ns. */
static vp_status_t decompose(planner_t *planner, uint64_t limit_ns, vp_plan_builder_t *builder,
                             vp_error_t *error)
{
    uint64_t time_ns = 0;

    while (planner->remaining.n_rests > 0 && time_ns < limit_ns) {
        outcome_t outcome;
        const vp_channel_t *channel = choose_channel(planner, &outcome);
        vp_status_t status = append(planner, channel, builder, error);

        if (status != VP_OK) {
            return status;
        }
        assert(outcome.n_bytes > 0); /* every activation makes progress */
        time_ns = vp_add_sat(time_ns, vp_add_sat(planner->alpha_ns, outcome.slowest_ns));
    }
    return VP_OK;
}

/* Plans at one quantum; replaces *plan_p (NULL: none yet) if the new plan is faster. */
static vp_status_t try_quantum(planner_t *planner, uint64_t tau_ns, vp_plan_t **plan_p,
                               vp_error_t *error)
{
    uint64_t limit_ns = *plan_p == NULL ? UINT64_MAX : (*plan_p)->time_ns;
    vp_plan_builder_t *builder;
    vp_plan_t *plan = NULL;
    vp_status_t status;

    status = vp_plan_builder_create(planner->catalog->model, &builder, error);
    if (status != VP_OK) {
        return status;
    }
    vp_remaining_reset(&planner->remaining);
    vp_binder_set_quantum(&planner->binder, tau_ns);
    status = decompose(planner, limit_ns, builder, error);
    if (status == VP_OK && planner->remaining.n_rests == 0) {
        status = vp_plan_builder_finish(builder, planner->alpha_ns, planner_name, &plan, error);
    }
    vp_plan_builder_destroy(builder);
    if (plan != NULL && (*plan_p == NULL || plan->time_ns < (*plan_p)->time_ns)) {
        vp_plan_destroy(*plan_p);
        *plan_p = plan;
    } else {
        vp_plan_destroy(plan);
    }
    return status;
}

static uint64_t quantum(const vp_bound_t *bound, fraction_t fraction)
{
    uint64_t tau_ns;

    if (fraction.divisor == 0) {
        return UINT64_MAX;
    }
    tau_ns = vp_muldiv_floor(bound->lp_ns, fraction.factor, fraction.divisor * bound->kmin);
    return tau_ns > 0 ? tau_ns : 1;
}

static vp_status_t search_quantum(planner_t *planner, const vp_bound_t *bound, vp_plan_t **plan_p,
                                  vp_error_t *error)
{
    /*
     * The best quantum depends on payload and alpha; as a multiple of the mean
     * activation of an ideal plan it stays in this range.
     */
    static const fraction_t fractions[] = {{7, 10}, {1, 1}, {7, 5}, {2, 1}, {4, 1}, {1, 0}};
    size_t i;

    for (i = 0; i < sizeof(fractions) / sizeof(fractions[0]); i++) {
        vp_status_t status = try_quantum(planner, quantum(bound, fractions[i]), plan_p, error);

        if (status != VP_OK) {
            return status;
        }
    }
    return VP_OK;
}

static vp_status_t plan_demand(planner_t *planner, const uint64_t *demand_bytes, uint64_t tau_ns,
                               vp_plan_t **plan_p, vp_error_t *error)
{
    static const fraction_t smallest = {1, 64}; /* keeps the number of activations sane */
    const vp_model_t *model = planner->catalog->model;
    vp_bound_t bound;
    uint64_t floor_ns;
    vp_status_t status = vp_bound_search(model, demand_bytes, planner->alpha_ns,
                                         VP_BOUND_SWEEPS_ROUGH, &bound, error);

    if (status != VP_OK) {
        return status;
    }
    if (bound.kmin == 0) {
        return try_quantum(planner, UINT64_MAX, plan_p, error);
    }
    floor_ns = quantum(&bound, smallest);
    planner->score_alpha_ns = planner->alpha_ns > floor_ns ? planner->alpha_ns : floor_ns;
    if (tau_ns == 0) {
        return search_quantum(planner, &bound, plan_p, error);
    }
    return try_quantum(planner, tau_ns > floor_ns ? tau_ns : floor_ns, plan_p, error);
}

static vp_status_t make_room(planner_t *planner, const uint64_t *demand_bytes, vp_error_t *error)
{
    const vp_model_t *model = planner->catalog->model;
    vp_status_t status = vp_remaining_init(&planner->remaining, model, demand_bytes, error);
    size_t i;

    if (status == VP_OK) {
        status = vp_binder_init(&planner->binder, planner->catalog, error);
    }
    for (i = 0; i < 2 && status == VP_OK; i++) {
        status = vp_channel_init(&planner->channels[i], model->n_ranks, error);
    }
    if (status != VP_OK) {
        return status;
    }
    planner->pressure =
        vp_array_new(vp_pair(model, model->n_groups, 0), sizeof(*planner->pressure));
    return planner->pressure != NULL ? VP_OK : vp_error_no_memory(error, "shape scores");
}

static void release(planner_t *planner)
{
    free(planner->pressure);
    vp_channel_release(&planner->channels[1]);
    vp_channel_release(&planner->channels[0]);
    vp_binder_release(&planner->binder);
    vp_remaining_release(&planner->remaining);
}

vp_status_t vp_schedule_paper(const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                              const vp_schedule_options_t *options, vp_plan_t **plan_p,
                              vp_error_t *error)
{
    planner_t planner = {.catalog = catalog, .alpha_ns = options->alpha_ns};
    vp_plan_t *plan = NULL;
    uint64_t total_bytes = 0;
    vp_status_t status = vp_demand_check(catalog->model, demand_bytes, &total_bytes, error);

    if (status != VP_OK) {
        return status;
    }
    while (total_bytes >> planner.score_shift > UINT64_MAX / UINT16_MAX) {
        planner.score_shift++;
    }
    status = make_room(&planner, demand_bytes, error);
    if (status == VP_OK) {
        status = plan_demand(&planner, demand_bytes, options->tau_ns, &plan, error);
    }
    release(&planner);
    if (status != VP_OK) {
        vp_plan_destroy(plan);
        return status;
    }
    *plan_p = plan;
    return VP_OK;
}
