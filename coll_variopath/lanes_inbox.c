/*
 * The receiver's side of lanes through host memory.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "coll_variopath/lanes_stage.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/array.h"

/* Memory of all rings together; a slot never gets smaller or larger than these. */
#define INBOX_BYTES ((size_t)128 << 20)
#define MIN_SLOT_BYTES ((size_t)64 << 10)
#define MAX_SLOT_BYTES ((size_t)512 << 10)

/* Whole pages, such that all rings together keep to the budget; 0: not even one page each. */
static size_t fit_slot_bytes(uint64_t budget, uint32_t n_places)
{
    uint64_t ring = budget / ((uint64_t)2 * n_places);
    uint64_t slot = ring < VP_STAGE_PAGE ? 0 : (ring - VP_STAGE_PAGE) / VP_STAGE_SLOTS;

    slot = slot < 2 * (uint64_t)VP_STAGE_PAGE ? 0 : slot / VP_STAGE_PAGE * VP_STAGE_PAGE;
    slot = slot == 0 ? 0 : slot - VP_STAGE_PAGE;
    return slot > MAX_SLOT_BYTES ? MAX_SLOT_BYTES : (size_t)slot;
}

static size_t choose_slot_bytes(uint64_t budget, uint32_t n_places)
{
    size_t n_bytes = INBOX_BYTES / ((size_t)2 * n_places * VP_STAGE_SLOTS);

    if (budget != 0) {
        return fit_slot_bytes(budget, n_places);
    }

    if (n_bytes < MIN_SLOT_BYTES) {
        return MIN_SLOT_BYTES;
    }
    return n_bytes > MAX_SLOT_BYTES ? MAX_SLOT_BYTES : n_bytes / VP_STAGE_PAGE * VP_STAGE_PAGE;
}

static char *ring_memory(const vp_inbox_t *inbox, size_t ring)
{
    return inbox->memory + ring * vp_ring_bytes(inbox->slot_bytes);
}

static vp_ring_control_t *control_of(const vp_inbox_t *inbox, size_t ring)
{
    return (vp_ring_control_t *)ring_memory(inbox, ring);
}

static size_t half_bytes(const vp_inbox_t *inbox)
{
    return inbox->n_places * vp_ring_bytes(inbox->slot_bytes);
}

/* Pages are had when they are touched: rings that nobody uses cost nothing. */
static bool map_inbox(vp_inbox_t *inbox)
{
    size_t i;

    inbox->n_bytes = 2 * half_bytes(inbox);
    inbox->fd = memfd_create("variopath-inbox", MFD_CLOEXEC);
    if (inbox->fd < 0 || ftruncate(inbox->fd, (off_t)inbox->n_bytes) != 0 ||
        getrandom(&inbox->magic, sizeof(inbox->magic), 0) != (ssize_t)sizeof(inbox->magic)) {
        return false;
    }
    inbox->memory = mmap(NULL, inbox->n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, inbox->fd, 0);
    if (inbox->memory == MAP_FAILED) {
        inbox->memory = NULL;
        return false;
    }
    for (i = 0; i < 2 * (size_t)inbox->n_places; i++) {
        control_of(inbox, i)->magic = inbox->magic;
    }
    return true;
}

static ucs_status_t register_inbox(vp_lanes_t *lanes, vp_inbox_t *inbox)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                                                 UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = inbox->memory + half_bytes(inbox),
                                   .length = half_bytes(inbox)};
    ucs_status_t ret = UCS_OK;
    uint32_t i;

    for (i = 0; i < lanes->n_paths && ret == UCS_OK; i++) {
        if (lanes->paths[i].open && vp_path_is_network(&lanes->paths[i])) {
            ret = ucp_mem_map(lanes->paths[i].context, &params, &inbox->handles[i]);
        }
    }
    return ret;
}

void vp_lanes_inbox_destroy(vp_lanes_t *lanes)
{
    vp_inbox_t *inbox = lanes->inbox;
    size_t i, k;

    if (inbox == NULL) {
        return;
    }
    for (i = 0; inbox->rings != NULL && i < 2 * (size_t)inbox->n_places; i++) {
        for (k = 0; k < VP_STAGE_SLOTS; k++) {
            vp_copy_wait(&inbox->rings[i].copies[k]);
            vp_copy_free(&inbox->rings[i].copies[k]);
        }
        if (inbox->rings[i].pin_context != NULL) {
            vp_device_unpin(inbox->rings[i].pin_context, ring_memory(inbox, i));
        }
    }
    for (i = 0; inbox->handles != NULL && i < lanes->n_paths; i++) {
        if (inbox->handles[i] != NULL) {
            (void)ucp_mem_unmap(lanes->paths[i].context, inbox->handles[i]);
        }
    }
    if (inbox->memory != NULL) {
        (void)munmap(inbox->memory, inbox->n_bytes);
    }
    if (inbox->fd >= 0) {
        (void)close(inbox->fd);
    }
    free(inbox->rings);
    free(inbox->handles);
    free(inbox);
    lanes->inbox = NULL;
}

