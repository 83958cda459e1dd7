/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/alignment_cuts.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/units.h"
#include "scheduler/demand_check.h"

/* While cuts are made. */
typedef struct maker {
    const vp_model_t *model;
    uint64_t *fastest; /* [n_resources] rate of any instance through it */
    bool *is_door;     /* [n_cuts][n_resources] */
    vp_cuts_t *cuts;
} maker_t;

static bool is_way_out(const vp_model_t *model, uint32_t resource)
{
    vp_resource_kind_t kind = model->resources[resource].kind;

    return kind == VP_RESOURCE_UPLINK || kind == VP_RESOURCE_NIC_TX ||
           kind == VP_RESOURCE_INTER_SWITCH;
}

static bool is_way_in(const vp_model_t *model, uint32_t resource)
{
    vp_resource_kind_t kind = model->resources[resource].kind;

    return kind == VP_RESOURCE_DOWNLINK || kind == VP_RESOURCE_NIC_RX ||
           kind == VP_RESOURCE_INTER_SWITCH;
}

/* The first resource of an instance that is a way out (or in); UINT32_MAX without one. */
static uint32_t find_door(const vp_model_t *model, const vp_instance_t *instance, bool inwards)
{
    uint32_t i;

    for (i = 0; i < instance->n_resources; i++) {
        uint32_t resource = instance->resources[i];

        if (inwards ? is_way_in(model, resource) : is_way_out(model, resource)) {
            return resource;
        }
    }
    return UINT32_MAX;
}

/* Adds a pair to a cut if every instance, first .. end - 1, has a door. */
static bool add_pair(maker_t *maker, uint32_t cut, uint32_t first, uint32_t end, uint64_t n_bytes)
{
    const vp_model_t *model = maker->model;
    vp_cut_doors_t *doors = &maker->cuts->cuts[cut];
    bool inwards = cut >= model->n_groups;
    uint32_t r;

    for (r = first; r < end; r++) {
        if (find_door(model, &model->instances[r], inwards) == UINT32_MAX) {
            return true;
        }
    }
    for (r = first; r < end; r++) {
        uint32_t door = find_door(model, &model->instances[r], inwards);

        maker->is_door[(size_t)cut * model->n_resources + door] = true;
    }
    if (!vp_array_reserve(&doors->n_bytes, &doors->capacity, doors->n_pairs + 1,
                          sizeof(*doors->n_bytes))) {
        return false;
    }
    doors->n_bytes[doors->n_pairs++] = n_bytes;
    return true;
}

static bool add_pairs(maker_t *maker, const uint64_t *demand_bytes)
{
    const vp_model_t *model = maker->model;
    uint32_t source;
    uint32_t destination;

    for (source = 0; source < model->n_ranks; source++) {
        for (destination = 0; destination < model->n_ranks; destination++) {
            uint64_t n_bytes = demand_bytes[(size_t)source * model->n_ranks + destination];
            uint32_t first;
            uint32_t end;

            if (source == destination || n_bytes == 0) {
                continue;
            }
            vp_rank_pair_instances(model, source, destination, &first, &end);
            if (!add_pair(maker, model->rank_group[source], first, end, n_bytes) ||
                !add_pair(maker, model->n_groups + model->rank_group[destination], first, end,
                          n_bytes)) {
                return false;
            }
        }
    }
    return true;
}

static int compare_descending(const void *a_p, const void *b_p)
{
    uint64_t a = *(const uint64_t *)a_p;
    uint64_t b = *(const uint64_t *)b_p;

    return a > b ? -1 : a < b;
}

static bool finish_cut(const maker_t *maker, uint32_t cut)
{
    const vp_model_t *model = maker->model;
    vp_cut_doors_t *doors = &maker->cuts->cuts[cut];
    uint32_t q;

    doors->rates = vp_array_new(model->n_resources, sizeof(*doors->rates));
    if (doors->rates == NULL) {
        return false;
    }
    for (q = 0; q < model->n_resources; q++) {
        if (maker->is_door[(size_t)cut * model->n_resources + q]) {
            doors->rates[doors->n_doors++] = maker->fastest[q];
        }
    }
    if (doors->n_pairs > 0) {
        qsort(doors->n_bytes, doors->n_pairs, sizeof(*doors->n_bytes), compare_descending);
        qsort(doors->rates, doors->n_doors, sizeof(*doors->rates), compare_descending);
    }
    return true;
}

