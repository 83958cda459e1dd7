/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/scheduler/machines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

const machine_t machines[] = {
    {"fig1-6", 1, 2, {3, 3}, true, false},
    {"r5080-bf3-1", 1, 2, {4, 4}, true, false},
    {"r5080-bf3-2", 2, 2, {4, 4, 4, 4}, true, false},
    {"uneven", 2, 2, {3, 1, 2, 4}, true, false},
    {"singles", 2, 2, {1, 1, 1, 1}, true, false},
    {"one-group", 1, 1, {5}, true, false},
    {"no-nic", 1, 2, {4, 4}, false, false},
    {"sockets", 1, 4, {2, 2, 2, 3}, true, true},
};
const uint32_t n_machines = sizeof(machines) / sizeof(machines[0]);

/* One family while the catalog is made: lanes per group pair and selected instances. */
enum { MAX_FAMILIES = 4096, MAX_MEMBERS = 32 };

typedef struct family {
    uint16_t lanes[MACHINE_MAX_GROUPS * MACHINE_MAX_GROUPS];
    uint32_t n_members;
    vp_member_t members[MAX_MEMBERS];
} family_t;

typedef struct search {
    const vp_model_t *model;
    family_t partial;
    uint32_t out[MACHINE_MAX_GROUPS]; /* lanes selected out of and into each group */
    uint32_t in[MACHINE_MAX_GROUPS];
    bool used[MACHINE_MAX_GROUPS * (MACHINE_MAX_GROUPS + 4)]; /* resources */
    family_t *families;
    uint32_t n_families;
} search_t;

static _Noreturn void give_up(const char *why)
{
    (void)fprintf(stderr, "test machine: %s\n", why);
    exit(99);
}

static void *must(void *memory)
{
    if (memory == NULL) {
        give_up("out of memory");
    }
    return memory;
}

const machine_t *machine_find(const char *name)
{
    uint32_t i;

    for (i = 0; i < n_machines; i++) {
        if (strcmp(machines[i].name, name) == 0) {
            return &machines[i];
        }
    }
    give_up("unknown name");
}

uint32_t machine_instance(const vp_model_t *model, vp_path_kind_t kind, uint32_t from_group,
                          uint32_t to_group)
{
    uint32_t i;

    for (i = 0; i < model->n_instances; i++) {
        if (model->instances[i].kind == kind && model->instances[i].from_group == from_group &&
            model->instances[i].to_group == to_group) {
            return i;
        }
    }
    give_up("no such instance");
}

/* Resources: links of each ordered group pair first, then four of each group. */
enum { NIC_TX, NIC_RX, UPLINK, DOWNLINK, N_GROUP_RESOURCES };

static uint32_t link_resource(const vp_model_t *model, uint32_t a, uint32_t d)
{
    return a * model->n_groups + d;
}

static uint32_t group_resource(const vp_model_t *model, uint32_t group, uint32_t which)
{
    return model->n_groups * model->n_groups + N_GROUP_RESOURCES * group + which;
}

static void add_footprint(vp_instance_t *instance, uint32_t resource)
{
    uint32_t i = instance->n_resources++;

    for (; i > 0 && instance->resources[i - 1] > resource; i--) {
        instance->resources[i] = instance->resources[i - 1];
    }
    instance->resources[i] = resource;
}

static void add_instance(vp_model_t *model, vp_path_kind_t kind, uint32_t a, uint32_t d)
{
    vp_instance_t *instance = &model->instances[model->n_instances++];

    instance->kind = kind;
    instance->from_group = a;
    instance->to_group = d;
    instance->n_copies = kind == VP_PATH_PIX ? model->groups[a].n_ranks : 1;
    instance->bytes_per_s = MACHINE_PIX_BYTES_PER_S;
    if (kind == VP_PATH_PXB) {
        instance->bytes_per_s = MACHINE_PXB_BYTES_PER_S;
        add_footprint(instance, link_resource(model, a, d));
    } else if (kind == VP_PATH_NIC) {
        instance->bytes_per_s = MACHINE_NIC_BYTES_PER_S;
        add_footprint(instance, group_resource(model, a, NIC_TX));
        add_footprint(instance, group_resource(model, d, NIC_RX));
    } else if (kind == VP_PATH_PHB || kind == VP_PATH_SYS) {
        add_footprint(instance, group_resource(model, a, UPLINK));
        add_footprint(instance, group_resource(model, d, DOWNLINK));
    }
    if (kind == VP_PATH_SYS) {
        /* One link per node and direction; the first group pair of that kind names it. */
        bool is_up = a < d;
        uint32_t first = 4 * model->groups[a].node;

        add_footprint(instance, is_up ? link_resource(model, first, first + 2)
                                      : link_resource(model, first + 2, first));
    }
}

