/* See threads_pthreads_mutex.h. SPDX-License-Identifier: BSD-3-Clause */
#ifndef VP_COMPAT_THREADS_PTHREADS_THREADS_H
#define VP_COMPAT_THREADS_PTHREADS_THREADS_H

#include <pthread.h>
#include <sched.h>

#include "opal/mca/threads/threads.h"

#define OPAL_THREAD_YIELD_WHEN_IDLE_DEFAULT false

static inline void opal_thread_yield(void)
{
    (void)sched_yield();
}

#endif
