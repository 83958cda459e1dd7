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
#include "scheduler/fix.h"
#include "scheduler/remaining.h"
#include "scheduler/scores.h"
#include "scheduler/shaper.h"

/* Above this many ranks two quanta are tried, not six. */
enum { MANY_RANKS = 256 };

static const char planner_name[] = "paper";

typedef struct planner {
    const vp_catalog_t *catalog; /* with fixed paths: what is left of it */
    vp_catalog_t *view;          /* owned catalog, or NULL */
    bool *is_excluded;           /* [n_instances], or NULL */
    const uint64_t *demand_bytes;
    uint32_t rotation; /* that `remaining` holds; 0: the whole demand */
    uint32_t n_parts;  /* of the demand that are planned on their own */
    uint64_t alpha_ns;
    uint64_t score_alpha_ns; /* in utilities: with no overhead at all slivers would win */
    uint32_t score_shift;    /* of bytes in shape scores, which then fit 64 bits */
    uint64_t *pressure;      /* [n_groups][n_groups] group demand, shifted */
    vp_remaining_t remaining;
    vp_scores_t scores; /* of listed shapes */
    vp_shaper_t shaper; /* where none are listed */
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

static void set_pressure(planner_t *planner)
{
    const vp_model_t *model = planner->catalog->model;
    size_t pair;

    for (pair = 0; pair < vp_pair(model, model->n_groups, 0); pair++) {
        planner->pressure[pair] = planner->remaining.group_bytes[pair] >> planner->score_shift;
    }
}

/* Step 2 for one family; keeps its channel if that is better than the best so far. */
static void try_family(planner_t *planner, const vp_member_t *members, uint32_t n_members,
                       outcome_t *best_p)
{
    vp_channel_t *trial = &planner->channels[1];
    outcome_t outcome;

    vp_binder_bind(&planner->binder, &planner->remaining, members, n_members, trial);
    outcome = measure(planner, trial);
    if (is_better(planner, outcome, *best_p)) {
        vp_channel_t worse = planner->channels[0];

        planner->channels[0] = *trial;
        *trial = worse;
        *best_p = outcome;
    }
}

/* Steps 1 to 3: the best channel of the shape with the largest score, none if all score 0. */
static outcome_t bind_best_shape(planner_t *planner)
{
    const vp_catalog_t *catalog = planner->catalog;
    outcome_t best = {0, 0};
    uint32_t shape;
    uint32_t i;

    set_pressure(planner);
    if (catalog->mode == VP_CATALOG_GENERATED) {
        if (vp_shaper_choose(&planner->shaper, planner->pressure, &planner->remaining,
                             planner->binder.quantum_bytes)) {
            try_family(planner, planner->shaper.members, planner->shaper.n_members, &best);
        }
        return best;
    }
    if (!vp_scores_choose(&planner->scores, planner->pressure, &shape)) {
        return best;
    }
    for (i = 0; i < catalog->shapes[shape].n_families; i++) {
        uint32_t family = catalog->shapes[shape].first_family + i;
        uint32_t begin = catalog->member_begin[family];

        try_family(planner, catalog->members + begin, catalog->member_begin[family + 1] - begin,
                   &best);
    }
    return best;
}

/* The next activation's channel, in channels[0]; without a shape for what remains, one without. */
static outcome_t choose_channel(planner_t *planner)
{
    outcome_t outcome = bind_best_shape(planner);

    if (outcome.n_bytes == 0) {
        vp_binder_force(&planner->binder, &planner->remaining, &planner->channels[0]);
        outcome = measure(planner, &planner->channels[0]);
    }
    return outcome;
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

/* Turns to the demand of one rotation (0: all of it), from its start. */
static vp_status_t start_part(planner_t *planner, uint32_t rotation, vp_error_t *error)
{
    const vp_catalog_t *catalog = planner->catalog;

    if (catalog->mode == VP_CATALOG_GENERATED) {
        vp_shaper_reset(&planner->shaper);
    }
    if (planner->remaining.model != NULL && planner->rotation == rotation) {
        vp_remaining_reset(&planner->remaining);
        return VP_OK;
    }
    vp_remaining_release(&planner->remaining);
    planner->rotation = rotation;
    return vp_remaining_init(&planner->remaining, catalog->model, planner->demand_bytes, rotation,
                             error);
}

/* Adds activations until nothing remains or the plan takes limit_ns. */
static vp_status_t decompose(planner_t *planner, uint64_t limit_ns, uint64_t *time_ns_p,
                             vp_plan_builder_t *builder, vp_error_t *error)
{
    while (planner->remaining.n_left > 0 && *time_ns_p < limit_ns) {
        outcome_t outcome = choose_channel(planner);
        vp_status_t status = append(planner, &planner->channels[0], builder, error);

        if (status != VP_OK) {
            return status;
        }
        assert(outcome.n_bytes > 0); /* every activation makes progress */
        *time_ns_p = vp_add_sat(*time_ns_p, vp_add_sat(planner->alpha_ns, outcome.slowest_ns));
    }
    return VP_OK;
}

/* Decomposes all parts, unless that takes limit_ns: then *is_done_p stays false. */
static vp_status_t decompose_parts(planner_t *planner, uint64_t limit_ns,
                                   vp_plan_builder_t *builder, bool *is_done_p, vp_error_t *error)
{
    uint64_t time_ns = 0;
    uint32_t part;

    for (part = 0; part < planner->n_parts; part++) {
        /* With one part that is the whole demand, otherwise rotations count from 1. */
        vp_status_t status = start_part(planner, planner->n_parts == 1 ? 0 : part + 1, error);

        if (status == VP_OK) {
            status = decompose(planner, limit_ns, &time_ns, builder, error);
        }
        if (status != VP_OK || planner->remaining.n_left > 0) {
            return status;
        }
    }
    *is_done_p = true;
    return VP_OK;
}

/* Plans at one quantum; replaces *plan_p (NULL: none yet) if the new plan is faster. */
static vp_status_t try_quantum(planner_t *planner, uint64_t tau_ns, vp_plan_t **plan_p,
                               vp_error_t *error)
{
    uint64_t limit_ns = *plan_p == NULL ? UINT64_MAX : (*plan_p)->time_ns;
    vp_plan_builder_t *builder;
    vp_plan_t *plan = NULL;
    bool is_done = false;
    vp_status_t status;

    status = vp_plan_builder_create(planner->catalog->model, &builder, error);
    if (status != VP_OK) {
        return status;
    }
    vp_binder_set_quantum(&planner->binder, tau_ns, planner->is_excluded);
    status = decompose_parts(planner, limit_ns, builder, &is_done, error);
    if (status == VP_OK && is_done) {
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
    static const fraction_t few_fractions[] = {{7, 5}, {2, 1}}; /* the best of large machines */
    bool is_large = planner->catalog->model->n_ranks > MANY_RANKS;
    const fraction_t *tried = is_large ? few_fractions : fractions;
    size_t n_tried = is_large ? sizeof(few_fractions) / sizeof(few_fractions[0])
                              : sizeof(fractions) / sizeof(fractions[0]);
    size_t i;

    for (i = 0; i < n_tried; i++) {
        vp_status_t status = try_quantum(planner, quantum(bound, tried[i]), plan_p, error);

        if (status != VP_OK) {
            return status;
        }
    }
    return VP_OK;
}

static vp_status_t plan_demand(planner_t *planner, uint64_t tau_ns, vp_plan_t **plan_p,
                               vp_error_t *error)
{
    static const fraction_t smallest = {1, 64}; /* keeps the number of activations sane */
    const vp_model_t *model = planner->catalog->model;
    vp_bound_t bound;
    uint64_t floor_ns;
    vp_status_t status = vp_bound_search(model, planner->demand_bytes, planner->alpha_ns,
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

/* Applies an ablation: which paths are left, and in how many parts the demand is planned. */
static vp_status_t fix(planner_t *planner, vp_fix_t what, vp_error_t *error)
{
    const vp_model_t *model = planner->catalog->model;
    vp_status_t status = VP_OK;

    planner->n_parts = (what & VP_FIX_PEERS) != 0 && model->n_ranks > 2 ? model->n_ranks - 1 : 1;
    if ((what & VP_FIX_PATHS) != 0) {
        status = vp_fix_paths(model, &planner->is_excluded, error);
        if (status == VP_OK) {
            status = vp_fix_catalog(planner->catalog, planner->is_excluded, &planner->view, error);
        }
        planner->catalog = status == VP_OK ? planner->view : planner->catalog;
    }
    return status;
}

static vp_status_t make_room(planner_t *planner, vp_error_t *error)
{
    const vp_model_t *model = planner->catalog->model;
    vp_status_t status = vp_binder_init(&planner->binder, model, error);
    size_t i;

    for (i = 0; i < 2 && status == VP_OK; i++) {
        status = vp_channel_init(&planner->channels[i], model->n_ranks, error);
    }
    if (status == VP_OK && planner->catalog->mode == VP_CATALOG_GENERATED) {
        status = vp_shaper_init(&planner->shaper, model, planner->is_excluded, error);
    } else if (status == VP_OK) {
        status = vp_scores_init(&planner->scores, planner->catalog, error);
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
    vp_shaper_release(&planner->shaper);
    vp_channel_release(&planner->channels[1]);
    vp_channel_release(&planner->channels[0]);
    vp_binder_release(&planner->binder);
    vp_scores_release(&planner->scores);
    vp_remaining_release(&planner->remaining);
    vp_fix_catalog_destroy(planner->view);
    free(planner->is_excluded);
}

vp_status_t vp_schedule_paper(const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                              const vp_schedule_options_t *options, vp_plan_t **plan_p,
                              vp_error_t *error)
{
    planner_t planner = {
        .catalog = catalog, .demand_bytes = demand_bytes, .alpha_ns = options->alpha_ns};
    vp_plan_t *plan = NULL;
    uint64_t total_bytes = 0;
    vp_status_t status = vp_demand_check(catalog->model, demand_bytes, &total_bytes, error);

    if (status != VP_OK) {
        return status;
    }
    if (options->alpha_ns > VP_MAX_ALPHA_NS) {
        return vp_error_set(error, VP_ERR_USAGE,
                            "an activation overhead (alpha) of %llu ns is above the limit of %llu "
                            "ns; no plan is made, give a smaller one",
                            (unsigned long long)options->alpha_ns,
                            (unsigned long long)VP_MAX_ALPHA_NS);
    }
    while (total_bytes >> planner.score_shift > UINT64_MAX / UINT16_MAX) {
        planner.score_shift++;
    }
    status = fix(&planner, options->fix, error);
    if (status == VP_OK) {
        status = make_room(&planner, error);
    }
    if (status == VP_OK) {
        status = plan_demand(&planner, options->tau_ns, &plan, error);
    }
    release(&planner);
    if (status != VP_OK) {
        vp_plan_destroy(plan);
        return status;
    }
    *plan_p = plan;
    return VP_OK;
}
