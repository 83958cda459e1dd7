/*
 * A cluster of nodes with one switch and one NIC each: PIX inside a node, NIC to NIC
 * between them.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_NODE_MODEL_H
#define VP_TEST_NODE_MODEL_H

#include "catalog/model.h"

enum { NODE_PCIE, NODE_NIC, NODE_CLASSES };

/* Ranks of each node, at least one. The caller destroys it. */
vp_model_t *node_model(uint32_t n_nodes, const uint32_t *n_ranks);

#endif
