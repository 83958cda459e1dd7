/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <string.h>
#include <xxhash.h>

uint64_t vp_hash64(const void *data, size_t n_bytes)
{
    return XXH64(data, n_bytes, 0);
}

_Static_assert(sizeof(XXH64_state_t) <= sizeof(vp_hash64_state_t), "a state has room");

void vp_hash64_start(vp_hash64_state_t *state)
{
    XXH64_state_t inner;

    (void)XXH64_reset(&inner, 0);
    memcpy(state, &inner, sizeof(inner));
}

void vp_hash64_add(vp_hash64_state_t *state, const void *data, size_t n_bytes)
{
    XXH64_state_t inner;

    memcpy(&inner, state, sizeof(inner));
    (void)XXH64_update(&inner, data, n_bytes);
    memcpy(state, &inner, sizeof(inner));
}

uint64_t vp_hash64_end(const vp_hash64_state_t *state)
{
    XXH64_state_t inner;

    memcpy(&inner, state, sizeof(inner));
    return XXH64_digest(&inner);
}
