/*
 * The dual of the port/resource LP. With a price y >= 0 on each rank's way out
 * and in and on each resource, summing to 1, no schedule is faster than
 *
 *     sum over pairs of D * min over its paths of (sum of y on the path) / bw,
 *
 * whatever the prices are. Good prices come from a game that both sides play
 * by multiplicative weights: prices rise where load is, each pair's shares move
 * to its cheaper paths. Both steps look ahead by the last change (optimistic
 * updates), without which the two sides chase each other in circles. Every
 * sweep's prices give a valid bound; the best is kept.
 *
 * Numbers: prices are 2^24 at most, unit costs 2^32, so a path's cost fits 64
 * bits and cost times demand 128. All rounding is down, so the bound stays below
 * the optimum. Logarithms are in base 2 with 16 fraction bits.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/dual.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/units.h"
#include "scheduler/demand_check.h"

enum {
    PRICE_BITS = 24,
    LOAD_BITS = 44, /* sum of all loads */
    LOG_BITS = 16,
    ONE = 1 << LOG_BITS,
    PRICE_RATE = 141822, /* 1.5 / ln 2: how fast prices follow loads */
    SHARE_RATE = 23637   /* 0.25 / ln 2: how fast shares follow costs */
};

/* A pair with bytes. */
typedef struct job {
    uint32_t source;
    uint32_t destination;
    uint32_t first; /* its instances, first .. first + n_paths - 1 */
    uint32_t n_paths;
    uint64_t n_bytes;
    uint64_t amount; /* of what is shared out: bytes, or one lane */
    uint64_t extra;  /* cost per unit of amount on top of the instance's: of its lane */
    size_t way;      /* index of its first path in the arrays by job and path */
} job_t;

struct vp_dual {
    const vp_model_t *model;
    size_t n_jobs;
    size_t n_ways;
    size_t n_ports; /* ways out, ways in, resources */
    job_t *jobs;
    const uint64_t *unit_cost; /* [n_instances] per unit of amount */
    uint64_t *port_cost;       /* [n_ports] factor of unit_cost */
    uint64_t dearest_port;     /* the largest of them */
    uint64_t lane_cost;        /* of the whole of a pair's amount */
    uint64_t *instance_price;  /* [n_instances] sum over the footprint, with port costs */
    uint64_t *price;           /* [n_ports] */
    uint64_t *load;            /* [n_ports] */
    int64_t *port_log;         /* [n_ports] logarithm of the price */
    int64_t *last_load;        /* [n_ports] as a fraction of the largest */
    int64_t *share_log;        /* [n_ways] logarithm of the share of a path */
    int64_t *last_cost;        /* [n_ways] as a fraction of the pair's mean */
    uint64_t *way_cost;        /* [n_ways] */
    uint32_t load_shift;
};

/* 2^(-x / ONE) with PRICE_BITS fraction bits, for x >= 0. */
static uint64_t exp2_negative(int64_t x)
{
    /* Taylor coefficients of 2^-f, up to 2^-9 too high in all: they steer, they do not bound. */
    static const int64_t coefficients[] = {161363, -931188, 4030361, -11629080, 16777216};
    int64_t fraction = x % ONE;
    int64_t value = 0;
    size_t i;

    if (x / ONE > PRICE_BITS) {
        return 0;
    }
    for (i = 0; i < sizeof(coefficients) / sizeof(coefficients[0]); i++) {
        value = value * fraction / ONE + coefficients[i];
    }
    return (uint64_t)value >> (x / ONE);
}

static size_t out_port(const job_t *job)
{
    return job->source;
}

static size_t in_port(const vp_dual_t *dual, const job_t *job)
{
    return (size_t)dual->model->n_ranks + job->destination;
}

static size_t resource_port(const vp_dual_t *dual, uint32_t resource)
{
    return 2 * (size_t)dual->model->n_ranks + resource;
}

static uint64_t priced(const vp_dual_t *dual, size_t port)
{
    return dual->price[port] * dual->port_cost[port];
}

/* Prices from their logarithms, relative to the largest. Returns their sum, > 0. */
static uint64_t set_prices(vp_dual_t *dual)
{
    const vp_model_t *model = dual->model;
    int64_t largest = dual->port_log[0];
    uint64_t sum = 0;
    size_t p;
    uint32_t r;
    uint32_t i;

    for (p = 0; p < dual->n_ports; p++) {
        largest = dual->port_log[p] > largest ? dual->port_log[p] : largest;
    }
    for (p = 0; p < dual->n_ports; p++) {
        dual->price[p] = exp2_negative(largest - dual->port_log[p]);
        sum += dual->price[p];
    }
    for (r = 0; r < model->n_instances; r++) {
        dual->instance_price[r] = 0;
        for (i = 0; i < model->instances[r].n_resources; i++) {
            dual->instance_price[r] +=
                priced(dual, resource_port(dual, model->instances[r].resources[i]));
        }
    }
    return sum;
}

