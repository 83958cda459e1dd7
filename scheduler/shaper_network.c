/*
 * The best shape as a cheapest flow. Every group has as many lanes out as
 * ranks, and as many in; a lane that nobody wants is an idle one of the group
 * with itself (Equation 1). So the ranks of all groups flow from a node "out of
 * a" to a node "into d", over an arc for each instance:
 *
 *     out of a -> source port -> destination port -> into d
 *
 * A port is a resource that only instances out of one group (or into one) use,
 * such as a NIC's two directions, an uplink, a link between two switches: as a
 * node with room for one lane it keeps Equation 2. An instance with neither
 * port goes from group to group. Serving a lane costs less the more pressure
 * there is on its group pair, so the cheapest flow has the largest score.
 *
 * Resources that are no port of their users, such as a link between sockets,
 * are left out and put back by branching: while a selection uses one of them
 * twice, each of its users in turn is made the only one.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/shaper.h"

#include <stdlib.h>

#include "base/array.h"

#define NONE UINT32_MAX

/* Left-out resources that are branched over, steps of the branching, and steps times arcs. */
enum { MAX_SIDES = 16, MAX_STEPS = 256, MAX_WORK = 8192 };

/* What the instances that use a resource have in common; NONE: nothing. */
typedef struct usage {
    uint32_t n_users;
    uint32_t from_group;
    uint32_t to_group;
    uint32_t source_port;
    uint32_t destination_port;
    uint32_t source_node; /* of the network, if it is a port */
    uint32_t destination_node;
} usage_t;

/* Ports of an instance: resources, or NONE. */
typedef struct ports {
    uint32_t source;
    uint32_t destination;
} ports_t;

static uint32_t common(uint32_t so_far, uint32_t value, bool is_first)
{
    return is_first || so_far == value ? value : NONE;
}

static void count_users(const vp_model_t *model, usage_t *usages)
{
    uint32_t r;
    uint32_t i;

    for (r = 0; r < model->n_instances; r++) {
        const vp_instance_t *instance = &model->instances[r];

        for (i = 0; i < instance->n_resources; i++) {
            usage_t *usage = &usages[instance->resources[i]];
            bool is_first = usage->n_users++ == 0;

            usage->from_group = common(usage->from_group, instance->from_group, is_first);
            usage->to_group = common(usage->to_group, instance->to_group, is_first);
        }
    }
}

/* Of several resources that could be a port the one with most users, the first of equals. */
static ports_t choose_ports(const vp_instance_t *instance, const usage_t *usages)
{
    ports_t ports = {NONE, NONE};
    uint32_t i;

    for (i = 0; i < instance->n_resources; i++) {
        uint32_t resource = instance->resources[i];

        if (usages[resource].from_group != NONE &&
            (ports.source == NONE || usages[resource].n_users > usages[ports.source].n_users)) {
            ports.source = resource;
        }
    }
    for (i = 0; i < instance->n_resources; i++) {
        uint32_t resource = instance->resources[i];

        if (usages[resource].to_group != NONE && resource != ports.source &&
            (ports.destination == NONE ||
             usages[resource].n_users > usages[ports.destination].n_users)) {
            ports.destination = resource;
        }
    }
    return ports;
}

/* Finds the ports of every instance, and which ports the users of a resource share. */
static void assign_ports(const vp_model_t *model, usage_t *usages, ports_t *ports)
{
    uint32_t r;
    uint32_t i;

    count_users(model, usages);
    for (r = 0; r < model->n_instances; r++) {
        ports[r] = choose_ports(&model->instances[r], usages);
    }
    for (i = 0; i < model->n_resources; i++) {
        usages[i].n_users = 0;
        usages[i].source_node = NONE;
        usages[i].destination_node = NONE;
    }
    for (r = 0; r < model->n_instances; r++) {
        for (i = 0; i < model->instances[r].n_resources; i++) {
            usage_t *usage = &usages[model->instances[r].resources[i]];
            bool is_first = usage->n_users++ == 0;

            usage->source_port = common(usage->source_port, ports[r].source, is_first);
            usage->destination_port =
                common(usage->destination_port, ports[r].destination, is_first);
        }
    }
}

/* Left out: nothing but branching keeps two of its users apart. */
static bool is_side(const usage_t *usage)
{
    return usage->n_users > 1 && usage->source_port == NONE && usage->destination_port == NONE;
}

/* The node of a port, made with its arc to or from the group when it is new. */
static uint32_t port_node(vp_flow_t *flow, uint32_t *node_p, uint32_t group_node, bool is_source,
                          uint32_t *n_nodes_p)
{
    if (*node_p == NONE) {
        *node_p = (*n_nodes_p)++;
        (void)vp_flow_add(flow, is_source ? group_node : *node_p, is_source ? *node_p : group_node,
                          1);
    }
    return *node_p;
}

