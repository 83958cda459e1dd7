/*
 * Birkhoff decomposition of a matrix between servers, as FAST does it: pad to
 * equal row and column sums, then repeatedly take a perfect matching of the
 * positive entries (the first that augmenting paths find, not a heaviest one)
 * with the weight of its least entry.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SIM_BASELINES_BIRKHOFF_H
#define VP_SIM_BASELINES_BIRKHOFF_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct vp_stages {
    uint32_t n_servers;
    size_t n_stages;
    uint32_t *matches; /* [n_stages][n_servers] server that each one sends to */
    uint64_t *bytes;   /* [n_stages][n_servers] real bytes; what is missing is padding */
    uint64_t *weights; /* [n_stages], ascending */
} vp_stages_t;

/*
 * Decomposes matrix[n][n] (zero diagonal). A matching may pair a server with
 * itself where padding is all that is left there. VP_ERR_NO_MEMORY.
 */
vp_status_t vp_birkhoff(const uint64_t *matrix, uint32_t n_servers, vp_stages_t *stages_p,
                        vp_error_t *error) VP_MUST_CHECK;
void vp_stages_release(vp_stages_t *stages);

#endif
