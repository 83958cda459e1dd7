/*
 * Channel families while a catalog is being built; private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_FAMILIES_H
#define VP_CATALOG_FAMILIES_H

#include "catalog/build.h"

/* One selected instance, with what the comparisons of families need of it. */
typedef struct vp_selected {
    uint32_t pair;      /* group pair of the instance */
    uint32_t footprint; /* first instance of the pair with the same footprint */
    uint32_t instance;
    uint32_t count;
    uint64_t bytes_per_s;
} vp_selected_t;

typedef struct vp_family {
    size_t begin; /* into selected */
    uint32_t n_selected;
    bool is_dropped;
    vp_selected_t *selected; /* set by vp_families_prune, when the array has its final place */
} vp_family_t;

typedef struct vp_families {
    vp_selected_t *selected;
    size_t n_selected;
    size_t selected_capacity;
    vp_family_t *families;
    size_t n_families;
    size_t families_capacity;
    uint64_t n_steps;
} vp_families_t;

void vp_families_clear(vp_families_t *families);

/*
 * Algorithm 1's search over the instances of a pruned model. *families is all
 * zero before; the caller clears it whatever comes back. VP_ERR_LIMIT,
 * VP_ERR_NO_MEMORY.
 */
vp_status_t vp_families_enumerate(const vp_model_t *model, const vp_build_options_t *options,
                                  const vp_build_watch_t *watch, vp_families_t *families,
                                  vp_error_t *error) VP_MUST_CHECK;

/*
 * PruneFamilies: drops exact duplicates and families that another one of their
 * shape dominates, then puts the rest in the catalog's order.
 */
void vp_families_prune(vp_families_t *families);

/* Do two families in catalog order have the same shape? */
bool vp_families_same_shape(const vp_family_t *a, const vp_family_t *b);

#endif
