/*
 * What one process can measure of its own node through the CUDA driver: every
 * pair of GPUs, every way to the host, and what a shared link carries when one
 * to four GPUs use it at once.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_PROBE_LOCAL_H
#define VP_TOOLS_PROBE_LOCAL_H

#include <stdio.h>

#include "tools/probe/calibrate.h"
#include "tools/probe/gpus.h"

enum { VP_PROBE_MAX_SOURCES = 4 };

typedef struct vp_probe_effort {
    double seconds; /* of one measurement */
    uint32_t n_repeats;
    size_t n_bytes; /* largest copy */
} vp_probe_effort_t;

/* One link under load: bytes per second of all its users together. */
typedef struct vp_probe_shared {
    char name[2 * VP_MAX_NAME_BYTES];
    uint32_t resource; /* of the model, UINT32_MAX: none, as a GPU's own */
    uint32_t table;    /* VP_CONTENTION_*, VP_N_CONTENTION_TABLES: no link of the model */
    vp_probe_way_t way;
    uint32_t n_sources; /* most that could be had, 1 .. VP_PROBE_MAX_SOURCES */
    uint64_t bytes_per_s[VP_PROBE_MAX_SOURCES];
} vp_probe_shared_t;

/* Pair figures are [n_gpus][n_gpus] by rank, row = source; 0: cannot be had. */
typedef struct vp_probe_local {
    const vp_model_t *model; /* borrowed */
    vp_probe_gpus_t *gpus;
    uint32_t n_ranks;   /* of the first node */
    uint32_t *gpu;      /* [n_ranks] the driver's number */
    bool is_by_address; /* ranks were found by PCI address, not by order */
    uint64_t *write;
    uint64_t *read;
    uint64_t *staged;    /* both halves of a copy through host memory at once, one half's rate */
    uint64_t *to_host;   /* [n_ranks] */
    uint64_t *from_host; /* [n_ranks] */
    vp_probe_shared_t *shared;
    size_t n_shared;
    size_t shared_capacity;
    vp_contention_t contention; /* name is the caller's; tables from shared */
} vp_probe_local_t;

/*
 * Measures the model's first node. All of *local_p is the callee's until
 * vp_probe_local_clear. VP_ERR_DEVICE; VP_ERR_BAD_INPUT: the driver does not
 * show the GPUs of the topology; VP_ERR_NO_MEMORY.
 */
vp_status_t vp_probe_local(const vp_model_t *model, const vp_probe_effort_t *effort,
                           vp_probe_local_t *local, vp_error_t *error) VP_MUST_CHECK;
void vp_probe_local_clear(vp_probe_local_t *local);

/* The report that an owner of a machine sends. */
void vp_probe_local_print(const vp_probe_local_t *local, FILE *stream);
/* The same as one JSON object. VP_ERR_IO. */
vp_status_t vp_probe_local_print_json(const vp_probe_local_t *local, FILE *stream,
                                      vp_error_t *error) VP_MUST_CHECK;

/*
 * JSON text (free it) of the topology that local->model is of, with a rate set
 * and a contention profile of that name, both measured here: `text` itself, or
 * where that is NULL what `argument` names. As vp_probe_calibrate.
 */
vp_status_t vp_probe_local_topology(const vp_probe_local_t *local, const char *argument,
                                    const char *text, const char *set, char **text_p,
                                    vp_error_t *error) VP_MUST_CHECK;

/* The share of a link's own rate that its users have together, [n] from 1 to n sources; pure. */
void vp_probe_shares(const uint64_t *bytes_per_s, uint32_t n, uint32_t *share_ppm);

#endif
