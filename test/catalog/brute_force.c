/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/catalog/brute_force.h"

#include <check.h>
#include <stdlib.h>

#include "base/array.h"

enum { MAX_INSTANCES = 32, MAX_GROUPS = 8 };

static uint32_t mask_of(const vp_instance_t *it)
{
    uint32_t mask = 0;
    uint32_t i;

    for (i = 0; i < it->n_resources; i++) {
        mask |= 1U << it->resources[i];
    }
    return mask;
}

static int compare_lanes(const void *left, const void *right)
{
    const brute_lane_t *a = left;
    const brute_lane_t *b = right;

    if (a->pair != b->pair) {
        return a->pair < b->pair ? -1 : 1;
    }
    if (a->resource_mask != b->resource_mask) {
        return a->resource_mask < b->resource_mask ? -1 : 1;
    }
    return (a->bytes_per_s < b->bytes_per_s) - (a->bytes_per_s > b->bytes_per_s);
}

int brute_compare(const void *left, const void *right)
{
    const brute_family_t *a = left;
    const brute_family_t *b = right;
    uint32_t i;

    for (i = 0; i < a->n_lanes && i < b->n_lanes; i++) {
        int order = compare_lanes(&a->lanes[i], &b->lanes[i]);

        if (order != 0) {
            return order;
        }
    }
    return (a->n_lanes > b->n_lanes) - (a->n_lanes < b->n_lanes);
}

static void add_lanes(const vp_model_t *model, uint32_t instance, uint32_t count,
                      brute_family_t *family)
{
    const vp_instance_t *it = &model->instances[instance];

    for (; count > 0; count--) {
        ck_assert_uint_lt(family->n_lanes, BRUTE_MAX_LANES);
        family->lanes[family->n_lanes++] =
            (brute_lane_t){.pair = it->from_group * model->n_groups + it->to_group,
                           .resource_mask = mask_of(it),
                           .bytes_per_s = it->bytes_per_s};
    }
}

static void append(brute_list_t *list, brute_family_t *family)
{
    qsort(family->lanes, family->n_lanes, sizeof(family->lanes[0]), compare_lanes);
    ck_assert(vp_array_reserve(&list->families, &list->capacity, list->n + 1, sizeof(*family)));
    list->families[list->n++] = *family;
}

/* PrunePaths, by its definition. */
static bool is_pruned(const vp_model_t *model, uint32_t instance)
{
    const vp_instance_t *it = &model->instances[instance];
    uint32_t lanes = model->groups[it->from_group].n_ranks;
    uint32_t i;

    if (model->groups[it->to_group].n_ranks < lanes) {
        lanes = model->groups[it->to_group].n_ranks;
    }
    for (i = 0; i < model->n_instances; i++) {
        const vp_instance_t *other = &model->instances[i];

        if (other->from_group == it->from_group && other->to_group == it->to_group &&
            (mask_of(other) & ~mask_of(it)) == 0 && other->bytes_per_s >= it->bytes_per_s &&
            (mask_of(other) != mask_of(it) || other->bytes_per_s > it->bytes_per_s) &&
            (mask_of(other) != 0 || other->n_copies == lanes)) {
            return true;
        }
    }
    return false;
}

/* Equations 1 and 2 for a whole assignment. */
static bool is_family(const vp_model_t *model, const uint32_t *counts)
{
    uint32_t out[MAX_GROUPS] = {0};
    uint32_t in[MAX_GROUPS] = {0};
    bool has_spare[MAX_GROUPS] = {false};
    uint32_t used = 0;
    uint32_t n_lanes = 0;
    uint32_t i;

    for (i = 0; i < model->n_instances; i++) {
        const vp_instance_t *it = &model->instances[i];

        if (counts[i] > 0 && (used & mask_of(it)) != 0) {
            return false;
        }
        used |= counts[i] > 0 ? mask_of(it) : 0;
        out[it->from_group] += counts[i];
        in[it->to_group] += counts[i];
        n_lanes += counts[i];
        if (it->from_group == it->to_group && it->n_resources == 0 && counts[i] < it->n_copies &&
            !is_pruned(model, i)) {
            has_spare[it->from_group] = true;
        }
    }
    for (i = 0; i < model->n_groups; i++) {
        uint32_t n_ranks = model->groups[i].n_ranks;

        if (out[i] != in[i] || out[i] > n_ranks || (out[i] < n_ranks && has_spare[i])) {
            return false;
        }
    }
    return n_lanes > 0;
}

/* Next assignment, like the digits of a counter; false after the last. */
static bool advance(const vp_model_t *model, uint32_t *counts)
{
    uint32_t i;

    for (i = 0; i < model->n_instances; i++) {
        if (!is_pruned(model, i) && counts[i] < model->instances[i].n_copies) {
            counts[i]++;
            return true;
        }
        counts[i] = 0;
    }
    return false;
}

static bool dominates(const brute_family_t *a, const brute_family_t *b)
{
    bool is_faster = false;
    uint32_t i;

    if (a->n_lanes != b->n_lanes) {
        return false;
    }
    for (i = 0; i < a->n_lanes; i++) {
        if (a->lanes[i].pair != b->lanes[i].pair ||
            a->lanes[i].resource_mask != b->lanes[i].resource_mask ||
            a->lanes[i].bytes_per_s < b->lanes[i].bytes_per_s) {
            return false;
        }
        is_faster = is_faster || a->lanes[i].bytes_per_s > b->lanes[i].bytes_per_s;
    }
    return is_faster;
}

static bool is_superfluous(const brute_list_t *list, size_t i)
{
    size_t k;

    if (i > 0 && brute_compare(&list->families[i - 1], &list->families[i]) == 0) {
        return true;
    }
    for (k = 0; k < list->n; k++) {
        if (dominates(&list->families[k], &list->families[i])) {
            return true;
        }
    }
    return false;
}

void brute_enumerate(const vp_model_t *model, brute_list_t *list)
{
    uint32_t counts[MAX_INSTANCES] = {0};
    brute_list_t all = {0};
    size_t i;

    ck_assert_uint_le(model->n_instances, MAX_INSTANCES);
    do {
        if (is_family(model, counts)) {
            brute_family_t family = {0};
            uint32_t k;

            for (k = 0; k < model->n_instances; k++) {
                add_lanes(model, k, counts[k], &family);
            }
            append(&all, &family);
        }
    } while (advance(model, counts));
    if (all.n > 1) {
        qsort(all.families, all.n, sizeof(*all.families), brute_compare);
    }
    for (i = 0; i < all.n; i++) {
        if (!is_superfluous(&all, i)) {
            append(list, &all.families[i]);
        }
    }
    free(all.families);
}

void brute_convert(const vp_catalog_t *catalog, brute_list_t *list)
{
    uint32_t family;
    uint32_t i;

    for (family = 0; family < catalog->n_families; family++) {
        brute_family_t it = {0};

        for (i = catalog->member_begin[family]; i < catalog->member_begin[family + 1]; i++) {
            add_lanes(catalog->model, catalog->members[i].instance, catalog->members[i].count, &it);
        }
        append(list, &it);
    }
    if (list->n > 1) {
        qsort(list->families, list->n, sizeof(*list->families), brute_compare);
    }
}
