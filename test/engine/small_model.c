/* SPDX-License-Identifier: BSD-3-Clause */
#include "small_model.h"

#include <check.h>
#include <string.h>

#include "base/array.h"
#include "ranks.h"

#define GIGA UINT64_C(1000000000)

enum { FORWARD, BACKWARD, NIC0_TX, NIC0_RX, NIC1_TX, NIC1_RX, N_RESOURCES };

static void *array(size_t n, size_t size)
{
    void *memory = vp_array_new(n, size);

    ck_assert_ptr_nonnull(memory);
    return memory;
}

static char *text(const char *string)
{
    char *copy = vp_string_copy(string);

    ck_assert_ptr_nonnull(copy);
    return copy;
}

static void fill_resources(vp_model_t *model)
{
    static const struct {
        const char *name;
        vp_resource_kind_t kind;
    } resources[N_RESOURCES] = {
        {"node0/sw0>sw1", VP_RESOURCE_INTER_SWITCH}, {"node0/sw1>sw0", VP_RESOURCE_INTER_SWITCH},
        {"node0/nic0:tx", VP_RESOURCE_NIC_TX},       {"node0/nic0:rx", VP_RESOURCE_NIC_RX},
        {"node0/nic1:tx", VP_RESOURCE_NIC_TX},       {"node0/nic1:rx", VP_RESOURCE_NIC_RX},
    };
    uint32_t i;

    model->n_resources = N_RESOURCES;
    model->resources = array(N_RESOURCES, sizeof(*model->resources));
    for (i = 0; i < N_RESOURCES; i++) {
        model->resources[i] = (vp_resource_t){.name = text(resources[i].name),
                                              .kind = resources[i].kind,
                                              .bytes_per_s = 50 * GIGA,
                                              .origin = text("test")};
    }
    model->n_nics = 2;
    model->nics = array(2, sizeof(*model->nics));
    model->nics[0] = (vp_nic_t){.name = text("node0/nic0"),
                                .tx_resource = NIC0_TX,
                                .rx_resource = NIC0_RX,
                                .bytes_per_s = 50 * GIGA,
                                .path_class = SMALL_NIC0};
    model->nics[1] = (vp_nic_t){.name = text("node0/nic1"),
                                .group = 1,
                                .tx_resource = NIC1_TX,
                                .rx_resource = NIC1_RX,
                                .bytes_per_s = 50 * GIGA,
                                .path_class = SMALL_NIC1};
}

static void fill_classes(vp_model_t *model)
{
    static const char *const classes[SMALL_CLASSES][3] = {
        {"pcie", RANKS_SHM_TLS, ""}, {"nic0", "tcp", "lo"}, {"nic1", "tcp", "lo"}};
    uint32_t i;

    model->n_classes = SMALL_CLASSES;
    model->classes = array(SMALL_CLASSES, sizeof(*model->classes));
    for (i = 0; i < SMALL_CLASSES; i++) {
        model->classes[i] = (vp_path_class_t){.name = text(classes[i][0]),
                                              .tls = text(classes[i][1]),
                                              .devices = text(classes[i][2])};
    }
}

static void fill_instances(vp_model_t *model)
{
    const uint32_t first = model->groups[0].n_ranks, second = model->groups[1].n_ranks;
    const vp_instance_t instances[] = {
        {VP_PATH_PIX, 0, 0, first, 64 * GIGA, SMALL_PCIE, SMALL_PCIE, 0, {0}},
        {VP_PATH_PXB, 0, 1, 1, 64 * GIGA, SMALL_PCIE, SMALL_PCIE, 1, {FORWARD}},
        {VP_PATH_NIC, 0, 1, 1, 50 * GIGA, SMALL_NIC0, SMALL_NIC1, 2, {NIC0_TX, NIC1_RX}},
        {VP_PATH_PXB, 1, 0, 1, 64 * GIGA, SMALL_PCIE, SMALL_PCIE, 1, {BACKWARD}},
        {VP_PATH_NIC, 1, 0, 1, 50 * GIGA, SMALL_NIC1, SMALL_NIC0, 2, {NIC0_RX, NIC1_TX}},
        {VP_PATH_PIX, 1, 1, second, 64 * GIGA, SMALL_PCIE, SMALL_PCIE, 0, {0}},
    };

    model->n_instances = sizeof(instances) / sizeof(instances[0]);
    model->instances = array(model->n_instances, sizeof(*model->instances));
    memcpy(model->instances, instances, sizeof(instances));
}

vp_model_t *small_model(uint32_t n_ranks)
{
    vp_model_t *model = array(1, sizeof(*model));
    vp_error_t error;

    model->name = text("small");
    model->rates = text("nominal");
    model->transport = text("local");
    model->n_nodes = 1;
    model->n_ranks = n_ranks;
    model->n_groups = 2;
    model->groups = array(2, sizeof(*model->groups));
    model->groups[0] = (vp_group_t){.name = text("node0/sw0"), .n_ranks = (n_ranks + 1) / 2};
    model->groups[1] = (vp_group_t){
        .name = text("node0/sw1"), .first_rank = (n_ranks + 1) / 2, .n_ranks = n_ranks / 2};
    model->alpha_ns = 5000;
    model->put_overhead_ns = 500;
    model->gpu_link_bytes_per_s = 64 * GIGA;
    model->gpu_link_origin = text("test");
    fill_resources(model);
    fill_classes(model);
    fill_instances(model);
    ck_assert_msg(vp_model_finish(model, &error) == VP_OK, "%s", error.text);
    return model;
}

void small_wanted(const vp_model_t *model, uint32_t place, bool wanted[SMALL_CLASSES])
{
    uint32_t group = model->rank_group[place];

    wanted[SMALL_PCIE] = true;
    wanted[SMALL_NIC0] = group == 0;
    wanted[SMALL_NIC1] = group == 1;
}
