/*
 * Registered memory: own regions with their packed keys, and windows onto the
 * regions of peers.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "coll_variopath/lanes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/hash.h"
#include "coll_variopath/lanes_stage.h"

/* Appends one class to the keys: index, length, packed key. */
static ucs_status_t add_key(const vp_path_t *path, uint32_t path_class, ucp_mem_h handle,
                            vp_writer_t *keys)
{
    void *packed;
    size_t n_bytes;
    ucs_status_t ret;

    ret = ucp_rkey_pack(path->context, handle, &packed, &n_bytes);
    if (ret != UCS_OK) {
        return ret;
    }
    vp_write_u32(keys, path_class);
    vp_write_u32(keys, (uint32_t)n_bytes);
    vp_write_bytes(keys, packed, n_bytes);
    ucp_rkey_buffer_release(packed);
    return keys->failed ? UCS_ERR_NO_MEMORY : UCS_OK;
}

static vp_status_t register_path(const vp_path_t *path, uint32_t path_class, void *address,
                                 size_t n_bytes, bool device, ucp_mem_h *handle, vp_writer_t *keys,
                                 vp_error_t *error)
{
    ucp_mem_map_params_t params = {0};
    ucs_status_t ret;

    /* The kind of memory is told, so that UCX need not ask the driver. */
    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                        UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE;
    params.address = address;
    params.length = n_bytes;
    params.memory_type = device ? UCS_MEMORY_TYPE_CUDA : UCS_MEMORY_TYPE_HOST;
    ret = ucp_mem_map(path->context, &params, handle);
    if (ret == UCS_OK) {
        ret = add_key(path, path_class, *handle, keys);
    } else {
        *handle = NULL;
    }
    if (ret == UCS_OK) {
        return VP_OK;
    }
    return vp_error_set(error, VP_ERR_TRANSPORT,
                        "path class \"%s\" cannot register %zu bytes at %p: %s; this buffer is "
                        "not carried, use memory that its transports (\"%s\") can register",
                        path->name, n_bytes, address, ucs_status_string(ret), path->tls);
}

static void unregister_all(vp_lanes_t *lanes, vp_region_t *region)
{
    uint32_t i;

    for (i = 0; i < lanes->n_paths; i++) {
        if (region->handles[i] != NULL) {
            (void)ucp_mem_unmap(lanes->paths[i].context, region->handles[i]);
            region->handles[i] = NULL;
        }
    }
}

static vp_status_t register_paths(vp_lanes_t *lanes, void *address, size_t n_bytes, bool device,
                                  vp_region_t *region, vp_writer_t *keys, vp_error_t *error)
{
    vp_status_t status = VP_OK;
    uint32_t i;

    for (i = 0; i < lanes->n_paths && status == VP_OK; i++) {
        const vp_path_t *path = &lanes->paths[i];

        if (path->open && (path->puts_device || !device)) {
            status =
                register_path(path, i, address, n_bytes, device, &region->handles[i], keys, error);
        }
    }
    return status;
}

static vp_status_t register_all(vp_lanes_t *lanes, void *address, size_t n_bytes, unsigned how,
                                vp_region_t *region, vp_error_t *error)
{
    vp_writer_t keys = VP_WRITER_INIT;
    bool device = (how & VP_REGION_DEVICE) != 0, staged = (how & VP_REGION_STAGED) != 0;
    vp_status_t status = VP_OK;

    if ((how & VP_REGION_NO_PUT) == 0) {
        status = register_paths(lanes, address, n_bytes, device, region, &keys, error);
    }

    if (status == VP_ERR_TRANSPORT && device && staged) {
        vp_log(lanes->log, VP_LOG_CALL, "%s", error->text);
        vp_writer_clear(&keys);
        unregister_all(lanes, region);
        status = VP_OK;
    }
    if (status == VP_OK && staged) {
        status = vp_lanes_inbox_add(lanes, region, &keys, error);
    }
    if (status != VP_OK) {
        vp_writer_clear(&keys);
        unregister_all(lanes, region);
        return status;
    }
    region->keys = keys.data;
    region->keys_bytes = keys.n_bytes;
    return VP_OK;
}

/*
 * Host memory is registered for each call; a number of its own each time would have
 * the keys exchanged each time. Numbers of device memory count from 1.
 */
static uint64_t host_id(const void *address, size_t n_bytes)
{
    const uint64_t range[2] = {(uintptr_t)address, n_bytes};

    return vp_hash64(range, sizeof(range)) | UINT64_C(1) << 63;
}

