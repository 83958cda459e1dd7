/*
 * Trust, but verify once: before device memory is first put from one rank to
 * another, each path between them carries a pattern. Consumer boards with
 * patched drivers can say that peer access works and bring wrong bytes.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "coll_variopath/clock.h"
#include "coll_variopath/engine_private.h"

enum {
    PATTERN_BYTES = 4096,
    MAX_PROBES = 8, /* paths between two ranks; further ones stay unchecked */
    KEYS_BYTES = 1024,
    CARD_BYTES = 16 + VP_DEVICE_HANDLE_BYTES + KEYS_BYTES,
    TICKET_BYTES = 4 + 8 * MAX_PROBES
};
#define PUT_TIMEOUT_NS (UINT64_C(30) * VP_NS_PER_S)

/* What a rank tells the others of its scratch memory. */
typedef struct card {
    bool ready;   /* it has some, and its paths can put there */
    bool exports; /* the handle is one */
    uint64_t scratch;
    uint8_t handle[VP_DEVICE_HANDLE_BYTES];
    uint32_t keys_bytes;
    const uint8_t *keys;
} card_t;

typedef struct trust {
    vp_engine_t *engine;
    vp_memory_t memory; /* of the scratch: a pattern to send, then slots to receive into */
    uint64_t scratch;
    size_t n_bytes;
    vp_region_t *region;
    uint8_t *host;  /* [n_bytes] */
    uint8_t *cards; /* [n_ranks + 1][CARD_BYTES], the own one last */
    uint8_t *sent;  /* [n_ranks][TICKET_BYTES]: the paths that were tried */
    uint8_t *came;  /* the same, from each rank */
} trust_t;

static bool has_device(const vp_engine_t *engine, uint32_t rank)
{
    return (engine->openings[rank].obstacles & VP_NOTE_DEVICE) != 0;
}

/* The same on all ranks: a rank came with device buffers for the first time. */
static bool is_due(const vp_engine_t *engine)
{
    uint32_t rank = 0;

    while (rank < engine->n_ranks && (engine->checked[rank] || !has_device(engine, rank))) {
        rank++;
    }
    return rank < engine->n_ranks;
}

static size_t slot_at(uint32_t place, uint32_t probe)
{
    return ((size_t)place * MAX_PROBES + probe + 1) * PATTERN_BYTES;
}

static uint8_t pattern(uint32_t from, size_t i)
{
    return (uint8_t)(i * 13 + (i >> 8) * 7 + from * 31 + 5);
}

static bool allocate(trust_t *trust)
{
    size_t n = trust->engine->n_ranks;

    trust->n_bytes = slot_at((uint32_t)n, 0);
    trust->host = vp_array_new(trust->n_bytes, 1);
    trust->cards = vp_array_new(n + 1, CARD_BYTES);
    trust->sent = vp_array_new(n, TICKET_BYTES);
    trust->came = vp_array_new(n, TICKET_BYTES);
    return trust->host != NULL && trust->cards != NULL && trust->sent != NULL &&
           trust->came != NULL;
}

static void release(trust_t *trust)
{
    vp_lanes_unregister(trust->engine->lanes, trust->region);
    if (trust->scratch != 0) {
        vp_device_free(trust->scratch);
    }
    free(trust->host);
    free(trust->cards);
    free(trust->sent);
    free(trust->came);
}

/* Scratch memory on the device of this rank's buffers, whose context is current. */
static vp_status_t make_scratch(trust_t *trust, vp_error_t *error)
{
    uint32_t place = vp_engine_my_place(trust->engine);
    vp_status_t status = vp_device_allocate(trust->n_bytes, &trust->scratch, error);
    size_t i;

    if (status != VP_OK) {
        return status;
    }
    trust->memory = (vp_memory_t){.kind = VP_MEMORY_DEVICE, .context = vp_device_context()};
    memset(trust->host, 0xee, trust->n_bytes);
    for (i = 0; i < PATTERN_BYTES; i++) {
        trust->host[i] = pattern(place, i);
    }
    status = vp_device_write(&trust->memory, trust->scratch, trust->host, trust->n_bytes, error);
    if (status == VP_OK) {
        status = vp_lanes_register(trust->engine->lanes, (void *)(uintptr_t)trust->scratch,
                                   trust->n_bytes, VP_REGION_DEVICE, &trust->region, error);
    }
    return status;
}

