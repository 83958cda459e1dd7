/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/binding.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/units.h"
#include "scheduler/demand_check.h"

/* Sweeps of alternating assignment (I_AA); from the seed few need more than three. */
enum { MAX_SWEEPS = 8 };

#define UNBOUND UINT32_MAX

vp_status_t vp_channel_init(vp_channel_t *channel, uint32_t n_ranks, vp_error_t *error)
{
    *channel = (vp_channel_t){0};
    channel->instance = vp_array_new(n_ranks, sizeof(*channel->instance));
    channel->source = vp_array_new(n_ranks, sizeof(*channel->source));
    channel->destination = vp_array_new(n_ranks, sizeof(*channel->destination));
    channel->n_bytes = vp_array_new(n_ranks, sizeof(*channel->n_bytes));
    if (channel->instance == NULL || channel->source == NULL || channel->destination == NULL ||
        channel->n_bytes == NULL) {
        vp_channel_release(channel);
        return vp_error_no_memory(error, "a channel");
    }
    return VP_OK;
}

void vp_channel_release(vp_channel_t *channel)
{
    free(channel->n_bytes);
    free(channel->destination);
    free(channel->source);
    free(channel->instance);
    *channel = (vp_channel_t){0};
}

static uint32_t largest_group(const vp_model_t *model)
{
    uint32_t largest = 0;
    uint32_t a;

    for (a = 0; a < model->n_groups; a++) {
        largest = model->groups[a].n_ranks > largest ? model->groups[a].n_ranks : largest;
    }
    return largest;
}

vp_status_t vp_binder_init(vp_binder_t *binder, const vp_model_t *model, vp_error_t *error)
{
    uint32_t size = largest_group(model);
    size_t n_pairs = vp_pair(model, model->n_groups, 0);
    vp_status_t status;

    *binder = (vp_binder_t){.model = model};
    binder->quantum_bytes = vp_array_new(model->n_instances, sizeof(*binder->quantum_bytes));
    binder->credits = vp_array_new((size_t)size * size, sizeof(*binder->credits));
    binder->chosen = vp_array_new(size, sizeof(*binder->chosen));
    binder->pair_lanes = vp_array_new(n_pairs + 1, sizeof(*binder->pair_lanes));
    binder->pair_open = vp_array_new(n_pairs, sizeof(*binder->pair_open));
    binder->from_lanes = vp_array_new(model->n_ranks, sizeof(*binder->from_lanes));
    binder->into_lanes = vp_array_new(model->n_ranks, sizeof(*binder->into_lanes));
    binder->into_begin = vp_array_new((size_t)model->n_groups + 1, sizeof(*binder->into_begin));
    binder->source_used = vp_array_new(model->n_ranks, sizeof(*binder->source_used));
    binder->destination_used = vp_array_new(model->n_ranks, sizeof(*binder->destination_used));
    binder->copies_used = vp_array_new(model->n_instances, sizeof(*binder->copies_used));
    binder->resource_used = vp_array_new(model->n_resources, sizeof(*binder->resource_used));
    if (binder->quantum_bytes == NULL || binder->credits == NULL || binder->chosen == NULL ||
        binder->pair_lanes == NULL || binder->pair_open == NULL || binder->from_lanes == NULL ||
        binder->into_lanes == NULL || binder->into_begin == NULL || binder->source_used == NULL ||
        binder->destination_used == NULL || binder->copies_used == NULL ||
        binder->resource_used == NULL) {
        vp_binder_release(binder);
        return vp_error_no_memory(error, "endpoint binding");
    }
    status = vp_rest_walk_init(&binder->walk, model, error);
    return status == VP_OK ? vp_assign_init(&binder->assign, size, error) : status;
}

void vp_binder_release(vp_binder_t *binder)
{
    vp_assign_release(&binder->assign);
    vp_rest_walk_release(&binder->walk);
    free(binder->resource_used);
    free(binder->copies_used);
    free(binder->destination_used);
    free(binder->source_used);
    free(binder->into_begin);
    free(binder->into_lanes);
    free(binder->from_lanes);
    free(binder->pair_open);
    free(binder->pair_lanes);
    free(binder->chosen);
    free(binder->credits);
    free(binder->quantum_bytes);
    *binder = (vp_binder_t){0};
}

