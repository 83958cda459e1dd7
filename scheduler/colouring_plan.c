/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/colouring.h"

#include <stdlib.h>

#include "base/array.h"

/* The pieces of a colouring in the order of the plan's lanes: by colour, then source. */
typedef struct lanes {
    vp_colouring_t *colouring;
    vp_pool_t *pool;
    size_t *next;     /* [n_colours] where the next piece of a colour goes */
    uint64_t *sorted; /* [n_pieces] sources over numbers of pieces */
    size_t n_lanes;
    uint64_t *n_bytes;  /* [n_jobs] on all pieces of the job */
    uint32_t *last;     /* [n_jobs] piece of the job that comes last */
    uint64_t *of_rank;  /* [n_ranks] of one colour: what is sorted, by source */
    uint64_t *sources;  /* [n_ranks / 64 + 1] bits, all 0 between colours */
    vp_piece_t *pieces; /* [n_ranks] of one colour, in order */
} lanes_t;

enum { NUMBER_BITS = 32 };

static bool init(lanes_t *lanes, vp_colouring_t *colouring)
{
    size_t n_jobs = colouring->jobs->n_jobs;
    size_t n_ranks = colouring->jobs->model->n_ranks;

    lanes->colouring = colouring;
    lanes->pool = colouring->jobs->pool;
    lanes->next = vp_array_new(colouring->n_colours, sizeof(*lanes->next));
    lanes->sorted = vp_pool_take(lanes->pool, colouring->n_pieces, sizeof(*lanes->sorted));
    lanes->n_bytes = vp_pool_take_zeroed(lanes->pool, n_jobs, sizeof(*lanes->n_bytes));
    lanes->last = vp_pool_take(lanes->pool, n_jobs, sizeof(*lanes->last));
    lanes->of_rank = vp_array_new(n_ranks, sizeof(*lanes->of_rank));
    lanes->sources = vp_array_new(n_ranks / 64 + 1, sizeof(*lanes->sources));
    lanes->pieces = vp_array_new(n_ranks, sizeof(*lanes->pieces));
    return lanes->next != NULL && lanes->sorted != NULL && lanes->n_bytes != NULL &&
           lanes->last != NULL && lanes->of_rank != NULL && lanes->sources != NULL &&
           lanes->pieces != NULL;
}

static void release(lanes_t *lanes)
{
    free(lanes->pieces);
    free(lanes->sources);
    free(lanes->of_rank);
    vp_pool_give(lanes->pool, lanes->last);
    vp_pool_give(lanes->pool, lanes->n_bytes);
    vp_pool_give(lanes->pool, lanes->sorted);
    free(lanes->next);
}

/* Orders the pieces of one colour, which have different sources. */
static void sort_colour(lanes_t *lanes, uint64_t *sorted, size_t n)
{
    size_t n_words = lanes->colouring->jobs->model->n_ranks / 64 + 1;
    size_t at = 0;
    size_t i;

    for (i = 0; i < n; i++) {
        uint32_t source = (uint32_t)(sorted[i] >> NUMBER_BITS);

        lanes->of_rank[source] = sorted[i];
        lanes->sources[source / 64] |= UINT64_C(1) << (source % 64);
    }
    for (i = 0; i < n_words; i++) {
        uint64_t left = lanes->sources[i];

        for (; left != 0; left &= left - 1) {
            sorted[at++] = lanes->of_rank[64 * i + (size_t)__builtin_ctzll(left)];
        }
        lanes->sources[i] = 0;
    }
}

static void sort(lanes_t *lanes)
{
    const vp_colouring_t *colouring = lanes->colouring;
    size_t i;

    for (i = 0; i < colouring->n_colours; i++) {
        lanes->next[i] = lanes->n_lanes;
        lanes->n_lanes += colouring->n_lanes[i];
    }
    for (i = 0; i < colouring->n_pieces; i++) {
        const vp_piece_t *piece = &colouring->pieces[i];

        if (piece->colour != VP_NO_COLOUR) {
            lanes->sorted[lanes->next[piece->colour]++] =
                (uint64_t)piece->source << NUMBER_BITS | i;
        }
    }
    for (i = 0; i < colouring->n_colours; i++) {
        size_t n = colouring->n_lanes[i];

        sort_colour(lanes, lanes->sorted + (lanes->next[i] - n), n);
    }
}

/*
 * Pieces of a job that was cut are whole chunks, together more than the job by
 * less than one; its last lane must give them back.
 */
