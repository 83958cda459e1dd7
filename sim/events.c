/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/events.h"

#include <stdlib.h>

#include "base/array.h"

static bool before(const vp_event_t *a, const vp_event_t *b)
{
    if (a->key != b->key) {
        return a->key < b->key;
    }
    return a->kind != b->kind ? a->kind < b->kind : a->index < b->index;
}

void vp_events_release(vp_events_t *events)
{
    free(events->items);
    *events = (vp_events_t){NULL, 0, 0};
}

bool vp_events_push(vp_events_t *events, vp_event_t event)
{
    size_t at = events->n;

    if (!vp_array_reserve(&events->items, &events->capacity, events->n + 1,
                          sizeof(*events->items))) {
        return false;
    }
    events->n++;
    while (at > 0 && before(&event, &events->items[(at - 1) / 2])) {
        events->items[at] = events->items[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    events->items[at] = event;
    return true;
}

void vp_events_replace(vp_events_t *events, vp_event_t event)
{
    size_t at = 0;
    size_t child;

    for (child = 1; child < events->n; child = 2 * at + 1) {
        if (child + 1 < events->n && before(&events->items[child + 1], &events->items[child])) {
            child++;
        }
        if (!before(&events->items[child], &event)) {
            break;
        }
        events->items[at] = events->items[child];
        at = child;
    }
    events->items[at] = event;
}

vp_event_t vp_events_pop(vp_events_t *events)
{
    vp_event_t first = events->items[0];

    events->n--;
    if (events->n > 0) {
        vp_events_replace(events, events->items[events->n]);
    }
    return first;
}