vp_status_t vp_lanes_register(vp_lanes_t *lanes, void *address, size_t n_bytes, unsigned how,
                              vp_region_t **region_p, vp_error_t *error)
{
    vp_region_t *region = vp_array_new(1, sizeof(*region));
    vp_status_t status;

    if (region == NULL) {
        return vp_error_no_memory(error, "a registration");
    }
    region->handles = vp_array_new(lanes->n_paths, sizeof(*region->handles));
    if (region->handles == NULL) {
        free(region);
        return vp_error_no_memory(error, "a registration");
    }
    region->begin = (uintptr_t)address;
    region->n_bytes = n_bytes;
    region->context = (how & VP_REGION_DEVICE) != 0 ? vp_device_context() : NULL;
    region->n_handles = lanes->n_paths;
    vp_lanes_lock(lanes);
    region->id = region->context != NULL ? ++lanes->last_region : host_id(address, n_bytes);
    status = register_all(lanes, address, n_bytes, how, region, error);
    if (status == VP_OK) {
        region->next = lanes->regions;
        lanes->regions = region;
    }
    vp_lanes_unlock(lanes);
    if (status != VP_OK) {
        free(region->handles);
        free(region);
        return status;
    }
    *region_p = region;
    return VP_OK;
}

const void *vp_region_keys(const vp_region_t *region, size_t *n_bytes_p)
{
    *n_bytes_p = region->keys_bytes;
    return region->keys;
}

bool vp_region_can_put(const vp_region_t *region)
{
    uint32_t i = 0;

    while (i < region->n_handles && region->handles[i] == NULL) {
        i++;
    }
    return i < region->n_handles;
}

void vp_lanes_unregister(vp_lanes_t *lanes, vp_region_t *region)
{
    vp_region_t **link_p;

    if (region == NULL) {
        return;
    }
    vp_lanes_lock(lanes);
    for (link_p = &lanes->regions; *link_p != region;) {
        link_p = &(*link_p)->next;
    }
    *link_p = region->next;
    vp_lanes_inbox_forget(lanes, region);
    unregister_all(lanes, region);
    vp_lanes_unlock(lanes);
    free(region->handles);
    free(region->keys);
    free(region);
}

vp_status_t vp_lanes_find_key(const void *keys, size_t n_bytes, uint32_t path_class,
                              const unsigned char **key_p, size_t *key_bytes_p, vp_error_t *error)
{
    const unsigned char *key = NULL;
    size_t key_bytes = 0;
    vp_reader_t reader;
    uint32_t entry_class = 0, entry_bytes, n_entries = 0;

    vp_reader_init(&reader, keys, n_bytes);
    while (vp_reader_left(&reader) > 0) {
        uint32_t previous = entry_class;

        entry_class = vp_read_u32(&reader);
        entry_bytes = vp_read_u32(&reader);
        if (reader.failed || entry_bytes == 0 || entry_bytes > vp_reader_left(&reader) ||
            (n_entries > 0 && entry_class <= previous)) {
            return vp_error_set(error, VP_ERR_BAD_INPUT,
                                "remote keys of %zu bytes do not parse at entry %u; the peer runs "
                                "another version of this component",
                                n_bytes, n_entries);
        }
        if (entry_class == path_class) {
            key = reader.data + reader.position;
            key_bytes = entry_bytes;
        }
        reader.position += entry_bytes;
        n_entries++;
    }
    *key_p = key;
    *key_bytes_p = key_bytes;
    return VP_OK;
}

bool vp_keys_offer_class(const void *keys, size_t n_bytes, uint32_t path_class)
{
    const unsigned char *key;
    size_t key_bytes;

    return vp_lanes_find_key(keys, n_bytes, path_class, &key, &key_bytes, NULL) == VP_OK &&
           key != NULL;
}

bool vp_keys_offer_staging(const void *keys, size_t n_bytes)
{
    return vp_keys_offer_class(keys, n_bytes, VP_STAGE_CLASS);
}

vp_status_t vp_lanes_window_error(const vp_lanes_t *lanes, const vp_window_t *window,
                                  const char *why, vp_error_t *error)
{
    return vp_error_set(
        error, VP_ERR_TRANSPORT,
        "path class \"%s\" cannot write into the buffer of process %" PRIx64
        " through its class %u: %s; this buffer is not carried",
        window->source_class < lanes->n_paths ? lanes->paths[window->source_class].name : "?",
        window->peer_key, window->destination_class, why);
}

