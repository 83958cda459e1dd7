/*
 * What the files behind engine.h share: the engine of one communicator and
 * the state of one call.
 *
 * Ranks are counted twice: `rank` and `peer` are ranks of the communicator,
 * a `place` is a rank of the model (topology_rank). Records travel in
 * communicator order, demand and plan are in model order.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_COLL_ENGINE_PRIVATE_H
#define VP_COLL_ENGINE_PRIVATE_H

#include "base/buf.h"
#include "base/pool.h"
#include "coll_variopath/engine.h"
#include "coll_variopath/leaders.h"
#include "coll_variopath/learn.h"
#include "coll_variopath/record.h"
#include "scheduler/schedule.h"

/* Beside obstacles in headers: this rank has device buffers, which is none. */
#define VP_NOTE_DEVICE (UINT32_C(1) << 31)

typedef enum vp_engine_state {
    VP_ENGINE_NEW,     /* nothing agreed yet */
    VP_ENGINE_READY,   /* connected */
    VP_ENGINE_DECLINED /* all ranks know the reason; every call is passed on */
} vp_engine_state_t;

/* One way to a peer: a pair of classes that some instance between the groups names. */
typedef struct vp_link {
    uint32_t source_class;
    uint32_t destination_class;
    vp_window_t
        *window; /* NULL while the peer has not told keys, or its memory cannot be put into */
    vp_window_t *staged; /* through host memory; NULL where the peer has told none */
} vp_link_t;

typedef struct vp_program vp_program_t; /* a plan and what running it takes: run.h */

/* A program that is kept for demands that come again. */
typedef struct vp_cached {
    vp_program_t *program; /* NULL: the slot is empty */
    uint64_t used;         /* the call that used it last */
} vp_cached_t;

/* A registration of device memory that outlives its call: regions.c. */
enum { VP_KEPT_REGIONS = 16 };
typedef struct vp_kept_region {
    uint64_t buffer_id; /* the allocation's */
    uint64_t begin;     /* all of it */
    uint64_t n_bytes;
    unsigned how;        /* VP_REGION_* */
    vp_region_t *region; /* NULL: the place is empty */
    uint64_t used;       /* the call that used it last */
} vp_kept_region_t;

/* Why a path is of no use. Travels, so values stay. */
typedef enum vp_loss_reason {
    VP_LOSS_REFUSED = 1, /* the driver does not let the sender reach the memory */
    VP_LOSS_WRONG = 2,   /* other bytes arrived than were sent */
    VP_LOSS_FAILED = 3   /* a put, or opening the window for it */
} vp_loss_reason_t;

/* A path as the rank that lost it saw it; what is lost is lost for both ranks' groups. */
typedef struct vp_loss {
    uint32_t from; /* places */
    uint32_t to;
    uint32_t source_class;
    uint32_t destination_class;
    uint32_t reason;
} vp_loss_t;

struct vp_engine {
    const vp_catalog_t *catalog; /* of this communicator; NULL, like model: it does not fit */
    const vp_model_t *model;
    vp_catalog_t *own_catalog; /* what catalog points to when ranks are missing */
    uint64_t fingerprint;      /* of the whole topology's catalog, 0: none */
    uint32_t catalog_ranks;    /* likewise */
    uint64_t order_hash;       /* of topology_rank */
    vp_fit_t fit;
    vp_lanes_t *lanes; /* may be NULL */
    vp_surroundings_t around;
    vp_engine_options_t options;
    vp_counters_t *counters;
    uint32_t rank;
    uint32_t n_ranks;
    uint32_t *place;      /* [n_ranks] the model's rank of each communicator rank */
    uint32_t *place_rank; /* [n_ranks] the inverse */
    uint64_t *peer_key;   /* [n_ranks] */

    vp_engine_state_t state;
    char reason[160]; /* why declined */
    uint32_t reason_rank;
    bool fault;
    bool devices;       /* some rank had a CUDA driver at the first call */
    bool carry_devices; /* and the lanes of every rank move device memory */
    uint64_t n_calls;
    bool patient;        /* so is the call that runs */
    vp_dump_call_t dump; /* the call that runs */

