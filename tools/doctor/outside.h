/*
 * Programs and libraries that may hang or crash, run in a process of their own
 * and for a bounded time.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_DOCTOR_OUTSIDE_H
#define VP_TOOLS_DOCTOR_OUTSIDE_H

#include <stdbool.h>
#include <stdio.h>

typedef enum vp_outcome {
    VP_OUTCOME_DONE,
    VP_OUTCOME_FAILED,   /* exit code other than 0, or a signal */
    VP_OUTCOME_ABSENT,   /* there is no such program */
    VP_OUTCOME_TIMED_OUT /* and was ended */
} vp_outcome_t;

/*
 * Runs argv (found in PATH) with no input; *text_p (free it) is what it wrote to
 * both outputs, up to 4 MiB; NULL where nothing could be had.
 */
vp_outcome_t vp_outside_run(char *const *argv, int timeout_ms, char **text_p);

/* The same for a function, in a child of this process: its lines go to the stream. */
vp_outcome_t vp_outside_call(void (*function)(FILE *stream, const void *context),
                             const void *context, int timeout_ms, char **text_p);

/* "ended with an error", ... for messages. */
const char *vp_outcome_text(vp_outcome_t outcome);

#endif