/* Nodes: out of each group, into each group, ports. */
static void connect_instances(vp_shaper_t *shaper, usage_t *usages, const ports_t *ports)
{
    const vp_model_t *model = shaper->model;
    uint32_t n_nodes = 2 * model->n_groups;
    uint32_t group;
    uint32_t r;

    for (r = 0; r < model->n_instances; r++) {
        const vp_instance_t *instance = &model->instances[r];
        uint32_t tail = instance->from_group;
        uint32_t head = model->n_groups + instance->to_group;

        if (ports[r].source != NONE) {
            tail = port_node(&shaper->flow, &usages[ports[r].source].source_node, tail, true,
                             &n_nodes);
        }
        if (ports[r].destination != NONE) {
            head = port_node(&shaper->flow, &usages[ports[r].destination].destination_node, head,
                             false, &n_nodes);
        }
        shaper->arc[r] = vp_flow_add(&shaper->flow, tail, head, 0);
    }
    shaper->max_steps = MAX_STEPS < MAX_WORK / (shaper->flow.n_arcs + 1)
                            ? MAX_STEPS
                            : MAX_WORK / (shaper->flow.n_arcs + 1);
    shaper->first_idle = shaper->flow.n_arcs;
    for (group = 0; group < model->n_groups; group++) {
        (void)vp_flow_add(&shaper->flow, group, model->n_groups + group,
                          model->groups[group].n_ranks);
    }
}

/* Lists the left-out resources with their users, counted first, then placed. */
static bool list_sides(vp_shaper_t *shaper, const usage_t *usages, uint32_t *side_of)
{
    const vp_model_t *model = shaper->model;
    size_t n_users = 0;
    uint32_t r;
    uint32_t i;

    for (i = 0; i < model->n_resources; i++) {
        side_of[i] = is_side(&usages[i]) ? shaper->n_sides++ : NONE;
        n_users += side_of[i] == NONE ? 0 : usages[i].n_users;
    }
    shaper->user_begin = vp_array_new((size_t)shaper->n_sides + 2, sizeof(*shaper->user_begin));
    shaper->users = vp_array_new(n_users, sizeof(*shaper->users));
    shaper->sides = vp_array_new(n_users, sizeof(*shaper->sides));
    shaper->keeper = vp_array_new(shaper->n_sides, sizeof(*shaper->keeper));
    if (shaper->user_begin == NULL || shaper->users == NULL || shaper->sides == NULL ||
        shaper->keeper == NULL) {
        return false;
    }
    for (i = 0; i < model->n_resources; i++) {
        if (side_of[i] != NONE) {
            shaper->keeper[side_of[i]] = NONE;
            shaper->user_begin[side_of[i] + 2] =
                shaper->user_begin[side_of[i] + 1] + usages[i].n_users;
        }
    }
    n_users = 0;
    for (r = 0; r < model->n_instances; r++) {
        for (i = 0; i < model->instances[r].n_resources; i++) {
            uint32_t side = side_of[model->instances[r].resources[i]];

            if (side != NONE) {
                shaper->users[shaper->user_begin[side + 1]++] = r;
                shaper->sides[n_users++] = side;
            }
        }
        shaper->side_begin[r + 1] = (uint32_t)n_users;
    }
    return true;
}

static vp_status_t build_network(vp_shaper_t *shaper, vp_error_t *error)
{
    const vp_model_t *model = shaper->model;
    usage_t *usages = vp_array_new(model->n_resources, sizeof(*usages));
    ports_t *ports = vp_array_new(model->n_instances, sizeof(*ports));
    uint32_t *side_of = vp_array_new(model->n_resources, sizeof(*side_of));
    vp_status_t status =
        vp_flow_init(&shaper->flow, 2 * model->n_groups + 2 * model->n_resources,
                     model->n_instances + model->n_groups + 2 * model->n_resources, error);

    if (status == VP_OK && (usages == NULL || ports == NULL || side_of == NULL)) {
        status = vp_error_no_memory(error, "the ports of path instances");
    }
    if (status == VP_OK) {
        assign_ports(model, usages, ports);
        connect_instances(shaper, usages, ports);
        if (!list_sides(shaper, usages, side_of)) {
            status = vp_error_no_memory(error, "the shared resources of shapes");
        } else {
            status = vp_flow_open(&shaper->flow, error);
        }
    }
    free(side_of);
    free(ports);
    free(usages);
    return status;
}

vp_status_t vp_shaper_init(vp_shaper_t *shaper, const vp_model_t *model, const bool *is_excluded,
                           vp_error_t *error)
{
    *shaper = (vp_shaper_t){.model = model, .is_excluded = is_excluded, .max_sides = MAX_SIDES};
    shaper->arc = vp_array_new(model->n_instances, sizeof(*shaper->arc));
    shaper->side_begin = vp_array_new((size_t)model->n_instances + 1, sizeof(*shaper->side_begin));
    shaper->best = vp_array_new(model->n_instances, sizeof(*shaper->best));
    shaper->resource_used = vp_array_new(model->n_resources, sizeof(*shaper->resource_used));
    shaper->members = vp_array_new(model->n_instances, sizeof(*shaper->members));
    if (shaper->arc == NULL || shaper->side_begin == NULL || shaper->best == NULL ||
        shaper->resource_used == NULL || shaper->members == NULL) {
        return vp_error_no_memory(error, "shapes over path instances");
    }
    return build_network(shaper, error);
}

void vp_shaper_release(vp_shaper_t *shaper)
{
    free(shaper->members);
    free(shaper->resource_used);
    free(shaper->best);
    free(shaper->keeper);
    free(shaper->sides);
    free(shaper->side_begin);
    free(shaper->users);
    free(shaper->user_begin);
    free(shaper->arc);
    vp_flow_release(&shaper->flow);
    *shaper = (vp_shaper_t){0};
}
