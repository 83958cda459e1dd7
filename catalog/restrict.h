/*
 * The part of a machine that a sub-communicator sees.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_RESTRICT_H
#define VP_CATALOG_RESTRICT_H

#include "catalog/model.h"

/*
 * Makes the model of n_ranks ranks of a checked model, strictly ascending:
 * rank k of the result is ranks[k] of `model`. A communicator with another
 * order sorts its members first and maps its own ranks to these.
 *
 * Groups keep the ranks that are listed; groups and nodes without any are
 * gone, with their NICs. Instances between the groups that are left stay, with
 * as many copies as these can use; a group of one rank keeps no local instance
 * with a footprint. Resources that no NIC or instance of the result names are
 * gone. Names, classes, contention and rates stay. The result passes
 * vp_model_check and depends only on the model and the set of ranks, so that
 * catalogs made from it have equal fingerprints everywhere; restricting it
 * again gives what restricting `model` at once would give.
 *
 * Linear in instances and resources, without communication. *model_p belongs
 * to the caller and is untouched on failure. VP_ERR_USAGE: no ranks, not
 * ascending, or beyond the model; VP_ERR_NO_MEMORY.
 */
vp_status_t vp_model_restrict(const vp_model_t *model, const uint32_t *ranks, uint32_t n_ranks,
                              vp_model_t **model_p, vp_error_t *error) VP_MUST_CHECK;

/*
 * A generated catalog over that model, unsealed: what a communicator of these
 * ranks plans with. The same errors; the caller destroys *catalog_p.
 */
vp_status_t vp_catalog_restrict(const vp_catalog_t *catalog, const uint32_t *ranks,
                                uint32_t n_ranks, vp_catalog_t **catalog_p,
                                vp_error_t *error) VP_MUST_CHECK;

/* The same of all ranks, to be changed: its own copy of the model. VP_ERR_NO_MEMORY. */
vp_status_t vp_catalog_restrict_to_all(const vp_catalog_t *catalog, vp_catalog_t **catalog_p,
                                       vp_error_t *error) VP_MUST_CHECK;

#endif
