/*
 * One planner on one demand: the plan's quality and what it cost to make, from
 * the same runs.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_BENCH_MEASURE_H
#define VP_TEST_BENCH_MEASURE_H

#include "scheduler/schedule.h"

typedef struct measure {
    uint32_t n;   /* demands summed up */
    double ratio; /* certified bound over modelled time: sum, least */
    double least_ratio;
    double activations; /* sums */
    double kmin;
    double us_per_activation;
    double ns_per_lane;
    double share; /* planning over modelled communication: sum, largest */
    double largest_share;
} measure_t;

/*
 * Plans n_repeats times, checks the plan, and adds to *measure: time is the
 * median of CPU times. `bound` is certified: ends the process if a plan is
 * faster, or invalid.
 */
void measure_plan(const char *planner, const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                  const vp_schedule_options_t *options, const vp_bound_t *bound, uint32_t n_repeats,
                  measure_t *measure);

/* The best certified bound: LP + alpha * Kmin raised by alignment. */
vp_bound_t measure_bound(const vp_model_t *model, const uint64_t *demand_bytes, uint64_t alpha_ns);

/* A markdown table: its head, and the means of one row. */
void measure_print_head(void);
void measure_print_row(const char *label, const measure_t *measure);

#endif
