/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/units.h"
#include "sim/random.h"

enum { PPM = 1000000 };

uint32_t vp_link_out(const vp_machine_t *machine, uint32_t rank)
{
    (void)machine;
    return rank;
}

uint32_t vp_link_in(const vp_machine_t *machine, uint32_t rank)
{
    return machine->model->n_ranks + rank;
}

uint32_t vp_link_resource(const vp_machine_t *machine, uint32_t resource)
{
    return 2 * machine->model->n_ranks + resource;
}

uint32_t vp_rank_node(const vp_machine_t *machine, uint32_t rank)
{
    return machine->model->groups[machine->model->rank_group[rank]].node;
}

uint32_t vp_node_size(const vp_machine_t *machine, uint32_t node)
{
    return machine->node_first[node + 1] - machine->node_first[node];
}

uint32_t vp_group_n_nics(const vp_machine_t *machine, uint32_t group)
{
    return machine->nic_begin[group + 1] - machine->nic_begin[group];
}

uint64_t vp_link_bytes_per_s(const vp_machine_t *machine, uint32_t link)
{
    const vp_model_t *model = machine->model;

    if (link >= 2 * model->n_ranks && link - 2 * model->n_ranks < model->n_resources) {
        return model->resources[link - 2 * model->n_ranks].bytes_per_s;
    }
    return model->gpu_link_bytes_per_s;
}

uint64_t vp_path_bytes_per_s(const vp_machine_t *machine, const vp_path_t *path)
{
    uint64_t least = path->bytes_per_s == 0 ? UINT64_MAX : path->bytes_per_s;
    uint32_t i;

    for (i = 0; i < path->n_links; i++) {
        uint64_t rate = vp_link_bytes_per_s(machine, path->links[i]);

        least = rate < least ? rate : least;
    }
    return least;
}

void vp_machine_link_name(const vp_machine_t *machine, uint32_t link, char *text)
{
    const vp_model_t *model = machine->model;
    uint32_t group;

    if (link < 2 * model->n_ranks) {
        (void)snprintf(text, VP_LINK_NAME_BYTES, "rank%" PRIu32 ":%s", link % model->n_ranks,
                       link < model->n_ranks ? "out" : "in");
        return;
    }
    if (link - 2 * model->n_ranks < model->n_resources) {
        (void)snprintf(text, VP_LINK_NAME_BYTES, "%s",
                       model->resources[link - 2 * model->n_ranks].name);
        return;
    }
    for (group = 0; group + 1 < model->n_groups && machine->host_up[group] != link &&
                    machine->host_down[group] != link;
         group++) {
    }
    (void)snprintf(text, VP_LINK_NAME_BYTES, "%s:host-%s", model->groups[group].name,
                   machine->host_up[group] == link ? "up" : "down");
}

static vp_status_t find_profile(const vp_model_t *model, const char *name,
                                const vp_contention_t **profile_p, vp_error_t *error)
{
    uint32_t i;

    *profile_p = NULL;
    if (name == NULL || strcmp(name, "ideal") == 0) {
        return VP_OK;
    }
    for (i = 0; i < model->n_contention; i++) {
        if (strcmp(model->contention[i].name, name) == 0) {
            *profile_p = &model->contention[i];
            return VP_OK;
        }
    }
    return vp_error_set(error, VP_ERR_USAGE,
                        "topology \"%s\" has no contention profile \"%.100s\"; \"ideal\" always "
                        "works, others are in the topology file's \"contention\"",
                        model->name, name);
}

/* The rate with its error: uniform in [-error, +error], one draw per link in order. */
static uint64_t perturb(uint64_t bytes_per_s, const vp_machine_options_t *options, uint64_t *state)
{
    uint64_t span = 2 * options->rate_error_ppm + 1;
    uint64_t ppm;

    if (options->rate_error_ppm == 0) {
        return bytes_per_s;
    }
    ppm = PPM - options->rate_error_ppm + vp_random_below(state, span);
    return vp_muldiv_ceil(bytes_per_s, ppm, PPM);
}

static int table_of(vp_resource_kind_t kind)
{
    if (kind == VP_RESOURCE_GPU_LINK) {
        return VP_CONTENTION_GPU;
    }
    return kind == VP_RESOURCE_NIC_TX || kind == VP_RESOURCE_NIC_RX ? VP_CONTENTION_NIC
                                                                    : VP_CONTENTION_UPLINK;
}

typedef struct builder {
    vp_machine_t *machine;
    const vp_machine_options_t *options;
    const vp_contention_t *profile;
    uint64_t random;
} builder_t;

static vp_status_t add_link(builder_t *builder, uint64_t bytes_per_s, int table, uint32_t *link_p,
                            vp_error_t *error)
{
    vp_link_t link = {perturb(bytes_per_s, builder->options, &builder->random), 0, 0, NULL};

    if (builder->profile != NULL) {
        link.n_shares = builder->profile->n_entries[table];
        link.share_ppm = builder->profile->share_ppm[table];
    }
    return vp_network_add_link(builder->machine->network, &link, link_p, error);
}

/* The model's own link of a kind at a group's end of a path, VP_MAX.. when it names none. */
static uint32_t find_host_link(const vp_model_t *model, uint32_t group, bool up)
{
    uint32_t i;
    uint32_t k;

    for (i = 0; i < model->n_instances; i++) {
        const vp_instance_t *instance = &model->instances[i];

        if ((up ? instance->from_group : instance->to_group) != group) {
            continue;
        }
        for (k = 0; k < instance->n_resources; k++) {
            if (model->resources[instance->resources[k]].kind ==
                (up ? VP_RESOURCE_UPLINK : VP_RESOURCE_DOWNLINK)) {
                return instance->resources[k];
            }
        }
    }
    return UINT32_MAX;
}

