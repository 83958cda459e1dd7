/*
 * Which GPUs have to copy at once to load each shared link of a node: up to
 * four sources into and out of every GPU, over every link between switches,
 * and between each switch and the host. Pure.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_PROBE_FLOWS_H
#define VP_TOOLS_PROBE_FLOWS_H

#include "catalog/model.h"
#include "tools/probe/gpus.h"

enum { VP_PROBE_MAX_FLOWS = 4 };

typedef struct vp_probe_pair {
    uint32_t source; /* ranks */
    uint32_t destination;
} vp_probe_pair_t;

/* The first k flows are the measurement with k sources. */
typedef struct vp_probe_load {
    char name[2 * VP_MAX_NAME_BYTES];
    uint32_t resource; /* UINT32_MAX: none of the model */
    uint32_t table;    /* VP_CONTENTION_*, VP_N_CONTENTION_TABLES: no link of the model */
    vp_probe_way_t way;
    uint32_t n_flows;
    vp_probe_pair_t flows[VP_PROBE_MAX_FLOWS];
} vp_probe_load_t;

/*
 * The loads of the model's first node, in a fixed order; free them. Flows of a
 * load differ in their sources and, but into one GPU, in their destinations,
 * and have as few other links in common as can be. Loads of a single flow are
 * left out. VP_ERR_NO_MEMORY.
 */
vp_status_t vp_probe_loads(const vp_model_t *model, vp_probe_load_t **loads_p, size_t *n_loads_p,
                           vp_error_t *error) VP_MUST_CHECK;

#endif
