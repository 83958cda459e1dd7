/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/jobs.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "scheduler/demand_check.h"

/* Overheads count for at most this many ticks, so that sums of them stay below 2^62. */
#define MAX_ALPHA_TICKS (UINT64_C(1) << 36)

/* All bytes one after the other on the slowest way take less than this. */
enum { MAX_TOTAL_BITS = 61 };

/* Copies that an activation could use at all: more are never scarce. */
static bool is_scarce(const vp_model_t *model, const vp_instance_t *instance)
{
    uint32_t from = model->groups[instance->from_group].n_ranks;
    uint32_t to = model->groups[instance->to_group].n_ranks;

    return instance->n_resources == 0 && instance->n_copies < (from < to ? from : to);
}

/*
 * Over NICs, but longer than another way over NICs of the same pair. An exclusive
 * lane there keeps all its links from others: in what was tried, planners of
 * exclusive lanes made slower plans with such ways.
 */
static bool is_detour(const vp_model_t *model, const vp_instance_t *instance)
{
    size_t pair = vp_pair(model, instance->from_group, instance->to_group);
    uint32_t r;

    for (r = model->pair_begin[pair];
         instance->kind == VP_PATH_NIC && r < model->pair_begin[pair + 1]; r++) {
        if (model->instances[r].kind == VP_PATH_NIC &&
            model->instances[r].n_resources < instance->n_resources) {
            return true;
        }
    }
    return false;
}

static uint32_t n_ways_of(const vp_model_t *model, const vp_instance_t *instance)
{
    if (is_detour(model, instance)) {
        return 0;
    }
    return is_scarce(model, instance) ? instance->n_copies : 1;
}

/* Whether two instances of a group pair carry a pair's bytes faster together than the better. */
static bool is_bundle(const vp_model_t *model, const vp_instance_t *a, const vp_instance_t *b)
{
    uint64_t best = a->bytes_per_s > b->bytes_per_s ? a->bytes_per_s : b->bytes_per_s;
    uint32_t i;
    uint32_t k;

    if (is_scarce(model, a) || is_scarce(model, b) || is_detour(model, a) || is_detour(model, b) ||
        best >= model->gpu_link_bytes_per_s || a->n_resources + b->n_resources > VP_MAX_FOOTPRINT) {
        return false;
    }
    for (i = 0; i < a->n_resources; i++) {
        for (k = 0; k < b->n_resources; k++) {
            if (a->resources[i] == b->resources[k]) {
                return false;
            }
        }
    }
    return true;
}

static uint32_t n_bundles_of(const vp_model_t *model, size_t pair)
{
    uint32_t n = 0;
    uint32_t r;
    uint32_t q;

    for (r = model->pair_begin[pair]; r < model->pair_begin[pair + 1]; r++) {
        for (q = r + 1; q < model->pair_begin[pair + 1]; q++) {
            n += is_bundle(model, &model->instances[r], &model->instances[q]);
        }
    }
    return n;
}

static uint64_t slowest_rate(const vp_model_t *model)
{
    uint64_t slowest = UINT64_MAX;
    uint32_t r;

    for (r = 0; r < model->n_instances; r++) {
        uint64_t rate = model->instances[r].bytes_per_s;

        slowest = rate < slowest ? rate : slowest;
    }
    return slowest;
}

static void choose_tick(vp_jobs_t *jobs, uint64_t alpha_ns)
{
    vp_uint128_t n_pairs = (vp_uint128_t)jobs->model->n_ranks * jobs->model->n_ranks;
    vp_uint128_t ns =
        (jobs->total_bytes + n_pairs * jobs->chunk_bytes) * VP_NS_PER_S / slowest_rate(jobs->model);
    uint64_t ticks;

    while (ns >> jobs->tick_shift >> MAX_TOTAL_BITS != 0) {
        jobs->tick_shift++;
    }
    ticks = (alpha_ns >> jobs->tick_shift) +
            ((alpha_ns & ((UINT64_C(1) << jobs->tick_shift) - 1)) != 0);
    jobs->alpha_ticks = ticks < MAX_ALPHA_TICKS ? ticks : MAX_ALPHA_TICKS;
}

static void set_rate(const vp_jobs_t *jobs, vp_way_t *way, uint64_t bytes_per_s)
{
    vp_uint128_t ticks = ((vp_uint128_t)VP_NS_PER_S << VP_JOBS_RATE_BITS) >> jobs->tick_shift;

    way->bytes_per_s = bytes_per_s;
    way->chunk_bytes = jobs->chunk_bytes;
    way->ticks_per_byte = (uint64_t)(ticks / bytes_per_s + 1);
}

