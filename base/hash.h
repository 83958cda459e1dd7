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

#endif
