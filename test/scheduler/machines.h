/*
 * Machines and catalogs for the scheduler's tests, made in memory: PIX inside
 * a group, one PXB link per direction between the groups of a node (or PHB and
 * SYS over uplinks and a socket link), one NIC per group towards every other
 * group. The catalog is enumerated here without
 * pruning, which these machines do not need.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_SCHEDULER_MACHINES_H
#define VP_TEST_SCHEDULER_MACHINES_H

#include "catalog/model.h"

enum { MACHINE_MAX_GROUPS = 8 };

typedef struct machine {
    const char *name;
    uint32_t n_nodes;
    uint32_t groups_per_node;
    uint32_t group_ranks[MACHINE_MAX_GROUPS]; /* [n_nodes * groups_per_node] */
    bool with_nics;
    bool with_sockets; /* uplinks per group and links between the node's two sockets, no PXB */
} machine_t;

#define MACHINE_PIX_BYTES_PER_S UINT64_C(64000000000)
#define MACHINE_PXB_BYTES_PER_S UINT64_C(64000000000)
#define MACHINE_NIC_BYTES_PER_S UINT64_C(50000000000)

/* The machines that tests run over, and single ones by name. */
extern const machine_t machines[];
extern const uint32_t n_machines;
const machine_t *machine_find(const char *name);

/* A new catalog of the machine; ends the process when memory is out. */
vp_catalog_t *machine_catalog(const machine_t *machine);

/* The same without shapes and families, which a planner then makes itself. */
vp_catalog_t *machine_generated(const machine_t *machine);

/* The instance of a kind between two groups; ends the process when there is none. */
uint32_t machine_instance(const vp_model_t *model, vp_path_kind_t kind, uint32_t from_group,
                          uint32_t to_group);

#endif
