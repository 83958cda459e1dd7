/*
 * What one call of MPI_Alltoallv does once Open MPI has handed it to us:
 * exchange, verdict, plan, lanes, agreed completion.
 *
 * The life of a call, on all ranks alike:
 *  1. first call on a communicator only: facts of every rank are exchanged
 *     (protocol version, catalog fingerprint, options, UCX ready); missing
 *     endpoints are connected in two ordered phases. If any rank cannot, the
 *     communicator is passed on from then on.
 *  2. one small allgathered record per rank: obstacles, which of the plans kept
 *     from earlier calls fit, what changed; rows of counts when no plan fits. The
 *     verdict follows from these records alone, so it is the same everywhere.
 *  3. one alltoall record per pair: receive address; remote keys. Either only when
 *     it changed since the last call.
 *  4. every rank derives the plan of the whole demand and executes its rows:
 *     put per lane, flush per lane.
 *  5. ranks meet: it is the barrier after which all bytes have arrived, and how a
 *     failure reaches every rank.
 * Falling back is possible up to the end of step 3; from the first byte on the
 * call completes or returns an error on every rank.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_COLL_ENGINE_H
#define VP_COLL_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "base/status.h"
#include "catalog/model.h"
#include "coll_variopath/device.h"
#include "coll_variopath/dump.h"
#include "coll_variopath/lanes.h"
#include "coll_variopath/surroundings.h"
#include "scheduler/schedule.h"

/* How lanes of consecutive activations are ordered. */
typedef enum vp_sync {
    VP_SYNC_FREE,    /* each rank runs its lanes in plan order, one after the other */
    VP_SYNC_BARRIER, /* all ranks meet after each activation */
    VP_SYNC_DEPS,    /* a lane starts when those before it on its source, its destination and
                        its shared resources have ended */
    VP_SYNC_AUTO     /* by the plan: deps, but free where activations are mostly overhead */
} vp_sync_t;

/* What becomes of the rates that lanes are observed to have. */
typedef enum vp_learn {
    VP_LEARN_OFF,
    VP_LEARN_ADVISE, /* one line says where they are not as stated */
    VP_LEARN_ON      /* all ranks agree on corrections, which further plans use */
} vp_learn_t;

enum { VP_MAX_CACHED_PLANS = 32 }; /* a bit each in a record */

/* Counts by way of one leader on each node. Travels, so values stay; the least of all ranks holds.
 */
typedef enum vp_leaders_use {
    VP_LEADERS_OFF,
    VP_LEADERS_AUTO, /* where it is predicted to be faster */
    VP_LEADERS_ON    /* wherever there are several nodes, and one of several ranks */
} vp_leaders_use_t;

typedef struct vp_engine_options {
    bool carry_host; /* carry host buffers; false on any rank: all calls are passed on */
    vp_sync_t sync;
    bool devices; /* a CUDA driver is loaded in this process; true on any rank: calls that are
                     not carried ask every rank for device buffers first */
    const char *scheduler; /* a name that vp_schedule_find knows */
    vp_sharing_t sharing;  /* AUTO: OFF unless `links` or the topology says what is lost */
    const char *links;     /* contention profile; NULL or "": the one with the name of the
                              topology's rates, where it has such. Borrowed */
    vp_learn_t learn;
    vp_leaders_use_t leaders;
    uint64_t alpha_ns;         /* 0: the topology's */
    uint32_t min_gain_percent; /* pass on when the pairwise exchange is predicted to be
                                  less than this much slower than the plan; 0: always carry */
    uint64_t min_bytes;        /* pass on calls that move fewer, of all ranks; at most UINT32_MAX */
    uint32_t cache_plans;      /* plans kept for demands that come again, at most
                                  VP_MAX_CACHED_PLANS; 0: none */
    bool compare;              /* predict the pairwise exchange for every plan, for counters */
    uint32_t timeout_ms;       /* give up after this long without any progress; 0: never */
    uint64_t chunk_bytes;      /* longest put; longer lanes go in pieces. 0: what arrives in twice
                                  alpha where lanes wait for each other, else no limit */
    uint32_t overlap_percent;  /* of alpha: how long before its end a lane lets the next start */
    /* Append one JSON line per call to this file; NULL: off. Borrowed; engines may share it. */
    const char *trace;
    bool trace_chrome;      /* events of the Chrome trace format instead of lines */
    uint32_t trace_process; /* the number of this process in them; 0 opens the array */
    const char *name;       /* of the communicator, for people; NULL: "". Borrowed */
    vp_dump_t *dump;        /* who is told what a call waits for; NULL: nobody. Borrowed */
    const vp_log_t *log;    /* borrowed; NULL: silent */
} vp_engine_options_t;

