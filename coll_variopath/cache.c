/*
 * Programs of demands seen lately. Each rank compares its own row of counts with
 * those it kept and tells which of them are equal; when all ranks name the same one,
 * the whole demand is equal, exactly. Slots are filled and emptied in the same calls
 * on all ranks, so their numbers mean the same everywhere.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "coll_variopath/run.h"

/* Larger plans are not kept: they would fill the memory of a node, and planning pays there. */
enum { MAX_CACHED_LANES = 1024 * 1024 };

uint32_t vp_cache_matches(const vp_engine_t *engine)
{
    uint32_t slot, matches = 0;

    for (slot = 0; slot < engine->options.cache_plans; slot++) {
        const vp_program_t *program = engine->cache[slot].program;

        if (program != NULL &&
            memcmp(program->row, engine->row, engine->n_ranks * sizeof(*engine->row)) == 0) {
            matches |= UINT32_C(1) << slot;
        }
    }
    return matches;
}

void vp_cache_take(vp_engine_t *engine, vp_work_t *work, uint32_t matches)
{
    vp_cached_t *cached = &engine->cache[__builtin_ctz(matches)];

    cached->used = engine->n_calls;
    work->program = cached->program;
    work->is_cached = true;
    vp_counter_add(&engine->counters->n_cache_hits, 1);
}

/* The slot that was not used for longest; an empty one was never used. */
void vp_cache_keep(vp_engine_t *engine, vp_work_t *work)
{
    uint32_t slot, oldest = 0;

    if (engine->options.cache_plans == 0 || work->program->plan->n_lanes > MAX_CACHED_LANES) {
        return;
    }
    for (slot = 1; slot < engine->options.cache_plans; slot++) {
        if (engine->cache[slot].used < engine->cache[oldest].used) {
            oldest = slot;
        }
    }
    vp_program_destroy(engine->cache[oldest].program);
    engine->cache[oldest] = (vp_cached_t){.program = work->program, .used = engine->n_calls};
    work->is_cached = true;
}

void vp_cache_clear(vp_engine_t *engine)
{
    uint32_t slot;

    for (slot = 0; slot < VP_MAX_CACHED_PLANS; slot++) {
        vp_program_destroy(engine->cache[slot].program);
        engine->cache[slot].program = NULL;
    }
}
