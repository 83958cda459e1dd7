/* SPDX-License-Identifier: BSD-3-Clause */
#include "meter.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "coll_variopath/engine.h"
#include "lanes_fake.h"
#include "node_model.h"
#include "planner_fake.h"
#include "ranks.h"

/* Addresses that nobody reads or writes. */
#define BUFFER(number) (UINT64_C(1) << 44 | (uint64_t)(number) << 48)

typedef struct meter {
    const meter_shape_t *shape;
    uint32_t n_ranks;
    vp_catalog_t catalog;
    wire_t *wire;
    uint32_t *node;                      /* [n_ranks] */
    uint32_t *order;                     /* [n_ranks] topology_rank */
    uint64_t *key;                       /* [n_ranks] */
    wire_member_t (*marks)[METER_CALLS]; /* [n_ranks] counts of each call */
} meter_t;

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Bytes of a call from one rank to another; nobody sends to itself. */
static uint64_t count(const meter_t *meter, unsigned call, uint32_t from, uint32_t to)
{
    uint64_t which = call == METER_FIRST ? 1 : 2;
    uint64_t random = mix((which * 1000 + from) * 1000 + to);

    if (from == to) {
        return 0;
    }
    return meter->shape->counts == METER_WIDEST ? 1 + random % INT32_MAX
                                                : 4096 * (1 + random % 200);
}

static void lay_out(const meter_t *meter, unsigned call, uint32_t rank, vp_block_t *send,
                    vp_block_t *receive)
{
    uint64_t outgoing = BUFFER(0), incoming = BUFFER(rank + 1);
    uint32_t peer;

    for (peer = 0; peer < meter->n_ranks; peer++) {
        send[peer].address = (void *)(uintptr_t)outgoing;
        send[peer].n_bytes = count(meter, call, rank, peer);
        outgoing += send[peer].n_bytes;
        receive[peer].address = (void *)(uintptr_t)incoming;
        receive[peer].n_bytes = count(meter, call, peer, rank);
        incoming += receive[peer].n_bytes;
    }
}

static void check_outcome(const meter_t *meter, unsigned call, const vp_outcome_t *outcome)
{
    bool lost =
        call == METER_FIRST && (meter->shape->lose_sent != 0 || meter->shape->lose_gotten != 0);

    if (!lost) {
        RANKS_CHECK(outcome->verdict == VP_CARRIED, "call %u: %s", call, outcome->reason);
        return;
    }
    RANKS_CHECK(outcome->verdict == VP_PASSED_ON, "the call was carried without its counts");
    RANKS_CHECK(strstr(outcome->reason, "could not prepare the call") != NULL ||
                    strstr(outcome->reason, "counts got lost") != NULL,
                "%s", outcome->reason);
}

static void body(uint32_t rank, void *argument)
{
    const meter_t *meter = argument;
    const bool wanted[NODE_CLASSES] = {true, true};
    const vp_lanes_config_t config = {.classes = meter->catalog.model->classes,
                                      .n_classes = NODE_CLASSES,
                                      .wanted = wanted,
                                      .estimated_peers = meter->n_ranks};
    const bool leaders =
        meter->shape->leaders && !(meter->shape->unwilling && rank == meter->shape->loser);
    const vp_engine_options_t options = {.carry_host = true,
                                         .sync = VP_SYNC_FREE,
                                         .scheduler = "rotations",
                                         .leaders = leaders ? VP_LEADERS_ON : VP_LEADERS_OFF,
                                         .cache_plans = 1};
    wire_member_t member = {.wire = meter->wire, .rank = rank};
    vp_surroundings_t around = wire_surroundings(&member);
    vp_block_t *send = vp_array_new(meter->n_ranks, sizeof(*send));
    vp_block_t *receive = vp_array_new(meter->n_ranks, sizeof(*receive));
    const vp_call_t what = {.send = send, .receive = receive};
    vp_counters_t counters = {0};
    vp_lanes_t *lanes;
    vp_engine_t *engine;
    vp_outcome_t outcome;
    vp_error_t error;
    unsigned call;

    lanes_fake.knobs.dry = true;
    if (rank == meter->shape->loser) {
        member.lose_sent = meter->shape->lose_sent;
        member.lose_gotten = meter->shape->lose_gotten;
    }
    RANKS_CHECK(send != NULL && receive != NULL, "no memory");
    RANKS_CHECK(vp_lanes_create(&config, &lanes, &error) == VP_OK, "%s", error.text);
    RANKS_CHECK(vp_engine_create(&meter->catalog, lanes, &around, meter->order, meter->key,
                                 &options, &counters, &engine, &error) == VP_OK,
                "%s", error.text);
    for (call = 0; call < METER_CALLS; call++) {
        lay_out(meter, call, rank, send, receive);
        wire_forget(&member);
        RANKS_CHECK(vp_engine_alltoallv(engine, &what, &outcome, &error) == VP_OK, "%s",
                    error.text);
        check_outcome(meter, call, &outcome);
        meter->marks[rank][call] = member;
    }
    RANKS_EQUAL(counters.n_carried + counters.n_passed_on, METER_CALLS);
    RANKS_EQUAL(counters.n_cache_hits, 1);
    vp_engine_destroy(engine);
    vp_lanes_close(lanes);
    vp_lanes_destroy(lanes);
    free(send);
    free(receive);
}

