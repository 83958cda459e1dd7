/*
 * describe TOPOLOGY [--link-rate BYTES_PER_S] [--memory BYTES] [--no-p2p] [--no-ipc] [--unlimited]
 *          [--links PROFILE]
 *
 * Writes what the emulated driver needs to know about a topology: one device
 * per rank, each GPU's own link in both directions, the links between switches,
 * and for every pair of ends the links that its copies cross. The topology
 * stays the only description of the machine. With --link-rate all rates are
 * scaled so that a GPU's own link has that one; with --links the links lose to
 * contention what that profile of the topology says.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "catalog/model.h"
#include "catalog/topology.h"

typedef struct options {
    const char *topology;
    uint64_t link_rate; /* 0: the topology's own */
    uint64_t memory;
    const char *profile;               /* NULL: links share ideally */
    const vp_contention_t *contention; /* the profile, once the topology is there */
    bool no_p2p;
    bool no_ipc;
    bool unlimited;
} options_t;

static uint64_t scaled(const vp_model_t *model, const options_t *options, uint64_t rate)
{
    if (options->unlimited) {
        return 0;
    }
    return options->link_rate == 0
               ? rate
               : vp_muldiv_ceil(rate, options->link_rate, model->gpu_link_bytes_per_s);
}

static uint32_t node_of(const vp_model_t *model, uint32_t rank)
{
    return model->groups[model->rank_group[rank]].node;
}

/* The nearest path that needs no NIC; kinds are in that order. */
static const vp_instance_t *nearest(const vp_model_t *model, uint32_t from, uint32_t to)
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

static void print_shares(const options_t *options, uint32_t table)
{
    uint32_t i;

    for (i = 0; options->contention != NULL && i < options->contention->n_entries[table]; i++) {
        printf("%s%" PRIu32, i == 0 ? " share=" : ",", options->contention->share_ppm[table][i]);
    }
    printf("\n");
}

static void print_devices(const vp_model_t *model, const options_t *options, uint32_t n)
{
    uint64_t rate = scaled(model, options, model->gpu_link_bytes_per_s);
    uint32_t i;

    for (i = 0; i < n; i++) {
        printf("gpu %u pci=0000:%02x:00.0 mem=%" PRIu64 "\n", i, 16 + i, options->memory);
        printf("link gpu%u:out bw=%" PRIu64, i, rate);
        print_shares(options, VP_CONTENTION_GPU);
        printf("link gpu%u:in bw=%" PRIu64, i, rate);
        print_shares(options, VP_CONTENTION_GPU);
    }
}

static void print_resources(const vp_model_t *model, const options_t *options, uint32_t node)
{
    uint32_t i;

    for (i = 0; i < model->n_resources; i++) {
        const vp_resource_t *resource = &model->resources[i];

        if (resource->node == node && resource->kind < VP_RESOURCE_NIC_TX) {
            printf("link %s bw=%" PRIu64, resource->name,
                   scaled(model, options, resource->bytes_per_s));
            print_shares(options, VP_CONTENTION_UPLINK);
        }
    }
}

static void print_pair(const vp_model_t *model, uint32_t first, uint32_t from, uint32_t to)
{
    const vp_instance_t *instance = nearest(model, first + from, first + to);
    uint32_t i;

    if (instance == NULL) {
        printf("nop2p %u %u\n", from, to);
        return;
    }
    printf("path %u %u gpu%u:out", from, to, from);
    for (i = 0; i < instance->n_resources; i++) {
        printf(",%s", model->resources[instance->resources[i]].name);
    }
    printf(",gpu%u:in\n", to);
}

/* The one link of this kind that a path crosses; NULL: none, or several. */
static const char *only_link(const vp_model_t *model, const vp_instance_t *instance,
                             vp_resource_kind_t kind)
{
    const char *found = NULL;
    uint32_t i, n = 0;

    for (i = 0; i < instance->n_resources; i++) {
        const vp_resource_t *resource = &model->resources[instance->resources[i]];

        if (resource->kind == kind) {
            found = resource->name;
            n++;
        }
    }
    return n == 1 ? found : NULL;
}

