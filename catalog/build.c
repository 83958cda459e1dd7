/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/build.h"

#include <stdlib.h>

#include "base/array.h"
#include "catalog/families.h"

static uint32_t count_shapes(const vp_families_t *families)
{
    uint32_t n_shapes = 0;
    size_t i;

    for (i = 0; i < families->n_families; i++) {
        n_shapes +=
            i == 0 || !vp_families_same_shape(&families->families[i - 1], &families->families[i]);
    }
    return n_shapes;
}

static size_t count_members(const vp_families_t *families)
{
    size_t n_members = 0;
    size_t i;

    for (i = 0; i < families->n_families; i++) {
        n_members += families->families[i].n_selected;
    }
    return n_members;
}

/* Appends a family, and its shape when that is new. */
static void add_family(vp_catalog_t *catalog, size_t n_pairs, const vp_family_t *family,
                       bool is_new_shape)
{
    uint32_t at = catalog->member_begin[catalog->n_families];
    uint32_t i;

    if (is_new_shape) {
        uint16_t *lanes = catalog->shape_lanes + n_pairs * catalog->n_shapes;

        for (i = 0; i < family->n_selected; i++) {
            lanes[family->selected[i].pair] =
                (uint16_t)(lanes[family->selected[i].pair] + family->selected[i].count);
        }
        catalog->shapes[catalog->n_shapes++] =
            (vp_shape_t){.first_family = catalog->n_families, .n_families = 0};
    }
    for (i = 0; i < family->n_selected; i++) {
        catalog->members[at++] = (vp_member_t){.instance = family->selected[i].instance,
                                               .count = family->selected[i].count};
    }
    catalog->shapes[catalog->n_shapes - 1].n_families++;
    catalog->member_begin[++catalog->n_families] = at;
}

/* Makes the tree of pruned families; the model is not in it yet. */
static vp_status_t make_tree(const vp_families_t *families, uint32_t n_groups,
                             vp_catalog_t **catalog_p, vp_error_t *error)
{
    size_t n_pairs = (size_t)n_groups * n_groups;
    uint32_t n_shapes = count_shapes(families);
    size_t n_members = count_members(families);
    vp_catalog_t *catalog;
    size_t i;

    if (n_members > UINT32_MAX) {
        return vp_error_set(error, VP_ERR_LIMIT,
                            "the catalog would have %zu members, more than its index can count; "
                            "use fewer nodes or a smaller budget of families",
                            n_members);
    }
    catalog = vp_array_new(1, sizeof(*catalog));
    if (catalog == NULL) {
        return vp_error_no_memory(error, "a catalog");
    }
    catalog->mode = VP_CATALOG_EXHAUSTIVE;
    catalog->build_steps = families->n_steps;
    catalog->shape_lanes = vp_array_new(n_shapes * n_pairs, sizeof(*catalog->shape_lanes));
    catalog->shapes = vp_array_new(n_shapes, sizeof(*catalog->shapes));
    catalog->member_begin = vp_array_new(families->n_families + 1, sizeof(*catalog->member_begin));
    catalog->members = vp_array_new(n_members, sizeof(*catalog->members));
    if (catalog->shape_lanes == NULL || catalog->shapes == NULL || catalog->member_begin == NULL ||
        catalog->members == NULL) {
        vp_catalog_destroy(catalog);
        return vp_error_no_memory(error, "a catalog");
    }
    for (i = 0; i < families->n_families; i++) {
        add_family(catalog, n_pairs, &families->families[i],
                   i == 0 ||
                       !vp_families_same_shape(&families->families[i - 1], &families->families[i]));
    }
    *catalog_p = catalog;
    return VP_OK;
}

static vp_status_t build_exhaustive(vp_model_t **model_p, const vp_build_options_t *options,
                                    const vp_build_watch_t *watch, vp_catalog_t **catalog_p,
                                    vp_error_t *error)
{
    vp_families_t families = {0};
    vp_catalog_t *catalog = NULL;
    vp_status_t status;

    vp_model_prune_paths(*model_p);
    status = vp_families_enumerate(*model_p, options, watch, &families, error);
    if (status == VP_OK) {
        vp_families_prune(&families);
        status = make_tree(&families, (*model_p)->n_groups, &catalog, error);
    }
    vp_families_clear(&families);
    if (status != VP_OK) {
        return status;
    }
    catalog->model = *model_p;
    *model_p = NULL;
    *catalog_p = catalog;
    return VP_OK;
}

vp_status_t vp_catalog_generate(vp_model_t **model_p, vp_catalog_t **catalog_p, vp_error_t *error)
{
    vp_families_t none = {0};
    vp_catalog_t *catalog = NULL;
    vp_status_t status = make_tree(&none, (*model_p)->n_groups, &catalog, error);

    if (status != VP_OK) {
        return status;
    }
    vp_model_prune_paths(*model_p);
    catalog->mode = VP_CATALOG_GENERATED;
    catalog->model = *model_p;
    *model_p = NULL;
    *catalog_p = catalog;
    return VP_OK;
}

vp_status_t vp_catalog_make(vp_model_t **model_p, vp_build_mode_t mode,
                            const vp_build_options_t *options, const vp_build_watch_t *watch,
                            vp_catalog_t **catalog_p, vp_error_t *error)
{
    vp_status_t status = VP_ERR_LIMIT;

    if (mode == VP_BUILD_EXHAUSTIVE ||
        (mode == VP_BUILD_AUTO && (*model_p)->n_groups <= VP_BUILD_AUTO_MAX_GROUPS)) {
        status = build_exhaustive(model_p, options, watch, catalog_p, error);
    }
    if (status == VP_ERR_LIMIT && mode != VP_BUILD_EXHAUSTIVE) {
        status = vp_catalog_generate(model_p, catalog_p, error);
    }
    return status;
}

vp_status_t vp_catalog_build(vp_model_t **model_p, const vp_build_options_t *options,
                             vp_catalog_t **catalog_p, vp_error_t *error)
{
    return vp_catalog_make(model_p, VP_BUILD_EXHAUSTIVE, options, NULL, catalog_p, error);
}
