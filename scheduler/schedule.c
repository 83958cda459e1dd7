/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/schedule.h"

#include <string.h>

typedef struct planner_entry {
    const char *name;
    vp_schedule_fn_t plan;
} planner_entry_t;

vp_schedule_fn_t vp_schedule_find(const char *name)
{
    static const planner_entry_t planners[] = {{"auto", vp_schedule_auto},
                                               {"colour", vp_schedule_colour},
                                               {"concurrent", vp_schedule_concurrent},
                                               {"critical", vp_schedule_critical},
                                               {"list", vp_schedule_list},
                                               {"paper", vp_schedule_paper}};
    size_t i;

    for (i = 0; i < sizeof(planners) / sizeof(planners[0]); i++) {
        if (strcmp(planners[i].name, name) == 0) {
            return planners[i].plan;
        }
    }
    return NULL;
}

const char *vp_schedule_names(void)
{
    return "auto, colour, concurrent, critical, list, paper";
}