    /* Made by setup. */
    uint32_t *link_begin; /* [n_ranks + 1] links to each peer, into links */
    vp_link_t *links;
    vp_opening_t *openings;  /* [n_ranks] of this call */
    uint64_t *row;           /* [n_ranks] own bytes to each rank of this call, none to itself */
    uint32_t *obstacles;     /* [n_ranks] of this call */
    uint64_t *demand;        /* [n_ranks][n_ranks] by place */
    vp_pool_t *pool;         /* memory of planning, for the next call */
    vp_standing_t *standing; /* splits that planning begins with; NULL: not needed yet */
    vp_pair_t *pairs;        /* [n_ranks] what each peer told me last */
    vp_rates_t rates;        /* observed */
    vp_pair_t *told;         /* [n_ranks] what I told each peer last */
    bool places_told;        /* they know it */
    vp_cached_t cache[VP_MAX_CACHED_PLANS];
    vp_report_t *reports; /* [n_ranks] */
    vp_kept_region_t kept[VP_KEPT_REGIONS];
    bool *checked;     /* [n_ranks] the paths between those of device memory carried a pattern */
    vp_loss_t *losses; /* found here, not settled yet */
    size_t n_losses;
    size_t loss_capacity;
    vp_leaders_t *leaders; /* NULL: none here */
    uint32_t use_leaders;  /* vp_leaders_use_t, the same on all ranks */
    uint8_t *send_wire;    /* one contribution */
    uint8_t *receive_wire; /* [n_ranks] of them */

    /* Keys of the own receive window as the peers know them. */
    uint8_t *told_keys;
    size_t told_keys_bytes;
    size_t told_keys_capacity;
    uint64_t told_begin; /* the window's range */
    uint64_t told_end;
};

/* When a lane ran, for the trace. */
typedef struct vp_lane_time {
    uint64_t start_ns; /* since the call began */
    uint64_t end_ns;
} vp_lane_time_t;

/* One call while it runs. */
typedef struct vp_work {
    const vp_call_t *call;
    uint64_t start_ns;
    vp_outcome_t outcome;
    vp_reason_t reason; /* when it is not carried */

    uint32_t obstacles;
    bool on_device;  /* own buffers are, and lanes are to carry them: their context is current */
    bool any_device; /* some rank's are */
    uint64_t begin;  /* receive window [begin, end); empty: no peer sends here */
    uint64_t end;
    vp_region_t *region;
    bool owns_region;  /* it goes with the call; otherwise it is kept */
    bool puts_device;  /* own device memory can be put from; else it is staged */
    bool keys_changed; /* on any rank */
    uint8_t *keys;     /* [n_ranks + 1][keys_stride], the own ones last */
    size_t keys_stride;

    vp_status_t rows_status; /* not VP_OK: this rank does not know the demand */
    vp_program_t *program;   /* NULL: no bytes between ranks, or not carried */
    bool is_cached;          /* it is the cache's */
    vp_lane_time_t *times;   /* [n_lanes of the plan], NULL without trace */
    uint64_t planning_ns;
    uint64_t sent_bytes;
    uint64_t kind_bytes[VP_N_PATH_KINDS];
    bool self_done;
} vp_work_t;

/* place.c: which part of the catalog this communicator is; sets fit, catalog, model, places. */
vp_status_t vp_engine_place(vp_engine_t *engine, const vp_catalog_t *catalog,
                            const uint32_t *topology_rank, vp_error_t *error) VP_MUST_CHECK;

/*
 * setup.c: the memory of a rank's first records, had before it meets others: who
 * has none could not even tell. False: memory is out.
 */
bool vp_engine_make_records(vp_engine_t *engine) __attribute__((warn_unused_result));
/* First call on a communicator; leaves the engine ready or declined. */
vp_status_t vp_engine_setup(vp_engine_t *engine, vp_error_t *error) VP_MUST_CHECK;
void vp_engine_setup_undo(vp_engine_t *engine);

