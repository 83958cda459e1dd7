/*
 * The contents of a catalog file behind its header; private to this room.
 * Layout: docs/catalog-format.md.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_CONTENT_H
#define VP_CATALOG_CONTENT_H

#include "base/buf.h"
#include "catalog/model.h"

enum { VP_MAX_ORIGIN_BYTES = 1023 };

/* Writes everything but fingerprint, build_ns and build_steps. */
void vp_content_write(vp_writer_t *writer, const vp_catalog_t *catalog);

/*
 * Reads what the function above wrote into a zeroed catalog, which the caller
 * destroys whatever comes back. The model is finished, but nothing is checked
 * beyond sizes: every list fits the bytes that were left for it, and what is
 * made of the nodes fits the limits of the model. False:
 * memory is out, or reader->failed.
 */
bool vp_content_read(vp_reader_t *reader, vp_catalog_t *catalog);

#endif