/* The up- or downlink of a group: its way to or from the host. */
static const char *host_link(const vp_model_t *model, uint32_t group, vp_resource_kind_t kind)
{
    const char *found = NULL;
    uint32_t i;

    for (i = 0; i < model->n_instances && found == NULL; i++) {
        const vp_instance_t *instance = &model->instances[i];
        uint32_t end = kind == VP_RESOURCE_UPLINK ? instance->from_group : instance->to_group;

        if (end == group) {
            found = only_link(model, instance, kind);
        }
    }
    return found;
}

static void print_host(const vp_model_t *model, uint32_t first, uint32_t gpu)
{
    const char *up = host_link(model, model->rank_group[first + gpu], VP_RESOURCE_UPLINK);
    const char *down = host_link(model, model->rank_group[first + gpu], VP_RESOURCE_DOWNLINK);

    printf("path %u host gpu%u:out%s%s\n", gpu, gpu, up == NULL ? "" : ",", up == NULL ? "" : up);
    printf("path host %u %s%sgpu%u:in\n", gpu, down == NULL ? "" : down, down == NULL ? "" : ",",
           gpu);
}

static void print_node(const vp_model_t *model, const options_t *options, uint32_t first,
                       uint32_t n)
{
    uint32_t i, k;

    printf("node node%u\n", node_of(model, first));
    print_devices(model, options, n);
    print_resources(model, options, node_of(model, first));
    for (i = 0; i < n; i++) {
        print_host(model, first, i);
        for (k = 0; k < n; k++) {
            if (i != k) {
                print_pair(model, first, i, k);
            }
        }
    }
    if (options->no_p2p) {
        printf("nop2p all\n");
    }
    if (options->no_ipc) {
        printf("set ipc=0\n");
    }
}

static bool parse(int argc, char **argv, options_t *options)
{
    int i;

    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--no-p2p") == 0) {
            options->no_p2p = true;
        } else if (strcmp(argv[i], "--no-ipc") == 0) {
            options->no_ipc = true;
        } else if (strcmp(argv[i], "--unlimited") == 0) {
            options->unlimited = true;
        } else if (strcmp(argv[i], "--link-rate") == 0 && i + 1 < argc) {
            options->link_rate = strtoull(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--links") == 0 && i + 1 < argc) {
            options->profile = argv[++i];
        } else if (strcmp(argv[i], "--memory") == 0 && i + 1 < argc) {
            options->memory = strtoull(argv[++i], NULL, 10);
        } else if (options->topology == NULL && argv[i][0] != '-') {
            options->topology = argv[i];
        } else {
            return false;
        }
    }
    return options->topology != NULL;
}

int main(int argc, char **argv)
{
    options_t options = {.memory = (uint64_t)1 << 30};
    vp_model_t *model;
    vp_error_t error;
    uint32_t first, end;

    if (!parse(argc, argv, &options)) {
        (void)fprintf(stderr, "usage: describe TOPOLOGY [--link-rate BYTES_PER_S] [--memory BYTES] "
                              "[--no-p2p] [--no-ipc] [--unlimited] [--links PROFILE]\n");
        return 2;
    }
    if (vp_topology_resolve(options.topology, &model, &error) != VP_OK) {
        (void)fprintf(stderr, "describe: %s\n", error.text);
        return 1;
    }
    for (first = 0; options.profile != NULL && first < model->n_contention; first++) {
        if (strcmp(model->contention[first].name, options.profile) == 0) {
            options.contention = &model->contention[first];
        }
    }
    if (options.profile != NULL && options.contention == NULL) {
        (void)fprintf(stderr, "describe: %s has no contention profile \"%s\"\n", options.topology,
                      options.profile);
        vp_model_destroy(model);
        return 1;
    }
    for (first = 0; first < model->n_ranks; first = end) {
        for (end = first; end < model->n_ranks && node_of(model, end) == node_of(model, first);) {
            end++;
        }
        print_node(model, &options, first, end - first);
    }
    vp_model_destroy(model);
    return 0;
}
