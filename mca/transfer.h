/*
 * One call on its way to the engine: the sides as MPI has them, and the blocks
 * of contiguous bytes that the engine moves. A block moves where it lies when
 * its datatype leaves no gaps; otherwise it moves through packed memory, and so
 * do the blocks that an in-place call sends, since peers overwrite them. Data
 * on a device is never packed here: such a call is staged.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_MCA_TRANSFER_H
#define VP_MCA_TRANSFER_H

#include "mca/component.h"

typedef struct vp_transfer {
    vp_strand_t *strand;
    vp_module_t *module; /* the strand's */
    const char *what;    /* name of the collective, for people */
    bool in_place;
    vp_side_t send; /* in place: the receive side */
    vp_side_t receive;
    vp_stage_t stage;
    vp_block_t *blocks;  /* [2 * n_ranks]: send, then receive blocks; borrowed */
    vp_packed_t *packed; /* borrowed */
    uint32_t obstacles;
} vp_transfer_t;

/*
 * Local. Fills blocks, packs what is to be sent packed; what keeps this rank
 * from having the call carried becomes an obstacle. send is NULL for an in-place
 * call. The strand's engine must exist. packed keeps its memory for later calls;
 * it must stay until vp_transfer_run returned.
 */
void vp_transfer_begin(vp_transfer_t *transfer, vp_strand_t *strand, const char *what,
                       const vp_side_t *send, const vp_side_t *receive, vp_block_t *blocks,
                       vp_packed_t *packed);
/*
 * Runs the call; collective. Unless *verdict_p is carried, no byte has moved
 * and another way is to be taken. An OMPI or MPI code.
 */
int vp_transfer_run(vp_transfer_t *transfer, vp_verdict_t *verdict_p);

#endif
