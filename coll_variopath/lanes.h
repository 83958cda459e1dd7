/*
 * Lanes: puts over exactly the path that the plan chose. One UCP context and
 * worker per path class; an endpoint from (my class) to (peer's class) is the
 * path. The only header behind which UCX is called.
 *
 * One vp_lanes_t per process, shared by all communicators. Endpoints are keyed
 * by the peer process and live until vp_lanes_close. With `threads` every
 * function may be called from any thread; otherwise from one at a time.
 *
 * Traps this room exists to avoid: one context with several devices cannot
 * choose between them; put completion is local (flush, then notify); creating
 * endpoints over TCP while puts come in crashes some UCX releases (connect
 * first, and no zero-copy TCP puts when other threads may be moving data).
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_COLL_LANES_H
#define VP_COLL_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "base/status.h"
#include "catalog/model.h"

typedef struct vp_lanes vp_lanes_t;
typedef struct vp_region vp_region_t; /* local memory registered with every open class */
typedef struct vp_window vp_window_t; /* a peer's region as one endpoint sees it */
typedef struct vp_operation vp_operation_t;

typedef struct vp_lanes_config {
    const vp_path_class_t *classes; /* [n_classes] of the model; borrowed during the call */
    uint32_t n_classes;
    const bool *wanted; /* [n_classes] classes that this process opens */
    uint32_t estimated_peers;
    uint32_t place;    /* of this process, among */
    uint32_t n_places; /* all places of the topology; 0: nothing is staged through host memory */
    uint32_t max_endpoints; /* budget of this process; 0: no limit */
    uint64_t inbox_bytes;   /* budget of host memory to stage through; 0: what the places take */
    bool threads;
    bool tolerant;       /* peers may die, and this process is to outlive them */
    const vp_log_t *log; /* borrowed until destroyed; NULL: silent */
} vp_lanes_config_t;

/*
 * Opens one context and worker per wanted class. VP_ERR_TRANSPORT: UCX refuses
 * a class (names it, its TLS and devices, and the remedy); VP_ERR_UNSUPPORTED:
 * the UCX found at run time is older than 1.13.1. Local.
 */
vp_status_t vp_lanes_create(const vp_lanes_config_t *config, vp_lanes_t **lanes_p,
                            vp_error_t *error) VP_MUST_CHECK;

/* Flushes and closes all endpoints; peers must still be alive. Later connects fail. */
void vp_lanes_close(vp_lanes_t *lanes);
/* Closes what is open and frees workers and contexts. NULL is fine. */
void vp_lanes_destroy(vp_lanes_t *lanes);

/* Versions of the UCX API: compiled against, and found at run time ("1.22.0"). Static storage. */
const char *vp_lanes_compiled_version(void);
const char *vp_lanes_runtime_version(void);

/* Address of an open class's worker; valid until vp_lanes_destroy. */
vp_status_t vp_lanes_address(vp_lanes_t *lanes, uint32_t path_class, const void **address_p,
                             size_t *n_bytes_p, vp_error_t *error) VP_MUST_CHECK;

/* Is there an endpoint from my class to that class of the peer? */
bool vp_lanes_connected(vp_lanes_t *lanes, uint64_t peer_key, uint32_t source_class,
                        uint32_t destination_class);

/*
 * Creates the endpoint unless it exists and waits until it is wired up
 * (progressing all classes and calling proceed(context), which may be NULL, and
 * gives up when it returns false). VP_ERR_TRANSPORT: the peer cannot be reached on that pair of
 * classes, or did not answer for limit_ms; 0: it may take any time, a peer that is late is told
 * of once. VP_ERR_LIMIT: the budget of endpoints is spent.
 */
vp_status_t vp_lanes_connect(vp_lanes_t *lanes, uint64_t peer_key, uint32_t source_class,
                             uint32_t destination_class, const void *address, size_t n_bytes,
                             unsigned limit_ms, bool (*proceed)(void *), void *context,
                             vp_error_t *error) VP_MUST_CHECK;

/* Can these lanes move CUDA device memory at all? */
bool vp_lanes_carry_device(vp_lanes_t *lanes);
/* Can a put from any open class, or from this one, reach CUDA device memory without a detour
 * through the host? */
bool vp_lanes_put_device(vp_lanes_t *lanes);
bool vp_lanes_class_puts_device(vp_lanes_t *lanes, uint32_t path_class);

/* How memory is registered. */
enum {
    VP_REGION_DEVICE = 1, /* of a CUDA device whose context is current; the CPU leaves it alone */
    VP_REGION_STAGED = 2, /* chunks through host memory can come here too */
    VP_REGION_NO_PUT = 4  /* nothing else can */
};