static void add(wire_entry_t *total, const wire_entry_t *entry)
{
    total->n_messages += entry->n_messages;
    total->sent_bytes += entry->sent_bytes;
    total->between_bytes += entry->between_bytes;
}

static void keep_most(wire_entry_t *most, const wire_entry_t *entry)
{
    most->n_steps = entry->n_steps > most->n_steps ? entry->n_steps : most->n_steps;
    most->n_messages = entry->n_messages > most->n_messages ? entry->n_messages : most->n_messages;
    most->sent_bytes = entry->sent_bytes > most->sent_bytes ? entry->sent_bytes : most->sent_bytes;
    most->between_bytes =
        entry->between_bytes > most->between_bytes ? entry->between_bytes : most->between_bytes;
}

static void sum_up(const meter_t *meter, unsigned number, meter_call_t *call)
{
    uint32_t rank;
    unsigned i;

    memset(call, 0, sizeof(*call));
    call->n_entries = meter->marks[0][number].n_entries;
    memcpy(call->total, meter->marks[0][number].entries, sizeof(call->total));
    memcpy(call->most, meter->marks[0][number].entries, sizeof(call->most));
    call->signals = meter->marks[0][number].signals;
    for (rank = 1; rank < meter->n_ranks; rank++) {
        const wire_member_t *mark = &meter->marks[rank][number];

        RANKS_EQUAL(mark->n_entries, call->n_entries);
        for (i = 0; i < call->n_entries; i++) {
            RANKS_EQUAL(mark->entries[i].record_bytes, call->total[i].record_bytes);
            add(&call->total[i], &mark->entries[i]);
            keep_most(&call->most[i], &mark->entries[i]);
        }
        add(&call->signals, &mark->signals);
    }
}

static void place_ranks(meter_t *meter)
{
    uint32_t rank;

    meter->node = vp_array_new(meter->n_ranks, sizeof(*meter->node));
    meter->order = vp_array_new(meter->n_ranks, sizeof(*meter->order));
    meter->key = vp_array_new(meter->n_ranks, sizeof(*meter->key));
    meter->marks = vp_array_new(meter->n_ranks, sizeof(*meter->marks));
    RANKS_CHECK(meter->node != NULL && meter->order != NULL && meter->key != NULL &&
                    meter->marks != NULL,
                "no memory");
    for (rank = 0; rank < meter->n_ranks; rank++) {
        meter->order[rank] = rank;
        meter->key[rank] = 1000 + rank;
    }
    for (rank = meter->n_ranks; meter->shape->shuffled && rank > 1; rank--) {
        uint32_t other = (uint32_t)(mix(rank) % rank), place = meter->order[rank - 1];

        meter->order[rank - 1] = meter->order[other];
        meter->order[other] = place;
    }
    for (rank = 0; rank < meter->n_ranks; rank++) {
        meter->node[rank] = meter->order[rank] / meter->shape->n_per_node;
    }
}

static vp_model_t *make_model(const meter_shape_t *shape)
{
    uint32_t *n_ranks = vp_array_new(shape->n_nodes, sizeof(*n_ranks));
    vp_model_t *model;
    uint32_t node;

    RANKS_CHECK(n_ranks != NULL, "no memory");
    for (node = 0; node < shape->n_nodes; node++) {
        n_ranks[node] = shape->n_per_node;
    }
    model = node_model(shape->n_nodes, n_ranks);
    free(n_ranks);
    return model;
}

void meter_run(const meter_shape_t *shape, meter_call_t calls[METER_CALLS])
{
    meter_t meter = {.shape = shape, .n_ranks = shape->n_nodes * shape->n_per_node};
    unsigned call;

    meter.catalog = (vp_catalog_t){
        .model = make_model(shape), .mode = VP_CATALOG_EXHAUSTIVE, .fingerprint = UINT64_C(0x5eed)};
    place_ranks(&meter);
    meter.wire = wire_create(meter.n_ranks, meter.node);
    ranks_run_threads(meter.n_ranks, body, &meter);
    for (call = 0; call < METER_CALLS; call++) {
        sum_up(&meter, call, &calls[call]);
    }
    wire_destroy(meter.wire);
    vp_model_destroy(meter.catalog.model);
    free(meter.node);
    free(meter.order);
    free(meter.key);
    free(meter.marks);
}
