/*
 * Machines and demands of the benches.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_BENCH_DEMANDS_H
#define VP_TEST_BENCH_DEMANDS_H

#include "catalog/model.h"

typedef enum bench_kind {
    BENCH_UNIFORM,
    BENCH_ZIPF04, /* each row a permuted Zipf law with exponent 0.4 */
    BENCH_ZIPF06,
    BENCH_ZIPF08,
    BENCH_MOE,     /* tokens of 14,336 bytes to 8 of N experts, drawn evenly */
    BENCH_HOT_MOE, /* experts drawn with popularity 1/sqrt(rank) */
    N_BENCH_KINDS,
    BENCH_RANDOM = N_BENCH_KINDS /* every pair drawn evenly up to twice the mean; in no sweep */
} bench_kind_t;

const char *bench_kind_text(bench_kind_t kind);

/* New bytes[n_ranks][n_ranks], about bytes_per_source in each row; ends the process on failure. */
uint64_t *bench_demand(bench_kind_t kind, uint32_t n_ranks, uint64_t bytes_per_source,
                       uint64_t seed);

/* A catalog without shapes around the pruned model of a topology; ends the process on failure. */
vp_catalog_t *bench_catalog(const char *topology);

/* One from which `paper` makes channels as it needs them. */
vp_catalog_t *bench_generated_catalog(const char *topology);

/* CPU time of this thread so far. */
uint64_t bench_cpu_ns(void);

#endif
