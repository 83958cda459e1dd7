/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/spread.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/units.h"
#include "scheduler/demand_check.h"
#include "scheduler/jobs.h"
#include "scheduler/plan.h"

enum {
    PPM = 1000000,
    PARTS = 16,        /* that a pair is dealt out in */
    LEVEL_BITS = 16,   /* of a load, relative to the fullest port */
    MIN_SQUARINGS = 3, /* prices are the load to the power of two to this, more in each sweep */
    MAX_SQUARINGS = 6,
    MAX_LEVEL = (1 << LEVEL_BITS) + (1 << (LEVEL_BITS - 2)) /* squared, it stays below 64 bits */
};

/* One sweep's prices. */
typedef struct game {
    uint64_t fullest_ns;
    uint32_t n_squarings;
} game_t;

/* The ports of a lane; returns how many. */
static uint32_t ports_of(const vp_spread_t *spread, const vp_spread_pair_t *pair, uint32_t way,
                         size_t ports[VP_MAX_FOOTPRINT + 2])
{
    const vp_model_t *model = spread->model;
    const vp_instance_t *instance = &model->instances[pair->first_instance + way];
    uint32_t i;

    ports[0] = pair->source;
    ports[1] = (size_t)model->n_ranks + pair->destination;
    for (i = 0; i < instance->n_resources; i++) {
        ports[2 + i] = (size_t)2 * model->n_ranks + instance->resources[i];
    }
    return 2 + instance->n_resources;
}

static uint64_t time_on(const vp_spread_t *spread, size_t port, uint64_t n_bytes)
{
    return vp_transfer_ns(n_bytes, spread->bytes_per_s[port]);
}

static void add_share(vp_spread_t *spread, const vp_spread_pair_t *pair, uint32_t way,
                      uint64_t n_bytes)
{
    size_t ports[VP_MAX_FOOTPRINT + 2];
    uint32_t n_ports = ports_of(spread, pair, way, ports);
    uint32_t i;

    spread->shares[pair->first_share + way] += n_bytes;
    for (i = 0; i < n_ports; i++) {
        spread->load_ns[ports[i]] =
            vp_add_sat(spread->load_ns[ports[i]], time_on(spread, ports[i], n_bytes));
    }
}

/* Loads of a pair's lanes are sums of parts, rounded up one by one, so they are made anew. */
static void load_all(vp_spread_t *spread)
{
    size_t port;
    size_t k;
    uint32_t way;

    for (port = 0; port < spread->n_ports; port++) {
        spread->load_ns[port] = 0;
    }
    for (k = 0; k < spread->n_pairs; k++) {
        const vp_spread_pair_t *pair = &spread->pairs[k];

        for (way = 0; way < pair->n_ways; way++) {
            uint64_t n_bytes = spread->shares[pair->first_share + way];

            spread->shares[pair->first_share + way] = 0;
            add_share(spread, pair, way, n_bytes);
        }
    }
}

static void drop_shares(vp_spread_t *spread, const vp_spread_pair_t *pair)
{
    uint32_t way;
    uint32_t i;

    for (way = 0; way < pair->n_ways; way++) {
        size_t ports[VP_MAX_FOOTPRINT + 2];
        uint32_t n_ports = ports_of(spread, pair, way, ports);
        uint64_t n_bytes = spread->shares[pair->first_share + way];

        for (i = 0; i < n_ports; i++) {
            uint64_t ns = time_on(spread, ports[i], n_bytes);
            uint64_t *load_ns = &spread->load_ns[ports[i]];

            *load_ns = *load_ns > ns ? *load_ns - ns : 0;
        }
        spread->shares[pair->first_share + way] = 0;
    }
}

/* Price of a port: its load relative to the fullest, squared n_squarings times, and a little. */
static uint64_t price_of(uint64_t load_ns, uint64_t fullest_ns, uint32_t n_squarings)
{
    uint64_t price = vp_muldiv_floor(load_ns, UINT64_C(1) << LEVEL_BITS, fullest_ns);

    price = price < MAX_LEVEL ? price : MAX_LEVEL;
    while (n_squarings-- > 0) {
        price = price * price >> LEVEL_BITS;
    }
    return price + 1;
}

