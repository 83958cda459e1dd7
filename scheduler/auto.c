/*
 * The planner that others are chosen by: the cheapest plan of those that fit
 * the size and the effort.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/colour.h"
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
    vp_schedule_options_t shared = *options;
    vp_status_t status = VP_OK;

    if (options->by_dependencies && options->sharing != VP_SHARING_ON &&
        catalog->model->n_ranks <=
            (options->effort == VP_EFFORT_THOROUGH ? LIST_RANKS : LIST_CALL_RANKS)) {
        status = try_planner(vp_schedule_list, catalog, demand_bytes, options, best_p, error);
    }
    if (status == VP_OK && options->sharing == VP_SHARING_AUTO) {
        shared.sharing = VP_SHARING_ON;
        status = try_planner(plan_activations, catalog, demand_bytes, &shared, best_p, error);
    }
    if (status == VP_OK && options->sharing == VP_SHARING_AUTO) {
        status = try_planner(vp_schedule_concurrent, catalog, demand_bytes, options, best_p, error);
    }
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
    status = plan_activations(catalog, demand_bytes, options, &best, error);
    if (status == VP_OK) {
        status = try_forms(catalog, demand_bytes, options, &best, error);
    }
    if (status != VP_OK) {
        vp_plan_destroy(best);
        return status;
    }
    *plan_p = best;
    return VP_OK;
}