void vp_binder_set_quantum(vp_binder_t *binder, uint64_t tau_ns, const bool *is_excluded)
{
    const vp_model_t *model = binder->model;
    uint32_t r;

    for (r = 0; r < model->n_instances; r++) {
        uint64_t n_bytes = vp_bytes_in_ns(model->instances[r].bytes_per_s, tau_ns);

        /* A slow path in a short quantum still moves something. */
        binder->quantum_bytes[r] = tau_ns == UINT64_MAX ? UINT64_MAX : n_bytes + (n_bytes == 0);
        if (is_excluded != NULL && is_excluded[r]) {
            binder->quantum_bytes[r] = 0;
        }
    }
}

/* Credit of an instance for a pair, times tau (Equation 7); also the volume (Equation 8). */
static uint64_t credit(const vp_binder_t *binder, const vp_remaining_t *remaining,
                       uint32_t instance, uint32_t source, uint32_t destination)
{
    uint64_t rest = remaining->bytes[(size_t)source * remaining->model->n_ranks + destination];
    uint64_t quantum = binder->quantum_bytes[instance];

    return rest < quantum ? rest : quantum;
}

/* Lays out the family's lanes by source group and destination group, endpoints open. */
static void open_lanes(vp_binder_t *binder, const vp_member_t *members, uint32_t n_members,
                       vp_channel_t *channel)
{
    const vp_model_t *model = binder->model;
    size_t n_pairs = vp_pair(model, model->n_groups, 0);
    size_t pair = 0;
    uint32_t m;

    channel->n_lanes = 0;
    for (m = 0; m < n_members; m++) {
        const vp_instance_t *instance = &model->instances[members[m].instance];
        size_t of = vp_pair(model, instance->from_group, instance->to_group);
        uint32_t i;

        while (pair <= of) {
            binder->pair_lanes[pair++] = channel->n_lanes;
        }
        for (i = 0; i < members[m].count; i++) {
            channel->instance[channel->n_lanes] = members[m].instance;
            channel->source[channel->n_lanes] = UNBOUND;
            channel->destination[channel->n_lanes] = UNBOUND;
            channel->n_lanes++;
        }
    }
    while (pair <= n_pairs) {
        binder->pair_lanes[pair++] = channel->n_lanes;
    }
    for (pair = 0; pair < n_pairs; pair++) {
        binder->pair_open[pair] = binder->pair_lanes[pair + 1] - binder->pair_lanes[pair];
    }
}

/* Lists lanes by source group, which is their own order, and by destination group. */
static void list_lanes(vp_binder_t *binder)
{
    uint32_t n_groups = binder->model->n_groups;
    uint32_t n_listed = 0;
    uint32_t a;
    uint32_t d;

    for (d = 0; d < n_groups; d++) {
        binder->into_begin[d] = n_listed;
        for (a = 0; a < n_groups; a++) {
            size_t pair = vp_pair(binder->model, a, d);
            uint32_t lane;

            for (lane = binder->pair_lanes[pair]; lane < binder->pair_lanes[pair + 1]; lane++) {
                binder->from_lanes[lane] = lane;
                binder->into_lanes[n_listed++] = lane;
            }
        }
    }
    binder->into_begin[n_groups] = n_listed;
}

static void bind_lane(vp_binder_t *binder, vp_channel_t *channel, uint32_t lane, uint32_t source,
                      uint32_t destination)
{
    channel->source[lane] = source;
    channel->destination[lane] = destination;
    binder->source_used[source] = true;
    binder->destination_used[destination] = true;
}

/* The open lane of a group pair that credits the rest most; the first of equals. */
static uint32_t best_open_lane(const vp_binder_t *binder, const vp_channel_t *channel, size_t pair,
                               const vp_remaining_t *remaining, const vp_rest_t *rest)
{
    uint64_t best_credit = 0;
    uint32_t best = UNBOUND;
    uint32_t lane;

    for (lane = binder->pair_lanes[pair]; lane < binder->pair_lanes[pair + 1]; lane++) {
        uint64_t bytes;

        if (channel->source[lane] != UNBOUND) {
            continue;
        }
        bytes = credit(binder, remaining, channel->instance[lane], rest->source, rest->destination);
        if (bytes > best_credit) {
            best_credit = bytes;
            best = lane;
        }
    }
    return best;
}

/*
 * Binds the largest remaining pairs first. Alternating assignment started from
 * the identity or at random stalls at no bytes once few pairs remain.
 */
