/*
 * What the files behind lanes.h share. UCX is included here and nowhere else.
 *
 * Ownership: vp_lanes_t owns paths and endpoints; a path is the open context
 * and worker of one class. Endpoints, windows and running operations hang on
 * the path they send from, so that the path's worker can be replaced without
 * leaving anything behind that points into it. All of it is guarded by the one
 * mutex of vp_lanes_t.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_COLL_LANES_PRIVATE_H
#define VP_COLL_LANES_PRIVATE_H

#include <pthread.h>
#include <ucp/api/ucp.h>

#include "coll_variopath/lanes.h"

/* A worker's address; old ones are kept because callers may still look at them. */
typedef struct vp_lane_address {
    struct vp_lane_address *older;
    size_t n_bytes;
    unsigned char bytes[];
} vp_lane_address_t;

/* A worker that is not progressed any more: it stops all that was running on it. */
typedef struct vp_retired {
    struct vp_retired *next;
    ucp_worker_h worker;
    ucp_context_h context; /* set when it is given up for good */
} vp_retired_t;

/* One path class of this process. */
typedef struct vp_path {
    bool open;
    char *name;
    char *tls;
    char *devices;
    ucp_context_h context;
    bool puts_device; /* puts reach CUDA memory without a detour through the host */
    bool guarded;     /* endpoints are made with UCX's error handling */
    ucp_worker_h worker;
    bool stuck; /* something on the worker never ended */
    vp_retired_t *retired;
    vp_lane_address_t *address; /* newest first */
    vp_operation_t *operations; /* running ones */
    vp_window_t *windows;
} vp_path_t;

typedef struct vp_endpoint {
    uint64_t peer_key;
    uint32_t source_class;
    uint32_t destination_class;
    ucp_ep_h ucp;
    bool wired; /* a flush went through: puts need no more set-up from our side */
    size_t address_bytes;
    void *address; /* what it was connected to */
} vp_endpoint_t;

/* lanes_stage.h: staging through host memory. */
typedef struct vp_inbox vp_inbox_t;
typedef struct vp_ring vp_ring_t;

/* One region per open class. */
struct vp_region {
    vp_region_t *next; /* of all regions of the process */
    uint64_t id;       /* never used twice; of host memory the same for the same range */
    uint64_t begin;
    size_t n_bytes;
    void *context; /* of the device that the memory is on; NULL: the CPU may write it */
    uint32_t n_handles;
    ucp_mem_h *handles; /* [n_handles]; NULL where the class is not open or cannot put there */
    unsigned char *keys;
    size_t keys_bytes;
};

struct vp_window {
    vp_window_t *next; /* of its path */
    uint64_t peer_key;
    uint32_t source_class;
    uint32_t destination_class;
    ucp_ep_h ucp;    /* NULL once the endpoint is gone, and where lanes need none */
    ucp_rkey_h rkey; /* NULL likewise */
    vp_ring_t *ring; /* what goes through the window is staged; NULL: it is put */
    uint64_t region; /* staged: the peer's */
    bool to_device;  /* staged: the CPU must not write there */
};

struct vp_operation {
    vp_operation_t *next; /* of its path, or of the free list */
    uint64_t peer_key;
    uint32_t source_class;
    uint32_t destination_class;
    void *put; /* UCX requests; NULL: complete */
    void *flush;
    ucs_status_t failure; /* of either; UCS_OK so far */

    vp_ring_t *ring; /* NULL: not staged, and what follows means nothing */
    vp_operation_t *queued;
    ucp_ep_h ucp;
    ucp_rkey_h rkey;
    uint64_t region;
    const char *local; /* of what is left to cut into chunks */
    void *context;     /* of the device that it is on; NULL: the CPU may read it */
    uint64_t remote_address;
    size_t left_bytes;
    uint64_t last_chunk;
};

struct vp_lanes {
    uint32_t n_paths;          /* classes of the model, open or not */
    vp_path_t *paths;          /* [n_paths] */
    vp_endpoint_t **endpoints; /* ascending by (peer_key, source_class, destination_class) */
    size_t n_endpoints;
    size_t endpoint_capacity;
    vp_operation_t *free_operations;
    uint32_t estimated_peers;
    uint32_t place;
    uint32_t n_places;      /* 0: nothing is staged */
    uint32_t max_endpoints; /* 0: no limit */
    uint64_t inbox_bytes;   /* 0: what the places take */
    vp_region_t *regions;
    uint64_t last_region;
    vp_inbox_t *inbox; /* NULL until memory is registered for staging */
    vp_ring_t *rings;
    bool threads;
    bool tolerant;
    bool closed;
    const vp_log_t *log;
    pthread_mutex_t mutex;
};

void vp_lanes_lock(vp_lanes_t *lanes);
void vp_lanes_unlock(vp_lanes_t *lanes);

/* The functions below are called with the lock held. */

/* lanes.c: is the UCX found at run time 1.13, whose traps need a detour? */
bool vp_lanes_ucx_is_old(void);
/* The open path of a class, NULL when there is none. */
vp_path_t *vp_lanes_path(vp_lanes_t *lanes, uint32_t path_class);
unsigned vp_lanes_progress_locked(vp_lanes_t *lanes);
/*
 * Retires a path's worker with everything that runs on it and opens a new one,
 * under a new address. Without the new one the class counts as not open.
 * Destroying the old one now would close the sockets of peers that are in the
 * middle of something, which ends their processes on some UCX releases.
 */
void vp_lanes_path_replace(vp_lanes_t *lanes, uint32_t path_class);

/* lanes_endpoint.c */
vp_endpoint_t *vp_lanes_endpoint_find(vp_lanes_t *lanes, uint64_t peer_key, uint32_t source_class,
                                      uint32_t destination_class);
/* Forgets an endpoint; its UCX object stays with the worker. NULL is fine. */
void vp_lanes_endpoint_drop(vp_lanes_t *lanes, vp_endpoint_t *endpoint);
void vp_lanes_endpoint_drop_path(vp_lanes_t *lanes, uint32_t source_class);

/* lanes_memory.c */
/* Finds a class in packed keys; *key_p stays NULL when the peer did not register with it. */
vp_status_t vp_lanes_find_key(const void *keys, size_t n_bytes, uint32_t path_class,
                              const unsigned char **key_p, size_t *key_bytes_p,
                              vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_lanes_window_error(const vp_lanes_t *lanes, const vp_window_t *window,
                                  const char *why, vp_error_t *error);
/* Can anything be sent through it? */
bool vp_lanes_window_open(const vp_window_t *window);
/* Windows that were opened over this endpoint (NULL: any) of a path go blind. */
void vp_lanes_window_blind(vp_path_t *path, ucp_ep_h ucp);

/* lanes_operation.c */
vp_operation_t *vp_lanes_operation_start(vp_lanes_t *lanes, const vp_endpoint_t *endpoint,
                                         vp_error_t *error);
void vp_lanes_operation_flush(vp_operation_t *operation, ucp_ep_h ucp);
bool vp_lanes_operation_done(vp_operation_t *operation);
void vp_lanes_operation_end(vp_lanes_t *lanes, vp_operation_t *operation);
/* Every operation of a path fails with UCS_ERR_CANCELED and lets go of its requests. */
void vp_lanes_operation_fail_all(vp_path_t *path);

#endif
