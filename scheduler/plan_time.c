/*
 * The modelled time of a plan under each of its forms.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/units.h"

enum { PPM = 1000000 };

/* Ports are numbered: ways out of ranks, ways into ranks, resources. */
typedef struct ports {
    const vp_model_t *model;
    uint32_t profile;
    uint64_t *busy;      /* [ports] ns until which it is taken (LIST), else bytes on it */
    uint32_t *n_sources; /* [ports] sources with data on it */
    uint32_t *latest;    /* [ports] source (+ 1) of its latest lane */
} ports_t;

uint32_t vp_plan_contention_table(vp_resource_kind_t kind)
{
    return kind == VP_RESOURCE_NIC_TX || kind == VP_RESOURCE_NIC_RX ? VP_CONTENTION_NIC
                                                                    : VP_CONTENTION_UPLINK;
}

uint32_t vp_plan_share_ppm(const vp_model_t *model, uint32_t profile, uint32_t table,
                           uint32_t n_sources)
{
    const vp_contention_t *contention;
    uint32_t n_entries;

    if (profile == VP_LINKS_IDEAL || n_sources == 0) {
        return PPM;
    }
    contention = &model->contention[profile];
    n_entries = contention->n_entries[table];
    if (n_entries == 0) {
        return PPM;
    }
    return contention->share_ppm[table][n_sources < n_entries ? n_sources - 1 : n_entries - 1];
}

vp_status_t vp_links_find(const vp_model_t *model, const char *name, uint32_t *profile_p,
                          vp_error_t *error)
{
    uint32_t i;

    if (name == NULL || strcmp(name, "ideal") == 0) {
        *profile_p = VP_LINKS_IDEAL;
        return VP_OK;
    }
    for (i = 0; i < model->n_contention; i++) {
        if (strcmp(model->contention[i].name, name) == 0) {
            *profile_p = i;
            return VP_OK;
        }
    }
    return vp_error_set(error, VP_ERR_USAGE,
                        "topology \"%s\" has no contention profile \"%.100s\"; \"ideal\" always "
                        "works, others are in the topology file's \"contention\"",
                        model->name, name);
}

static size_t n_ports(const vp_model_t *model)
{
    return (size_t)2 * model->n_ranks + model->n_resources;
}

/* The ports of a lane, out first; returns how many. */
static uint32_t ports_of(const vp_model_t *model, const vp_lane_t *lane,
                         size_t numbers[VP_MAX_FOOTPRINT + 2])
{
    const vp_instance_t *instance = &model->instances[lane->instance];
    uint32_t i;

    numbers[0] = lane->source;
    numbers[1] = (size_t)model->n_ranks + lane->destination;
    for (i = 0; i < instance->n_resources; i++) {
        numbers[2 + i] = (size_t)2 * model->n_ranks + instance->resources[i];
    }
    return 2 + instance->n_resources;
}

static uint64_t lane_ns(const vp_model_t *model, const vp_lane_t *lane)
{
    return vp_transfer_ns(lane->n_bytes, model->instances[lane->instance].bytes_per_s);
}

/* Rate of a port, and the contention table that it goes by. */
static uint64_t port_rate(const vp_model_t *model, size_t port, uint32_t *table_p)
{
    const vp_resource_t *resource;

    if (port < (size_t)2 * model->n_ranks) {
        *table_p = VP_CONTENTION_GPU;
        return model->gpu_link_bytes_per_s;
    }
    resource = &model->resources[port - (size_t)2 * model->n_ranks];
    *table_p = vp_plan_contention_table(resource->kind);
    return resource->bytes_per_s;
}

/* Time that a port needs for the bytes on it, with as many sources as it has. */
static uint64_t port_ns(const ports_t *ports, size_t port)
{
    uint32_t table;
    uint64_t rate = port_rate(ports->model, port, &table);
    uint64_t ns = vp_transfer_ns(ports->busy[port], rate);

    return vp_muldiv_ceil(
        ns, PPM, vp_plan_share_ppm(ports->model, ports->profile, table, ports->n_sources[port]));
}

/* Lanes come source by source, so that a port's latest source tells whether this one is new. */
static void load_port(ports_t *ports, size_t port, const vp_lane_t *lane)
{
    ports->busy[port] = vp_add_sat(ports->busy[port], lane->n_bytes);
    if (ports->latest[port] != lane->source + 1) {
        ports->latest[port] = lane->source + 1;
        ports->n_sources[port]++;
    }
}

static void clear_port(ports_t *ports, size_t port)
{
    ports->busy[port] = 0;
    ports->latest[port] = 0;
    ports->n_sources[port] = 0;
}

static void time_list(vp_plan_t *plan, const ports_t *ports, uint64_t alpha_ns)
{
    size_t i;

    for (i = 0; i < plan->n_lanes; i++) {
        size_t numbers[VP_MAX_FOOTPRINT + 2];
        uint32_t n = ports_of(ports->model, &plan->lanes[i], numbers);
        uint64_t end_ns = 0;
        uint32_t k;

        plan->activation_ns[i] = vp_add_sat(lane_ns(ports->model, &plan->lanes[i]), alpha_ns);
        for (k = 0; k < n; k++) {
            end_ns = ports->busy[numbers[k]] > end_ns ? ports->busy[numbers[k]] : end_ns;
        }
        end_ns = vp_add_sat(end_ns, plan->activation_ns[i]);
        for (k = 0; k < n; k++) {
            ports->busy[numbers[k]] = end_ns;
        }
        plan->time_ns = end_ns > plan->time_ns ? end_ns : plan->time_ns;
    }
}

