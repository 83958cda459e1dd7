/*
 * The sender's side of lanes through host memory.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "coll_variopath/lanes_stage.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

/* What a peer says of its inbox and of one region. */
typedef struct stage_entry {
    uint64_t region;
    bool device;
    uint32_t n_places;
    uint64_t magic;
    uint32_t pid;
    uint32_t fd;
    uint64_t memory;
    uint64_t slot_bytes;
    const uint8_t *keys; /* as the entries of a region */
    size_t keys_bytes;
} stage_entry_t;

static vp_ring_control_t *control_of(const vp_ring_t *ring)
{
    return (vp_ring_control_t *)ring->memory;
}

static vp_outbound_slot_t *slot_of(vp_ring_t *ring, uint64_t number)
{
    return &ring->slots[(number - 1) % VP_STAGE_SLOTS];
}

static bool parse_entry(const uint8_t *entry, size_t n_bytes, stage_entry_t *parsed)
{
    vp_reader_t reader;

    vp_reader_init(&reader, entry, n_bytes);
    parsed->region = vp_read_u64(&reader);
    parsed->device = vp_read_u32(&reader) != 0;
    parsed->n_places = vp_read_u32(&reader);
    parsed->magic = vp_read_u64(&reader);
    parsed->pid = vp_read_u32(&reader);
    parsed->fd = vp_read_u32(&reader);
    parsed->memory = vp_read_u64(&reader);
    parsed->slot_bytes = vp_read_u64(&reader);
    parsed->keys = reader.data + reader.position;
    parsed->keys_bytes = vp_reader_left(&reader);
    return !reader.failed && parsed->slot_bytes > 0 && parsed->slot_bytes <= (UINT64_C(1) << 30) &&
           parsed->slot_bytes % VP_STAGE_PAGE == 0;
}

static vp_ring_t *find_ring(const vp_lanes_t *lanes, uint64_t peer_key, bool shared)
{
    vp_ring_t *ring = lanes->rings;

    while (ring != NULL && (ring->peer_key != peer_key || ring->shared != shared)) {
        ring = ring->next;
    }
    return ring;
}

/* Ring `index` of a process on this host; its own for any other process would fail the magic. */
static char *map_ring(const stage_entry_t *entry, size_t index, size_t n_bytes)
{
    struct stat facts;
    char path[64];
    char *memory;
    int fd;

    (void)snprintf(path, sizeof(path), "/proc/%" PRIu32 "/fd/%" PRIu32, entry->pid, entry->fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return NULL;
    }
    /* What is mapped beyond the end of a file ends the process when it is touched. */
    memory = MAP_FAILED;
    if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) &&
        (uint64_t)facts.st_size / n_bytes > index) {
        memory =
            mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(index * n_bytes));
    }
    (void)close(fd);
    if (memory == MAP_FAILED) {
        return NULL;
    }
    if (((const vp_ring_control_t *)(const void *)memory)->magic != entry->magic) {
        (void)munmap(memory, n_bytes);
        return NULL;
    }
    return memory;
}

