/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/plan_svg.h"

#include "sim/execute.h"
#include "tools/simulate.h"

vp_status_t vp_plan_draw(const vp_plan_picture_t *picture, const char *path, vp_error_t *error)
{
    vp_execution_t asked = picture->by_dependencies ? VP_EXECUTION_DEPS : VP_EXECUTION_BARRIER;
    vp_simulation_options_t options = {
        .machine = {.links = picture->links == NULL ? "ideal" : picture->links},
        .execute = {.execution = asked, .alpha_ns = picture->alpha_ns},
        .keep_flows = true};
    vp_result_t result = {.algorithm = picture->plan->scheduler,
                          .links = options.machine.links,
                          .execution = vp_execution_text(vp_execution_of(picture->plan, asked)),
                          .concurrency = "lanes of a plan",
                          .bound_ns = picture->bound_ns,
                          .draws_links = true};
    vp_report_t report = {0};
    vp_status_t status =
        vp_simulate_plan(picture->model, picture->plan, &options, &result.simulation, error);

    vp_report_begin(&report, picture->model);
    report.total_bytes = picture->plan->total_bytes;
    if (status == VP_OK) {
        status = vp_report_add(&report, &result, error);
    }
    if (status == VP_OK) {
        status = vp_report_draw(&report, path, error);
    }
    vp_report_release(&report);
    return status;
}
