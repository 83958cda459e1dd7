/*
 * All channel families of a small machine, the slow and plain way: every
 * assignment of counts to instances is tried and judged as a whole. Shares no
 * code with the product.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_CATALOG_BRUTE_FORCE_H
#define VP_TEST_CATALOG_BRUTE_FORCE_H

#include "catalog/model.h"

enum { BRUTE_MAX_LANES = 16 };

/* A family as the sorted list of its lanes, which says nothing of instance indices. */
typedef struct brute_lane {
    uint32_t pair;
    uint32_t resource_mask;
    uint64_t bytes_per_s;
} brute_lane_t;

typedef struct brute_family {
    uint32_t n_lanes;
    brute_lane_t lanes[BRUTE_MAX_LANES];
} brute_family_t;

typedef struct brute_list {
    brute_family_t *families;
    size_t n;
    size_t capacity;
} brute_list_t;

/* All families of an unpruned model, pruned, sorted. Free list->families. */
void brute_enumerate(const vp_model_t *model, brute_list_t *list);
/* The families of a catalog in the same form. */
void brute_convert(const vp_catalog_t *catalog, brute_list_t *list);
int brute_compare(const void *a, const void *b);

#endif