/* Why calls are not carried, in short: what counters tell apart. */
#define VP_REASON_MAP(X)                                                                           \
    X(VP_REASON_OBSTACLE, "obstacle", "of a rank's buffers or datatypes")                          \
    X(VP_REASON_SMALL, "small", "they move too few bytes")                                         \
    X(VP_REASON_GAIN, "gain", "their plan gains too little")                                       \
    X(VP_REASON_PLAN, "plan", "there was no plan, or not the same everywhere")                     \
    X(VP_REASON_WINDOW, "window", "a receive buffer could not be reached")                         \
    X(VP_REASON_COMMUNICATOR, "communicator", "their communicator is not carried")

typedef enum vp_reason {
#define VP_REASON_ENUM(name, word, text) name,
    VP_REASON_MAP(VP_REASON_ENUM)
#undef VP_REASON_ENUM
        VP_N_REASONS
} vp_reason_t;

/* Process-wide counters; the engine adds to them atomically. */
typedef struct vp_counters {
    uint64_t n_carried;
    uint64_t n_staged;
    uint64_t n_passed_on;
    uint64_t n_reasons[VP_N_REASONS]; /* of calls that were staged or passed on */
    uint64_t n_lanes;
    uint64_t n_activations;
    uint64_t planning_ns;
    uint64_t exchange_ns;   /* steps 2 and 3 */
    uint64_t n_cache_hits;  /* calls that took a cached plan */
    uint64_t execution_ns;  /* carried calls: from the first lane to the meeting at the end */
    uint64_t predicted_ns;  /* what their plans say */
    uint64_t pairwise_ns;   /* what the pairwise exchange is predicted to take; asked for only */
    uint64_t registrations; /* of device memory: kept ones are not counted again */
    uint64_t key_exchanges; /* calls in which some rank's remote keys changed */
    uint64_t sent_bytes[VP_N_PATH_KINDS]; /* by kind of the instance, own lanes */
    uint64_t self_bytes;
    uint64_t n_rates_learned;  /* corrections of rates that plans use */
    uint64_t n_advised;        /* only the first advice of a process is told */
    uint64_t n_traced;         /* calls in the trace */
    uint64_t n_trace_failures; /* only the first one of a process is told */
} vp_counters_t;

/* Why a rank cannot have this call carried; bits of vp_call_t.obstacles. */
#define VP_OBSTACLE_MAP(X)                                                                         \
    X(VP_OBSTACLE_IN_PLACE, 0, "in-place buffers that are too large to be copied")                 \
    X(VP_OBSTACLE_LAYOUT, 1, "a datatype with gaps that is too large to be packed")                \
    X(VP_OBSTACLE_HOST, 2, "host buffers (coll_variopath_host is off)")                            \
    X(VP_OBSTACLE_MEMORY, 3, "memory that a transport cannot register")                            \
    X(VP_OBSTACLE_SHUTDOWN, 4, "MPI is being finalized")                                           \
    X(VP_OBSTACLE_DEVICE, 5, "device buffers")                                                     \
    X(VP_OBSTACLE_DEVICE_LOST, 6, "a CUDA device that failed")                                     \
    X(VP_OBSTACLE_PATH, 7, "a path that was closed after a failure")

enum {
#define VP_OBSTACLE_ENUM(name, bit, text) name = 1 << (bit),
    VP_OBSTACLE_MAP(VP_OBSTACLE_ENUM)
#undef VP_OBSTACLE_ENUM
};

/* One contiguous block of a buffer. n_bytes = 0: the address is not looked at. */
typedef struct vp_block {
    void *address;
    uint64_t n_bytes;
} vp_block_t;

/* One call as this rank sees it; all arrays [n_ranks] in communicator order, borrowed. */
typedef struct vp_call {
    const vp_block_t *send;    /* to each peer; never written */
    const vp_block_t *receive; /* from each peer */
    uint32_t obstacles;        /* VP_OBSTACLE_*; send and receive may be NULL if not 0 */
    /*
     * What the blocks of each side are in; NULL: the host. With both given,
     * VP_OBSTACLE_DEVICE is lifted where lanes can carry this memory.
     */
    const vp_memory_t *send_memory;
    const vp_memory_t *receive_memory;
    /*
     * A nonblocking call: ranks may leave it alone for any time, inside the host's
     * progress too, so nobody can be late. On all ranks or on none.
     */
    bool patient;
} vp_call_t;

