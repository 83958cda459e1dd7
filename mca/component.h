/*
 * The Open MPI component `coll/variopath`: thin glue between the coll
 * framework and the engine.
 *
 *   component.c   the component structure, register, open, close
 *   params.c      parameters        counters.c  performance variables
 *   version.c     does the running Open MPI match?
 *   watch.c       a signal, and a time of silence, ask what calls wait for
 *   widen.c       the literal `--mca coll variopath`
 *   process.c     per process: catalog, lanes, finalization
 *   module.c      per communicator: query, enable, disable, saved functions
 *   help.c        messages to the user
 *   modex.c       what processes tell each other at start-up
 *   peers.c       is the component chosen on all ranks?
 *   discover.c    no topology file: the catalog from what the ranks' nodes are
 *   below.c       the collectives below us, as the engine's surroundings
 *   messages.c    small messages between ranks, likewise
 *   side.c        arguments of a call as pieces of memory
 *   transfer.c    pieces as blocks of bytes, packed where they have gaps
 *   alltoallv.c   MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw
 *   nonblocking.c MPI_Ialltoall, MPI_Alltoall_init and so on
 *   request.c     their requests, and who runs when
 *   fiber.c       stacks that pause     rounds.c      exchanges on such a stack
 *   stage.c       device buffers through host memory
 *   relay.c       calls that are not ours, without their device buffers
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_MCA_COMPONENT_H
#define VP_MCA_COMPONENT_H

#include "mca/ompi.h"

#include "base/log.h"
#include "catalog/model.h"
#include "coll_variopath/device.h"
#include "coll_variopath/engine.h"
#include "coll_variopath/lanes.h"
#include "mca/side.h"

/*
 * help.c: prints a topic of the help file on this process, once. Open MPI's own
 * aggregation is not used: in 4.1 messages that several ranks send at once are
 * often garbled or lost. Callers let one rank speak.
 */
#define VP_HELP_FILE "help-coll-variopath.txt"
void vp_help(const char *topic, ...);

/* Values of the parameters coll_variopath_*; params.c says what each means. */
typedef struct vp_params {
    int priority;
    bool enable;
    int verbose;
    int min_ranks;
    char *collectives;
    char *catalog;
    char *topology;
    char *node;
    bool host;
    bool sync_stream;
    char *scheduler;
    char *sharing;
    char *links;
    char *sync;
    char *learn;
    char *leaders;
    unsigned long long alpha_ns;
    unsigned int min_gain_percent;
    unsigned long long pack_max_bytes;
    unsigned int max_endpoints;
    unsigned long long staging_bytes;
    char *trace;
    char *trace_format;
    bool summary;
    int dump_signal;
    unsigned int dump_ms;
    unsigned int min_bytes;
    unsigned int cache_plans;
    unsigned int timeout_ms;
    unsigned long long chunk_bytes;
    unsigned int overlap_percent;
    bool widen;
    char *help_dir;
    char *compiled_version;
    char *runtime_version;
} vp_params_t;

/* Of a parameter: Open MPI keeps an empty text as NULL. */
static inline const char *vp_params_text(const char *value)
{
    return NULL == value ? "" : value;
}

typedef struct vp_component {
    mca_coll_base_component_t super;
    vp_params_t params;
    vp_counters_t counters;
    bool threads;  /* MPI_THREAD_MULTIPLE was granted to MPI_Init_thread */
    bool started;  /* MPI was initialized: this is no tool */
    unsigned rank; /* in MPI_COMM_WORLD */
    int output;    /* stream of coll_variopath_verbose */
    vp_log_t log;
    vp_dump_t dump;
    char *trace; /* file of this process, NULL: off */
} vp_component_t;

OMPI_DECLSPEC extern vp_component_t mca_coll_variopath_component;

#define VP_SAVED_FIELDS(name)                                                                      \
    mca_coll_base_module_##name##_fn_t below_##name;                                               \
    mca_coll_base_module_t *below_##name##_module;

