/*
 * The planner that others are chosen by: the cheapest plan of those that fit
 * the size and the effort.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/colour.h"
#include "scheduler/concurrent.h"
#include "scheduler/cost.h"
#include "scheduler/critical.h"

enum {
    FEW_RANKS = 8,        /* ranks and links are tight together: critical ports first */
    NODE_RANKS = 16,      /* the same on a single node */
    CRITICAL_RANKS = 64,  /* beyond, a greedy run is not worth its time even offline */
    LIST_RANKS = 256,     /* beyond, a list takes seconds */
    LIST_CALL_RANKS = 16, /* beyond, it gains less than it costs inside a call */
    PAPER_RANKS = 16      /* the largest machines whose catalog is complete */
};

/* Fills `best` from the planners that need no catalog; names the one whose plan it is. */
static vp_status_t search(const vp_jobs_t *jobs, const vp_schedule_options_t *options,
                          vp_colouring_t *best, const char **scheduler_p, vp_error_t *error)
{
    const vp_model_t *model = jobs->model;
    bool thorough = options->effort == VP_EFFORT_THOROUGH;
    bool tight =
        model->n_ranks <= FEW_RANKS || (model->n_nodes == 1 && model->n_ranks <= NODE_RANKS);
    vp_status_t status = VP_OK;
    uint64_t cost;

    *scheduler_p = "colour";
    if (thorough || !tight) {
        status = vp_colour_search(jobs, options, best, error);
    }
    if (status != VP_OK || (!tight && !(thorough && model->n_ranks <= CRITICAL_RANKS))) {
        return status;
    }
    cost = best->n_colours > 0 ? best->cost : UINT64_MAX;
    status = vp_critical_search(jobs, options, best, error);
    if (best->cost < cost) {
        *scheduler_p = "critical";
    }
    return status;
}

static vp_status_t plan_without_catalog(const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                                        const vp_schedule_options_t *options, vp_plan_t **plan_p,
                                        vp_error_t *error)
{
    vp_jobs_t jobs;
    vp_colouring_t best = {0};
    const char *scheduler;
    vp_status_t status = vp_jobs_open(&jobs, catalog->model, demand_bytes, options, error);

    if (status != VP_OK) {
        return status;
    }
    status = vp_colouring_init(&best, &jobs, error);
    if (status == VP_OK) {
        status = search(&jobs, options, &best, &scheduler, error);
    }
    if (status == VP_OK) {
        status = vp_colouring_plan(&best, options->alpha_ns, scheduler, plan_p, error);
    }
    vp_colouring_release(&best);
    vp_jobs_release(&jobs);
    return status;
}

/* Exclusive lanes in activations, the paper's model; or pairs over two paths at once as well. */
static vp_status_t plan_activations(const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                                    const vp_schedule_options_t *options, vp_plan_t **plan_p,
                                    vp_error_t *error)
{
    bool try_paper = options->effort == VP_EFFORT_THOROUGH && catalog->n_shapes > 0 &&
                     catalog->model->n_ranks <= PAPER_RANKS;
    vp_plan_t *plan = NULL;
    vp_plan_t *paper = NULL;
    vp_status_t status;

    status = plan_without_catalog(catalog, demand_bytes, options, &plan, error);
    if (status == VP_OK && try_paper) {
        status = vp_schedule_paper(catalog, demand_bytes, options, &paper, error);
    }
    if (status != VP_OK) {
        vp_plan_destroy(plan);
        return status;
    }
    if (paper != NULL && paper->time_ns < plan->time_ns) {
        vp_plan_destroy(plan);
        plan = paper;
        paper = NULL;
    }
    vp_plan_destroy(paper);
    *plan_p = plan;
    return VP_OK;
}

static vp_status_t plan_sharing(const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                                const vp_schedule_options_t *options, vp_plan_t **plan_p,
                                vp_error_t *error)
{
    vp_schedule_options_t shared = *options;

    shared.sharing = VP_SHARING_ON;
    return plan_activations(catalog, demand_bytes, &shared, plan_p, error);
}

/* Keeps the faster of *best_p and what a planner makes of the options; the first of equals. */
static vp_status_t try_planner(vp_schedule_fn_t planner, const vp_catalog_t *catalog,
                               const uint64_t *demand_bytes, const vp_schedule_options_t *options,
                               vp_plan_t **best_p, vp_error_t *error)
{
    vp_plan_t *plan = NULL;
    vp_status_t status = planner(catalog, demand_bytes, options, &plan, error);

    if (status == VP_OK && plan->time_ns < (*best_p)->time_ns) {
        vp_plan_t *slower = *best_p;

        *best_p = plan;
        plan = slower;
    }
    vp_plan_destroy(plan);
    return status;
}