static vp_status_t make_inbox(vp_lanes_t *lanes, vp_error_t *error)
{
    size_t slot_bytes = choose_slot_bytes(lanes->inbox_bytes, lanes->n_places);
    vp_inbox_t *inbox;
    ucs_status_t ret;

    if (slot_bytes == 0) {
        return vp_error_set(error, VP_ERR_LIMIT,
                            "%llu bytes are too few to stage between %u places; what has to be "
                            "staged is not carried, raise coll_variopath_staging_bytes",
                            (unsigned long long)lanes->inbox_bytes, lanes->n_places);
    }
    inbox = vp_array_new(1, sizeof(*inbox));
    if (inbox == NULL) {
        return vp_error_no_memory(error, "the inbox of staged lanes");
    }
    lanes->inbox = inbox;
    inbox->fd = -1;
    inbox->n_places = lanes->n_places;
    inbox->slot_bytes = slot_bytes;
    inbox->rings = vp_array_new(2 * (size_t)lanes->n_places, sizeof(*inbox->rings));
    inbox->handles = vp_array_new(lanes->n_paths, sizeof(*inbox->handles));
    if (inbox->rings == NULL || inbox->handles == NULL || !map_inbox(inbox)) {
        vp_lanes_inbox_destroy(lanes);
        return vp_error_no_memory(error, "the inbox of staged lanes");
    }
    ret = register_inbox(lanes, inbox);
    if (ret != UCS_OK) {
        vp_lanes_inbox_destroy(lanes);
        return vp_error_set(error, VP_ERR_TRANSPORT,
                            "a network class cannot register the host memory of staged lanes: %s; "
                            "such buffers are not carried, look at `ulimit -l`",
                            ucs_status_string(ret));
    }
    return VP_OK;
}

static ucs_status_t write_keys(const vp_lanes_t *lanes, vp_writer_t *entry)
{
    const vp_inbox_t *inbox = lanes->inbox;
    uint32_t i;

    for (i = 0; i < lanes->n_paths; i++) {
        void *packed;
        size_t n_bytes;
        ucs_status_t ret;

        if (inbox->handles[i] == NULL) {
            continue;
        }
        ret = ucp_rkey_pack(lanes->paths[i].context, inbox->handles[i], &packed, &n_bytes);
        if (ret != UCS_OK) {
            return ret;
        }
        vp_write_u32(entry, i);
        vp_write_u32(entry, (uint32_t)n_bytes);
        vp_write_bytes(entry, packed, n_bytes);
        ucp_rkey_buffer_release(packed);
    }
    return UCS_OK;
}

vp_status_t vp_lanes_inbox_add(vp_lanes_t *lanes, const vp_region_t *region, vp_writer_t *keys,
                               vp_error_t *error)
{
    vp_status_t status = lanes->inbox == NULL ? make_inbox(lanes, error) : VP_OK;
    vp_writer_t entry = VP_WRITER_INIT;
    const vp_inbox_t *inbox = lanes->inbox;
    ucs_status_t ret;

    if (status != VP_OK) {
        return status;
    }
    vp_write_u64(&entry, region->id);
    vp_write_u32(&entry, region->context != NULL);
    vp_write_u32(&entry, inbox->n_places);
    vp_write_u64(&entry, inbox->magic);
    vp_write_u32(&entry, (uint32_t)getpid());
    vp_write_u32(&entry, (uint32_t)inbox->fd);
    vp_write_u64(&entry, (uintptr_t)inbox->memory);
    vp_write_u64(&entry, inbox->slot_bytes);
    ret = write_keys(lanes, &entry);
    vp_write_u32(keys, VP_STAGE_CLASS);
    vp_write_u32(keys, (uint32_t)entry.n_bytes);
    vp_write_bytes(keys, entry.data, entry.n_bytes);
    if (ret != UCS_OK) {
        status = vp_error_set(error, VP_ERR_TRANSPORT,
                              "the key of the host memory of staged lanes cannot be packed: %s; "
                              "this buffer is not carried",
                              ucs_status_string(ret));
    } else if (entry.failed || keys->failed) {
        status = vp_error_no_memory(error, "remote keys");
    }
    vp_writer_clear(&entry);
    return status;
}

static vp_region_t *find_region(const vp_lanes_t *lanes, const vp_chunk_header_t *header)
{
    vp_region_t *region = lanes->regions;

    while (region != NULL && region->id != header->region) {
        region = region->next;
    }
    if (region == NULL || header->address < region->begin || header->n_bytes > region->n_bytes ||
        header->address - region->begin > region->n_bytes - header->n_bytes) {
        return NULL;
    }
    return region;
}

