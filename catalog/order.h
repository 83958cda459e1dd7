/*
 * The order of path instances; private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_ORDER_H
#define VP_CATALOG_ORDER_H

#include "catalog/model.h"

/* Order of footprints: by resources, then by length. 0: identical. */
int vp_footprint_compare(const vp_instance_t *a, const vp_instance_t *b);

/*
 * Total order of the model's instances: (from_group, to_group, kind, classes,
 * footprint), then rate and copies. 0: the same instance.
 */
int vp_instance_compare(const vp_instance_t *a, const vp_instance_t *b);

/* Sorts n instances by that order. */
void vp_instances_sort(vp_instance_t *instances, size_t n);

/* Fills pair_begin, which has room for all pairs, from the sorted instances. */
void vp_model_index_pairs(vp_model_t *model);

#endif
