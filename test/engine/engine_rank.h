/*
 * One rank of an engine test: lanes, engine, counters, log, and buffers whose
 * every byte is checked, including those around the blocks.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_ENGINE_RANK_H
#define VP_TEST_ENGINE_RANK_H

#include "coll_variopath/engine.h"
#include "ranks.h"
#include "small_model.h"

enum { N_COMMS = 2, ARENA_BYTES = 1 << 24 };

/* Made before ranks are forked; the same in all of them unless a rank changes its copy. */
typedef struct cluster {
    uint32_t n_ranks;
    ranks_comm_t *comms[N_COMMS];
    vp_catalog_t *catalog;
    vp_engine_options_t options;
    uint32_t order[RANKS_MAX]; /* topology_rank */
    bool threads;
    unsigned char *arena; /* [n_ranks][ARENA_BYTES] shared memory for buffers */
    uint64_t seed;
    const void *extra; /* of the test */
} cluster_t;

void cluster_make(cluster_t *cluster, uint32_t n_ranks);
void cluster_destroy(cluster_t *cluster);
/* Runs the ranks and takes the cluster down. */
void cluster_run(cluster_t *cluster, void (*body)(uint32_t rank, void *cluster));

typedef struct engine_rank {
    const cluster_t *cluster;
    uint32_t rank;
    vp_lanes_t *lanes;
    ranks_member_t members[N_COMMS];
    vp_engine_t *engine; /* on the first communicator */
    vp_counters_t counters;
    vp_log_t log;
    char last_line[1024]; /* of the log; not with threads */
    size_t arena_used;
} engine_rank_t;

/* Opens lanes unless they are not wanted, and one engine. */
void engine_rank_start(engine_rank_t *self, uint32_t rank, const cluster_t *cluster,
                       bool with_lanes);
/* A further engine on the same lanes. */
vp_engine_t *engine_rank_engine(engine_rank_t *self, unsigned comm);
void engine_rank_stop(engine_rank_t *self);

/* Bytes of one call: send[i][j] that i sends to j, room[i][j] that j holds for i. */
typedef struct traffic {
    uint64_t send[RANKS_MAX][RANKS_MAX];
    uint64_t room[RANKS_MAX][RANKS_MAX];
} traffic_t;

/* Random sizes, some zero, room as large as what comes. Equal seeds, equal traffic. */
void traffic_random(traffic_t *traffic, uint32_t n_ranks, uint64_t seed, uint64_t max_bytes);

/* A rank's buffers for one traffic. */
typedef struct buffers {
    const traffic_t *traffic;
    unsigned char *send_memory;
    unsigned char *receive_memory;
    size_t send_bytes;
    size_t receive_bytes;
    vp_block_t send[RANKS_MAX];
    vp_block_t receive[RANKS_MAX];
    unsigned turn;
} buffers_t;

void buffers_make(engine_rank_t *self, const traffic_t *traffic, buffers_t *buffers);
/* New contents to send, receive blocks and the gaps between them blank. */
void buffers_fill(const engine_rank_t *self, buffers_t *buffers, unsigned turn);
void buffers_check_arrived(const engine_rank_t *self, const buffers_t *buffers);
void buffers_check_blank(const engine_rank_t *self, const buffers_t *buffers);

/* Runs a call that must be carried, filling before and checking after it. */
void engine_rank_carry(engine_rank_t *self, vp_engine_t *engine, buffers_t *buffers, unsigned turn);
/* Runs a call that must be passed on with a reason that holds `part`, nothing moved. */
void engine_rank_pass(engine_rank_t *self, vp_engine_t *engine, buffers_t *buffers,
                      uint32_t obstacles, const char *part);

#endif
