/*
 * One algorithm on one machine: sets up the links, adds the algorithm's
 * traffic or a plan's lanes, runs them, and gives what is reported.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SIM_SIMULATION_H
#define VP_SIM_SIMULATION_H

#include "scheduler/plan.h"
#include "sim/baselines/baselines.h"
#include "sim/execute.h"
#include "sim/steps.h"

typedef struct vp_simulation_options {
    vp_machine_options_t machine;
    vp_execute_options_t execute;      /* plans only */
    bool keep_flows;                   /* and the use of links over time, for drawings */
    vp_network_progress_fn_t progress; /* NULL: none */
    void *progress_context;
} vp_simulation_options_t;

typedef struct vp_simulation {
    uint64_t time_ns;
    uint64_t n_steps;
    size_t n_flows;
    uint64_t max_idle_ns;  /* 0: links were shared anew at every event */
    vp_machine_t *machine; /* owned; link names, bytes and busy times */
} vp_simulation_t;

/* The model must outlive the simulation. demand_bytes[n_ranks][n_ranks], row = source. */
vp_status_t vp_simulate_baseline(const vp_model_t *model, const uint64_t *demand_bytes,
                                 const vp_baseline_t *baseline,
                                 const vp_simulation_options_t *options,
                                 vp_simulation_t *simulation_p, vp_error_t *error) VP_MUST_CHECK;
/* `model` is the one that the plan's instances index. */
vp_status_t vp_simulate_plan(const vp_model_t *model, const vp_plan_t *plan,
                             const vp_simulation_options_t *options, vp_simulation_t *simulation_p,
                             vp_error_t *error) VP_MUST_CHECK;
/* `steps` were checked against the model. */
vp_status_t vp_simulate_steps(const vp_model_t *model, const vp_steps_t *steps,
                              const vp_simulation_options_t *options, vp_simulation_t *simulation_p,
                              vp_error_t *error) VP_MUST_CHECK;
void vp_simulation_release(vp_simulation_t *simulation);

/* total_bytes / (ranks * time), bytes per second, rounded down; 0 for no time. */
uint64_t vp_algorithmic_bytes_per_s(uint64_t total_bytes, uint32_t n_ranks, uint64_t time_ns);

#endif
