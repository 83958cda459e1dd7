/*
 * A machine that is being made of the nodes of topology files; private to this
 * room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_TOPOLOGY_EXPANSION_H
#define VP_CATALOG_TOPOLOGY_EXPANSION_H

#include "catalog/topology_spec.h"

/* Where the elements of a node begin in the model. */
typedef struct vp_expanded_node {
    const vp_spec_t *spec;
    uint32_t spec_idx;
    uint32_t first_group;
    uint32_t first_resource;
} vp_expanded_node_t;

/* A model that is being filled; texts that could not be copied are noticed at the end. */
typedef struct vp_expansion {
    const vp_spec_nodes_t *in;
    const vp_spec_t *spec; /* the first one */
    vp_model_t *model;
    vp_expanded_node_t *nodes; /* [n_nodes] */
    uint64_t *spec_nodes;      /* [n_specs] how many nodes are copies of each */
    uint32_t **spec_class;     /* [n_specs] the model's number of each of its classes */
    bool is_out_of_memory;
} vp_expansion_t;

/* Of a node: its links, then tx and rx of each NIC. */
static inline uint32_t vp_expanded_link(const vp_expanded_node_t *node, uint32_t link)
{
    return node->first_resource + link;
}

static inline uint32_t vp_expanded_tx(const vp_expanded_node_t *node, uint32_t nic)
{
    return vp_expanded_link(node, node->spec->n_links + 2 * nic);
}

static inline uint32_t vp_expanded_class(const vp_expansion_t *expansion,
                                         const vp_expanded_node_t *node, uint32_t path_class)
{
    return expansion->spec_class[node->spec_idx][path_class];
}

/* topology_instances.c: path instances of all nodes, from each kind of node to each. */
uint64_t vp_expansion_count_instances(const vp_expansion_t *expansion);
/* Instances that leave a node; there is room for them. */
void vp_expansion_add_instances(vp_expansion_t *expansion, const vp_expanded_node_t *node);

#endif
