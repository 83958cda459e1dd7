/*
 * The one hash for checksums, fingerprints and plan agreement: XXH64 of the
 * xxHash library, seed 0, over bytes whose layout is fixed (little-endian).
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_BASE_HASH_H
#define VP_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t vp_hash64(const void *data, size_t n_bytes);

/* The same over parts, one after the other: start, add each, end. */
typedef struct vp_hash64_state {
    uint64_t words[12]; /* of the library */
} vp_hash64_state_t;

void vp_hash64_start(vp_hash64_state_t *state);
void vp_hash64_add(vp_hash64_state_t *state, const void *data, size_t n_bytes);
uint64_t vp_hash64_end(const vp_hash64_state_t *state);

#endif