static vp_status_t add_host_link(builder_t *builder, uint32_t group, bool up, uint32_t *link_p,
                                 vp_error_t *error)
{
    const vp_model_t *model = builder->machine->model;
    uint32_t resource = find_host_link(model, group, up);

    if (resource != UINT32_MAX) {
        *link_p = vp_link_resource(builder->machine, resource);
        return VP_OK;
    }
    return add_link(builder, model->gpu_link_bytes_per_s, VP_CONTENTION_UPLINK, link_p, error);
}

static vp_status_t add_links(builder_t *builder, vp_error_t *error)
{
    vp_machine_t *machine = builder->machine;
    const vp_model_t *model = machine->model;
    vp_status_t status = VP_OK;
    uint32_t i;

    for (i = 0; status == VP_OK && i < 2 * model->n_ranks; i++) {
        status = add_link(builder, model->gpu_link_bytes_per_s, VP_CONTENTION_GPU, NULL, error);
    }
    for (i = 0; status == VP_OK && i < model->n_resources; i++) {
        status = add_link(builder, model->resources[i].bytes_per_s,
                          table_of(model->resources[i].kind), NULL, error);
    }
    for (i = 0; status == VP_OK && i < model->n_groups; i++) {
        status = add_host_link(builder, i, true, &machine->host_up[i], error);
        if (status == VP_OK) {
            status = add_host_link(builder, i, false, &machine->host_down[i], error);
        }
    }
    return status;
}

static void index_ranks(vp_machine_t *machine)
{
    const vp_model_t *model = machine->model;
    uint32_t node = 0;
    uint32_t rank;

    for (rank = 0; rank < model->n_ranks; rank++) {
        while (node < vp_rank_node(machine, rank)) {
            machine->node_first[++node] = rank;
        }
        machine->rank_index[rank] = rank - machine->node_first[node];
    }
    while (node < model->n_nodes) {
        machine->node_first[++node] = model->n_ranks;
    }
}

/* Appends the NICs of a group, or of its whole node, to the index; returns its new length. */
static uint32_t list_nics(vp_machine_t *machine, uint32_t group, bool of_node, uint32_t n)
{
    const vp_model_t *model = machine->model;
    uint32_t i;

    for (i = 0; i < model->n_nics; i++) {
        if (of_node ? model->nics[i].node == model->groups[group].node
                    : model->nics[i].group == group) {
            machine->group_nics[n++] = i;
        }
    }
    return n;
}

static void index_nics(vp_machine_t *machine)
{
    uint32_t n = 0;
    uint32_t group;

    for (group = 0; group < machine->model->n_groups; group++) {
        machine->nic_begin[group] = n;
        n = list_nics(machine, group, false, n);
        if (n == machine->nic_begin[group]) {
            n = list_nics(machine, group, true, n);
        }
    }
    machine->nic_begin[machine->model->n_groups] = n;
}

/* Room for the index: a group lists its own NICs or those of its node. */
static size_t max_listed_nics(const vp_model_t *model)
{
    size_t n = model->n_nics;
    uint32_t group;
    uint32_t i;

    for (group = 0; group < model->n_groups; group++) {
        for (i = 0; i < model->n_nics; i++) {
            n += model->nics[i].node == model->groups[group].node;
        }
    }
    return n;
}

static vp_status_t allocate(vp_machine_t *machine, vp_error_t *error)
{
    const vp_model_t *model = machine->model;

    machine->host_up = vp_array_new(model->n_groups, sizeof(uint32_t));
    machine->host_down = vp_array_new(model->n_groups, sizeof(uint32_t));
    machine->rank_index = vp_array_new(model->n_ranks, sizeof(uint32_t));
    machine->node_first = vp_array_new((size_t)model->n_nodes + 1, sizeof(uint32_t));
    machine->group_nics = vp_array_new(max_listed_nics(model), sizeof(uint32_t));
    machine->nic_begin = vp_array_new((size_t)model->n_groups + 1, sizeof(uint32_t));
    if (machine->host_up == NULL || machine->host_down == NULL || machine->rank_index == NULL ||
        machine->node_first == NULL || machine->group_nics == NULL || machine->nic_begin == NULL) {
        return vp_error_no_memory(error, "a simulated machine");
    }
    return vp_network_create(model->n_ranks, &machine->network, error);
}

vp_status_t vp_machine_create(const vp_model_t *model, const vp_machine_options_t *options,
                              vp_machine_t **machine_p, vp_error_t *error)
{
    builder_t builder = {NULL, options, NULL, options->seed};
    vp_machine_t *machine;
    vp_status_t status = find_profile(model, options->links, &builder.profile, error);

    if (status != VP_OK) {
        return status;
    }
    machine = calloc(1, sizeof(*machine));
    if (machine == NULL) {
        return vp_error_no_memory(error, "a simulated machine");
    }
    machine->model = model;
    builder.machine = machine;
    status = allocate(machine, error);
    if (status == VP_OK) {
        index_ranks(machine);
        index_nics(machine);
        vp_network_set_exact(machine->network, options->exact);
        status = add_links(&builder, error);
    }
    if (status != VP_OK) {
        vp_machine_destroy(machine);
        return status;
    }
    *machine_p = machine;
    return VP_OK;
}

void vp_machine_destroy(vp_machine_t *machine)
{
    if (machine == NULL) {
        return;
    }
    vp_network_destroy(machine->network);
    free(machine->host_up);
    free(machine->host_down);
    free(machine->rank_index);
    free(machine->node_first);
    free(machine->group_nics);
    free(machine->nic_begin);
    free(machine);
}