/* What n_bytes more cost on a way: their time on each port times its price. */
static vp_uint128_t cost_of(const vp_spread_t *spread, const vp_spread_pair_t *pair, uint32_t way,
                            uint64_t n_bytes, const game_t *game)
{
    size_t ports[VP_MAX_FOOTPRINT + 2];
    uint32_t n_ports = ports_of(spread, pair, way, ports);
    vp_uint128_t cost = 0;
    uint32_t i;

    for (i = 0; i < n_ports; i++) {
        uint64_t ns = time_on(spread, ports[i], n_bytes);

        cost += (vp_uint128_t)ns * price_of(vp_add_sat(spread->load_ns[ports[i]], ns / 2),
                                            game->fullest_ns, game->n_squarings);
    }
    return cost;
}

static uint32_t cheapest_way(const vp_spread_t *spread, const vp_spread_pair_t *pair,
                             uint64_t n_bytes, const game_t *game)
{
    vp_uint128_t least = 0;
    uint32_t best = 0;
    uint32_t way;

    for (way = 0; way < pair->n_ways; way++) {
        vp_uint128_t cost = cost_of(spread, pair, way, n_bytes, game);

        if (way == 0 || cost < least) {
            least = cost;
            best = way;
        }
    }
    return best;
}

static void deal_pair(vp_spread_t *spread, const vp_spread_pair_t *pair, const game_t *game)
{
    uint64_t least_bytes = VP_JOBS_MIN_CUT_CHUNKS * spread->chunk_bytes;
    uint64_t part_bytes = pair->n_bytes / PARTS;
    uint64_t left_bytes = pair->n_bytes;

    part_bytes += spread->chunk_bytes - 1 - (part_bytes - 1) % spread->chunk_bytes;
    part_bytes = part_bytes < least_bytes ? least_bytes : part_bytes;
    drop_shares(spread, pair);
    while (left_bytes > 0) {
        uint64_t n_bytes = left_bytes < part_bytes + least_bytes ? left_bytes : part_bytes;

        add_share(spread, pair, cheapest_way(spread, pair, n_bytes, game), n_bytes);
        left_bytes -= n_bytes;
    }
}

static uint64_t fullest_port(const vp_spread_t *spread)
{
    uint64_t fullest_ns = 1;
    size_t port;

    for (port = 0; port < spread->n_ports; port++) {
        fullest_ns = spread->load_ns[port] > fullest_ns ? spread->load_ns[port] : fullest_ns;
    }
    return fullest_ns;
}

void vp_spread_balance(vp_spread_t *spread, uint32_t n_sweeps)
{
    uint32_t sweep;
    size_t k;

    for (sweep = 0; sweep < n_sweeps; sweep++) {
        const game_t game = {fullest_port(spread), sweep < MAX_SQUARINGS - MIN_SQUARINGS
                                                       ? MIN_SQUARINGS + sweep
                                                       : MAX_SQUARINGS};

        for (k = 0; k < spread->n_pairs; k++) {
            if (spread->pairs[k].n_ways > 1) {
                deal_pair(spread, &spread->pairs[k], &game);
            }
        }
        load_all(spread);
    }
}

/* What a port carries when two sources share it or, of a rank's way out, one. */
static void set_rates(vp_spread_t *spread, uint32_t contention)
{
    const vp_model_t *model = spread->model;
    size_t port;

    for (port = 0; port < spread->n_ports; port++) {
        uint32_t table = VP_CONTENTION_GPU;
        uint64_t rate = model->gpu_link_bytes_per_s;
        uint32_t share_ppm;

        if (port >= (size_t)2 * model->n_ranks) {
            const vp_resource_t *resource = &model->resources[port - (size_t)2 * model->n_ranks];

            table = vp_plan_contention_table(resource->kind);
            rate = resource->bytes_per_s;
        }
        share_ppm = vp_plan_share_ppm(model, contention, table, port < model->n_ranks ? 1 : 2);
        rate = vp_muldiv_floor(rate, share_ppm, PPM);
        spread->bytes_per_s[port] = rate > 0 ? rate : 1;
    }
}

static bool is_nearer(const vp_instance_t *a, const vp_instance_t *b)
{
    return a->kind != b->kind ? a->kind < b->kind : a->bytes_per_s > b->bytes_per_s;
}

