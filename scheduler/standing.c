/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/standing.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/units.h"

enum { EQUAL_BYTES = 1 << 20, CHUNK_BYTES = 1, SCALE_BITS = 20 };
#define NONE UINT32_MAX

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

/* What leaves or enters a node, and what its NICs carry together. */
typedef struct node_sum {
    uint64_t out_bytes;
    uint64_t in_bytes;
    uint64_t out_bytes_per_s;
    uint64_t in_bytes_per_s;
} node_sum_t;

/* The node whose NICs, all at once, need longest. */
static uint64_t fullest_node(const vp_spread_t *spread, const uint64_t *group_bytes,
                             node_sum_t *nodes)
{
    const vp_model_t *model = spread->model;
    const uint64_t *bytes_per_s = spread->bytes_per_s + (size_t)2 * model->n_ranks;
    uint64_t fullest_ns = 0;
    uint32_t from;
    uint32_t to;
    uint32_t i;

    for (from = 0; from < model->n_groups; from++) {
        for (to = 0; to < model->n_groups; to++) {
            uint64_t n_bytes = group_bytes[vp_pair(model, from, to)];

            if (model->groups[from].node != model->groups[to].node) {
                nodes[model->groups[from].node].out_bytes += n_bytes;
                nodes[model->groups[to].node].in_bytes += n_bytes;
            }
        }
    }
    for (i = 0; i < model->n_nics; i++) {
        node_sum_t *node = &nodes[model->nics[i].node];

        node->out_bytes_per_s += bytes_per_s[model->nics[i].tx_resource];
        node->in_bytes_per_s += bytes_per_s[model->nics[i].rx_resource];
    }
    for (i = 0; i < model->n_nodes; i++) {
        const node_sum_t *node = &nodes[i];
        uint64_t out_ns =
            node->out_bytes_per_s > 0 ? vp_transfer_ns(node->out_bytes, node->out_bytes_per_s) : 0;
        uint64_t in_ns =
            node->in_bytes_per_s > 0 ? vp_transfer_ns(node->in_bytes, node->in_bytes_per_s) : 0;

        fullest_ns = out_ns > fullest_ns ? out_ns : fullest_ns;
        fullest_ns = in_ns > fullest_ns ? in_ns : fullest_ns;
    }
    return fullest_ns;
}

vp_status_t vp_standing_reach(const vp_standing_t *standing, const vp_spread_t *spread,
                              uint64_t *reach_ns_p, vp_error_t *error)
{
    const vp_model_t *model = spread->model;
    uint64_t *forced_ns = vp_array_new(spread->n_ports, sizeof(*forced_ns));
    uint64_t *group_bytes =
        vp_array_new((size_t)model->n_groups * model->n_groups, sizeof(*group_bytes));
    node_sum_t *nodes = vp_array_new(model->n_nodes, sizeof(*nodes));
    vp_status_t status = VP_OK;
    uint64_t reach_ns = 0;
    vp_uint128_t scaled;
    size_t k;

    if (forced_ns == NULL || group_bytes == NULL || nodes == NULL) {
        status = vp_error_no_memory(error, "what a split can reach");
    }
    if (status == VP_OK) {
        sum_groups(spread, group_bytes, forced_ns);
        reach_ns = fullest_node(spread, group_bytes, nodes);
        for (k = 0; k < spread->n_ports; k++) {
            uint64_t ns = k < (size_t)2 * model->n_ranks ? spread->load_ns[k] : forced_ns[k];

            reach_ns = ns > reach_ns ? ns : reach_ns;
        }
        scaled = standing == NULL
                     ? 0
                     : (scale_of(standing, spread, group_bytes) * standing->reach_ns) >> SCALE_BITS;
        *reach_ns_p = scaled > reach_ns ? (uint64_t)scaled : reach_ns;
    }
    free(nodes);
    free(group_bytes);
    free(forced_ns);
    return status;
}

/* The position of each NIC among those of its node, by its resources; NONE: no NIC. NULL: no
 * memory. */
static uint32_t *nic_positions(const vp_model_t *model)
{
    uint32_t *positions = vp_array_new(model->n_resources, sizeof(*positions));
    uint32_t *n_ports = vp_array_new((size_t)2 * model->n_nodes, sizeof(*n_ports));
    uint32_t i;

    for (i = 0; i < model->n_resources && positions != NULL && n_ports != NULL; i++) {
        const vp_resource_t *resource = &model->resources[i];
        bool is_out = resource->kind == VP_RESOURCE_NIC_TX;

        positions[i] = is_out || resource->kind == VP_RESOURCE_NIC_RX
                           ? n_ports[2 * resource->node + is_out]++
                           : NONE;
    }
    if (n_ports == NULL) {
        free(positions);
        positions = NULL;
    }
    free(n_ports);
    return positions;
}

