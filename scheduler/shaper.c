/*
 * The best shape of the network, its instances, and the branching over
 * resources that the network leaves out.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/shaper.h"

#include <string.h>

#define NONE UINT32_MAX

void vp_shaper_reset(vp_shaper_t *shaper)
{
    const vp_model_t *model = shaper->model;
    vp_flow_t *flow = &shaper->flow;
    uint32_t i;

    vp_flow_reset(flow);
    for (i = 0; i < model->n_groups; i++) {
        flow->excess[i] = model->groups[i].n_ranks;
        flow->excess[model->n_groups + i] = -(int64_t)model->groups[i].n_ranks;
    }
    shaper->dearest = 0;
}

static size_t pair_of(const vp_model_t *model, uint32_t r)
{
    return vp_pair(model, model->instances[r].from_group, model->instances[r].to_group);
}

/* An instance is allowed unless a resource that it uses is kept for another. */
static void set_capacity(vp_shaper_t *shaper, uint32_t r)
{
    const vp_instance_t *instance = &shaper->model->instances[r];
    uint32_t capacity = instance->n_resources > 0 ? 1 : instance->n_copies;
    uint32_t i;

    if (shaper->is_excluded != NULL && shaper->is_excluded[r]) {
        capacity = 0;
    }
    for (i = shaper->side_begin[r]; i < shaper->side_begin[r + 1]; i++) {
        uint32_t keeper = shaper->keeper[shaper->sides[i]];

        if (keeper != NONE && keeper != r) {
            capacity = 0;
        }
    }
    vp_flow_arc(&shaper->flow, shaper->arc[r])->capacity = capacity;
}

static void keep_side(vp_shaper_t *shaper, uint32_t side, uint32_t keeper)
{
    uint32_t i;

    shaper->keeper[side] = keeper;
    for (i = shaper->user_begin[side]; i < shaper->user_begin[side + 1]; i++) {
        set_capacity(shaper, shaper->users[i]);
    }
}

static void set_costs(vp_shaper_t *shaper, const uint64_t *pressure)
{
    const vp_model_t *model = shaper->model;
    uint32_t r;
    uint32_t i;

    for (r = 0; r < model->n_instances; r++) {
        int64_t weight = (int64_t)pressure[pair_of(model, r)];

        shaper->dearest = weight > shaper->dearest ? weight : shaper->dearest;
    }
    for (r = 0; r < model->n_instances; r++) {
        vp_flow_arc(&shaper->flow, shaper->arc[r])->cost =
            shaper->dearest - (int64_t)pressure[pair_of(model, r)];
        set_capacity(shaper, r);
    }
    for (i = shaper->first_idle; i < shaper->flow.n_arcs; i++) {
        vp_flow_arc(&shaper->flow, i)->cost = shaper->dearest;
    }
}

static uint32_t lanes_of(const vp_shaper_t *shaper, uint32_t r)
{
    return vp_flow_arc(&shaper->flow, shaper->arc[r])->flow;
}

/* The next left-out resource, from `side` on, that the flow uses more than once, or NONE. */
static uint32_t find_crowded_side(const vp_shaper_t *shaper, uint32_t side)
{
    for (; side < shaper->n_sides; side++) {
        uint32_t n_lanes = 0;
        uint32_t i;

        for (i = shaper->user_begin[side]; i < shaper->user_begin[side + 1]; i++) {
            n_lanes += lanes_of(shaper, shaper->users[i]);
        }
        if (n_lanes > 1) {
            return side;
        }
    }
    return NONE;
}

static uint64_t score_of(const vp_shaper_t *shaper, const uint64_t *pressure)
{
    uint64_t score = 0;
    uint32_t r;

    for (r = 0; r < shaper->model->n_instances; r++) {
        score += pressure[pair_of(shaper->model, r)] * lanes_of(shaper, r);
    }
    return score;
}

/* The user of a resource behind `last` (NONE: none yet) in descending pressure, ascending index. */
static uint32_t next_user(const vp_shaper_t *shaper, uint32_t side, const uint64_t *pressure,
                          uint32_t last)
{
    uint32_t best = NONE;
    uint32_t i;

    for (i = shaper->user_begin[side]; i < shaper->user_begin[side + 1]; i++) {
        uint32_t r = shaper->users[i];
        uint64_t weight = pressure[pair_of(shaper->model, r)];

        if (last != NONE) {
            uint64_t limit = pressure[pair_of(shaper->model, last)];

            if (weight > limit || (weight == limit && r <= last)) {
                continue;
            }
        }
        if (best == NONE || weight > pressure[pair_of(shaper->model, best)]) {
            best = r;
        }
    }
    return best;
}

static void record_best(vp_shaper_t *shaper, uint64_t score)
{
    uint32_t r;

    shaper->best_score = score;
    for (r = 0; r < shaper->model->n_instances; r++) {
        shaper->best[r] = lanes_of(shaper, r);
    }
}

/*
 * Branch and bound, depth first: a flow that leaves resources out scores at
 * least what any selection below it does. The recursion is as deep as there
 * are left-out resources, max_sides at most.
 */