static uint32_t nearest_way(const vp_model_t *model, const vp_spread_pair_t *pair)
{
    const vp_instance_t *ways = &model->instances[pair->first_instance];
    const vp_group_t *group = &model->groups[model->rank_group[pair->source]];
    uint32_t best = 0;
    uint32_t n_equal = 0;
    uint32_t turn;
    uint32_t way;

    for (way = 1; way < pair->n_ways; way++) {
        best = is_nearer(&ways[way], &ways[best]) ? way : best;
    }
    if (group->node == model->groups[model->rank_group[pair->destination]].node) {
        return best;
    }
    for (way = 0; way < pair->n_ways; way++) {
        n_equal += ways[way].kind == ways[best].kind;
    }
    turn = (pair->source - group->first_rank) % n_equal;
    for (way = 0; ways[way].kind != ways[best].kind || turn-- > 0; way++) {
    }
    return way;
}

static void collect_pairs(vp_spread_t *spread, const uint64_t *demand_bytes)
{
    const vp_model_t *model = spread->model;
    uint32_t source;
    uint32_t step;

    for (source = 0; source < model->n_ranks; source++) {
        for (step = 1; step < model->n_ranks; step++) {
            uint32_t destination = (source + step) % model->n_ranks;
            vp_spread_pair_t *pair = &spread->pairs[spread->n_pairs];
            uint32_t end;

            pair->n_bytes = demand_bytes[(size_t)source * model->n_ranks + destination];
            if (pair->n_bytes == 0) {
                continue;
            }
            pair->source = source;
            pair->destination = destination;
            vp_rank_pair_instances(model, source, destination, &pair->first_instance, &end);
            pair->n_ways = end - pair->first_instance;
            pair->first_share = spread->n_shares;
            spread->n_shares += pair->n_ways;
            spread->n_pairs++;
        }
    }
}

vp_status_t vp_spread_nearest(vp_spread_t *spread, const vp_model_t *model,
                              const uint64_t *demand_bytes, uint32_t contention,
                              uint64_t chunk_bytes, vp_error_t *error)
{
    uint64_t total_bytes = 0;
    vp_status_t status = vp_demand_check(model, demand_bytes, &total_bytes, error);
    size_t k;

    *spread = (vp_spread_t){.model = model, .chunk_bytes = chunk_bytes};
    if (status != VP_OK) {
        return status;
    }
    spread->n_ports = (size_t)2 * model->n_ranks + model->n_resources;
    spread->bytes_per_s = vp_array_new(spread->n_ports, sizeof(*spread->bytes_per_s));
    spread->load_ns = vp_array_new(spread->n_ports, sizeof(*spread->load_ns));
    spread->pairs = vp_array_new((size_t)model->n_ranks * model->n_ranks, sizeof(*spread->pairs));
    if (spread->bytes_per_s == NULL || spread->load_ns == NULL || spread->pairs == NULL) {
        goto no_memory;
    }
    set_rates(spread, contention);
    collect_pairs(spread, demand_bytes);
    spread->shares = vp_array_new(spread->n_shares, sizeof(*spread->shares));
    if (spread->shares == NULL) {
        goto no_memory;
    }
    for (k = 0; k < spread->n_pairs; k++) {
        add_share(spread, &spread->pairs[k], nearest_way(model, &spread->pairs[k]),
                  spread->pairs[k].n_bytes);
    }
    return VP_OK;
no_memory:
    vp_spread_release(spread);
    return vp_error_no_memory(error, "the paths of a demand");
}

bool vp_spread_fills_alone(const vp_spread_t *spread)
{
    uint64_t full_ns = fullest_port(spread) / 32 * 31;
    size_t k;
    uint32_t way;
    uint32_t i;

    for (k = 0; k < spread->n_pairs; k++) {
        const vp_spread_pair_t *pair = &spread->pairs[k];

        for (way = 0; way < pair->n_ways; way++) {
            size_t ports[VP_MAX_FOOTPRINT + 2];
            uint32_t n_ports = ports_of(spread, pair, way, ports);
            uint64_t rate = spread->model->instances[pair->first_instance + way].bytes_per_s;

            for (i = 0; i < n_ports && spread->shares[pair->first_share + way] > 0; i++) {
                if (spread->load_ns[ports[i]] >= full_ns && spread->bytes_per_s[ports[i]] > rate) {
                    return false;
                }
            }
        }
    }
    return true;
}

void vp_spread_release(vp_spread_t *spread)
{
    free(spread->shares);
    free(spread->pairs);
    free(spread->load_ns);
    free(spread->bytes_per_s);
    *spread = (vp_spread_t){0};
}