/* Memory for blocks that cannot move where they lie; kept from call to call. */
typedef struct vp_packed {
    char *memory;
    size_t n_bytes;
} vp_packed_t;

/*
 * Open MPI's collectives take tags from -7 downwards, nonblocking ones count down to -2^30 and
 * start again. This one is below all of them, still among what fault tolerance takes for a
 * collective's, and -2 in its last 24 bits, which is all that pml/ucx keeps and nobody's own.
 */
enum { VP_MESSAGE_TAG = -(127 << 24) - 2, VP_SWAP_TAG = VP_MESSAGE_TAG - 1 }; /* likewise */

/* Messages between the ranks of a strand. */
typedef struct vp_outgoing vp_outgoing_t;
typedef struct vp_messages {
    struct ompi_request_t *incoming; /* NULL: no receive is posted */
    vp_outgoing_t *outgoing;         /* not yet completed */
    int tag;                         /* nobody else's on this communicator */
    char bytes[VP_MESSAGE_BYTES];    /* of the incoming one */
} vp_messages_t;

typedef struct vp_request vp_request_t;
typedef struct vp_rounds vp_rounds_t;

/*
 * Calls that share an engine run one after the other, in the order in which the
 * application made them: those of a communicator, and those of a persistent request,
 * which ranks may start in another order.
 */
typedef struct vp_strand {
    struct vp_module *module;
    vp_engine_t *engine;   /* created at the first call */
    vp_catalog_t *catalog; /* its own, where nodes were discovered; else NULL */
    vp_messages_t messages;
    vp_rounds_t *rounds; /* of the request that runs; NULL: a blocking call does */
    vp_request_t *first; /* started and not complete, in order */
    vp_request_t *last;
    struct vp_strand *next; /* of those that have a request */
    int n_pending;          /* requests started and not complete; atomic */
} vp_strand_t;

/* One per communicator. */
typedef struct vp_module {
    mca_coll_base_module_t super;
    VP_FOREACH_SAVED(VP_SAVED_FIELDS)
    struct ompi_communicator_t *comm; /* borrowed; it owns the module */
    bool enabled;
    char *refusal;  /* why the communicator is not served: calls are only relayed; else NULL */
    bool announced; /* the first verdict was logged */
    vp_strand_t strand;
    vp_block_t *blocks; /* [2 * n_ranks]: send, then receive blocks of the current call */
    vp_packed_t packed; /* of the current call */
} vp_module_t;
OBJ_CLASS_DECLARATION(vp_module_t);

/* params.c, counters.c: register everything with Open MPI. An OMPI error code. */
int vp_params_register(vp_component_t *component);
/*
 * A parameter whose value is not known, NULL when all are: its name, the value
 * and what is known instead.
 */
const char *vp_params_refusal(const vp_params_t *params, const char **value_p,
                              const char **known_p);
bool vp_params_overrides(const vp_params_t *params, const char *collective);
bool vp_params_sharing(const vp_params_t *params, vp_sharing_t *sharing_p);
bool vp_params_leaders(const vp_params_t *params, vp_leaders_use_t *leaders_p);
bool vp_params_learn(const vp_params_t *params, vp_learn_t *learn_p);
bool vp_params_sync(const vp_params_t *params, vp_sync_t *sync_p);
int vp_counters_register(vp_component_t *component);

/* version.c: true when the running Open MPI has the layouts this was built for; says so otherwise.
 */
bool vp_version_matches(void);

/* watch.c: between MPI's initialization and the end; whom engines tell, NULL: nobody. */
void vp_watch_open(vp_component_t *component);
void vp_watch_close(void);
vp_dump_t *vp_watch_dump(void);

/* widen.c: brings in the other coll components when only this one was asked for. */
int vp_widen(void);

