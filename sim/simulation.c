/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/simulation.h"

#include "base/units.h"

static vp_status_t run(vp_machine_t *machine, uint64_t n_steps,
                       const vp_simulation_options_t *options, vp_simulation_t *simulation_p,
                       vp_error_t *error)
{
    vp_network_result_t result;
    vp_status_t status = VP_OK;

    vp_network_set_progress(machine->network, options->progress, options->progress_context);
    if (options->keep_flows) {
        status = vp_network_keep_usage(machine->network, error);
    }
    if (status == VP_OK) {
        status = vp_network_run(machine->network, &result, error);
    }
    if (status == VP_OK && !options->keep_flows) {
        vp_network_forget_flows(machine->network);
    }
    if (status == VP_OK) {
        *simulation_p = (vp_simulation_t){.time_ns = result.time_ns,
                                          .n_steps = n_steps,
                                          .n_flows = vp_network_n_flows(machine->network),
                                          .max_idle_ns = result.max_idle_ns,
                                          .machine = machine};
    }
    return status;
}

vp_status_t vp_simulate_baseline(const vp_model_t *model, const uint64_t *demand_bytes,
                                 const vp_baseline_t *baseline,
                                 const vp_simulation_options_t *options,
                                 vp_simulation_t *simulation_p, vp_error_t *error)
{
    vp_traffic_t traffic = {NULL, demand_bytes, model->n_ranks, 0};
    vp_status_t status = vp_machine_create(model, &options->machine, &traffic.machine, error);

    if (status != VP_OK) {
        return status;
    }
    status = baseline->add(&traffic, error);
    if (status == VP_OK) {
        status = run(traffic.machine, traffic.n_steps, options, simulation_p, error);
    }
    if (status != VP_OK) {
        vp_machine_destroy(traffic.machine);
    }
    return status;
}

vp_status_t vp_simulate_plan(const vp_model_t *model, const vp_plan_t *plan,
                             const vp_simulation_options_t *options, vp_simulation_t *simulation_p,
                             vp_error_t *error)
{
    vp_machine_t *machine;
    vp_status_t status = vp_machine_create(model, &options->machine, &machine, error);

    if (status != VP_OK) {
        return status;
    }
    status = vp_execute_plan(machine, plan, &options->execute, error);
    if (status == VP_OK) {
        status = run(machine, plan->n_activations, options, simulation_p, error);
    }
    if (status != VP_OK) {
        vp_machine_destroy(machine);
    }
    return status;
}

/* Distinct steps, which ascend. */
static uint64_t count_steps(const vp_steps_t *steps)
{
    uint64_t n = steps->n_transfers > 0;
    size_t i;

    for (i = 1; i < steps->n_transfers; i++) {
        n += steps->transfers[i].step != steps->transfers[i - 1].step;
    }
    return n;
}

vp_status_t vp_simulate_steps(const vp_model_t *model, const vp_steps_t *steps,
                              const vp_simulation_options_t *options, vp_simulation_t *simulation_p,
                              vp_error_t *error)
{
    vp_machine_t *machine;
    vp_status_t status = vp_machine_create(model, &options->machine, &machine, error);

    if (status != VP_OK) {
        return status;
    }
    status = vp_execute_steps(machine, steps, error);
    if (status == VP_OK) {
        status = run(machine, count_steps(steps), options, simulation_p, error);
    }
    if (status != VP_OK) {
        vp_machine_destroy(machine);
    }
    return status;
}

void vp_simulation_release(vp_simulation_t *simulation)
{
    vp_machine_destroy(simulation->machine);
    *simulation = (vp_simulation_t){0};
}

uint64_t vp_algorithmic_bytes_per_s(uint64_t total_bytes, uint32_t n_ranks, uint64_t time_ns)
{
    vp_uint128_t per_s;

    if (time_ns == 0 || n_ranks == 0) {
        return 0;
    }
    per_s = (vp_uint128_t)total_bytes * VP_NS_PER_S / ((vp_uint128_t)n_ranks * time_ns);
    return per_s > UINT64_MAX ? UINT64_MAX : (uint64_t)per_s;
}
