/*
 * What an ablation leaves of a catalog; private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_FIX_H
#define VP_SCHEDULER_FIX_H

#include "catalog/model.h"

/*
 * Marks every instance but the nearest of its group pair: the fastest, of
 * equals the one with the smallest footprint, then the first. The caller frees
 * *is_excluded_p, [n_instances].
 */
vp_status_t vp_fix_paths(const vp_model_t *model, bool **is_excluded_p,
                         vp_error_t *error) VP_MUST_CHECK;

/*
 * The catalog without the families that select an excluded instance, and
 * without the shapes that lose all of theirs. *view_p borrows the model;
 * vp_fix_catalog_destroy frees the rest.
 */
vp_status_t vp_fix_catalog(const vp_catalog_t *catalog, const bool *is_excluded,
                           vp_catalog_t **view_p, vp_error_t *error) VP_MUST_CHECK;
void vp_fix_catalog_destroy(vp_catalog_t *view);

#endif
