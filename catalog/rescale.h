/*
 * A catalog with other rates, when links turn out to be not as fast as stated, or faster.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_RESCALE_H
#define VP_CATALOG_RESCALE_H

#include "catalog/model.h"

/* Rates of all instances of a kind between two classes, in millionths of what they are. */
typedef struct vp_rescaled {
    vp_path_kind_t kind;
    uint32_t source_class;
    uint32_t destination_class;
    uint32_t ppm; /* > 0 */
} vp_rescaled_t;

/*
 * Makes a generated catalog, unsealed, of the same ranks. A shared resource changes as the
 * fastest instance that uses it does; rates never reach 0, nor exceed the GPUs' own links, which
 * grow with them. It depends on its arguments alone; an instance takes the first element that
 * names it. The caller destroys *catalog_p. VP_ERR_NO_MEMORY.
 */
vp_status_t vp_catalog_rescale(const vp_catalog_t *catalog, const vp_rescaled_t *rescaled,
                               size_t n_rescaled, vp_catalog_t **catalog_p,
                               vp_error_t *error) VP_MUST_CHECK;

#endif
