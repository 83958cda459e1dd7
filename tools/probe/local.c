/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/local.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/units.h"
#include "tools/probe/flows.h"

enum { PPM = 1000000 };
enum { MIN_BYTES = 1 << 18, FIRST_BYTES = 1 << 20, MAX_REPEATS = 1000, MAX_TIMES = 1000 };

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* How often, and how much at once, so that a measurement takes about as long as wanted. */
static void size_copies(const vp_probe_effort_t *effort, double bytes_per_s, size_t *n_bytes_p,
                        uint32_t *n_times_p)
{
    double bytes = bytes_per_s * effort->seconds;
    double times;

    if (bytes <= (double)effort->n_bytes) {
        *n_bytes_p = bytes < MIN_BYTES ? MIN_BYTES : (size_t)bytes;
        *n_times_p = 1;
        return;
    }
    times = bytes / (double)effort->n_bytes;
    *n_bytes_p = effort->n_bytes;
    *n_times_p = times > MAX_TIMES ? MAX_TIMES : (uint32_t)times;
}

/* Bytes per second of all copies together: the median of some tries after one to find the size. */
static vp_status_t measure(const vp_probe_local_t *local, const vp_probe_effort_t *effort,
                           const vp_probe_copy_t *copies, uint32_t n_copies, uint64_t *rate_p,
                           vp_error_t *error)
{
    size_t first = effort->n_bytes < FIRST_BYTES ? effort->n_bytes : FIRST_BYTES;
    double seconds[MAX_REPEATS];
    vp_status_t status;
    uint32_t n_times;
    size_t n_bytes;
    uint32_t i;

    status = vp_probe_gpus_run(local->gpus, copies, n_copies, first, 1, &seconds[0], error);
    if (status != VP_OK) {
        return status;
    }
    size_copies(effort, (double)first / seconds[0], &n_bytes, &n_times);
    for (i = 0; i < effort->n_repeats && status == VP_OK; i++) {
        status =
            vp_probe_gpus_run(local->gpus, copies, n_copies, n_bytes, n_times, &seconds[i], error);
    }
    if (status == VP_OK) {
        qsort(seconds, effort->n_repeats, sizeof(*seconds), compare);
        *rate_p = (uint64_t)((double)n_bytes * n_times * n_copies / seconds[i / 2]);
    }
    return status;
}

/* The driver's number of each rank's GPU: by address where the topology has them, else by order. */
static vp_status_t find_gpus(vp_probe_local_t *local, vp_error_t *error)
{
    const vp_model_t *model = local->model;
    uint32_t n_gpus = vp_probe_gpus_count(local->gpus);
    uint32_t rank, i;

    local->is_by_address = model->rank_pci != NULL;
    if (!local->is_by_address && n_gpus < local->n_ranks) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "%s has %u GPUs in a node, but the CUDA driver shows %u; give the "
                            "topology of this machine, or make all GPUs visible",
                            model->name, local->n_ranks, n_gpus);
    }
    for (rank = 0; rank < local->n_ranks; rank++) {
        local->gpu[rank] = rank;
        if (!local->is_by_address) {
            continue;
        }
        for (i = 0; i < n_gpus; i++) {
            vp_pci_t pci;

            if (vp_pci_parse(vp_probe_gpu_pci(local->gpus, i), &pci) &&
                pci == model->rank_pci[rank]) {
                break;
            }
        }
        if (i == n_gpus) {
            return vp_error_set(error, VP_ERR_BAD_INPUT,
                                "the CUDA driver does not show the GPU of rank %u of %s; give the "
                                "topology of this machine, or make all GPUs visible",
                                rank, model->name);
        }
        local->gpu[rank] = i;
    }
    return VP_OK;
}

static vp_status_t allocate(vp_probe_local_t *local, vp_error_t *error)
{
    size_t n = local->n_ranks;

    local->gpu = vp_array_new(n, sizeof(*local->gpu));
    local->write = vp_array_new(n * n, sizeof(*local->write));
    local->read = vp_array_new(n * n, sizeof(*local->read));
    local->staged = vp_array_new(n * n, sizeof(*local->staged));
    local->to_host = vp_array_new(n, sizeof(*local->to_host));
    local->from_host = vp_array_new(n, sizeof(*local->from_host));
    return local->gpu == NULL || local->write == NULL || local->read == NULL ||
                   local->staged == NULL || local->to_host == NULL || local->from_host == NULL
               ? vp_error_no_memory(error, "the figures of GPU pairs")
               : VP_OK;
}

