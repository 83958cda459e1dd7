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

static void collect_rests(vp_remaining_t *remaining, const uint64_t *demand_bytes)
{
    uint32_t n_ranks = remaining->model->n_ranks;
    uint32_t i;
    uint32_t j;

    for (i = 0; i < n_ranks; i++) {
        for (j = 0; j < n_ranks; j++) {
            uint64_t n_bytes = demand_bytes[(size_t)i * n_ranks + j];

            if (i != j && n_bytes != 0) {
                remaining->all[remaining->n_all++] = (vp_rest_t){n_bytes, i, j};
            }
        }
    }
    qsort(remaining->all, remaining->n_all, sizeof(*remaining->all), compare_rests_untyped);
}

vp_status_t vp_remaining_init(vp_remaining_t *remaining, const vp_model_t *model,
                              const uint64_t *demand_bytes, vp_error_t *error)
{
    size_t n_pairs = (size_t)model->n_ranks * model->n_ranks;

    *remaining = (vp_remaining_t){.model = model};
    remaining->bytes = vp_array_new(n_pairs, sizeof(*remaining->bytes));
    remaining->group_bytes =
        vp_array_new(vp_pair(model, model->n_groups, 0), sizeof(*remaining->group_bytes));
    remaining->rests = vp_array_new(n_pairs, sizeof(*remaining->rests));
    remaining->all = vp_array_new(n_pairs, sizeof(*remaining->all));
    remaining->moved = vp_array_new(model->n_ranks, sizeof(*remaining->moved));
    if (remaining->bytes == NULL || remaining->group_bytes == NULL || remaining->rests == NULL ||
        remaining->all == NULL || remaining->moved == NULL) {
        vp_remaining_release(remaining);
        return vp_error_no_memory(error, "the remaining demand");
    }
    collect_rests(remaining, demand_bytes);
    vp_remaining_reset(remaining);
    return VP_OK;
}

void vp_remaining_release(vp_remaining_t *remaining)
{
    free(remaining->moved);
    free(remaining->all);
    free(remaining->rests);
    free(remaining->group_bytes);
    free(remaining->bytes);
    *remaining = (vp_remaining_t){0};
}

static uint64_t *group_bytes_of(vp_remaining_t *remaining, uint32_t source, uint32_t destination)
{
    const vp_model_t *model = remaining->model;

    return &remaining->group_bytes[vp_pair(model, model->rank_group[source],
                                           model->rank_group[destination])];
}

static uint64_t *bytes_of(vp_remaining_t *remaining, uint32_t source, uint32_t destination)
{
    return &remaining->bytes[(size_t)source * remaining->model->n_ranks + destination];
}

void vp_remaining_reset(vp_remaining_t *remaining)
{
    const vp_model_t *model = remaining->model;
    size_t i;

    memset(remaining->group_bytes, 0,
           vp_pair(model, model->n_groups, 0) * sizeof(*remaining->group_bytes));
    for (i = 0; i < remaining->n_all; i++) {
        const vp_rest_t *rest = &remaining->all[i];

        *bytes_of(remaining, rest->source, rest->destination) = rest->n_bytes;
        *group_bytes_of(remaining, rest->source, rest->destination) += rest->n_bytes;
    }
    memcpy(remaining->rests, remaining->all, remaining->n_all * sizeof(*remaining->all));
    remaining->n_rests = remaining->n_all;
}

void vp_remaining_take(vp_remaining_t *remaining, uint32_t source, uint32_t destination,
                       uint64_t n_bytes)
{
    *bytes_of(remaining, source, destination) -= n_bytes;
    *group_bytes_of(remaining, source, destination) -= n_bytes;
}

/* Merges the n_moved sorted rests into the first n_kept of `rests`, from the back. */
static void merge_moved(vp_remaining_t *remaining, size_t n_kept, size_t n_moved)
{
    remaining->n_rests = n_kept + n_moved;
    while (n_moved > 0) {
        const vp_rest_t *moved = &remaining->moved[n_moved - 1];

        if (n_kept > 0 && compare_rests(&remaining->rests[n_kept - 1], moved) > 0) {
            remaining->rests[n_kept + n_moved - 1] = remaining->rests[n_kept - 1];
            n_kept--;
        } else {
            remaining->rests[n_kept + n_moved - 1] = *moved;
            n_moved--;
        }
    }
}

void vp_remaining_settle(vp_remaining_t *remaining)
{
    size_t n_kept = 0;
    size_t n_moved = 0;
    size_t i;

    for (i = 0; i < remaining->n_rests; i++) {
        vp_rest_t rest = remaining->rests[i];
        uint64_t n_bytes = *bytes_of(remaining, rest.source, rest.destination);

        if (n_bytes == rest.n_bytes) {
            remaining->rests[n_kept++] = rest;
        } else if (n_bytes != 0) {
            size_t at = n_moved++;

            rest.n_bytes = n_bytes;
            for (; at > 0 && compare_rests(&rest, &remaining->moved[at - 1]) < 0; at--) {
                remaining->moved[at] = remaining->moved[at - 1];
            }
            remaining->moved[at] = rest;
        }
    }
    merge_moved(remaining, n_kept, n_moved);
}