/* Has the host heard of a death? As vp_surroundings_t.is_broken; peer_p may be NULL. */
bool vp_engine_is_broken(const vp_engine_t *engine, uint32_t *peer_p);

/*
 * Declines all further calls for a reason that every rank derived alike: it is
 * about `rank` (n_ranks: none in particular).
 */
void vp_engine_decline(vp_engine_t *engine, uint32_t rank, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * agree.c: exchange of one report per rank; engine->reports holds all of them
 * afterwards. Returns the lowest rank whose status is not VP_OK in *bad_p
 * (n_ranks: none).
 */
vp_status_t vp_engine_agree(vp_engine_t *engine, const vp_report_t *mine, uint32_t *bad_p,
                            vp_error_t *error) VP_MUST_CHECK;
/* Text of such a report: "rank 3 to rank 5 over nic0 > nic1: a transport failed". */
void vp_engine_report_text(const vp_engine_t *engine, uint32_t rank, char *text, size_t n_bytes);
/* Text of a lane: "lane 5, rank 2 to rank 3 over nic0 > nic1". */
void vp_engine_lane_text(const vp_engine_t *engine, const vp_lane_t *lane, uint32_t index,
                         char *text, size_t n_bytes);
/* Text of a trouble: "lane 5, rank 2 to rank 3 over nic0 > nic1: timed out". */
void vp_engine_trouble_text(const vp_engine_t *engine, const vp_trouble_t *trouble,
                            const vp_plan_t *plan, char *text, size_t n_bytes);
/* The surroundings' allgather and alltoall with an error text. */
vp_status_t vp_engine_allgather(vp_engine_t *engine, const void *send, void *receive,
                                size_t n_bytes, vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_engine_alltoall(vp_engine_t *engine, const void *send, void *receive, size_t n_bytes,
                               vp_error_t *error) VP_MUST_CHECK;

/* exchange.c: steps 2 and 3. What the call needs is in work afterwards, or why it is not carried.
 */
vp_status_t vp_exchange(vp_engine_t *engine, vp_work_t *work, vp_error_t *error) VP_MUST_CHECK;

/* cache.c: slots, as bits, whose counts are the own row of this call. */
uint32_t vp_cache_matches(const vp_engine_t *engine);
/* Takes the first of the slots that match on all ranks. */
void vp_cache_take(vp_engine_t *engine, vp_work_t *work, uint32_t matches);
/* Keeps the call's program, if there is a place for it. */
void vp_cache_keep(vp_engine_t *engine, vp_work_t *work);
void vp_cache_clear(vp_engine_t *engine);

/* verdict.c: from everyone's records to verdict and plan. */
/* obstacles[n_ranks] of all ranks. VP_ERR_DEVICE when a rank cannot tell what its buffers are. */
vp_status_t vp_verdict_obstacles(const vp_engine_t *engine, const uint32_t *obstacles,
                                 vp_work_t *work, vp_error_t *error) VP_MUST_CHECK;
/* A planner that fails leaves its text in error; whether all ranks saw the same is agreed later. */
vp_status_t vp_verdict_plan(vp_engine_t *engine, vp_work_t *work, vp_error_t *error) VP_MUST_CHECK;
/* Passes the call on when its plan gains too little. */
void vp_verdict_worth(const vp_engine_t *engine, vp_work_t *work);
/* Passes the call on. */
void vp_verdict_pass(vp_work_t *work, vp_reason_t reason, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* VP_ERR_TRUNCATE when this rank sends or receives a block that does not fit. */
vp_status_t vp_verdict_truncation(const vp_engine_t *engine, const vp_work_t *work,
                                  vp_error_t *error) VP_MUST_CHECK;

/* trust.c: collective; before the plan of a call in which a rank has device buffers for the first
 * time, its paths carry a pattern. Those of no use are settled. */
vp_status_t vp_trust_check(vp_engine_t *engine, const vp_work_t *work,
                           vp_error_t *error) VP_MUST_CHECK;

/*
 * regions.c: the registration of the allocation that device memory lies in, kept
 * for further calls; at most two in one call. The engine's; not thread-safe.
 */
vp_status_t vp_regions_get(vp_engine_t *engine, const vp_memory_t *memory, unsigned how,
                           vp_region_t **region_p, vp_error_t *error) VP_MUST_CHECK;
/* After a failure, so that late bytes find no memory, and at the end. */
void vp_regions_clear(vp_engine_t *engine);

/* losses.c: a path of no use, until the ranks settle. */
void vp_losses_add(vp_engine_t *engine, const vp_loss_t *loss);
/* Collective: what any rank has lost leaves the catalog of all. VP_ERR_NO_MEMORY on all ranks. */
vp_status_t vp_losses_settle(vp_engine_t *engine, vp_error_t *error) VP_MUST_CHECK;

/* The engine plans with another catalog from now on, which it owns. */
void vp_engine_adopt(vp_engine_t *engine, vp_catalog_t *catalog);

/* windows.c: the own receive window and those of the peers. */
void vp_windows_register(vp_engine_t *engine, vp_work_t *work);
/* Have the own keys changed since the peers were told? */
bool vp_windows_changed(const vp_engine_t *engine, const vp_work_t *work);
/* Makes room for the exchange below; local. */
vp_status_t vp_windows_prepare(vp_engine_t *engine, vp_work_t *work,
                               vp_error_t *error) VP_MUST_CHECK;
/* Collective, when any rank's keys changed. Passes the call on when a window does not open. */
vp_status_t vp_windows_exchange(vp_engine_t *engine, vp_work_t *work,
                                vp_error_t *error) VP_MUST_CHECK;
/* False when a window was lost with its endpoint, after a failure on any communicator. */
bool vp_windows_usable(const vp_engine_t *engine);
void vp_windows_close_all(vp_engine_t *engine);
/* What a lane of this call over this instance goes through; NULL: it is not connected. */
vp_window_t *vp_windows_choose(const vp_engine_t *engine, const vp_work_t *work, uint32_t peer,
                               const vp_instance_t *instance);

/*
 * program.c: of the demand in the engine. Takes the plan over, also when it fails.
 * VP_ERR_LIMIT, VP_ERR_NO_MEMORY.
 */
vp_status_t vp_program_create(const vp_engine_t *engine, vp_plan_t *plan, vp_program_t **program_p,
                              vp_error_t *error) VP_MUST_CHECK;
void vp_program_destroy(vp_program_t *program); /* NULL is fine */

/*
 * execute.c: moves this rank's bytes and meets the others; with a plan, the same
 * trouble is known to all of them afterwards. What went wrong here in words: own.
 */
void vp_execute(vp_engine_t *engine, vp_work_t *work, vp_trouble_t *trouble_p, vp_error_t *own);
/* Bytes of the block that this rank sends to itself; they go with execution, if there is one. */
vp_status_t vp_execute_self(vp_engine_t *engine, vp_work_t *work, vp_error_t *error) VP_MUST_CHECK;

/* trace.c: makes room for the times of lanes, when tracing. */
void vp_trace_begin(const vp_engine_t *engine, vp_work_t *work);
/* Counters, log line and trace file of a finished call. */
void vp_trace_call(vp_engine_t *engine, const vp_work_t *work, vp_status_t status);

/* Memory that the CPU leaves alone: device memory, and managed memory, which copies serve as well.
 */
static inline bool vp_memory_is_device(const vp_memory_t *memory)
{
    return memory != NULL &&
           (memory->kind == VP_MEMORY_DEVICE || memory->kind == VP_MEMORY_MANAGED);
}

static inline void vp_counter_add(uint64_t *counter, uint64_t value)
{
    (void)__atomic_fetch_add(counter, value, __ATOMIC_RELAXED);
}

/* Own lanes of the plan are those whose source is this. */
static inline uint32_t vp_engine_my_place(const vp_engine_t *engine)
{
    return engine->place[engine->rank];
}

#endif