static vp_status_t unpack_key(vp_lanes_t *lanes, const unsigned char *key, vp_window_t *window,
                              vp_error_t *error)
{
    const vp_endpoint_t *endpoint = vp_lanes_endpoint_find(
        lanes, window->peer_key, window->source_class, window->destination_class);
    vp_path_t *path = vp_lanes_path(lanes, window->source_class);
    ucs_status_t ret;

    if (endpoint == NULL || path == NULL) {
        return vp_lanes_window_error(lanes, window, "there is no endpoint", error);
    }
    if (key == NULL) {
        return vp_lanes_window_error(lanes, window, "the peer did not register with that class",
                                     error);
    }
    ret = ucp_ep_rkey_unpack(endpoint->ucp, key, &window->rkey);
    if (ret != UCS_OK) {
        return vp_lanes_window_error(lanes, window, ucs_status_string(ret), error);
    }
    window->ucp = endpoint->ucp;
    return VP_OK;
}

/* path_class: whose entry of the keys opens the window, the destination's or VP_STAGE_CLASS. */
static vp_status_t open_window(vp_lanes_t *lanes, const vp_window_t *wanted, uint32_t path_class,
                               const void *keys, size_t n_bytes, vp_window_t **window_p,
                               vp_error_t *error)
{
    const unsigned char *key = NULL;
    size_t key_bytes = 0;
    vp_window_t *window;
    vp_status_t status;

    status = vp_lanes_find_key(keys, n_bytes, path_class, &key, &key_bytes, error);
    if (status != VP_OK) {
        return status;
    }
    window = vp_array_new(1, sizeof(*window));
    if (window == NULL) {
        return vp_error_no_memory(error, "a window");
    }
    *window = *wanted;
    vp_lanes_lock(lanes);
    if (path_class != VP_STAGE_CLASS) {
        status = unpack_key(lanes, key, window, error);
    } else {
        status = key == NULL
                     ? vp_lanes_window_error(lanes, window, "the peer stages nothing", error)
                     : vp_lanes_outbox_open(lanes, key, key_bytes, window, error);
    }
    if (status == VP_OK) {
        window->next = lanes->paths[window->source_class].windows;
        lanes->paths[window->source_class].windows = window;
    }
    vp_lanes_unlock(lanes);
    if (status != VP_OK) {
        free(window);
        return status;
    }
    *window_p = window;
    return VP_OK;
}

vp_status_t vp_lanes_open_window(vp_lanes_t *lanes, uint64_t peer_key, uint32_t source_class,
                                 uint32_t destination_class, const void *keys, size_t n_bytes,
                                 vp_window_t **window_p, vp_error_t *error)
{
    const vp_window_t wanted = {
        .peer_key = peer_key, .source_class = source_class, .destination_class = destination_class};

    return open_window(lanes, &wanted, destination_class, keys, n_bytes, window_p, error);
}

vp_status_t vp_lanes_open_staged(vp_lanes_t *lanes, uint64_t peer_key, uint32_t source_class,
                                 uint32_t destination_class, const void *keys, size_t n_bytes,
                                 vp_window_t **window_p, vp_error_t *error)
{
    const vp_window_t wanted = {
        .peer_key = peer_key, .source_class = source_class, .destination_class = destination_class};

    return open_window(lanes, &wanted, VP_STAGE_CLASS, keys, n_bytes, window_p, error);
}

bool vp_window_to_device(const vp_window_t *window)
{
    return window->to_device;
}

static void make_blind(vp_window_t *window)
{
    if (window->rkey != NULL) {
        ucp_rkey_destroy(window->rkey);
    }
    window->rkey = NULL;
    window->ucp = NULL;
}

void vp_lanes_window_blind(vp_path_t *path, ucp_ep_h ucp)
{
    vp_window_t *window;

    vp_lanes_outbox_blind(path, ucp);
    for (window = path->windows; window != NULL; window = window->next) {
        if (ucp == NULL || window->ucp == ucp) {
            make_blind(window);
        }
    }
}

bool vp_lanes_window_open(const vp_window_t *window)
{
    return window->ring != NULL ? !window->ring->dead : window->ucp != NULL;
}

bool vp_lanes_window_usable(vp_lanes_t *lanes, const vp_window_t *window)
{
    bool usable;

    vp_lanes_lock(lanes);
    usable = vp_lanes_window_open(window);
    vp_lanes_unlock(lanes);
    return usable;
}

void vp_lanes_close_window(vp_lanes_t *lanes, vp_window_t *window)
{
    vp_window_t **link_p;

    if (window == NULL) {
        return;
    }
    vp_lanes_lock(lanes);
    link_p = &lanes->paths[window->source_class].windows;
    while (*link_p != window) {
        link_p = &(*link_p)->next;
    }
    *link_p = window->next;
    make_blind(window);
    vp_lanes_unlock(lanes);
    free(window);
}
