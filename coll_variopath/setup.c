/*
 * First call on a communicator: are all ranks able and of one mind, and can
 * every pair reach each other on every path that a plan may choose?
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "coll_variopath/engine_private.h"

/* Room for one rank's addresses; a class takes 50 to 300 bytes. */
enum { MAX_ADDRESS_BYTES = 512 * VP_MAX_CLASSES_PER_RANK };

/* Of those that are allgathered: facts, openings and rows. */
static size_t largest_record(uint32_t n_ranks)
{
    size_t n_bytes = VP_ROW_HEAD_BYTES + (size_t)n_ranks * 8;

    n_bytes = n_bytes < VP_FACTS_BYTES ? VP_FACTS_BYTES : n_bytes;
    n_bytes = n_bytes < VP_RATES_BYTES ? VP_RATES_BYTES : n_bytes;
    return n_bytes < VP_LOSSES_BYTES ? VP_LOSSES_BYTES : n_bytes;
}

/* Distinct class pairs of the instances between two groups; links may be NULL to count. */
static uint32_t list_links(const vp_model_t *model, uint32_t from_group, uint32_t to_group,
                           vp_link_t *links)
{
    size_t pair = vp_pair(model, from_group, to_group);
    uint32_t i, k, n_links = 0;

    for (i = model->pair_begin[pair]; i < model->pair_begin[pair + 1]; i++) {
        const vp_instance_t *instance = &model->instances[i];
        bool known = false;

        for (k = model->pair_begin[pair]; k < i && !known; k++) {
            known = model->instances[k].source_class == instance->source_class &&
                    model->instances[k].destination_class == instance->destination_class;
        }
        if (!known && links != NULL) {
            links[n_links].source_class = instance->source_class;
            links[n_links].destination_class = instance->destination_class;
        }
        n_links += !known;
    }
    return n_links;
}

static uint32_t links_to(const vp_engine_t *engine, uint32_t peer, vp_link_t *links)
{
    const vp_model_t *model = engine->model;

    if (peer == engine->rank) {
        return 0;
    }
    return list_links(model, model->rank_group[vp_engine_my_place(engine)],
                      model->rank_group[engine->place[peer]], links);
}

static bool make_links(vp_engine_t *engine)
{
    uint32_t peer;

    engine->link_begin = vp_array_new((size_t)engine->n_ranks + 1, sizeof(*engine->link_begin));
    if (engine->link_begin == NULL) {
        return false;
    }
    for (peer = 0; peer < engine->n_ranks; peer++) {
        engine->link_begin[peer + 1] = engine->link_begin[peer] + links_to(engine, peer, NULL);
    }
    engine->links = vp_array_new(engine->link_begin[engine->n_ranks], sizeof(*engine->links));
    if (engine->links == NULL) {
        return false;
    }
    for (peer = 0; peer < engine->n_ranks; peer++) {
        (void)links_to(engine, peer, engine->links + engine->link_begin[peer]);
    }
    return true;
}

/* Without memory for it this rank tells the others that it cannot; all do without then. */
static void make_leaders(vp_engine_t *engine)
{
    const vp_model_t *model = engine->model;
    uint32_t *node, rank;

    if (engine->options.leaders == VP_LEADERS_OFF || engine->around.swap == NULL ||
        model->n_nodes < 2) {
        return;
    }
    node = vp_array_new(engine->n_ranks, sizeof(*node));
    for (rank = 0; node != NULL && rank < engine->n_ranks; rank++) {
        node[rank] = model->groups[model->rank_group[engine->place[rank]]].node;
    }
    if (node != NULL) {
        engine->leaders = vp_leaders_create(node, model->n_nodes, engine->rank, engine->n_ranks,
                                            largest_record(engine->n_ranks));
    }
    free(node);
}

/* Everything that calls need; a rank that cannot have it says so in its facts. */
static bool make_arrays(vp_engine_t *engine)
{
    size_t n = engine->n_ranks;

    engine->openings = vp_array_new(n, sizeof(*engine->openings));
    engine->row = vp_array_new(n, sizeof(*engine->row));
    engine->demand = vp_array_new(n, n * sizeof(*engine->demand));
    engine->pool = vp_pool_create();
    engine->pairs = vp_array_new(n, sizeof(*engine->pairs));
    engine->told = vp_array_new(n, sizeof(*engine->told));
    engine->reports = vp_array_new(n, sizeof(*engine->reports));
    engine->checked = vp_array_new(n, sizeof(*engine->checked));
    vp_rates_start(&engine->rates, engine->model);
    make_leaders(engine);
    return engine->checked != NULL && engine->openings != NULL && engine->row != NULL &&
           engine->demand != NULL && engine->pool != NULL && engine->pairs != NULL &&
           engine->told != NULL && engine->reports != NULL && make_links(engine);
}

