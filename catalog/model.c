/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "catalog/order.h"

#define KIND_TEXT(name, text) text,
static const char *const path_kind_texts[] = {VP_PATH_KIND_MAP(KIND_TEXT)};
static const char *const resource_kind_texts[] = {VP_RESOURCE_KIND_MAP(KIND_TEXT)};
#undef KIND_TEXT

/* Position of text in texts, n when it is not there. */
static size_t find_text(const char *const *texts, size_t n, const char *text)
{
    size_t i;

    for (i = 0; i < n && strcmp(texts[i], text) != 0; i++) {
    }
    return i;
}

const char *vp_path_kind_text(vp_path_kind_t kind)
{
    return (unsigned)kind < VP_N_PATH_KINDS ? path_kind_texts[kind] : "unknown";
}

bool vp_path_kind_parse(const char *text, vp_path_kind_t *kind_p)
{
    size_t i = find_text(path_kind_texts, VP_N_PATH_KINDS, text);

    if (i == VP_N_PATH_KINDS) {
        return false;
    }
    *kind_p = (vp_path_kind_t)i;
    return true;
}

const char *vp_resource_kind_text(vp_resource_kind_t kind)
{
    return (unsigned)kind < VP_N_RESOURCE_KINDS ? resource_kind_texts[kind] : "unknown";
}

bool vp_resource_kind_parse(const char *text, vp_resource_kind_t *kind_p)
{
    size_t i = find_text(resource_kind_texts, VP_N_RESOURCE_KINDS, text);

    if (i == VP_N_RESOURCE_KINDS) {
        return false;
    }
    *kind_p = (vp_resource_kind_t)i;
    return true;
}

static void destroy_contention(vp_model_t *model)
{
    uint32_t i;
    uint32_t table;

    for (i = 0; model->contention != NULL && i < model->n_contention; i++) {
        free(model->contention[i].name);
        for (table = 0; table < VP_N_CONTENTION_TABLES; table++) {
            free(model->contention[i].origin[table]);
        }
    }
    free(model->contention);
}

static void destroy_classes(vp_model_t *model)
{
    uint32_t i;

    for (i = 0; model->classes != NULL && i < model->n_classes; i++) {
        free(model->classes[i].name);
        free(model->classes[i].tls);
        free(model->classes[i].devices);
    }
    free(model->classes);
}

void vp_model_destroy(vp_model_t *model)
{
    uint32_t i;

    if (model == NULL) {
        return;
    }
    for (i = 0; model->groups != NULL && i < model->n_groups; i++) {
        free(model->groups[i].name);
    }
    for (i = 0; model->resources != NULL && i < model->n_resources; i++) {
        free(model->resources[i].name);
        free(model->resources[i].origin);
    }
    for (i = 0; model->nics != NULL && i < model->n_nics; i++) {
        free(model->nics[i].name);
    }
    destroy_classes(model);
    destroy_contention(model);
    free(model->name);
    free(model->rates);
    free(model->transport);
    free(model->groups);
    free(model->rank_group);
    free(model->rank_pci);
    free(model->resources);
    free(model->nics);
    free(model->instances);
    free(model->pair_begin);
    free(model->gpu_link_origin);
    free(model);
}

void vp_catalog_destroy(vp_catalog_t *catalog)
{
    if (catalog == NULL) {
        return;
    }
    vp_model_destroy(catalog->model);
    free(catalog->shape_lanes);
    free(catalog->shapes);
    free(catalog->member_begin);
    free(catalog->members);
    free(catalog);
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

int vp_footprint_compare(const vp_instance_t *a, const vp_instance_t *b)
{
    uint32_t n_a = a->n_resources < VP_MAX_FOOTPRINT ? a->n_resources : VP_MAX_FOOTPRINT;
    uint32_t n_b = b->n_resources < VP_MAX_FOOTPRINT ? b->n_resources : VP_MAX_FOOTPRINT;
    uint32_t i;

    for (i = 0; i < n_a && i < n_b; i++) {
        if (a->resources[i] != b->resources[i]) {
            return compare_u64(a->resources[i], b->resources[i]);
        }
    }
    return compare_u64(a->n_resources, b->n_resources);
}

int vp_instance_compare(const vp_instance_t *a, const vp_instance_t *b)
{
    const uint64_t keys[][2] = {
        {a->from_group, b->from_group},
        {a->to_group, b->to_group},
        {(uint64_t)a->kind, (uint64_t)b->kind},
        {a->source_class, b->source_class},
        {a->destination_class, b->destination_class},
    };
    size_t i;
    int order;

    for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (keys[i][0] != keys[i][1]) {
            return compare_u64(keys[i][0], keys[i][1]);
        }
    }
    order = vp_footprint_compare(a, b);
    if (order == 0) {
        order = compare_u64(a->bytes_per_s, b->bytes_per_s);
    }
    return order != 0 ? order : compare_u64(a->n_copies, b->n_copies);
}

