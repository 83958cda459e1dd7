/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll_variopath/waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Whoever used a source, a destination or a resource: a chain of lanes, newest first. */
typedef struct use {
    uint32_t lane;
    uint32_t next; /* 1 + index of the use before it in the same activation; 0: none */
} use_t;

typedef struct port {
    uint32_t activation; /* of `current` */
    uint32_t current;    /* 1 + index of a use; 0: none */
    uint32_t before;     /* likewise, of the latest earlier activation */
} port_t;

/* Lanes of the plan, which may be many: each list of predecessors is kept for the next ones. */
typedef struct builder {
    const vp_model_t *model;
    const vp_plan_t *plan;
    uint32_t place;
    bool serial;   /* a source's lanes follow each other */
    port_t *ports; /* sources, destinations, resources */
    use_t *uses;
    uint32_t n_uses;
    size_t *begin; /* [n_lanes + 1] predecessors of each lane, into before */
    uint32_t *before;
    size_t n_before;
    size_t capacity;
    uint32_t
        *known; /* [n_ranks][n_ranks] 1 + latest lane of a source that a source's lane waited for */
    uint32_t *own_index; /* of a lane with source `place` */
    vp_waits_t *waits;
} builder_t;

void vp_waits_destroy(vp_waits_t *waits)
{
    if (waits == NULL) {
        return;
    }
    free(waits->own);
    free(waits->n_before);
    free(waits->local.waits);
    free(waits->remote.waits);
    free(waits->told.waits);
    free(waits);
}

