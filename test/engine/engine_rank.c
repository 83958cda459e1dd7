/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine_rank.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner.h"

enum { GAP_BYTES = 24, BLANK = 0xee };

void cluster_make(cluster_t *cluster, uint32_t n_ranks)
{
    uint32_t i;

    memset(cluster, 0, sizeof(*cluster));
    cluster->n_ranks = n_ranks;
    for (i = 0; i < N_COMMS; i++) {
        cluster->comms[i] = ranks_comm_create(n_ranks);
    }
    for (i = 0; i < n_ranks; i++) {
        cluster->order[i] = i;
    }
    cluster->catalog = planner_catalog(n_ranks);
    cluster->options.carry_host = true;
    cluster->options.scheduler = planner_name;
    cluster->options.timeout_ms = 10000;
    cluster->options.cache_plans = 3;
    cluster->options.overlap_percent = 400;
    cluster->arena = ranks_share((size_t)n_ranks * ARENA_BYTES);
}

void cluster_destroy(cluster_t *cluster)
{
    uint32_t i;

    for (i = 0; i < N_COMMS; i++) {
        ranks_comm_destroy(cluster->comms[i]);
    }
    vp_catalog_destroy(cluster->catalog);
    ranks_unshare(cluster->arena, (size_t)cluster->n_ranks * ARENA_BYTES);
}

void cluster_run(cluster_t *cluster, void (*body)(uint32_t rank, void *cluster))
{
    ranks_run(cluster->n_ranks, body, cluster);
    cluster_destroy(cluster);
}

static void progress(void *context)
{
    engine_rank_t *self = context;

    if (self->lanes != NULL) {
        (void)vp_lanes_progress(self->lanes);
    }
}

static void keep_line(void *context, vp_log_level_t level, const char *line)
{
    engine_rank_t *self = context;

    (void)level;
    if (self->cluster->threads) {
        return;
    }
    (void)snprintf(self->last_line, sizeof(self->last_line), "%s", line);
}

static void open_lanes(engine_rank_t *self)
{
    const vp_model_t *model = self->cluster->catalog->model;
    bool wanted[SMALL_CLASSES];
    vp_lanes_config_t config = {.classes = model->classes,
                                .n_classes = model->n_classes,
                                .wanted = wanted,
                                .estimated_peers = model->n_ranks,
                                .threads = self->cluster->threads};
    vp_error_t error;

    small_wanted(model, self->cluster->order[self->rank], wanted);
    RANKS_CHECK(vp_lanes_create(&config, &self->lanes, &error) == VP_OK, "%s", error.text);
}

vp_engine_t *engine_rank_engine(engine_rank_t *self, unsigned comm)
{
    const cluster_t *cluster = self->cluster;
    vp_engine_options_t options = cluster->options;
    vp_surroundings_t around = ranks_surroundings(&self->members[comm]);
    uint64_t keys[RANKS_MAX];
    vp_engine_t *engine;
    vp_error_t error;
    uint32_t i;

    for (i = 0; i < cluster->n_ranks; i++) {
        keys[i] = 77000 + i;
    }
    options.log = &self->log;
    RANKS_CHECK(vp_engine_create(cluster->catalog, self->lanes, &around, cluster->order, keys,
                                 &options, &self->counters, &engine, &error) == VP_OK,
                "%s", error.text);
    return engine;
}

void engine_rank_start(engine_rank_t *self, uint32_t rank, const cluster_t *cluster,
                       bool with_lanes)
{
    uint32_t i;

    memset(self, 0, sizeof(*self));
    self->cluster = cluster;
    self->rank = rank;
    self->log = (vp_log_t){.write = keep_line, .context = self, .verbosity = VP_LOG_CALL};
    for (i = 0; i < N_COMMS; i++) {
        self->members[i] = (ranks_member_t){.comm = cluster->comms[i],
                                            .rank = rank,
                                            .progress = progress,
                                            .progress_context = self};
    }
    if (with_lanes) {
        open_lanes(self);
    }
    self->engine = engine_rank_engine(self, 0);
}