/* A rank without scratch memory, for whatever reason, takes part with an empty card. */
static void write_card(trust_t *trust, bool on_device)
{
    uint8_t *card = trust->cards + (size_t)trust->engine->n_ranks * CARD_BYTES;
    vp_writer_t writer = VP_WRITER_INIT;
    uint8_t handle[VP_DEVICE_HANDLE_BYTES] = {0};
    const void *keys;
    size_t n_bytes;
    vp_error_t detail;
    bool exports;

    if (!on_device || !vp_lanes_put_device(trust->engine->lanes)) {
        return;
    }
    if (make_scratch(trust, &detail) != VP_OK) {
        vp_log(trust->engine->options.log, VP_LOG_CALL, "paths are not checked: %s", detail.text);
        return;
    }
    keys = vp_region_keys(trust->region, &n_bytes);
    exports = vp_device_export(trust->scratch, handle);
    vp_write_u64(&writer, trust->scratch);
    vp_write_u32(&writer, exports);
    vp_write_u32(&writer, (uint32_t)n_bytes);
    vp_write_bytes(&writer, handle, sizeof(handle));
    vp_write_bytes(&writer, keys, n_bytes);
    if (!writer.failed && writer.n_bytes <= CARD_BYTES) {
        memcpy(card, writer.data, writer.n_bytes);
    }
    vp_writer_clear(&writer);
}

static card_t read_card(const trust_t *trust, uint32_t rank)
{
    card_t card = {0};
    vp_reader_t reader;

    vp_reader_init(&reader, trust->cards + (size_t)rank * CARD_BYTES, CARD_BYTES);
    card.scratch = vp_read_u64(&reader);
    card.exports = vp_read_u32(&reader) != 0;
    card.keys_bytes = vp_read_u32(&reader);
    vp_read_bytes(&reader, card.handle, sizeof(card.handle));
    card.keys = reader.data + reader.position;
    card.ready = card.scratch != 0 && card.keys_bytes <= vp_reader_left(&reader);
    return card;
}

/* Does a plan still put over this pair of classes, between these ranks' groups? */
static bool is_in_use(const vp_engine_t *engine, uint32_t peer, const vp_link_t *link)
{
    const vp_model_t *model = engine->model;
    size_t pair = vp_pair(model, model->rank_group[vp_engine_my_place(engine)],
                          model->rank_group[engine->place[peer]]);
    uint32_t i;

    for (i = model->pair_begin[pair]; i < model->pair_begin[pair + 1]; i++) {
        const vp_instance_t *it = &model->instances[i];

        if (it->kind != VP_PATH_HOST && it->source_class == link->source_class &&
            it->destination_class == link->destination_class) {
            return vp_lanes_class_puts_device(engine->lanes, link->source_class);
        }
    }
    return false;
}

static vp_status_t wait_for_put(const vp_engine_t *engine, vp_operation_t *operation)
{
    uint64_t deadline_ns = vp_clock_ns() + PUT_TIMEOUT_NS;
    bool done = false;
    vp_status_t status = VP_OK;

    while (status == VP_OK && !done) {
        (void)vp_lanes_progress(engine->lanes);
        if (engine->around.progress != NULL) {
            engine->around.progress(engine->around.context);
        }
        status = vp_lanes_test(engine->lanes, &operation, &done, NULL);
        if (status == VP_OK && !done &&
            (vp_clock_ns() > deadline_ns || vp_engine_is_broken(engine, NULL))) {
            vp_lanes_cancel(engine->lanes, operation);
            return VP_ERR_TIMEOUT;
        }
        (void)sched_yield();
    }
    return status;
}

static vp_status_t put_pattern(const trust_t *trust, uint32_t peer, const vp_link_t *link,
                               const card_t *card, uint32_t probe)
{
    const vp_engine_t *engine = trust->engine;
    vp_operation_t *operation = NULL;
    vp_window_t *window = NULL;
    vp_status_t status;

    status =
        vp_lanes_open_window(engine->lanes, engine->peer_key[peer], link->source_class,
                             link->destination_class, card->keys, card->keys_bytes, &window, NULL);
    if (status == VP_OK) {
        status = vp_lanes_put(engine->lanes, window, (const void *)(uintptr_t)trust->scratch, true,
                              card->scratch + slot_at(vp_engine_my_place(engine), probe),
                              PATTERN_BYTES, &operation, NULL);
    }
    if (status == VP_OK) {
        status = wait_for_put(engine, operation);
    }
    vp_lanes_close_window(engine->lanes, window);
    return status;
}

static vp_loss_t loss_of(const vp_engine_t *engine, uint32_t from, uint32_t to,
                         uint32_t source_class, uint32_t destination_class, vp_loss_reason_t reason)
{
    return (vp_loss_t){.from = engine->place[from],
                       .to = engine->place[to],
                       .source_class = source_class,
                       .destination_class = destination_class,
                       .reason = (uint32_t)reason};
}

/* Paths without a network device need the driver's leave to map the peer's memory. */
static void try_link(trust_t *trust, uint32_t peer, const vp_link_t *link, const card_t *card,
                     vp_writer_t *ticket, uint32_t *n_probes_p)
{
    vp_engine_t *engine = trust->engine;
    bool local = engine->model->classes[link->source_class].devices[0] == '\0';
    vp_loss_t loss = loss_of(engine, engine->rank, peer, link->source_class,
                             link->destination_class, VP_LOSS_REFUSED);

    if (local && (!card->exports || !vp_device_reaches(card->handle))) {
        vp_losses_add(engine, &loss);
        return;
    }
    if (*n_probes_p == MAX_PROBES) {
        return;
    }
    if (put_pattern(trust, peer, link, card, *n_probes_p) != VP_OK) {
        loss.reason = VP_LOSS_FAILED;
        vp_losses_add(engine, &loss);
        return;
    }
    vp_write_u32(ticket, link->source_class);
    vp_write_u32(ticket, link->destination_class);
    ++*n_probes_p;
}

