/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/build.h"

#include "catalog/order.h"

/* Is L(a) a subset of L(b)? Both are ascending. */
static bool is_subset(const vp_instance_t *a, const vp_instance_t *b)
{
    uint32_t i;
    uint32_t k = 0;

    for (i = 0; i < a->n_resources; i++) {
        while (k < b->n_resources && b->resources[k] < a->resources[i]) {
            k++;
        }
        if (k == b->n_resources || b->resources[k] != a->resources[i]) {
            return false;
        }
    }
    return true;
}

/* Can every lane of the group pair use the instance, as far as its copies go? */
static bool is_plentiful(const vp_model_t *model, const vp_instance_t *it)
{
    return it->n_copies >= model->groups[it->from_group].n_ranks ||
           it->n_copies >= model->groups[it->to_group].n_ranks;
}

/*
 * May `better` stand in for `worse` wherever that is selected? An instance
 * without footprint may run out of copies, so it must have one for every lane;
 * one with a footprint is never selected next to `worse` anyway.
 */
static bool dominates(const vp_model_t *model, const vp_instance_t *better,
                      const vp_instance_t *worse)
{
    return better->bytes_per_s >= worse->bytes_per_s && is_subset(better, worse) &&
           (better->bytes_per_s > worse->bytes_per_s || better->n_resources < worse->n_resources) &&
           (better->n_resources > 0 || is_plentiful(model, better));
}

static bool is_dominated(const vp_model_t *model, const vp_instance_t *it)
{
    size_t pair = vp_pair(model, it->from_group, it->to_group);
    uint32_t i;

    for (i = model->pair_begin[pair]; i < model->pair_begin[pair + 1]; i++) {
        if (model->instances[i].n_copies > 0 && dominates(model, &model->instances[i], it)) {
            return true;
        }
    }
    return false;
}

void vp_model_prune_paths(vp_model_t *model)
{
    uint32_t n_kept = 0;
    uint32_t i;

    /* No valid instance has zero copies: it marks what goes. Dominance is transitive, so a
     * marked instance is not needed to condemn others. */
    for (i = 0; i < model->n_instances; i++) {
        if (is_dominated(model, &model->instances[i])) {
            model->instances[i].n_copies = 0;
        }
    }
    for (i = 0; i < model->n_instances; i++) {
        if (model->instances[i].n_copies > 0) {
            model->instances[n_kept++] = model->instances[i];
        }
    }
    model->n_instances = n_kept;
    vp_model_index_pairs(model);
}