static void seed(vp_binder_t *binder, const vp_remaining_t *remaining, vp_channel_t *channel)
{
    const vp_model_t *model = remaining->model;
    const vp_rest_t *rest;
    size_t pair;

    memset(binder->source_used, 0, model->n_ranks * sizeof(*binder->source_used));
    memset(binder->destination_used, 0, model->n_ranks * sizeof(*binder->destination_used));
    vp_rest_walk_clear(&binder->walk);
    for (pair = 0; pair < vp_pair(model, model->n_groups, 0); pair++) {
        if (binder->pair_open[pair] > 0) {
            vp_rest_walk_add(&binder->walk, remaining, pair);
        }
    }
    while ((rest = vp_rest_walk_first(&binder->walk, remaining)) != NULL) {
        bool is_free =
            !binder->source_used[rest->source] && !binder->destination_used[rest->destination];
        uint32_t lane;

        pair =
            vp_pair(model, model->rank_group[rest->source], model->rank_group[rest->destination]);
        lane = is_free ? best_open_lane(binder, channel, pair, remaining, rest) : UNBOUND;
        if (lane != UNBOUND) {
            bind_lane(binder, channel, lane, rest->source, rest->destination);
            binder->pair_open[pair]--;
        }
        if (binder->pair_open[pair] == 0) {
            vp_rest_walk_leave(&binder->walk, remaining);
        } else {
            vp_rest_walk_next(&binder->walk, remaining);
        }
    }
}

static uint32_t next_free(const bool *used, uint32_t rank)
{
    while (used[rank]) {
        rank++;
    }
    return rank;
}

/* Gives the lanes that the seed left open the free ranks of their groups, in order. */
static void bind_the_rest(vp_binder_t *binder, vp_channel_t *channel)
{
    const vp_model_t *model = binder->model;
    uint32_t lane;

    for (lane = 0; lane < channel->n_lanes; lane++) {
        const vp_instance_t *instance = &model->instances[channel->instance[lane]];

        if (channel->source[lane] == UNBOUND) {
            bind_lane(
                binder, channel, lane,
                next_free(binder->source_used, model->groups[instance->from_group].first_rank),
                next_free(binder->destination_used, model->groups[instance->to_group].first_rank));
        }
    }
}

/*
 * One exact assignment: of a group's ranks to its given lanes, as their sources
 * or their destinations, the other ends fixed. Rebinds only what then carries
 * more, so that a sweep which gains nothing changes nothing; true if it gained.
 */
static bool rebind(vp_binder_t *binder, const vp_remaining_t *remaining, vp_channel_t *channel,
                   const uint32_t *lanes, uint32_t n_lanes, bool are_sources)
{
    uint32_t *ends = are_sources ? channel->source : channel->destination;
    uint64_t *credits = binder->credits;
    const vp_group_t *ranks;
    uint64_t sum = 0;
    uint32_t i;
    uint32_t k;

    if (n_lanes == 0) {
        return false;
    }
    ranks = &remaining->model->groups[remaining->model->rank_group[ends[lanes[0]]]];
    for (i = 0; i < n_lanes; i++) {
        uint32_t lane = lanes[i];

        for (k = 0; k < ranks->n_ranks; k++) {
            uint32_t rank = ranks->first_rank + k;

            *credits++ = credit(binder, remaining, channel->instance[lane],
                                are_sources ? rank : channel->source[lane],
                                are_sources ? channel->destination[lane] : rank);
        }
        sum += binder->credits[i * ranks->n_ranks + ends[lane] - ranks->first_rank];
    }
    if (vp_assign_best(&binder->assign, binder->credits, n_lanes, ranks->n_ranks, binder->chosen) <=
        sum) {
        return false;
    }
    for (i = 0; i < n_lanes; i++) {
        ends[lanes[i]] = ranks->first_rank + binder->chosen[i];
    }
    return true;
}

