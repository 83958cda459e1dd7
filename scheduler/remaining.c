/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/remaining.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Negative: a comes first. Total: no two rests have the same ranks. */
static int compare_rests(const vp_rest_t *a, const vp_rest_t *b)
{
    if (a->n_bytes != b->n_bytes) {
        return a->n_bytes > b->n_bytes ? -1 : 1;
    }
    if (a->source != b->source) {
        return a->source < b->source ? -1 : 1;
    }
    return a->destination < b->destination ? -1 : a->destination > b->destination;
}

static int compare_rests_untyped(const void *a, const void *b)
{
    return compare_rests(a, b);
}

static size_t group_pairs(const vp_model_t *model)
{
    return vp_pair(model, model->n_groups, 0);
}

static size_t pair_of(const vp_model_t *model, uint32_t source, uint32_t destination)
{
    return vp_pair(model, model->rank_group[source], model->rank_group[destination]);
}

static bool is_wanted(const vp_model_t *model, const uint64_t *demand_bytes, uint32_t source,
                      uint32_t destination, uint32_t rotation)
{
    return source != destination &&
           demand_bytes[(size_t)source * model->n_ranks + destination] != 0 &&
           (rotation == 0 || (source + rotation) % model->n_ranks == destination);
}

/* Counts pairs with bytes for each group pair, then places and sorts them. */
static void collect_rests(vp_remaining_t *remaining, const uint64_t *demand_bytes,
                          uint32_t rotation)
{
    const vp_model_t *model = remaining->model;
    size_t pair;
    uint32_t i;
    uint32_t j;

    for (pair = 0; pair < group_pairs(model); pair++) {
        uint32_t rows = model->groups[pair / model->n_groups].n_ranks;

        remaining->rest_begin[pair + 1] =
            remaining->rest_begin[pair] +
            (size_t)rows * model->groups[pair % model->n_groups].n_ranks;
    }
    for (i = 0; i < model->n_ranks; i++) {
        for (j = 0; j < model->n_ranks; j++) {
            if (is_wanted(model, demand_bytes, i, j, rotation)) {
                pair = pair_of(model, i, j);
                remaining->all[remaining->rest_begin[pair] + remaining->n_rests[pair]++] =
                    (vp_rest_t){demand_bytes[(size_t)i * model->n_ranks + j], i, j};
            }
        }
    }
    for (pair = 0; pair < group_pairs(model); pair++) {
        if (remaining->n_rests[pair] > 1) {
            qsort(remaining->all + remaining->rest_begin[pair], remaining->n_rests[pair],
                  sizeof(*remaining->all), compare_rests_untyped);
        }
    }
}

vp_status_t vp_remaining_init(vp_remaining_t *remaining, const vp_model_t *model,
                              const uint64_t *demand_bytes, uint32_t rotation, vp_error_t *error)
{
    size_t n_rank_pairs = (size_t)model->n_ranks * model->n_ranks;
    size_t n_pairs = group_pairs(model);

    *remaining = (vp_remaining_t){.model = model};
    remaining->bytes = vp_array_new(n_rank_pairs, sizeof(*remaining->bytes));
    remaining->group_bytes = vp_array_new(n_pairs, sizeof(*remaining->group_bytes));
    remaining->rests = vp_array_new(n_rank_pairs, sizeof(*remaining->rests));
    remaining->rest_begin = vp_array_new(n_pairs + 1, sizeof(*remaining->rest_begin));
    remaining->n_rests = vp_array_new(n_pairs, sizeof(*remaining->n_rests));
    remaining->all = vp_array_new(n_rank_pairs, sizeof(*remaining->all));
    remaining->stale = vp_array_new(n_pairs, sizeof(*remaining->stale));
    remaining->is_stale = vp_array_new(n_pairs, sizeof(*remaining->is_stale));
    if (remaining->bytes == NULL || remaining->group_bytes == NULL || remaining->rests == NULL ||
        remaining->rest_begin == NULL || remaining->n_rests == NULL || remaining->all == NULL ||
        remaining->stale == NULL || remaining->is_stale == NULL) {
        vp_remaining_release(remaining);
        return vp_error_no_memory(error, "the remaining demand");
    }
    collect_rests(remaining, demand_bytes, rotation);
    vp_remaining_reset(remaining);
    return VP_OK;
}

void vp_remaining_release(vp_remaining_t *remaining)
{
    free(remaining->is_stale);
    free(remaining->stale);
    free(remaining->all);
    free(remaining->n_rests);
    free(remaining->rest_begin);
    free(remaining->rests);
    free(remaining->group_bytes);
    free(remaining->bytes);
    *remaining = (vp_remaining_t){0};
}

static uint64_t *bytes_of(vp_remaining_t *remaining, uint32_t source, uint32_t destination)
{
    return &remaining->bytes[(size_t)source * remaining->model->n_ranks + destination];
}

