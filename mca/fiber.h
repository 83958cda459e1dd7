/*
 * A function on a stack of its own that can pause and go on later. The engine
 * is written straight down, exchange after exchange; on a fiber the same code
 * serves nonblocking calls, which must never wait inside MPI: where a blocking
 * call would wait, a fiber pauses, and whoever makes progress resumes it.
 *
 * A fiber may be resumed by another thread than before, by one at a time. While
 * it is paused it must hold no lock and have nothing current in a thread (a
 * CUDA context).
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_MCA_FIBER_H
#define VP_MCA_FIBER_H

#include <stdbool.h>

typedef struct vp_fiber vp_fiber_t;

/* Runs nothing yet. NULL: no memory. */
vp_fiber_t *vp_fiber_create(void (*function)(void *argument), void *argument);
/* Runs until the function pauses or returns; true once it has returned. */
bool vp_fiber_resume(vp_fiber_t *fiber);
/* Only inside the fiber's function. */
void vp_fiber_pause(vp_fiber_t *fiber);
/* Its function has returned or never ran. NULL is fine. */
void vp_fiber_destroy(vp_fiber_t *fiber);

#endif
