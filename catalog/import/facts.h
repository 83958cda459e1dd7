/*
 * The facts of one node as bytes, for a cache file and for other processes.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_IMPORT_FACTS_H
#define VP_CATALOG_IMPORT_FACTS_H

#include "base/buf.h"
#include "base/status.h"
#include "catalog/import/machine.h"

/*
 * Writes a finished machine: what is in its tree, without notes. The same
 * machine gives the same bytes, and so does what they are read back to.
 */
void vp_facts_write(vp_writer_t *writer, const vp_hardware_t *machine);

/*
 * Reads them into a finished machine that the caller destroys; distrusts every
 * byte. `where` names the source in messages. VP_ERR_BAD_INPUT: damaged, or no
 * machine; VP_ERR_LIMIT; VP_ERR_NO_MEMORY. *machine_p is untouched on failure.
 */
vp_status_t vp_facts_read(const void *data, size_t n_bytes, const char *where,
                          vp_hardware_t **machine_p, vp_error_t *error) VP_MUST_CHECK;

/*
 * The native topology file (see native.h) of the machine in new memory that the
 * caller frees. VP_ERR_LIMIT; VP_ERR_NO_MEMORY.
 */
vp_status_t vp_facts_topology(vp_hardware_t *machine, const char *name, char **text_p,
                              vp_error_t *error) VP_MUST_CHECK;

/* Number of a GPU (index into gpus) in that file: group by group. */
uint32_t vp_facts_gpu_number(const vp_hardware_t *machine, uint32_t gpu_idx);

#endif