/* Cost of a unit of the job's amount over an instance. */
static uint64_t cost_of(const vp_dual_t *dual, const job_t *job, uint32_t r)
{
    const uint64_t largest = UINT64_C(1) << VP_DUAL_MAX_COST_BITS;
    uint64_t cost = dual->unit_cost[r] + job->extra;

    return cost < largest ? cost : largest;
}

/* Costs of all paths under the prices, and the bound that they give, in unit costs. */
static vp_uint128_t price_paths(vp_dual_t *dual, uint64_t price_sum)
{
    vp_uint128_t total = 0;
    size_t k;
    uint32_t i;

    for (k = 0; k < dual->n_jobs; k++) {
        const job_t *job = &dual->jobs[k];
        uint64_t ends = priced(dual, out_port(job)) + priced(dual, in_port(dual, job));
        uint64_t cheapest = UINT64_MAX;

        for (i = 0; i < job->n_paths; i++) {
            uint32_t r = job->first + i;
            uint64_t cost = (ends + dual->instance_price[r]) * cost_of(dual, job, r);

            dual->way_cost[job->way + i] = cost;
            cheapest = cost < cheapest ? cost : cheapest;
        }
        total += (vp_uint128_t)job->amount * cheapest;
    }
    return total / price_sum;
}

/* Moves each pair's shares towards its cheaper paths. */
static void move_shares(vp_dual_t *dual)
{
    size_t k;
    uint32_t i;

    for (k = 0; k < dual->n_jobs; k++) {
        const job_t *job = &dual->jobs[k];
        uint64_t unit = 0;

        if (job->n_paths == 1) {
            continue;
        }
        for (i = 0; i < job->n_paths; i++) {
            unit += dual->way_cost[job->way + i] / job->n_paths;
        }
        unit = unit / ONE + 1;
        for (i = 0; i < job->n_paths; i++) {
            int64_t cost = (int64_t)(dual->way_cost[job->way + i] / unit);

            dual->share_log[job->way + i] -=
                SHARE_RATE * (2 * cost - dual->last_cost[job->way + i]) / ONE;
            dual->last_cost[job->way + i] = cost;
        }
    }
}

static void load_port(vp_dual_t *dual, size_t port, vp_uint128_t work, uint64_t share,
                      uint64_t shares)
{
    uint64_t load = (uint64_t)(work * dual->port_cost[port] >> dual->load_shift);

    dual->load[port] += load * share / shares;
}

static void add_load(vp_dual_t *dual, const job_t *job, uint32_t r, uint64_t share, uint64_t shares)
{
    const vp_instance_t *instance = &dual->model->instances[r];
    vp_uint128_t work = (vp_uint128_t)job->amount * cost_of(dual, job, r);
    uint32_t i;

    load_port(dual, out_port(job), work, share, shares);
    load_port(dual, in_port(dual, job), work, share, shares);
    for (i = 0; i < instance->n_resources; i++) {
        load_port(dual, resource_port(dual, instance->resources[i]), work, share, shares);
    }
}

/* Loads of ports under the current shares. */
static void set_loads(vp_dual_t *dual)
{
    enum { SHARE_BITS = 12 }; /* times LOAD_BITS stays below 64 */
    size_t k;
    size_t p;
    uint32_t i;

    for (p = 0; p < dual->n_ports; p++) {
        dual->load[p] = 0;
    }
    for (k = 0; k < dual->n_jobs; k++) {
        const job_t *job = &dual->jobs[k];
        const int64_t *logs = &dual->share_log[job->way];
        int64_t largest = logs[0];
        uint64_t shares = 0;

        for (i = 1; i < job->n_paths; i++) {
            largest = logs[i] > largest ? logs[i] : largest;
        }
        for (i = 0; i < job->n_paths; i++) {
            shares += exp2_negative(largest - logs[i]) >> (PRICE_BITS - SHARE_BITS);
        }
        for (i = 0; i < job->n_paths; i++) {
            uint64_t share = exp2_negative(largest - logs[i]) >> (PRICE_BITS - SHARE_BITS);

            add_load(dual, job, job->first + i, share, shares);
        }
    }
}

