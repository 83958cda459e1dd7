/*
 * A plan's beginning before its rest: one activation that a rank finds in
 * microseconds, looking at a few pairs of each source only, so that bytes can
 * move while the rest is planned. The rest is planned without what the
 * beginning carries, and both are one plan, the same on every rank.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/units.h"
#include "scheduler/demand_check.h"
#include "scheduler/jobs.h"
#include "scheduler/schedule.h"

enum {
    N_TRIES = 16,        /* destinations that are looked at for each source, per pass */
    LENGTH_PERCENT = 150 /* of the mean lane: longer ones would make all wait, and are cut */
};

static const char planner_name[] = "prefix";

/* What a source sends in the activation. */
typedef struct choice {
    uint64_t n_bytes; /* 0: nothing */
    uint32_t destination;
    uint32_t instance;
} choice_t;

typedef struct prefix {
    const vp_model_t *model;
    const uint64_t *demand_bytes;
    choice_t *choices;  /* [n_ranks] by source */
    bool *receives;     /* [n_ranks] */
    bool *is_used;      /* [n_resources] */
    uint32_t *n_copies; /* [n_instances] lanes over an instance so far */
    uint64_t chunk_bytes;
} prefix_t;

static bool is_free(const prefix_t *prefix, uint32_t r)
{
    const vp_instance_t *instance = &prefix->model->instances[r];
    uint32_t i;

    for (i = 0; i < instance->n_resources && !prefix->is_used[instance->resources[i]]; i++) {
    }
    return i == instance->n_resources && prefix->n_copies[r] < instance->n_copies;
}

/* The fastest free instance between two ranks, UINT32_MAX: none; the first of equals. */
static uint32_t fastest_free(const prefix_t *prefix, uint32_t source, uint32_t destination)
{
    uint32_t best = UINT32_MAX;
    uint32_t r;
    uint32_t end;

    vp_rank_pair_instances(prefix->model, source, destination, &r, &end);
    for (; r < end; r++) {
        if (is_free(prefix, r) &&
            (best == UINT32_MAX || prefix->model->instances[r].bytes_per_s >
                                       prefix->model->instances[best].bytes_per_s)) {
            best = r;
        }
    }
    return best;
}

static bool is_far(const vp_model_t *model, uint32_t a, uint32_t b)
{
    return model->groups[model->rank_group[a]].node != model->groups[model->rank_group[b]].node;
}

static void take(prefix_t *prefix, uint32_t source, const choice_t *choice)
{
    const vp_instance_t *instance = &prefix->model->instances[choice->instance];
    uint32_t i;

    prefix->choices[source] = *choice;
    prefix->receives[choice->destination] = true;
    prefix->n_copies[choice->instance]++;
    for (i = 0; i < instance->n_resources; i++) {
        prefix->is_used[instance->resources[i]] = true;
    }
}

/*
 * Gives a source the largest of the first few pairs that its free ports allow,
 * among ranks of other nodes, or of its own. Destinations are tried from half
 * way round on, so that neighbours do not go for the same ones.
 */
static void choose(prefix_t *prefix, uint32_t source, bool far)
{
    const vp_model_t *model = prefix->model;
    choice_t best = {0, 0, 0};
    uint32_t n_tries = 0;
    uint32_t step;

    for (step = 0; step < model->n_ranks && n_tries < N_TRIES; step++) {
        uint32_t destination = (source + model->n_ranks / 2 + step) % model->n_ranks;
        uint64_t n_bytes = prefix->demand_bytes[(size_t)source * model->n_ranks + destination];
        uint32_t instance;

        if (destination == source || is_far(model, source, destination) != far ||
            prefix->receives[destination]) {
            continue;
        }
        n_tries++;
        instance = n_bytes > best.n_bytes ? fastest_free(prefix, source, destination) : UINT32_MAX;
        if (instance != UINT32_MAX) {
            best = (choice_t){n_bytes, destination, instance};
        }
    }
    if (best.n_bytes > 0) {
        take(prefix, source, &best);
    }
}

/* Links between nodes are the scarce ones: they are filled first. */
static void choose_all(prefix_t *prefix)
{
    uint32_t source;

    for (source = 0; source < prefix->model->n_ranks; source++) {
        choose(prefix, source, true);
    }
    for (source = 0; source < prefix->model->n_ranks; source++) {
        if (prefix->choices[source].n_bytes == 0) {
            choose(prefix, source, false);
        }
    }
}

static uint64_t length_of(const prefix_t *prefix, const choice_t *choice)
{
    return vp_transfer_ns(choice->n_bytes, prefix->model->instances[choice->instance].bytes_per_s);
}

/* Whole chunks of a lane that end by `ns`, or all of it where a sliver would be left or moved. */
static uint64_t cut(const prefix_t *prefix, const choice_t *choice, uint64_t ns)
{
    uint64_t least = VP_JOBS_MIN_CUT_CHUNKS * prefix->chunk_bytes;
    uint64_t n_bytes = vp_bytes_in_ns(prefix->model->instances[choice->instance].bytes_per_s, ns);

    n_bytes -= n_bytes % prefix->chunk_bytes;
    n_bytes = n_bytes < least ? least : n_bytes;
    return choice->n_bytes < n_bytes + least ? choice->n_bytes : n_bytes;
}

static void cut_long_lanes(prefix_t *prefix)
{
    vp_uint128_t sum = 0;
    uint32_t n_lanes = 0;
    uint64_t mean_ns;
    uint32_t i;

    for (i = 0; i < prefix->model->n_ranks; i++) {
        if (prefix->choices[i].n_bytes > 0) {
            sum += length_of(prefix, &prefix->choices[i]);
            n_lanes++;
        }
    }
    mean_ns = n_lanes == 0 ? 0 : (uint64_t)(sum / n_lanes);
    for (i = 0; i < prefix->model->n_ranks; i++) {
        if (prefix->choices[i].n_bytes > 0) {
            prefix->choices[i].n_bytes =
                cut(prefix, &prefix->choices[i], vp_muldiv_floor(mean_ns, LENGTH_PERCENT, 100));
        }
    }
}

