/*
 * The planner that others are chosen by: the cheapest plan of those that fit
 * the size and the effort.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/colour.h"
#include "scheduler/critical.h"

enum {
    FEW_RANKS = 8,       /* ranks and links are tight together: critical ports first */
    NODE_RANKS = 16,     /* the same on a single node */
    CRITICAL_RANKS = 64, /* beyond, a greedy run is not worth its time even offline */
    PAPER_RANKS = 16     /* the largest machines whose catalog is complete */
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
    vp_status_t status =
        vp_jobs_init(&jobs, catalog->model, demand_bytes, options->alpha_ns, error);

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

vp_status_t vp_schedule_auto(const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                             const vp_schedule_options_t *options, vp_plan_t **plan_p,
                             vp_error_t *error)
{
    bool try_paper = options->effort == VP_EFFORT_THOROUGH && catalog->n_shapes > 0 &&
                     catalog->model->n_ranks <= PAPER_RANKS;
    vp_plan_t *plan = NULL;
    vp_plan_t *paper = NULL;
    vp_status_t status;

    if (options->fix != VP_FIX_NONE) {
        return vp_schedule_paper(catalog, demand_bytes, options, plan_p, error);
    }
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
