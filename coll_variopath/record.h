/*
 * Records that ranks exchange, and their encoding: little-endian, fixed
 * widths, fixed sizes. Layouts: docs/engine.md.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_COLL_RECORD_H
#define VP_COLL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VP_PROTOCOL_VERSION = 4 };

/* Sizes on the wire. The one of facts stays for all versions, so that versions can be compared. */
enum {
    VP_FACTS_BYTES = 96,
    VP_OPENING_BYTES = 16,
    VP_ROW_HEAD_BYTES = 9, /* of a row; plus up to 8 bytes per rank, see vp_row_bytes */
    VP_PAIR_BYTES = 32,
    VP_NOTICE_BYTES = 8,
    VP_LOSSES_AT_ONCE = 8,
    VP_LOSSES_BYTES = 8 + 20 * VP_LOSSES_AT_ONCE,
    VP_REPORT_BYTES = 16,
    VP_SIGNAL_BYTES = 40
};

/* Does a rank's catalog describe this communicator? Travels, so values stay. */
typedef enum vp_fit {
    VP_FIT_OK = 0,
    VP_FIT_NO_CATALOG = 1, /* could not be loaded there */
    VP_FIT_OTHER_SIZE = 2, /* describes another number of ranks */
    VP_FIT_NO_PLACE = 3    /* some rank has no place of its own in it */
} vp_fit_t;

/* What must be equal on all ranks, and what each rank has, told once per communicator. */
typedef struct vp_facts {
    uint32_t version;
    uint32_t able; /* 1: lanes are open and memory is there */
    uint32_t fit;  /* vp_fit_t */
    uint32_t carry_host;
    uint32_t catalog_ranks; /* 0: no catalog */
    uint64_t fingerprint;
    uint64_t order_hash; /* of topology_rank */
    uint64_t scheduler_hash;
    uint64_t alpha_ns;
    uint32_t sync;
    uint32_t min_gain_percent;
    uint64_t address_bytes; /* of the worker addresses that follow */
    uint32_t devices;       /* a CUDA driver is loaded */
    uint32_t carry_devices; /* all lanes move device memory */
    uint64_t min_bytes;
    uint32_t cache_plans;
    uint32_t leaders; /* vp_leaders_use_t: what this rank can and wants */
} vp_facts_t;

/* One call as one rank sees it, before anything is known of the others. */
typedef struct vp_opening {
    uint32_t obstacles;
    uint32_t matches;    /* bit k: the own row of counts is that of cached plan k */
    uint32_t keys_bytes; /* length of changed keys, 0: unchanged; below 2^16 */
    uint32_t row_bytes;  /* of the row, should it be asked for; below 2^16 */
    uint32_t sent_bytes; /* to other ranks, all together; UINT32_MAX: that or more */
} vp_opening_t;

/* From one rank to one peer, before the first byte. */
typedef struct vp_pair {
    uint64_t receive_address; /* where the peer's block belongs */
    uint64_t room;            /* bytes there; a longer block is cut */
    uint64_t plan_hash;       /* equal on all ranks, or the call is not carried */
    int32_t status;           /* vp_status_t: could this rank prepare the call? */
} vp_pair_t;

/* How a step went. */
typedef struct vp_report {
    int32_t status;
    uint32_t peer; /* the rank that could not be reached; own rank: none in particular */
    uint32_t source_class;
    uint32_t destination_class;
} vp_report_t;

/*
 * The first thing that went wrong in a call. Of several, ranks keep the one with
 * the lowest (cause, lane, rank): a lane that fails makes others wait in vain, and
 * the first of those in plan order waits for the one that failed.
 */
typedef enum vp_cause {
    VP_CAUSE_NONE = 0, /* nothing went wrong */
    VP_CAUSE_LANE = 1, /* an own lane failed or stalled */
    VP_CAUSE_WAIT = 2, /* the end of another rank's lane was not told */
    VP_CAUSE_MEET = 3  /* a rank did not come to the end of the call or of an activation */
} vp_cause_t;

typedef struct vp_trouble {
    uint32_t cause; /* vp_cause_t */
    int32_t status; /* vp_status_t */
    uint32_t lane;  /* of the plan; UINT32_MAX: none in particular */
    uint32_t rank;  /* who noticed */
    uint32_t peer;  /* whom it concerns: the lane's destination, or who was waited for */
} vp_trouble_t;

/* A small message between two ranks while lanes run. */
typedef enum vp_signal_kind {
    VP_SIGNAL_ENDED = 1, /* lane `number` of the plan has ended, or never will: trouble */
    VP_SIGNAL_MEET = 2   /* round `round` of meeting `number` */
} vp_signal_kind_t;

typedef struct vp_signal {
    uint32_t call; /* of the communicator, modulo 2^32 */
    uint32_t kind; /* vp_signal_kind_t */
    uint32_t number;
    uint32_t round;
    bool is_unsure; /* somebody gave up: not all that should be are known to have ended */
    vp_trouble_t trouble;
} vp_signal_t;

/*
 * A row: the bytes that a rank sends to each, exactly. It is coded as a unit, which
 * is the greatest common divisor, and multiples of it, all in as many bytes as the
 * largest of them needs: with the counts of an MPI call, which fit an int, at most 4
 * bytes for a rank. vp_row_bytes: the length of the code, at most 9 + 8 n_ranks.
 */
size_t vp_row_bytes(const uint64_t *row, uint32_t n_ranks);
void vp_row_encode(const uint64_t *row, uint32_t n_ranks, uint8_t *wire);
/* False when the code, of n_bytes at most, is not one of a row. */
bool vp_row_decode(const uint8_t *wire, size_t n_bytes, uint32_t n_ranks, uint64_t *row)
    __attribute__((warn_unused_result));

void vp_facts_encode(const vp_facts_t *facts, uint8_t *wire);
void vp_facts_decode(const uint8_t *wire, vp_facts_t *facts);
void vp_opening_encode(const vp_opening_t *opening, uint8_t *wire);
void vp_opening_decode(const uint8_t *wire, vp_opening_t *opening);
/* A notice is one number: what a rank has to say outside a carried call. */
void vp_notice_encode(uint32_t value, uint8_t *wire);
uint32_t vp_notice_decode(const uint8_t *wire);
void vp_pair_encode(const vp_pair_t *pair, uint8_t *wire);
void vp_pair_decode(const uint8_t *wire, vp_pair_t *pair);
void vp_report_encode(const vp_report_t *report, uint8_t *wire);
void vp_report_decode(const uint8_t *wire, vp_report_t *report);
void vp_signal_encode(const vp_signal_t *signal, uint8_t *wire);
void vp_signal_decode(const uint8_t *wire, vp_signal_t *signal);

#endif
