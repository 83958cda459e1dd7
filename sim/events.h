/*
 * A binary heap of (key, kind, index), least first, ties by kind, then index:
 * a total order. Serves as event queue and as the fill's list of levels.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SIM_EVENTS_H
#define VP_SIM_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct vp_event {
    uint64_t key;
    uint32_t kind;
    uint32_t index;
} vp_event_t;

typedef struct vp_events {
    vp_event_t *items;
    size_t n;
    size_t capacity;
} vp_events_t;

void vp_events_release(vp_events_t *events);
/* False: out of memory. */
bool vp_events_push(vp_events_t *events, vp_event_t event) __attribute__((warn_unused_result));
/* Both need n > 0. Replacing pops the first and pushes `event` in one step. */
vp_event_t vp_events_pop(vp_events_t *events);
void vp_events_replace(vp_events_t *events, vp_event_t event);

#endif
