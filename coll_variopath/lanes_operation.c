/*
 * Operations: a put and the flush that makes it visible at the peer.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "coll_variopath/lanes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "coll_variopath/lanes_stage.h"

vp_operation_t *vp_lanes_operation_start(vp_lanes_t *lanes, const vp_endpoint_t *endpoint,
                                         vp_error_t *error)
{
    vp_operation_t *operation = lanes->free_operations;
    vp_path_t *path = &lanes->paths[endpoint->source_class];

    if (operation != NULL) {
        lanes->free_operations = operation->next;
    } else {
        operation = vp_array_new(1, sizeof(*operation));
        if (operation == NULL) {
            (void)vp_error_no_memory(error, "an operation");
            return NULL;
        }
    }
    operation->peer_key = endpoint->peer_key;
    operation->source_class = endpoint->source_class;
    operation->destination_class = endpoint->destination_class;
    operation->put = NULL;
    operation->flush = NULL;
    operation->failure = UCS_OK;
    operation->ring = NULL;
    operation->next = path->operations;
    path->operations = operation;
    return operation;
}

/* Keeps a request that is running; one that failed at once leaves its status. */
static void *keep_request(vp_operation_t *operation, ucs_status_ptr_t request)
{
    if (UCS_PTR_IS_ERR(request)) {
        operation->failure = UCS_PTR_STATUS(request);
        return NULL;
    }
    return request;
}

void vp_lanes_operation_flush(vp_operation_t *operation, ucp_ep_h ucp)
{
    ucp_request_param_t param = {.op_attr_mask = 0};

    operation->flush = keep_request(operation, ucp_ep_flush_nbx(ucp, &param));
}

static void check_request(vp_operation_t *operation, void **request_p)
{
    ucs_status_t ret;

    if (*request_p == NULL) {
        return;
    }
    ret = ucp_request_check_status(*request_p);
    if (ret == UCS_INPROGRESS) {
        return;
    }
    if (ret != UCS_OK && operation->failure == UCS_OK) {
        operation->failure = ret;
    }
    ucp_request_free(*request_p);
    *request_p = NULL;
}

bool vp_lanes_operation_done(vp_operation_t *operation)
{
    if (operation->ring != NULL) {
        return vp_lanes_outbox_done(operation);
    }
    check_request(operation, &operation->put);
    check_request(operation, &operation->flush);
    return operation->put == NULL && operation->flush == NULL;
}

/* A request that is freed while it runs goes by itself when it ends. */
static void release_requests(vp_operation_t *operation)
{
    if (operation->put != NULL) {
        ucp_request_free(operation->put);
    }
    if (operation->flush != NULL) {
        ucp_request_free(operation->flush);
    }
    operation->put = NULL;
    operation->flush = NULL;
}

void vp_lanes_operation_end(vp_lanes_t *lanes, vp_operation_t *operation)
{
    vp_operation_t **link_p = &lanes->paths[operation->source_class].operations;

    release_requests(operation);
    if (operation->ring != NULL) {
        vp_lanes_outbox_abandon(operation);
    }
    while (*link_p != operation) {
        link_p = &(*link_p)->next;
    }
    *link_p = operation->next;
    operation->next = lanes->free_operations;
    lanes->free_operations = operation;
}

void vp_lanes_operation_fail_all(vp_path_t *path)
{
    vp_operation_t *operation;

    for (operation = path->operations; operation != NULL; operation = operation->next) {
        release_requests(operation);
        if (operation->ring != NULL) {
            vp_lanes_outbox_abandon(operation);
        }
        operation->failure = UCS_ERR_CANCELED;
    }
}

static vp_status_t operation_error(const vp_lanes_t *lanes, const vp_operation_t *operation,
                                   vp_error_t *error)
{
    return vp_error_set(error, VP_ERR_TRANSPORT,
                        "a put from path class \"%s\" to process %" PRIx64
                        " (class %u) failed: %s; its bytes are lost, see the messages of UCX",
                        lanes->paths[operation->source_class].name, operation->peer_key,
                        operation->destination_class, ucs_status_string(operation->failure));
}