static vp_ring_t *make_ring(vp_lanes_t *lanes, uint64_t peer_key, bool shared,
                            const stage_entry_t *entry)
{
    vp_ring_t *ring = vp_array_new(1, sizeof(*ring));
    size_t index = (shared ? 0 : entry->n_places) + (size_t)lanes->place;

    if (ring == NULL) {
        return NULL;
    }
    ring->peer_key = peer_key;
    ring->shared = shared;
    ring->slot_bytes = (size_t)entry->slot_bytes;
    ring->n_bytes = vp_ring_bytes(ring->slot_bytes);
    ring->remote = entry->memory + index * ring->n_bytes;
    if (shared) {
        ring->memory = map_ring(entry, index, ring->n_bytes);
    } else {
        ring->memory =
            mmap(NULL, ring->n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ring->memory = ring->memory == MAP_FAILED ? NULL : ring->memory;
    }
    if (ring->memory == NULL) {
        free(ring);
        return NULL;
    }
    ring->next = lanes->rings;
    lanes->rings = ring;
    return ring;
}

static const char *open_key(vp_lanes_t *lanes, const stage_entry_t *entry, vp_window_t *window)
{
    const vp_endpoint_t *endpoint = vp_lanes_endpoint_find(
        lanes, window->peer_key, window->source_class, window->destination_class);
    const unsigned char *key = NULL;
    size_t key_bytes = 0;
    ucs_status_t ret;

    if (endpoint == NULL) {
        return "there is no endpoint";
    }
    if (vp_lanes_find_key(entry->keys, entry->keys_bytes, window->destination_class, &key,
                          &key_bytes, NULL) != VP_OK ||
        key == NULL) {
        return "the peer did not register its inbox with that class";
    }
    ret = ucp_ep_rkey_unpack(endpoint->ucp, key, &window->rkey);
    if (ret != UCS_OK) {
        window->rkey = NULL;
        return ucs_status_string(ret);
    }
    window->ucp = endpoint->ucp;
    return NULL;
}

vp_status_t vp_lanes_outbox_open(vp_lanes_t *lanes, const uint8_t *entry, size_t n_bytes,
                                 vp_window_t *window, vp_error_t *error)
{
    vp_path_t *path = vp_lanes_path(lanes, window->source_class);
    const char *why = NULL;
    stage_entry_t parsed;
    vp_ring_t *ring;
    bool shared;

    if (path == NULL || !parse_entry(entry, n_bytes, &parsed) || lanes->place >= parsed.n_places) {
        return vp_lanes_window_error(lanes, window, "what the peer says of its inbox is no use",
                                     error);
    }
    shared = !vp_path_is_network(path);
    ring = find_ring(lanes, window->peer_key, shared);
    if (ring == NULL) {
        ring = make_ring(lanes, window->peer_key, shared, &parsed);
    }
    if (ring == NULL) {
        why = shared ? "its inbox cannot be mapped, is it another host or user?" : "out of memory";
    } else if (ring->dead) {
        why = "staging to it failed before";
    } else if (!shared) {
        why = open_key(lanes, &parsed, window);
    }
    if (why != NULL) {
        return vp_lanes_window_error(lanes, window, why, error);
    }
    window->ring = ring;
    window->region = parsed.region;
    window->to_device = parsed.device;
    return VP_OK;
}

void vp_lanes_outbox_put(vp_operation_t *operation, const vp_window_t *window, const void *local,
                         void *context, uint64_t remote_address, size_t n_bytes)
{
    vp_ring_t *ring = window->ring;

    operation->ring = ring;
    operation->ucp = window->ucp;
    operation->rkey = window->rkey;
    operation->region = window->region;
    operation->local = local;
    operation->context = context;
    operation->remote_address = remote_address;
    operation->left_bytes = n_bytes;
    operation->queued = NULL;
    if (ring->first == NULL) {
        ring->first = operation;
    } else {
        ring->last->queued = operation;
    }
    ring->last = operation;
}

static void release(void **request_p)
{
    if (*request_p != NULL) {
        ucp_request_free(*request_p);
        *request_p = NULL;
    }
}

/* No copy reads local bytes any more, and no request is kept; the memory stays for what a NIC has.
 */
static void kill_ring(vp_ring_t *ring)
{
    size_t i;

    ring->dead = true;
    ring->first = NULL;
    release(&ring->get);
    for (i = 0; i < VP_STAGE_SLOTS; i++) {
        vp_outbound_slot_t *slot = &ring->slots[i];

        if (slot->state == VP_SLOT_COPYING) {
            vp_copy_wait(&slot->copy);
        }
        release(&slot->put);
        release(&slot->flush);
        slot->state = VP_SLOT_FREE;
    }
}

bool vp_lanes_outbox_done(vp_operation_t *operation)
{
    const vp_ring_t *ring = operation->ring;

    if (ring->dead) {
        operation->failure = operation->failure == UCS_OK ? UCS_ERR_IO_ERROR : operation->failure;
        return true;
    }
    return operation->left_bytes == 0 && ring->drained >= operation->last_chunk;
}

void vp_lanes_outbox_abandon(vp_operation_t *operation)
{
    if (!vp_lanes_outbox_done(operation)) {
        kill_ring(operation->ring);
    }
    operation->ring = NULL;
}

void vp_lanes_outbox_blind(vp_path_t *path, ucp_ep_h ucp)
{
    vp_window_t *window;

    for (window = path->windows; window != NULL; window = window->next) {
        if (window->ring != NULL && window->ucp != NULL && (ucp == NULL || window->ucp == ucp) &&
            !window->ring->dead) {
            kill_ring(window->ring);
        }
    }
}

static void fail_ring(const vp_lanes_t *lanes, vp_ring_t *ring, const char *why)
{
    vp_log(lanes->log, VP_LOG_WARN, "staging to process %" PRIx64 " failed: %s", ring->peer_key,
           why);
    kill_ring(ring);
}

static void pin_ring(vp_ring_t *ring, void *context)
{
    if (ring->pin_context == NULL && vp_device_pin(context, ring->memory, ring->n_bytes)) {
        ring->pin_context = context;
    }
}

/* The next chunk of the first operation, into a slot that is free. */
static void cut_chunk(const vp_lanes_t *lanes, vp_ring_t *ring)
{
    vp_operation_t *operation = ring->first;
    size_t n_bytes =
        operation->left_bytes < ring->slot_bytes ? operation->left_bytes : ring->slot_bytes;
    uint64_t number = ++ring->started;
    vp_outbound_slot_t *slot = slot_of(ring, number);
    vp_chunk_header_t header = {operation->region, operation->remote_address, n_bytes};
    char *bytes = ring->memory + vp_ring_data_at(number, ring->slot_bytes);
    vp_error_t error;

    memcpy(ring->memory + vp_ring_header_at(number, ring->slot_bytes), &header, sizeof(header));
    release(&slot->put); /* of the number before: the receiver has it */
    slot->state = VP_SLOT_COPYING;
    slot->operation = operation;
    slot->n_bytes = n_bytes;
    if (operation->context == NULL) {
        memcpy(bytes, operation->local, n_bytes);
    } else {
        pin_ring(ring, operation->context);
        if (vp_copy_start(&slot->copy, operation->context, false, (uintptr_t)bytes,
                          (uintptr_t)operation->local, n_bytes, &error) != VP_OK) {
            fail_ring(lanes, ring, error.text);
            return;
        }
    }
    operation->local += n_bytes;
    operation->remote_address += n_bytes;
    operation->left_bytes -= n_bytes;
    operation->last_chunk = number;
    if (operation->left_bytes == 0) {
        ring->first = operation->queued;
    }
}

/* Keeps a request that runs. False: it failed at once. */
static bool keep(void **request_p, ucs_status_ptr_t request)
{
    *request_p = UCS_PTR_IS_PTR(request) ? request : NULL;
    return !UCS_PTR_IS_ERR(request);
}

/* True: complete (or never was); false: running, or failed with *failure_p set. */
static bool complete(void **request_p, ucs_status_t *failure_p)
{
    ucs_status_t ret;

    if (*request_p == NULL) {
        return true;
    }
    ret = ucp_request_check_status(*request_p);
    if (ret == UCS_INPROGRESS) {
        return false;
    }
    release(request_p);
    *failure_p = ret == UCS_OK ? *failure_p : ret;
    return ret == UCS_OK;
}

static ucp_request_param_t host_param(void)
{
    return (ucp_request_param_t){.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE,
                                 .memory_type = UCS_MEMORY_TYPE_HOST};
}

static bool put_chunk(vp_ring_t *ring, uint64_t number)
{
    vp_outbound_slot_t *slot = slot_of(ring, number);
    const vp_operation_t *operation = slot->operation;
    size_t at = vp_ring_header_at(number, ring->slot_bytes);
    ucp_request_param_t param = host_param(), none = {.op_attr_mask = 0};

    slot->state = VP_SLOT_PUTTING;
    return keep(&slot->put, ucp_put_nbx(operation->ucp, ring->memory + at,
                                        VP_STAGE_HEADER_BYTES + slot->n_bytes, ring->remote + at,
                                        operation->rkey, &param)) &&
           keep(&slot->flush, ucp_ep_flush_nbx(operation->ucp, &none));
}

/* Behind the flush of the bytes: the receiver that sees this number has them. */
static bool put_number(vp_ring_t *ring, uint64_t number)
{
    vp_outbound_slot_t *slot = slot_of(ring, number);
    _Atomic uint64_t *filled = &control_of(ring)->filled[(number - 1) % VP_STAGE_SLOTS];
    uint64_t remote = ring->remote + (uint64_t)((char *)filled - ring->memory);
    ucp_request_param_t param = host_param();

    atomic_store_explicit(filled, number, memory_order_release);
    slot->state = VP_SLOT_SENT;
    return ring->shared ||
           keep(&slot->put, ucp_put_nbx(slot->operation->ucp, (const void *)filled, sizeof(*filled),
                                        remote, slot->operation->rkey, &param));
}

/* A step of one chunk; false: it failed. */
static bool advance_chunk(vp_ring_t *ring, uint64_t number, ucs_status_t *failure_p,
                          vp_error_t *error)
{
    vp_outbound_slot_t *slot = slot_of(ring, number);
    bool done = true;

    if (slot->state == VP_SLOT_COPYING) {
        if (slot->operation->context != NULL && vp_copy_test(&slot->copy, &done, error) != VP_OK) {
            return false;
        }
        return !done || (ring->shared ? put_number(ring, number) : put_chunk(ring, number));
    }
    if (slot->state == VP_SLOT_PUTTING) {
        done = complete(&slot->put, failure_p);
        done = complete(&slot->flush, failure_p) && done;
        return *failure_p == UCS_OK && (!done || put_number(ring, number));
    }
    return slot->state != VP_SLOT_SENT || complete(&slot->put, failure_p) || *failure_p == UCS_OK;
}

/* How far the receiver is. False: it could not write a chunk, or cannot be asked. */
static bool look_at_drained(vp_ring_t *ring, ucs_status_t *failure_p)
{
    vp_ring_control_t *control = control_of(ring);
    const vp_outbound_slot_t *oldest = slot_of(ring, ring->drained + 1);
    ucp_request_param_t param = host_param();

    if (ring->shared) {
        ring->answer[0] = atomic_load_explicit(&control->drained, memory_order_acquire);
        ring->answer[1] = atomic_load(&control->failed);
    } else if (!complete(&ring->get, failure_p)) {
        return *failure_p == UCS_OK;
    }
    ring->drained = ring->answer[0];
    if (ring->answer[1] != 0 || ring->drained > ring->started) {
        return false;
    }
    return ring->shared || ring->drained == ring->started || oldest->state != VP_SLOT_SENT ||
           keep(&ring->get, ucp_get_nbx(oldest->operation->ucp, ring->answer, sizeof(ring->answer),
                                        ring->remote + offsetof(vp_ring_control_t, drained),
                                        oldest->operation->rkey, &param));
}

static unsigned advance_ring(const vp_lanes_t *lanes, vp_ring_t *ring)
{
    uint64_t before = ring->started + ring->drained, number;
    ucs_status_t failure = UCS_OK;
    vp_error_t error = {.text = ""};
    bool fine = look_at_drained(ring, &failure);

    for (number = ring->drained + 1; fine && number <= ring->started; number++) {
        fine = advance_chunk(ring, number, &failure, &error);
    }
    while (fine && ring->first != NULL && ring->started - ring->drained < VP_STAGE_SLOTS) {
        cut_chunk(lanes, ring);
    }
    if (!fine) {
        fail_ring(lanes, ring,
                  error.text[0] != '\0'  ? error.text
                  : failure != UCS_OK    ? ucs_status_string(failure)
                  : ring->answer[1] != 0 ? "the receiver could not write its buffer"
                                         : "UCX refused a put or a get");
    }
    return ring->started + ring->drained != before;
}

unsigned vp_lanes_outbox_progress(vp_lanes_t *lanes)
{
    unsigned n_events = 0;
    vp_ring_t *ring;

    for (ring = lanes->rings; ring != NULL; ring = ring->next) {
        if (!ring->dead && (ring->first != NULL || ring->drained < ring->started)) {
            n_events += advance_ring(lanes, ring);
        }
    }
    return n_events;
}

void vp_lanes_outbox_destroy(vp_lanes_t *lanes)
{
    vp_ring_t *ring, *next;
    size_t i;

    for (ring = lanes->rings; ring != NULL; ring = next) {
        next = ring->next;
        kill_ring(ring);
        for (i = 0; i < VP_STAGE_SLOTS; i++) {
            vp_copy_free(&ring->slots[i].copy);
        }
        if (ring->pin_context != NULL) {
            vp_device_unpin(ring->pin_context, ring->memory);
        }
        (void)munmap(ring->memory, ring->n_bytes);
        free(ring);
    }
    lanes->rings = NULL;
}
