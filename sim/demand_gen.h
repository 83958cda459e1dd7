/*
 * Synthetic demands. Every cell is a multiple of the element size, the
 * diagonal is 0, and equal options give equal bytes.
 *
 * uniform: every pair the same.
 * random:  a pair's weight is a uniform integer in 0 .. 1023 (FAST's "random").
 * zipf:    a pair's weight is x = ((1024^(1-s) - 1) u + 1)^(1/(1-s)), the
 *          continuous inverse CDF of Zipf(s) on [1, 1024] (1024^u for s = 1), u
 *          uniform in [0, 1): one draw per ordered pair, row by row.
 *          Over destinations instead: rank r is the k-th hottest destination, by
 *          a random permutation, and has the weight k^-s in every row.
 *          Ranked: the weights 1, 2^-s, 3^-s, ... in random order, each once over
 *          all pairs, or each once in every row.
 * moe:     every rank routes `tokens` tokens to `top_k` distinct of `experts`
 *          experts, expert e living on rank e mod n; an expert's popularity is
 *          Zipf over experts in a random permutation (exponent 0: equal). A
 *          token is hidden * element_bytes. It travels once per expert, once
 *          per rank, or once per node (to the lowest of its ranks there).
 * hotspot: `hot_ppm` of each rank's bytes go to `n_hot` random destinations in
 *          equal parts, the rest to all others.
 *
 * Scaling of all but moe: the mean over all pairs hits bytes_per_rank /
 * (n - 1), or, with `scale_rows`, every row sums up to bytes_per_rank. After
 * that, uniform, random and zipf multiply what goes to `n_hot` random
 * destinations by `hot_factor`.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SIM_DEMAND_GEN_H
#define VP_SIM_DEMAND_GEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef enum vp_demand_kind {
    VP_DEMAND_UNIFORM,
    VP_DEMAND_RANDOM,
    VP_DEMAND_ZIPF,
    VP_DEMAND_MOE,
    VP_DEMAND_HOTSPOT
} vp_demand_kind_t;

/* What a Zipf weight belongs to. */
typedef enum vp_zipf_over {
    VP_ZIPF_PAIRS,
    VP_ZIPF_DESTINATIONS,
    VP_ZIPF_RANKED_PAIRS,
    VP_ZIPF_RANKED_ROWS
} vp_zipf_over_t;

typedef enum vp_dedup { VP_DEDUP_NONE, VP_DEDUP_RANK, VP_DEDUP_NODE } vp_dedup_t;

typedef struct vp_demand_options {
    vp_demand_kind_t kind;
    uint32_t n_ranks; /* 2 .. VP_MAX_RANKS */
    uint64_t seed;
    uint64_t bytes_per_rank;
    uint32_t element_bytes; /* >= 1 */
    double exponent;        /* >= 0 */
    bool scale_rows;
    vp_zipf_over_t over; /* zipf */
    uint32_t tokens;     /* moe */
    uint32_t experts;
    uint32_t top_k; /* 1 .. experts */
    uint32_t hidden;
    vp_dedup_t dedup;
    uint32_t ranks_per_node;
    uint32_t n_hot;      /* 1 .. n_ranks - 1 */
    uint32_t hot_ppm;    /* hotspot */
    uint32_t hot_factor; /* 1 .. 1000000; uniform, random and zipf */
} vp_demand_options_t;

bool vp_demand_kind_parse(const char *text, vp_demand_kind_t *kind_p);

/*
 * New demand_bytes[n_ranks][n_ranks], row = source, which the caller frees.
 * VP_ERR_USAGE: an option outside its range; VP_ERR_NO_MEMORY.
 */
vp_status_t vp_demand_generate(const vp_demand_options_t *options, uint64_t **demand_bytes_p,
                               vp_error_t *error) VP_MUST_CHECK;

#endif
