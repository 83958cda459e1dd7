/*
 * Catalog files: binary, little-endian, versioned, checksummed.
 * Format: docs/catalog-format.md. The loader distrusts every byte.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_STORE_H
#define VP_CATALOG_STORE_H

#include "catalog/model.h"

#define VP_CATALOG_MAGIC "VPCATLG\n"
enum { VP_CATALOG_VERSION = 3 };
#define VP_CATALOG_MAX_BYTES ((size_t)1 << 30)

/*
 * Sets catalog->fingerprint from its contents (all but build_ns and
 * build_steps). The catalog is a checked one.
 */
vp_status_t vp_catalog_seal(vp_catalog_t *catalog, vp_error_t *error) VP_MUST_CHECK;

/*
 * Encodes a sealed catalog into new memory that the caller frees, or decodes
 * and checks one. `where` names the source in messages (a path). Decode:
 * VP_ERR_BAD_INPUT for a foreign, truncated, corrupted or inconsistent file,
 * VP_ERR_UNSUPPORTED for another version; *catalog_p untouched on failure.
 */
vp_status_t vp_catalog_encode(const vp_catalog_t *catalog, uint8_t **data_p, size_t *n_bytes_p,
                              vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_catalog_decode(const void *data, size_t n_bytes, const char *where,
                              vp_catalog_t **catalog_p, vp_error_t *error) VP_MUST_CHECK;

/* The same from and to a file. n_bytes_p (may be NULL) receives the file's length. */
vp_status_t vp_catalog_store(const vp_catalog_t *catalog, const char *path, size_t *n_bytes_p,
                             vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_catalog_load(const char *path, vp_catalog_t **catalog_p, size_t *n_bytes_p,
                            vp_error_t *error) VP_MUST_CHECK;

#endif
