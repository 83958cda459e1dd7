/*
 * `variopath topology import`.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_CMD_IMPORT_H
#define VP_TOOLS_CMD_IMPORT_H

#include <stdbool.h>

#include "catalog/import/import.h"

typedef struct vp_import_request {
    const char *file; /* NULL: this machine */
    vp_import_format_t format;
    const char *output; /* NULL: none */
    bool is_json;
} vp_import_request_t;

/* Imports, writes and prints; returns an exit code, after a message unless that is 0. */
int vp_topology_import(const vp_import_request_t *request);

#endif
