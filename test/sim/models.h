/*
 * Small machines, built by hand: nodes of groups of ranks, GPU links and PCIe
 * at 64 GB/s, NICs at 50, groups of a node joined as told.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_SIM_MODELS_H
#define VP_TEST_SIM_MODELS_H

#include "catalog/model.h"

#define GB UINT64_C(1000000000)
#define MB UINT64_C(1000000)

typedef struct test_shape {
    uint32_t n_nodes;
    uint32_t groups; /* per node */
    uint32_t ranks;  /* per group */
    uint32_t nics;   /* per group */
    /* PXB: one inter-switch link per direction and pair of groups. PHB: an uplink
       and a downlink per group. SYS: the same and one socket link per direction. */
    vp_path_kind_t join;
} test_shape_t;

/* Never NULL: a failure ends the test. put_overhead_ns is 1000, alpha_ns 10000. */
vp_model_t *test_model(const test_shape_t *shape);

/* Index of the resource with this name; a failure ends the test. */
uint32_t test_resource(const vp_model_t *model, const char *name);

#endif
