/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/alignment.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/units.h"
#include "scheduler/alignment_cuts.h"
#include "scheduler/demand_check.h"

/* Jobs that cannot avoid a port, with their least times, longest first. */
typedef struct port {
    size_t n_jobs;
    size_t capacity;
    uint64_t *ns;  /* [n_jobs] */
    uint64_t *sum; /* [n_jobs + 1] of the longest so many */
} port_t;

typedef struct alignment {
    const vp_model_t *model;
    size_t n_ports;
    size_t max_jobs;
    port_t *ports;
    vp_cuts_t cuts;
    uint64_t *length; /* [2 * max_jobs + 1] least length of the activation of each rank */
} alignment_t;

static void release(alignment_t *alignment)
{
    size_t p;

    for (p = 0; alignment->ports != NULL && p < alignment->n_ports; p++) {
        free(alignment->ports[p].sum);
        free(alignment->ports[p].ns);
    }
    vp_cuts_release(&alignment->cuts);
    free(alignment->length);
    free(alignment->ports);
}

static bool add(port_t *port, uint64_t ns)
{
    if (!vp_array_reserve(&port->ns, &port->capacity, port->n_jobs + 1, sizeof(*port->ns))) {
        return false;
    }
    port->ns[port->n_jobs++] = ns;
    return true;
}

static bool uses(const vp_instance_t *instance, uint32_t resource)
{
    uint32_t i;

    for (i = 0; i < instance->n_resources && instance->resources[i] != resource; i++) {
    }
    return i < instance->n_resources;
}

static bool add_pair(alignment_t *alignment, uint32_t source, uint32_t destination,
                     uint64_t n_bytes)
{
    const vp_model_t *model = alignment->model;
    port_t *resources = alignment->ports + 2 * (size_t)model->n_ranks;
    const vp_instance_t *any;
    uint64_t fastest = 1;
    uint64_t ns;
    uint32_t first;
    uint32_t end;
    uint32_t r;
    uint32_t i;

    vp_rank_pair_instances(model, source, destination, &first, &end);
    any = &model->instances[first];
    for (r = first; r < end; r++) {
        uint64_t rate = model->instances[r].bytes_per_s;

        fastest = rate > fastest ? rate : fastest;
    }
    ns = vp_muldiv_floor(n_bytes, VP_NS_PER_S, fastest);
    for (i = 0; i < any->n_resources; i++) {
        for (r = first + 1; r < end && uses(&model->instances[r], any->resources[i]); r++) {
        }
        if (r == end && !add(&resources[any->resources[i]], ns)) {
            return false;
        }
    }
    return add(&alignment->ports[source], ns) &&
           add(&alignment->ports[(size_t)model->n_ranks + destination], ns);
}

static int compare_descending(const void *a_p, const void *b_p)
{
    uint64_t a = *(const uint64_t *)a_p;
    uint64_t b = *(const uint64_t *)b_p;

    return a > b ? -1 : a < b;
}

static bool finish_port(port_t *port)
{
    size_t i;

    port->sum = vp_array_new(port->n_jobs + 1, sizeof(*port->sum));
    if (port->sum == NULL) {
        return false;
    }
    if (port->n_jobs > 0) {
        qsort(port->ns, port->n_jobs, sizeof(*port->ns), compare_descending);
    }
    for (i = 0; i < port->n_jobs; i++) {
        port->sum[i + 1] = vp_add_sat(port->sum[i], port->ns[i]);
    }
    return true;
}

static bool init(alignment_t *alignment, const vp_model_t *model, const uint64_t *demand_bytes)
{
    size_t n_pairs = (size_t)model->n_ranks * model->n_ranks;
    size_t pair;
    size_t p;

    alignment->model = model;
    alignment->n_ports = 2 * (size_t)model->n_ranks + model->n_resources;
    alignment->ports = vp_array_new(alignment->n_ports, sizeof(*alignment->ports));
    if (alignment->ports == NULL) {
        return false;
    }
    for (pair = 0; pair < n_pairs; pair++) {
        uint32_t source = (uint32_t)(pair / model->n_ranks);
        uint32_t destination = (uint32_t)(pair % model->n_ranks);

        if (source != destination && demand_bytes[pair] > 0 &&
            !add_pair(alignment, source, destination, demand_bytes[pair])) {
            return false;
        }
    }
    for (p = 0; p < alignment->n_ports; p++) {
        if (!finish_port(&alignment->ports[p])) {
            return false;
        }
        if (alignment->ports[p].n_jobs > alignment->max_jobs) {
            alignment->max_jobs = alignment->ports[p].n_jobs;
        }
    }
    alignment->length = vp_array_new(2 * alignment->max_jobs + 1, sizeof(*alignment->length));
    return alignment->length != NULL;
}

