/*
 * Receive windows: one region over all blocks that this rank receives, and
 * the peers' regions as this rank's endpoints see them.
 *
 * Keys travel only when their packed bytes or their range differ from what the
 * peers know; UCX may reuse a handle, never by accident the bytes.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "coll_variopath/engine_private.h"

/* From the first to behind the last byte that is exchanged with others. */
static bool find_range(const vp_engine_t *engine, const vp_block_t *blocks, uint64_t *begin_p,
                       uint64_t *end_p)
{
    uint32_t peer;

    for (peer = 0; peer < engine->n_ranks; peer++) {
        const vp_block_t *block = &blocks[peer];
        uint64_t begin = (uintptr_t)block->address;

        if (block->n_bytes == 0 || peer == engine->rank) {
            continue;
        }
        if (block->n_bytes > UINT64_MAX - begin) {
            return false;
        }
        if (*begin_p == *end_p || begin < *begin_p) {
            *begin_p = begin;
        }
        if (begin + block->n_bytes > *end_p) {
            *end_p = begin + block->n_bytes;
        }
    }
    return true;
}

/* Memory that transports can map: of CUDA's plain allocations, nothing else. */
static bool can_put(const vp_memory_t *memory)
{
    return memory->kind == VP_MEMORY_DEVICE && memory->ipc;
}

/*
 * Device memory to send from is registered too: a UCX whose hooks into CUDA are
 * missing takes it for the host's and would crash in the put, but refuses this.
 * What it refuses is staged.
 */
static void register_send(vp_engine_t *engine, vp_work_t *work)
{
    uint64_t begin = 0, end = 0;
    vp_region_t *region;
    vp_error_t detail;

    if (!find_range(engine, work->call->send, &begin, &end) || begin == end ||
        !vp_lanes_put_device(engine->lanes)) {
        return;
    }
    if (vp_regions_get(engine, work->call->send_memory, VP_REGION_DEVICE, &region, &detail) ==
        VP_OK) {
        work->puts_device = vp_region_can_put(region);
    } else {
        vp_log(engine->options.log, VP_LOG_CALL, "%s", detail.text);
    }
}

/* Where a rank has a driver, others may have to stage what they send here. */
static vp_status_t register_receive(vp_engine_t *engine, vp_work_t *work, vp_error_t *error)
{
    unsigned how = engine->devices && engine->carry_devices ? VP_REGION_STAGED : 0;
    const vp_memory_t *memory = work->call->receive_memory;

    if (work->on_device && vp_memory_is_device(memory)) {
        how |= VP_REGION_DEVICE;
        how |= can_put(memory) ? 0 : VP_REGION_NO_PUT;
        work->begin = memory->allocation_begin;
        work->end = memory->allocation_begin + memory->allocation_bytes;
        return vp_regions_get(engine, memory, how, &work->region, error);
    }
    work->owns_region = true;
    return vp_lanes_register(engine->lanes, (void *)(uintptr_t)work->begin,
                             (size_t)(work->end - work->begin), how, &work->region, error);
}

void vp_windows_register(vp_engine_t *engine, vp_work_t *work)
{
    vp_error_t detail;

    if (!find_range(engine, work->call->receive, &work->begin, &work->end)) {
        work->obstacles |= VP_OBSTACLE_MEMORY;
        return;
    }
    if (work->begin != work->end && register_receive(engine, work, &detail) != VP_OK) {
        work->obstacles |= VP_OBSTACLE_MEMORY;
        vp_log(engine->options.log, VP_LOG_CALL, "%s", detail.text);
    }
    if (work->on_device && can_put(work->call->send_memory)) {
        register_send(engine, work);
    }
}

bool vp_windows_changed(const vp_engine_t *engine, const vp_work_t *work)
{
    const void *keys;
    size_t n_bytes;

    if (work->region == NULL) {
        return false; /* nobody writes here in this call */
    }
    keys = vp_region_keys(work->region, &n_bytes);
    return work->begin != engine->told_begin || work->end != engine->told_end ||
           n_bytes != engine->told_keys_bytes || memcmp(keys, engine->told_keys, n_bytes) != 0;
}

