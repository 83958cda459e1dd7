/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/spread.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/units.h"
#include "scheduler/demand_check.h"
#include "scheduler/jobs.h"
#include "scheduler/plan.h"

enum { PPM = 1000000 };

uint32_t vp_spread_ports(const vp_spread_t *spread, const vp_spread_pair_t *pair, uint32_t way,
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

void vp_spread_add(vp_spread_t *spread, const vp_spread_pair_t *pair, uint32_t way,
                   uint64_t n_bytes)
{
    size_t ports[VP_MAX_FOOTPRINT + 2];
    uint32_t n_ports = vp_spread_ports(spread, pair, way, ports);
    uint32_t i;

    spread->shares[pair->first_share + way] += n_bytes;
    for (i = 0; i < n_ports; i++) {
        spread->load_ns[ports[i]] =
            vp_add_sat(spread->load_ns[ports[i]], vp_spread_ns(spread, ports[i], n_bytes));
    }
}

uint64_t vp_spread_fullest_ns(const vp_spread_t *spread)
{
    uint64_t fullest_ns = 1;
    size_t port;

    for (port = 0; port < spread->n_ports; port++) {
        fullest_ns = spread->load_ns[port] > fullest_ns ? spread->load_ns[port] : fullest_ns;
    }
    return fullest_ns;
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
        rate = rate > 0 ? rate : 1;
        spread->bytes_per_s[port] = rate;
        spread->ns_per_byte[port] =
            vp_muldiv_ceil(VP_NS_PER_S, UINT64_C(1) << VP_SPREAD_RATE_BITS, rate);
    }
}

static bool is_nearer(const vp_instance_t *a, const vp_instance_t *b)
{
    return a->kind != b->kind ? a->kind < b->kind : a->bytes_per_s > b->bytes_per_s;
}

/* Of the ways of one kind with the fewest resources, in turn by the source's index in its group. */
static uint32_t way_in_turn(const vp_model_t *model, const vp_spread_pair_t *pair,
                            vp_path_kind_t kind)
{
    const vp_instance_t *ways = &model->instances[pair->first_instance];
    uint32_t fewest = UINT32_MAX;
    uint32_t n_equal = 0;
    uint32_t turn;
    uint32_t way;

    for (way = 0; way < pair->n_ways; way++) {
        if (ways[way].kind == kind && ways[way].n_resources <= fewest) {
            n_equal = ways[way].n_resources < fewest ? 1 : n_equal + 1;
            fewest = ways[way].n_resources;
        }
    }
    turn = (pair->source - model->groups[model->rank_group[pair->source]].first_rank) % n_equal;
    for (way = 0; ways[way].kind != kind || ways[way].n_resources != fewest || turn-- > 0; way++) {
    }
    return way;
}

static uint32_t nearest_way(const vp_model_t *model, const vp_spread_pair_t *pair)
{
    const vp_instance_t *ways = &model->instances[pair->first_instance];
    uint32_t best = 0;
    uint32_t way;

    for (way = 1; way < pair->n_ways; way++) {
        best = is_nearer(&ways[way], &ways[best]) ? way : best;
    }
    return model->groups[model->rank_group[pair->source]].node ==
                   model->groups[model->rank_group[pair->destination]].node
               ? best
               : way_in_turn(model, pair, ways[best].kind);
}

void vp_spread_over_nics(vp_spread_t *spread)
{
    const vp_model_t *model = spread->model;
    size_t k;
    uint32_t way;

    for (k = 0; k < spread->n_ports; k++) {
        spread->load_ns[k] = 0;
    }
    for (k = 0; k < spread->n_pairs; k++) {
        const vp_spread_pair_t *pair = &spread->pairs[k];
        bool is_local = model->rank_group[pair->source] == model->rank_group[pair->destination];
        uint32_t chosen = nearest_way(model, pair);

        for (way = 0; way < pair->n_ways; way++) {
            spread->shares[pair->first_share + way] = 0;
            if (!is_local && model->instances[pair->first_instance + way].kind == VP_PATH_NIC) {
                chosen = way_in_turn(model, pair, VP_PATH_NIC);
            }
        }
        vp_spread_add(spread, pair, chosen, pair->n_bytes);
    }
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
    spread->ns_per_byte = vp_array_new(spread->n_ports, sizeof(*spread->ns_per_byte));
    spread->load_ns = vp_array_new(spread->n_ports, sizeof(*spread->load_ns));
    spread->pairs = vp_array_new((size_t)model->n_ranks * model->n_ranks, sizeof(*spread->pairs));
    if (spread->bytes_per_s == NULL || spread->ns_per_byte == NULL || spread->load_ns == NULL ||
        spread->pairs == NULL) {
        goto no_memory;
    }
    set_rates(spread, contention);
    collect_pairs(spread, demand_bytes);
    spread->shares = vp_array_new(spread->n_shares, sizeof(*spread->shares));
    if (spread->shares == NULL) {
        goto no_memory;
    }
    for (k = 0; k < spread->n_pairs; k++) {
        vp_spread_add(spread, &spread->pairs[k], nearest_way(model, &spread->pairs[k]),
                      spread->pairs[k].n_bytes);
    }
    return VP_OK;
no_memory:
    vp_spread_release(spread);
    return vp_error_no_memory(error, "the paths of a demand");
}

bool vp_spread_fills_alone(const vp_spread_t *spread)
{
    uint64_t full_ns = vp_spread_fullest_ns(spread) / 32 * 31;
    size_t k;
    uint32_t way;
    uint32_t i;

    for (k = 0; k < spread->n_pairs; k++) {
        const vp_spread_pair_t *pair = &spread->pairs[k];

        for (way = 0; way < pair->n_ways; way++) {
            size_t ports[VP_MAX_FOOTPRINT + 2];
            uint32_t n_ports = vp_spread_ports(spread, pair, way, ports);
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

vp_status_t vp_spread_fork(const vp_spread_t *spread, vp_spread_t *fork, vp_error_t *error)
{
    *fork = *spread;
    fork->is_fork = true;
    fork->shares = vp_array_new(spread->n_shares, sizeof(*fork->shares));
    fork->load_ns = vp_array_new(spread->n_ports, sizeof(*fork->load_ns));
    if (fork->shares == NULL || fork->load_ns == NULL) {
        vp_spread_release(fork);
        return vp_error_no_memory(error, "the paths of a demand");
    }
    if (spread->n_shares > 0) {
        memcpy(fork->shares, spread->shares, spread->n_shares * sizeof(*fork->shares));
    }
    if (spread->n_ports > 0) {
        memcpy(fork->load_ns, spread->load_ns, spread->n_ports * sizeof(*fork->load_ns));
    }
    return VP_OK;
}

void vp_spread_release(vp_spread_t *spread)
{
    free(spread->shares);
    free(spread->load_ns);
    if (!spread->is_fork) {
        free(spread->pairs);
        free(spread->ns_per_byte);
        free(spread->bytes_per_s);
    }
    *spread = (vp_spread_t){0};
}
