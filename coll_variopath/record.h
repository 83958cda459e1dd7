/*
 * Records that ranks exchange, and their encoding: little-endian, fixed
 * widths, fixed sizes. Layouts: docs/engine.md.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_COLL_RECORD_H
#define VP_COLL_RECORD_H

#include <stddef.h>
#include <stdint.h>

enum { VP_PROTOCOL_VERSION = 3 };

/* Sizes on the wire. The one of facts stays for all versions, so that versions can be compared. */
enum {
    VP_FACTS_BYTES = 96,
    VP_HEADER_BYTES = 16, /* plus two 64-bit counts per rank */
    VP_PAIR_BYTES = 24,
    VP_NOTICE_BYTES = 8,
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
} vp_facts_t;

/* One call as one rank sees it. */
typedef struct vp_header {
    uint32_t obstacles;
    uint32_t keys_bytes;     /* length of changed keys, 0: unchanged */
    uint64_t *send_bytes;    /* [n_ranks] */
    uint64_t *receive_bytes; /* [n_ranks] */
} vp_header_t;

/* From one rank to one peer, before the first byte. */
typedef struct vp_pair {
    uint64_t receive_address; /* where the peer's block belongs */
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
    vp_trouble_t trouble;
} vp_signal_t;

size_t vp_header_bytes(uint32_t n_ranks);

void vp_facts_encode(const vp_facts_t *facts, uint8_t *wire);
void vp_facts_decode(const uint8_t *wire, vp_facts_t *facts);
void vp_header_encode(const vp_header_t *header, uint32_t n_ranks, uint8_t *wire);
/* header's arrays are the caller's. */
void vp_header_decode(const uint8_t *wire, uint32_t n_ranks, vp_header_t *header);
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
