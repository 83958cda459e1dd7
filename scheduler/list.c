/*
 * The planner "list": an order of lanes for execution by dependencies, where
 * lanes wait for their ports and for nothing else. What counts then is that
 * the fullest port never waits; how long lanes are beside each other does not
 * matter, so few blocks need cutting. Where pairs are alike, lists run into
 * dead ends that a colouring avoids, so its order is tried as well.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "base/array.h"
#include "scheduler/bound.h"
#include "scheduler/colour.h"
#include "scheduler/critical.h"
#include "scheduler/list_order.h"

/* A list this close to its bound, in 1/1024, needs no further candidates. */
enum { GOOD_ENOUGH = 1021 };

enum {
    MOST_PARTS = 4, /* of the longest pair: more overheads cost more than cuts gain */
    FEW_RANKS = 16  /* on one node, ranks and links are tight together */
};

/* vp_colour_search or vp_critical_search. */
typedef vp_status_t (*colouring_fn_t)(const vp_jobs_t *jobs, const vp_schedule_options_t *options,
                                      vp_colouring_t *best, vp_error_t *error);

typedef struct search {
    const vp_jobs_t *jobs;
    const vp_schedule_options_t *options;
    vp_cut_t cut;
    uint32_t *order;   /* of the pass under way */
    uint64_t *n_bytes; /* [n_jobs] that are left of each */
    vp_plan_t *best;   /* NULL: none yet */
    uint64_t bound_ns; /* no list is faster */
} search_t;

/* Pieces of a job that was cut are whole chunks, so the last takes what there really is. */
static vp_status_t add_lanes(search_t *search, vp_plan_builder_t *builder, vp_error_t *error)
{
    const vp_jobs_t *jobs = search->jobs;
    vp_status_t status = VP_OK;
    size_t i;

    for (i = 0; i < jobs->n_jobs; i++) {
        search->n_bytes[i] = jobs->jobs[i].n_bytes;
    }
    for (i = 0; i < search->cut.n_pieces && status == VP_OK; i++) {
        const vp_piece_t *piece = &search->cut.pieces[search->order[i]];
        uint64_t *left = &search->n_bytes[piece->job];
        uint64_t n_bytes = piece->n_bytes < *left ? piece->n_bytes : *left;

        *left -= n_bytes;
        status = vp_plan_builder_add(builder, piece->source, piece->destination,
                                     jobs->ways[piece->way].instance, n_bytes, error);
    }
    return status;
}

static void keep_better(search_t *search, vp_plan_t *plan)
{
    if (search->best == NULL || plan->time_ns < search->best->time_ns) {
        vp_plan_t *worse = search->best;

        search->best = plan;
        plan = worse;
    }
    vp_plan_destroy(plan);
}

static vp_status_t start_list(const search_t *search, vp_plan_builder_t **builder_p,
                              vp_error_t *error)
{
    const vp_plan_form_t form = {VP_PLAN_LIST, 1, false, VP_LINKS_IDEAL};
    vp_status_t status = vp_plan_builder_create(search->jobs->model, builder_p, error);

    if (status == VP_OK) {
        vp_plan_builder_set_form(*builder_p, &form);
    }
    return status;
}

static vp_status_t end_list(search_t *search, vp_plan_builder_t *builder, vp_error_t *error)
{
    vp_plan_t *plan = NULL;
    vp_status_t status =
        vp_plan_builder_finish(builder, search->options->alpha_ns, "list", &plan, error);

    if (status == VP_OK) {
        keep_better(search, plan);
    }
    return status;
}

static vp_status_t try_urgency(search_t *search, vp_urgency_t urgency, vp_error_t *error)
{
    vp_plan_builder_t *builder = NULL;
    uint64_t ticks = 0;
    vp_status_t status =
        vp_list_order(search->jobs, &search->cut, urgency, search->order, &ticks, error);

    if (status != VP_OK ||
        (search->best != NULL && ticks << search->jobs->tick_shift > search->best->time_ns)) {
        return status;
    }
    status = start_list(search, &builder, error);
    if (status == VP_OK) {
        status = add_lanes(search, builder, error);
    }
    if (status == VP_OK) {
        status = end_list(search, builder, error);
    }
    vp_plan_builder_destroy(builder);
    return status;
}

static bool is_good(const search_t *search)
{
    return search->best != NULL &&
           vp_muldiv_floor(search->best->time_ns, GOOD_ENOUGH, 1024) <= search->bound_ns;
}

