/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/plan.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"

struct vp_plan_builder {
    const vp_model_t *model;
    uint64_t *pair_bytes; /* [n_ranks][n_ranks] bytes cut from each block so far */
    vp_lane_t *lanes;
    size_t n_lanes;
    size_t capacity;
    uint32_t activation; /* that the next lane belongs to */
    vp_plan_form_t form;
    uint64_t total_bytes;
};

void vp_plan_destroy(vp_plan_t *plan)
{
    if (plan == NULL) {
        return;
    }
    free(plan->lanes);
    free(plan->activation_begin);
    free(plan->activation_ns);
    free(plan);
}

vp_status_t vp_plan_builder_create(const vp_model_t *model, vp_plan_builder_t **builder_p,
                                   vp_error_t *error)
{
    vp_plan_builder_t *builder = vp_array_new(1, sizeof(*builder));

    if (builder == NULL) {
        return vp_error_no_memory(error, "a plan builder");
    }
    builder->model = model;
    builder->form = (vp_plan_form_t){VP_PLAN_ACTIVATIONS, 1, false, VP_LINKS_IDEAL};
    builder->pair_bytes =
        vp_array_new((size_t)model->n_ranks * model->n_ranks, sizeof(*builder->pair_bytes));
    if (builder->pair_bytes == NULL) {
        free(builder);
        return vp_error_no_memory(error, "the pair offsets of a plan");
    }
    *builder_p = builder;
    return VP_OK;
}

void vp_plan_builder_destroy(vp_plan_builder_t *builder)
{
    if (builder == NULL) {
        return;
    }
    free(builder->lanes);
    free(builder->pair_bytes);
    free(builder);
}

vp_status_t vp_plan_builder_reserve(vp_plan_builder_t *builder, size_t n_lanes, vp_error_t *error)
{
    if (builder->lanes == NULL) {
        builder->lanes = vp_array_new(n_lanes, sizeof(*builder->lanes));
        builder->capacity = builder->lanes == NULL ? 0 : n_lanes;
        return builder->lanes != NULL ? VP_OK : vp_error_no_memory(error, "the lanes of a plan");
    }
    return VP_OK;
}

void vp_plan_builder_set_form(vp_plan_builder_t *builder, const vp_plan_form_t *form)
{
    builder->form = *form;
}

void vp_plan_builder_next(vp_plan_builder_t *builder)
{
    if (builder->n_lanes > 0 &&
        builder->lanes[builder->n_lanes - 1].activation == builder->activation) {
        builder->activation++;
    }
}

vp_status_t vp_plan_builder_add(vp_plan_builder_t *builder, uint32_t source, uint32_t destination,
                                uint32_t instance, uint64_t n_bytes, vp_error_t *error)
{
    const vp_model_t *model = builder->model;
    vp_lane_t *lane;

    if (n_bytes == 0) {
        return VP_OK;
    }
    if (source >= model->n_ranks || destination >= model->n_ranks ||
        instance >= model->n_instances || n_bytes > UINT64_MAX - builder->total_bytes) {
        return vp_error_set(error, VP_ERR_INTERNAL,
                            "a planner added %llu bytes from rank %u to rank %u over path "
                            "instance %u, outside its machine of %u ranks and %u instances or "
                            "past 2^64 bytes in all; there is no plan, please report this",
                            (unsigned long long)n_bytes, source, destination, instance,
                            model->n_ranks, model->n_instances);
    }
    if (!vp_array_reserve(&builder->lanes, &builder->capacity, builder->n_lanes + 1,
                          sizeof(*builder->lanes))) {
        return vp_error_no_memory(error, "the lanes of a plan");
    }
    if (builder->form.order == VP_PLAN_LIST) {
        vp_plan_builder_next(builder);
    }
    lane = &builder->lanes[builder->n_lanes++];
    lane->activation = builder->activation;
    lane->source = source;
    lane->destination = destination;
    lane->instance = instance;
    lane->offset_bytes = builder->pair_bytes[(size_t)source * model->n_ranks + destination];
    lane->n_bytes = n_bytes;
    builder->pair_bytes[(size_t)source * model->n_ranks + destination] += n_bytes;
    builder->total_bytes += n_bytes;
    return VP_OK;
}

/*
 * Lanes of a source keep the order in which they were added: where they share
 * the source's link it is the order that they start in.
 */
typedef struct place {
    uint32_t activation;
    uint32_t source;
    size_t number; /* of the lane in the order of adding */
} place_t;