/*
 * process.c. vp_process_source: where catalogs come from, as the parameters say:
 * "file", "nodes" (discovered) or "nothing"; the same on ranks of one mind.
 * vp_process_catalog loads the file's once; NULL after a failure.
 * vp_process_lanes opens the path classes of this process once: those of the
 * group of a rank of the model; NULL after a failure. vp_process_fault says why;
 * vp_process_note_fault adds a reason that others found.
 */
const char *vp_process_fault(void);
void vp_process_note_fault(const vp_error_t *error);
const char *vp_process_source(void);
const vp_catalog_t *vp_process_catalog(void);
vp_lanes_t *vp_process_lanes(const vp_model_t *model, uint32_t rank);
bool vp_process_shutting_down(void);
/*
 * Memory that is set aside when the process starts, so that one that runs out can still take
 * part in the agreement of a communicator and say so: peers would wait for it otherwise.
 * vp_process_need: zeroed memory, with the reserve given back where that helps; NULL: no memory.
 * vp_process_spend: gives the reserve back; false when it is gone already.
 */
void vp_process_reserve(void);
void *vp_process_need(size_t n, size_t size);
bool vp_process_spend(void);
/* Modules hold the process state; the last one to go after finalization began frees it. */
void vp_process_hold(void);
void vp_process_drop(void);
/* Frees what is left; called when the component closes. */
void vp_process_close(void);

/*
 * peers.c: publishes what the selection of this component depends on, and
 * finds the first rank of a communicator that published something else or
 * nothing (its size: none). All members get such an answer, or none does.
 */
void vp_peers_publish(void);
int vp_peers_find_other(struct ompi_communicator_t *comm);

/* module.c */
mca_coll_base_module_t *vp_module_query(struct ompi_communicator_t *comm, int *priority);
/* Creates the engine at the first call; a buffer of the call, or NULL, tells the GPU. */
int vp_strand_prepare(vp_strand_t *strand, const void *buffer);
/* Before a blocking call: its engine and blocks. */
int vp_module_prepare(vp_module_t *module, const void *buffer);

/* below.c: the surroundings of a strand's engine. */
void vp_below_fill(vp_strand_t *strand, vp_surroundings_t *surroundings);
/*
 * What a call that failed returns: where a member died or the communicator was
 * revoked, that is why, and applications that tolerate faults must be told so.
 */
int vp_below_code(struct ompi_communicator_t *comm, int code);
/* Did a member die, or was the communicator revoked? The MPI code of it; OMPI_SUCCESS: neither. */
int vp_below_fault(struct ompi_communicator_t *comm);
/* The lowest member that is known to have died; -1: none. */
int vp_below_find_dead(struct ompi_communicator_t *comm);

/* request.c: runs requests until the strand has none. For a blocking call, which comes after them.
 */
void vp_request_drain(vp_strand_t *strand);
/* Stops watching for progress; when no request can be left. */
void vp_request_close(void);

/* messages.c: see coll_variopath/surroundings.h; context is the strand. */
vp_status_t vp_messages_send(void *context, uint32_t peer, const void *message);
vp_status_t vp_messages_receive(void *context, void *message, bool *arrived_p);
void vp_messages_abandon(void *context);
/* Before the communicator goes. */
void vp_messages_close(vp_strand_t *strand);

/* stage.c */

/* One side on its way through the host; bounce is NULL where nothing is staged. */
typedef struct vp_bounce {
    vp_side_t side;
    vp_memory_t memory;
    uint64_t begin; /* touched bytes: [begin, end) */
    uint64_t end;
    bool gaps; /* some block has bytes in between that are not data */
    char *bounce;
} vp_bounce_t;

typedef struct vp_stage {
    struct ompi_communicator_t *comm;
    int n_ranks;         /* blocks on each side */
    vp_engine_t *engine; /* that agrees on staging; NULL: nobody asks for that */
    bool in_place;
    vp_bounce_t send;
    vp_bounce_t receive;
} vp_stage_t;

/*
 * Looks at what the buffers of a call are: VP_OBSTACLE_DEVICE,
 * VP_OBSTACLE_DEVICE_LOST or 0. send is NULL for an in-place call. Local; at
 * most one driver query per side.
 */