static vp_status_t measure_pair(vp_probe_local_t *local, const vp_probe_effort_t *effort,
                                uint32_t a, uint32_t b, vp_error_t *error)
{
    size_t pair = (size_t)a * local->n_ranks + b;
    uint32_t from = local->gpu[a], to = local->gpu[b];
    vp_probe_copy_t staged[2] = {{VP_PROBE_TO_HOST, from, from}, {VP_PROBE_FROM_HOST, to, to}};
    vp_probe_copy_t copy = {VP_PROBE_WRITE, from, to};
    vp_status_t status = VP_OK;

    if (vp_probe_gpus_reach(local->gpus, from, to) == VP_PROBE_PEER) {
        status = measure(local, effort, &copy, 1, &local->write[pair], error);
    }
    copy.way = VP_PROBE_READ;
    if (status == VP_OK && vp_probe_gpus_reach(local->gpus, to, from) == VP_PROBE_PEER) {
        status = measure(local, effort, &copy, 1, &local->read[pair], error);
    }
    if (status == VP_OK) {
        status = measure(local, effort, staged, 2, &local->staged[pair], error);
        local->staged[pair] /= 2;
    }
    return status;
}

static vp_status_t measure_pairs(vp_probe_local_t *local, const vp_probe_effort_t *effort,
                                 vp_error_t *error)
{
    vp_status_t status = VP_OK;
    uint32_t a, b;

    for (a = 0; a < local->n_ranks && status == VP_OK; a++) {
        vp_probe_copy_t copy = {VP_PROBE_TO_HOST, local->gpu[a], local->gpu[a]};

        status = measure(local, effort, &copy, 1, &local->to_host[a], error);
        copy.way = VP_PROBE_FROM_HOST;
        if (status == VP_OK) {
            status = measure(local, effort, &copy, 1, &local->from_host[a], error);
        }
        for (b = 0; b < local->n_ranks && status == VP_OK; b++) {
            status = a == b ? VP_OK : measure_pair(local, effort, a, b, error);
        }
    }
    return status;
}

/* The first n flows of a load, as copies of that way. */
static bool make_copies(const vp_probe_local_t *local, const vp_probe_load_t *load, uint32_t n,
                        vp_probe_copy_t *copies)
{
    uint32_t i;

    for (i = 0; i < n; i++) {
        uint32_t from = local->gpu[load->flows[i].source];
        uint32_t to = local->gpu[load->flows[i].destination];
        bool needs_peer = load->way == VP_PROBE_WRITE || load->way == VP_PROBE_READ;
        bool is_reader = load->way == VP_PROBE_READ;

        if (needs_peer && vp_probe_gpus_reach(local->gpus, is_reader ? to : from,
                                              is_reader ? from : to) != VP_PROBE_PEER) {
            return false;
        }
        copies[i] = (vp_probe_copy_t){load->way, from, to};
    }
    return true;
}

static vp_status_t measure_load(vp_probe_local_t *local, const vp_probe_effort_t *effort,
                                const vp_probe_load_t *load, vp_error_t *error)
{
    vp_probe_copy_t copies[VP_PROBE_MAX_SOURCES];
    vp_probe_shared_t *shared;
    vp_status_t status = VP_OK;
    uint32_t n;

    if (!make_copies(local, load, load->n_flows, copies)) {
        return VP_OK;
    }
    if (!vp_array_reserve(&local->shared, &local->shared_capacity, local->n_shared + 1,
                          sizeof(*local->shared))) {
        return vp_error_no_memory(error, "the figures of shared links");
    }
    shared = &local->shared[local->n_shared];
    memset(shared, 0, sizeof(*shared));
    memcpy(shared->name, load->name, sizeof(shared->name));
    shared->resource = load->resource;
    shared->table = load->table;
    shared->way = load->way;
    shared->n_sources = load->n_flows;
    for (n = 1; n <= load->n_flows && status == VP_OK; n++) {
        status = measure(local, effort, copies, n, &shared->bytes_per_s[n - 1], error);
    }
    local->n_shared += status == VP_OK;
    return status;
}

