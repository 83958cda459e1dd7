/*
 * A machine with one link gone.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SIM_FAIL_H
#define VP_SIM_FAIL_H

#include "catalog/model.h"
#include "scheduler/plan.h"

/*
 * Takes a shared resource out of a model, with the paths and the NIC that need
 * it. Two groups that have no path left get detours over the NICs of their
 * nodes, reached over PCIe. VP_ERR_USAGE: no resource has that name.
 */
vp_status_t vp_model_fail_link(vp_model_t *model, const char *name,
                               vp_error_t *error) VP_MUST_CHECK;

/*
 * A plan that was made for `planned`, on a machine that lost a link since: each
 * lane keeps its path where `actual` has it, and else takes the nearest path
 * that is left. Lanes, volumes and order stay; activations may now share
 * resources. VP_ERR_BAD_INPUT: two ranks have no path left.
 */
vp_status_t vp_plan_reroute(vp_plan_t *plan, const vp_model_t *planned, const vp_model_t *actual,
                            vp_error_t *error) VP_MUST_CHECK;

#endif
