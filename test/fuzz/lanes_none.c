/*
 * Lanes that move nothing: what peers say about their memory is not believed.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "coll_variopath/lanes.h"

struct vp_lanes {
    char any;
};
struct vp_region {
    char any;
};
struct vp_window {
    char any;
};
struct vp_operation {
    char any;
};

vp_status_t vp_lanes_create(const vp_lanes_config_t *config, vp_lanes_t **lanes_p,
                            vp_error_t *error)
{
    (void)config;
    *lanes_p = calloc(1, sizeof(**lanes_p));
    return *lanes_p == NULL ? vp_error_no_memory(error, "lanes") : VP_OK;
}

void vp_lanes_close(vp_lanes_t *lanes)
{
    (void)lanes;
}

void vp_lanes_destroy(vp_lanes_t *lanes)
{
    free(lanes);
}

vp_status_t vp_lanes_address(vp_lanes_t *lanes, uint32_t path_class, const void **address_p,
                             size_t *n_bytes_p, vp_error_t *error)
{
    (void)lanes;
    (void)path_class;
    (void)error;
    *address_p = "address";
    *n_bytes_p = 7;
    return VP_OK;
}

bool vp_lanes_connected(vp_lanes_t *lanes, uint64_t peer_key, uint32_t source_class,
                        uint32_t destination_class)
{
    (void)lanes;
    (void)peer_key;
    (void)source_class;
    (void)destination_class;
    return true;
}

/* Reads all that it is given, as UCX would. */
static unsigned char read_all(const void *memory, size_t n_bytes)
{
    const unsigned char *bytes = memory;
    volatile unsigned char sum = 0; /* which nobody may do without */
    size_t i;

    for (i = 0; i < n_bytes; i++) {
        sum = (unsigned char)(sum + bytes[i]);
    }
    return sum;
}

vp_status_t vp_lanes_connect(vp_lanes_t *lanes, uint64_t peer_key, uint32_t source_class,
                             uint32_t destination_class, const void *address, size_t n_bytes,
                             unsigned limit_ms, bool (*proceed)(void *), void *context,
                             vp_error_t *error)
{
    (void)lanes;
    (void)peer_key;
    (void)source_class;
    (void)destination_class;
    (void)limit_ms;
    (void)proceed;
    (void)context;
    return read_all(address, n_bytes) == 255 ? vp_error_set(error, VP_ERR_TRANSPORT, "no endpoint")
                                             : VP_OK;
}

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

vp_status_t vp_lanes_register(vp_lanes_t *lanes, void *address, size_t n_bytes, unsigned how,
                              vp_region_t **region_p, vp_error_t *error)
{
    (void)lanes;
    (void)address;
    (void)n_bytes;
    (void)how;
    *region_p = calloc(1, sizeof(**region_p));
    return *region_p == NULL ? vp_error_no_memory(error, "a region") : VP_OK;
}

bool vp_region_can_put(const vp_region_t *region)
{
    (void)region;
    return true;
}

const void *vp_region_keys(const vp_region_t *region, size_t *n_bytes_p)
{
    (void)region;
    *n_bytes_p = 12;
    return "keys of mine";
}

void vp_lanes_unregister(vp_lanes_t *lanes, vp_region_t *region)
{
    (void)lanes;
    free(region);
}

vp_status_t vp_lanes_open_window(vp_lanes_t *lanes, uint64_t peer_key, uint32_t source_class,
                                 uint32_t destination_class, const void *keys, size_t n_bytes,
                                 vp_window_t **window_p, vp_error_t *error)
{
    vp_status_t status = vp_lanes_connect(lanes, peer_key, source_class, destination_class, keys,
                                          n_bytes, 0, NULL, NULL, error);

    if (status != VP_OK) {
        return status;
    }
    *window_p = calloc(1, sizeof(**window_p));
    return *window_p == NULL ? vp_error_no_memory(error, "a window") : VP_OK;
}

vp_status_t vp_lanes_open_staged(vp_lanes_t *lanes, uint64_t peer_key, uint32_t source_class,
                                 uint32_t destination_class, const void *keys, size_t n_bytes,
                                 vp_window_t **window_p, vp_error_t *error)
{
    return vp_lanes_open_window(lanes, peer_key, source_class, destination_class, keys, n_bytes,
                                window_p, error);
}

bool vp_keys_offer_staging(const void *keys, size_t n_bytes)
{
    return n_bytes > 0 && *(const unsigned char *)keys % 2 == 1;
}

bool vp_keys_offer_class(const void *keys, size_t n_bytes, uint32_t path_class)
{
    (void)path_class;
    return n_bytes > 0 && *(const unsigned char *)keys % 3 != 1;
}

bool vp_window_to_device(const vp_window_t *window)
{
    (void)window;
    return false;
}

bool vp_lanes_window_usable(vp_lanes_t *lanes, const vp_window_t *window)
{
    (void)lanes;
    (void)window;
    return true;
}

void vp_lanes_close_window(vp_lanes_t *lanes, vp_window_t *window)
{
    (void)lanes;
    free(window);
}

/* Reads what it is to send. */
vp_status_t vp_lanes_put(vp_lanes_t *lanes, vp_window_t *window, const void *local, bool device,
                         uint64_t remote_address, size_t n_bytes, vp_operation_t **operation_p,
                         vp_error_t *error)
{
    (void)window;
    (void)device;
    (void)remote_address;
    (void)lanes;
    (void)read_all(local, n_bytes);
    *operation_p = calloc(1, sizeof(**operation_p));
    return *operation_p == NULL ? vp_error_no_memory(error, "an operation") : VP_OK;
}

vp_status_t vp_lanes_test(vp_lanes_t *lanes, vp_operation_t **operation_p, bool *done_p,
                          vp_error_t *error)
{
    (void)lanes;
    (void)error;
    free(*operation_p);
    *operation_p = NULL;
    *done_p = true;
    return VP_OK;
}

void vp_lanes_cancel(vp_lanes_t *lanes, vp_operation_t *operation)
{
    (void)lanes;
    free(operation);
}

void vp_lanes_retire(vp_lanes_t *lanes)
{
    (void)lanes;
}

unsigned vp_lanes_progress(vp_lanes_t *lanes)
{
    (void)lanes;
    return 0;
}
