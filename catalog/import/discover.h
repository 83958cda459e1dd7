/*
 * What node this is, without a file: discovered by hwloc, remembered in a
 * cache, so that the many processes of a node do not all look for it.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_IMPORT_DISCOVER_H
#define VP_CATALOG_IMPORT_DISCOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { VP_DISCOVERY_MAX_BYTES = 1024 * 1024, VP_DISCOVERY_PATH_BYTES = 1024 };

typedef enum vp_discovery_source {
    VP_DISCOVERY_NEW,      /* hwloc was asked, the cache was written */
    VP_DISCOVERY_CACHED,   /* from the cache */
    VP_DISCOVERY_UNCACHED, /* hwloc was asked, and there is no place for a cache */
} vp_discovery_source_t;

typedef struct vp_discovery {
    uint8_t *facts; /* of facts.h, owned; NULL: this node cannot be used, see refusal */
    size_t n_bytes;
    uint64_t hash;     /* of the facts */
    char refusal[256]; /* one sentence without a full stop */
    vp_discovery_source_t source;
    char path[VP_DISCOVERY_PATH_BYTES]; /* of the cache file, "" without one */
} vp_discovery_t;

/*
 * Fills *discovery, which the caller clears. A node without GPUs, or one that
 * hwloc cannot discover, is an answer too, and remembered alike.
 *
 * The cache is the file node-HASH.vpnode in variopath/ below $XDG_CACHE_HOME
 * (else $HOME/.cache), HASH of the host's name and of hwloc's environment.
 * It holds a fingerprint of what discovery depends on: those two, the boot, the
 * PCI devices that the kernel lists, and the version of this code. A damaged
 * file, or one with another fingerprint, is ignored and written anew. It is
 * replaced by a rename; of processes that start together one discovers and the
 * others wait for its file, for a few seconds at most.
 *
 * A folder that is another user's, or that others can write into, is no place.
 * Never fails for want of a cache. VP_ERR_NO_MEMORY.
 */
vp_status_t vp_discover_node(vp_discovery_t *discovery, vp_error_t *error) VP_MUST_CHECK;
void vp_discovery_clear(vp_discovery_t *discovery);

#endif
