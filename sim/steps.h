/*
 * A schedule that another program made: transfers between ranks in steps, over
 * any number of ranks on the way. What synthesizers write.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SIM_STEPS_H
#define VP_SIM_STEPS_H

#include "sim/execute.h"

enum { VP_STEPS_MAX_RANKS = 64 };

/* n_bytes of what `origin` sends to `final`, moved from one rank to another. */
typedef struct vp_transfer {
    uint32_t step;
    uint32_t from;
    uint32_t to;
    uint32_t instance; /* index into the model's instances, as `topology show` lists them */
    uint32_t origin;
    uint32_t final;
    uint64_t n_bytes; /* >= 1 */
} vp_transfer_t;

/*
 * When a transfer starts:
 * barrier: all transfers of earlier steps are done, everywhere.
 * free:    the sender's transfers of earlier steps are done.
 * deps:    on each of its links, the transfers of the link's last step before
 *          this one are done.
 * In all of them a rank passes on bytes of others only when all that earlier
 * steps were to bring it of that pair has arrived. Transfers of one step that
 * meet on a link share it.
 */
typedef struct vp_steps {
    uint32_t n_ranks; /* <= VP_STEPS_MAX_RANKS */
    vp_execution_t execution;
    size_t n_transfers;
    vp_transfer_t *transfers; /* owned; ascending steps */
} vp_steps_t;

/*
 * Every byte of demand_bytes[n_ranks][n_ranks] goes from its origin to its
 * final rank, no rank sends what it did not get in an earlier step, instances
 * connect the ranks' groups. VP_ERR_BAD_INPUT naming the transfer.
 */
vp_status_t vp_steps_check(const vp_steps_t *steps, const vp_model_t *model,
                           const uint64_t *demand_bytes, vp_error_t *error) VP_MUST_CHECK;

/*
 * Adds the transfers, which were checked, to the machine's network; the caller
 * runs it. Overhead: one put inside a node, a message through a proxy over NICs
 * (sim/traffic.h).
 */
vp_status_t vp_execute_steps(vp_machine_t *machine, const vp_steps_t *steps,
                             vp_error_t *error) VP_MUST_CHECK;

#endif
