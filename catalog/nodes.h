/*
 * The nodes of a model in a catalog file: every distinct node once, and the
 * path instances between two nodes once for each pair of distinct nodes;
 * private to this room. Layout: docs/catalog-format.md.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_NODES_H
#define VP_CATALOG_NODES_H

#include "base/buf.h"
#include "catalog/model.h"

/* Label of a node whose elements do not all begin with "nodeNUMBER/". */
#define VP_NODE_UNLABELLED UINT32_MAX

/* How the instances from nodes of one template to those of another are written. */
enum { VP_BETWEEN_EQUAL = 0, VP_BETWEEN_SINGLE = 1 };

/* Where the elements of a node are in the arrays of its model. */
typedef struct vp_node_span {
    uint32_t first_group;
    uint32_t n_groups;
    uint32_t first_resource;
    uint32_t n_resources;
    uint32_t first_nic;
    uint32_t n_nics;
    uint32_t node_template;
    uint32_t label;
} vp_node_span_t;

/* Nodes listed by their template, ascending. */
typedef struct vp_node_index {
    uint32_t n_templates;
    uint32_t *begin; /* [n_templates + 1] into nodes */
    uint32_t *nodes;
} vp_node_index_t;

/* Fills a zeroed index; false: memory is out. The caller clears it whatever comes back. */
bool vp_node_index_init(vp_node_index_t *index, const vp_node_span_t *spans, uint32_t n_nodes,
                        uint32_t n_templates);
void vp_node_index_clear(vp_node_index_t *index);
/* Ordered pairs of different nodes, the first of template a, the second of b. */
uint64_t vp_node_index_pairs(const vp_node_index_t *index, uint32_t a, uint32_t b);

/* Writes groups, resources, NICs and instances of a checked model; sets writer->failed. */
void vp_nodes_write(vp_writer_t *writer, const vp_model_t *model);

/*
 * Reads them, with n_ranks and n_nodes, into a model that has none yet. False
 * with reader->failed: they do not fit into the file, into the limits or to
 * each other; false without: memory is out.
 */
bool vp_nodes_read(vp_reader_t *reader, vp_model_t *model);

#endif
