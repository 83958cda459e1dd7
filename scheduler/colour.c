/*
 * Activations as colours: every piece of every pair gets the first activation
 * whose ports are free, longest pieces first, so that a piece costs nothing
 * wherever it fits. Needs no catalog; any machine size.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/colour.h"

#include "scheduler/colour_fit.h"
#include "scheduler/colour_improve.h"
#include "scheduler/colour_quantum.h"

static const char planner_name[] = "colour";

typedef struct planner {
    const vp_jobs_t *jobs;
    vp_cut_t cut;
    vp_kempe_t kempe;
    vp_colouring_t trial;
    vp_colouring_t *best;
    uint64_t steps; /* spent so far */
} planner_t;

/*
 * Work that a call may spend, in steps of about 1 ns: a share of the time that
 * the demand will take. Few ranks have little to plan and most to gain.
 */
uint64_t vp_call_budget(const vp_jobs_t *jobs, const vp_cut_t *whole)
{
    enum { FEW_RANKS = 16, SHARE_FEW = 32, SHARE = 256 };
    uint64_t ticks = vp_cut_bound(whole, jobs);

    if (jobs->tick_shift > 0) {
        return UINT64_MAX;
    }
    return ticks / (jobs->model->n_ranks <= FEW_RANKS ? SHARE_FEW : SHARE);
}

/* Steps that cutting, sorting and placing take for each piece, beside those that fit counts. */
static uint64_t fixed_steps(size_t n_pieces)
{
    enum { STEPS_PER_PIECE = 64 };

    return STEPS_PER_PIECE * (uint64_t)n_pieces;
}

static bool has_plan(const planner_t *planner)
{
    return planner->best->n_colours > 0;
}

/* Colours the cut and keeps it if it is the best so far. */
static vp_status_t try_cut(planner_t *planner, const vp_fit_options_t *options, bool improve,
                           vp_error_t *error)
{
    const uint64_t max_steps = UINT64_C(1) << 32;
    vp_status_t status = vp_cut_sort(&planner->cut, error);

    if (status == VP_OK) {
        planner->steps += fixed_steps(planner->cut.n_pieces);
        status = vp_fit(&planner->trial, &planner->kempe, &planner->cut, options, error);
    }
    if (status == VP_OK && improve && planner->trial.cost < options->limit) {
        status = vp_colouring_improve(&planner->trial, max_steps, error);
    }
    planner->steps += planner->trial.steps;
    planner->trial.steps = 0;
    if (status == VP_OK && (!has_plan(planner) || planner->trial.cost < planner->best->cost)) {
        vp_colouring_swap(&planner->trial, planner->best);
    }
    return status;
}

/* The most promising quanta while the budget lasts, then improvement with what is left of it. */
static vp_status_t search_call(planner_t *planner, vp_error_t *error)
{
    enum { WIDTH = 8 };
    vp_quantum_t quanta[VP_N_QUANTA];
    uint64_t budget = vp_call_budget(planner->jobs, &planner->cut);
    vp_status_t status = vp_quanta_predict(planner->jobs, &planner->cut, quanta, error);
    uint64_t spent_before = 0;
    uint32_t i;

    for (i = 0; i < VP_N_QUANTA && status == VP_OK; i++) {
        vp_fit_options_t options = {.width = WIDTH, .limit = UINT64_MAX};

        if (i > 0 && quanta[i].tau_ticks == quanta[i - 1].tau_ticks) {
            continue;
        }
        if (has_plan(planner)) {
            options.limit = planner->best->cost;
            if (planner->steps + spent_before > budget) {
                break;
            }
            if (quanta[i].predicted >= options.limit) {
                continue;
            }
        }
        spent_before = planner->steps;
        if (i > 0 || quanta[i].tau_ticks != UINT64_MAX) { /* the cut is whole at first */
            status = vp_cut_make(&planner->cut, planner->jobs, quanta[i].tau_ticks, error);
        }
        if (status == VP_OK && vp_cut_bound(&planner->cut, planner->jobs) < options.limit) {
            status = try_cut(planner, &options, false, error);
        }
        spent_before = planner->steps - spent_before;
    }
    if (status == VP_OK && planner->steps < budget) {
        status = vp_colouring_improve(planner->best, budget - planner->steps, error);
    }
    return status;
}

