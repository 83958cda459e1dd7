/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/flows.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

typedef struct loads {
    const vp_model_t *model;
    vp_probe_load_t *list;
    size_t n;
    size_t capacity;
    bool failed;
} loads_t;

/* The nearest path between two ranks that needs neither NIC nor host; NULL: none. */
static const vp_instance_t *path(const vp_model_t *model, uint32_t from, uint32_t to)
{
    size_t pair = vp_pair(model, model->rank_group[from], model->rank_group[to]);
    uint32_t i;

    for (i = model->pair_begin[pair]; i < model->pair_begin[pair + 1]; i++) {
        if (model->instances[i].kind < VP_PATH_NIC) {
            return &model->instances[i];
        }
    }
    return NULL;
}

static bool crosses(const vp_instance_t *instance, uint32_t resource)
{
    uint32_t i;

    for (i = 0; i < instance->n_resources; i++) {
        if (instance->resources[i] == resource) {
            return true;
        }
    }
    return false;
}

/* Links that a further flow has in common with those of the load; of equals the shorter path. */
static uint32_t cost_of(const vp_model_t *model, const vp_probe_load_t *load,
                        const vp_instance_t *candidate)
{
    uint32_t n = 0;
    uint32_t i, k;

    for (i = 0; i < load->n_flows; i++) {
        const vp_instance_t *it = path(model, load->flows[i].source, load->flows[i].destination);

        for (k = 0; k < candidate->n_resources; k++) {
            n += it != NULL && crosses(it, candidate->resources[k]);
        }
    }
    return n * (VP_MAX_FOOTPRINT + 1) + candidate->n_resources;
}

/* May the pair join? Sources differ, and destinations, unless all flows go to one. */
static bool fits(const vp_probe_load_t *load, vp_probe_pair_t pair, bool has_one_destination)
{
    uint32_t i;

    for (i = 0; i < load->n_flows; i++) {
        if (load->flows[i].source == pair.source ||
            (!has_one_destination && load->flows[i].destination == pair.destination)) {
            return false;
        }
    }
    return true;
}

/* A pair with a path over the load's link, into `destination` unless that is UINT32_MAX. */
static const vp_instance_t *candidate(const vp_model_t *model, const vp_probe_load_t *load,
                                      uint32_t destination, vp_probe_pair_t pair)
{
    const vp_instance_t *it;

    if (pair.source == pair.destination ||
        (destination != UINT32_MAX && pair.destination != destination) ||
        !fits(load, pair, destination != UINT32_MAX)) {
        return NULL;
    }
    it = path(model, pair.source, pair.destination);
    return it == NULL || (load->resource != UINT32_MAX && !crosses(it, load->resource)) ? NULL : it;
}

/* Adds flows of the least cost, the first of equals, until none fits or there are enough. */
static void fill(const vp_model_t *model, uint32_t n_ranks, uint32_t destination,
                 vp_probe_load_t *load)
{
    uint32_t best = 0;

    while (load->n_flows < VP_PROBE_MAX_FLOWS && best != UINT32_MAX) {
        vp_probe_pair_t pair, chosen = {0, 0};

        best = UINT32_MAX;
        for (pair.source = 0; pair.source < n_ranks; pair.source++) {
            for (pair.destination = 0; pair.destination < n_ranks; pair.destination++) {
                const vp_instance_t *it = candidate(model, load, destination, pair);

                if (it != NULL && cost_of(model, load, it) < best) {
                    best = cost_of(model, load, it);
                    chosen = pair;
                }
            }
        }
        if (best != UINT32_MAX) {
            load->flows[load->n_flows++] = chosen;
        }
    }
}

static void add(loads_t *loads, const vp_probe_load_t *load)
{
    if (load->n_flows < 2 || loads->failed) {
        return;
    }
    if (!vp_array_reserve(&loads->list, &loads->capacity, loads->n + 1, sizeof(*load))) {
        loads->failed = true;
        return;
    }
    loads->list[loads->n++] = *load;
}