/* Least lengths of the activations of n, by rank from 0. */
static void set_lengths(alignment_t *alignment, size_t n)
{
    size_t j;
    size_t p;

    for (j = 0; j < n; j++) {
        alignment->length[j] = 0;
    }
    for (p = 0; p < alignment->n_ports; p++) {
        const port_t *port = &alignment->ports[p];
        size_t spare = n - port->n_jobs;

        for (j = 0; spare + j < port->n_jobs; j++) {
            uint64_t ns = port->ns[spare + j];

            alignment->length[j] = ns > alignment->length[j] ? ns : alignment->length[j];
        }
    }
    vp_cuts_raise(&alignment->cuts, n, alignment->length);
}

/* Least total length of n activations, n at least as many as any port has jobs. */
static uint64_t total_length(alignment_t *alignment, size_t n)
{
    uint64_t best = 0;
    uint64_t rest = 0; /* of activations after the first c */
    size_t c;
    size_t p;

    set_lengths(alignment, n);
    for (c = n + 1; c-- > 0;) {
        uint64_t first = 0;

        for (p = 0; p < alignment->n_ports; p++) {
            const port_t *port = &alignment->ports[p];
            size_t spare = n - port->n_jobs;
            uint64_t sum = c > spare ? port->sum[c - spare] : 0;

            first = sum > first ? sum : first;
        }
        best = vp_add_sat(first, rest) > best ? vp_add_sat(first, rest) : best;
        rest = c > 0 ? vp_add_sat(rest, alignment->length[c - 1]) : rest;
    }
    return best;
}

/* The least over the number of activations; from 2 * max_jobs on only alpha grows. */
static uint64_t search(alignment_t *alignment, uint64_t alpha_ns, const vp_bound_t *bound)
{
    uint64_t best = UINT64_MAX;
    size_t n = bound->kmin > alignment->max_jobs ? bound->kmin : alignment->max_jobs;

    for (; n <= 2 * alignment->max_jobs; n++) {
        uint64_t overhead = vp_mul_sat(alpha_ns, n);
        uint64_t ns;

        if (vp_add_sat(overhead, bound->lp_ns) >= best) {
            return best;
        }
        ns = total_length(alignment, n);
        ns = vp_add_sat(overhead, ns > bound->lp_ns ? ns : bound->lp_ns);
        best = ns < best ? ns : best;
    }
    if (vp_add_sat(vp_mul_sat(alpha_ns, n), bound->lp_ns) < best) {
        best = vp_add_sat(vp_mul_sat(alpha_ns, n), bound->lp_ns);
    }
    return best;
}

vp_status_t vp_alignment_bound(const vp_model_t *model, const uint64_t *demand_bytes,
                               uint64_t alpha_ns, const vp_bound_t *bound, uint64_t *bound_ns_p,
                               vp_error_t *error)
{
    alignment_t alignment = {0};
    uint64_t ns = bound->bound_ns;

    if (alpha_ns > 0 && bound->kmin > 0) {
        vp_status_t status = vp_cuts_init(&alignment.cuts, model, demand_bytes, error);

        if (status == VP_OK && !init(&alignment, model, demand_bytes)) {
            status = vp_error_no_memory(error, "an alignment bound");
        }
        if (status != VP_OK) {
            release(&alignment);
            return status;
        }
        ns = search(&alignment, alpha_ns, bound);
    }
    release(&alignment);
    *bound_ns_p = ns > bound->bound_ns ? ns : bound->bound_ns;
    return VP_OK;
}