/* Forms of plans that are allowed beside activations of exclusive lanes. */
static vp_status_t try_forms(const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                             const vp_schedule_options_t *options, vp_plan_t **best_p,
                             vp_error_t *error)
{
    vp_status_t status = VP_OK;

    if (options->by_dependencies && options->sharing != VP_SHARING_ON &&
        catalog->model->n_ranks <=
            (options->effort == VP_EFFORT_THOROUGH ? LIST_RANKS : LIST_CALL_RANKS)) {
        status = try_planner(vp_schedule_list, catalog, demand_bytes, options, best_p, error);
    }
    if (status == VP_OK && options->sharing == VP_SHARING_AUTO) {
        status = try_planner(plan_sharing, catalog, demand_bytes, options, best_p, error);
    }
    if (status == VP_OK && options->sharing == VP_SHARING_AUTO) {
        status = try_planner(vp_schedule_concurrent, catalog, demand_bytes, options, best_p, error);
    }
    return status;
}

/* Of activations: the planner that search() takes in a call. */
static uint64_t activations_cost(const vp_model_t *model)
{
    uint64_t pair_ns = VP_COST_COLOUR_NS;

    if (model->n_ranks <= FEW_RANKS) {
        pair_ns = VP_COST_CRITICAL_NS;
    } else if (model->n_ranks <= NODE_RANKS) {
        pair_ns = model->n_nodes == 1 ? VP_COST_CRITICAL_NODE_NS : VP_COST_COLOUR_FEW_NS;
    }
    return vp_cost_pairs(model) * pair_ns;
}

/*
 * Planners of exclusive lanes mostly come within a sixteenth of what loads
 * allow. Of the gain that then remains planning may cost a quarter: it is paid
 * whether or not the plan turns out well. Loads say little where paths are far
 * slower than their links, so planning may always cost a 256th.
 */
static bool is_worth_trying(uint64_t time_ns, uint64_t exclusive_ns, uint64_t cost_ns)
{
    uint64_t reach_ns = vp_add_sat(exclusive_ns, exclusive_ns / 16);

    return exclusive_ns != UINT64_MAX &&
           (cost_ns < time_ns / 256 || (time_ns > reach_ns && (time_ns - reach_ns) / 4 > cost_ns));
}

/*
 * A call whose lanes may share links: everything at once costs next to no
 * planning, and what exclusive lanes can reach is known from loads. Planners
 * of exclusive lanes follow while they may gain more than they cost.
 */
static vp_status_t plan_frugally(const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                                 const vp_schedule_options_t *options, vp_plan_t **best_p,
                                 vp_error_t *error)
{
    const vp_model_t *model = catalog->model;
    bool tries_lists = options->by_dependencies && model->n_ranks <= LIST_CALL_RANKS;
    const struct {
        vp_schedule_fn_t planner;
        uint64_t cost_ns;
    } candidates[] = {
        {plan_activations, activations_cost(model)},
        {tries_lists ? vp_schedule_list : NULL, vp_cost_pairs(model) * VP_COST_LIST_NS},
        {plan_sharing, activations_cost(model)}};
    uint64_t exclusive_ns = 0;
    uint64_t planning_ns;
    size_t i;
    vp_status_t status =
        vp_concurrent_search(model, demand_bytes, options, true, best_p, &exclusive_ns, error);

    if (status != VP_OK) {
        return status;
    }
    planning_ns = (*best_p)->planning_ns;
    for (i = 0; i < sizeof(candidates) / sizeof(candidates[0]) && status == VP_OK; i++) {
        if (candidates[i].planner != NULL &&
            is_worth_trying((*best_p)->time_ns, exclusive_ns, candidates[i].cost_ns)) {
            planning_ns += candidates[i].cost_ns;
            status =
                try_planner(candidates[i].planner, catalog, demand_bytes, options, best_p, error);
        }
    }
    (*best_p)->planning_ns = planning_ns;
    return status;
}

vp_status_t vp_schedule_auto(const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                             const vp_schedule_options_t *options, vp_plan_t **plan_p,
                             vp_error_t *error)
{
    vp_plan_t *best = NULL;
    vp_status_t status;

    if (options->fix != VP_FIX_NONE) {
        return vp_schedule_paper(catalog, demand_bytes, options, plan_p, error);
    }
    if (options->sharing == VP_SHARING_AUTO && options->effort == VP_EFFORT_CALL) {
        status = plan_frugally(catalog, demand_bytes, options, &best, error);
    } else {
        status = plan_activations(catalog, demand_bytes, options, &best, error);
        if (status == VP_OK) {
            status = try_forms(catalog, demand_bytes, options, &best, error);
        }
    }
    if (status != VP_OK) {
        vp_plan_destroy(best);
        return status;
    }
    *plan_p = best;
    return VP_OK;
}
