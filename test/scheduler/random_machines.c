/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/scheduler/random_machines.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "scheduler/schedule.h"
#include "test/scheduler/demands.h"

enum { MAX_GROUPS = 16, MAX_NICS = 3, CHUNK_BYTES = 4096 };

/* Resources of a group: up and down links, then tx and rx of each NIC. */
enum { UP, DOWN, FIRST_NIC, PER_GROUP = FIRST_NIC + 2 * MAX_NICS };

typedef struct shape {
    uint32_t n_nodes;
    uint32_t groups_per_node;
    uint32_t n_nics;
    bool crosses_sockets; /* paths between groups of a node run over socket links too */
} shape_t;

static void *must(void *memory)
{
    if (memory == NULL) {
        (void)fprintf(stderr, "random machine: out of memory\n");
        exit(99);
    }
    return memory;
}

static uint32_t below(uint64_t *state_p, uint32_t n)
{
    return (uint32_t)(demand_random(state_p) % n);
}

static uint64_t draw_rate(uint64_t *state_p)
{
    return UINT64_C(1000000000) * (10 + below(state_p, 90)) + below(state_p, 1000);
}

static void add_instance(vp_model_t *model, vp_path_kind_t kind, uint32_t a, uint32_t d,
                         uint64_t rate, uint32_t n_resources, const uint32_t *resources)
{
    vp_instance_t *instance = &model->instances[model->n_instances++];
    uint32_t i;

    instance->kind = kind;
    instance->from_group = a;
    instance->to_group = d;
    instance->n_copies = 1;
    instance->bytes_per_s = rate;
    instance->n_resources = n_resources;
    for (i = 0; i < n_resources; i++) {
        uint32_t at = i;

        for (; at > 0 && instance->resources[at - 1] > resources[i]; at--) {
            instance->resources[at] = instance->resources[at - 1];
        }
        instance->resources[at] = resources[i];
    }
}

static void connect(vp_model_t *model, const shape_t *shape, uint32_t a, uint32_t d,
                    const uint64_t *rates, uint64_t *state_p)
{
    uint32_t socket = model->n_groups * PER_GROUP;
    uint32_t n;

    if (a == d) {
        add_instance(model, VP_PATH_PIX, a, d, rates[0], 0, NULL);
        if (below(state_p, 4) != 0) {
            model->instances[model->n_instances - 1].n_copies = model->groups[a].n_ranks;
        } else {
            model->instances[model->n_instances - 1].n_copies =
                1 + below(state_p, model->groups[a].n_ranks);
        }
        return;
    }
    if (model->groups[a].node == model->groups[d].node) {
        const uint32_t links[] = {a * PER_GROUP + UP, d * PER_GROUP + DOWN,
                                  socket + (a < d ? 0 : 1)};

        add_instance(model, VP_PATH_PXB, a, d, rates[1], shape->crosses_sockets ? 3 : 2, links);
    }
    for (n = 0; n < shape->n_nics; n++) {
        const uint32_t links[] = {a * PER_GROUP + FIRST_NIC + 2 * n,
                                  d * PER_GROUP + FIRST_NIC + 2 * n + 1};

        add_instance(model, VP_PATH_NIC, a, d, rates[2], 2, links);
    }
}

static void set_kinds(vp_model_t *model)
{
    static const vp_resource_kind_t kinds[FIRST_NIC + 2] = {
        VP_RESOURCE_UPLINK, VP_RESOURCE_DOWNLINK, VP_RESOURCE_NIC_TX, VP_RESOURCE_NIC_RX};
    uint32_t i;

    for (i = 0; i < model->n_resources; i++) {
        uint32_t at = i % PER_GROUP;

        model->resources[i].kind = i >= model->n_groups * PER_GROUP ? VP_RESOURCE_SOCKET
                                   : at < FIRST_NIC                 ? kinds[at]
                                                                    : kinds[FIRST_NIC + at % 2];
        model->resources[i].bytes_per_s = UINT64_C(1) << 37; /* no instance is faster */
    }
}

static void make_groups(vp_model_t *model, const shape_t *shape, uint32_t max_ranks,
                        uint64_t *state_p)
{
    uint32_t most = max_ranks / model->n_groups;
    bool even = below(state_p, 2) == 0;
    uint32_t size = 1 + below(state_p, most < 8 ? most : 8);
    uint32_t a;

    model->groups = must(vp_array_new(model->n_groups, sizeof(*model->groups)));
    for (a = 0; a < model->n_groups; a++) {
        model->groups[a].node = a / shape->groups_per_node;
        model->groups[a].first_rank = model->n_ranks;
        model->groups[a].n_ranks = even ? size : 1 + below(state_p, most < 8 ? most : 8);
        model->n_ranks += model->groups[a].n_ranks;
    }
}

