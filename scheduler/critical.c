/*
 * Critical ports first: each activation is the channel that takes most off
 * the ports with most left to do. For one node and few ranks, where ranks and
 * links are tight together and activations are worth much care.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/critical.h"

#include "scheduler/colour_improve.h"
#include "scheduler/critical_greedy.h"

static const char planner_name[] = "critical";

typedef struct search {
    const vp_lanes_t *lanes;
    vp_colouring_t trial;
    vp_colouring_t *best;
    uint64_t steps; /* spent so far */
} search_t;

/* Mean time of a rank's bytes, scaled. */
static uint64_t mean_ticks(const vp_lanes_t *lanes)
{
    uint64_t sum = 0;
    uint32_t l;

    for (l = 0; l < lanes->n_lanes; l++) {
        sum += lanes->lanes[l].ticks * lanes->lanes[l].share >> VP_SHARE_BITS;
    }
    return sum / lanes->jobs->model->n_ranks;
}

/* Runs greedy once, improves what is not much dearer than the best, keeps the cheaper. */
static vp_status_t try_run(search_t *search, const vp_greedy_options_t *options,
                           uint64_t max_improve_steps, vp_error_t *error)
{
    bool has_plan = search->best->n_colours > 0;
    uint64_t limit = has_plan ? search->best->cost + search->best->cost / 16 + 1 : UINT64_MAX;
    vp_status_t status;

    search->trial.steps = 0;
    status = vp_greedy_run(search->lanes, options, limit, &search->trial, error);
    if (status == VP_OK && search->trial.cost < limit && max_improve_steps > 0) {
        status = vp_colouring_improve(&search->trial, max_improve_steps, error);
    }
    search->steps += search->trial.steps;
    if (status == VP_OK && (!has_plan || search->trial.cost < search->best->cost)) {
        vp_colouring_swap(&search->trial, search->best);
    }
    return status;
}

/* Steps of one run, about: on average half of the lanes are left. */
static uint64_t run_steps(const search_t *search, const vp_greedy_options_t *options)
{
    enum { ACTIVATIONS_PER_JOB = 2 };
    uint64_t n_ranks = search->lanes->jobs->model->n_ranks;
    uint64_t n_activations = ACTIVATIONS_PER_JOB * search->lanes->jobs->n_jobs / n_ranks + 1;

    return n_activations * vp_greedy_steps(search->lanes, options, search->lanes->n_lanes / 2 + 1);
}

/*
 * Many runs that differ in prices, lengths and noise, until many have gained
 * nothing or the budget is spent; the first run is always made.
 */
static vp_status_t search_thorough(search_t *search, vp_error_t *error)
{
    enum { N_RUNS = 1500, N_IDLE = 400, N_PLAIN = 30, N_PRICES = 5, N_LENGTHS = 3, N_PERCENTS = 4 };
    static const uint32_t percents[N_PERCENTS] = {100, 85, 115, 70};
    const uint64_t max_steps = UINT64_C(1) << 30;
    uint64_t load = mean_ticks(search->lanes);
    uint64_t cost = search->best->cost;
    vp_status_t status = VP_OK;
    uint32_t last_gain = 0;
    uint32_t i;

    for (i = 0; i < N_RUNS && i < last_gain + N_IDLE && status == VP_OK; i++) {
        vp_greedy_options_t options = {.price_power = UINT32_C(2) << (i + 2) % N_PRICES,
                                       .n_lengths = 5 + i / N_PRICES % N_LENGTHS,
                                       .length_percent =
                                           percents[i / (N_PRICES * N_LENGTHS) % N_PERCENTS],
                                       .n_swaps = i % 4 == 3 ? 2 : 0,
                                       .n_refine = 2,
                                       .noise = i < N_PLAIN ? 0 : VP_SHARE_ONE / 2,
                                       .seed = i,
                                       .alpha_floor = load / (i % 2 == 0 ? 400 : 2000)};

        if (run_steps(search, &options) > max_steps / 4) {
            options.n_refine = 0;
            options.n_swaps = 0;
        }
        if (i > 0 && search->steps + run_steps(search, &options) > max_steps) {
            break;
        }
        status = try_run(search, &options, max_steps / 4, error);
        if (search->best->cost < cost) {
            cost = search->best->cost;
            last_gain = i;
        }
    }
    return status;
}

/* Work that a call may spend: a small share of the time that the plan will take. */
static uint64_t call_budget(const search_t *search)
{
    enum { SHARE = 32 };
    const vp_jobs_t *jobs = search->lanes->jobs;
    uint64_t load = mean_ticks(search->lanes) << search->lanes->tick_shift;

    if (jobs->tick_shift > 0) {
        return UINT64_MAX / 2;
    }
    return (load + jobs->alpha_ticks * (jobs->n_jobs / jobs->model->n_ranks + 1)) / SHARE;
}

/* Whether the best plan is so far from what ports allow that another run is worth its time. */
static bool is_poor(const search_t *search)
{
    enum { TOLERATED = 12 };
    uint64_t ideal = search->lanes->peak << search->lanes->tick_shift;

    return search->best->cost > ideal + ideal / TOLERATED;
}

/* One run, as careful as the budget allows, and others only if that went badly. */
static vp_status_t search_call(search_t *search, vp_error_t *error)
{
    enum { N_RUNS = 3 };
    static const uint32_t powers[N_RUNS] = {8, 5, 12};
    uint64_t budget = call_budget(search);
    vp_status_t status = VP_OK;
    uint32_t i;

    for (i = 0; i < N_RUNS && status == VP_OK && (i == 0 || is_poor(search)); i++) {
        vp_greedy_options_t options = {.price_power = powers[i],
                                       .n_lengths = 4,
                                       .length_percent = 100,
                                       .n_refine = 2,
                                       .alpha_floor = mean_ticks(search->lanes) / 400};
        uint64_t steps = run_steps(search, &options);

        if (2 * steps > budget) {
            options.n_lengths = 1;
            options.n_refine = 1;
            steps = run_steps(search, &options);
        }
        status = try_run(search, &options, budget > 2 * steps ? budget - steps : budget / 4, error);
    }
    return status;
}

vp_status_t vp_critical_search(const vp_jobs_t *jobs, const vp_schedule_options_t *options,
                               vp_colouring_t *best, vp_error_t *error)
{
    vp_lanes_t lanes = {0};
    search_t search = {.lanes = &lanes, .best = best};
    vp_status_t status = vp_colouring_init(&search.trial, jobs, error);

    if (status == VP_OK) {
        status = vp_lanes_init(&lanes, jobs, error);
    }
    if (status == VP_OK) {
        status = vp_lanes_share(&lanes, error);
    }
    if (status == VP_OK && jobs->n_jobs > 0) {
        status = options->effort == VP_EFFORT_THOROUGH ? search_thorough(&search, error)
                                                       : search_call(&search, error);
    }
    vp_lanes_release(&lanes);
    vp_colouring_release(&search.trial);
    return status;
}

vp_status_t vp_schedule_critical(const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                                 const vp_schedule_options_t *options, vp_plan_t **plan_p,
                                 vp_error_t *error)
{
    return vp_colouring_schedule(vp_critical_search, planner_name, catalog, demand_bytes, options,
                                 plan_p, error);
}
