/*
 * Endpoints: who is connected to whom, over which pair of classes.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "coll_variopath/lanes.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "coll_variopath/clock.h"
#include "coll_variopath/lanes_private.h"

/* A peer that takes part answers in milliseconds; one that is late is told of. */
#define CONNECT_TOLD_NS (UINT64_C(30) * VP_NS_PER_S)
#define NS_PER_MS (VP_NS_PER_S / 1000)
/* Closing gives up after this long without any event. */
#define CLOSE_IDLE_NS (UINT64_C(2) * VP_NS_PER_S)

static int compare_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_key(const vp_endpoint_t *endpoint, uint64_t peer_key, uint32_t source_class,
                       uint32_t destination_class)
{
    int order = compare_u64(endpoint->peer_key, peer_key);

    if (order == 0) {
        order = compare_u64(endpoint->source_class, source_class);
    }
    return order != 0 ? order : compare_u64(endpoint->destination_class, destination_class);
}

/* Index of the endpoint, or of the place where it belongs. */
static size_t lower_bound(const vp_lanes_t *lanes, uint64_t peer_key, uint32_t source_class,
                          uint32_t destination_class)
{
    size_t low = 0, high = lanes->n_endpoints;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_key(lanes->endpoints[middle], peer_key, source_class, destination_class) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

vp_endpoint_t *vp_lanes_endpoint_find(vp_lanes_t *lanes, uint64_t peer_key, uint32_t source_class,
                                      uint32_t destination_class)
{
    size_t i = lower_bound(lanes, peer_key, source_class, destination_class);

    if (i == lanes->n_endpoints ||
        compare_key(lanes->endpoints[i], peer_key, source_class, destination_class) != 0) {
        return NULL;
    }
    return lanes->endpoints[i];
}

static void endpoint_free(vp_endpoint_t *endpoint)
{
    free(endpoint->address);
    free(endpoint);
}

void vp_lanes_endpoint_drop(vp_lanes_t *lanes, vp_endpoint_t *endpoint)
{
    size_t i;

    if (endpoint == NULL) {
        return;
    }
    vp_lanes_window_blind(&lanes->paths[endpoint->source_class], endpoint->ucp);
    i = lower_bound(lanes, endpoint->peer_key, endpoint->source_class, endpoint->destination_class);
    lanes->n_endpoints--;
    memmove(&lanes->endpoints[i], &lanes->endpoints[i + 1],
            (lanes->n_endpoints - i) * sizeof(lanes->endpoints[0]));
    endpoint_free(endpoint);
}

void vp_lanes_endpoint_drop_path(vp_lanes_t *lanes, uint32_t source_class)
{
    size_t i, n_kept = 0;

    for (i = 0; i < lanes->n_endpoints; i++) {
        if (lanes->endpoints[i]->source_class == source_class) {
            endpoint_free(lanes->endpoints[i]);
        } else {
            lanes->endpoints[n_kept++] = lanes->endpoints[i];
        }
    }
    lanes->n_endpoints = n_kept;
}

bool vp_lanes_connected(vp_lanes_t *lanes, uint64_t peer_key, uint32_t source_class,
                        uint32_t destination_class)
{
    const vp_endpoint_t *endpoint;
    bool connected;

    vp_lanes_lock(lanes);
    endpoint = vp_lanes_endpoint_find(lanes, peer_key, source_class, destination_class);
    connected = endpoint != NULL && endpoint->wired;
    vp_lanes_unlock(lanes);
    return connected;
}

static const char *class_name(const vp_lanes_t *lanes, uint32_t path_class)
{
    return path_class < lanes->n_paths ? lanes->paths[path_class].name : "?";
}

static vp_status_t connect_error(const vp_lanes_t *lanes, const vp_endpoint_t *endpoint,
                                 const char *why, vp_error_t *error)
{
    return vp_error_set(error, VP_ERR_TRANSPORT,
                        "path class \"%s\" cannot reach process %" PRIx64
                        " through its class \"%s\": %s; the path is not used, check the "
                        "transports and devices of both classes",
                        class_name(lanes, endpoint->source_class), endpoint->peer_key,
                        class_name(lanes, endpoint->destination_class), why);
}

/* Operations on the endpoint fail, which is how a dead peer is noticed. */
static void ignore_failure(void *argument, ucp_ep_h endpoint, ucs_status_t status)
{
    (void)argument;
    (void)endpoint;
    (void)status;
}

/*
 * Without error handling UCX ends the process when a peer is gone. Not every transport
 * can do with it: those are used as if peers lived for ever.
 */
static ucs_status_t create_guarded(ucp_worker_h worker, ucp_ep_params_t params, ucp_ep_h *ucp_p)
{
    params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler.cb = ignore_failure;
    return ucp_ep_create(worker, &params, ucp_p);
}

static vp_status_t endpoint_open(vp_lanes_t *lanes, vp_endpoint_t *endpoint, vp_error_t *error)
{
    vp_path_t *path = vp_lanes_path(lanes, endpoint->source_class);
    ucp_ep_params_t params = {0};
    ucs_status_t ret;

    if (path == NULL || lanes->closed) {
        return connect_error(lanes, endpoint,
                             path == NULL ? "the class is not open in this process"
                                          : "the lanes of this process are closed",
                             error);
    }
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address = endpoint->address;
    ret =
        path->guarded ? create_guarded(path->worker, params, &endpoint->ucp) : UCS_ERR_UNSUPPORTED;
    if (ret != UCS_OK) {
        ret = ucp_ep_create(path->worker, &params, &endpoint->ucp);
    }
    return ret == UCS_OK ? VP_OK : connect_error(lanes, endpoint, ucs_status_string(ret), error);
}

static vp_status_t endpoint_create(vp_lanes_t *lanes, const vp_endpoint_t *wanted,
                                   vp_endpoint_t **endpoint_p, vp_error_t *error)
{
    size_t i =
        lower_bound(lanes, wanted->peer_key, wanted->source_class, wanted->destination_class);
    vp_endpoint_t *endpoint;
    vp_status_t status;

    if (lanes->max_endpoints != 0 && lanes->n_endpoints >= lanes->max_endpoints) {
        return vp_error_set(error, VP_ERR_LIMIT,
                            "this process has its %u endpoints already; communicators that need "
                            "more are not carried, raise coll_variopath_max_endpoints",
                            lanes->max_endpoints);
    }
    endpoint = vp_array_new(1, sizeof(*endpoint));
    if (endpoint == NULL) {
        return vp_error_no_memory(error, "an endpoint");
    }
    *endpoint = *wanted;
    endpoint->address = vp_array_new(wanted->address_bytes, 1);
    if (endpoint->address == NULL ||
        !vp_array_reserve(&lanes->endpoints, &lanes->endpoint_capacity, lanes->n_endpoints + 1,
                          sizeof(lanes->endpoints[0]))) {
        endpoint_free(endpoint);
        return vp_error_no_memory(error, "an endpoint");
    }
    memcpy(endpoint->address, wanted->address, wanted->address_bytes);
    status = endpoint_open(lanes, endpoint, error);
    if (status != VP_OK) {
        endpoint_free(endpoint);
        return status;
    }
    memmove(&lanes->endpoints[i + 1], &lanes->endpoints[i],
            (lanes->n_endpoints - i) * sizeof(lanes->endpoints[0]));
    lanes->endpoints[i] = endpoint;
    lanes->n_endpoints++;
    *endpoint_p = endpoint;
    return VP_OK;
}

/* An endpoint towards another address belongs to a worker that the peer has replaced since. */
static vp_status_t endpoint_get(vp_lanes_t *lanes, const vp_endpoint_t *wanted,
                                vp_endpoint_t **endpoint_p, vp_error_t *error)
{
    vp_endpoint_t *endpoint = vp_lanes_endpoint_find(lanes, wanted->peer_key, wanted->source_class,
                                                     wanted->destination_class);

    if (endpoint != NULL &&
        (endpoint->address_bytes != wanted->address_bytes ||
         memcmp(endpoint->address, wanted->address, wanted->address_bytes) != 0)) {
        vp_lanes_endpoint_drop(lanes, endpoint);
        endpoint = NULL;
    }
    if (endpoint != NULL) {
        *endpoint_p = endpoint;
        return VP_OK;
    }
    return endpoint_create(lanes, wanted, endpoint_p, error);
}

/* After half a minute without an answer, once. */
static void tell_late(const vp_lanes_t *lanes, const vp_endpoint_t *wanted, bool *told)
{
    *told = true;
    vp_log(lanes->log, VP_LOG_WARN,
           "path class \"%s\" still waits for process %" PRIx64
           " to answer through its class \"%s\"; it may be late or stopped, or the path may not "
           "work",
           class_name(lanes, wanted->source_class), wanted->peer_key,
           class_name(lanes, wanted->destination_class));
}

/*
 * A flush cannot pass an endpoint that is not wired up. The lock is released
 * between rounds, so endpoint and operation are looked up again or owned.
 */
static vp_status_t wire_up(vp_lanes_t *lanes, const vp_endpoint_t *wanted,
                           vp_operation_t *operation, unsigned limit_ms, bool (*proceed)(void *),
                           void *context, vp_error_t *error)
{
    uint64_t start_ns = vp_clock_ns(), waited_ns;
    vp_endpoint_t *endpoint;
    ucs_status_t ret;
    bool in_time = true, told = false;

    while (!vp_lanes_operation_done(operation) && in_time) {
        (void)vp_lanes_progress_locked(lanes);
        vp_lanes_unlock(lanes);
        in_time = proceed == NULL || proceed(context);
        (void)sched_yield();
        waited_ns = vp_clock_ns() - start_ns;
        in_time = in_time && (limit_ms == 0 || waited_ns < limit_ms * NS_PER_MS);
        vp_lanes_lock(lanes);
        if (!told && waited_ns > CONNECT_TOLD_NS) {
            tell_late(lanes, wanted, &told);
        }
    }
    ret = in_time ? operation->failure : UCS_ERR_TIMED_OUT;
    vp_lanes_operation_end(lanes, operation);
    endpoint = vp_lanes_endpoint_find(lanes, wanted->peer_key, wanted->source_class,
                                      wanted->destination_class);
    if (ret != UCS_OK || endpoint == NULL) {
        vp_lanes_endpoint_drop(lanes, endpoint);
        return connect_error(lanes, wanted,
                             ret != UCS_OK ? ucs_status_string(ret) : "closed by another thread",
                             error);
    }
    endpoint->wired = true;
    return VP_OK;
}

vp_status_t vp_lanes_connect(vp_lanes_t *lanes, uint64_t peer_key, uint32_t source_class,
                             uint32_t destination_class, const void *address, size_t n_bytes,
                             unsigned limit_ms, bool (*proceed)(void *), void *context,
                             vp_error_t *error)
{
    vp_endpoint_t wanted = {.peer_key = peer_key,
                            .source_class = source_class,
                            .destination_class = destination_class,
                            .address_bytes = n_bytes};
    vp_endpoint_t *endpoint = NULL;
    vp_operation_t *operation;
    vp_status_t status;

    wanted.address = (void *)(uintptr_t)address; /* copied before it is kept, never written */
    vp_lanes_lock(lanes);
    status = endpoint_get(lanes, &wanted, &endpoint, error);
    if (status == VP_OK && !endpoint->wired) {
        operation = vp_lanes_operation_start(lanes, endpoint, error);
        if (operation == NULL) {
            status = VP_ERR_NO_MEMORY;
        } else {
            vp_lanes_operation_flush(operation, endpoint->ucp);
            status = wire_up(lanes, &wanted, operation, limit_ms, proceed, context, error);
        }
    }
    vp_lanes_unlock(lanes);
    return status;
}

static size_t reap(void **requests, size_t n_requests)
{
    size_t i, n_running = 0;

    for (i = 0; i < n_requests; i++) {
        if (ucp_request_check_status(requests[i]) == UCS_INPROGRESS) {
            requests[n_running++] = requests[i];
        } else {
            ucp_request_free(requests[i]);
        }
    }
    return n_running;
}

/* Waits for requests as long as anything happens; returns how many never ended. */
static size_t wait_all(vp_lanes_t *lanes, void **requests, size_t n_requests)
{
    uint64_t last_event_ns = vp_clock_ns();
    size_t i;

    n_requests = reap(requests, n_requests);
    while (n_requests > 0 && vp_clock_ns() - last_event_ns < CLOSE_IDLE_NS) {
        if (vp_lanes_progress_locked(lanes) > 0) {
            last_event_ns = vp_clock_ns();
        } else {
            (void)sched_yield();
        }
        n_requests = reap(requests, n_requests);
    }
    for (i = 0; i < n_requests; i++) {
        ucp_request_free(requests[i]);
    }
    return n_requests;
}

static void close_endpoints(vp_lanes_t *lanes, void **requests)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    size_t i, n_running = 0;

    for (i = 0; i < lanes->n_endpoints; i++) {
        vp_endpoint_t *endpoint = lanes->endpoints[i];

        vp_lanes_window_blind(&lanes->paths[endpoint->source_class], endpoint->ucp);
        requests[n_running] = ucp_ep_close_nbx(endpoint->ucp, &param);
        n_running += UCS_PTR_IS_PTR(requests[n_running]);
        endpoint_free(endpoint);
    }
    lanes->n_endpoints = 0;
    n_running = wait_all(lanes, requests, n_running);
    if (n_running > 0) {
        vp_log(lanes->log, VP_LOG_WARN,
               "%zu endpoints did not close: their peers no longer answer; dropped", n_running);
    }
}

/*
 * UCX 1.13 aborts when it destroys a worker that still owes a peer an answer.
 * A flush finds out; such a worker stays until the process ends.
 */
static void flush_path(vp_lanes_t *lanes, vp_path_t *path)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    void *request = ucp_worker_flush_nbx(path->worker, &param);

    if (UCS_PTR_IS_PTR(request) && wait_all(lanes, &request, 1) > 0) {
        path->stuck = true;
        vp_log(lanes->log, VP_LOG_WARN,
               "path class \"%s\" has unanswered messages to a peer; its worker is left open",
               path->name);
    }
}

void vp_lanes_close(vp_lanes_t *lanes)
{
    void **requests;
    uint32_t i;

    vp_lanes_lock(lanes);
    requests = lanes->closed ? NULL : vp_array_new(lanes->n_endpoints, sizeof(*requests));
    lanes->closed = true;
    if (requests != NULL) {
        close_endpoints(lanes, requests);
        for (i = 0; i < lanes->n_paths && vp_lanes_ucx_is_old(); i++) {
            if (lanes->paths[i].open) {
                flush_path(lanes, &lanes->paths[i]);
            }
        }
        free(requests);
    }
    vp_lanes_unlock(lanes);
}