/* All urgencies over the pairs in pieces of at most tau_ticks. */
static vp_status_t try_cut(search_t *search, uint64_t tau_ticks, vp_error_t *error)
{
    vp_status_t status = vp_cut_make(&search->cut, search->jobs, tau_ticks, error);
    int urgency;

    if (status == VP_OK) {
        status = vp_cut_sort(&search->cut, error);
    }
    free(search->order);
    search->order = NULL;
    if (status != VP_OK) {
        return status;
    }
    search->order = vp_array_new(search->cut.n_pieces, sizeof(*search->order));
    if (search->order == NULL) {
        return vp_error_no_memory(error, "a list of lanes");
    }
    for (urgency = 0; urgency < VP_N_URGENCIES && status == VP_OK && !is_good(search); urgency++) {
        status = try_urgency(search, (vp_urgency_t)urgency, error);
    }
    return status;
}

/* The lanes of a colouring's activations, one activation after the other. */
static vp_status_t try_colouring(search_t *search, colouring_fn_t colour, vp_error_t *error)
{
    vp_colouring_t colouring = {0};
    vp_plan_builder_t *builder = NULL;
    vp_plan_t *plan = NULL;
    vp_status_t status = vp_colouring_init(&colouring, search->jobs, error);
    size_t i;

    if (status == VP_OK) {
        status = colour(search->jobs, search->options, &colouring, error);
    }
    if (status == VP_OK) {
        status = vp_colouring_plan(&colouring, search->options->alpha_ns, "list", &plan, error);
    }
    if (status == VP_OK) {
        status = start_list(search, &builder, error);
    }
    for (i = 0; status == VP_OK && i < plan->n_lanes; i++) {
        const vp_lane_t *lane = &plan->lanes[i];

        status = vp_plan_builder_add(builder, lane->source, lane->destination, lane->instance,
                                     lane->n_bytes, error);
    }
    if (status == VP_OK) {
        status = end_list(search, builder, error);
    }
    vp_plan_builder_destroy(builder);
    vp_plan_destroy(plan);
    vp_colouring_release(&colouring);
    return status;
}

/* Critical ports first colours few ranks better, first fit many. */
static vp_status_t try_colourings(search_t *search, vp_error_t *error)
{
    bool is_small = search->jobs->model->n_nodes == 1 && search->jobs->model->n_ranks <= FEW_RANKS;
    vp_status_t status =
        try_colouring(search, is_small ? vp_critical_search : vp_colour_search, error);

    if (status == VP_OK && is_small && search->options->effort == VP_EFFORT_THOROUGH &&
        !is_good(search)) {
        status = try_colouring(search, vp_colour_search, error);
    }
    return status;
}

/* Cuts come last: each pass costs more, and gains less, than a colouring. */
static vp_status_t search_lists(search_t *search, vp_error_t *error)
{
    vp_status_t status = try_cut(search, UINT64_MAX, error);
    uint64_t longest = search->cut.longest;
    uint64_t n_parts;

    if (status == VP_OK && !is_good(search)) {
        status = try_colourings(search, error);
    }
    for (n_parts = 2; n_parts <= MOST_PARTS && search->options->effort == VP_EFFORT_THOROUGH &&
                      status == VP_OK && !is_good(search);
         n_parts *= 2) {
        status = try_cut(search, longest / n_parts, error);
    }
    return status;
}

static vp_status_t prepare(search_t *search, const vp_model_t *model, const uint64_t *demand_bytes,
                           vp_error_t *error)
{
    vp_status_t status = vp_cut_init(&search->cut, search->jobs, error);

    if (status == VP_OK) {
        status = vp_list_bound_search(model, demand_bytes, search->options->alpha_ns,
                                      VP_BOUND_SWEEPS_ROUGH, &search->bound_ns, error);
    }
    if (status != VP_OK) {
        return status;
    }
    search->n_bytes = vp_array_new(search->jobs->n_jobs, sizeof(*search->n_bytes));
    return search->n_bytes != NULL ? VP_OK : vp_error_no_memory(error, "a list of lanes");
}

vp_status_t vp_schedule_list(const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                             const vp_schedule_options_t *options, vp_plan_t **plan_p,
                             vp_error_t *error)
{
    vp_jobs_t jobs = {0};
    vp_schedule_options_t exclusive = *options;
    search_t search = {.jobs = &jobs, .options = &exclusive};
    vp_status_t status = vp_jobs_refuse_fix(options, "list", error);

    exclusive.sharing = VP_SHARING_OFF;
    if (status == VP_OK) {
        status = vp_jobs_open(&jobs, catalog->model, demand_bytes, &exclusive, error);
    }
    if (status == VP_OK) {
        status = prepare(&search, catalog->model, demand_bytes, error);
    }
    if (status == VP_OK) {
        status = search_lists(&search, error);
    }
    if (status == VP_OK) {
        *plan_p = search.best;
    } else {
        vp_plan_destroy(search.best);
    }
    free(search.n_bytes);
    free(search.order);
    vp_cut_release(&search.cut);
    vp_jobs_release(&jobs);
    return status;
}
