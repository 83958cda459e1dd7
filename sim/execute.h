/*
 * Plays a plan on a simulated machine.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SIM_EXECUTE_H
#define VP_SIM_EXECUTE_H

#include "scheduler/plan.h"
#include "sim/machine.h"

/*
 * barrier: an activation starts when the one before is done everywhere.
 * free:    a source posts its lanes in plan order, one after the other.
 * deps:    a lane starts when the previous lanes, in plan order, of its source,
 *          its destination and each of its shared resources are done.
 *
 * What a plan's form makes of that: a LIST asked to run with barriers runs by
 * dependencies, since its lanes would otherwise run one by one. CONCURRENT lanes
 * have no order but their source's: `window` of them at a time, in plan order,
 * whatever is asked for. Where lanes of an activation share a rank's link, `free`
 * posts `window` lanes at a time, and `deps` waits on each port for all lanes
 * of the last activation before that used it.
 */
typedef enum vp_execution {
    VP_EXECUTION_BARRIER,
    VP_EXECUTION_FREE,
    VP_EXECUTION_DEPS,
    VP_EXECUTION_WINDOW /* what CONCURRENT does; cannot be asked for */
} vp_execution_t;

const char *vp_execution_text(vp_execution_t execution);
bool vp_execution_parse(const char *text, vp_execution_t *execution_p);

/* How a plan of this form runs when `asked` for. */
vp_execution_t vp_execution_of(const vp_plan_t *plan, vp_execution_t asked);

typedef struct vp_execute_options {
    vp_execution_t execution;
    uint64_t alpha_ns;    /* overhead of every lane */
    uint64_t preamble_ns; /* planning and exchange of counts, before the first lane */
    uint64_t saved_ns;    /* <= alpha_ns: what a lane costs less that waits for no other rank:
                             free and window */
} vp_execute_options_t;

/* Adds the plan's lanes to the machine's network; the caller runs it. */
vp_status_t vp_execute_plan(vp_machine_t *machine, const vp_plan_t *plan,
                            const vp_execute_options_t *options, vp_error_t *error) VP_MUST_CHECK;

#endif