/* One sweep of alternating assignment; true if it gained. */
static bool alternate(vp_binder_t *binder, const vp_remaining_t *remaining, vp_channel_t *channel)
{
    const vp_model_t *model = remaining->model;
    bool has_gained = false;
    uint32_t a;

    for (a = 0; a < model->n_groups; a++) {
        uint32_t first = binder->pair_lanes[vp_pair(model, a, 0)];
        uint32_t end = binder->pair_lanes[vp_pair(model, a + 1, 0)];

        has_gained |=
            rebind(binder, remaining, channel, &binder->from_lanes[first], end - first, true);
    }
    for (a = 0; a < model->n_groups; a++) {
        uint32_t first = binder->into_begin[a];
        uint32_t end = binder->into_begin[a + 1];

        has_gained |=
            rebind(binder, remaining, channel, &binder->into_lanes[first], end - first, false);
    }
    return has_gained;
}

/* Volumes of the bound lanes (Equation 8). */
static void set_volumes(const vp_binder_t *binder, const vp_remaining_t *remaining,
                        vp_channel_t *channel)
{
    uint32_t lane;

    for (lane = 0; lane < channel->n_lanes; lane++) {
        channel->n_bytes[lane] = credit(binder, remaining, channel->instance[lane],
                                        channel->source[lane], channel->destination[lane]);
    }
}

void vp_binder_bind(vp_binder_t *binder, const vp_remaining_t *remaining,
                    const vp_member_t *members, uint32_t n_members, vp_channel_t *channel)
{
    uint32_t sweep = 0;

    open_lanes(binder, members, n_members, channel);
    list_lanes(binder);
    seed(binder, remaining, channel);
    bind_the_rest(binder, channel);
    while (alternate(binder, remaining, channel) && ++sweep < MAX_SWEEPS) {
    }
    set_volumes(binder, remaining, channel);
}

static bool has_room(const vp_binder_t *binder, uint32_t r)
{
    const vp_instance_t *instance = &binder->model->instances[r];
    uint32_t i;

    if (binder->copies_used[r] >= instance->n_copies) {
        return false;
    }
    for (i = 0; i < instance->n_resources; i++) {
        if (binder->resource_used[instance->resources[i]]) {
            return false;
        }
    }
    return true;
}

/* Takes an instance for a lane, or gives it back. */
static void hold_instance(vp_binder_t *binder, uint32_t r, bool held)
{
    const vp_instance_t *instance = &binder->model->instances[r];
    uint32_t i;

    binder->copies_used[r] = held ? binder->copies_used[r] + 1 : 0;
    for (i = 0; i < instance->n_resources; i++) {
        binder->resource_used[instance->resources[i]] = held;
    }
}

/* The instance with room that credits the rest most; the first of equals. */
static uint32_t best_instance(const vp_binder_t *binder, const vp_remaining_t *remaining,
                              const vp_rest_t *rest)
{
    uint64_t best_credit = 0;
    uint32_t best = UNBOUND;
    uint32_t r;
    uint32_t end;

    vp_rank_pair_instances(remaining->model, rest->source, rest->destination, &r, &end);
    for (; r < end; r++) {
        uint64_t bytes = credit(binder, remaining, r, rest->source, rest->destination);

        if (bytes > best_credit && has_room(binder, r)) {
            best_credit = bytes;
            best = r;
        }
    }
    return best;
}

void vp_binder_force(vp_binder_t *binder, const vp_remaining_t *remaining, vp_channel_t *channel)
{
    const vp_model_t *model = remaining->model;
    const vp_rest_t *rest;
    uint32_t lane;
    size_t pair;

    memset(binder->source_used, 0, model->n_ranks * sizeof(*binder->source_used));
    memset(binder->destination_used, 0, model->n_ranks * sizeof(*binder->destination_used));
    channel->n_lanes = 0;
    vp_rest_walk_clear(&binder->walk);
    for (pair = 0; pair < vp_pair(model, model->n_groups, 0); pair++) {
        vp_rest_walk_add(&binder->walk, remaining, pair);
    }
    for (; (rest = vp_rest_walk_first(&binder->walk, remaining)) != NULL;
         vp_rest_walk_next(&binder->walk, remaining)) {
        uint32_t r;

        if (binder->source_used[rest->source] || binder->destination_used[rest->destination]) {
            continue;
        }
        r = best_instance(binder, remaining, rest);
        if (r != UNBOUND) {
            hold_instance(binder, r, true);
            channel->instance[channel->n_lanes] = r;
            bind_lane(binder, channel, channel->n_lanes++, rest->source, rest->destination);
        }
    }
    for (lane = 0; lane < channel->n_lanes; lane++) {
        hold_instance(binder, channel->instance[lane], false);
    }
    set_volumes(binder, remaining, channel);
}
