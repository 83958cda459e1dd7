/*
 * A native topology file as an import: checked, and reported with the keys of
 * the other formats.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_IMPORT_MODEL_REPORT_H
#define VP_CATALOG_IMPORT_MODEL_REPORT_H

#include <jansson.h>
#include <stddef.h>

#include "base/status.h"
#include "catalog/model.h"

/*
 * The checked model of a native topology file's text (rate set "nominal",
 * transport set "hardware"); the caller destroys it. `where` is named in
 * messages. VP_ERR_BAD_INPUT, VP_ERR_USAGE, VP_ERR_LIMIT, VP_ERR_NO_MEMORY.
 */
vp_status_t vp_import_model(const char *where, const char *text, size_t n_bytes,
                            vp_model_t **model_p, vp_error_t *error) VP_MUST_CHECK;

/*
 * Adds "gpus", "pairs", "nearest_nics" and "ignored" of the first node to an
 * object: GPUs are its ranks, pairs have the nearest kind of their groups'
 * path instances. VP_ERR_NO_MEMORY.
 */
vp_status_t vp_model_report(const vp_model_t *model, json_t *object,
                            vp_error_t *error) VP_MUST_CHECK;

#endif