void engine_rank_stop(engine_rank_t *self)
{
    ranks_barrier(&self->members[0]);
    vp_engine_destroy(self->engine);
    if (self->lanes != NULL) {
        vp_lanes_close(self->lanes);
    }
    ranks_barrier(&self->members[0]);
    vp_lanes_destroy(self->lanes);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

void traffic_random(traffic_t *traffic, uint32_t n_ranks, uint64_t seed, uint64_t max_bytes)
{
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    uint32_t i, j;

    memset(traffic, 0, sizeof(*traffic));
    for (i = 0; i < n_ranks; i++) {
        for (j = 0; j < n_ranks; j++) {
            uint64_t kind = next_random(&state) % 8;
            uint64_t limit = kind < 2 ? 1 : kind < 4 ? 64 : max_bytes;

            traffic->send[i][j] = next_random(&state) % limit;
            traffic->room[i][j] = traffic->send[i][j];
        }
    }
}

/* Lays blocks out in one memory with gaps around each; empty blocks have no address. */
static unsigned char *lay_out(engine_rank_t *self, const uint64_t *sizes, vp_block_t *blocks,
                              size_t *n_bytes_p)
{
    size_t n_bytes = GAP_BYTES, used;
    uint32_t i, n = self->cluster->n_ranks;
    unsigned char *memory;

    for (i = 0; i < n; i++) {
        n_bytes += sizes[i] + GAP_BYTES;
    }
    RANKS_CHECK(self->arena_used + n_bytes <= ARENA_BYTES, "the test's arena is too small");
    memory = self->cluster->arena + (size_t)self->rank * ARENA_BYTES + self->arena_used;
    self->arena_used += n_bytes;
    used = GAP_BYTES;
    for (i = 0; i < n; i++) {
        blocks[i].n_bytes = sizes[i];
        blocks[i].address = sizes[i] == 0 ? NULL : memory + used;
        used += sizes[i] + GAP_BYTES;
    }
    *n_bytes_p = n_bytes;
    return memory;
}

void buffers_make(engine_rank_t *self, const traffic_t *traffic, buffers_t *buffers)
{
    uint64_t room[RANKS_MAX];
    uint32_t i;

    memset(buffers, 0, sizeof(*buffers));
    buffers->traffic = traffic;
    for (i = 0; i < self->cluster->n_ranks; i++) {
        room[i] = traffic->room[i][self->rank];
    }
    buffers->send_memory =
        lay_out(self, traffic->send[self->rank], buffers->send, &buffers->send_bytes);
    buffers->receive_memory = lay_out(self, room, buffers->receive, &buffers->receive_bytes);
}

static unsigned char pattern(unsigned turn, uint32_t from, uint32_t to, size_t i)
{
    unsigned char byte = (unsigned char)(i * 5 + (i >> 8) * 3 + from * 17 + to * 29 + turn * 101);

    return byte == BLANK ? BLANK + 1 : byte;
}

void buffers_fill(const engine_rank_t *self, buffers_t *buffers, unsigned turn)
{
    uint32_t peer;
    size_t i;

    buffers->turn = turn;
    if (buffers->receive_bytes > 0) {
        memset(buffers->receive_memory, BLANK, buffers->receive_bytes);
    }
    for (peer = 0; peer < self->cluster->n_ranks; peer++) {
        unsigned char *block = buffers->send[peer].address;

        for (i = 0; i < buffers->send[peer].n_bytes; i++) {
            block[i] = pattern(turn, self->rank, peer, i);
        }
    }
}

static void check_block(const engine_rank_t *self, const buffers_t *buffers, uint32_t peer)
{
    const unsigned char *block = buffers->receive[peer].address;
    uint64_t sent = buffers->traffic->send[peer][self->rank];
    size_t i;

    for (i = 0; i < buffers->receive[peer].n_bytes; i++) {
        unsigned char expected =
            i < sent ? pattern(buffers->turn, peer, self->rank, i) : (unsigned char)BLANK;

        RANKS_CHECK(block[i] == expected, "turn %u: byte %zu of %llu from rank %u is %u, not %u",
                    buffers->turn, i, (unsigned long long)buffers->receive[peer].n_bytes, peer,
                    block[i], expected);
    }
}

static void check_gaps(const engine_rank_t *self, const buffers_t *buffers)
{
    const unsigned char *gap = buffers->receive_memory;
    uint32_t peer;
    size_t i;

    for (peer = 0; peer <= self->cluster->n_ranks; peer++) {
        for (i = 0; i < GAP_BYTES; i++) {
            RANKS_CHECK(gap[i] == BLANK, "turn %u: byte %zu before block %u was overwritten",
                        buffers->turn, i, peer);
        }
        gap += GAP_BYTES + (peer < self->cluster->n_ranks ? buffers->receive[peer].n_bytes : 0);
    }
}

void buffers_check_arrived(const engine_rank_t *self, const buffers_t *buffers)
{
    uint32_t peer;

    for (peer = 0; peer < self->cluster->n_ranks; peer++) {
        check_block(self, buffers, peer);
    }
    check_gaps(self, buffers);
}

void buffers_check_blank(const engine_rank_t *self, const buffers_t *buffers)
{
    size_t i;

    (void)self;
    for (i = 0; i < buffers->receive_bytes; i++) {
        RANKS_CHECK(buffers->receive_memory[i] == BLANK, "byte %zu was written", i);
    }
}

void engine_rank_carry(engine_rank_t *self, vp_engine_t *engine, buffers_t *buffers, unsigned turn)
{
    vp_call_t call = {.send = buffers->send, .receive = buffers->receive};
    vp_outcome_t outcome = {.verdict = VP_STAGED};
    vp_error_t error;
    vp_status_t status;

    buffers_fill(self, buffers, turn);
    status = vp_engine_alltoallv(engine, &call, &outcome, &error);
    RANKS_CHECK(status == VP_OK, "turn %u: %s", turn, error.text);
    RANKS_CHECK(outcome.verdict == VP_CARRIED, "turn %u: %s (%s)", turn,
                vp_verdict_text(outcome.verdict), outcome.reason);
    RANKS_CHECK(outcome.reason[0] == '\0', "reason \"%s\"", outcome.reason);
    buffers_check_arrived(self, buffers);
}

void engine_rank_pass(engine_rank_t *self, vp_engine_t *engine, buffers_t *buffers,
                      uint32_t obstacles, const char *part)
{
    vp_call_t call = {.send = buffers->send, .receive = buffers->receive, .obstacles = obstacles};
    vp_outcome_t outcome = {.verdict = VP_STAGED};
    vp_error_t error;
    vp_status_t status;

    buffers_fill(self, buffers, 0);
    status = vp_engine_alltoallv(engine, &call, &outcome, &error);
    RANKS_CHECK(status == VP_OK, "%s", error.text);
    RANKS_CHECK(outcome.verdict == VP_PASSED_ON, "%s", vp_verdict_text(outcome.verdict));
    RANKS_CHECK(strstr(outcome.reason, part) != NULL, "reason \"%s\" lacks \"%s\"", outcome.reason,
                part);
    buffers_check_blank(self, buffers);
}
