/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/split.h"

#include <stdlib.h>

#include "base/array.h"
#include "scheduler/jobs.h"

enum {
    LEVEL_BITS = 16,     /* of a load, relative to the fullest port */
    MIN_SQUARINGS = 3,   /* prices are the load to the power of two to this, */
    MAX_SQUARINGS = 9,   /* or in late sweeps to this */
    FIRST_PART_BITS = 1, /* moves are a half of a group pair's bytes at first, */
    LAST_PART_BITS = 11, /* and this power of two of them at last */
    FAR_PART_BITS = 4,   /* by then far NICs have gained, or will not */
    SWEEPS_PER_PART = 3
};
#define MAX_LEVEL (UINT64_C(3) << (LEVEL_BITS - 1)) /* squared, it stays below 64 bits */

/* One group pair and a move between two of its ways. */
typedef struct move {
    uint32_t first; /* its instances */
    uint32_t end;
    uint64_t n_bytes;
    uint32_t n_squarings;
    bool is_near; /* far NICs are not looked at */
} move_t;

static size_t resource_port(const vp_split_t *split, uint32_t resource)
{
    return (size_t)2 * split->spread->model->n_ranks + resource;
}

/* Price of a port: its load relative to the fullest, squared n_squarings times. */
static uint64_t price_of(const vp_split_t *split, uint64_t load_ns, uint32_t n_squarings)
{
    uint64_t price = load_ns < UINT64_MAX >> LEVEL_BITS
                         ? (load_ns << LEVEL_BITS) / split->fullest_ns
                         : MAX_LEVEL;

    price = price < MAX_LEVEL ? price : MAX_LEVEL;
    while (n_squarings-- > 0 && price > 0) {
        price = price * price >> LEVEL_BITS;
        price = price < UINT32_MAX ? price : UINT32_MAX;
    }
    return price;
}

static void load_way(vp_split_t *split, uint32_t instance_idx, uint64_t n_bytes, bool is_more)
{
    const vp_instance_t *instance = &split->spread->model->instances[instance_idx];
    uint32_t i;

    for (i = 0; i < instance->n_resources; i++) {
        uint64_t *load_ns = &split->load_ns[instance->resources[i]];
        uint64_t ns =
            vp_spread_ns(split->spread, resource_port(split, instance->resources[i]), n_bytes);

        *load_ns = is_more ? vp_add_sat(*load_ns, ns) : *load_ns - (ns < *load_ns ? ns : *load_ns);
    }
}

/* What a byte more costs on a way. */
static uint64_t cost_of(const vp_split_t *split, uint32_t instance_idx)
{
    const vp_instance_t *instance = &split->spread->model->instances[instance_idx];
    uint64_t cost = 0;
    uint32_t i;

    for (i = 0; i < instance->n_resources; i++) {
        size_t port = resource_port(split, instance->resources[i]);

        cost = vp_add_sat(cost, vp_mul_sat(split->price[instance->resources[i]] + 1,
                                           split->spread->ns_per_byte[port] >> LEVEL_BITS));
    }
    return cost;
}

/* Sum of the prices of what a way uses; writes them down if they are to stay. */
static uint64_t price_way(vp_split_t *split, uint32_t instance_idx, uint32_t n_squarings,
                          bool is_kept)
{
    const vp_instance_t *instance = &split->spread->model->instances[instance_idx];
    uint64_t sum = 0;
    uint32_t i;

    for (i = 0; i < instance->n_resources; i++) {
        uint64_t price = price_of(split, split->load_ns[instance->resources[i]], n_squarings);

        sum += price;
        if (is_kept) {
            split->price[instance->resources[i]] = price;
        }
    }
    return sum;
}

static bool try_move(vp_split_t *split, const move_t *move, uint32_t from, uint32_t to)
{
    uint64_t before = price_way(split, from, move->n_squarings, false) +
                      price_way(split, to, move->n_squarings, false);
    uint64_t after;

    load_way(split, from, move->n_bytes, false);
    load_way(split, to, move->n_bytes, true);
    after = price_way(split, from, move->n_squarings, false) +
            price_way(split, to, move->n_squarings, false);
    if (after >= before) {
        load_way(split, to, move->n_bytes, false);
        load_way(split, from, move->n_bytes, true);
        return false;
    }
    (void)price_way(split, from, move->n_squarings, true);
    (void)price_way(split, to, move->n_squarings, true);
    split->way_bytes[from] -= move->n_bytes;
    split->way_bytes[to] += move->n_bytes;
    return true;
}

