/*
 * How a rank runs its lanes of a plan: what it needs for that (the program), and
 * the state of one run. Shared by program.c, execute.c and signals.c.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_COLL_RUN_H
#define VP_COLL_RUN_H

#include "coll_variopath/engine_private.h"
#include "coll_variopath/waits.h"

enum {
    VP_MAX_ROUNDS = 12, /* of a meeting: 2^12 ranks, VP_MAX_RANKS */
    VP_PIECES = 8       /* puts under way for one lane: its link stays full while they are
                           acknowledged */
};

/* A lane that was started and has not ended. */
typedef struct vp_flight {
    uint32_t own; /* index into waits->own */
    const vp_lane_t *lane;
    uint64_t n_bytes;       /* the lane's, as far as the receiver has room */
    uint64_t tail_bytes;    /* of these, those left when the next lanes may start */
    uint64_t chunk_bytes;   /* the longest put */
    uint64_t put_bytes;     /* given to the transport */
    uint64_t arrived_bytes; /* of these */
    uint64_t piece_bytes[VP_PIECES];
    vp_operation_t *pieces[VP_PIECES]; /* oldest first */
    uint32_t n_pieces;
    uint64_t start_ns;
} vp_flight_t;

typedef enum vp_lane_state {
    VP_LANE_WAITS,
    VP_LANE_RUNS,
    VP_LANE_RELEASED /* those who wait for it have been told; it may still be in flight */
} vp_lane_state_t;

/* A plan with everything that running it takes; nothing is allocated after the first byte. */
struct vp_program {
    vp_plan_t *plan;
    bool worth;           /* the plan gains what is asked for */
    uint64_t pairwise_ns; /* predicted time of the pairwise exchange; 0: nobody asked */
    uint64_t *row;        /* [n_ranks] by rank: bytes that this rank sends to each */
    uint64_t *column;     /* [n_ranks] by rank: bytes that each sends to this rank */
    vp_sync_t sync;       /* never VP_SYNC_AUTO */
    vp_waits_t *waits;
    uint32_t window;      /* lanes in flight */
    vp_flight_t *flights; /* [window] */
    uint32_t *left;       /* [waits->n_own] waits not yet fulfilled */
    uint8_t *state;       /* [waits->n_own] vp_lane_state_t */
    bool *seen;           /* [waits->remote.n_waits] signal came; at the first wait of each lane */
};

typedef struct vp_run {
    vp_engine_t *engine;
    vp_work_t *work;
    vp_program_t *program;
    vp_error_t *error; /* what went wrong on this rank, in words */
    vp_trouble_t trouble;
    vp_copy_t self; /* of the own block, by the device */
    uint32_t n_flights;
    size_t next;       /* own lanes before it were started */
    size_t end;        /* own lanes before it may be */
    size_t n_awaited;  /* ends of others' lanes still to be told */
    size_t n_to_come;  /* messages of this call, of either kind */
    uint32_t n_rounds; /* of a meeting */
    uint32_t meeting;
    bool met[2][VP_MAX_ROUNDS]; /* what came for this meeting, and for the next */
    bool alone;                 /* somebody does not answer: nobody is waited for any more */
    bool is_unsure;      /* this rank, or one that it heard of, does not know who has ended */
    bool broken;         /* because the host says that a rank died */
    uint64_t last_ns;    /* when something happened last */
    bool meets;          /* all own lanes are done and others are met: */
    uint32_t meets_rank; /* the one that is waited for */
    unsigned spin;
    unsigned n_idle;
} vp_run_t;

/* dump.c: describes what the run waits for, if somebody wants to know now. */
void vp_dump_run(vp_run_t *run);

/* signals.c */
void vp_run_note(vp_run_t *run, const vp_trouble_t *trouble);
/* A message below failed, or a rank did not answer: nobody is waited for any more. */
void vp_run_give_up(vp_run_t *run, vp_cause_t cause, uint32_t peer, vp_status_t status);
/* Lanes, host and messages advance once; gives the core away when nothing happens. */
void vp_run_advance(vp_run_t *run);
/* True when nothing happened for as long as is allowed; waiting for other ranks takes longer. */
bool vp_run_is_late(const vp_run_t *run, bool for_others);
/* Tells the ranks that wait for an own lane, and lets own lanes go on. */
void vp_run_release(vp_run_t *run, uint32_t own);
/* All ranks meet; troubles are known to all afterwards, unless the run is alone. */
void vp_run_meet(vp_run_t *run);
/* Waits until all ends of others' lanes were told. */
void vp_run_collect(vp_run_t *run);

#endif