/* One plan with a given quantum, but none so short that pieces run to thousands on a port. */
static vp_status_t search_fixed(planner_t *planner, uint64_t tau_ns, vp_error_t *error)
{
    enum { WIDTH = 16, MAX_PIECES = 64 };
    const vp_fit_options_t options = {.width = WIDTH, .limit = UINT64_MAX};
    uint64_t tau_ticks = tau_ns >> planner->jobs->tick_shift;
    uint64_t least =
        planner->cut.max_ticks / (MAX_PIECES * (uint64_t)(planner->cut.max_count + 1)) + 1;
    vp_status_t status =
        vp_cut_make(&planner->cut, planner->jobs, tau_ticks > least ? tau_ticks : least, error);

    return status == VP_OK ? try_cut(planner, &options, false, error) : status;
}

/* Every quantum, with and without fill, improved; starts from the plan of a call. */
static vp_status_t search_thorough(planner_t *planner, vp_error_t *error)
{
    enum { WIDTH = 16, N_FILLS = 2 };
    vp_quantum_t quanta[VP_N_QUANTA];
    vp_status_t status = vp_quanta_predict(planner->jobs, &planner->cut, quanta, error);
    uint32_t i;

    if (status == VP_OK) {
        status = search_call(planner, error);
    }
    for (i = 0; i < VP_N_QUANTA * N_FILLS && status == VP_OK; i++) {
        uint64_t tau_ticks = quanta[i / N_FILLS].tau_ticks;
        vp_fit_options_t options = {.fill = i % N_FILLS != 0, .width = WIDTH, .limit = UINT64_MAX};

        if (i >= N_FILLS && tau_ticks == quanta[i / N_FILLS - 1].tau_ticks) {
            continue;
        }
        /* Improvement gains more than this only where much is wrong. */
        options.limit = planner->best->cost + planner->best->cost / 8 + 1;
        status = vp_cut_make(&planner->cut, planner->jobs, tau_ticks, error);
        if (status == VP_OK && vp_cut_bound(&planner->cut, planner->jobs) < options.limit) {
            status = try_cut(planner, &options, true, error);
        }
    }
    return status;
}

static vp_status_t search(planner_t *planner, const vp_schedule_options_t *options,
                          vp_error_t *error)
{
    vp_status_t status = vp_cut_make(&planner->cut, planner->jobs, UINT64_MAX, error);

    if (status != VP_OK) {
        return status;
    }
    if (options->tau_ns > 0) {
        return search_fixed(planner, options->tau_ns, error);
    }
    return options->effort == VP_EFFORT_THOROUGH ? search_thorough(planner, error)
                                                 : search_call(planner, error);
}

vp_status_t vp_colour_search(const vp_jobs_t *jobs, const vp_schedule_options_t *options,
                             vp_colouring_t *best, vp_error_t *error)
{
    planner_t planner = {.jobs = jobs, .best = best};
    vp_status_t status = vp_cut_init(&planner.cut, jobs, error);

    if (status == VP_OK) {
        status = vp_colouring_init(&planner.trial, jobs, error);
    }
    if (status == VP_OK) {
        status = vp_kempe_init(&planner.kempe, &planner.trial, error);
    }
    if (status == VP_OK) {
        status = search(&planner, options, error);
    }
    vp_kempe_release(&planner.kempe);
    vp_colouring_release(&planner.trial);
    vp_cut_release(&planner.cut);
    return status;
}

vp_status_t vp_schedule_colour(const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                               const vp_schedule_options_t *options, vp_plan_t **plan_p,
                               vp_error_t *error)
{
    return vp_colouring_schedule(vp_colour_search, planner_name, catalog, demand_bytes, options,
                                 plan_p, error);
}
