/*
 * In what two catalogs differ, for people: the facts behind two fingerprints.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_DIFF_H
#define VP_CATALOG_DIFF_H

#include "catalog/model.h"

enum { VP_DIFF_MAX_FACTS = 8, VP_DIFF_FACT_BYTES = 320 };

/* Plain data, owned by whoever declares it. */
typedef struct vp_diff {
    uint32_t n_facts; /* differences that are named, the first ones */
    uint32_t n_more;  /* and how many more there are among those that were compared */
    char facts[VP_DIFF_MAX_FACTS][VP_DIFF_FACT_BYTES]; /* "alpha_ns: 10000 and 20000" */
} vp_diff_t;

/*
 * Compares two checked catalogs, or two models, fact by fact; build times and
 * steps are none. Where the numbers of elements differ, these elements are not
 * compared one by one. Returns whether they are equal; then n_facts is 0.
 */
bool vp_catalog_diff(const vp_catalog_t *a, const vp_catalog_t *b, vp_diff_t *diff);
bool vp_model_diff(const vp_model_t *a, const vp_model_t *b, vp_diff_t *diff);

#endif