static void add_resources(vp_model_t *model)
{
    uint32_t n_links = model->n_groups * model->n_groups;
    uint32_t i;

    model->n_resources = group_resource(model, model->n_groups, 0);
    model->resources = must(vp_array_new(model->n_resources, sizeof(*model->resources)));
    for (i = 0; i < model->n_resources; i++) {
        bool nic = i >= n_links && (i - n_links) % N_GROUP_RESOURCES <= NIC_RX;

        model->resources[i].kind = nic ? VP_RESOURCE_NIC_TX : VP_RESOURCE_INTER_SWITCH;
        model->resources[i].bytes_per_s = nic ? MACHINE_NIC_BYTES_PER_S : MACHINE_PXB_BYTES_PER_S;
    }
}

static vp_path_kind_t kind_inside_node(const machine_t *machine, uint32_t a, uint32_t d)
{
    if (!machine->with_sockets) {
        return VP_PATH_PXB;
    }
    return a / 2 == d / 2 ? VP_PATH_PHB : VP_PATH_SYS;
}

static vp_model_t *make_model(const machine_t *machine)
{
    vp_model_t *model = must(vp_array_new(1, sizeof(*model)));
    vp_error_t error;
    uint32_t a;
    uint32_t d;

    model->n_nodes = machine->n_nodes;
    model->n_groups = machine->n_nodes * machine->groups_per_node;
    model->alpha_ns = 10000;
    model->gpu_link_bytes_per_s = MACHINE_PIX_BYTES_PER_S;
    model->groups = must(vp_array_new(model->n_groups, sizeof(*model->groups)));
    model->instances = must(
        vp_array_new((size_t)model->n_groups * model->n_groups * 2, sizeof(*model->instances)));
    for (a = 0; a < model->n_groups; a++) {
        model->groups[a].node = a / machine->groups_per_node;
        model->groups[a].first_rank = model->n_ranks;
        model->groups[a].n_ranks = machine->group_ranks[a];
        model->n_ranks += machine->group_ranks[a];
    }
    model->rank_group = must(vp_array_new(model->n_ranks, sizeof(*model->rank_group)));
    add_resources(model);
    for (a = 0; a < model->n_groups; a++) {
        for (d = 0; d < model->n_groups; d++) {
            if (a == d) {
                add_instance(model, VP_PATH_PIX, a, d);
                continue;
            }
            if (model->groups[a].node == model->groups[d].node) {
                add_instance(model, kind_inside_node(machine, a, d), a, d);
            }
            if (machine->with_nics) {
                add_instance(model, VP_PATH_NIC, a, d);
            }
        }
    }
    if (vp_model_finish(model, &error) != VP_OK) {
        give_up(error.text);
    }
    return model;
}

static void add_member(family_t *family, const vp_model_t *model, uint32_t instance, uint32_t count)
{
    const vp_instance_t *facts = &model->instances[instance];

    if (family->n_members == MAX_MEMBERS) {
        give_up("too many members");
    }
    family->members[family->n_members].instance = instance;
    family->members[family->n_members].count = count;
    family->n_members++;
    family->lanes[vp_pair(model, facts->from_group, facts->to_group)] += (uint16_t)count;
}

static int compare_members(const void *a_p, const void *b_p)
{
    const vp_member_t *a = a_p;
    const vp_member_t *b = b_p;

    return a->instance < b->instance ? -1 : a->instance > b->instance;
}

/* Keeps the partial family if its groups balance; local lanes fill what is left. */
static void keep_family(search_t *search)
{
    const vp_model_t *model = search->model;
    family_t family = search->partial;
    uint32_t a;

    for (a = 0; a < model->n_groups; a++) {
        if (search->out[a] != search->in[a]) {
            return;
        }
        if (model->groups[a].n_ranks > search->out[a]) {
            add_member(&family, model, machine_instance(model, VP_PATH_PIX, a, a),
                       model->groups[a].n_ranks - search->out[a]);
        }
    }
    if (search->n_families == MAX_FAMILIES) {
        give_up("too many families");
    }
    qsort(family.members, family.n_members, sizeof(family.members[0]), compare_members);
    search->families[search->n_families++] = family;
}

static bool can_add(const search_t *search, const vp_instance_t *instance)
{
    uint32_t i;

    if (search->out[instance->from_group] == search->model->groups[instance->from_group].n_ranks ||
        search->in[instance->to_group] == search->model->groups[instance->to_group].n_ranks) {
        return false;
    }
    for (i = 0; i < instance->n_resources; i++) {
        if (search->used[instance->resources[i]]) {
            return false;
        }
    }
    return true;
}

