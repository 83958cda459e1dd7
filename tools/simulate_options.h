/*
 * The options of `variopath simulate`.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_SIMULATE_OPTIONS_H
#define VP_TOOLS_SIMULATE_OPTIONS_H

#include "scheduler/schedule.h"
#include "sim/execute.h"
#include "tools/options.h"
#include "tools/simulate.h"

enum { VP_SIMULATE_MAX_SIZES = 64 };

typedef struct vp_simulate_options {
    const char *topology;
    const char *demand;
    const char *algorithms; /* NULL: none */
    const char *schedules;  /* files, comma-separated; NULL: none */
    const char *links;
    const char *plan_links; /* NULL: plans are made for the links that they run on */
    const char *fail;
    bool is_unaware; /* plans are made as if nothing had failed */
    vp_execution_t execution;
    vp_sharing_t sharing;
    bool has_alpha;
    uint64_t alpha_ns;
    bool has_post;
    uint64_t post_ns; /* of a lane that waits for no other rank; at most alpha_ns counts */
    uint64_t planning_ns;
    uint64_t exchange_ns;
    uint64_t n_timed_plans; /* how often each plan is made for its fastest CPU time; 0: no clock */
    uint64_t rate_error_ppm;
    uint64_t seed;
    size_t n_sizes; /* bytes per rank that the demand is scaled to; 0: as it is */
    uint64_t sizes[VP_SIMULATE_MAX_SIZES];
    bool exact;
    vp_report_format_t format;
    bool is_json;
    bool is_csv;
    const char *svg;
} vp_simulate_options_t;

extern const vp_option_t vp_simulate_known_options[];
/* Do they fit together? VP_EXIT_OK, or another exit code after a message. */
int vp_simulate_options_check(const vp_simulate_options_t *options);

#endif