static int compare_elements(const void *a, const void *b)
{
    return vp_instance_compare(a, b);
}

void vp_instances_sort(vp_instance_t *instances, size_t n)
{
    size_t i;

    for (i = 1; i < n; i++) {
        if (vp_instance_compare(&instances[i - 1], &instances[i]) > 0) {
            qsort(instances, n, sizeof(*instances), compare_elements);
            return;
        }
    }
}

void vp_model_index_pairs(vp_model_t *model)
{
    size_t n_pairs = (size_t)model->n_groups * model->n_groups;
    uint32_t at = 0;
    size_t pair;

    for (pair = 0; pair < n_pairs; pair++) {
        model->pair_begin[pair] = at;
        while (at < model->n_instances && vp_pair(model, model->instances[at].from_group,
                                                  model->instances[at].to_group) == pair) {
            at++;
        }
    }
    model->pair_begin[n_pairs] = at;
}

/* The ranges are those of untrusted input: vp_model_check judges them, this only stays inside. */
static void index_ranks(vp_model_t *model)
{
    uint32_t group;
    uint32_t i;

    for (group = 0; group < model->n_groups; group++) {
        const vp_group_t *members = &model->groups[group];

        for (i = 0; i < members->n_ranks && i < model->n_ranks; i++) {
            if (members->first_rank < model->n_ranks - i) {
                model->rank_group[members->first_rank + i] = group;
            }
        }
    }
}

/* The pair of an instance; no pair when its groups do not exist, which vp_model_check will say. */
static size_t pair_of(const vp_model_t *model, const vp_instance_t *it)
{
    return it->from_group < model->n_groups && it->to_group < model->n_groups
               ? vp_pair(model, it->from_group, it->to_group)
               : SIZE_MAX;
}

/* Fills pair_begin by counting; false when an instance belongs to no pair. */
static bool count_pairs(vp_model_t *model, size_t n_pairs)
{
    size_t pair;
    uint32_t i;

    for (i = 0; i < model->n_instances; i++) {
        pair = pair_of(model, &model->instances[i]);
        if (pair == SIZE_MAX) {
            return false;
        }
        model->pair_begin[pair + 1]++;
    }
    for (pair = 0; pair < n_pairs; pair++) {
        model->pair_begin[pair + 1] += model->pair_begin[pair];
    }
    return true;
}

/*
 * Brings every instance to its pair, in place, then sorts inside each pair:
 * linear in the instances, which are millions on a large machine.
 */
static void sort_instances(vp_model_t *model, size_t n_pairs, uint32_t *next)
{
    size_t pair;

    memcpy(next, model->pair_begin, n_pairs * sizeof(*next));
    for (pair = 0; pair < n_pairs; pair++) {
        while (next[pair] < model->pair_begin[pair + 1]) {
            vp_instance_t *it = &model->instances[next[pair]];
            size_t home = pair_of(model, it);
            vp_instance_t other = *it;

            if (home == pair) {
                next[pair]++;
                continue;
            }
            *it = model->instances[next[home]];
            model->instances[next[home]++] = other;
        }
    }
    for (pair = 0; pair < n_pairs; pair++) {
        vp_instances_sort(model->instances + model->pair_begin[pair],
                          model->pair_begin[pair + 1] - model->pair_begin[pair]);
    }
}

vp_status_t vp_model_finish(vp_model_t *model, vp_error_t *error)
{
    size_t n_pairs = (size_t)model->n_groups * model->n_groups;
    uint32_t *rank_group = vp_array_new(model->n_ranks, sizeof(*rank_group));
    uint32_t *pair_begin = vp_array_new(n_pairs + 1, sizeof(*pair_begin));
    uint32_t *next = vp_array_new(n_pairs, sizeof(*next));

    if (rank_group == NULL || pair_begin == NULL || next == NULL) {
        free(rank_group);
        free(pair_begin);
        free(next);
        return vp_error_no_memory(error, "the index of the topology");
    }
    free(model->rank_group);
    free(model->pair_begin);
    model->rank_group = rank_group;
    model->pair_begin = pair_begin;
    index_ranks(model);
    if (count_pairs(model, n_pairs)) {
        sort_instances(model, n_pairs, next);
    }
    free(next);
    return VP_OK;
}