static vp_status_t measure_loads(vp_probe_local_t *local, const vp_probe_effort_t *effort,
                                 vp_error_t *error)
{
    vp_probe_load_t *loads = NULL;
    size_t n_loads = 0;
    vp_status_t status = vp_probe_loads(local->model, &loads, &n_loads, error);
    size_t i;

    for (i = 0; i < n_loads && status == VP_OK; i++) {
        status = measure_load(local, effort, &loads[i], error);
    }
    free(loads);
    return status;
}

/*
 * A link is as wide as it was ever seen, and its users never ask for more than each of them gets
 * alone: what is missing is lost to contention.
 */
void vp_probe_shares(const uint64_t *bytes_per_s, uint32_t n, uint32_t *share_ppm)
{
    uint64_t own = 0;
    uint32_t i;

    for (i = 0; i < n; i++) {
        own = bytes_per_s[i] > own ? bytes_per_s[i] : own;
    }
    for (i = 0; i < n; i++) {
        uint64_t asked = vp_mul_sat(bytes_per_s[0], i + 1);
        uint64_t most = asked < own ? asked : own;

        share_ppm[i] =
            bytes_per_s[i] >= most ? PPM : (uint32_t)vp_muldiv_ceil(bytes_per_s[i], PPM, most);
    }
}

static int compare_shares(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Median share of all links of a table with k sources; false: none had so many. */
static bool median_share(const vp_probe_local_t *local, uint32_t table, uint32_t k, uint32_t *list,
                         uint32_t *share_p)
{
    uint32_t own[VP_PROBE_MAX_SOURCES];
    size_t n = 0;
    size_t i;

    for (i = 0; i < local->n_shared; i++) {
        const vp_probe_shared_t *it = &local->shared[i];

        if (it->table == table && it->n_sources >= k) {
            vp_probe_shares(it->bytes_per_s, it->n_sources, own);
            list[n++] = own[k - 1];
        }
    }
    qsort(list, n, sizeof(*list), compare_shares);
    *share_p = n == 0 ? 0 : list[n / 2];
    return n > 0;
}

static vp_status_t make_tables(vp_probe_local_t *local, vp_error_t *error)
{
    uint32_t *list = vp_array_new(local->n_shared + 1, sizeof(*list));
    uint32_t table;

    if (list == NULL) {
        return vp_error_no_memory(error, "the contention tables");
    }
    for (table = 0; table < VP_N_CONTENTION_TABLES; table++) {
        uint32_t *share = local->contention.share_ppm[table];
        uint32_t k = 0;

        while (k < VP_PROBE_MAX_SOURCES && median_share(local, table, k + 1, list, &share[k])) {
            k++;
        }
        share[0] = PPM;
        local->contention.n_entries[table] = k == 0 ? 1 : k;
    }
    free(list);
    return VP_OK;
}

vp_status_t vp_probe_local(const vp_model_t *model, const vp_probe_effort_t *effort,
                           vp_probe_local_t *local, vp_error_t *error)
{
    vp_status_t status;
    uint32_t i;

    *local = (vp_probe_local_t){.model = model};
    for (i = 0; i < model->n_groups; i++) {
        local->n_ranks += model->groups[i].node == 0 ? model->groups[i].n_ranks : 0;
    }
    status = allocate(local, error);
    if (status == VP_OK) {
        status = vp_probe_gpus_open(effort->n_bytes, &local->gpus, error);
    }
    if (status == VP_OK) {
        status = find_gpus(local, error);
    }
    if (status == VP_OK) {
        status = measure_pairs(local, effort, error);
    }
    if (status == VP_OK) {
        status = measure_loads(local, effort, error);
    }
    if (status == VP_OK) {
        status = make_tables(local, error);
    }
    if (status != VP_OK) {
        vp_probe_local_clear(local);
    }
    return status;
}

void vp_probe_local_clear(vp_probe_local_t *local)
{
    vp_probe_gpus_close(local->gpus);
    free(local->gpu);
    free(local->write);
    free(local->read);
    free(local->staged);
    free(local->to_host);
    free(local->from_host);
    free(local->shared);
    *local = (vp_probe_local_t){0};
}