void vp_remaining_reset(vp_remaining_t *remaining)
{
    const vp_model_t *model = remaining->model;
    size_t pair;

    remaining->n_left = 0;
    for (pair = 0; pair < group_pairs(model); pair++) {
        size_t begin = remaining->rest_begin[pair];
        size_t i;

        remaining->group_bytes[pair] = 0;
        /* Slots without a pair have no bytes, and no slot has lost its pair. */
        for (i = begin; i < remaining->rest_begin[pair + 1] && remaining->all[i].n_bytes > 0; i++) {
            const vp_rest_t *rest = &remaining->all[i];

            remaining->rests[i] = *rest;
            *bytes_of(remaining, rest->source, rest->destination) = rest->n_bytes;
            remaining->group_bytes[pair] += rest->n_bytes;
        }
        remaining->n_rests[pair] = (uint32_t)(i - begin);
        remaining->n_left += i - begin;
    }
}

void vp_remaining_take(vp_remaining_t *remaining, uint32_t source, uint32_t destination,
                       uint64_t n_bytes)
{
    size_t pair = pair_of(remaining->model, source, destination);

    *bytes_of(remaining, source, destination) -= n_bytes;
    remaining->group_bytes[pair] -= n_bytes;
    if (!remaining->is_stale[pair]) {
        remaining->is_stale[pair] = true;
        remaining->stale[remaining->n_stale++] = pair;
    }
}

/* Insertion sort: only the few rests that shrank have moved, all of them backwards. */
static void settle_pair(vp_remaining_t *remaining, size_t pair)
{
    vp_rest_t *rests = remaining->rests + remaining->rest_begin[pair];
    uint32_t n_kept = 0;
    uint32_t i;

    for (i = 0; i < remaining->n_rests[pair]; i++) {
        vp_rest_t rest = rests[i];
        uint32_t at = n_kept;

        rest.n_bytes = *bytes_of(remaining, rest.source, rest.destination);
        if (rest.n_bytes == 0) {
            continue;
        }
        for (; at > 0 && compare_rests(&rest, &rests[at - 1]) < 0; at--) {
            rests[at] = rests[at - 1];
        }
        rests[at] = rest;
        n_kept++;
    }
    remaining->n_left -= remaining->n_rests[pair] - n_kept;
    remaining->n_rests[pair] = n_kept;
}

void vp_remaining_settle(vp_remaining_t *remaining)
{
    while (remaining->n_stale > 0) {
        size_t pair = remaining->stale[--remaining->n_stale];

        settle_pair(remaining, pair);
        remaining->is_stale[pair] = false;
    }
}

vp_status_t vp_rest_walk_init(vp_rest_walk_t *walk, const vp_model_t *model, vp_error_t *error)
{
    *walk = (vp_rest_walk_t){0};
    walk->next = vp_array_new(group_pairs(model), sizeof(*walk->next));
    return walk->next != NULL ? VP_OK : vp_error_no_memory(error, "the order of remaining pairs");
}

void vp_rest_walk_release(vp_rest_walk_t *walk)
{
    free(walk->next);
    *walk = (vp_rest_walk_t){0};
}

void vp_rest_walk_clear(vp_rest_walk_t *walk)
{
    walk->n_next = 0;
}

static bool comes_first(const vp_rest_walk_t *walk, const vp_remaining_t *remaining, size_t a,
                        size_t b)
{
    return compare_rests(&remaining->rests[walk->next[a]], &remaining->rests[walk->next[b]]) < 0;
}

static void swap_next(vp_rest_walk_t *walk, size_t a, size_t b)
{
    size_t position = walk->next[a];

    walk->next[a] = walk->next[b];
    walk->next[b] = position;
}

void vp_rest_walk_add(vp_rest_walk_t *walk, const vp_remaining_t *remaining, size_t pair)
{
    size_t at = walk->n_next;

    if (remaining->n_rests[pair] == 0) {
        return;
    }
    walk->next[walk->n_next++] = remaining->rest_begin[pair];
    for (; at > 0 && comes_first(walk, remaining, at, (at - 1) / 2); at = (at - 1) / 2) {
        swap_next(walk, at, (at - 1) / 2);
    }
}

const vp_rest_t *vp_rest_walk_first(const vp_rest_walk_t *walk, const vp_remaining_t *remaining)
{
    return walk->n_next == 0 ? NULL : &remaining->rests[walk->next[0]];
}

static void sink_first(vp_rest_walk_t *walk, const vp_remaining_t *remaining)
{
    size_t at = 0;

    for (;;) {
        size_t child = 2 * at + 1;

        if (child + 1 < walk->n_next && comes_first(walk, remaining, child + 1, child)) {
            child++;
        }
        if (child >= walk->n_next || comes_first(walk, remaining, at, child)) {
            return;
        }
        swap_next(walk, at, child);
        at = child;
    }
}

void vp_rest_walk_leave(vp_rest_walk_t *walk, const vp_remaining_t *remaining)
{
    walk->next[0] = walk->next[--walk->n_next];
    sink_first(walk, remaining);
}

void vp_rest_walk_next(vp_rest_walk_t *walk, const vp_remaining_t *remaining)
{
    const vp_rest_t *rest = &remaining->rests[walk->next[0]];
    size_t pair = pair_of(remaining->model, rest->source, rest->destination);

    walk->next[0]++;
    if (walk->next[0] == remaining->rest_begin[pair] + remaining->n_rests[pair]) {
        vp_rest_walk_leave(walk, remaining);
    } else {
        sink_first(walk, remaining);
    }
}