size_t vp_waits_first(const vp_wait_list_t *list, uint32_t from)
{
    size_t low = 0, high = list->n_waits;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (list->waits[middle].from < from) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool append(vp_wait_list_t *list, uint32_t from, uint32_t to)
{
    if (!vp_array_reserve(&list->waits, &list->capacity, list->n_waits + 1, sizeof(*list->waits))) {
        return false;
    }
    list->waits[list->n_waits++] = (vp_wait_t){.from = from, .to = to};
    return true;
}

static int compare_waits(const void *a_p, const void *b_p)
{
    const vp_wait_t *a = a_p;
    const vp_wait_t *b = b_p;

    if (a->from != b->from) {
        return a->from < b->from ? -1 : 1;
    }
    return a->to < b->to ? -1 : a->to > b->to;
}

static void sort_list(vp_wait_list_t *list)
{
    size_t i, n_kept = 0;

    if (list->n_waits == 0) {
        return;
    }
    qsort(list->waits, list->n_waits, sizeof(*list->waits), compare_waits);
    for (i = 0; i < list->n_waits; i++) {
        if (n_kept == 0 || compare_waits(&list->waits[n_kept - 1], &list->waits[i]) != 0) {
            list->waits[n_kept++] = list->waits[i];
        }
    }
    list->n_waits = n_kept;
}

/* Adds the lane to a port's users; its predecessors there are port->before afterwards. */
static void use_port(builder_t *builder, port_t *port, uint32_t lane)
{
    uint32_t activation = builder->plan->lanes[lane].activation;

    if (port->current != 0 && port->activation != activation) {
        port->before = port->current;
        port->current = 0;
    }
    port->activation = activation;
    builder->uses[builder->n_uses] = (use_t){.lane = lane, .next = port->current};
    port->current = ++builder->n_uses;
}

/* Inserts into the lane's predecessors, descending and each once. */
static bool add_before(builder_t *builder, size_t begin, uint32_t lane)
{
    size_t at = builder->n_before;

    while (at > begin && builder->before[at - 1] < lane) {
        at--;
    }
    if (at > begin && builder->before[at - 1] == lane) {
        return true;
    }
    if (!vp_array_reserve(&builder->before, &builder->capacity, builder->n_before + 1,
                          sizeof(*builder->before))) {
        return false;
    }
    memmove(&builder->before[at + 1], &builder->before[at],
            (builder->n_before - at) * sizeof(*builder->before));
    builder->before[at] = lane;
    builder->n_before++;
    return true;
}

static bool visit_port(builder_t *builder, size_t port_index, uint32_t lane)
{
    port_t *port = &builder->ports[port_index];
    uint32_t use;

    use_port(builder, port, lane);
    for (use = port->before; use != 0; use = builder->uses[use - 1].next) {
        if (!add_before(builder, builder->begin[lane], builder->uses[use - 1].lane)) {
            return false;
        }
    }
    return true;
}

static bool find_before(builder_t *builder, uint32_t index)
{
    const vp_lane_t *lane = &builder->plan->lanes[index];
    const vp_instance_t *instance = &builder->model->instances[lane->instance];
    size_t n = builder->plan->n_ranks;
    bool good;
    uint32_t i;

    builder->begin[index] = builder->n_before;
    good = visit_port(builder, lane->source, index) &&
           visit_port(builder, n + lane->destination, index);
    for (i = 0; good && i < instance->n_resources; i++) {
        good = visit_port(builder, 2 * n + instance->resources[i], index);
    }
    builder->begin[index + 1] = builder->n_before;
    return good;
}

static bool waits_for(const builder_t *builder, uint32_t lane, uint32_t earlier)
{
    size_t i;

    for (i = builder->begin[lane]; i < builder->begin[lane + 1]; i++) {
        if (builder->before[i] == earlier) {
            return true;
        }
    }
    return false;
}

/*
 * Does a wait follow from others? Of serial sources: because an earlier lane of
 * this source, or a later predecessor, has waited for that source as far already.
 */
static bool is_implied(builder_t *builder, uint32_t lane, size_t at)
{
    uint32_t earlier = builder->before[at];
    const vp_lane_t *lanes = builder->plan->lanes;
    uint32_t *known =
        &builder
             ->known[(size_t)lanes[lane].source * builder->plan->n_ranks + lanes[earlier].source];
    bool implied = *known > earlier;
    size_t i;

    for (i = builder->begin[lane]; i < at && !implied; i++) {
        implied = waits_for(builder, builder->before[i], earlier);
    }
    if (*known <= earlier) {
        *known = earlier + 1;
    }
    return implied;
}

static bool keep_wait(builder_t *builder, uint32_t lane, uint32_t earlier)
{
    const vp_lane_t *lanes = builder->plan->lanes;
    bool waits_here = lanes[lane].source == builder->place;
    vp_waits_t *waits = builder->waits;

    if (lanes[earlier].source == builder->place) {
        return waits_here
                   ? append(&waits->local, builder->own_index[earlier], builder->own_index[lane])
                   : append(&waits->told, builder->own_index[earlier], lanes[lane].source);
    }
    return !waits_here || append(&waits->remote, earlier, builder->own_index[lane]);
}

static bool keep_waits(builder_t *builder, uint32_t lane)
{
    size_t i;

    for (i = builder->begin[lane]; i < builder->begin[lane + 1]; i++) {
        bool implied = builder->serial && is_implied(builder, lane, i);

        if (!implied && !keep_wait(builder, lane, builder->before[i])) {
            return false;
        }
    }
    return true;
}

static bool build_across(builder_t *builder)
{
    size_t n_lanes = builder->plan->n_lanes;
    uint32_t lane;

    for (lane = 0; lane < n_lanes; lane++) {
        if (!find_before(builder, lane) || !keep_waits(builder, lane)) {
            return false;
        }
    }
    return true;
}

/* Each lane after all of the own latest earlier activation. */
static bool build_local(builder_t *builder)
{
    size_t i;

    for (i = 0; i < builder->waits->n_own; i++) {
        uint32_t lane = builder->waits->own[i];

        builder->begin[lane] = builder->n_before;
        if (!visit_port(builder, builder->place, lane)) {
            return false;
        }
        builder->begin[lane + 1] = builder->n_before;
        if (!keep_waits(builder, lane)) {
            return false;
        }
    }
    return true;
}

static bool list_own(builder_t *builder)
{
    const vp_plan_t *plan = builder->plan;
    vp_waits_t *waits = builder->waits;
    uint32_t lane;

    for (lane = 0; lane < plan->n_lanes; lane++) {
        waits->n_own += plan->lanes[lane].source == builder->place;
    }
    waits->own = vp_array_new(waits->n_own, sizeof(*waits->own));
    waits->n_before = vp_array_new(waits->n_own, sizeof(*waits->n_before));
    if (waits->own == NULL || waits->n_before == NULL) {
        return false;
    }
    waits->n_own = 0;
    for (lane = 0; lane < plan->n_lanes; lane++) {
        if (plan->lanes[lane].source == builder->place) {
            builder->own_index[lane] = (uint32_t)waits->n_own;
            waits->own[waits->n_own++] = lane;
        }
    }
    return true;
}

static void count_waits(vp_waits_t *waits)
{
    size_t i;

    sort_list(&waits->local);
    sort_list(&waits->remote);
    sort_list(&waits->told);
    for (i = 0; i < waits->local.n_waits; i++) {
        waits->n_before[waits->local.waits[i].to]++;
    }
    for (i = 0; i < waits->remote.n_waits; i++) {
        const vp_wait_t *wait = &waits->remote.waits[i];

        waits->n_before[wait->to]++;
        waits->n_remote_lanes += i == 0 || wait[-1].from != wait->from;
    }
}

/* Uses of all ports by all lanes. */
static size_t count_uses(const vp_model_t *model, const vp_plan_t *plan)
{
    size_t i, n_uses = 0;

    for (i = 0; i < plan->n_lanes; i++) {
        n_uses += 2 + model->instances[plan->lanes[i].instance].n_resources;
    }
    return n_uses;
}

static bool make_builder(builder_t *builder)
{
    const vp_plan_t *plan = builder->plan;
    size_t n = plan->n_ranks;

    builder->ports = vp_array_new(2 * n + builder->model->n_resources, sizeof(*builder->ports));
    builder->uses = vp_array_new(count_uses(builder->model, plan), sizeof(*builder->uses));
    builder->begin = vp_array_new(plan->n_lanes + 1, sizeof(*builder->begin));
    builder->known = vp_array_new(n, n * sizeof(*builder->known));
    builder->own_index = vp_array_new(plan->n_lanes, sizeof(*builder->own_index));
    return builder->ports != NULL && builder->uses != NULL && builder->begin != NULL &&
           builder->known != NULL && builder->own_index != NULL;
}

static void drop_builder(builder_t *builder)
{
    free(builder->ports);
    free(builder->uses);
    free(builder->begin);
    free(builder->before);
    free(builder->known);
    free(builder->own_index);
}

vp_status_t vp_waits_create(const vp_model_t *model, const vp_plan_t *plan, uint32_t place,
                            bool across, vp_waits_t **waits_p, vp_error_t *error)
{
    builder_t builder = {
        .model = model, .plan = plan, .place = place, .serial = !plan->form.shares_ports};
    bool good;

    if (plan->n_lanes >= UINT32_MAX / (2 + VP_MAX_FOOTPRINT)) {
        return vp_error_set(error, VP_ERR_LIMIT,
                            "a plan of %zu lanes is more than ranks can wait for; the call is "
                            "passed on",
                            plan->n_lanes);
    }
    builder.waits = vp_array_new(1, sizeof(*builder.waits));
    good = builder.waits != NULL && make_builder(&builder) && list_own(&builder) &&
           (across ? build_across(&builder) : build_local(&builder));
    drop_builder(&builder);
    if (!good) {
        vp_waits_destroy(builder.waits);
        return vp_error_no_memory(error, "what the lanes of a plan wait for");
    }
    count_waits(builder.waits);
    *waits_p = builder.waits;
    return VP_OK;
}
