/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/standing.h"

#include <stdlib.h>

#include "base/array.h"

enum { EQUAL_BYTES = 1 << 20, CHUNK_BYTES = 1, SCALE_BITS = 20 };

/* A block from every rank to every other that it has a path to; NULL: no memory. */
static uint64_t *equal_blocks(const vp_model_t *model)
{
    uint64_t *bytes = vp_array_new((size_t)model->n_ranks * model->n_ranks, sizeof(*bytes));
    uint32_t i;
    uint32_t j;

    for (i = 0; bytes != NULL && i < model->n_ranks; i++) {
        for (j = 0; j < model->n_ranks; j++) {
            size_t pair = vp_pair(model, model->rank_group[i], model->rank_group[j]);

            if (i != j && model->pair_begin[pair + 1] > model->pair_begin[pair]) {
                bytes[(size_t)i * model->n_ranks + j] = EQUAL_BYTES;
            }
        }
    }
    return bytes;
}

/* The most that equal blocks can be scaled by and still lie within a demand, by group pair. */
static vp_uint128_t scale_of(const vp_standing_t *standing, const vp_spread_t *spread,
                             const uint64_t *group_bytes)
{
    const vp_model_t *model = spread->model;
    size_t n_pairs = (size_t)model->n_groups * model->n_groups;
    vp_uint128_t least = (vp_uint128_t)1 << 100;
    size_t pair;

    for (pair = 0; pair < n_pairs; pair++) {
        uint64_t equal_bytes = standing->split[0].group_bytes[pair];

        if (equal_bytes > 0) {
            vp_uint128_t scale = ((vp_uint128_t)group_bytes[pair] << SCALE_BITS) / equal_bytes;

            least = scale < least ? scale : least;
        }
    }
    return least >> 100 == 0 ? least : 0;
}

static void sum_groups(const vp_spread_t *spread, uint64_t *group_bytes, uint64_t *forced_ns)
{
    const vp_model_t *model = spread->model;
    size_t k;

    for (k = 0; k < spread->n_pairs; k++) {
        const vp_spread_pair_t *pair = &spread->pairs[k];
        size_t ports[VP_MAX_FOOTPRINT + 2];
        uint32_t n_ports = pair->n_ways == 1 ? vp_spread_ports(spread, pair, 0, ports) : 0;
        uint32_t i;

        group_bytes[vp_pair(model, model->rank_group[pair->source],
                            model->rank_group[pair->destination])] += pair->n_bytes;
        for (i = 2; i < n_ports; i++) {
            forced_ns[ports[i]] =
                vp_add_sat(forced_ns[ports[i]], vp_spread_ns(spread, ports[i], pair->n_bytes));
        }
    }
}

vp_status_t vp_standing_reach(const vp_standing_t *standing, const vp_spread_t *spread,
                              uint64_t *reach_ns_p, vp_error_t *error)
{
    const vp_model_t *model = spread->model;
    uint64_t *forced_ns = vp_array_new(spread->n_ports, sizeof(*forced_ns));
    uint64_t *group_bytes =
        vp_array_new((size_t)model->n_groups * model->n_groups, sizeof(*group_bytes));
    vp_status_t status = VP_OK;
    uint64_t reach_ns = 0;
    vp_uint128_t scaled;
    size_t k;

    if (forced_ns == NULL || group_bytes == NULL) {
        status = vp_error_no_memory(error, "what a split can reach");
    }
    if (status == VP_OK) {
        sum_groups(spread, group_bytes, forced_ns);
        for (k = 0; k < spread->n_ports; k++) {
            uint64_t ns = k < (size_t)2 * model->n_ranks ? spread->load_ns[k] : forced_ns[k];

            reach_ns = ns > reach_ns ? ns : reach_ns;
        }
        scaled = standing == NULL
                     ? 0
                     : (scale_of(standing, spread, group_bytes) * standing->reach_ns) >> SCALE_BITS;
        *reach_ns_p = scaled > reach_ns ? (uint64_t)scaled : reach_ns;
    }
    free(group_bytes);
    free(forced_ns);
    return status;
}

vp_status_t vp_standing_create(const vp_model_t *model, const char *links,
                               vp_standing_t **standing_p, vp_error_t *error)
{
    uint32_t contention[2] = {VP_LINKS_IDEAL, VP_LINKS_IDEAL};
    vp_status_t status = vp_links_find(model, links, &contention[0], error);
    vp_standing_t *standing;
    uint64_t *bytes;
    int i;

    if (status != VP_OK) {
        return status;
    }
    standing = vp_array_new(1, sizeof(*standing));
    bytes = equal_blocks(model);
    if (standing == NULL || bytes == NULL) {
        status = vp_error_no_memory(error, "the split of equal blocks");
    }
    for (i = 0; i < 2 && status == VP_OK; i++) {
        status =
            vp_spread_nearest(&standing->equal[i], model, bytes, contention[i], CHUNK_BYTES, error);
        if (status == VP_OK) {
            status = vp_split_collect(&standing->split[i], &standing->equal[i], error);
        }
        if (status == VP_OK) {
            vp_split_solve(&standing->split[i]);
        }
        if (status == VP_OK && i == 0) {
            standing->reach_ns = vp_split_fullest_ns(&standing->split[0]);
        }
    }
    free(bytes);
    if (status != VP_OK) {
        vp_standing_destroy(standing);
        return status;
    }
    *standing_p = standing;
    return VP_OK;
}

void vp_standing_destroy(vp_standing_t *standing)
{
    int i;

    if (standing == NULL) {
        return;
    }
    for (i = 0; i < 2; i++) {
        vp_split_release(&standing->split[i]);
        vp_spread_release(&standing->equal[i]);
    }
    free(standing);
}