vp_catalog_t *random_machine(uint64_t *state_p, uint32_t max_ranks)
{
    vp_catalog_t *catalog = must(vp_array_new(1, sizeof(*catalog)));
    vp_model_t *model = must(vp_array_new(1, sizeof(*model)));
    uint32_t most = max_ranks < MAX_GROUPS ? max_ranks : MAX_GROUPS;
    uint64_t rates[3] = {draw_rate(state_p), draw_rate(state_p), draw_rate(state_p)};
    shape_t shape = {.groups_per_node = 1 + below(state_p, most < 4 ? most : 4)};
    vp_error_t error;
    uint32_t a;
    uint32_t d;

    shape.n_nodes = 1 + below(state_p, most / shape.groups_per_node);
    shape.n_nics = (shape.n_nodes > 1 ? 1 : 0) + below(state_p, MAX_NICS);
    shape.crosses_sockets = below(state_p, 3) == 0;
    catalog->model = model;
    model->n_nodes = shape.n_nodes;
    model->n_groups = shape.n_nodes * shape.groups_per_node;
    make_groups(model, &shape, max_ranks, state_p);
    model->rank_group = must(vp_array_new(model->n_ranks, sizeof(*model->rank_group)));
    model->n_resources = model->n_groups * PER_GROUP + 2;
    model->resources = must(vp_array_new(model->n_resources, sizeof(*model->resources)));
    set_kinds(model);
    model->instances = must(vp_array_new((size_t)model->n_groups * model->n_groups * PER_GROUP,
                                         sizeof(*model->instances)));
    for (a = 0; a < model->n_groups; a++) {
        for (d = 0; d < model->n_groups; d++) {
            connect(model, &shape, a, d, rates, state_p);
        }
    }
    model->gpu_link_bytes_per_s = UINT64_C(100000000000); /* no instance is faster */
    if (vp_model_finish(model, &error) != VP_OK) {
        (void)fprintf(stderr, "random machine: %s\n", error.text);
        exit(99);
    }
    return catalog;
}

uint64_t *random_demand(uint64_t *state_p, uint32_t n_ranks)
{
    uint32_t kind = below(state_p, N_DEMAND_KINDS + 2);
    uint64_t *bytes = demand_make(kind < N_DEMAND_KINDS ? (demand_kind_t)kind : DEMAND_SPARSE,
                                  n_ranks, demand_random(state_p));

    if (kind == N_DEMAND_KINDS && n_ranks > 1) {
        bytes[1] = (UINT64_C(1) << 59) + below(state_p, 1000);
    }
    if (kind == N_DEMAND_KINDS + 1) {
        uint32_t zero = below(state_p, n_ranks);
        uint32_t i;

        for (i = 0; i < n_ranks; i++) {
            bytes[(size_t)zero * n_ranks + i] = 0;
        }
    }
    return bytes;
}

/* Every lane but a pair's last ends at a chunk, and none of a cut pair is below three of them. */
static void check_cuts(const vp_plan_t *plan, const uint64_t *demand_bytes)
{
    size_t i;

    for (i = 0; i < plan->n_lanes; i++) {
        const vp_lane_t *lane = &plan->lanes[i];
        uint64_t pair = demand_bytes[(size_t)lane->source * plan->n_ranks + lane->destination];
        uint64_t end = lane->offset_bytes + lane->n_bytes;

        if (lane->n_bytes == pair) {
            continue;
        }
        ck_assert_msg(end == pair || end % CHUNK_BYTES == 0,
                      "lane %zu from %" PRIu32 " to %" PRIu32 " ends at byte %" PRIu64
                      " of %" PRIu64 ", not at a chunk",
                      i, lane->source, lane->destination, end, pair);
        ck_assert_msg(lane->n_bytes > 3 * CHUNK_BYTES,
                      "lane %zu from %" PRIu32 " to %" PRIu32 " has %" PRIu64 " of %" PRIu64
                      " bytes, a sliver",
                      i, lane->source, lane->destination, lane->n_bytes, pair);
    }
}

/* The highest bound that holds for plans of this form. */
static uint64_t bound_of(const vp_plan_t *plan, const vp_model_t *model,
                         const uint64_t *demand_bytes, uint64_t alpha_ns)
{
    vp_bound_t bound = {0};
    vp_error_t error;
    vp_status_t status;

    if (plan->form.shares_ports) {
        status = vp_fluid_bound(model, demand_bytes, &bound.bound_ns, &error);
    } else if (plan->form.order == VP_PLAN_LIST) {
        status = vp_list_bound(model, demand_bytes, alpha_ns, &bound.bound_ns, &error);
    } else {
        status = vp_bound(model, demand_bytes, alpha_ns, &bound, &error);
    }
    ck_assert_msg(status == VP_OK, "%s", error.text);
    return bound.bound_ns;
}

void check_plan(const vp_plan_t *plan, const vp_model_t *model, const uint64_t *demand_bytes,
                uint64_t alpha_ns)
{
    uint64_t bound_ns = bound_of(plan, model, demand_bytes, alpha_ns);
    vp_error_t error;

    ck_assert_msg(vp_plan_check(plan, model, demand_bytes, alpha_ns, &error) == VP_OK, "%s",
                  error.text);
    ck_assert_msg(plan->time_ns >= bound_ns, "time %" PRIu64 " below bound %" PRIu64, plan->time_ns,
                  bound_ns);
    check_cuts(plan, demand_bytes);
}
