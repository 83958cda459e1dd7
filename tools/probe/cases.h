/*
 * What a job has to try out to know its links: every path instance alone, and
 * for every shared resource two paths at once that have nothing else in
 * common, from two sources to two destinations. Pure; all ranks make the same
 * list of the same model.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_PROBE_CASES_H
#define VP_TOOLS_PROBE_CASES_H

#include <stddef.h>

#include "catalog/model.h"

enum { VP_PROBE_MAX_CASES = 4096 };
#define VP_PROBE_ALONE UINT32_MAX

typedef struct vp_probe_flow {
    uint32_t source; /* places of the topology */
    uint32_t destination;
    uint32_t instance;
} vp_probe_flow_t;

typedef struct vp_probe_case {
    uint32_t resource; /* that the two flows share, or VP_PROBE_ALONE */
    uint32_t n_flows;
    vp_probe_flow_t flows[2];
} vp_probe_case_t;

/*
 * The cases of a model, instances before resources, both ascending; free them.
 * An instance inside a group of one rank and a resource that no two such paths
 * share have none. VP_ERR_LIMIT: more than VP_PROBE_MAX_CASES; VP_ERR_NO_MEMORY.
 */
vp_status_t vp_probe_cases(const vp_model_t *model, vp_probe_case_t **cases_p, size_t *n_cases_p,
                           vp_error_t *error) VP_MUST_CHECK;

#endif