static void mark(search_t *search, const vp_instance_t *instance, bool used)
{
    uint32_t i;

    for (i = 0; i < instance->n_resources; i++) {
        search->used[instance->resources[i]] = used;
    }
    search->out[instance->from_group] += used ? 1 : UINT32_MAX;
    search->in[instance->to_group] += used ? 1 : UINT32_MAX;
}

static void visit(search_t *search, uint32_t instance)
{
    const vp_instance_t *facts = &search->model->instances[instance];
    family_t before;

    if (instance == search->model->n_instances) {
        keep_family(search);
        return;
    }
    visit(search, instance + 1);
    if (facts->from_group == facts->to_group || !can_add(search, facts)) {
        return;
    }
    before = search->partial;
    mark(search, facts, true);
    add_member(&search->partial, search->model, instance, 1);
    visit(search, instance + 1);
    search->partial = before;
    mark(search, facts, false);
}

static int compare_families(const void *a_p, const void *b_p)
{
    const family_t *a = a_p;
    const family_t *b = b_p;
    size_t i;

    for (i = 0; i < MACHINE_MAX_GROUPS * MACHINE_MAX_GROUPS; i++) {
        if (a->lanes[i] != b->lanes[i]) {
            return a->lanes[i] < b->lanes[i] ? -1 : 1;
        }
    }
    for (i = 0; i < a->n_members && i < b->n_members; i++) {
        if (a->members[i].instance != b->members[i].instance) {
            return a->members[i].instance < b->members[i].instance ? -1 : 1;
        }
    }
    return a->n_members < b->n_members ? -1 : a->n_members > b->n_members;
}

static void add_family(vp_catalog_t *catalog, const family_t *family, uint32_t number,
                       bool new_shape)
{
    size_t n_pairs = vp_pair(catalog->model, catalog->model->n_groups, 0);

    if (new_shape) {
        catalog->shapes[catalog->n_shapes].first_family = number;
        memcpy(catalog->shape_lanes + catalog->n_shapes * n_pairs, family->lanes,
               n_pairs * sizeof(family->lanes[0]));
        catalog->n_shapes++;
    }
    catalog->shapes[catalog->n_shapes - 1].n_families++;
    memcpy(catalog->members + catalog->member_begin[number], family->members,
           family->n_members * sizeof(family->members[0]));
    catalog->member_begin[number + 1] = catalog->member_begin[number] + family->n_members;
}

vp_catalog_t *machine_catalog(const machine_t *machine)
{
    vp_catalog_t *catalog = must(vp_array_new(1, sizeof(*catalog)));
    search_t search = {.model = make_model(machine)};
    uint32_t i;

    search.families = must(vp_array_new(MAX_FAMILIES, sizeof(*search.families)));
    visit(&search, 0);
    qsort(search.families, search.n_families, sizeof(*search.families), compare_families);
    catalog->model = (vp_model_t *)search.model;
    catalog->mode = VP_CATALOG_EXHAUSTIVE;
    catalog->n_families = search.n_families;
    catalog->shapes = must(vp_array_new(search.n_families, sizeof(*catalog->shapes)));
    catalog->shape_lanes =
        must(vp_array_new(search.n_families * vp_pair(search.model, search.model->n_groups, 0),
                          sizeof(*catalog->shape_lanes)));
    catalog->member_begin =
        must(vp_array_new((size_t)search.n_families + 1, sizeof(*catalog->member_begin)));
    catalog->members =
        must(vp_array_new((size_t)search.n_families * MAX_MEMBERS, sizeof(*catalog->members)));
    for (i = 0; i < search.n_families; i++) {
        bool new_shape = i == 0 || memcmp(search.families[i].lanes, search.families[i - 1].lanes,
                                          sizeof(search.families[i].lanes)) != 0;

        add_family(catalog, &search.families[i], i, new_shape);
    }
    free(search.families);
    return catalog;
}

vp_catalog_t *machine_generated(const machine_t *machine)
{
    vp_catalog_t *catalog = must(vp_array_new(1, sizeof(*catalog)));

    catalog->model = make_model(machine);
    catalog->mode = VP_CATALOG_GENERATED;
    catalog->shape_lanes = must(vp_array_new(0, sizeof(*catalog->shape_lanes)));
    catalog->shapes = must(vp_array_new(0, sizeof(*catalog->shapes)));
    catalog->member_begin = must(vp_array_new(1, sizeof(*catalog->member_begin)));
    catalog->members = must(vp_array_new(0, sizeof(*catalog->members)));
    return catalog;
}
