/*
 * A catalog without paths that turned out to be of no use.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_AVOID_H
#define VP_CATALOG_AVOID_H

#include "catalog/model.h"

/* Puts between these groups over this pair of classes. */
typedef struct vp_avoided {
    uint32_t from_group;
    uint32_t to_group;
    uint32_t source_class;
    uint32_t destination_class;
} vp_avoided_t;

/*
 * Makes a generated catalog, unsealed, of the same ranks. Instances that an
 * element of avoided[n_avoided] names, but those of kind HOST, are gone where
 * their groups have another one left. Where none is left they stay as kind HOST:
 * what they carried goes through host memory. It depends on its arguments alone,
 * whatever the order of avoided. The caller destroys *catalog_p.
 * VP_ERR_NO_MEMORY.
 */
vp_status_t vp_catalog_avoid(const vp_catalog_t *catalog, const vp_avoided_t *avoided,
                             size_t n_avoided, vp_catalog_t **catalog_p,
                             vp_error_t *error) VP_MUST_CHECK;

#endif
