/*
 * Catalog construction: Algorithm 1 of the paper (depth-first enumeration of
 * channel families) with both prunings, and generated catalogs, which leave
 * the channels to the scheduler.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_BUILD_H
#define VP_CATALOG_BUILD_H

#include "catalog/model.h"

typedef struct vp_build_options {
    uint64_t max_steps;    /* visited states of the search; 0: VP_BUILD_MAX_STEPS */
    uint32_t max_families; /* families found, before PruneFamilies; 0: VP_BUILD_MAX_FAMILIES */
} vp_build_options_t;

/* Somebody who is told, now and then during a search, what it has done so far. */
typedef struct vp_build_watch {
    void (*tell)(void *context, uint64_t n_steps, size_t n_families);
    void *context;
} vp_build_watch_t;

/* Which catalog to make; auto: exhaustive where the budgets allow it, else generated. */
typedef enum vp_build_mode {
    VP_BUILD_AUTO,
    VP_BUILD_EXHAUSTIVE,
    VP_BUILD_GENERATED
} vp_build_mode_t;

#define VP_BUILD_MAX_STEPS UINT64_C(4000000)
#define VP_BUILD_MAX_FAMILIES UINT32_C(16384)
/*
 * Groups up to which an exhaustive catalog is tried when both modes will do.
 * Already 8 groups of a rank each that all reach each other have 8! families;
 * far beyond that the search would only burn its budgets, and memory.
 */
enum { VP_BUILD_AUTO_MAX_GROUPS = 16 };

/*
 * PrunePaths: removes every instance r for which another instance r' of the
 * same group pair has L(r') subset of L(r), at least its rate, and one of the
 * two strictly better. An r' without footprint must also have a copy for every
 * lane of the pair, or it could not stand in for r. The model stays finished.
 */
void vp_model_prune_paths(vp_model_t *model);

/*
 * Balance (Equation 1) where local lanes are short: the positions that the
 * other lanes of a group leave open go to its local instances without
 * footprint, the fastest first. Positions for which it has no copy left (or no
 * such instance at all) stay without a lane: those ranks are idle, as a local
 * lane bound to one rank at both ends would be. So a group always has as many
 * lanes out as in, and fewer than g_a only when its local copies are used up.
 * A family has at least one lane; a machine without paths has no families.
 *
 * Builds the exhaustive catalog and takes over *model_p (set to NULL on
 * success; on failure it stays the caller's, paths possibly pruned). Budgets
 * count steps and families, never time, so a machine either has a catalog or
 * has none. VP_ERR_LIMIT: a budget was reached, with the counts so far and the
 * remedy; VP_ERR_NO_MEMORY. build_ns is left 0 for the caller to fill.
 */
vp_status_t vp_catalog_build(vp_model_t **model_p, const vp_build_options_t *options,
                             vp_catalog_t **catalog_p, vp_error_t *error) VP_MUST_CHECK;

/*
 * Makes a generated catalog: the pruned path instances, and no list of
 * channels. Takes over *model_p in the same way. VP_ERR_NO_MEMORY.
 */
vp_status_t vp_catalog_generate(vp_model_t **model_p, vp_catalog_t **catalog_p,
                                vp_error_t *error) VP_MUST_CHECK;

/*
 * The catalog of that mode; takes over *model_p likewise. Auto decides alike on
 * every rank, because budgets count. options and watch may be NULL.
 */
vp_status_t vp_catalog_make(vp_model_t **model_p, vp_build_mode_t mode,
                            const vp_build_options_t *options, const vp_build_watch_t *watch,
                            vp_catalog_t **catalog_p, vp_error_t *error) VP_MUST_CHECK;

#endif
