/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/schedule.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/units.h"
#include "scheduler/demand_check.h"

/* The fastest instance of a pair that has one; the first of equals. */
static uint32_t fastest_instance(const vp_model_t *model, uint32_t source, uint32_t destination)
{
    uint32_t best;
    uint32_t end;
    uint32_t r;

    vp_rank_pair_instances(model, source, destination, &best, &end);
    for (r = best + 1; r < end; r++) {
        if (model->instances[r].bytes_per_s > model->instances[best].bytes_per_s) {
            best = r;
        }
    }
    return best;
}

/*
 * Time of step k. Flows that share a resource get equal parts of it and hand
 * theirs on when they are done, so a resource is busy for the time that all of
 * its bytes take; no flow is faster than its own path. 0: nothing to send.
 */
static uint64_t step_ns(const vp_model_t *model, const uint64_t *demand_bytes, uint32_t k,
                        uint64_t *resource_bytes)
{
    uint64_t slowest_ns = 0;
    uint32_t source;
    uint32_t i;

    for (i = 0; i < model->n_resources; i++) {
        resource_bytes[i] = 0;
    }
    for (source = 0; source < model->n_ranks; source++) {
        uint32_t destination = (source + k) % model->n_ranks;
        uint64_t n_bytes = demand_bytes[(size_t)source * model->n_ranks + destination];
        const vp_instance_t *instance;
        uint64_t ns;

        if (n_bytes == 0) {
            continue;
        }
        instance = &model->instances[fastest_instance(model, source, destination)];
        ns = vp_transfer_ns(n_bytes, instance->bytes_per_s);
        slowest_ns = ns > slowest_ns ? ns : slowest_ns;
        for (i = 0; i < instance->n_resources; i++) {
            resource_bytes[instance->resources[i]] += n_bytes;
        }
    }
    for (i = 0; i < model->n_resources; i++) {
        uint64_t ns = vp_transfer_ns(resource_bytes[i], model->resources[i].bytes_per_s);

        slowest_ns = ns > slowest_ns ? ns : slowest_ns;
    }
    return slowest_ns;
}

vp_status_t vp_pairwise_ns(const vp_model_t *model, const uint64_t *demand_bytes, uint64_t alpha_ns,
                           uint64_t *time_ns_p, vp_error_t *error)
{
    uint64_t total_bytes = 0;
    uint64_t time_ns = 0;
    uint64_t *resource_bytes;
    uint32_t k;
    vp_status_t status = vp_demand_check(model, demand_bytes, &total_bytes, error);

    if (status != VP_OK) {
        return status;
    }
    resource_bytes = vp_array_new(model->n_resources, sizeof(*resource_bytes));
    if (resource_bytes == NULL) {
        return vp_error_no_memory(error, "the steps of a pairwise exchange");
    }
    for (k = 1; k < model->n_ranks; k++) {
        uint64_t ns = step_ns(model, demand_bytes, k, resource_bytes);

        time_ns = ns == 0 ? time_ns : vp_add_sat(time_ns, vp_add_sat(ns, alpha_ns));
    }
    free(resource_bytes);
    *time_ns_p = time_ns;
    return VP_OK;
}
