/*
 * modex.c: what processes tell each other before there are communicators.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_MCA_MODEX_H
#define VP_MCA_MODEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mca/ompi.h"

/* False in a tool that only looks at components. */
bool vp_modex_ready(void);
/* Before all values are exchanged, while components open. */
bool vp_modex_put(const char *key, const void *data, size_t n_bytes);
/* What a process put, in new memory; NULL: nothing. May ask its node's server. */
void *vp_modex_get(const opal_process_name_t *process, const char *key, size_t *n_bytes_p);
/* Place of this process among those of its job on its node, and their number on all nodes. */
uint32_t vp_modex_local_rank(void);
uint32_t vp_modex_n_processes(void);

#endif