static void move_prices(vp_dual_t *dual)
{
    uint64_t largest = 1;
    size_t p;

    for (p = 0; p < dual->n_ports; p++) {
        largest = dual->load[p] > largest ? dual->load[p] : largest;
    }
    for (p = 0; p < dual->n_ports; p++) {
        int64_t load = (int64_t)(dual->load[p] * ONE / largest);

        dual->port_log[p] += PRICE_RATE * (2 * load - dual->last_load[p]) / ONE;
        dual->last_load[p] = load;
    }
}

static bool always_uses(const vp_model_t *model, const job_t *job, uint32_t resource)
{
    uint32_t i;
    uint32_t q;

    for (i = 0; i < job->n_paths; i++) {
        const vp_instance_t *instance = &model->instances[job->first + i];

        for (q = 0; q < instance->n_resources && instance->resources[q] != resource; q++) {
        }
        if (q == instance->n_resources) {
            return false;
        }
    }
    return true;
}

static void add_total(const vp_dual_t *dual, vp_uint128_t *port_total, size_t port,
                      vp_uint128_t work)
{
    port_total[port] += work * dual->port_cost[port];
}

/* The best bound that one port alone gives: all its price on a port that pairs cannot avoid. */
static vp_uint128_t single_port_bound(const vp_dual_t *dual, vp_uint128_t *port_total)
{
    vp_uint128_t best = 0;
    size_t k;
    size_t p;
    uint32_t i;

    for (k = 0; k < dual->n_jobs; k++) {
        const job_t *job = &dual->jobs[k];
        const vp_instance_t *instance = &dual->model->instances[job->first];
        uint64_t cheapest = UINT64_MAX;
        vp_uint128_t work;

        for (i = 0; i < job->n_paths; i++) {
            uint64_t cost = cost_of(dual, job, job->first + i);

            cheapest = cost < cheapest ? cost : cheapest;
        }
        work = (vp_uint128_t)job->amount * cheapest;
        add_total(dual, port_total, out_port(job), work);
        add_total(dual, port_total, in_port(dual, job), work);
        for (i = 0; i < instance->n_resources; i++) {
            if (always_uses(dual->model, job, instance->resources[i])) {
                add_total(dual, port_total, resource_port(dual, instance->resources[i]), work);
            }
        }
    }
    for (p = 0; p < dual->n_ports; p++) {
        best = port_total[p] > best ? port_total[p] : best;
    }
    return best;
}

/* Forgets the last game and sets amounts, unit costs and the loads' scale of the next. */
static void start_game(vp_dual_t *dual, vp_dual_amount_t amount, const uint64_t *unit_cost)
{
    vp_uint128_t work = 0;
    size_t k;
    size_t i;
    uint32_t r;

    dual->unit_cost = unit_cost;
    for (k = 0; k < dual->n_jobs; k++) {
        uint64_t dearest = 0;

        dual->jobs[k].amount = amount == VP_DUAL_BYTES ? dual->jobs[k].n_bytes : 1;
        dual->jobs[k].extra = dual->lane_cost / dual->jobs[k].amount;
        for (r = 0; r < dual->jobs[k].n_paths; r++) {
            uint64_t cost = cost_of(dual, &dual->jobs[k], dual->jobs[k].first + r);

            dearest = cost > dearest ? cost : dearest;
        }
        work += (vp_uint128_t)dual->jobs[k].amount * dearest * dual->dearest_port;
    }
    dual->load_shift = 0;
    while (work >> dual->load_shift >> LOAD_BITS != 0) {
        dual->load_shift++;
    }
    for (i = 0; i < dual->n_ports; i++) {
        dual->port_log[i] = 0;
        dual->last_load[i] = 0;
    }
    for (i = 0; i < dual->n_ways; i++) {
        dual->share_log[i] = 0;
        dual->last_cost[i] = 0;
    }
}

void vp_dual_set_port_costs(vp_dual_t *dual, uint64_t rank_cost, const uint64_t *resource_cost)
{
    size_t first_resource = resource_port(dual, 0);
    size_t p;

    dual->dearest_port = rank_cost;
    for (p = 0; p < dual->n_ports; p++) {
        dual->port_cost[p] = p < first_resource ? rank_cost : resource_cost[p - first_resource];
        dual->dearest_port =
            dual->port_cost[p] > dual->dearest_port ? dual->port_cost[p] : dual->dearest_port;
    }
}

void vp_dual_set_lane_cost(vp_dual_t *dual, uint64_t lane_cost)
{
    dual->lane_cost = lane_cost;
}

