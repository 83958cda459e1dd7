/*
 * The systems that plans are compared with. Each adds its messages to the
 * traffic's network; the caller runs it. What they share: one machine, one
 * sharing rule, one table of overheads (sim/traffic.h). What makes them
 * different is stated in the header comment of each file: order, window, path
 * and barriers.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SIM_BASELINES_BASELINES_H
#define VP_SIM_BASELINES_BASELINES_H

#include "sim/traffic.h"

typedef vp_status_t (*vp_baseline_fn_t)(vp_traffic_t *traffic, vp_error_t *error);

typedef struct vp_baseline {
    const char *name;
    vp_baseline_fn_t add;
    const char *concurrency; /* for tables: "window of 256 per rank", "barrier per step" */
} vp_baseline_t;

/* NULL: unknown. Names for messages are comma-separated, static storage. */
const vp_baseline_t *vp_baseline_find(const char *name);
const char *vp_baseline_names(void);

vp_status_t vp_baseline_deepep_nic(vp_traffic_t *traffic, vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_baseline_deepep_rail(vp_traffic_t *traffic, vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_baseline_fast(vp_traffic_t *traffic, vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_baseline_flexlink(vp_traffic_t *traffic, vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_baseline_mpich_scattered(vp_traffic_t *traffic, vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_baseline_msccl(vp_traffic_t *traffic, vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_baseline_nccl(vp_traffic_t *traffic, vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_baseline_nccl_host(vp_traffic_t *traffic, vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_baseline_nearest(vp_traffic_t *traffic, vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_baseline_nimble(vp_traffic_t *traffic, vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_baseline_openmpi_linear(vp_traffic_t *traffic, vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_baseline_openmpi_pairwise(vp_traffic_t *traffic, vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_baseline_rails(vp_traffic_t *traffic, vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_baseline_ucc(vp_traffic_t *traffic, vp_error_t *error) VP_MUST_CHECK;

/* Parts that several share. */

/* The path that NCCL takes between two GPUs, see nccl_path.c. */
vp_status_t vp_nccl_path(const vp_machine_t *machine, uint32_t source, uint32_t destination,
                         vp_path_t *path_p, vp_error_t *error) VP_MUST_CHECK;

/* NCCL's rotation with its window, over any rule for paths; see nccl_schedule.c. */
typedef vp_status_t (*vp_path_fn_t)(const vp_machine_t *machine, uint32_t source,
                                    uint32_t destination, vp_path_t *path_p, vp_error_t *error);
vp_status_t vp_nccl_rotate(vp_traffic_t *traffic, vp_path_fn_t find_path,
                           vp_error_t *error) VP_MUST_CHECK;
/* For tests: the peer that a rank sends to in each of its n_ranks rounds, and the window. */
void vp_nccl_peers(const vp_machine_t *machine, uint32_t rank, uint32_t *peers);
uint32_t vp_nccl_window(const vp_machine_t *machine);

/*
 * Blocks of steps, each block starting on a rank once all sends and receives
 * of the block before are done there; see stepped.c. A message starts when its
 * sender and its receiver have both reached its block.
 */
vp_status_t vp_stepped(vp_traffic_t *traffic, uint32_t steps_per_block, bool backwards,
                       vp_error_t *error) VP_MUST_CHECK;
/* Everything at t = 0, in rotation order, over one rule for paths. */
vp_status_t vp_all_at_once(vp_traffic_t *traffic, vp_path_fn_t find_path, vp_operation_t operation,
                           vp_error_t *error) VP_MUST_CHECK;

#endif