static vp_status_t add_choices(const prefix_t *prefix, uint64_t alpha_ns, vp_plan_t **prefix_p,
                               vp_error_t *error)
{
    vp_plan_builder_t *builder = NULL;
    vp_status_t status = vp_plan_builder_create(prefix->model, &builder, error);
    uint32_t source;

    for (source = 0; source < prefix->model->n_ranks && status == VP_OK; source++) {
        const choice_t *choice = &prefix->choices[source];

        status = vp_plan_builder_add(builder, source, choice->destination, choice->instance,
                                     choice->n_bytes, error);
    }
    if (status == VP_OK) {
        status = vp_plan_builder_finish(builder, alpha_ns, planner_name, prefix_p, error);
    }
    vp_plan_builder_destroy(builder);
    return status;
}

vp_status_t vp_schedule_prefix(const vp_model_t *model, const uint64_t *demand_bytes,
                               const vp_schedule_options_t *options, vp_plan_t **prefix_p,
                               vp_error_t *error)
{
    prefix_t prefix = {.model = model, .demand_bytes = demand_bytes};
    vp_status_t status;

    prefix.chunk_bytes = options->chunk_bytes != 0 ? options->chunk_bytes : VP_CHUNK_BYTES;
    status = vp_jobs_check_chunk(prefix.chunk_bytes, error);
    if (status != VP_OK) {
        return status;
    }
    prefix.choices = vp_array_new(model->n_ranks, sizeof(*prefix.choices));
    prefix.receives = vp_array_new(model->n_ranks, sizeof(*prefix.receives));
    prefix.is_used = vp_array_new(model->n_resources, sizeof(*prefix.is_used));
    prefix.n_copies = vp_array_new(model->n_instances, sizeof(*prefix.n_copies));
    if (prefix.choices == NULL || prefix.receives == NULL || prefix.is_used == NULL ||
        prefix.n_copies == NULL) {
        status = vp_error_no_memory(error, "the beginning of a plan");
        goto out;
    }
    choose_all(&prefix);
    cut_long_lanes(&prefix);
    status = add_choices(&prefix, options->alpha_ns, prefix_p, error);
out:
    free(prefix.n_copies);
    free(prefix.is_used);
    free(prefix.receives);
    free(prefix.choices);
    return status;
}

/* The demand without what the prefix carries; NULL when memory is out. */
static uint64_t *demand_after(const vp_plan_t *prefix, const uint64_t *demand_bytes)
{
    size_t n_pairs = (size_t)prefix->n_ranks * prefix->n_ranks;
    uint64_t *rest_bytes = vp_array_new(n_pairs, sizeof(*rest_bytes));
    size_t i;

    if (rest_bytes == NULL) {
        return NULL;
    }
    for (i = 0; i < n_pairs; i++) {
        rest_bytes[i] = demand_bytes[i];
    }
    for (i = 0; i < prefix->n_lanes; i++) {
        const vp_lane_t *lane = &prefix->lanes[i];

        rest_bytes[(size_t)lane->source * prefix->n_ranks + lane->destination] -= lane->n_bytes;
    }
    return rest_bytes;
}

static vp_status_t add_plan(vp_plan_builder_t *builder, const vp_plan_t *plan, vp_error_t *error)
{
    vp_status_t status = VP_OK;
    size_t i;

    for (i = 0; i < plan->n_lanes && status == VP_OK; i++) {
        const vp_lane_t *lane = &plan->lanes[i];

        if (i > 0 && lane->activation != plan->lanes[i - 1].activation) {
            vp_plan_builder_next(builder);
        }
        status = vp_plan_builder_add(builder, lane->source, lane->destination, lane->instance,
                                     lane->n_bytes, error);
    }
    return status;
}

/* The prefix, then the rest, in the form of the rest. */
static vp_status_t join(const vp_model_t *model, const vp_plan_t *prefix, const vp_plan_t *rest,
                        uint64_t alpha_ns, vp_plan_t **plan_p, vp_error_t *error)
{
    vp_plan_builder_t *builder = NULL;
    vp_status_t status = vp_plan_builder_create(model, &builder, error);

    if (status != VP_OK) {
        return status;
    }
    vp_plan_builder_set_form(builder, &rest->form);
    status = add_plan(builder, prefix, error);
    if (status == VP_OK) {
        if (rest->form.order == VP_PLAN_ACTIVATIONS) {
            vp_plan_builder_next(builder);
        }
        status = add_plan(builder, rest, error);
    }
    if (status == VP_OK) {
        status = vp_plan_builder_finish(builder, alpha_ns, rest->scheduler, plan_p, error);
    }
    vp_plan_builder_destroy(builder);
    return status;
}

vp_status_t vp_schedule_after(const vp_plan_t *prefix, vp_schedule_fn_t planner,
                              const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                              const vp_schedule_options_t *options, vp_plan_t **plan_p,
                              vp_error_t *error)
{
    uint64_t *rest_bytes = demand_after(prefix, demand_bytes);
    vp_plan_t *rest = NULL;
    vp_status_t status;

    if (rest_bytes == NULL) {
        return vp_error_no_memory(error, "the rest of a demand");
    }
    status = planner(catalog, rest_bytes, options, &rest, error);
    if (status == VP_OK) {
        status = join(catalog->model, prefix, rest, options->alpha_ns, plan_p, error);
    }
    vp_plan_destroy(rest);
    free(rest_bytes);
    return status;
}
