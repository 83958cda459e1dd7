/*
 * An allgather in which each node hears of the others once: records go to the node's
 * first rank, its leader, leaders exchange what their nodes know, and what all know
 * spreads inside each node.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_COLL_LEADERS_H
#define VP_COLL_LEADERS_H

#include "catalog/model.h"
#include "coll_variopath/surroundings.h"

typedef struct vp_leaders vp_leaders_t;

/*
 * node[n_ranks] of each rank, below n_nodes; records have max_bytes at most. Local.
 * NULL: memory is out, or there is nothing to win, on one node or with one rank on each.
 */
vp_leaders_t *vp_leaders_create(const uint32_t *node, uint32_t n_nodes, uint32_t rank,
                                uint32_t n_ranks, size_t max_bytes);
void vp_leaders_destroy(vp_leaders_t *leaders); /* NULL is fine */

/*
 * Is it predicted to be faster than an allgather that knows of no nodes? The same on all
 * ranks with equal models.
 */
bool vp_leaders_pay(const vp_leaders_t *leaders, const vp_model_t *model, size_t n_bytes);

/*
 * As vp_surroundings_t.allgather, over its swap. A swap that fails does not end it: the rank
 * goes on with its part, so that nobody waits for it in vain, and whoever misses a record in
 * the end returns VP_ERR_TRANSPORT. Others may have all of them, so that ranks must agree
 * afterwards.
 */
vp_status_t vp_leaders_allgather(vp_leaders_t *leaders, const vp_surroundings_t *around,
                                 const void *send, void *receive, size_t n_bytes) VP_MUST_CHECK;

#endif