static void find_rates(maker_t *maker)
{
    const vp_model_t *model = maker->model;
    uint32_t r;
    uint32_t i;

    for (r = 0; r < model->n_instances; r++) {
        const vp_instance_t *instance = &model->instances[r];

        for (i = 0; i < instance->n_resources; i++) {
            uint64_t *fastest = &maker->fastest[instance->resources[i]];

            *fastest = instance->bytes_per_s > *fastest ? instance->bytes_per_s : *fastest;
        }
    }
}

static bool make(maker_t *maker, const uint64_t *demand_bytes)
{
    uint32_t cut;

    if (maker->fastest == NULL || maker->is_door == NULL || maker->cuts->cuts == NULL) {
        return false;
    }
    find_rates(maker);
    if (!add_pairs(maker, demand_bytes)) {
        return false;
    }
    for (cut = 0; cut < maker->cuts->n_cuts; cut++) {
        if (!finish_cut(maker, cut)) {
            return false;
        }
    }
    return true;
}

vp_status_t vp_cuts_init(vp_cuts_t *cuts, const vp_model_t *model, const uint64_t *demand_bytes,
                         vp_error_t *error)
{
    size_t n_cuts = 2 * (size_t)model->n_groups;
    maker_t maker = {.model = model, .cuts = cuts};
    bool made;

    *cuts = (vp_cuts_t){.n_cuts = (uint32_t)n_cuts};
    cuts->cuts = vp_array_new(n_cuts, sizeof(*cuts->cuts));
    maker.fastest = vp_array_new(model->n_resources, sizeof(*maker.fastest));
    maker.is_door = vp_array_new(n_cuts * model->n_resources, sizeof(*maker.is_door));
    made = make(&maker, demand_bytes);
    free(maker.is_door);
    free(maker.fastest);
    if (!made) {
        vp_cuts_release(cuts);
        return vp_error_no_memory(error, "an alignment bound");
    }
    return VP_OK;
}

void vp_cuts_release(vp_cuts_t *cuts)
{
    uint32_t cut;

    for (cut = 0; cuts->cuts != NULL && cut < cuts->n_cuts; cut++) {
        free(cuts->cuts[cut].rates);
        free(cuts->cuts[cut].n_bytes);
    }
    free(cuts->cuts);
    *cuts = (vp_cuts_t){0};
}

/* From the whole pairs that do not take the `skipped` fastest doors. */
static void raise_behind(const vp_cut_doors_t *doors, size_t n, size_t n_whole, uint32_t skipped,
                         uint64_t *length)
{
    size_t first;
    size_t at;
    size_t j;

    if (n_whole <= skipped * n) {
        return;
    }
    /* Those are the shortest at best. */
    first = doors->n_pairs - (n_whole - skipped * n);
    for (j = 0, at = first; at < doors->n_pairs; j++, at += doors->n_doors - skipped) {
        uint64_t ns = vp_muldiv_floor(doors->n_bytes[at], VP_NS_PER_S, doors->rates[skipped]);

        length[j] = ns > length[j] ? ns : length[j];
    }
}

void vp_cuts_raise(const vp_cuts_t *cuts, size_t n, uint64_t *length)
{
    uint32_t cut;

    for (cut = 0; cut < cuts->n_cuts; cut++) {
        const vp_cut_doors_t *doors = &cuts->cuts[cut];
        size_t n_lanes = doors->n_doors * n;
        uint32_t skipped;

        if (n_lanes < doors->n_pairs || 2 * doors->n_pairs <= n_lanes) {
            continue;
        }
        for (skipped = 0; skipped < doors->n_doors; skipped++) {
            raise_behind(doors, n, 2 * doors->n_pairs - n_lanes, skipped, length);
        }
    }
}