void vp_engine_setup_undo(vp_engine_t *engine)
{
    vp_windows_close_all(engine);
    vp_regions_clear(engine);
    vp_leaders_destroy(engine->leaders);
    vp_cache_clear(engine);
    free(engine->link_begin);
    free(engine->links);
    free(engine->openings);
    free(engine->row);
    free(engine->told);
    free(engine->obstacles);
    free(engine->demand);
    vp_standing_destroy(engine->standing);
    vp_pool_destroy(engine->pool);
    free(engine->pairs);
    free(engine->reports);
    free(engine->checked);
    free(engine->losses);
    free(engine->send_wire);
    free(engine->receive_wire);
    free(engine->told_keys);
}

/* For each class that is open here: 32-bit class, 32-bit length, address. */
static bool write_addresses(const vp_engine_t *engine, vp_writer_t *writer)
{
    uint32_t i;

    for (i = 0; i < engine->model->n_classes; i++) {
        const void *address;
        size_t n_bytes;

        if (vp_lanes_address(engine->lanes, i, &address, &n_bytes, NULL) == VP_OK) {
            vp_write_u32(writer, i);
            vp_write_u32(writer, (uint32_t)n_bytes);
            vp_write_bytes(writer, address, n_bytes);
        }
    }
    return !writer->failed;
}

/* Of all that decides which planner runs and what it may do. */
static uint64_t hash_planning(const vp_engine_options_t *options)
{
    char text[256];
    int length =
        snprintf(text, sizeof(text), "%s %d %d %s", options->scheduler, (int)options->sharing,
                 (int)options->learn, options->links == NULL ? "" : options->links);

    return vp_hash64(text, length < 0                      ? 0
                           : (size_t)length < sizeof(text) ? (size_t)length
                                                           : sizeof(text) - 1);
}

static vp_facts_t own_facts(const vp_engine_t *engine, bool able, size_t address_bytes)
{
    const vp_engine_options_t *options = &engine->options;
    const vp_facts_t facts = {
        .version = VP_PROTOCOL_VERSION,
        .able = able,
        .fit = (uint32_t)engine->fit,
        .carry_host = options->carry_host,
        .catalog_ranks = engine->catalog_ranks,
        .fingerprint = engine->fingerprint,
        .order_hash = engine->order_hash,
        .scheduler_hash = hash_planning(options),
        .alpha_ns = options->alpha_ns,
        .sync = (uint32_t)options->sync,
        .min_gain_percent = options->min_gain_percent,
        .address_bytes = address_bytes,
        .devices = options->devices,
        .carry_devices = able && vp_lanes_carry_device(engine->lanes),
        .min_bytes = options->min_bytes,
        .cache_plans = options->cache_plans,
        .leaders = engine->leaders != NULL ? options->leaders : VP_LEADERS_OFF,
    };

    return facts;
}

/* What differs between two ranks, or NULL. */
static const char *difference(const vp_facts_t *a, const vp_facts_t *b)
{
    if (a->version != b->version) {
        return "versions of this component";
    }
    if (a->fingerprint != b->fingerprint) {
        return "catalogs";
    }
    if (a->order_hash != b->order_hash) {
        return "orders of ranks on the topology";
    }
    if (a->scheduler_hash != b->scheduler_hash) {
        return "schedulers";
    }
    if (a->alpha_ns != b->alpha_ns) {
        return "activation overheads (alpha)";
    }
    if (a->sync != b->sync) {
        return "synchronisation modes";
    }
    if (a->min_gain_percent != b->min_gain_percent) {
        return "minimal gains";
    }
    if (a->min_bytes != b->min_bytes) {
        return "minimal sizes";
    }
    return a->cache_plans != b->cache_plans ? "numbers of cached plans" : NULL;
}

/* A rank whose catalog is not one of this communicator. */
static void decline_misfit(vp_engine_t *engine, const vp_facts_t *facts, uint32_t rank)
{
    switch (facts->fit) {
    case VP_FIT_NO_CATALOG:
        vp_engine_decline(engine, rank, "rank %u has no catalog", rank);
        break;
    case VP_FIT_OTHER_SIZE:
        vp_engine_decline(engine, rank,
                          "the catalog of rank %u describes %u ranks, the communicator has %u",
                          rank, facts->catalog_ranks, engine->n_ranks);
        break;
    default:
        vp_engine_decline(engine, rank, "the catalog of rank %u has no place for every rank", rank);
    }
}

