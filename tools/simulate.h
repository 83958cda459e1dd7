/*
 * Results of `variopath simulate`: gathered, printed, drawn; and its progress.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_SIMULATE_H
#define VP_TOOLS_SIMULATE_H

#include "sim/simulation.h"

/* One algorithm under one profile. Texts are borrowed, the simulation is owned. */
typedef struct vp_result {
    const char *algorithm;
    const char *links;
    const char *execution;
    const char *concurrency;
    uint64_t synthesis_ms;      /* what making a given schedule took */
    bool is_plan;               /* one of ours */
    uint64_t planning_model_ns; /* of a plan of ours: its planning_ns */
    uint64_t planning_cpu_ns;   /* of a plan of ours; 0: not asked for */
    uint64_t total_bytes;       /* of the demand, without its diagonal; set when it is added */
    uint64_t bound_ns;          /* drawn as a line; 0: none */
    bool draws_links;           /* a row of messages for each shared link too */
    vp_simulation_t simulation;
} vp_result_t;

struct vp_drawing;

typedef struct vp_report {
    const vp_model_t *model; /* borrowed */
    uint64_t total_bytes;    /* of the demand of now */
    vp_result_t *results;
    size_t n_results, capacity_results;
} vp_report_t;

typedef enum vp_report_format { VP_REPORT_TABLE, VP_REPORT_JSON, VP_REPORT_CSV } vp_report_format_t;

/* Sum of demand_bytes[n_ranks][n_ranks] without the diagonal, saturating. */
uint64_t vp_demand_total(const uint64_t *demand_bytes, uint32_t n_ranks);

void vp_report_begin(vp_report_t *report, const vp_model_t *model);
/* The results that are added from now on are for this demand. */
void vp_report_set_demand(vp_report_t *report, const uint64_t *demand_bytes);
/* Takes over the result's simulation, also on failure. */
vp_status_t vp_report_add(vp_report_t *report, vp_result_t *result,
                          vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_report_print(const vp_report_t *report, vp_report_format_t format,
                            vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_report_draw(const vp_report_t *report, const char *path,
                           vp_error_t *error) VP_MUST_CHECK;
/* Algorithmic bandwidth of a result, bytes per second and rank. */
uint64_t vp_report_rate(const vp_report_t *report, const vp_result_t *result);
/* Whether results differ in their demands. */
bool vp_report_is_sweep(const vp_report_t *report);
/* Parts of the drawing: messages of each rank, and busy links, over time. */
vp_status_t vp_result_draw_lanes(struct vp_drawing *svg, const vp_result_t *result,
                                 vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_result_draw_usage(struct vp_drawing *svg, const vp_result_t *result,
                                 vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_result_draw_links(struct vp_drawing *svg, const vp_result_t *result,
                                 vp_error_t *error) VP_MUST_CHECK;
/* The kind of path of a message, by the links on its way. */
vp_path_kind_t vp_simulation_flow_kind(const vp_machine_t *machine, uint32_t flow);
void vp_report_release(vp_report_t *report);

#endif
