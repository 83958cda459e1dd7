/*
 * Registrations of device memory that are kept from call to call. An allocation
 * is registered as a whole and known by its identity, which the driver never
 * gives twice; memory that was freed is never found again, even where another
 * allocation has its address. Kept registrations make the keys that peers know
 * stay valid, and calls on the same buffers ask neither UCX nor the driver.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "coll_variopath/engine_private.h"

static void drop(vp_engine_t *engine, vp_kept_region_t *kept)
{
    vp_lanes_unregister(engine->lanes, kept->region);
    *kept = (vp_kept_region_t){0};
}

static bool overlaps(const vp_kept_region_t *kept, const vp_memory_t *memory)
{
    return kept->begin < memory->allocation_begin + memory->allocation_bytes &&
           memory->allocation_begin < kept->begin + kept->n_bytes;
}

/* Memory that lies where another allocation is now was freed. */
static void drop_freed(vp_engine_t *engine, const vp_memory_t *memory)
{
    size_t i;

    for (i = 0; i < VP_KEPT_REGIONS; i++) {
        vp_kept_region_t *kept = &engine->kept[i];

        if (kept->region != NULL && kept->buffer_id != memory->buffer_id &&
            overlaps(kept, memory)) {
            drop(engine, kept);
        }
    }
}

static vp_kept_region_t *find(vp_engine_t *engine, const vp_memory_t *memory, unsigned how)
{
    size_t i;

    for (i = 0; i < VP_KEPT_REGIONS; i++) {
        vp_kept_region_t *kept = &engine->kept[i];

        if (kept->region != NULL && kept->buffer_id == memory->buffer_id && kept->how == how &&
            kept->begin == memory->allocation_begin && kept->n_bytes == memory->allocation_bytes) {
            return kept;
        }
    }
    return NULL;
}

/* An empty place, or that of the one that was not used for longest. */
static vp_kept_region_t *make_room(vp_engine_t *engine)
{
    vp_kept_region_t *oldest = &engine->kept[0];
    size_t i;

    for (i = 1; i < VP_KEPT_REGIONS; i++) {
        if (engine->kept[i].used < oldest->used) {
            oldest = &engine->kept[i];
        }
    }
    drop(engine, oldest);
    return oldest;
}

vp_status_t vp_regions_get(vp_engine_t *engine, const vp_memory_t *memory, unsigned how,
                           vp_region_t **region_p, vp_error_t *error)
{
    vp_kept_region_t *kept;
    vp_region_t *region;
    vp_status_t status;

    drop_freed(engine, memory);
    kept = find(engine, memory, how);
    if (kept == NULL) {
        status = vp_lanes_register(engine->lanes, (void *)(uintptr_t)memory->allocation_begin,
                                   (size_t)memory->allocation_bytes, how, &region, error);
        if (status != VP_OK) {
            return status;
        }
        vp_counter_add(&engine->counters->registrations, 1);
        kept = make_room(engine);
        *kept = (vp_kept_region_t){.buffer_id = memory->buffer_id,
                                   .begin = memory->allocation_begin,
                                   .n_bytes = memory->allocation_bytes,
                                   .how = how,
                                   .region = region};
    }
    kept->used = engine->n_calls;
    *region_p = kept->region;
    return VP_OK;
}

void vp_regions_clear(vp_engine_t *engine)
{
    size_t i;

    for (i = 0; i < VP_KEPT_REGIONS; i++) {
        drop(engine, &engine->kept[i]);
    }
}
