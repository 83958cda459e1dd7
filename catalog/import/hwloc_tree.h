/*
 * What matters of an hwloc topology, discovered or from a file, and what
 * becomes of it; private to the importer.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_IMPORT_HWLOC_TREE_H
#define VP_CATALOG_IMPORT_HWLOC_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalog/import/machine.h"

typedef enum vp_hwloc_type {
    VP_HWLOC_NORMAL, /* machine, group, NUMA node, core ... */
    VP_HWLOC_PACKAGE,
    VP_HWLOC_HOST_BRIDGE,
    VP_HWLOC_BRIDGE, /* any other bridge function */
    VP_HWLOC_PCI,
    VP_HWLOC_NETWORK, /* devices of the operating system */
    VP_HWLOC_RDMA,
    VP_HWLOC_COPROCESSOR,
    VP_HWLOC_OTHER
} vp_hwloc_type_t;

typedef struct vp_hwloc_node {
    vp_hwloc_type_t type;
    uint32_t first_child; /* VP_HW_NONE: none */
    uint32_t last_child;
    uint32_t next;
    uint32_t numa; /* normal objects: their only NUMA node, else VP_HW_NONE */
    vp_hw_pci_t pci;
    uint32_t pci_class; /* class and subclass */
    uint32_t vendor;
    uint32_t device;
    uint64_t link_mbytes_per_s; /* line code taken off; 0: unknown */
    bool is_nvswitch;
    char name[VP_HW_NAME_BYTES]; /* of a device of the system; of a host bridge, its buses */
    char model[VP_HW_NAME_BYTES];
} vp_hwloc_node_t;

typedef struct vp_hwloc_tree {
    vp_hwloc_node_t *nodes; /* nodes[0] is the machine */
    uint32_t n_nodes;
    size_t capacity;
    bool has_nvlink;
} vp_hwloc_tree_t;

void vp_hwloc_tree_clear(vp_hwloc_tree_t *tree);

/*
 * Appends a node as the last child of `parent` (VP_HW_NONE: the root); the
 * pointer is valid until the next one. VP_ERR_LIMIT beyond VP_HW_MAX_NODES.
 */
vp_status_t vp_hwloc_tree_add(vp_hwloc_tree_t *tree, vp_hwloc_type_t type, uint32_t parent,
                              const char *where, vp_hwloc_node_t **node_p,
                              vp_error_t *error) VP_MUST_CHECK;

/* Fills an empty machine. */
vp_status_t vp_hwloc_tree_read(const char *where, const vp_hwloc_tree_t *tree,
                               vp_hardware_t *machine, vp_error_t *error) VP_MUST_CHECK;

/* Version of the hwloc in use ("2.9.0"), "" in a build without it. */
void vp_hwloc_version(char *text, size_t n_bytes);

#endif
