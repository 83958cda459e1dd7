/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/nodes.h"

#include <stdlib.h>

#include "base/array.h"

bool vp_node_index_init(vp_node_index_t *index, const vp_node_span_t *spans, uint32_t n_nodes,
                        uint32_t n_templates)
{
    uint32_t i;

    index->n_templates = n_templates;
    index->begin = vp_array_new((size_t)n_templates + 2, sizeof(*index->begin));
    index->nodes = vp_array_new(n_nodes, sizeof(*index->nodes));
    if (index->begin == NULL || index->nodes == NULL) {
        return false;
    }
    /* Counted two places further on, so that placing the nodes leaves the beginnings. */
    for (i = 0; i < n_nodes; i++) {
        index->begin[spans[i].node_template + 2]++;
    }
    for (i = 0; i < n_templates; i++) {
        index->begin[i + 2] += index->begin[i + 1];
    }
    for (i = 0; i < n_nodes; i++) {
        index->nodes[index->begin[spans[i].node_template + 1]++] = i;
    }
    return true;
}

void vp_node_index_clear(vp_node_index_t *index)
{
    free(index->begin);
    free(index->nodes);
    *index = (vp_node_index_t){0};
}

uint64_t vp_node_index_pairs(const vp_node_index_t *index, uint32_t a, uint32_t b)
{
    uint64_t n_a = index->begin[a + 1] - index->begin[a];
    uint64_t n_b = index->begin[b + 1] - index->begin[b];

    return a == b ? n_a * (n_a - 1) : n_a * n_b;
}