/* The registration of device memory, if there is one: UCX need not ask the driver what it is. */
static ucp_mem_h find_handle(const vp_lanes_t *lanes, uint32_t path_class, const void *local,
                             size_t n_bytes)
{
    uint64_t begin = (uintptr_t)local;
    const vp_region_t *region;

    for (region = lanes->regions; region != NULL; region = region->next) {
        if (region->context != NULL && region->handles[path_class] != NULL &&
            begin >= region->begin && n_bytes <= region->n_bytes &&
            begin - region->begin <= region->n_bytes - n_bytes) {
            return region->handles[path_class];
        }
    }
    return NULL;
}

static vp_status_t put(vp_lanes_t *lanes, const vp_window_t *window, const void *local, bool device,
                       uint64_t remote_address, size_t n_bytes, vp_operation_t **operation_p,
                       vp_error_t *error)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    const vp_endpoint_t endpoint = {.peer_key = window->peer_key,
                                    .source_class = window->source_class,
                                    .destination_class = window->destination_class};
    vp_operation_t *operation = vp_lanes_operation_start(lanes, &endpoint, error);
    vp_status_t status;

    if (operation == NULL) {
        return VP_ERR_NO_MEMORY;
    }
    if (window->ring != NULL) {
        vp_lanes_outbox_put(operation, window, local, device ? vp_device_context() : NULL,
                            remote_address, n_bytes);
        *operation_p = operation;
        return VP_OK;
    }
    param.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    param.memory_type = device ? UCS_MEMORY_TYPE_CUDA : UCS_MEMORY_TYPE_HOST;
    if (device) {
        param.memh = find_handle(lanes, window->source_class, local, n_bytes);
        param.op_attr_mask |= param.memh == NULL ? 0 : UCP_OP_ATTR_FIELD_MEMH;
    }
    operation->put = keep_request(
        operation, ucp_put_nbx(window->ucp, local, n_bytes, remote_address, window->rkey, &param));
    if (operation->failure == UCS_OK) {
        vp_lanes_operation_flush(operation, window->ucp);
    }
    if (operation->failure != UCS_OK && operation->put == NULL) {
        status = operation_error(lanes, operation, error);
        vp_lanes_operation_end(lanes, operation);
        return status;
    }
    *operation_p = operation;
    return VP_OK;
}

vp_status_t vp_lanes_put(vp_lanes_t *lanes, vp_window_t *window, const void *local, bool device,
                         uint64_t remote_address, size_t n_bytes, vp_operation_t **operation_p,
                         vp_error_t *error)
{
    vp_status_t status;

    vp_lanes_lock(lanes);
    if (!vp_lanes_window_open(window)) {
        status = vp_error_set(error, VP_ERR_TRANSPORT,
                              "the endpoint to process %" PRIx64
                              " was closed after a failure; nothing more is put over it",
                              window->peer_key);
    } else {
        status = put(lanes, window, local, device, remote_address, n_bytes, operation_p, error);
    }
    vp_lanes_unlock(lanes);
    return status;
}

vp_status_t vp_lanes_test(vp_lanes_t *lanes, vp_operation_t **operation_p, bool *done_p,
                          vp_error_t *error)
{
    vp_operation_t *operation = *operation_p;
    vp_status_t status = VP_OK;
    bool done;

    vp_lanes_lock(lanes);
    done = vp_lanes_operation_done(operation);
    if (done) {
        if (operation->failure != UCS_OK) {
            status = operation_error(lanes, operation, error);
        }
        vp_lanes_operation_end(lanes, operation);
        *operation_p = NULL;
    }
    vp_lanes_unlock(lanes);
    *done_p = done;
    return status;
}

/*
 * UCX closes an endpoint by force only in an error handling mode that lanes do
 * not use. A put that is still reading its bytes is therefore stopped by
 * retiring its whole worker; one that only waits for the peer leaves its
 * endpoint behind.
 */
void vp_lanes_cancel(vp_lanes_t *lanes, vp_operation_t *operation)
{
    vp_lanes_lock(lanes);
    if (!vp_lanes_operation_done(operation)) {
        if (operation->ring != NULL) {
            vp_lanes_outbox_abandon(operation);
        } else if (operation->put != NULL) {
            vp_lanes_path_replace(lanes, operation->source_class);
        } else {
            vp_lanes_endpoint_drop(lanes, vp_lanes_endpoint_find(lanes, operation->peer_key,
                                                                 operation->source_class,
                                                                 operation->destination_class));
        }
    }
    vp_lanes_operation_end(lanes, operation);
    vp_lanes_unlock(lanes);
}