/* The same flows written by their sources and read by their destinations. */
static void add_both_ways(loads_t *loads, uint32_t n_ranks, uint32_t destination,
                          vp_probe_load_t *load)
{
    fill(loads->model, n_ranks, destination, load);
    load->way = VP_PROBE_WRITE;
    add(loads, load);
    load->way = VP_PROBE_READ;
    add(loads, load);
}

/* The up- or downlink of a group, which its way to or from the host shares; UINT32_MAX: none. */
static uint32_t host_link(const vp_model_t *model, uint32_t group, vp_resource_kind_t kind)
{
    uint32_t i, k;

    for (i = 0; i < model->n_instances; i++) {
        const vp_instance_t *it = &model->instances[i];
        uint32_t end = kind == VP_RESOURCE_UPLINK ? it->from_group : it->to_group;

        for (k = 0; end == group && it->kind != VP_PATH_NIC && k < it->n_resources; k++) {
            if (model->resources[it->resources[k]].kind == kind) {
                return it->resources[k];
            }
        }
    }
    return UINT32_MAX;
}

/* A switch's GPUs to the host, or from it. */
static void add_host(loads_t *loads, uint32_t index, vp_probe_way_t way)
{
    const vp_group_t *group = &loads->model->groups[index];
    bool is_out = way == VP_PROBE_TO_HOST;
    vp_probe_load_t load = {.way = way};

    load.resource =
        host_link(loads->model, index, is_out ? VP_RESOURCE_UPLINK : VP_RESOURCE_DOWNLINK);
    load.table = load.resource == UINT32_MAX ? VP_N_CONTENTION_TABLES : VP_CONTENTION_UPLINK;
    (void)snprintf(load.name, sizeof(load.name), "%s%s%s", is_out ? "" : "host to ", group->name,
                   is_out ? " to host" : "");
    while (load.n_flows < group->n_ranks && load.n_flows < VP_PROBE_MAX_FLOWS) {
        uint32_t rank = group->first_rank + load.n_flows;

        load.flows[load.n_flows++] = (vp_probe_pair_t){rank, rank};
    }
    add(loads, &load);
}

static uint32_t count_ranks(const vp_model_t *model)
{
    uint32_t n = 0;
    uint32_t i;

    for (i = 0; i < model->n_groups; i++) {
        n += model->groups[i].node == 0 ? model->groups[i].n_ranks : 0;
    }
    return n;
}

vp_status_t vp_probe_loads(const vp_model_t *model, vp_probe_load_t **loads_p, size_t *n_loads_p,
                           vp_error_t *error)
{
    loads_t loads = {.model = model};
    uint32_t n_ranks = count_ranks(model);
    uint32_t i;

    for (i = 0; i < n_ranks; i++) {
        vp_probe_load_t load = {.resource = UINT32_MAX, .table = VP_CONTENTION_GPU};

        (void)snprintf(load.name, sizeof(load.name), "into GPU %u", i);
        add_both_ways(&loads, n_ranks, i, &load);
    }
    for (i = 0; i < model->n_resources; i++) {
        const vp_resource_t *it = &model->resources[i];
        vp_probe_load_t load = {.resource = i, .table = VP_CONTENTION_UPLINK};

        if (it->node == 0 && it->kind < VP_RESOURCE_NIC_TX) {
            (void)snprintf(load.name, sizeof(load.name), "%s", it->name);
            add_both_ways(&loads, n_ranks, UINT32_MAX, &load);
        }
    }
    for (i = 0; i < model->n_groups; i++) {
        if (model->groups[i].node == 0) {
            add_host(&loads, i, VP_PROBE_TO_HOST);
            add_host(&loads, i, VP_PROBE_FROM_HOST);
        }
    }
    if (loads.failed) {
        free(loads.list);
        return vp_error_no_memory(error, "the list of loads");
    }
    *loads_p = loads.list;
    *n_loads_p = loads.n;
    return VP_OK;
}