/* Same input on all ranks, same order, hence the same decision. */
static void compare_facts(vp_engine_t *engine, const vp_facts_t *first, const vp_facts_t *facts,
                          uint32_t rank)
{
    const char *what = difference(first, facts);

    if (engine->state == VP_ENGINE_DECLINED) {
        return;
    }
    if (first->version != facts->version) {
        vp_engine_decline(engine, rank, "ranks 0 and %u use different %s", rank, what);
    } else if (facts->fit != VP_FIT_OK) {
        decline_misfit(engine, facts, rank);
    } else if (!facts->carry_host && !(facts->devices && facts->carry_devices)) {
        /* Lanes carry no other memory here. */
        vp_engine_decline(engine, rank,
                          "rank %u leaves host buffers alone (coll_variopath_host is off)", rank);
    } else if (!facts->able) {
        vp_engine_decline(engine, rank, "rank %u has no UCX lanes or too little memory", rank);
    } else if (what != NULL) {
        vp_engine_decline(engine, rank, "ranks 0 and %u use different %s", rank, what);
    } else if (facts->address_bytes > MAX_ADDRESS_BYTES) {
        vp_engine_decline(engine, rank, "rank %u has longer addresses than there is room for",
                          rank);
    }
    /* To leave host buffers alone is a choice, all else a fault. */
    engine->fault = engine->state == VP_ENGINE_DECLINED && facts->carry_host;
}

static vp_status_t exchange_facts(vp_engine_t *engine, const vp_facts_t *mine, uint64_t *largest_p,
                                  vp_error_t *error)
{
    vp_facts_t first, facts;
    uint64_t largest = 0;
    vp_status_t status;
    uint32_t rank;

    vp_facts_encode(mine, engine->send_wire);
    status =
        vp_engine_allgather(engine, engine->send_wire, engine->receive_wire, VP_FACTS_BYTES, error);
    if (status != VP_OK) {
        return status;
    }
    vp_facts_decode(engine->receive_wire, &first);
    for (rank = 0; rank < engine->n_ranks; rank++) {
        vp_facts_decode(engine->receive_wire + (size_t)rank * VP_FACTS_BYTES, &facts);
        compare_facts(engine, &first, &facts, rank);
        largest = facts.address_bytes > largest ? facts.address_bytes : largest;
        if (rank == 0 || facts.leaders < engine->use_leaders) {
            engine->use_leaders = facts.leaders;
        }
        engine->devices = engine->devices || facts.devices != 0;
        engine->carry_devices = (rank == 0 || engine->carry_devices) && facts.carry_devices != 0;
    }
    *largest_p = largest;
    return VP_OK;
}

/* The address of a class in a rank's list; NULL when that rank has not opened the class. */
static const void *find_address(const uint8_t *list, size_t list_bytes, uint32_t path_class,
                                size_t *n_bytes_p)
{
    vp_reader_t reader;

    vp_reader_init(&reader, list, list_bytes);
    while (vp_reader_left(&reader) >= 8) {
        uint32_t entry_class = vp_read_u32(&reader);
        uint32_t n_bytes = vp_read_u32(&reader);

        if (n_bytes == 0 || n_bytes > vp_reader_left(&reader)) {
            return NULL; /* padding, or not a list */
        }
        if (entry_class == path_class) {
            *n_bytes_p = n_bytes;
            return list + reader.position;
        }
        reader.position += n_bytes;
    }
    return NULL;
}

/* While a peer is waited for. */
static bool proceed(void *context)
{
    const vp_engine_t *engine = context;

    if (engine->around.progress != NULL) {
        engine->around.progress(engine->around.context);
    }
    return !vp_engine_is_broken(engine, NULL);
}

static vp_status_t connect_link(vp_engine_t *engine, uint32_t peer, const vp_link_t *link,
                                const uint8_t *list, size_t list_bytes, vp_error_t *error)
{
    size_t n_bytes;
    const void *address = find_address(list, list_bytes, link->destination_class, &n_bytes);

    if (address == NULL) {
        return vp_error_set(error, VP_ERR_TRANSPORT,
                            "rank %u has not opened path class \"%s\", so it cannot be reached "
                            "there; its topology names other classes for it",
                            peer, engine->model->classes[link->destination_class].name);
    }
    return vp_lanes_connect(
        engine->lanes, engine->peer_key[peer], link->source_class, link->destination_class, address,
        n_bytes, engine->patient ? 0 : engine->options.timeout_ms, proceed, engine, error);
}

static vp_status_t connect_peer(vp_engine_t *engine, uint32_t peer, const uint8_t *list,
                                size_t list_bytes, vp_report_t *report, vp_error_t *error)
{
    uint32_t i;

    for (i = engine->link_begin[peer]; i < engine->link_begin[peer + 1]; i++) {
        const vp_link_t *link = &engine->links[i];
        vp_status_t status = connect_link(engine, peer, link, list, list_bytes, error);

        if (status != VP_OK) {
            report->status = (int32_t)status;
            report->peer = peer;
            report->source_class = link->source_class;
            report->destination_class = link->destination_class;
            return status;
        }
    }
    return VP_OK;
}

