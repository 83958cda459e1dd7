/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/catalog/machines.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

enum { N_CLASSES = 2, MAX_RANDOM_PATHS = 9 };

uint32_t machine_random(uint64_t *state, uint32_t bound)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)((*state >> 16) % bound);
}

uint64_t machine_seed(void)
{
    const char *text = getenv("VP_TEST_SEED");
    uint64_t seed = text == NULL ? 1 : strtoull(text, NULL, 10);

    (void)printf("seed %" PRIu64 " (VP_TEST_SEED)\n", seed);
    return seed == 0 ? 1 : seed * UINT64_C(0x9e3779b97f4a7c15);
}

static char *numbered(const char *what, uint32_t i)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%s%" PRIu32, what, i);
    return vp_string_copy(text);
}

vp_model_t *machine_new(const uint32_t *group_ranks, uint32_t n_groups, uint32_t n_resources,
                        uint32_t max_instances)
{
    vp_model_t *model = vp_array_new(1, sizeof(*model));
    uint32_t i;

    ck_assert_ptr_nonnull(model);
    model->name = vp_string_copy("machine");
    model->rates = vp_string_copy("nominal");
    model->transport = vp_string_copy("local");
    model->gpu_link_origin = vp_string_copy("test");
    model->gpu_link_bytes_per_s = 64;
    model->n_nodes = 1;
    model->groups = vp_array_new(n_groups, sizeof(*model->groups));
    model->resources = vp_array_new(n_resources, sizeof(*model->resources));
    model->classes = vp_array_new(N_CLASSES, sizeof(*model->classes));
    model->instances = vp_array_new(max_instances, sizeof(*model->instances));
    for (i = 0; i < n_groups; i++) {
        model->groups[i] = (vp_group_t){
            .name = numbered("sw", i), .first_rank = model->n_ranks, .n_ranks = group_ranks[i]};
        model->n_ranks += group_ranks[i];
    }
    for (i = 0; i < n_resources; i++) {
        model->resources[i] = (vp_resource_t){.name = numbered("link", i),
                                              .kind = VP_RESOURCE_INTER_SWITCH,
                                              .bytes_per_s = 64,
                                              .origin = vp_string_copy("test")};
    }
    for (i = 0; i < N_CLASSES; i++) {
        model->classes[i] = (vp_path_class_t){.name = numbered("class", i),
                                              .tls = vp_string_copy("posix,cma"),
                                              .devices = vp_string_copy("")};
    }
    model->n_groups = n_groups;
    model->n_resources = n_resources;
    model->n_classes = N_CLASSES;
    return model;
}

void machine_add(vp_model_t *model, uint32_t from, uint32_t to, uint64_t bytes_per_s,
                 uint32_t n_copies, uint32_t resource_mask, uint32_t path_class)
{
    vp_instance_t *it = &model->instances[model->n_instances++];
    uint32_t i;

    *it = (vp_instance_t){.kind = from != to ? VP_PATH_PXB : VP_PATH_PIX,
                          .from_group = from,
                          .to_group = to,
                          .n_copies = n_copies,
                          .bytes_per_s = bytes_per_s,
                          .source_class = path_class,
                          .destination_class = path_class};
    for (i = 0; i < model->n_resources; i++) {
        if ((resource_mask >> i & 1) != 0) {
            it->resources[it->n_resources++] = i;
        }
    }
}

void machine_finish(vp_model_t *model)
{
    vp_error_t error = {.text = ""};

    ck_assert_msg(vp_model_finish(model, &error) == VP_OK, "%s", error.text);
    ck_assert_msg(vp_model_check(model, &error) == VP_OK, "%s", error.text);
}

static bool has_instance(const vp_model_t *model, const vp_instance_t *wanted)
{
    uint32_t i;
    uint32_t k;

    for (i = 0; i < model->n_instances - 1; i++) {
        const vp_instance_t *it = &model->instances[i];
        bool is_equal = it->from_group == wanted->from_group && it->to_group == wanted->to_group &&
                        it->source_class == wanted->source_class &&
                        it->n_resources == wanted->n_resources;

        for (k = 0; is_equal && k < it->n_resources; k++) {
            is_equal = it->resources[k] == wanted->resources[k];
        }
        if (is_equal) {
            return true;
        }
    }
    return false;
}

static uint32_t at_most(const vp_model_t *model, uint32_t from, uint32_t to)
{
    uint32_t n_from = model->groups[from].n_ranks;
    uint32_t n_to = model->groups[to].n_ranks;

    return n_from < n_to ? n_from : n_to;
}

/* Local paths of most groups, now and then two of them, or too few copies. */
static void add_local(uint64_t *state, vp_model_t *model, uint32_t group)
{
    uint32_t n_ranks = model->groups[group].n_ranks;

    if (machine_random(state, 8) != 0) {
        machine_add(model, group, group, 1 + machine_random(state, 3),
                    machine_random(state, 4) == 0 ? 1 + machine_random(state, n_ranks) : n_ranks, 0,
                    0);
    }
    if (machine_random(state, 5) == 0) {
        machine_add(model, group, group, 1 + machine_random(state, 3),
                    1 + machine_random(state, n_ranks), 0, 1);
    }
}

vp_model_t *machine_make_random(uint64_t *state)
{
    uint32_t group_ranks[3];
    uint32_t n_groups = 1 + machine_random(state, 3);
    uint32_t n_resources = 1 + machine_random(state, 6);
    uint32_t n_paths = machine_random(state, MAX_RANDOM_PATHS + 1);
    vp_model_t *model;
    uint32_t i;

    for (i = 0; i < n_groups; i++) {
        group_ranks[i] = 1 + machine_random(state, 3);
    }
    model = machine_new(group_ranks, n_groups, n_resources, n_paths + 2 * n_groups);
    for (i = 0; i < n_groups; i++) {
        add_local(state, model, i);
    }
    for (i = 0; i < n_paths; i++) {
        uint32_t from = machine_random(state, n_groups);
        uint32_t to = machine_random(state, n_groups);
        uint32_t mask = 1U << machine_random(state, n_resources);

        mask |= machine_random(state, 3) == 0 ? 1U << machine_random(state, n_resources) : 0;
        mask = from != to && machine_random(state, 6) == 0 ? 0 : mask;
        machine_add(model, from, to, 1 + machine_random(state, 3),
                    mask != 0 ? 1 : 1 + machine_random(state, at_most(model, from, to)), mask,
                    machine_random(state, N_CLASSES));
        if (has_instance(model, &model->instances[model->n_instances - 1])) {
            model->n_instances--;
        }
    }
    machine_finish(model);
    return model;
}
