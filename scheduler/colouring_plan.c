/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/colouring.h"

#include <stdlib.h>

#include "base/array.h"

/* The pieces of a colouring in the order of the plan's lanes: by colour, then source. */
typedef struct lanes {
    vp_colouring_t *colouring;
    size_t *next;     /* where the next piece of a source, then of a colour, goes */
    uint32_t *sorted; /* [n_pieces] by source, then by colour too */
    uint32_t *by_source;
    size_t n_lanes;
    uint64_t *n_bytes; /* [n_jobs] on all pieces of the job */
    uint32_t *last;    /* [n_jobs] piece of the job that comes last */
} lanes_t;

static bool init(lanes_t *lanes, vp_colouring_t *colouring)
{
    size_t n_jobs = colouring->jobs->n_jobs;
    size_t n_ranks = colouring->jobs->model->n_ranks;

    lanes->colouring = colouring;
    lanes->next = vp_array_new(n_ranks + colouring->n_colours, sizeof(*lanes->next));
    lanes->sorted = vp_array_new(colouring->n_pieces, sizeof(*lanes->sorted));
    lanes->by_source = vp_array_new(colouring->n_pieces, sizeof(*lanes->by_source));
    lanes->n_bytes = vp_array_new(n_jobs, sizeof(*lanes->n_bytes));
    lanes->last = vp_array_new(n_jobs, sizeof(*lanes->last));
    return lanes->next != NULL && lanes->sorted != NULL && lanes->by_source != NULL &&
           lanes->n_bytes != NULL && lanes->last != NULL;
}

static void release(lanes_t *lanes)
{
    free(lanes->last);
    free(lanes->n_bytes);
    free(lanes->by_source);
    free(lanes->sorted);
    free(lanes->next);
}

/* From counts to where each begins. */
static void accumulate(size_t *next, size_t n)
{
    size_t sum = 0;
    size_t i;

    for (i = 0; i < n; i++) {
        size_t count = next[i];

        next[i] = sum;
        sum += count;
    }
}

/* Radix sort with one digit for the source and one for the colour. */
static void sort(lanes_t *lanes)
{
    const vp_colouring_t *colouring = lanes->colouring;
    size_t n_ranks = colouring->jobs->model->n_ranks;
    size_t i;

    for (i = 0; i < colouring->n_pieces; i++) {
        lanes->next[colouring->pieces[i].source]++;
    }
    accumulate(lanes->next, n_ranks);
    for (i = 0; i < colouring->n_pieces; i++) {
        lanes->by_source[lanes->next[colouring->pieces[i].source]++] = (uint32_t)i;
    }
    for (i = 0; i < colouring->n_colours; i++) {
        lanes->next[i] = colouring->n_lanes[i];
    }
    accumulate(lanes->next, colouring->n_colours);
    for (i = 0; i < colouring->n_pieces; i++) {
        uint32_t number = lanes->by_source[i];

        if (colouring->pieces[number].colour != VP_NO_COLOUR) {
            lanes->sorted[lanes->next[colouring->pieces[number].colour]++] = number;
        }
    }
    lanes->n_lanes = colouring->n_colours == 0 ? 0 : lanes->next[colouring->n_colours - 1];
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
        colouring->pieces[lanes->last[i]].n_bytes -= lanes->n_bytes[i] - jobs[i].n_bytes;
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

static vp_status_t add(const lanes_t *lanes, vp_plan_builder_t *builder, vp_error_t *error)
{
    enum { AHEAD = 8 };
    const vp_colouring_t *colouring = lanes->colouring;
    uint32_t colour = VP_NO_COLOUR;
    size_t i;

    for (i = 0; i < lanes->n_lanes; i++) {
        const vp_piece_t *piece = &colouring->pieces[lanes->sorted[i]];
        vp_status_t status;

        if (i + AHEAD < lanes->n_lanes) {
            __builtin_prefetch(&colouring->pieces[lanes->sorted[i + AHEAD]]);
        }
        if (piece->colour != colour) {
            vp_plan_builder_next(builder);
            colour = piece->colour;
        }
        status = add_piece(lanes, builder, piece, error);
        if (status != VP_OK) {
            return status;
        }
    }
    return VP_OK;
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