/* Does a way join the same NIC of two nodes? */
static bool is_straight(const vp_instance_t *way, const uint32_t *positions)
{
    uint32_t position = NONE;
    uint32_t n = 0;
    uint32_t i;

    for (i = 0; i < way->n_resources; i++) {
        uint32_t at = positions[way->resources[i]];

        if (at != NONE) {
            n += position == NONE || at == position;
            position = at;
        }
    }
    return n == 2;
}

/*
 * The same part of a group pair's bytes over each way that joins the same NIC of
 * both nodes, over near NICs or over all. Of the bytes only `eighths` move, the
 * others stay on nearest paths. false: there are no two such ways.
 */
static bool spread_evenly(vp_split_t *even, size_t pair, const uint32_t *positions, bool is_near,
                          uint64_t eighths)
{
    const vp_model_t *model = even->spread->model;
    uint64_t n_moved = vp_muldiv_floor(even->group_bytes[pair], eighths, 8);
    uint32_t n = 0;
    uint32_t k = 0;
    uint32_t r;

    for (r = model->pair_begin[pair]; r < model->pair_begin[pair + 1]; r++) {
        n += !(is_near && even->is_far[r]) && is_straight(&model->instances[r], positions);
    }
    if (n < 2 || even->group_bytes[pair] == 0) {
        return false;
    }
    for (r = model->pair_begin[pair]; r < model->pair_begin[pair + 1]; r++) {
        even->way_bytes[r] -= vp_muldiv_floor(even->way_bytes[r], eighths, 8);
        if (!(is_near && even->is_far[r]) && is_straight(&model->instances[r], positions)) {
            even->way_bytes[r] +=
                vp_muldiv_floor(n_moved, k + 1, n) - vp_muldiv_floor(n_moved, k, n);
            k++;
        }
    }
    even->is_moved[pair] = true;
    return true;
}

/*
 * Evenly over NICs: what no other node's bytes can upset. Like the other standing
 * splits it asks a row for nothing but its own bytes.
 */
static vp_status_t make_even(vp_standing_t *standing, int which, uint64_t eighths,
                             vp_error_t *error)
{
    const vp_model_t *model = standing->equal[0].model;
    vp_split_t *even = &standing->even[which];
    vp_status_t status = vp_split_collect(even, &standing->equal[0], error);
    uint32_t *positions = status == VP_OK ? nic_positions(model) : NULL;
    size_t pair;

    if (status == VP_OK && positions == NULL) {
        status = vp_error_no_memory(error, "the split of equal blocks");
    }
    standing->has_even[which] = false;
    for (pair = 0; status == VP_OK && pair < (size_t)model->n_groups * model->n_groups; pair++) {
        if (model->groups[pair / model->n_groups].node !=
                model->groups[pair % model->n_groups].node &&
            spread_evenly(even, pair, positions, which == 0, eighths)) {
            standing->has_even[which] = true;
        }
    }
    free(positions);
    return status;
}

/*
 * Evenly over all NICs, as far as the links to far ones have room for when
 * blocks are equal: there no NIC is fuller than another, and no link may become so.
 */
static vp_status_t make_far(vp_standing_t *standing, vp_error_t *error)
{
    uint64_t fullest_ns = vp_spread_fullest_ns(&standing->equal[0]);
    vp_status_t status = VP_OK;
    uint64_t eighths;

    for (eighths = 8; eighths > 0 && status == VP_OK && !standing->has_even[1]; eighths--) {
        vp_split_release(&standing->even[1]);
        status = make_even(standing, 1, eighths, error);
        if (status == VP_OK && standing->has_even[1]) {
            vp_split_load(&standing->even[1]);
            standing->has_even[1] = vp_split_fullest_ns(&standing->even[1]) <= fullest_ns;
        }
    }
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
        if (status == VP_OK && i == 0 && standing->split[0].has_far) {
            status = make_far(standing, error);
        }
        if (status == VP_OK) {
            vp_split_solve(&standing->split[i], standing->has_even[1]);
        }
        if (status == VP_OK && i == 0) {
            standing->reach_ns = vp_split_fullest_ns(&standing->split[0]);
        }
    }
    free(bytes);
    if (status == VP_OK) {
        status = make_even(standing, 0, 8, error);
    }
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
        vp_split_release(&standing->even[i]);
    }
    free(standing);
}
