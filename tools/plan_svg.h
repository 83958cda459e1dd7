/*
 * A plan as a picture.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_PLAN_SVG_H
#define VP_TOOLS_PLAN_SVG_H

#include "scheduler/plan.h"

/*
 * Plays the plan on the modelled links and draws what ranks send, what shared links carry and
 * how busy links are, with the bound as a line. VP_ERR_NO_MEMORY; VP_ERR_IO; what the simulator
 * refuses.
 */
typedef struct vp_plan_picture {
    const vp_model_t *model;
    const vp_plan_t *plan;
    const char *links;    /* contention profile; NULL: ideal */
    bool by_dependencies; /* lanes wait for their ports only */
    uint64_t alpha_ns;
    uint64_t bound_ns;
} vp_plan_picture_t;

vp_status_t vp_plan_draw(const vp_plan_picture_t *picture, const char *path,
                         vp_error_t *error) VP_MUST_CHECK;

#endif