static void set_way(const vp_jobs_t *jobs, vp_way_t *way, uint32_t r, bool scarce, uint32_t *port_p)
{
    const vp_instance_t *instance = &jobs->model->instances[r];
    uint32_t i;

    way->instance = r;
    way->partner = VP_NO_PARTNER;
    set_rate(jobs, way, instance->bytes_per_s);
    way->n_ports = instance->n_resources;
    for (i = 0; i < instance->n_resources; i++) {
        way->ports[i] = 2 * jobs->model->n_ranks + instance->resources[i];
    }
    if (scarce) {
        way->ports[way->n_ports++] = (*port_p)++;
    }
}

/* A way over an instance and its partner at once. */
static void set_bundle(const vp_jobs_t *jobs, vp_way_t *way, uint32_t r, uint32_t partner)
{
    const vp_instance_t *second = &jobs->model->instances[partner];
    uint64_t link = jobs->model->gpu_link_bytes_per_s;
    uint64_t sum = jobs->model->instances[r].bytes_per_s + second->bytes_per_s;
    uint32_t i;

    set_way(jobs, way, r, false, NULL);
    way->partner = partner;
    set_rate(jobs, way, sum < link ? sum : link);
    for (i = 0; i < second->n_resources; i++) {
        way->ports[way->n_ports++] = 2 * jobs->model->n_ranks + second->resources[i];
    }
}

/* Fills the ways of a group pair over two instances; returns where the next way goes. */
static uint32_t fill_bundles(vp_jobs_t *jobs, size_t pair, uint32_t w)
{
    const vp_model_t *model = jobs->model;
    uint32_t r;
    uint32_t q;

    for (r = model->pair_begin[pair]; r < model->pair_begin[pair + 1]; r++) {
        for (q = r + 1; q < model->pair_begin[pair + 1]; q++) {
            if (is_bundle(model, &model->instances[r], &model->instances[q])) {
                set_bundle(jobs, &jobs->ways[w++], r, q);
            }
        }
    }
    return w;
}

static void fill_ways(vp_jobs_t *jobs)
{
    const vp_model_t *model = jobs->model;
    size_t n_pairs = vp_pair(model, model->n_groups, 0);
    uint32_t port = 2 * model->n_ranks + model->n_resources;
    uint32_t w = 0;
    size_t pair;

    for (pair = 0; pair < n_pairs; pair++) {
        uint32_t r;

        jobs->pair_ways[pair] = w;
        for (r = model->pair_begin[pair]; r < model->pair_begin[pair + 1]; r++) {
            uint32_t end = w + n_ways_of(model, &model->instances[r]);

            for (; w < end; w++) {
                set_way(jobs, &jobs->ways[w], r, is_scarce(model, &model->instances[r]), &port);
            }
        }
        w = jobs->shares_ports ? fill_bundles(jobs, pair, w) : w;
    }
    jobs->pair_ways[n_pairs] = w;
}

static void mark_arrivals(vp_jobs_t *jobs)
{
    const vp_model_t *model = jobs->model;
    uint32_t i;

    for (i = 0; i < model->n_ranks; i++) {
        jobs->arrives[model->n_ranks + i] = true;
    }
    for (i = 0; i < model->n_resources; i++) {
        vp_resource_kind_t kind = model->resources[i].kind;

        jobs->arrives[2 * model->n_ranks + i] =
            kind == VP_RESOURCE_DOWNLINK || kind == VP_RESOURCE_NIC_RX;
    }
}

static vp_status_t make_ways(vp_jobs_t *jobs, vp_error_t *error)
{
    const vp_model_t *model = jobs->model;
    size_t n_pairs = vp_pair(model, model->n_groups, 0);
    size_t pair;
    uint32_t r;

    jobs->n_ports = 2 * model->n_ranks + model->n_resources;
    for (r = 0; r < model->n_instances; r++) {
        uint32_t n_ways = n_ways_of(model, &model->instances[r]);

        jobs->n_ways += n_ways;
        jobs->n_ports += is_scarce(model, &model->instances[r]) ? n_ways : 0;
    }
    for (pair = 0; jobs->shares_ports && pair < n_pairs; pair++) {
        jobs->n_ways += n_bundles_of(model, pair);
    }
    jobs->ways = vp_pool_take_zeroed(jobs->pool, jobs->n_ways, sizeof(*jobs->ways));
    jobs->pair_ways = vp_pool_take(jobs->pool, n_pairs + 1, sizeof(*jobs->pair_ways));
    jobs->arrives = vp_array_new(jobs->n_ports, sizeof(*jobs->arrives));
    if (jobs->ways == NULL || jobs->pair_ways == NULL || jobs->arrives == NULL) {
        return vp_error_no_memory(error, "the ways of a machine");
    }
    fill_ways(jobs);
    mark_arrivals(jobs);
    return VP_OK;
}

