/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/avoid.h"

#include <stdlib.h>

#include "base/array.h"
#include "catalog/restrict.h"

static bool is_avoided(const vp_instance_t *it, const vp_avoided_t *avoided, size_t n_avoided)
{
    size_t i;

    for (i = 0; i < n_avoided; i++) {
        if (it->kind != VP_PATH_HOST && it->from_group == avoided[i].from_group &&
            it->to_group == avoided[i].to_group && it->source_class == avoided[i].source_class &&
            it->destination_class == avoided[i].destination_class) {
            return true;
        }
    }
    return false;
}

/* Drops or converts the instances of one pair of groups; returns how many are kept, at `to`. */
static uint32_t avoid_pair(const vp_model_t *model, size_t pair, const vp_avoided_t *avoided,
                           size_t n_avoided, vp_instance_t *to)
{
    uint32_t begin = model->pair_begin[pair], end = model->pair_begin[pair + 1];
    uint32_t i, n_kept = 0;

    for (i = begin; i < end; i++) {
        if (!is_avoided(&model->instances[i], avoided, n_avoided)) {
            to[n_kept++] = model->instances[i];
        }
    }
    if (n_kept > 0) {
        return n_kept;
    }
    for (i = begin; i < end; i++) {
        to[n_kept] = model->instances[i];
        to[n_kept++].kind = VP_PATH_HOST;
    }
    return n_kept;
}

static vp_status_t avoid_all(vp_model_t *model, const vp_avoided_t *avoided, size_t n_avoided,
                             vp_error_t *error)
{
    vp_instance_t *kept = vp_array_new(model->n_instances, sizeof(*kept));
    size_t pair, n_pairs = (size_t)model->n_groups * model->n_groups;
    uint32_t n_kept = 0;

    if (kept == NULL) {
        return vp_error_no_memory(error, "the paths of a communicator");
    }
    for (pair = 0; pair < n_pairs; pair++) {
        n_kept += avoid_pair(model, pair, avoided, n_avoided, kept + n_kept);
    }
    free(model->instances);
    model->instances = kept;
    model->n_instances = n_kept;
    return vp_model_finish(model, error);
}

vp_status_t vp_catalog_avoid(const vp_catalog_t *catalog, const vp_avoided_t *avoided,
                             size_t n_avoided, vp_catalog_t **catalog_p, vp_error_t *error)
{
    vp_catalog_t *result = NULL;
    vp_status_t status = vp_catalog_restrict_to_all(catalog, &result, error);

    if (status == VP_OK) {
        status = avoid_all(result->model, avoided, n_avoided, error);
    }
    if (status != VP_OK) {
        vp_catalog_destroy(result);
        return status;
    }
    *catalog_p = result;
    return VP_OK;
}
