/* SPDX-License-Identifier: BSD-3-Clause */
#include "lanes_fake.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "coll_variopath/lanes.h"
#include "ranks.h"

enum { MAX_ENDPOINTS = 1024, MAX_FAKE_CLASSES = 8, POLLS = 3 };

typedef struct fake_endpoint {
    uint64_t peer_key;
    uint32_t source_class;
    uint32_t destination_class;
} fake_endpoint_t;

struct vp_lanes {
    bool open[MAX_FAKE_CLASSES];
    uint32_t n_classes;
    fake_endpoint_t endpoints[MAX_ENDPOINTS];
    unsigned n_endpoints;
};

struct vp_region {
    vp_writer_t keys;
};

struct vp_window {
    uint64_t address;
    uint64_t n_bytes;
};

struct vp_operation {
    const void *local;
    uint64_t remote_address;
    size_t n_bytes;
    unsigned number;
    unsigned n_polls;
};

_Thread_local lanes_fake_state_t lanes_fake;

static vp_status_t refuse(vp_error_t *error, const char *what)
{
    return vp_error_set(error, VP_ERR_TRANSPORT, "the test refuses %s", what);
}

vp_status_t vp_lanes_create(const vp_lanes_config_t *config, vp_lanes_t **lanes_p,
                            vp_error_t *error)
{
    vp_lanes_t *lanes = vp_array_new(1, sizeof(*lanes));
    uint32_t i;

    RANKS_CHECK(lanes != NULL && config->n_classes <= MAX_FAKE_CLASSES, "too many classes");
    (void)error;
    lanes->n_classes = config->n_classes;
    for (i = 0; i < config->n_classes; i++) {
        lanes->open[i] = config->wanted[i];
    }
    *lanes_p = lanes;
    return VP_OK;
}

void vp_lanes_close(vp_lanes_t *lanes)
{
    lanes->n_endpoints = 0;
}

void vp_lanes_destroy(vp_lanes_t *lanes)
{
    if (lanes == NULL) {
        return;
    }
    RANKS_EQUAL(lanes_fake.open_windows, 0);
    RANKS_EQUAL(lanes_fake.open_regions, 0);
    RANKS_EQUAL(lanes_fake.running, 0);
    free(lanes);
}

const char *vp_lanes_compiled_version(void)
{
    return "0";
}

const char *vp_lanes_runtime_version(void)
{
    return "0";
}

vp_status_t vp_lanes_address(vp_lanes_t *lanes, uint32_t path_class, const void **address_p,
                             size_t *n_bytes_p, vp_error_t *error)
{
    static const unsigned char address[5] = {1, 2, 3, 4, 5};

    if (path_class >= lanes->n_classes || !lanes->open[path_class]) {
        return vp_error_set(error, VP_ERR_USAGE, "class %u is not open", path_class);
    }
    *address_p = address;
    *n_bytes_p = sizeof(address);
    return VP_OK;
}

bool vp_lanes_connected(vp_lanes_t *lanes, uint64_t peer_key, uint32_t source_class,
                        uint32_t destination_class)
{
    unsigned i;

    for (i = 0; i < lanes->n_endpoints; i++) {
        if (lanes->endpoints[i].peer_key == peer_key &&
            lanes->endpoints[i].source_class == source_class &&
            lanes->endpoints[i].destination_class == destination_class) {
            return true;
        }
    }
    return false;
}