vp_status_t vp_dual_solve(vp_dual_t *dual, vp_dual_amount_t amount, const uint64_t *unit_cost,
                          uint32_t n_sweeps, vp_uint128_t *best_p, vp_error_t *error)
{
    vp_uint128_t *port_total = vp_array_new(dual->n_ports, sizeof(*port_total));
    vp_uint128_t best;
    uint32_t sweep;

    if (port_total == NULL) {
        return vp_error_no_memory(error, "the port loads of a bound");
    }
    start_game(dual, amount, unit_cost);
    best = single_port_bound(dual, port_total);
    free(port_total);
    for (sweep = 0; sweep < n_sweeps; sweep++) {
        vp_uint128_t bound;

        set_loads(dual);
        move_prices(dual);
        bound = price_paths(dual, set_prices(dual));
        best = bound > best ? bound : best;
        move_shares(dual);
    }
    *best_p = best;
    return VP_OK;
}

static vp_status_t collect_jobs(vp_dual_t *dual, const uint64_t *demand_bytes, vp_error_t *error)
{
    uint32_t n_ranks = dual->model->n_ranks;
    size_t capacity = 0;
    size_t pair;

    for (pair = 0; pair < (size_t)n_ranks * n_ranks; pair++) {
        uint32_t source = (uint32_t)(pair / n_ranks);
        uint32_t destination = (uint32_t)(pair % n_ranks);
        job_t *job;
        uint32_t end;

        if (source == destination || demand_bytes[pair] == 0) {
            continue;
        }
        if (!vp_array_reserve(&dual->jobs, &capacity, dual->n_jobs + 1, sizeof(*dual->jobs))) {
            return vp_error_no_memory(error, "the pairs of a bound");
        }
        job = &dual->jobs[dual->n_jobs++];
        job->source = source;
        job->destination = destination;
        job->n_bytes = demand_bytes[pair];
        job->way = dual->n_ways;
        vp_rank_pair_instances(dual->model, source, destination, &job->first, &end);
        job->n_paths = end - job->first;
        dual->n_ways += job->n_paths;
    }
    return VP_OK;
}

static bool make_room(vp_dual_t *dual)
{
    const vp_model_t *model = dual->model;

    size_t p;

    dual->n_ports = 2 * (size_t)model->n_ranks + model->n_resources;
    dual->port_cost = vp_array_new(dual->n_ports, sizeof(*dual->port_cost));
    dual->instance_price = vp_array_new(model->n_instances, sizeof(*dual->instance_price));
    dual->price = vp_array_new(dual->n_ports, sizeof(*dual->price));
    dual->load = vp_array_new(dual->n_ports, sizeof(*dual->load));
    dual->port_log = vp_array_new(dual->n_ports, sizeof(*dual->port_log));
    dual->last_load = vp_array_new(dual->n_ports, sizeof(*dual->last_load));
    dual->share_log = vp_array_new(dual->n_ways, sizeof(*dual->share_log));
    dual->last_cost = vp_array_new(dual->n_ways, sizeof(*dual->last_cost));
    dual->way_cost = vp_array_new(dual->n_ways, sizeof(*dual->way_cost));
    for (p = 0; dual->port_cost != NULL && p < dual->n_ports; p++) {
        dual->port_cost[p] = 1;
    }
    dual->dearest_port = 1;
    return dual->port_cost != NULL && dual->instance_price != NULL && dual->price != NULL &&
           dual->load != NULL && dual->port_log != NULL && dual->last_load != NULL &&
           dual->share_log != NULL && dual->last_cost != NULL && dual->way_cost != NULL;
}

vp_status_t vp_dual_create(const vp_model_t *model, const uint64_t *demand_bytes,
                           vp_dual_t **dual_p, vp_error_t *error)
{
    vp_dual_t *dual = vp_array_new(1, sizeof(*dual));
    vp_status_t status;

    if (dual == NULL) {
        return vp_error_no_memory(error, "a bound");
    }
    dual->model = model;
    status = collect_jobs(dual, demand_bytes, error);
    if (status == VP_OK && !make_room(dual)) {
        status = vp_error_no_memory(error, "a bound");
    }
    if (status != VP_OK) {
        vp_dual_destroy(dual);
        return status;
    }
    *dual_p = dual;
    return VP_OK;
}

void vp_dual_destroy(vp_dual_t *dual)
{
    if (dual == NULL) {
        return;
    }
    free(dual->way_cost);
    free(dual->last_cost);
    free(dual->share_log);
    free(dual->last_load);
    free(dual->port_log);
    free(dual->load);
    free(dual->price);
    free(dual->instance_price);
    free(dual->port_cost);
    free(dual->jobs);
    free(dual);
}