/* Waiting for a peer ends as well when another one dies, which is no fault of a path. */
static void tell_unconnected(const vp_engine_t *engine, uint32_t peer, const char *why)
{
    uint32_t dead = engine->rank;

    if (!vp_engine_is_broken(engine, &dead)) {
        vp_log(engine->options.log, VP_LOG_WARN, "rank %u is not connected: %s", peer, why);
    } else if (dead != engine->rank) {
        vp_log(engine->options.log, VP_LOG_WARN, "rank %u is not connected: rank %u has died", peer,
               dead);
    } else {
        vp_log(engine->options.log, VP_LOG_WARN,
               "rank %u is not connected: the communicator was revoked", peer);
    }
}

/*
 * One of two phases: each pair is connected first by its lower place, then by
 * the other. Endpoints of both directions that appear at once, or while bytes
 * come in, have crashed UCX over TCP.
 */
static vp_status_t connect_phase(vp_engine_t *engine, bool upwards, const uint8_t *lists,
                                 size_t list_bytes, vp_error_t *error)
{
    vp_report_t report = {.peer = engine->rank};
    uint32_t peer, bad;
    char text[128];
    vp_error_t detail;
    vp_status_t status;

    for (peer = 0; peer < engine->n_ranks && report.status == VP_OK; peer++) {
        if (peer == engine->rank || upwards != (vp_engine_my_place(engine) < engine->place[peer])) {
            continue;
        }
        if (connect_peer(engine, peer, lists + peer * list_bytes, list_bytes, &report, &detail) !=
            VP_OK) {
            tell_unconnected(engine, peer, detail.text);
        }
    }
    status = vp_engine_agree(engine, &report, &bad, error);
    if (status == VP_OK && bad != engine->n_ranks) {
        vp_engine_report_text(engine, bad, text, sizeof(text));
        engine->fault = true;
        vp_engine_decline(engine, bad, "a path cannot be connected, %s", text);
    }
    return status;
}

/* lists: [n_ranks + 1][MAX_ADDRESS_BYTES], one more for the own contribution. */
static vp_status_t connect_all(vp_engine_t *engine, const vp_writer_t *addresses, uint8_t *lists,
                               size_t list_bytes, vp_error_t *error)
{
    uint8_t *mine = lists + engine->n_ranks * list_bytes;
    vp_status_t status;

    if (addresses->n_bytes > 0) {
        memcpy(mine, addresses->data, addresses->n_bytes);
    }
    status = vp_engine_allgather(engine, mine, lists, list_bytes, error);
    if (status == VP_OK) {
        status = connect_phase(engine, true, lists, list_bytes, error);
    }
    if (status == VP_OK && engine->state != VP_ENGINE_DECLINED) {
        status = connect_phase(engine, false, lists, list_bytes, error);
    }
    if (status == VP_OK && engine->state != VP_ENGINE_DECLINED) {
        engine->state = VP_ENGINE_READY;
    }
    return status;
}

bool vp_engine_make_records(vp_engine_t *engine)
{
    size_t record_bytes = largest_record(engine->n_ranks);

    engine->send_wire = vp_array_new(record_bytes + (size_t)engine->n_ranks * VP_PAIR_BYTES, 1);
    engine->receive_wire = vp_array_new(engine->n_ranks, record_bytes);
    engine->obstacles = vp_array_new(engine->n_ranks, sizeof(*engine->obstacles));
    return engine->send_wire != NULL && engine->receive_wire != NULL && engine->obstacles != NULL;
}

vp_status_t vp_engine_setup(vp_engine_t *engine, vp_error_t *error)
{
    vp_writer_t addresses = VP_WRITER_INIT;
    uint8_t *lists = vp_array_new((size_t)engine->n_ranks + 1, MAX_ADDRESS_BYTES);
    uint64_t list_bytes = 0;
    vp_facts_t facts;
    vp_status_t status;
    bool able;

    /* With the records that are there no rank can drop out up to the agreement. */
    able = engine->fit == VP_FIT_OK && engine->lanes != NULL && lists != NULL &&
           make_arrays(engine) && write_addresses(engine, &addresses) &&
           addresses.n_bytes <= MAX_ADDRESS_BYTES;
    facts = own_facts(engine, able, able ? addresses.n_bytes : 0);
    status = exchange_facts(engine, &facts, &list_bytes, error);
    if (status == VP_OK && engine->state != VP_ENGINE_DECLINED) {
        status = connect_all(engine, &addresses, lists, list_bytes, error);
    }
    vp_writer_clear(&addresses);
    free(lists);
    return status;
}
