/*
 * From the tree to what users read: the native topology file
 * (docs/topology-format.md) and the keys of `topology import`.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_IMPORT_NATIVE_H
#define VP_CATALOG_IMPORT_NATIVE_H

#include <jansson.h>

#include "base/status.h"
#include "catalog/import/machine.h"

/*
 * The native topology of one such node: a switch for every rank group, the
 * PCIe links that paths between groups share, the NICs with the group that
 * each is nearest to. What the source does not tell is assumed, and its
 * origin says so. What does not fit the format is added to the notes.
 * json_decref the result. VP_ERR_LIMIT: switches nested too deep;
 * VP_ERR_NO_MEMORY.
 */
vp_status_t vp_hardware_topology(vp_hardware_t *machine, const char *name, json_t **json_p,
                                 vp_error_t *error) VP_MUST_CHECK;

/*
 * Adds "format", "gpus", "pairs", "nearest_nics", "nic_distances",
 * "switch_tree" and "ignored" to an object. VP_ERR_NO_MEMORY.
 */
vp_status_t vp_hardware_report(const vp_hardware_t *machine, json_t *object,
                               vp_error_t *error) VP_MUST_CHECK;

#endif
