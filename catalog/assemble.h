/*
 * The machine that a set of ranks sees, made from what each of their nodes is
 * and from the GPU that each rank uses: nodes of different kinds, some of their
 * GPUs, several ranks on one GPU.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_ASSEMBLE_H
#define VP_CATALOG_ASSEMBLE_H

#include <stddef.h>
#include <stdint.h>

#include "catalog/model.h"

/* A kind of node: the text of a topology file (its "nodes" does not count). */
typedef struct vp_node_kind {
    const char *text;
    size_t n_bytes;
} vp_node_kind_t;

typedef struct vp_assembly {
    /*
     * All kinds in the job, also those that no node here has: their path classes
     * are part of every machine, so that a class has one number in all of them.
     */
    const vp_node_kind_t *kinds;
    uint32_t n_kinds;
    const uint32_t *node_kind; /* [n_nodes] */
    uint32_t n_nodes;
    const uint32_t *rank_node; /* [n_ranks] every node has at least one rank */
    const uint32_t *rank_gpu;  /* [n_ranks] number of its GPU in the file of its node */
    uint32_t n_ranks;
    const char *transport; /* the transport set, "hardware" or another of the files */
} vp_assembly_t;

/*
 * Makes a finished, checked model of n_ranks ranks; place[n_ranks] gets the
 * model's rank of each rank, all different. Ranks that share a GPU are in the
 * order that they are listed in. Depends on its input only. `what` names the
 * machine in messages. VP_ERR_BAD_INPUT: a kind that cannot be read, or a node
 * without a NIC among several; VP_ERR_USAGE: numbers out of range;
 * VP_ERR_LIMIT; VP_ERR_NO_MEMORY. Outputs are written only on success.
 */
vp_status_t vp_assemble(const vp_assembly_t *assembly, const char *what, vp_model_t **model_p,
                        uint32_t *place, vp_error_t *error) VP_MUST_CHECK;

#endif
