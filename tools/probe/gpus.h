/*
 * The GPUs of this machine as the CUDA driver shows them, and copies between
 * them that start at the same moment and are timed by the devices themselves.
 *
 * The driver is loaded when it is needed; nothing is linked and CUDA's headers
 * are not needed to build. Not thread-safe.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_PROBE_GPUS_H
#define VP_TOOLS_PROBE_GPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { VP_PROBE_MAX_GPUS = 64, VP_PROBE_MAX_COPIES = 16, VP_PROBE_GPU_TEXT_BYTES = 96 };

typedef struct vp_probe_gpus vp_probe_gpus_t;

/* Who moves the bytes, and from where to where. */
typedef enum vp_probe_way {
    VP_PROBE_WRITE,    /* the source GPU, into the other's memory */
    VP_PROBE_READ,     /* the destination GPU, out of the other's memory */
    VP_PROBE_TO_HOST,  /* the source GPU, into pinned host memory */
    VP_PROBE_FROM_HOST /* the destination GPU, out of pinned host memory */
} vp_probe_way_t;

typedef struct vp_probe_copy {
    vp_probe_way_t way;
    uint32_t source; /* GPUs, in the driver's order; of a host copy only the one counts */
    uint32_t destination;
} vp_probe_copy_t;

/*
 * Opens all devices, each with room for copies of n_bytes both ways, lets them
 * reach each other where they can, and checks with a pattern that they do.
 * VP_ERR_DEVICE: there is no driver or no GPU, or it fails; VP_ERR_LIMIT;
 * VP_ERR_NO_MEMORY.
 */
vp_status_t vp_probe_gpus_open(size_t n_bytes, vp_probe_gpus_t **gpus_p,
                               vp_error_t *error) VP_MUST_CHECK;
void vp_probe_gpus_close(vp_probe_gpus_t *gpus); /* NULL is fine */

uint32_t vp_probe_gpus_count(const vp_probe_gpus_t *gpus);
const char *vp_probe_gpu_name(const vp_probe_gpus_t *gpus, uint32_t gpu);
const char *vp_probe_gpu_pci(const vp_probe_gpus_t *gpus, uint32_t gpu); /* "0000:10:00.0" */
int vp_probe_driver_version(const vp_probe_gpus_t *gpus);                /* 13000: 13.0 */

/* May the first use the second's memory, and did the pattern arrive? */
typedef enum vp_probe_reach {
    VP_PROBE_NO_PEER,
    VP_PROBE_WRONG_BYTES,
    VP_PROBE_PEER
} vp_probe_reach_t;
vp_probe_reach_t vp_probe_gpus_reach(const vp_probe_gpus_t *gpus, uint32_t from, uint32_t to);

/*
 * n_copies (at most VP_PROBE_MAX_COPIES) of n_bytes each, n_times in a row,
 * all beginning together: seconds until the last one ended, by the devices'
 * own clocks. VP_ERR_DEVICE.
 */
vp_status_t vp_probe_gpus_run(vp_probe_gpus_t *gpus, const vp_probe_copy_t *copies,
                              uint32_t n_copies, size_t n_bytes, uint32_t n_times,
                              double *seconds_p, vp_error_t *error) VP_MUST_CHECK;

#endif