static void branch(vp_shaper_t *shaper, const uint64_t *pressure)
{
    uint64_t score;
    uint32_t side;
    uint32_t user = NONE;

    vp_flow_settle(&shaper->flow);
    shaper->n_steps++;
    score = score_of(shaper, pressure);
    if (score <= shaper->best_score) {
        return;
    }
    side = find_crowded_side(shaper, 0);
    if (side == NONE) {
        record_best(shaper, score);
        return;
    }
    while ((user = next_user(shaper, side, pressure, user)) != NONE &&
           (shaper->best_score == 0 || shaper->n_steps < shaper->max_steps)) {
        keep_side(shaper, side, user);
        branch(shaper, pressure);
    }
    keep_side(shaper, side, NONE);
}

/* Keeps every crowded resource for its best lane until none is crowded: good, not always best. */
static void settle_greedily(vp_shaper_t *shaper, const uint64_t *pressure)
{
    bool is_crowded = true;
    uint32_t side;

    while (is_crowded) {
        is_crowded = false;
        vp_flow_settle(&shaper->flow);
        for (side = find_crowded_side(shaper, 0); side != NONE;
             side = find_crowded_side(shaper, side + 1)) {
            uint32_t user = next_user(shaper, side, pressure, NONE);

            while (lanes_of(shaper, user) == 0) {
                user = next_user(shaper, side, pressure, user);
            }
            keep_side(shaper, side, user);
            is_crowded = true;
        }
    }
    record_best(shaper, score_of(shaper, pressure));
    for (side = 0; side < shaper->n_sides; side++) {
        shaper->keeper[side] = NONE;
    }
}

/* Takes the resources of an instance, or gives them back. */
static void hold_resources(vp_shaper_t *shaper, uint32_t r, bool held)
{
    const vp_instance_t *instance = &shaper->model->instances[r];
    uint32_t i;

    for (i = 0; i < instance->n_resources; i++) {
        shaper->resource_used[instance->resources[i]] = held;
    }
}

static bool has_room(const vp_shaper_t *shaper, uint32_t r)
{
    const vp_instance_t *instance = &shaper->model->instances[r];
    uint32_t i;

    if ((shaper->is_excluded != NULL && shaper->is_excluded[r]) ||
        shaper->best[r] >= instance->n_copies) {
        return false;
    }
    for (i = 0; i < instance->n_resources; i++) {
        if (shaper->resource_used[instance->resources[i]]) {
            return false;
        }
    }
    return true;
}

/* Whether a carries more of n_bytes in a quantum than b, or as much in less time. */
static bool is_better(const vp_model_t *model, const uint64_t *quantum_bytes, uint64_t n_bytes,
                      uint32_t a, uint32_t b)
{
    uint64_t a_credit = n_bytes < quantum_bytes[a] ? n_bytes : quantum_bytes[a];
    uint64_t b_credit = n_bytes < quantum_bytes[b] ? n_bytes : quantum_bytes[b];

    return a_credit != b_credit ? a_credit > b_credit
                                : model->instances[a].bytes_per_s > model->instances[b].bytes_per_s;
}

/* Moves a lane to the best instance of its group pair that has room; false: it has that. */
static bool improve_lane(vp_shaper_t *shaper, uint32_t r, uint64_t n_bytes,
                         const uint64_t *quantum_bytes)
{
    const vp_model_t *model = shaper->model;
    size_t pair = pair_of(model, r);
    uint32_t best = r;
    uint32_t other;

    shaper->best[r]--;
    hold_resources(shaper, r, false);
    for (other = model->pair_begin[pair]; other < model->pair_begin[pair + 1]; other++) {
        if (has_room(shaper, other) && is_better(model, quantum_bytes, n_bytes, other, best)) {
            best = other;
        }
    }
    shaper->best[best]++;
    hold_resources(shaper, best, true);
    return best != r;
}

/* The family: the selected instances, exchanged for better ones of the same group pair. */
static void make_family(vp_shaper_t *shaper, const uint64_t *pressure,
                        const vp_remaining_t *remaining, const uint64_t *quantum_bytes)
{
    const vp_model_t *model = shaper->model;
    uint32_t r;

    for (r = 0; r < model->n_instances; r++) {
        shaper->best[r] = pressure[pair_of(model, r)] > 0 ? shaper->best[r] : 0;
        if (shaper->best[r] > 0) {
            hold_resources(shaper, r, true);
        }
    }
    for (r = 0; r < model->n_instances; r++) {
        size_t begin = remaining->rest_begin[pair_of(model, r)];

        while (shaper->best[r] > 0 &&
               improve_lane(shaper, r, remaining->rests[begin].n_bytes, quantum_bytes)) {
        }
    }
    shaper->n_members = 0;
    for (r = 0; r < model->n_instances; r++) {
        if (shaper->best[r] > 0) {
            shaper->members[shaper->n_members++] = (vp_member_t){r, shaper->best[r]};
            hold_resources(shaper, r, false);
        }
    }
}

bool vp_shaper_choose(vp_shaper_t *shaper, const uint64_t *pressure,
                      const vp_remaining_t *remaining, const uint64_t *quantum_bytes)
{
    shaper->best_score = 0;
    shaper->n_steps = 0;
    set_costs(shaper, pressure);
    if (shaper->n_sides <= shaper->max_sides) {
        branch(shaper, pressure);
    } else {
        settle_greedily(shaper, pressure);
    }
    if (shaper->best_score == 0) {
        return false;
    }
    make_family(shaper, pressure, remaining, quantum_bytes);
    return true;
}
