/*
 * What a call waits for, in words, while it waits: when somebody asks by a signal,
 * and when nothing has happened for a while. The signal handler only counts; whoever
 * makes progress writes.
 *
 * Thread-safe: each call is described by its own thread, or, while it is inside a
 * collective below, by what it noted before.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_COLL_DUMP_H
#define VP_COLL_DUMP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"

/* Where a call is. */
#define VP_STEP_MAP(X)                                                                             \
    X(VP_STEP_SETUP, "all ranks to tell what they are and to connect")                             \
    X(VP_STEP_OPENING, "all ranks to enter the call")                                              \
    X(VP_STEP_COUNTS, "the counts of all ranks")                                                   \
    X(VP_STEP_PLACES, "plans and addresses of all ranks")                                          \
    X(VP_STEP_KEYS, "keys of all ranks")                                                           \
    X(VP_STEP_LANES, "lanes")

typedef enum vp_step {
#define VP_STEP_ENUM(name, text) name,
    VP_STEP_MAP(VP_STEP_ENUM)
#undef VP_STEP_ENUM
        VP_N_STEPS
} vp_step_t;

/* A call under way: a part of its engine. */
typedef struct vp_dump_call {
    struct vp_dump_call *next;
    const char *name; /* of the communicator; borrowed */
    uint32_t rank;
    uint64_t number;
    vp_step_t step;      /* atomic */
    uint64_t since_ns;   /* of that step; atomic */
    uint64_t written_ns; /* the last time; 0: never */
    unsigned n_seen;     /* requests that were answered */
} vp_dump_call_t;

/* One per process; all zeroes but the mutex is one that nobody asks. */
typedef struct vp_dump {
    pthread_mutex_t lock;
    vp_dump_call_t *calls; /* under way */
    uint32_t silence_ms;   /* write when nothing has happened for that long; 0: never */
    unsigned n_asked;      /* atomic; a signal handler adds to it */
    unsigned n_seen;       /* answered while no call was under way */
    const vp_log_t *log;   /* borrowed; lines are warnings */
} vp_dump_t;

/* dump may be NULL in what follows: nobody asks. */
void vp_dump_enter(vp_dump_t *dump, vp_dump_call_t *call);
void vp_dump_leave(vp_dump_t *dump, vp_dump_call_t *call);
void vp_dump_step(vp_dump_t *dump, vp_dump_call_t *call, vp_step_t step);
/*
 * Is the call to be described now? Nothing has happened since last_ns. At most once
 * per request and once per time of silence.
 */
bool vp_dump_due(const vp_dump_t *dump, vp_dump_call_t *call, uint64_t last_ns);
/* In the host's progress: describes the calls that are inside collectives below. */
void vp_dump_look(vp_dump_t *dump);

#endif