uint32_t vp_stage_look(vp_stage_t *stage, struct ompi_communicator_t *comm, vp_engine_t *engine,
                       const vp_side_t *send, const vp_side_t *receive);
/* Is any touched byte in ordinary host memory? */
bool vp_stage_has_host(const vp_stage_t *stage);
/*
 * Before the collective below: moves this rank's device bytes to the host.
 * With `agreed` (the verdict is staged) it is collective, and an error is one on
 * all ranks. Frees what it took on an error. An OMPI code.
 */
int vp_stage_enter(vp_stage_t *stage, bool agreed);
/* What the collective below takes instead of the caller's buffers. */
void *vp_stage_send_buffer(const vp_stage_t *stage);
void *vp_stage_receive_buffer(const vp_stage_t *stage);
/* After it, with its code: moves received bytes to the device. The call's OMPI code. */
int vp_stage_leave(vp_stage_t *stage, int code);
/*
 * The same in steps, for requests that come again: memory; before each call, device bytes to
 * the host; after it, received ones to the device. OMPI codes. What failed has been told.
 */
int vp_stage_make(vp_stage_t *stage);
int vp_stage_fill(vp_stage_t *stage);
int vp_stage_empty(vp_stage_t *stage);
void vp_stage_release(vp_stage_t *stage);

/* alltoallv.c, nonblocking.c: the collectives on offer, as the framework calls them. */
#define VP_UNIFORM_ARGUMENTS                                                                       \
    const void *send_buffer, vp_count_t send_count, struct ompi_datatype_t *send_type,             \
        void *receive_buffer, vp_count_t receive_count, struct ompi_datatype_t *receive_type,      \
        struct ompi_communicator_t *comm
#define VP_ELEMENTS_ARGUMENTS                                                                      \
    const void *send_buffer, vp_counts_t send_counts, vp_displs_t send_displs,                     \
        struct ompi_datatype_t *send_type, void *receive_buffer, vp_counts_t receive_counts,       \
        vp_displs_t receive_displs, struct ompi_datatype_t *receive_type,                          \
        struct ompi_communicator_t *comm
#define VP_BYTES_ARGUMENTS                                                                         \
    const void *send_buffer, vp_counts_t send_counts, vp_displs_t send_displs,                     \
        struct ompi_datatype_t *const *send_types, void *receive_buffer,                           \
        vp_counts_t receive_counts, vp_displs_t receive_displs,                                    \
        struct ompi_datatype_t *const *receive_types, struct ompi_communicator_t *comm

int vp_alltoall(VP_UNIFORM_ARGUMENTS, mca_coll_base_module_t *base_module);
int vp_alltoallv(VP_ELEMENTS_ARGUMENTS, mca_coll_base_module_t *base_module);
int vp_alltoallw(VP_BYTES_ARGUMENTS, mca_coll_base_module_t *base_module);
int vp_ialltoall(VP_UNIFORM_ARGUMENTS, ompi_request_t **request_p,
                 mca_coll_base_module_t *base_module);
int vp_ialltoallv(VP_ELEMENTS_ARGUMENTS, ompi_request_t **request_p,
                  mca_coll_base_module_t *base_module);
int vp_ialltoallw(VP_BYTES_ARGUMENTS, ompi_request_t **request_p,
                  mca_coll_base_module_t *base_module);
int vp_alltoall_init(VP_UNIFORM_ARGUMENTS, struct ompi_info_t *info, ompi_request_t **request_p,
                     mca_coll_base_module_t *base_module);
int vp_alltoallv_init(VP_ELEMENTS_ARGUMENTS, struct ompi_info_t *info, ompi_request_t **request_p,
                      mca_coll_base_module_t *base_module);
int vp_alltoallw_init(VP_BYTES_ARGUMENTS, struct ompi_info_t *info, ompi_request_t **request_p,
                      mca_coll_base_module_t *base_module);

#endif