/* From the dearest way that has the bytes to the cheapest one. */
static bool move_bytes(vp_split_t *split, const move_t *move)
{
    uint64_t dearest = 0;
    uint64_t cheapest = UINT64_MAX;
    uint32_t from = move->end;
    uint32_t to = move->end;
    uint32_t r;

    for (r = move->first; r < move->end; r++) {
        uint64_t cost;

        if (move->is_near && split->is_far[r]) {
            continue;
        }
        cost = cost_of(split, r);
        if (split->way_bytes[r] >= move->n_bytes && cost > dearest) {
            dearest = cost;
            from = r;
        }
        if (cost < cheapest) {
            cheapest = cost;
            to = r;
        }
    }
    split->n_steps++;
    return from != move->end && from != to && try_move(split, move, from, to);
}

uint64_t vp_split_fullest_ns(const vp_split_t *split)
{
    uint64_t fullest_ns = 1;
    uint32_t i;

    for (i = 0; i < split->spread->model->n_resources; i++) {
        fullest_ns = split->load_ns[i] > fullest_ns ? split->load_ns[i] : fullest_ns;
    }
    return fullest_ns;
}

/* Ways of a pair that may be looked at. */
static uint32_t count_ways(const vp_split_t *split, size_t pair, bool is_near)
{
    const vp_model_t *model = split->spread->model;
    uint32_t n = 0;
    uint32_t r;

    for (r = model->pair_begin[pair]; r < model->pair_begin[pair + 1]; r++) {
        n += is_near && split->is_far[r] ? 0 : 1;
    }
    return n;
}

/* One sweep over all group pairs; whether anything moved. */
static bool sweep(vp_split_t *split, uint32_t part_bits, uint32_t n_squarings, bool is_near)
{
    const vp_model_t *model = split->spread->model;
    size_t n_pairs = (size_t)model->n_groups * model->n_groups;
    bool has_moved = false;
    uint32_t i;
    size_t pair;

    split->fullest_ns = vp_split_fullest_ns(split);
    for (i = 0; i < model->n_resources; i++) {
        split->price[i] = price_of(split, split->load_ns[i], n_squarings);
    }
    for (pair = 0; pair < n_pairs; pair++) {
        move_t move = {model->pair_begin[pair], model->pair_begin[pair + 1],
                       split->group_bytes[pair] >> part_bits, n_squarings, is_near};

        if (move.n_bytes > 0 && count_ways(split, pair, is_near) > 1) {
            if (move_bytes(split, &move)) {
                split->is_moved[pair] = true;
                has_moved = true;
            }
        }
    }
    return has_moved;
}

/* The fullest of the ranks' own links, which no split changes. */
static uint64_t fullest_rank(const vp_split_t *split)
{
    uint64_t fullest_ns = 1;
    size_t port;

    for (port = 0; port < (size_t)2 * split->spread->model->n_ranks; port++) {
        uint64_t ns = split->spread->load_ns[port];

        fullest_ns = ns > fullest_ns ? ns : fullest_ns;
    }
    return fullest_ns;
}

static void solve(vp_split_t *split, uint64_t rank_ns, bool is_near)
{
    uint64_t least_gain_ns = is_near ? 0 : vp_split_fullest_ns(split) / 64;
    uint64_t wanted_ns = vp_split_fullest_ns(split) - least_gain_ns;
    uint32_t part_bits;

    for (part_bits = FIRST_PART_BITS; part_bits <= LAST_PART_BITS; part_bits++) {
        uint32_t n_squarings = MIN_SQUARINGS + part_bits * 2 / 3;
        uint32_t n;

        n_squarings = n_squarings < MAX_SQUARINGS ? n_squarings : MAX_SQUARINGS;
        for (n = 0; n < SWEEPS_PER_PART; n++) {
            if (vp_split_fullest_ns(split) <= rank_ns ||
                !sweep(split, part_bits, n_squarings, is_near)) {
                break;
            }
        }
        if (part_bits == FAR_PART_BITS && vp_split_fullest_ns(split) > wanted_ns) {
            break;
        }
    }
}

void vp_split_solve(vp_split_t *split, bool uses_far)
{
    uint64_t rank_ns = fullest_rank(split);

    solve(split, rank_ns, true);
    if (split->has_far && uses_far) {
        solve(split, rank_ns, false);
    }
}

void vp_split_load(vp_split_t *split)
{
    const vp_model_t *model = split->spread->model;
    uint32_t i;

    for (i = 0; i < model->n_resources; i++) {
        split->load_ns[i] = 0;
    }
    for (i = 0; i < model->n_instances; i++) {
        load_way(split, i, split->way_bytes[i], true);
    }
}

