/*
 * Machines for tests of this room: hand-made and random models.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_CATALOG_MACHINES_H
#define VP_TEST_CATALOG_MACHINES_H

#include "catalog/model.h"

/* The next number of a xorshift generator (state not 0), below `bound`. */
uint32_t machine_random(uint64_t *state, uint32_t bound);
/* The seed of this run: VP_TEST_SEED or 1; printed. */
uint64_t machine_seed(void);

/*
 * One node with groups of these sizes, n_resources inter-switch resources and
 * two path classes; no instances yet, room for max_instances.
 */
vp_model_t *machine_new(const uint32_t *group_ranks, uint32_t n_groups, uint32_t n_resources,
                        uint32_t max_instances);
/* Adds an instance whose footprint is the set bits of resource_mask. */
void machine_add(vp_model_t *model, uint32_t from, uint32_t to, uint64_t bytes_per_s,
                 uint32_t n_copies, uint32_t resource_mask, uint32_t path_class);
/* Finishes and checks it. */
void machine_finish(vp_model_t *model);

/* A small finished machine: 1-3 uneven groups, up to 9 paths besides the local ones. */
vp_model_t *machine_make_random(uint64_t *state);

#endif