vp_status_t vp_lanes_connect(vp_lanes_t *lanes, uint64_t peer_key, uint32_t source_class,
                             uint32_t destination_class, const void *address, size_t n_bytes,
                             unsigned limit_ms, bool (*proceed)(void *), void *context,
                             vp_error_t *error)
{
    fake_endpoint_t endpoint = {peer_key, source_class, destination_class};

    lanes_fake.connect_limit_ms = limit_ms;
    if (proceed != NULL && !proceed(context)) {
        return refuse(error, "to connect");
    }
    RANKS_CHECK(n_bytes == 5 && memcmp(address, "\1\2\3\4\5", 5) == 0, "not the peer's address");
    if (++lanes_fake.n_connects == lanes_fake.knobs.refuse_connect) {
        return refuse(error, "to connect");
    }
    if (!vp_lanes_connected(lanes, peer_key, source_class, destination_class)) {
        RANKS_CHECK(lanes->n_endpoints < MAX_ENDPOINTS, "too many endpoints");
        lanes->endpoints[lanes->n_endpoints++] = endpoint;
    }
    return VP_OK;
}

/* No device memory here, and nothing is staged. */
bool vp_lanes_carry_device(vp_lanes_t *lanes)
{
    (void)lanes;
    return false;
}

bool vp_lanes_put_device(vp_lanes_t *lanes)
{
    (void)lanes;
    return false;
}

bool vp_lanes_class_puts_device(vp_lanes_t *lanes, uint32_t path_class)
{
    (void)lanes;
    (void)path_class;
    return false;
}

bool vp_region_can_put(const vp_region_t *region)
{
    (void)region;
    return false;
}

bool vp_keys_offer_staging(const void *keys, size_t n_bytes)
{
    (void)keys;
    (void)n_bytes;
    return false;
}

bool vp_keys_offer_class(const void *keys, size_t n_bytes, uint32_t path_class)
{
    (void)keys;
    (void)path_class;
    return n_bytes > 0;
}

vp_status_t vp_lanes_open_staged(vp_lanes_t *lanes, uint64_t peer_key, uint32_t source_class,
                                 uint32_t destination_class, const void *keys, size_t n_bytes,
                                 vp_window_t **window_p, vp_error_t *error)
{
    (void)lanes;
    (void)peer_key;
    (void)source_class;
    (void)destination_class;
    (void)keys;
    (void)n_bytes;
    (void)window_p;
    return refuse(error, "to stage");
}

bool vp_window_to_device(const vp_window_t *window)
{
    (void)window;
    return false;
}

vp_status_t vp_lanes_register(vp_lanes_t *lanes, void *address, size_t n_bytes, unsigned how,
                              vp_region_t **region_p, vp_error_t *error)
{
    vp_region_t *region;
    uint32_t i;

    (void)how;
    if (++lanes_fake.n_regions == lanes_fake.knobs.refuse_region) {
        return refuse(error, "to register");
    }
    region = vp_array_new(1, sizeof(*region));
    if (region == NULL) {
        return vp_error_no_memory(error, "a region");
    }
    for (i = 0; i < lanes->n_classes; i++) {
        if (lanes->open[i]) {
            vp_write_u32(&region->keys, i);
            vp_write_u32(&region->keys, 20);
            vp_write_u64(&region->keys, (uintptr_t)address);
            vp_write_u64(&region->keys, n_bytes);
            vp_write_u32(&region->keys, lanes_fake.knobs.generation);
        }
    }
    if (region->keys.failed) {
        vp_writer_clear(&region->keys);
        free(region);
        return vp_error_no_memory(error, "the keys of a region");
    }
    lanes_fake.open_regions++;
    *region_p = region;
    return VP_OK;
}

const void *vp_region_keys(const vp_region_t *region, size_t *n_bytes_p)
{
    *n_bytes_p = region->keys.n_bytes;
    return region->keys.data;
}

void vp_lanes_unregister(vp_lanes_t *lanes, vp_region_t *region)
{
    (void)lanes;
    if (region != NULL) {
        lanes_fake.open_regions--;
        vp_writer_clear(&region->keys);
        free(region);
    }
}