static void find_far(vp_split_t *split)
{
    const vp_model_t *model = split->spread->model;
    size_t pair;
    uint32_t r;

    for (pair = 0; pair < (size_t)model->n_groups * model->n_groups; pair++) {
        uint32_t fewest = UINT32_MAX;

        for (r = model->pair_begin[pair]; r < model->pair_begin[pair + 1]; r++) {
            const vp_instance_t *way = &model->instances[r];

            fewest =
                way->kind == VP_PATH_NIC && way->n_resources < fewest ? way->n_resources : fewest;
        }
        for (r = model->pair_begin[pair]; r < model->pair_begin[pair + 1]; r++) {
            const vp_instance_t *way = &model->instances[r];

            split->is_far[r] = way->kind == VP_PATH_NIC && way->n_resources > fewest;
            split->has_far = split->has_far || split->is_far[r];
        }
    }
}

static vp_status_t start(vp_split_t *split, const vp_spread_t *spread, vp_error_t *error)
{
    const vp_model_t *model = spread->model;

    *split = (vp_split_t){.spread = spread};
    split->group_bytes =
        vp_array_new((size_t)model->n_groups * model->n_groups, sizeof(*split->group_bytes));
    split->way_bytes = vp_array_new(model->n_instances, sizeof(*split->way_bytes));
    split->is_moved =
        vp_array_new((size_t)model->n_groups * model->n_groups, sizeof(*split->is_moved));
    split->is_far = vp_array_new(model->n_instances, sizeof(*split->is_far));
    split->load_ns = vp_array_new(model->n_resources, sizeof(*split->load_ns));
    split->price = vp_array_new(model->n_resources, sizeof(*split->price));
    if (split->group_bytes == NULL || split->way_bytes == NULL || split->is_moved == NULL ||
        split->is_far == NULL || split->load_ns == NULL || split->price == NULL) {
        vp_split_release(split);
        return vp_error_no_memory(error, "the split of a demand");
    }
    find_far(split);
    return VP_OK;
}

vp_status_t vp_split_collect(vp_split_t *split, const vp_spread_t *spread, vp_error_t *error)
{
    const vp_model_t *model = spread->model;
    vp_status_t status = start(split, spread, error);
    size_t k;
    uint32_t way;
    uint32_t i;

    for (k = 0; status == VP_OK && k < spread->n_pairs; k++) {
        const vp_spread_pair_t *pair = &spread->pairs[k];

        split->group_bytes[vp_pair(model, model->rank_group[pair->source],
                                   model->rank_group[pair->destination])] += pair->n_bytes;
        for (way = 0; way < pair->n_ways; way++) {
            split->way_bytes[pair->first_instance + way] += spread->shares[pair->first_share + way];
        }
    }
    for (i = 0; status == VP_OK && i < model->n_resources; i++) {
        split->load_ns[i] = spread->load_ns[resource_port(split, i)];
    }
    return status;
}

void vp_split_release(vp_split_t *split)
{
    free(split->price);
    free(split->load_ns);
    free(split->is_far);
    free(split->is_moved);
    free(split->way_bytes);
    free(split->group_bytes);
    *split = (vp_split_t){0};
}

/* What a row has dealt out so far. */
typedef struct deal {
    vp_spread_t *spread;
    const vp_split_t *split;
    uint64_t *row_bytes; /* [n_groups] to each group */
    uint64_t *given;     /* [n_instances] over each way */
} deal_t;

/* Bytes that a way should have had when its group pair has had as many, at a whole chunk. */
static uint64_t due_on(const deal_t *deal, size_t pair, uint64_t n_bytes, uint32_t r)
{
    uint64_t chunk_bytes = deal->spread->chunk_bytes;
    uint64_t due =
        vp_muldiv_floor(n_bytes, deal->split->way_bytes[r], deal->split->group_bytes[pair]) +
        chunk_bytes / 2;

    return due - due % chunk_bytes;
}

/*
 * A row starts where the rows of the ranks before it in the group would have
 * ended, if they were like this one: then roundings of equal rows cancel out.
 */
static void start_row(deal_t *deal, size_t first_pair)
{
    const vp_spread_t *spread = deal->spread;
    const vp_model_t *model = spread->model;
    uint32_t source = spread->pairs[first_pair].source;
    const vp_group_t *group = &model->groups[model->rank_group[source]];
    size_t groups = vp_pair(model, model->rank_group[source], 0);
    size_t k;
    uint32_t to;

    for (to = 0; to < model->n_groups; to++) {
        deal->row_bytes[to] = 0;
    }
    for (k = first_pair; k < spread->n_pairs && spread->pairs[k].source == source; k++) {
        deal->row_bytes[model->rank_group[spread->pairs[k].destination]] +=
            spread->pairs[k].n_bytes;
    }
    for (to = 0; to < model->n_groups; to++) {
        uint32_t r;

        deal->row_bytes[to] = vp_mul_sat(deal->row_bytes[to], source - group->first_rank);
        for (r = model->pair_begin[groups + to]; r < model->pair_begin[groups + to + 1]; r++) {
            deal->given[r] = deal->split->is_moved[groups + to]
                                 ? due_on(deal, groups + to, deal->row_bytes[to], r)
                                 : 0;
        }
    }
}