static void trim(lanes_t *lanes)
{
    vp_colouring_t *colouring = lanes->colouring;
    const vp_job_t *jobs = colouring->jobs->jobs;
    size_t i;

    for (i = 0; i < colouring->n_pieces; i++) {
        const vp_piece_t *piece = &colouring->pieces[i];
        uint32_t *last = &lanes->last[piece->job];

        if (piece->colour == VP_NO_COLOUR) {
            continue;
        }
        if (lanes->n_bytes[piece->job] == 0 || piece->colour > colouring->pieces[*last].colour) {
            *last = (uint32_t)i;
        }
        lanes->n_bytes[piece->job] += piece->n_bytes;
    }
    for (i = 0; i < colouring->jobs->n_jobs; i++) {
        if (lanes->n_bytes[i] != jobs[i].n_bytes) {
            colouring->pieces[lanes->last[i]].n_bytes -= lanes->n_bytes[i] - jobs[i].n_bytes;
        }
    }
}

/* A piece over two instances is two lanes of one activation, which share the ranks' links. */
static vp_status_t add_piece(const lanes_t *lanes, vp_plan_builder_t *builder,
                             const vp_piece_t *piece, vp_error_t *error)
{
    const vp_jobs_t *jobs = lanes->colouring->jobs;
    const vp_way_t *way = &jobs->ways[piece->way];
    uint64_t first_bytes = vp_way_first_bytes(jobs, way, piece->n_bytes);
    vp_status_t status = vp_plan_builder_add(builder, piece->source, piece->destination,
                                             way->instance, first_bytes, error);

    if (status == VP_OK && first_bytes < piece->n_bytes) {
        const vp_plan_form_t shared = {VP_PLAN_ACTIVATIONS, 2, true, jobs->contention};

        vp_plan_builder_set_form(builder, &shared);
        status = vp_plan_builder_add(builder, piece->source, piece->destination, way->partner,
                                     piece->n_bytes - first_bytes, error);
    }
    return status;
}

/* Copies first, since pieces lie all over memory: then the misses overlap. */
static vp_status_t add_colour(const lanes_t *lanes, const uint64_t *sorted, size_t n,
                              vp_plan_builder_t *builder, vp_error_t *error)
{
    vp_status_t status = VP_OK;
    size_t i;

    for (i = 0; i < n; i++) {
        lanes->pieces[i] = lanes->colouring->pieces[(uint32_t)sorted[i]];
    }
    vp_plan_builder_next(builder);
    for (i = 0; i < n && status == VP_OK; i++) {
        status = add_piece(lanes, builder, &lanes->pieces[i], error);
    }
    return status;
}

static vp_status_t add(const lanes_t *lanes, vp_plan_builder_t *builder, vp_error_t *error)
{
    const vp_colouring_t *colouring = lanes->colouring;
    vp_status_t status = VP_OK;
    uint32_t k;

    for (k = 0; k < colouring->n_colours && status == VP_OK; k++) {
        size_t n = colouring->n_lanes[k];

        status = add_colour(lanes, lanes->sorted + (lanes->next[k] - n), n, builder, error);
    }
    return status;
}

vp_status_t vp_colouring_plan(vp_colouring_t *colouring, uint64_t alpha_ns, const char *scheduler,
                              vp_plan_t **plan_p, vp_error_t *error)
{
    vp_plan_builder_t *builder = NULL;
    lanes_t lanes = {0};
    vp_status_t status;

    if (!init(&lanes, colouring)) {
        status = vp_error_no_memory(error, "the lanes of a plan");
        goto out;
    }
    trim(&lanes);
    sort(&lanes);
    status = vp_plan_builder_create(colouring->jobs->model, &builder, error);
    if (status == VP_OK) {
        status = vp_plan_builder_reserve(builder, lanes.n_lanes, error);
    }
    if (status == VP_OK) {
        status = add(&lanes, builder, error);
    }
    if (status == VP_OK) {
        status = vp_plan_builder_finish(builder, alpha_ns, scheduler, plan_p, error);
    }
out:
    vp_plan_builder_destroy(builder);
    release(&lanes);
    return status;
}

vp_status_t vp_colouring_schedule(vp_colouring_search_fn_t search, const char *scheduler,
                                  const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                                  const vp_schedule_options_t *options, vp_plan_t **plan_p,
                                  vp_error_t *error)
{
    vp_jobs_t jobs;
    vp_colouring_t best = {0};
    vp_status_t status = vp_jobs_refuse_fix(options, scheduler, error);

    if (status != VP_OK) {
        return status;
    }
    status = vp_jobs_open(&jobs, catalog->model, demand_bytes, options, error);
    if (status != VP_OK) {
        return status;
    }
    status = vp_colouring_init(&best, &jobs, error);
    if (status == VP_OK) {
        status = search(&jobs, options, &best, error);
    }
    if (status == VP_OK) {
        status = vp_colouring_plan(&best, options->alpha_ns, scheduler, plan_p, error);
    }
    vp_colouring_release(&best);
    vp_jobs_release(&jobs);
    return status;
}
