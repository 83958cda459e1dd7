/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/advice.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

typedef struct adviser {
    const vp_model_t *model;
    vp_advice_fn_t tell;
    void *context;
    uint32_t n_told;
} adviser_t;

static void advise(adviser_t *adviser, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void advise(adviser_t *adviser, const char *format, ...)
{
    char text[VP_ERROR_TEXT_BYTES];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    adviser->tell(adviser->context, text);
    adviser->n_told++;
}

static void advise_sizes(adviser_t *adviser)
{
    const vp_model_t *model = adviser->model;
    uint32_t i;

    for (i = 1; i < model->n_groups; i++) {
        if (model->groups[i].n_ranks != model->groups[0].n_ranks) {
            advise(adviser,
                   "groups have different sizes: %s has %" PRIu32 " ranks, %s has %" PRIu32
                   "; channels between them leave the positions of some ranks idle",
                   model->groups[0].name, model->groups[0].n_ranks, model->groups[i].name,
                   model->groups[i].n_ranks);
            return;
        }
    }
}

/* Does a path out of the group leave it through a NIC? */
static bool has_nic(const vp_model_t *model, uint32_t group)
{
    uint32_t end = model->pair_begin[vp_pair(model, group, model->n_groups - 1) + 1];
    uint32_t i;
    uint32_t k;

    for (i = model->pair_begin[vp_pair(model, group, 0)]; i < end; i++) {
        const vp_instance_t *it = &model->instances[i];

        for (k = 0; k < it->n_resources; k++) {
            if (model->resources[it->resources[k]].kind == VP_RESOURCE_NIC_TX) {
                return true;
            }
        }
    }
    return false;
}

static void advise_nics(adviser_t *adviser)
{
    const vp_model_t *model = adviser->model;
    uint32_t first = UINT32_MAX;
    uint32_t n = 0;
    uint32_t i;

    for (i = 0; i < model->n_groups; i++) {
        if (!has_nic(model, i)) {
            first = n++ == 0 ? i : first;
        }
    }
    if (n > 0 && n < model->n_groups) {
        advise(adviser,
               "%s has no way through a NIC (%" PRIu32 " of %" PRIu32
               " groups); give it one, or let the NIC of another switch serve it",
               model->groups[first].name, n, model->n_groups);
    }
}

static bool is_connected(const vp_model_t *model, size_t pair)
{
    return model->pair_begin[pair] < model->pair_begin[pair + 1];
}

static void advise_paths(adviser_t *adviser)
{
    const vp_model_t *model = adviser->model;
    size_t n_pairs = (size_t)model->n_groups * model->n_groups;
    size_t n_apart = 0;
    size_t first_apart = 0;
    uint32_t n_split = 0;
    uint32_t first_split = 0;
    size_t pair;

    for (pair = 0; pair < n_pairs; pair++) {
        uint32_t from = (uint32_t)(pair / model->n_groups);

        if (is_connected(model, pair) || pair % model->n_groups == from) {
            continue;
        }
        first_apart = n_apart++ == 0 ? pair : first_apart;
    }
    for (pair = 0; pair < model->n_groups; pair++) {
        if (model->groups[pair].n_ranks > 1 &&
            !is_connected(model, pair * model->n_groups + pair)) {
            first_split = n_split++ == 0 ? (uint32_t)pair : first_split;
        }
    }
    if (n_split > 0) {
        advise(adviser,
               "the ranks of %s have no path to each other (%" PRIu32
               " such groups); list a path from the switch to itself",
               model->groups[first_split].name, n_split);
    }
    if (n_apart > 0) {
        advise(adviser,
               "no path leads from %s to %s (%zu such pairs of groups); bytes between them cannot "
               "be planned",
               model->groups[first_apart / model->n_groups].name,
               model->groups[first_apart % model->n_groups].name, n_apart);
    }
}

/* `used` has room for all resources. */
static void advise_resources(adviser_t *adviser, bool *used)
{
    const vp_model_t *model = adviser->model;
    uint32_t first_unused = 0;
    uint32_t n_unused = 0;
    uint32_t first_unknown = 0;
    uint32_t n_unknown = 0;
    uint32_t i;
    uint32_t k;

    for (i = 0; i < model->n_instances; i++) {
        for (k = 0; k < model->instances[i].n_resources; k++) {
            used[model->instances[i].resources[k]] = true;
        }
    }
    for (i = 0; i < model->n_resources; i++) {
        if (!used[i]) {
            first_unused = n_unused++ == 0 ? i : first_unused;
        }
        if (strncmp(model->resources[i].origin, "no figure", 9) == 0) {
            first_unknown = n_unknown++ == 0 ? i : first_unknown;
        }
    }
    if (n_unused > 0) {
        advise(adviser,
               "no path uses %s (%" PRIu32 " of %" PRIu32
               " shared resources); list it in the paths that cross it, or remove it",
               model->resources[first_unused].name, n_unused, model->n_resources);
    }
    if (n_unknown > 0) {
        advise(adviser,
               "the rate of %s is an assumption (%" PRIu32 " of %" PRIu32
               " shared resources, \"%s\"); measure it",
               model->resources[first_unknown].name, n_unknown, model->n_resources,
               model->resources[first_unknown].origin);
    }
}

vp_status_t vp_model_advise(const vp_model_t *model, vp_advice_fn_t tell, void *context,
                            uint32_t *n_told_p, vp_error_t *error)
{
    adviser_t adviser = {.model = model, .tell = tell, .context = context};
    bool *used = vp_array_new(model->n_resources, sizeof(*used));

    if (used == NULL) {
        return vp_error_no_memory(error, "advice on a topology");
    }
    advise_sizes(&adviser);
    advise_nics(&adviser);
    advise_paths(&adviser);
    advise_resources(&adviser, used);
    free(used);
    *n_told_p = adviser.n_told;
    return VP_OK;
}