static void close_links(vp_engine_t *engine, uint32_t peer)
{
    uint32_t i;

    for (i = engine->link_begin[peer]; i < engine->link_begin[peer + 1]; i++) {
        vp_lanes_close_window(engine->lanes, engine->links[i].window);
        vp_lanes_close_window(engine->lanes, engine->links[i].staged);
        engine->links[i].window = NULL;
        engine->links[i].staged = NULL;
    }
}

void vp_windows_close_all(vp_engine_t *engine)
{
    uint32_t peer;

    if (engine->links == NULL) {
        return;
    }
    for (peer = 0; peer < engine->n_ranks; peer++) {
        close_links(engine, peer);
    }
}

static bool is_lost(const vp_engine_t *engine, const vp_window_t *window)
{
    return window != NULL && !vp_lanes_window_usable(engine->lanes, window);
}

bool vp_windows_usable(const vp_engine_t *engine)
{
    uint32_t i;

    for (i = 0; i < engine->link_begin[engine->n_ranks]; i++) {
        if (is_lost(engine, engine->links[i].window) || is_lost(engine, engine->links[i].staged)) {
            return false;
        }
    }
    return true;
}

static vp_link_t *find_link(const vp_engine_t *engine, uint32_t peer, uint32_t source_class,
                            uint32_t destination_class)
{
    uint32_t i;

    for (i = engine->link_begin[peer]; i < engine->link_begin[peer + 1]; i++) {
        if (engine->links[i].source_class == source_class &&
            engine->links[i].destination_class == destination_class) {
            return &engine->links[i];
        }
    }
    return NULL;
}

/* Host memory needs no staging, and from one kind of memory to the other a put is an emulation. */
vp_window_t *vp_windows_choose(const vp_engine_t *engine, const vp_work_t *work, uint32_t peer,
                               const vp_instance_t *instance)
{
    const vp_link_t *link =
        find_link(engine, peer, instance->source_class, instance->destination_class);
    bool from_device = work->on_device && vp_memory_is_device(work->call->send_memory);
    bool to_device;

    if (link == NULL || link->staged == NULL) {
        return link == NULL || (from_device && !work->puts_device) ? NULL : link->window;
    }
    to_device = vp_window_to_device(link->staged);
    if (!from_device && !to_device) {
        return link->window;
    }
    return instance->kind != VP_PATH_HOST && from_device && to_device && work->puts_device &&
                   link->window != NULL
               ? link->window
               : link->staged;
}

/* What a window over device memory does not open can be staged: the path is lost, not the call. */
static void lose_link(vp_engine_t *engine, uint32_t peer, const vp_link_t *link)
{
    const vp_loss_t loss = {.from = vp_engine_my_place(engine),
                            .to = engine->place[peer],
                            .source_class = link->source_class,
                            .destination_class = link->destination_class,
                            .reason = VP_LOSS_FAILED};

    vp_losses_add(engine, &loss);
}

/* Opens what the keys offer: a window to put into, one to stage through, or both. */
static vp_status_t open_link(vp_engine_t *engine, uint32_t peer, const uint8_t *keys,
                             size_t n_bytes, vp_link_t *link, vp_error_t *error)
{
    bool staging = vp_keys_offer_staging(keys, n_bytes);
    vp_status_t status = VP_OK;

    if (staging) {
        status = vp_lanes_open_staged(engine->lanes, engine->peer_key[peer], link->source_class,
                                      link->destination_class, keys, n_bytes, &link->staged, error);
    }
    if (status == VP_OK &&
        (!staging || vp_keys_offer_class(keys, n_bytes, link->destination_class))) {
        status = vp_lanes_open_window(engine->lanes, engine->peer_key[peer], link->source_class,
                                      link->destination_class, keys, n_bytes, &link->window, error);
        if (status != VP_OK && staging && vp_window_to_device(link->staged)) {
            lose_link(engine, peer, link);
            status = VP_OK;
        }
    }
    return status;
}

