/* SPDX-License-Identifier: BSD-3-Clause */
#include "node_model.h"

#include <stdio.h>

#include "base/array.h"
#include "ranks.h"

#define GIGA UINT64_C(1000000000)

static void *array(size_t n, size_t size)
{
    void *memory = vp_array_new(n, size);

    RANKS_CHECK(memory != NULL, "no memory");
    return memory;
}

static char *text(const char *format, uint32_t node)
{
    char string[32], *copy;

    (void)snprintf(string, sizeof(string), format, node);
    copy = vp_string_copy(string);
    RANKS_CHECK(copy != NULL, "no memory");
    return copy;
}

static void fill_node(vp_model_t *model, uint32_t node, uint32_t n_ranks)
{
    static const vp_resource_kind_t kinds[] = {VP_RESOURCE_NIC_TX, VP_RESOURCE_NIC_RX};
    uint32_t i;

    model->groups[node] = (vp_group_t){.name = text("node%u/sw0", node),
                                       .node = node,
                                       .first_rank = model->n_ranks,
                                       .n_ranks = n_ranks};
    for (i = 0; i < 2; i++) {
        model->resources[2 * node + i] =
            (vp_resource_t){.name = text(i == 0 ? "node%u/nic0:tx" : "node%u/nic0:rx", node),
                            .kind = kinds[i],
                            .node = node,
                            .bytes_per_s = 12 * GIGA,
                            .origin = text("test", 0)};
    }
    model->nics[node] = (vp_nic_t){.name = text("node%u/nic0", node),
                                   .node = node,
                                   .group = node,
                                   .tx_resource = 2 * node,
                                   .rx_resource = 2 * node + 1,
                                   .bytes_per_s = 12 * GIGA,
                                   .path_class = NODE_NIC};
    model->n_ranks += n_ranks;
}

static void fill_instances(vp_model_t *model)
{
    uint32_t from, to;

    model->instances = array((size_t)model->n_nodes * model->n_nodes, sizeof(*model->instances));
    for (from = 0; from < model->n_nodes; from++) {
        for (to = 0; to < model->n_nodes; to++) {
            vp_instance_t *instance = &model->instances[model->n_instances++];

            if (from == to) {
                *instance = (vp_instance_t){
                    VP_PATH_PIX, from, to, model->groups[from].n_ranks, 64 * GIGA, NODE_PCIE,
                    NODE_PCIE,   0,    {0}};
                model->n_instances -= model->groups[from].n_ranks == 1;
            } else {
                uint32_t tx = 2 * from, rx = 2 * to + 1;

                *instance = (vp_instance_t){VP_PATH_NIC, from,     to, 1,       12 * GIGA,
                                            NODE_NIC,    NODE_NIC, 2,  {tx, rx}};
                if (rx < tx) {
                    instance->resources[0] = rx;
                    instance->resources[1] = tx;
                }
            }
        }
    }
}

vp_model_t *node_model(uint32_t n_nodes, const uint32_t *n_ranks)
{
    vp_model_t *model = array(1, sizeof(*model));
    vp_error_t error;
    uint32_t node;

    model->name = text("nodes", 0);
    model->rates = text("nominal", 0);
    model->transport = text("local", 0);
    model->n_nodes = model->n_groups = model->n_nics = n_nodes;
    model->n_resources = 2 * n_nodes;
    model->groups = array(n_nodes, sizeof(*model->groups));
    model->resources = array(model->n_resources, sizeof(*model->resources));
    model->nics = array(n_nodes, sizeof(*model->nics));
    for (node = 0; node < n_nodes; node++) {
        fill_node(model, node, n_ranks[node]);
    }
    model->n_classes = NODE_CLASSES;
    model->classes = array(NODE_CLASSES, sizeof(*model->classes));
    model->classes[NODE_PCIE] = (vp_path_class_t){text("pcie", 0), text("posix", 0), text("", 0)};
    model->classes[NODE_NIC] = (vp_path_class_t){text("nic0", 0), text("tcp", 0), text("lo", 0)};
    fill_instances(model);
    model->alpha_ns = 5000;
    model->put_overhead_ns = 500;
    model->gpu_link_bytes_per_s = 64 * GIGA;
    model->gpu_link_origin = text("test", 0);
    RANKS_CHECK(vp_model_finish(model, &error) == VP_OK, "%s", error.text);
    return model;
}