/* Only the links of ranks are shared inside an activation. */
static uint64_t shared_ns(const vp_plan_t *plan, ports_t *ports, uint32_t activation)
{
    size_t first = plan->activation_begin[activation];
    size_t end = plan->activation_begin[activation + 1];
    uint64_t busiest_ns = 0;
    size_t i;

    for (i = first; i < end; i++) {
        const vp_lane_t *lane = &plan->lanes[i];

        load_port(ports, lane->source, lane);
        load_port(ports, (size_t)plan->n_ranks + lane->destination, lane);
    }
    for (i = first; i < end; i++) {
        size_t ends[2] = {plan->lanes[i].source,
                          (size_t)plan->n_ranks + plan->lanes[i].destination};
        int side;

        for (side = 0; side < 2; side++) {
            uint64_t ns = port_ns(ports, ends[side]);

            busiest_ns = ns > busiest_ns ? ns : busiest_ns;
            clear_port(ports, ends[side]);
        }
    }
    return busiest_ns;
}

static void time_activations(vp_plan_t *plan, ports_t *ports, uint64_t alpha_ns)
{
    uint32_t activation;

    for (activation = 0; activation < plan->n_activations; activation++) {
        uint64_t slowest_ns = plan->form.shares_ports ? shared_ns(plan, ports, activation) : 0;
        size_t i;

        for (i = plan->activation_begin[activation]; i < plan->activation_begin[activation + 1];
             i++) {
            uint64_t ns = lane_ns(ports->model, &plan->lanes[i]);

            slowest_ns = ns > slowest_ns ? ns : slowest_ns;
        }
        plan->activation_ns[activation] = vp_add_sat(slowest_ns, alpha_ns);
        plan->time_ns = vp_add_sat(plan->time_ns, plan->activation_ns[activation]);
    }
}

static void time_concurrent(vp_plan_t *plan, ports_t *ports, uint64_t alpha_ns)
{
    uint64_t busiest_ns = 0;
    uint64_t source_ns = 0;
    size_t i;
    size_t port;

    for (i = 0; i < plan->n_lanes; i++) {
        const vp_lane_t *lane = &plan->lanes[i];
        size_t numbers[VP_MAX_FOOTPRINT + 2];
        uint32_t n = ports_of(ports->model, lane, numbers);
        uint64_t turn_ns;
        uint32_t k;

        for (k = 0; k < n; k++) {
            load_port(ports, numbers[k], lane);
        }
        source_ns = i > 0 && plan->lanes[i - 1].source == lane->source ? source_ns : 0;
        source_ns = vp_add_sat(source_ns, vp_add_sat(lane_ns(ports->model, lane), alpha_ns));
        turn_ns = source_ns / plan->form.window + (source_ns % plan->form.window != 0);
        plan->time_ns = turn_ns > plan->time_ns ? turn_ns : plan->time_ns;
        turn_ns = vp_add_sat(lane_ns(ports->model, lane), alpha_ns);
        plan->time_ns = turn_ns > plan->time_ns ? turn_ns : plan->time_ns;
    }
    for (port = 0; port < n_ports(ports->model); port++) {
        uint64_t ns = port_ns(ports, port);

        busiest_ns = ns > busiest_ns ? ns : busiest_ns;
    }
    busiest_ns = plan->n_lanes > 0 ? vp_add_sat(busiest_ns, alpha_ns) : 0;
    plan->time_ns = busiest_ns > plan->time_ns ? busiest_ns : plan->time_ns;
    if (plan->n_activations > 0) {
        plan->activation_ns[0] = plan->time_ns;
    }
}

vp_status_t vp_plan_time(vp_plan_t *plan, const vp_model_t *model, uint64_t alpha_ns,
                         vp_error_t *error)
{
    ports_t ports = {.model = model, .profile = plan->form.contention};
    vp_status_t status = VP_OK;

    ports.busy = vp_array_new(n_ports(model), sizeof(*ports.busy));
    ports.n_sources = vp_array_new(n_ports(model), sizeof(*ports.n_sources));
    ports.latest = vp_array_new(n_ports(model), sizeof(*ports.latest));
    if (ports.busy == NULL || ports.n_sources == NULL || ports.latest == NULL) {
        status = vp_error_no_memory(error, "the time of a plan");
        goto out;
    }
    plan->time_ns = 0;
    switch (plan->form.order) {
    case VP_PLAN_LIST:
        time_list(plan, &ports, alpha_ns);
        break;
    case VP_PLAN_CONCURRENT:
        time_concurrent(plan, &ports, alpha_ns);
        break;
    default:
        time_activations(plan, &ports, alpha_ns);
        break;
    }
out:
    free(ports.latest);
    free(ports.n_sources);
    free(ports.busy);
    return status;
}