/*
 * Registers memory with every open class, device memory with those that can put it:
 * where none is left, or a class refuses, it can only be staged into, or is an error without
 * VP_REGION_STAGED. A UCX whose hooks into CUDA are missing takes device memory for the
 * host's; being told otherwise here, it refuses. region->keys is the concatenation
 * that peers need to write here: for each class (ascending) a 32-bit class
 * index, a 32-bit length and the packed remote key; an entry for staging comes last.
 * VP_ERR_TRANSPORT, VP_ERR_NO_MEMORY; VP_ERR_LIMIT: the budget has no room to stage through.
 */
vp_status_t vp_lanes_register(vp_lanes_t *lanes, void *address, size_t n_bytes, unsigned how,
                              vp_region_t **region_p, vp_error_t *error) VP_MUST_CHECK;
/* Can device memory of the region be put? Otherwise it has to be staged. */
bool vp_region_can_put(const vp_region_t *region);
const void *vp_region_keys(const vp_region_t *region, size_t *n_bytes_p);
void vp_lanes_unregister(vp_lanes_t *lanes, vp_region_t *region); /* NULL is fine */

/*
 * Opens a peer's keys (as above) for the endpoint of that pair of classes.
 * VP_ERR_TRANSPORT: this path cannot write there; VP_ERR_BAD_INPUT: the keys
 * do not parse. One window per (peer, source class, destination class).
 */
vp_status_t vp_lanes_open_window(vp_lanes_t *lanes, uint64_t peer_key, uint32_t source_class,
                                 uint32_t destination_class, const void *keys, size_t n_bytes,
                                 vp_window_t **window_p, vp_error_t *error) VP_MUST_CHECK;
/*
 * The same for bytes that go through host memory: chunk by chunk into the peer's inbox, through
 * shared memory where the classes name no network device, otherwise over the endpoint. Any
 * number of windows share the inbox. VP_ERR_TRANSPORT also where the peer offers no staging.
 */
vp_status_t vp_lanes_open_staged(vp_lanes_t *lanes, uint64_t peer_key, uint32_t source_class,
                                 uint32_t destination_class, const void *keys, size_t n_bytes,
                                 vp_window_t **window_p, vp_error_t *error) VP_MUST_CHECK;
/* Do a peer's keys offer staging, and puts into that class? Keys that do not parse offer nothing.
 */
bool vp_keys_offer_staging(const void *keys, size_t n_bytes);
bool vp_keys_offer_class(const void *keys, size_t n_bytes, uint32_t path_class);
/* Is what a staged window reaches device memory? */
bool vp_window_to_device(const vp_window_t *window);
/* False once its endpoint is gone: nothing can be put through it any more. */
bool vp_lanes_window_usable(vp_lanes_t *lanes, const vp_window_t *window);
void vp_lanes_close_window(vp_lanes_t *lanes, vp_window_t *window); /* NULL is fine */

/*
 * Starts a put followed by a flush of its endpoint, or queues the chunks of a staged
 * window: the operation is done when the bytes are visible at the peer, which progresses
 * meanwhile. The local bytes stay untouched until then.
 * `device`: they are of a CUDA device, whose context is current.
 */
vp_status_t vp_lanes_put(vp_lanes_t *lanes, vp_window_t *window, const void *local, bool device,
                         uint64_t remote_address, size_t n_bytes, vp_operation_t **operation_p,
                         vp_error_t *error) VP_MUST_CHECK;
/*
 * VP_OK with *done_p true: complete, the operation is freed. False: still
 * running. On an error the operation is freed too.
 */
vp_status_t vp_lanes_test(vp_lanes_t *lanes, vp_operation_t **operation_p, bool *done_p,
                          vp_error_t *error) VP_MUST_CHECK;
/*
 * Gives up on an operation and frees it. Its endpoint is gone, and with a put
 * that was still reading local bytes all endpoints of its source class: that
 * class gets a new worker and address, connecting again works with it. Nothing
 * more is sent afterwards, but what a NIC or the peer's queue already has arrives.
 */
void vp_lanes_cancel(vp_lanes_t *lanes, vp_operation_t *operation);

/*
 * A peer does not answer, and memory that it may still write to goes back to its owner:
 * all classes get new workers and addresses, as if something had been cancelled on each.
 * Puts that need this process to move on do not arrive any more.
 */
void vp_lanes_retire(vp_lanes_t *lanes);

/* Advances all open classes once; returns the number of events. Never blocks on a lock. */
unsigned vp_lanes_progress(vp_lanes_t *lanes);

#endif