/* Pinned when bytes first go to a device from there. */
static void pin_ring(const vp_inbox_t *inbox, size_t ring, void *context)
{
    vp_inbound_t *in = &inbox->rings[ring];

    if (in->pin_context == NULL &&
        vp_device_pin(context, ring_memory(inbox, ring), vp_ring_bytes(inbox->slot_bytes))) {
        in->pin_context = context;
    }
}

/* What the sender wrote is not trusted: a chunk stays inside the region that it names. */
static vp_status_t start_chunk(vp_lanes_t *lanes, size_t ring, uint64_t number, vp_error_t *error)
{
    const vp_inbox_t *inbox = lanes->inbox;
    vp_inbound_t *in = &inbox->rings[ring];
    const char *memory = ring_memory(inbox, ring);
    size_t slot = (size_t)((number - 1) % VP_STAGE_SLOTS);
    const char *bytes = memory + vp_ring_data_at(number, inbox->slot_bytes);
    vp_chunk_header_t header;
    vp_region_t *region;

    memcpy(&header, memory + vp_ring_header_at(number, inbox->slot_bytes), sizeof(header));
    region = find_region(lanes, &header);
    in->regions[slot] = NULL;
    if (region == NULL || header.n_bytes > inbox->slot_bytes) {
        return vp_error_set(error, VP_ERR_TRANSPORT,
                            "%llu staged bytes came for memory that is not registered any more; "
                            "they are dropped, look for an earlier failure of the sender",
                            (unsigned long long)header.n_bytes);
    }
    if (region->context == NULL) {
        memcpy((void *)(uintptr_t)header.address, bytes, (size_t)header.n_bytes);
        return VP_OK;
    }
    pin_ring(inbox, ring, region->context);
    in->regions[slot] = region;
    return vp_copy_start(&in->copies[slot], region->context, true, header.address, (uintptr_t)bytes,
                         (size_t)header.n_bytes, error);
}

static void report_failure(const vp_lanes_t *lanes, size_t ring, const vp_error_t *error)
{
    vp_log(lanes->log, VP_LOG_WARN, "%s", error->text);
    atomic_store(&control_of(lanes->inbox, ring)->failed, 1);
}

/* True: the chunk is where it belongs, or never will be. */
static bool chunk_done(const vp_lanes_t *lanes, size_t ring, uint64_t number)
{
    vp_inbound_t *in = &lanes->inbox->rings[ring];
    size_t slot = (size_t)((number - 1) % VP_STAGE_SLOTS);
    vp_error_t error;
    bool done = true;

    if (in->regions[slot] != NULL && vp_copy_test(&in->copies[slot], &done, &error) != VP_OK) {
        report_failure(lanes, ring, &error);
        done = true;
    }
    if (done) {
        in->regions[slot] = NULL;
    }
    return done;
}

static unsigned advance(vp_lanes_t *lanes, size_t ring)
{
    vp_inbound_t *in = &lanes->inbox->rings[ring];
    vp_ring_control_t *control = control_of(lanes->inbox, ring);
    unsigned n_events = 0;
    vp_error_t error;

    while (in->started - in->drained < VP_STAGE_SLOTS &&
           atomic_load_explicit(&control->filled[in->started % VP_STAGE_SLOTS],
                                memory_order_acquire) == in->started + 1) {
        in->started++;
        n_events++;
        if (start_chunk(lanes, ring, in->started, &error) != VP_OK) {
            in->regions[(in->started - 1) % VP_STAGE_SLOTS] = NULL;
            report_failure(lanes, ring, &error);
        }
    }
    while (in->drained < in->started && chunk_done(lanes, ring, in->drained + 1)) {
        in->drained++;
        n_events++;
        atomic_store_explicit(&control->drained, in->drained, memory_order_release);
    }
    return n_events;
}

unsigned vp_lanes_inbox_progress(vp_lanes_t *lanes)
{
    unsigned n_events = 0;
    size_t i;

    if (lanes->inbox == NULL) {
        return 0;
    }
    for (i = 0; i < 2 * (size_t)lanes->inbox->n_places; i++) {
        n_events += advance(lanes, i);
    }
    return n_events;
}

void vp_lanes_inbox_forget(vp_lanes_t *lanes, const vp_region_t *region)
{
    size_t i, k;

    if (lanes->inbox == NULL) {
        return;
    }
    for (i = 0; i < 2 * (size_t)lanes->inbox->n_places; i++) {
        vp_inbound_t *in = &lanes->inbox->rings[i];

        for (k = 0; k < VP_STAGE_SLOTS; k++) {
            if (in->regions[k] == region) {
                vp_copy_wait(&in->copies[k]);
                in->regions[k] = NULL;
            }
        }
    }
}
