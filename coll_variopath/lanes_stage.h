/*
 * Lanes through host memory, for bytes that no transport can put by itself:
 * the sender copies a chunk from its device into a slot, the receiver from the
 * slot to its own device, while the next chunk is under way.
 *
 * The slots are the receiver's: its inbox, a memory file, holds two rings for
 * each place of the topology, one that the sender maps (shared memory, classes
 * without a network device) and one that it puts into over its NIC from a
 * mirror of the same layout. A ring has one sender and one receiver; a chunk's
 * number grows by one and says which slot it is in.
 *
 *   sender    copy into the slot, header; then filled[slot] = number
 *             (over a NIC: put header and bytes, flush, put filled[slot])
 *   receiver  filled[slot] is the next number: copy to where the header says,
 *             drained = number once that is done
 *   sender    reads drained (over a NIC: gets it); a lane is done when its last
 *             chunk is drained, so its bytes are visible at the peer
 *
 * Like a put that UCX emulates, a chunk needs the target's progress. Both sides
 * run inside vp_lanes_progress. Everything here is called with the lanes' lock held.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_COLL_LANES_STAGE_H
#define VP_COLL_LANES_STAGE_H

#include <stdatomic.h>

#include "base/buf.h"
#include "coll_variopath/device.h"
#include "coll_variopath/lanes_private.h"

/* In keys, in place of a path class: how to stage bytes into this region. */
#define VP_STAGE_CLASS UINT32_MAX

enum {
    VP_STAGE_SLOTS = 8,
    VP_STAGE_PAGE = 4096,
    VP_STAGE_HEADER_BYTES = 64 /* before the bytes of a slot, at the end of a page */
};

/* The first page of a ring. */
typedef struct vp_ring_control {
    uint64_t magic;           /* of the inbox: what was mapped is what was meant */
    _Atomic uint64_t drained; /* the receiver's; read together with what follows */
    _Atomic uint64_t failed;  /* the receiver could not write a chunk */
    _Atomic uint64_t filled[VP_STAGE_SLOTS];
} vp_ring_control_t;

typedef struct vp_chunk_header {
    uint64_t region;
    uint64_t address;
    uint64_t n_bytes;
} vp_chunk_header_t;

/* Where things are in a ring. */
static inline size_t vp_ring_bytes(size_t slot_bytes)
{
    return VP_STAGE_PAGE + VP_STAGE_SLOTS * (VP_STAGE_PAGE + slot_bytes);
}

static inline size_t vp_ring_slot_at(uint64_t number, size_t slot_bytes)
{
    return VP_STAGE_PAGE + (size_t)((number - 1) % VP_STAGE_SLOTS) * (VP_STAGE_PAGE + slot_bytes);
}

/* The header stands right before the bytes: one put takes both. */
static inline size_t vp_ring_header_at(uint64_t number, size_t slot_bytes)
{
    return vp_ring_slot_at(number, slot_bytes) + VP_STAGE_PAGE - VP_STAGE_HEADER_BYTES;
}

static inline size_t vp_ring_data_at(uint64_t number, size_t slot_bytes)
{
    return vp_ring_slot_at(number, slot_bytes) + VP_STAGE_PAGE;
}

static inline bool vp_path_is_network(const vp_path_t *path)
{
    return path->devices[0] != '\0';
}

/* One ring as the receiver sees it. */
typedef struct vp_inbound {
    uint64_t started; /* chunks */
    uint64_t drained;
    void *pin_context; /* NULL: not pinned */
    vp_copy_t copies[VP_STAGE_SLOTS];
    vp_region_t *regions[VP_STAGE_SLOTS]; /* where they go; NULL: nowhere, or no copy runs */
} vp_inbound_t;

struct vp_inbox {
    uint64_t magic;
    int fd;
    char *memory;
    size_t n_bytes;
    size_t slot_bytes;
    uint32_t n_places;
    vp_inbound_t *rings; /* [2 * n_places]: those that are mapped, then those that are put into */
    ucp_mem_h *handles;  /* [n_paths] of the second half, NULL where the class is no network */
};

typedef enum vp_slot_state {
    VP_SLOT_FREE,
    VP_SLOT_COPYING, /* from the device */
    VP_SLOT_PUTTING, /* header and bytes; mirrored rings only */
    VP_SLOT_SENT
} vp_slot_state_t;

typedef struct vp_outbound_slot {
    vp_slot_state_t state;
    vp_operation_t *operation;
    size_t n_bytes;
    vp_copy_t copy;
    void *put; /* UCX requests; NULL: complete */
    void *flush;
} vp_outbound_slot_t;

/* One ring as the sender sees it. */
struct vp_ring {
    vp_ring_t *next;
    uint64_t peer_key;
    bool shared; /* memory is the peer's own, otherwise a mirror */
    bool dead;   /* something went wrong: neither side knows what the other has */
    size_t slot_bytes;
    char *memory;
    size_t n_bytes;
    void *pin_context; /* NULL: not pinned */
    uint64_t remote;   /* address of the peer's ring; mirrored rings only */
    uint64_t started;  /* chunks */
    uint64_t drained;
    void *get; /* of what follows */
    uint64_t answer[2];
    vp_outbound_slot_t slots[VP_STAGE_SLOTS];
    vp_operation_t *first; /* operations that have bytes left to cut, in order */
    vp_operation_t *last;
};

/* lanes_inbox.c: adds the entry VP_STAGE_CLASS to a region's keys; makes the inbox when needed. */
vp_status_t vp_lanes_inbox_add(vp_lanes_t *lanes, const vp_region_t *region, vp_writer_t *keys,
                               vp_error_t *error) VP_MUST_CHECK;
unsigned vp_lanes_inbox_progress(vp_lanes_t *lanes);
/* No copy into the region runs any more when it returns. */
void vp_lanes_inbox_forget(vp_lanes_t *lanes, const vp_region_t *region);
void vp_lanes_inbox_destroy(vp_lanes_t *lanes);

/* lanes_outbox.c */
/* entry: what vp_lanes_inbox_add wrote at the peer. Fills a window whose classes are set. */
vp_status_t vp_lanes_outbox_open(vp_lanes_t *lanes, const uint8_t *entry, size_t n_bytes,
                                 vp_window_t *window, vp_error_t *error) VP_MUST_CHECK;
/* Queues an operation; local memory of a device when context is not NULL. */
void vp_lanes_outbox_put(vp_operation_t *operation, const vp_window_t *window, const void *local,
                         void *context, uint64_t remote_address, size_t n_bytes);
bool vp_lanes_outbox_done(vp_operation_t *operation);
unsigned vp_lanes_outbox_progress(vp_lanes_t *lanes);
/* The operation's local bytes are left alone from here on; nothing more goes over its ring. */
void vp_lanes_outbox_abandon(vp_operation_t *operation);
/* Rings whose windows use this endpoint (NULL: any) of a path send nothing more. */
void vp_lanes_outbox_blind(vp_path_t *path, ucp_ep_h ucp);
void vp_lanes_outbox_destroy(vp_lanes_t *lanes);

#endif