static void count_jobs(vp_jobs_t *jobs, const uint64_t *demand_bytes)
{
    const vp_model_t *model = jobs->model;
    uint32_t source;
    uint32_t destination;

    for (source = 0; source < model->n_ranks; source++) {
        const uint64_t *row = demand_bytes + (size_t)source * model->n_ranks;
        size_t pair = vp_pair(model, model->rank_group[source], 0);

        for (destination = 0; destination < model->n_ranks; destination++) {
            const uint32_t *ways = &jobs->pair_ways[pair + model->rank_group[destination]];
            bool is_job = row[destination] != 0 && source != destination;

            jobs->n_jobs += is_job;
            jobs->n_single += is_job && ways[1] - ways[0] == 1;
        }
    }
}

static void fill_jobs(vp_jobs_t *jobs, const uint64_t *demand_bytes)
{
    const vp_model_t *model = jobs->model;
    size_t single = 0;
    size_t several = jobs->n_single;
    uint32_t source;
    uint32_t destination;

    for (source = 0; source < model->n_ranks; source++) {
        const uint64_t *row = demand_bytes + (size_t)source * model->n_ranks;
        size_t pair = vp_pair(model, model->rank_group[source], 0);

        for (destination = 0; destination < model->n_ranks; destination++) {
            const uint32_t *ways = &jobs->pair_ways[pair + model->rank_group[destination]];
            vp_job_t *job;

            if (row[destination] == 0 || source == destination) {
                continue;
            }
            job = &jobs->jobs[ways[1] - ways[0] == 1 ? single++ : several++];
            job->n_bytes = row[destination];
            job->first_way = ways[0];
            job->n_ways = (uint16_t)(ways[1] - ways[0]);
            job->ticks = vp_way_ticks(&jobs->ways[ways[0]], job->n_bytes);
            job->source = (uint16_t)source;
            job->destination = (uint16_t)destination;
        }
    }
}

static int compare_jobs(const void *a_p, const void *b_p)
{
    const vp_job_t *a = a_p;
    const vp_job_t *b = b_p;

    if (a->n_bytes != b->n_bytes) {
        return a->n_bytes > b->n_bytes ? -1 : 1;
    }
    if (a->source != b->source) {
        return a->source < b->source ? -1 : 1;
    }
    return a->destination < b->destination ? -1 : a->destination > b->destination;
}

static void load_ports(vp_jobs_t *jobs)
{
    size_t j;

    for (j = 0; j < jobs->n_single; j++) {
        const vp_job_t *job = &jobs->jobs[j];
        uint32_t ports[VP_JOBS_MAX_PORTS];
        uint32_t n_ports =
            vp_jobs_ports(jobs, job->source, job->destination, job->first_way, ports);
        uint32_t i;

        for (i = 0; i < n_ports; i++) {
            jobs->single_load[ports[i]].ticks += job->ticks;
            jobs->single_load[ports[i]].count++;
        }
    }
}

static vp_status_t make_jobs(vp_jobs_t *jobs, const uint64_t *demand_bytes, vp_error_t *error)
{
    count_jobs(jobs, demand_bytes);
    jobs->jobs = vp_pool_take(jobs->pool, jobs->n_jobs, sizeof(*jobs->jobs));
    jobs->single_load = vp_array_new(jobs->n_ports, sizeof(*jobs->single_load));
    if (jobs->jobs == NULL || jobs->single_load == NULL) {
        return vp_error_no_memory(error, "the pairs of a demand");
    }
    fill_jobs(jobs, demand_bytes);
    load_ports(jobs);
    if (jobs->n_jobs > jobs->n_single) {
        qsort(jobs->jobs + jobs->n_single, jobs->n_jobs - jobs->n_single, sizeof(*jobs->jobs),
              compare_jobs);
    }
    return VP_OK;
}