static void try_peer(trust_t *trust, uint32_t peer)
{
    const vp_engine_t *engine = trust->engine;
    const card_t card = read_card(trust, peer);
    vp_writer_t ticket = VP_WRITER_INIT;
    uint32_t i, n_probes = 0;

    if (!card.ready || (engine->checked[peer] && engine->checked[engine->rank])) {
        return;
    }
    for (i = engine->link_begin[peer]; i < engine->link_begin[peer + 1]; i++) {
        const vp_link_t *link = &engine->links[i];

        if (is_in_use(engine, peer, link) &&
            vp_keys_offer_class(card.keys, card.keys_bytes, link->destination_class)) {
            try_link(trust, peer, link, &card, &ticket, &n_probes);
        }
    }
    if (!ticket.failed) {
        uint8_t *to = trust->sent + (size_t)peer * TICKET_BYTES;

        to[0] = (uint8_t)n_probes;
        memcpy(to + 4, ticket.n_bytes == 0 ? (const uint8_t *)"" : ticket.data, ticket.n_bytes);
    }
    vp_writer_clear(&ticket);
}

static void verify(trust_t *trust, uint32_t peer)
{
    vp_engine_t *engine = trust->engine;
    uint32_t place = engine->place[peer], probe, n_probes, source_class, destination_class;
    vp_reader_t reader;

    vp_reader_init(&reader, trust->came + (size_t)peer * TICKET_BYTES, TICKET_BYTES);
    n_probes = vp_read_u32(&reader);
    for (probe = 0; probe < n_probes && probe < MAX_PROBES; probe++) {
        const uint8_t *slot = trust->host + slot_at(place, probe);
        size_t i = 0;

        source_class = vp_read_u32(&reader);
        destination_class = vp_read_u32(&reader);
        while (i < PATTERN_BYTES && slot[i] == pattern(place, i)) {
            i++;
        }
        if (i < PATTERN_BYTES) {
            const vp_loss_t loss =
                loss_of(engine, peer, engine->rank, source_class, destination_class, VP_LOSS_WRONG);

            vp_losses_add(engine, &loss);
        }
    }
}

/* The tickets say that all puts have arrived, and over which paths they came. */
static vp_status_t probe_paths(trust_t *trust, vp_error_t *error)
{
    vp_engine_t *engine = trust->engine;
    bool ready = read_card(trust, engine->rank).ready;
    uint32_t peer;
    vp_status_t status;

    for (peer = 0; ready && peer < engine->n_ranks; peer++) {
        if (peer != engine->rank) {
            try_peer(trust, peer);
        }
    }
    status = vp_engine_alltoall(engine, trust->sent, trust->came, TICKET_BYTES, error);
    if (status != VP_OK || !ready) {
        return status;
    }
    status = vp_device_read(&trust->memory, trust->host, trust->scratch, trust->n_bytes, error);
    for (peer = 0; status == VP_OK && peer < engine->n_ranks; peer++) {
        if (peer != engine->rank) {
            verify(trust, peer);
        }
    }
    return VP_OK; /* a device that cannot be read any more fails in the call itself */
}

static vp_status_t check_paths(trust_t *trust, bool on_device, vp_error_t *error)
{
    vp_engine_t *engine = trust->engine;
    vp_report_t report = {.peer = engine->rank};
    uint32_t bad;
    vp_status_t status;

    report.status = allocate(trust) ? VP_OK : VP_ERR_NO_MEMORY;
    status = vp_engine_agree(engine, &report, &bad, error);
    if (status == VP_OK && bad != engine->n_ranks) {
        status = vp_error_no_memory(error, "the check of paths");
    }
    if (status != VP_OK) {
        return status;
    }
    write_card(trust, on_device);
    status = vp_engine_allgather(engine, trust->cards + (size_t)engine->n_ranks * CARD_BYTES,
                                 trust->cards, CARD_BYTES, error);
    if (status == VP_OK) {
        status = probe_paths(trust, error);
    }
    return status == VP_OK ? vp_losses_settle(engine, error) : status;
}

vp_status_t vp_trust_check(vp_engine_t *engine, const vp_work_t *work, vp_error_t *error)
{
    trust_t trust = {.engine = engine};
    vp_status_t status;
    uint32_t rank;

    if (!engine->carry_devices || !is_due(engine)) {
        return VP_OK;
    }
    status = check_paths(&trust, work->on_device, error);
    release(&trust);
    for (rank = 0; rank < engine->n_ranks; rank++) {
        engine->checked[rank] = engine->checked[rank] || has_device(engine, rank);
    }
    return status;
}
