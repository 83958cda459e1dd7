/*
 * Which planner a test program runs with, and its catalogs.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_PLANNER_H
#define VP_TEST_PLANNER_H

#include "catalog/model.h"

extern const char *const planner_name;

/* A catalog of the small model that this planner can work with; the caller destroys it. */
vp_catalog_t *planner_catalog(uint32_t n_ranks);

#endif