vp_status_t vp_jobs_refuse_fix(const vp_schedule_options_t *options, const char *planner,
                               vp_error_t *error)
{
    if (options->fix == VP_FIX_NONE) {
        return VP_OK;
    }
    return vp_error_set(error, VP_ERR_UNSUPPORTED,
                        "the planner \"%s\" cannot keep peers or paths fixed; there is no plan, "
                        "use the planner \"paper\" for ablations",
                        planner);
}

/* model, shares_ports and contention are set, all else is zero. */
static vp_status_t init(vp_jobs_t *jobs, const uint64_t *demand_bytes, uint64_t alpha_ns,
                        vp_error_t *error)
{
    vp_status_t status = vp_demand_check(jobs->model, demand_bytes, &jobs->total_bytes, error);

    if (status != VP_OK) {
        return status;
    }
    choose_tick(jobs, alpha_ns);
    status = make_ways(jobs, error);
    if (status == VP_OK) {
        status = make_jobs(jobs, demand_bytes, error);
    }
    if (status != VP_OK) {
        vp_jobs_release(jobs);
    }
    return status;
}

vp_status_t vp_jobs_check_chunk(uint64_t chunk_bytes, vp_error_t *error)
{
    if (chunk_bytes > 0 && chunk_bytes <= VP_MAX_CHUNK_BYTES &&
        (chunk_bytes & (chunk_bytes - 1)) == 0) {
        return VP_OK;
    }
    return vp_error_set(error, VP_ERR_USAGE,
                        "blocks cannot be cut at multiples of %llu bytes; give a power of two up "
                        "to %llu",
                        (unsigned long long)chunk_bytes, (unsigned long long)VP_MAX_CHUNK_BYTES);
}

static void set_chunk(vp_jobs_t *jobs, uint64_t chunk_bytes)
{
    jobs->chunk_bytes = chunk_bytes;
    jobs->min_cut_bytes = VP_JOBS_MIN_CUT_CHUNKS * chunk_bytes;
}

vp_status_t vp_jobs_init(vp_jobs_t *jobs, const vp_model_t *model, const uint64_t *demand_bytes,
                         uint64_t alpha_ns, vp_error_t *error)
{
    *jobs = (vp_jobs_t){.model = model, .contention = VP_LINKS_IDEAL};
    set_chunk(jobs, VP_CHUNK_BYTES);
    return init(jobs, demand_bytes, alpha_ns, error);
}

vp_status_t vp_jobs_open(vp_jobs_t *jobs, const vp_model_t *model, const uint64_t *demand_bytes,
                         const vp_schedule_options_t *options, vp_error_t *error)
{
    vp_status_t status;

    *jobs = (vp_jobs_t){
        .model = model, .pool = options->pool, .shares_ports = options->sharing == VP_SHARING_ON};
    set_chunk(jobs, options->chunk_bytes != 0 ? options->chunk_bytes : VP_CHUNK_BYTES);
    status = vp_jobs_check_chunk(jobs->chunk_bytes, error);
    if (status != VP_OK) {
        return status;
    }
    status = vp_links_find(model, options->links, &jobs->contention, error);
    return status == VP_OK ? init(jobs, demand_bytes, options->alpha_ns, error) : status;
}

void vp_jobs_release(vp_jobs_t *jobs)
{
    free(jobs->arrives);
    free(jobs->single_load);
    vp_pool_give(jobs->pool, jobs->jobs);
    vp_pool_give(jobs->pool, jobs->pair_ways);
    vp_pool_give(jobs->pool, jobs->ways);
    *jobs = (vp_jobs_t){0};
}

uint64_t vp_way_first_bytes(const vp_jobs_t *jobs, const vp_way_t *way, uint64_t n_bytes)
{
    uint64_t first;
    uint64_t sum;

    if (way->partner == VP_NO_PARTNER || n_bytes < 2 * jobs->min_cut_bytes) {
        return n_bytes;
    }
    first = jobs->model->instances[way->instance].bytes_per_s;
    sum = first + jobs->model->instances[way->partner].bytes_per_s;
    first = vp_muldiv_floor(n_bytes, first, sum);
    first -= first % jobs->chunk_bytes;
    if (first < jobs->min_cut_bytes || n_bytes - first < jobs->min_cut_bytes) {
        return n_bytes;
    }
    return first;
}

uint64_t vp_way_bytes_in(const vp_way_t *way, uint64_t ticks)
{
    uint64_t n_bytes =
        vp_muldiv_floor(ticks, UINT64_C(1) << VP_JOBS_RATE_BITS, way->ticks_per_byte);

    return n_bytes & ~(way->chunk_bytes - 1);
}