/* Bytes that a way should have had by now and has not. */
static uint64_t owed_on(const deal_t *deal, size_t pair, uint32_t group, uint32_t r)
{
    uint64_t due = due_on(deal, pair, deal->row_bytes[group], r);

    return due > deal->given[r] ? due - deal->given[r] : 0;
}

static void give(deal_t *deal, const vp_spread_pair_t *pair, uint32_t way, uint64_t n_bytes)
{
    deal->given[pair->first_instance + way] += n_bytes;
    vp_spread_add(deal->spread, pair, way, n_bytes);
}

/* Leaves the bytes where they lie. */
static void keep_pair(deal_t *deal, const vp_spread_pair_t *pair)
{
    uint32_t way;

    for (way = 0; way < pair->n_ways; way++) {
        uint64_t n_bytes = deal->spread->shares[pair->first_share + way];

        if (n_bytes > 0) {
            deal->spread->shares[pair->first_share + way] = 0;
            vp_spread_add(deal->spread, pair, way, n_bytes);
        }
    }
}

static void deal_pair(deal_t *deal, const vp_spread_pair_t *pair)
{
    const vp_model_t *model = deal->spread->model;
    uint64_t least_bytes = VP_JOBS_MIN_CUT_CHUNKS * deal->spread->chunk_bytes;
    uint32_t group = model->rank_group[pair->destination];
    size_t groups = vp_pair(model, model->rank_group[pair->source], group);
    uint64_t left_bytes = pair->n_bytes;
    uint64_t most = 0;
    uint32_t best = 0;
    uint32_t way;

    if (!deal->split->is_moved[groups]) {
        keep_pair(deal, pair);
        return;
    }
    for (way = 0; way < pair->n_ways; way++) {
        deal->spread->shares[pair->first_share + way] = 0;
    }
    deal->row_bytes[group] += pair->n_bytes;
    for (way = 0; way < pair->n_ways; way++) {
        uint64_t owed = owed_on(deal, groups, group, pair->first_instance + way);

        if (owed > most) {
            most = owed;
            best = way;
        }
    }
    for (way = 0; way < pair->n_ways; way++) {
        uint64_t owed = owed_on(deal, groups, group, pair->first_instance + way);

        owed -= owed % deal->spread->chunk_bytes;
        if (way != best && owed >= least_bytes && left_bytes >= owed + least_bytes) {
            give(deal, pair, way, owed);
            left_bytes -= owed;
        }
    }
    give(deal, pair, best, left_bytes);
}

uint64_t vp_split_most_steps(const vp_split_t *split, bool uses_far)
{
    const vp_model_t *model = split->spread->model;
    size_t n_pairs = (size_t)model->n_groups * model->n_groups;
    uint64_t n = 0;
    size_t pair;

    for (pair = 0; pair < n_pairs; pair++) {
        n += count_ways(split, pair, true) > 1 ? 1 : 0;
        n += uses_far && split->has_far && count_ways(split, pair, false) > 1 ? 1 : 0;
    }
    return n * SWEEPS_PER_PART * (LAST_PART_BITS - FIRST_PART_BITS + 1);
}

vp_status_t vp_spread_deal(vp_spread_t *spread, const vp_split_t *split, vp_error_t *error)
{
    const vp_model_t *model = spread->model;
    deal_t deal = {.spread = spread, .split = split};
    vp_status_t status = VP_OK;
    size_t k;

    deal.row_bytes = vp_array_new(model->n_groups, sizeof(*deal.row_bytes));
    deal.given = vp_array_new(model->n_instances, sizeof(*deal.given));
    if (deal.row_bytes == NULL || deal.given == NULL) {
        status = vp_error_no_memory(error, "the split of a demand");
    }
    if (status == VP_OK) {
        for (k = 0; k < spread->n_ports; k++) {
            spread->load_ns[k] = 0;
        }
    }
    for (k = 0; status == VP_OK && k < spread->n_pairs; k++) {
        if (k == 0 || spread->pairs[k - 1].source != spread->pairs[k].source) {
            start_row(&deal, k);
        }
        deal_pair(&deal, &spread->pairs[k]);
    }
    free(deal.given);
    free(deal.row_bytes);
    return status;
}
