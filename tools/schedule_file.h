/*
 * Schedules of other programs as JSON files. Format: docs/simulator.md.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_SCHEDULE_FILE_H
#define VP_TOOLS_SCHEDULE_FILE_H

#include "sim/steps.h"

typedef struct vp_schedule_file {
    char *algorithm;       /* owned */
    uint64_t synthesis_ms; /* what making it took */
    vp_steps_t steps;      /* owned */
} vp_schedule_file_t;

/* VP_ERR_IO; VP_ERR_BAD_INPUT with file and place. Says nothing about model and demand. */
vp_status_t vp_schedule_file_read(const char *path, vp_schedule_file_t *file_p,
                                  vp_error_t *error) VP_MUST_CHECK;
void vp_schedule_file_release(vp_schedule_file_t *file);

#endif
