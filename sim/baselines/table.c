/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/baselines/baselines.h"

#include <stddef.h>
#include <string.h>

#define BASELINE_MAP(X)                                                                            \
    X("nccl", vp_baseline_nccl, "window per rank, rotation")                                       \
    X("nccl-host", vp_baseline_nccl_host, "window per rank, rotation, through host memory")        \
    X("rails", vp_baseline_rails, "everything at once, NICs by longest processing time")           \
    X("msccl", vp_baseline_msccl, "two steps, merged per node, padded")                            \
    X("fast", vp_baseline_fast, "balance, then Birkhoff stages, redistribution behind them")       \
    X("deepep-rail", vp_baseline_deepep_rail, "everything at once, forwarded on the rail")         \
    X("deepep-nic", vp_baseline_deepep_nic, "everything at once, all over NICs")                   \
    X("openmpi-pairwise", vp_baseline_openmpi_pairwise, "one out and one in per rank")             \
    X("openmpi-linear", vp_baseline_openmpi_linear, "everything at once, two-sided")               \
    X("mpich-scattered", vp_baseline_mpich_scattered, "blocks of 32 per rank")                     \
    X("ucc", vp_baseline_ucc, "at once up to 32 ranks, else one out and one in per rank")          \
    X("nimble", vp_baseline_nimble, "everything at once, split over paths")                        \
    X("flexlink", vp_baseline_flexlink, "everything at once, fixed split over paths")              \
    X("nearest", vp_baseline_nearest, "everything at once, nearest paths")

static const vp_baseline_t baselines[] = {
#define ROW(name, add, concurrency) {name, add, concurrency},
    BASELINE_MAP(ROW)
#undef ROW
};

const vp_baseline_t *vp_baseline_find(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof(baselines) / sizeof(baselines[0]); i++) {
        if (strcmp(baselines[i].name, name) == 0) {
            return &baselines[i];
        }
    }
    return NULL;
}

const char *vp_baseline_names(void)
{
#define NAME(name, add, concurrency) ", " name
    static const char names[] = BASELINE_MAP(NAME);

    return names + 2;
#undef NAME
}