static vp_status_t open_links(vp_engine_t *engine, uint32_t peer, const uint8_t *keys,
                              size_t n_bytes, vp_report_t *report, vp_error_t *error)
{
    uint32_t i;

    for (i = engine->link_begin[peer]; i < engine->link_begin[peer + 1]; i++) {
        vp_link_t *link = &engine->links[i];
        vp_status_t status = open_link(engine, peer, keys, n_bytes, link, error);

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

/* all_keys: [n_ranks][stride]; ranks whose keys did not change keep their windows. */
static void open_changed(vp_engine_t *engine, const uint8_t *all_keys, size_t stride,
                         vp_report_t *report)
{
    vp_error_t detail;
    uint32_t peer;

    for (peer = 0; peer < engine->n_ranks && report->status == VP_OK; peer++) {
        size_t n_bytes = engine->openings[peer].keys_bytes;

        if (n_bytes == 0 || peer == engine->rank) {
            continue;
        }
        close_links(engine, peer);
        if (open_links(engine, peer, all_keys + peer * stride, n_bytes, report, &detail) != VP_OK) {
            vp_log(engine->options.log, VP_LOG_CALL, "%s", detail.text);
        }
    }
}

/* Keys that will be told; room was made before the call was agreed on. */
static void remember_told(vp_engine_t *engine, const vp_work_t *work)
{
    size_t n_bytes;
    const void *keys = vp_region_keys(work->region, &n_bytes);

    memcpy(engine->told_keys, keys, n_bytes);
    engine->told_keys_bytes = n_bytes;
    engine->told_begin = work->begin;
    engine->told_end = work->end;
}

/* After a window that did not open, all ranks start again from nothing. */
static void forget_all(vp_engine_t *engine)
{
    vp_windows_close_all(engine);
    engine->told_keys_bytes = 0;
    engine->told_begin = 0;
    engine->told_end = 0;
}

vp_status_t vp_windows_prepare(vp_engine_t *engine, vp_work_t *work, vp_error_t *error)
{
    size_t own_bytes = 0, largest = 0;
    uint32_t rank;

    for (rank = 0; rank < engine->n_ranks; rank++) {
        size_t n_bytes = engine->openings[rank].keys_bytes;

        largest = n_bytes > largest ? n_bytes : largest;
    }
    if (largest == 0) {
        return VP_OK;
    }
    own_bytes = engine->openings[engine->rank].keys_bytes;
    work->keys_stride = largest;
    work->keys = vp_array_new((size_t)engine->n_ranks + 1, largest);
    if (work->keys == NULL ||
        !vp_array_reserve(&engine->told_keys, &engine->told_keys_capacity, own_bytes, 1)) {
        return vp_error_no_memory(error, "the remote keys of all ranks");
    }
    return VP_OK;
}

vp_status_t vp_windows_exchange(vp_engine_t *engine, vp_work_t *work, vp_error_t *error)
{
    uint8_t *mine = work->keys + engine->n_ranks * work->keys_stride;
    vp_report_t report = {.peer = engine->rank};
    char text[128];
    uint32_t bad;
    vp_status_t status;

    if (engine->openings[engine->rank].keys_bytes > 0) {
        remember_told(engine, work);
        memcpy(mine, engine->told_keys, engine->told_keys_bytes);
    }
    vp_dump_step(engine->options.dump, &engine->dump, VP_STEP_KEYS);
    status = vp_engine_allgather(engine, mine, work->keys, work->keys_stride, error);
    if (status != VP_OK) {
        return status;
    }
    vp_counter_add(&engine->counters->key_exchanges, 1);
    open_changed(engine, work->keys, work->keys_stride, &report);
    if (report.status == VP_OK && engine->n_losses > 0) {
        report.status = VP_ERR_UNSUPPORTED;
    }
    status = vp_engine_agree(engine, &report, &bad, error);
    if (status == VP_OK && bad != engine->n_ranks) {
        forget_all(engine);
        vp_engine_report_text(engine, bad, text, sizeof(text));
        vp_verdict_pass(work, VP_REASON_WINDOW, "a receive buffer cannot be written, %s", text);
        /* Without the paths that are lost the next call can be carried; plans name them. */
        if (!work->is_cached) {
            vp_program_destroy(work->program);
        }
        work->program = NULL;
        status = vp_losses_settle(engine, error);
    }
    return status;
}