/*
 * Staged: some rank has device buffers that lanes do not carry, and the
 * collective below must never see them; each rank moves its own through the host.
 */
typedef enum vp_verdict { VP_CARRIED, VP_STAGED, VP_PASSED_ON } vp_verdict_t;

/* The same on every rank of the call. */
typedef struct vp_outcome {
    vp_verdict_t verdict;
    char reason[160]; /* why, when not carried; "" otherwise */
    uint32_t rank;    /* the rank that the reason is about; n_ranks: none in particular */
    bool fault;       /* the reason is how the job was set up, worth telling a person */
} vp_outcome_t;

typedef struct vp_engine vp_engine_t;

/*
 * One engine per communicator. Local: no communication, quick. Borrows
 * catalog, lanes, counters and everything the options point to until it is
 * destroyed; copies the arrays.
 *   topology_rank[n_ranks]  the model's rank of each communicator rank, all
 *                           different; any subset in any order
 *   peer_key[n_ranks]       identity of each process, equal in all communicators
 * A rank that cannot take part must still be there to say so, or the others
 * wait for it: catalog may be NULL (it could not be loaded), lanes may be NULL
 * (UCX could not be opened), the catalog may describe fewer ranks than there
 * are, and topology_rank may not fit it. The engine then joins the agreement
 * of the first call and passes every call on. VP_ERR_NO_MEMORY.
 */
vp_status_t vp_engine_create(const vp_catalog_t *catalog, vp_lanes_t *lanes,
                             const vp_surroundings_t *surroundings, const uint32_t *topology_rank,
                             const uint64_t *peer_key, const vp_engine_options_t *options,
                             vp_counters_t *counters, vp_engine_t **engine_p,
                             vp_error_t *error) VP_MUST_CHECK;

/* Local: no communication. Remote keys and registrations of this communicator go. NULL is fine. */
void vp_engine_destroy(vp_engine_t *engine);

/*
 * Runs one call; collective, one at a time per engine, different engines may
 * run in different threads.
 * VP_OK: outcome_p->verdict says whether all bytes are in place (carried) or
 * none was moved (passed on, staged: call the collective below now).
 * VP_ERR_TRUNCATE: a peer sends more than its block here holds, or this rank
 * sends more than a peer expects; all fitting blocks arrived and nothing was
 * written outside its block. Returned by the ranks concerned only.
 * VP_ERR_TRANSPORT, VP_ERR_TIMEOUT: after the first byte, on every rank that still
 * runs; the engine passes on all later calls.
 * VP_ERR_DEVICE: a rank has VP_OBSTACLE_DEVICE_LOST; on every rank, no byte moved.
 * VP_ERR_NO_MEMORY.
 */
vp_status_t vp_engine_alltoallv(vp_engine_t *engine, const vp_call_t *call, vp_outcome_t *outcome_p,
                                vp_error_t *error) VP_MUST_CHECK;

/*
 * Passes a call on, without asking anybody, in which all ranks together send n_bytes
 * to each other and that is too small: true, the caller uses the collective below.
 * Only where all ranks answer alike: n_bytes must be known to be equal on all of them.
 * Never before the first call, nor with CUDA drivers, where ranks must hear of others'
 * device buffers.
 */
bool vp_engine_pass_small(vp_engine_t *engine, uint64_t n_bytes);

/*
 * Staging of a call with the verdict staged is ready here, or failed
 * (`mine`): collective, VP_OK when it is ready on every rank. Otherwise no
 * rank may call the collective below, and all return the same status.
 */
vp_status_t vp_engine_agree_staging(vp_engine_t *engine, vp_status_t mine,
                                    vp_error_t *error) VP_MUST_CHECK;

/*
 * Have all ranks agreed to pass every call on? True at the same call on every
 * rank, counted in calls of one engine.
 */
bool vp_engine_declined(const vp_engine_t *engine);

/* Text of a verdict: "carried", "staged", "passed on". */
const char *vp_verdict_text(vp_verdict_t verdict);

#endif