static int compare_places(const void *a_p, const void *b_p)
{
    const place_t *a = a_p;
    const place_t *b = b_p;

    if (a->activation != b->activation) {
        return a->activation < b->activation ? -1 : 1;
    }
    if (a->source != b->source) {
        return a->source < b->source ? -1 : 1;
    }
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Planners mostly add lanes in order. */
static bool is_sorted(const vp_lane_t *lanes, size_t n_lanes)
{
    size_t i;

    for (i = 1; i < n_lanes; i++) {
        if (lanes[i - 1].activation == lanes[i].activation &&
            lanes[i - 1].source > lanes[i].source) {
            return false;
        }
    }
    return true;
}

static vp_status_t sort_lanes(vp_plan_t *plan, vp_error_t *error)
{
    vp_lane_t *sorted;
    place_t *places;
    size_t i;

    if (is_sorted(plan->lanes, plan->n_lanes)) {
        return VP_OK;
    }
    sorted = vp_array_new(plan->n_lanes, sizeof(*sorted));
    places = vp_array_new(plan->n_lanes, sizeof(*places));
    if (sorted == NULL || places == NULL) {
        free(places);
        free(sorted);
        return vp_error_no_memory(error, "the order of a plan's lanes");
    }
    for (i = 0; i < plan->n_lanes; i++) {
        places[i] = (place_t){plan->lanes[i].activation, plan->lanes[i].source, i};
    }
    qsort(places, plan->n_lanes, sizeof(*places), compare_places);
    for (i = 0; i < plan->n_lanes; i++) {
        sorted[i] = plan->lanes[places[i].number];
    }
    free(places);
    free(plan->lanes);
    plan->lanes = sorted;
    return VP_OK;
}

/* Marks where activations begin. */
static void fill_activations(vp_plan_t *plan)
{
    size_t i;

    for (i = plan->n_lanes; i > 0; i--) {
        plan->activation_begin[plan->lanes[i - 1].activation] = i - 1;
    }
    plan->activation_begin[plan->n_activations] = plan->n_lanes;
}

static uint8_t *put_u32(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
    at[2] = (uint8_t)(value >> 16);
    at[3] = (uint8_t)(value >> 24);
    return at + 4;
}

static uint8_t *put_u64(uint8_t *at, uint64_t value)
{
    return put_u32(put_u32(at, (uint32_t)value), (uint32_t)(value >> 32));
}

static uint8_t *put_lane(uint8_t *at, const vp_lane_t *lane)
{
    at = put_u32(put_u32(at, lane->activation), lane->source);
    at = put_u32(put_u32(at, lane->destination), lane->instance);
    return put_u64(put_u64(at, lane->offset_bytes), lane->n_bytes);
}

/*
 * Layout: n_ranks u32, n_lanes u64, the form's members u32 each, then per lane
 * the members in order, all little-endian.
 */
static uint64_t hash_plan(const vp_plan_t *plan)
{
    enum { BLOCK_LANES = 128, LANE_BYTES = 32 };
    uint8_t text[BLOCK_LANES * LANE_BYTES];
    uint8_t *at = put_u64(put_u32(text, plan->n_ranks), plan->n_lanes);
    vp_hash64_state_t state;
    size_t i;

    vp_hash64_start(&state);
    at = put_u32(put_u32(at, (uint32_t)plan->form.order), plan->form.window);
    at = put_u32(put_u32(at, plan->form.shares_ports), plan->form.contention);
    vp_hash64_add(&state, text, (size_t)(at - text));
    for (i = 0; i < plan->n_lanes;) {
        size_t end = plan->n_lanes - i < BLOCK_LANES ? plan->n_lanes : i + BLOCK_LANES;

        at = text;
        for (; i < end; i++) {
            at = put_lane(at, &plan->lanes[i]);
        }
        vp_hash64_add(&state, text, (size_t)(at - text));
    }
    return vp_hash64_end(&state);
}

static vp_plan_t *new_plan(uint32_t n_activations)
{
    vp_plan_t *plan = vp_array_new(1, sizeof(*plan));

    if (plan == NULL) {
        return NULL;
    }
    plan->n_activations = n_activations;
    plan->activation_begin =
        vp_array_new((size_t)n_activations + 1, sizeof(*plan->activation_begin));
    plan->activation_ns = vp_array_new(n_activations, sizeof(*plan->activation_ns));
    if (plan->activation_begin == NULL || plan->activation_ns == NULL) {
        vp_plan_destroy(plan);
        return NULL;
    }
    return plan;
}

vp_status_t vp_plan_builder_finish(vp_plan_builder_t *builder, uint64_t alpha_ns,
                                   const char *scheduler, vp_plan_t **plan_p, vp_error_t *error)
{
    vp_plan_t *plan;
    vp_status_t status;

    vp_plan_builder_next(builder);
    plan = new_plan(builder->activation);
    if (plan == NULL) {
        return vp_error_no_memory(error, "a plan");
    }
    plan->n_ranks = builder->model->n_ranks;
    plan->total_bytes = builder->total_bytes;
    plan->scheduler = scheduler;
    plan->n_lanes = builder->n_lanes;
    plan->lanes = builder->lanes;
    builder->lanes = NULL;
    builder->n_lanes = 0;
    builder->capacity = 0;
    plan->form = builder->form;
    status = sort_lanes(plan, error);
    if (status == VP_OK) {
        fill_activations(plan);
        status = vp_plan_time(plan, builder->model, alpha_ns, error);
    }
    if (status != VP_OK) {
        vp_plan_destroy(plan);
        return status;
    }
    plan->hash = hash_plan(plan);
    *plan_p = plan;
    return VP_OK;
}
