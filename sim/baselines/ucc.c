/*
 * ucc: UCC's tl/ucp pairwise alltoallv. Up to 32 ranks all peers are posted at
 * once; beyond, one message out and one in per rank, step k sending to r - k and
 * receiving from r + k. No global barrier; two-sided, nearest paths.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sim/baselines/baselines.h"

enum { MAX_RANKS_AT_ONCE = 32 };

vp_status_t vp_baseline_ucc(vp_traffic_t *traffic, vp_error_t *error)
{
    if (traffic->n_ranks <= MAX_RANKS_AT_ONCE) {
        return vp_all_at_once(traffic, vp_path_nearest, VP_OPERATION_MESSAGE, error);
    }
    return vp_stepped(traffic, 1, true, error);
}
