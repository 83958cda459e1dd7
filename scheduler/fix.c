/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/fix.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static bool is_nearer(const vp_instance_t *a, const vp_instance_t *b)
{
    return a->bytes_per_s != b->bytes_per_s ? a->bytes_per_s > b->bytes_per_s
                                            : a->n_resources < b->n_resources;
}

vp_status_t vp_fix_paths(const vp_model_t *model, bool **is_excluded_p, vp_error_t *error)
{
    bool *is_excluded = vp_array_new(model->n_instances, sizeof(*is_excluded));
    size_t pair;

    if (is_excluded == NULL) {
        return vp_error_no_memory(error, "the excluded paths");
    }
    for (pair = 0; pair < vp_pair(model, model->n_groups, 0); pair++) {
        uint32_t nearest = model->pair_begin[pair];
        uint32_t r;

        for (r = nearest + 1; r < model->pair_begin[pair + 1]; r++) {
            bool is_replaced = is_nearer(&model->instances[r], &model->instances[nearest]);

            is_excluded[is_replaced ? nearest : r] = true;
            nearest = is_replaced ? r : nearest;
        }
    }
    *is_excluded_p = is_excluded;
    return VP_OK;
}

static bool is_left(const vp_catalog_t *catalog, uint32_t family, const bool *is_excluded)
{
    uint32_t m = catalog->member_begin[family];

    while (m < catalog->member_begin[family + 1] && !is_excluded[catalog->members[m].instance]) {
        m++;
    }
    return m == catalog->member_begin[family + 1];
}

static void copy_family(vp_catalog_t *view, const vp_catalog_t *catalog, uint32_t family)
{
    uint32_t begin = catalog->member_begin[family];
    uint32_t n_members = catalog->member_begin[family + 1] - begin;
    uint32_t at = view->member_begin[view->n_families];

    memcpy(view->members + at, catalog->members + begin, n_members * sizeof(*view->members));
    view->member_begin[++view->n_families] = at + n_members;
}

static void copy_what_is_left(vp_catalog_t *view, const vp_catalog_t *catalog,
                              const bool *is_excluded)
{
    size_t n_pairs = vp_pair(catalog->model, catalog->model->n_groups, 0);
    uint32_t shape;
    uint32_t i;

    for (shape = 0; shape < catalog->n_shapes; shape++) {
        vp_shape_t bucket = {view->n_families, 0};

        for (i = 0; i < catalog->shapes[shape].n_families; i++) {
            if (is_left(catalog, catalog->shapes[shape].first_family + i, is_excluded)) {
                copy_family(view, catalog, catalog->shapes[shape].first_family + i);
                bucket.n_families++;
            }
        }
        if (bucket.n_families > 0) {
            memcpy(view->shape_lanes + view->n_shapes * n_pairs,
                   catalog->shape_lanes + shape * n_pairs, n_pairs * sizeof(*view->shape_lanes));
            view->shapes[view->n_shapes++] = bucket;
        }
    }
}

vp_status_t vp_fix_catalog(const vp_catalog_t *catalog, const bool *is_excluded,
                           vp_catalog_t **view_p, vp_error_t *error)
{
    size_t n_pairs = vp_pair(catalog->model, catalog->model->n_groups, 0);
    size_t n_members = catalog->n_families == 0 ? 0 : catalog->member_begin[catalog->n_families];
    vp_catalog_t *view = vp_array_new(1, sizeof(*view));

    if (view == NULL) {
        return vp_error_no_memory(error, "a part of a catalog");
    }
    view->model = catalog->model;
    view->mode = catalog->mode;
    view->shape_lanes = vp_array_new(catalog->n_shapes * n_pairs, sizeof(*view->shape_lanes));
    view->shapes = vp_array_new(catalog->n_shapes, sizeof(*view->shapes));
    view->member_begin = vp_array_new((size_t)catalog->n_families + 1, sizeof(*view->member_begin));
    view->members = vp_array_new(n_members, sizeof(*view->members));
    if (view->shape_lanes == NULL || view->shapes == NULL || view->member_begin == NULL ||
        view->members == NULL) {
        vp_fix_catalog_destroy(view);
        return vp_error_no_memory(error, "a part of a catalog");
    }
    copy_what_is_left(view, catalog, is_excluded);
    *view_p = view;
    return VP_OK;
}

void vp_fix_catalog_destroy(vp_catalog_t *view)
{
    if (view != NULL) {
        view->model = NULL; /* borrowed */
        vp_catalog_destroy(view);
    }
}
