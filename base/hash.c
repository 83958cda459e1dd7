/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t vp_hash64(const void *data, size_t n_bytes)
{
    return XXH64(data, n_bytes, 0);
}
