/*
 * From a TOPOLOGY argument or a JSON file to a model. Needs jansson; lives in
 * the build library, which the component calls only while it opens.
 *
 * Format: docs/topology-format.md.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_TOPOLOGY_H
#define VP_CATALOG_TOPOLOGY_H

#include "catalog/model.h"

/*
 * Resolves NAME_OR_FILE[:KEY=VALUE]... with the keys
 *   nodes=N            number of nodes (1 ..), overrides the file's
 *   rates=SET          rate set, "nominal" by default
 *   transports=SET     transport set, "hardware" by default
 *   nics=near|all      "all": every NIC serves every switch of its node
 * NAME is a shipped topology; anything else is a file in the native JSON
 * format. A file whose name holds a colon is reached by adding a trailing ':'.
 * synthetic:KEY=VALUE,... in place of NAME makes a machine up, see the format.
 *
 * On success *model_p is a checked model that the caller destroys; on failure
 * it is untouched. VP_ERR_USAGE: unknown name or key, bad value;
 * VP_ERR_BAD_INPUT: the file's contents, with file, line or JSON path, and the
 * remedy; VP_ERR_IO; VP_ERR_LIMIT: too many ranks or groups; VP_ERR_NO_MEMORY.
 */
vp_status_t vp_topology_resolve(const char *argument, vp_model_t **model_p,
                                vp_error_t *error) VP_MUST_CHECK;

/* Names of the shipped topologies, NULL-terminated, static storage. */
const char *const *vp_topology_shipped_names(void);

/* JSON text of a shipped topology, NULL when the name is unknown. Static storage. */
const char *vp_topology_shipped_text(const char *name);

#endif