vp_status_t vp_lanes_open_window(vp_lanes_t *lanes, uint64_t peer_key, uint32_t source_class,
                                 uint32_t destination_class, const void *keys, size_t n_bytes,
                                 vp_window_t **window_p, vp_error_t *error)
{
    vp_window_t *window = vp_array_new(1, sizeof(*window));
    vp_reader_t reader;
    bool found = false;

    if (window == NULL) {
        return vp_error_no_memory(error, "a window");
    }
    RANKS_CHECK(vp_lanes_connected(lanes, peer_key, source_class, destination_class),
                "a window before its endpoint");
    vp_reader_init(&reader, keys, n_bytes);
    while (vp_reader_left(&reader) > 0 && !found) {
        found = vp_read_u32(&reader) == destination_class;
        (void)vp_read_u32(&reader);
        window->address = vp_read_u64(&reader);
        window->n_bytes = vp_read_u64(&reader);
        (void)vp_read_u32(&reader);
    }
    if (++lanes_fake.n_windows == lanes_fake.knobs.refuse_window || !found) {
        free(window);
        return refuse(error, "to open a window");
    }
    lanes_fake.open_windows++;
    *window_p = window;
    return VP_OK;
}

bool vp_lanes_window_usable(vp_lanes_t *lanes, const vp_window_t *window)
{
    (void)lanes;
    (void)window;
    return !lanes_fake.knobs.lose_windows;
}

void vp_lanes_close_window(vp_lanes_t *lanes, vp_window_t *window)
{
    (void)lanes;
    if (window != NULL) {
        lanes_fake.open_windows--;
        free(window);
    }
}

vp_status_t vp_lanes_put(vp_lanes_t *lanes, vp_window_t *window, const void *local, bool device,
                         uint64_t remote_address, size_t n_bytes, vp_operation_t **operation_p,
                         vp_error_t *error)
{
    vp_operation_t *operation;

    (void)lanes;
    (void)device;
    RANKS_CHECK(remote_address >= window->address && n_bytes <= window->n_bytes &&
                    remote_address - window->address <= window->n_bytes - n_bytes,
                "a put of %zu bytes leaves its window", n_bytes);
    /* Two lanes under way, as their ends overlap, in eight pieces each. */
    RANKS_CHECK(lanes_fake.running < 16, "%d puts are under way", lanes_fake.running);
    lanes_fake.longest_put = n_bytes > lanes_fake.longest_put ? n_bytes : lanes_fake.longest_put;
    if (++lanes_fake.n_puts == lanes_fake.knobs.refuse_put) {
        return refuse(error, "a put");
    }
    operation = vp_array_new(1, sizeof(*operation));
    if (operation == NULL) {
        return vp_error_no_memory(error, "an operation");
    }
    operation->local = local;
    operation->remote_address = remote_address;
    operation->n_bytes = n_bytes;
    operation->number = lanes_fake.n_puts;
    lanes_fake.running++;
    *operation_p = operation;
    return VP_OK;
}

void vp_lanes_retire(vp_lanes_t *lanes)
{
    (void)lanes;
    lanes_fake.n_retired++;
}

static void end(vp_operation_t *operation)
{
    lanes_fake.running--;
    free(operation);
}

vp_status_t vp_lanes_test(vp_lanes_t *lanes, vp_operation_t **operation_p, bool *done_p,
                          vp_error_t *error)
{
    vp_operation_t *operation = *operation_p;

    (void)lanes;
    *done_p = false;
    if (operation->n_polls++ < POLLS || operation->number == lanes_fake.knobs.stall_put) {
        return VP_OK;
    }
    *operation_p = NULL;
    if (operation->number == lanes_fake.knobs.break_put) {
        end(operation);
        return refuse(error, "to complete a put");
    }
    if (!lanes_fake.knobs.dry) {
        memcpy((void *)(uintptr_t)operation->remote_address, operation->local, operation->n_bytes);
    }
    end(operation);
    *done_p = true;
    return VP_OK;
}

void vp_lanes_cancel(vp_lanes_t *lanes, vp_operation_t *operation)
{
    (void)lanes;
    lanes_fake.n_cancelled++;
    end(operation);
}

unsigned vp_lanes_progress(vp_lanes_t *lanes)
{
    (void)lanes;
    return 0;
}
