/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/sim/models.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static void add_resource(vp_model_t *model, uint32_t node, vp_resource_kind_t kind,
                         uint64_t bytes_per_s, const char *name)
{
    model->resources[model->n_resources++] =
        (vp_resource_t){vp_string_copy(name), kind, node, bytes_per_s, vp_string_copy("test")};
}

static void add_instance(vp_model_t *model, vp_path_kind_t kind, uint32_t from, uint32_t to,
                         uint64_t bytes_per_s, uint32_t n, const uint32_t *resources)
{
    vp_instance_t *instance = &model->instances[model->n_instances++];

    *instance = (vp_instance_t){.kind = kind,
                                .from_group = from,
                                .to_group = to,
                                .n_copies = n == 0 ? model->groups[from].n_ranks : 1,
                                .bytes_per_s = bytes_per_s,
                                .n_resources = n};
    if (n > 0) {
        memcpy(instance->resources, resources, n * sizeof(uint32_t));
    }
}

static void add_groups(vp_model_t *model, const test_shape_t *shape)
{
    char name[64];
    uint32_t i;

    for (i = 0; i < model->n_groups; i++) {
        uint32_t node = i / shape->groups;

        (void)snprintf(name, sizeof(name), "node%u/sw%u", node, i % shape->groups);
        model->groups[i] = (vp_group_t){vp_string_copy(name), node, i * shape->ranks, shape->ranks};
    }
}

static void add_nics(vp_model_t *model, const test_shape_t *shape)
{
    char name[64];
    uint32_t i;

    for (i = 0; i < model->n_groups * shape->nics; i++) {
        uint32_t group = i / shape->nics;
        uint32_t node = group / shape->groups;
        uint32_t index = i % (shape->groups * shape->nics);

        (void)snprintf(name, sizeof(name), "node%u/nic%u", node, index);
        model->nics[i] = (vp_nic_t){vp_string_copy(name),   node,    group, model->n_resources,
                                    model->n_resources + 1, 50 * GB, 0,     VP_PCI_UNKNOWN};
        model->n_nics++;
        (void)snprintf(name, sizeof(name), "node%u/nic%u:tx", node, index);
        add_resource(model, node, VP_RESOURCE_NIC_TX, 50 * GB, name);
        (void)snprintf(name, sizeof(name), "node%u/nic%u:rx", node, index);
        add_resource(model, node, VP_RESOURCE_NIC_RX, 50 * GB, name);
    }
}

static void add_uplinks(vp_model_t *model, const test_shape_t *shape)
{
    char name[64];
    uint32_t i;

    for (i = 0; i < model->n_groups; i++) {
        uint32_t node = i / shape->groups;

        (void)snprintf(name, sizeof(name), "node%u/sw%u:up", node, i % shape->groups);
        add_resource(model, node, VP_RESOURCE_UPLINK, 64 * GB, name);
        (void)snprintf(name, sizeof(name), "node%u/sw%u:down", node, i % shape->groups);
        add_resource(model, node, VP_RESOURCE_DOWNLINK, 64 * GB, name);
    }
}

static void join_pair(vp_model_t *model, const test_shape_t *shape, uint32_t from, uint32_t to)
{
    char name[64];
    uint32_t node = from / shape->groups;
    uint32_t links[3];

    if (shape->join == VP_PATH_PXB) {
        (void)snprintf(name, sizeof(name), "node%u/sw%u>sw%u", node, from % shape->groups,
                       to % shape->groups);
        links[0] = model->n_resources;
        add_resource(model, node, VP_RESOURCE_INTER_SWITCH, 64 * GB, name);
        add_instance(model, VP_PATH_PXB, from, to, 64 * GB, 1, links);
        return;
    }
    (void)snprintf(name, sizeof(name), "node%u/sw%u:up", node, from % shape->groups);
    links[0] = test_resource(model, name);
    (void)snprintf(name, sizeof(name), "node%u/sw%u:down", node, to % shape->groups);
    links[1] = test_resource(model, name);
    if (links[0] > links[1]) {
        uint32_t swap = links[0];

        links[0] = links[1];
        links[1] = swap;
    }
    if (shape->join == VP_PATH_SYS) {
        (void)snprintf(name, sizeof(name), "node%u/socket%u>%u", node, from % shape->groups,
                       to % shape->groups);
        links[2] = model->n_resources;
        add_resource(model, node, VP_RESOURCE_SOCKET, 64 * GB, name);
    }
    add_instance(model, shape->join, from, to, 64 * GB, shape->join == VP_PATH_SYS ? 3 : 2, links);
}

static void add_paths(vp_model_t *model, const test_shape_t *shape)
{
    uint32_t from;
    uint32_t to;
    uint32_t k;

    for (from = 0; from < model->n_groups; from++) {
        add_instance(model, VP_PATH_PIX, from, from, 64 * GB, 0, NULL);
        for (to = 0; to < model->n_groups; to++) {
            if (from == to) {
                continue;
            }
            if (from / shape->groups == to / shape->groups) {
                join_pair(model, shape, from, to);
            }
            for (k = 0; k < shape->nics; k++) {
                uint32_t links[2] = {model->nics[from * shape->nics + k].tx_resource,
                                     model->nics[to * shape->nics + k].rx_resource};

                if (links[0] > links[1]) {
                    links[0] = links[1];
                    links[1] = model->nics[from * shape->nics + k].tx_resource;
                }
                add_instance(model, VP_PATH_NIC, from, to, 50 * GB, 2, links);
            }
        }
    }
}

vp_model_t *test_model(const test_shape_t *shape)
{
    vp_model_t *model = calloc(1, sizeof(*model));
    size_t n_groups = (size_t)shape->n_nodes * shape->groups;
    size_t n_nics = n_groups * shape->nics;
    vp_error_t error;

    ck_assert_ptr_nonnull(model);
    model->name = vp_string_copy("test");
    model->rates = vp_string_copy("nominal");
    model->transport = vp_string_copy("hardware");
    model->gpu_link_origin = vp_string_copy("test");
    model->n_nodes = shape->n_nodes;
    model->n_groups = (uint32_t)n_groups;
    model->n_ranks = (uint32_t)n_groups * shape->ranks;
    model->groups = vp_array_new(n_groups, sizeof(vp_group_t));
    model->nics = vp_array_new(n_nics, sizeof(vp_nic_t));
    model->resources = vp_array_new(2 * n_nics + 4 * n_groups * n_groups, sizeof(vp_resource_t));
    model->instances =
        vp_array_new(n_groups * n_groups * (2 + (size_t)shape->nics), sizeof(vp_instance_t));
    model->classes = vp_array_new(1, sizeof(vp_path_class_t));
    model->n_classes = 1;
    model->classes[0] =
        (vp_path_class_t){vp_string_copy("any"), vp_string_copy("tcp"), vp_string_copy("")};
    model->alpha_ns = 10000;
    model->put_overhead_ns = 1000;
    model->gpu_link_bytes_per_s = 64 * GB;
    add_groups(model, shape);
    add_nics(model, shape);
    if (shape->join != VP_PATH_PXB) {
        add_uplinks(model, shape);
    }
    add_paths(model, shape);
    ck_assert_int_eq(vp_model_finish(model, &error), VP_OK);
    ck_assert_msg(vp_model_check(model, &error) == VP_OK, "%s", error.text);
    return model;
}

uint32_t test_resource(const vp_model_t *model, const char *name)
{
    uint32_t i;

    for (i = 0; i < model->n_resources && strcmp(model->resources[i].name, name) != 0; i++) {
    }
    ck_assert_msg(i < model->n_resources, "no resource %s", name);
    return i;
}
