/*
 * Copies that run beside the caller, and memory for them.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "coll_variopath/device.h"
#include "coll_variopath/device_driver.h"

enum {
    STREAM_NON_BLOCKING = 1,
    EVENT_DISABLE_TIMING = 2,
    PIN_PORTABLE = 1,
    IPC_LAZY_PEER_ACCESS = 1,
    MAX_CONTEXTS = 64
};

/* Copies from a device and to it do not wait for each other. */
typedef struct streams {
    void *context;
    void *stream[2]; /* by direction, NULL: not made yet */
} streams_t;

static struct {
    pthread_mutex_t lock;
    streams_t of[MAX_CONTEXTS];
    size_t n;
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

void *vp_device_context(void)
{
    const vp_driver_t *driver = vp_driver_find();
    void *context = NULL;

    if (driver == NULL || driver->get_context(&context) != CU_SUCCESS) {
        return NULL;
    }
    return context;
}

/* Called with the lock held; NULL: too many contexts. */
static streams_t *find_streams(void *context)
{
    size_t i;

    for (i = 0; i < known.n; i++) {
        if (known.of[i].context == context) {
            return &known.of[i];
        }
    }
    if (known.n == MAX_CONTEXTS) {
        return NULL;
    }
    known.of[known.n] = (streams_t){.context = context};
    return &known.of[known.n++];
}

/* Another context at the address of one that is gone has no streams yet: `renew`. */
static cu_result_t find_stream(const vp_driver_t *driver, void *context, bool to_device, bool renew,
                               void **stream_p)
{
    cu_result_t code = CU_SUCCESS;
    streams_t *streams;

    (void)pthread_mutex_lock(&known.lock);
    streams = find_streams(context);
    if (streams == NULL) {
        code = CU_INVALID_CONTEXT;
    } else {
        if (streams->stream[to_device] == NULL || renew) {
            code = driver->create_stream(&streams->stream[to_device], STREAM_NON_BLOCKING);
        }
        *stream_p = streams->stream[to_device];
    }
    (void)pthread_mutex_unlock(&known.lock);
    return code;
}

static cu_result_t enqueue(const vp_driver_t *driver, vp_copy_t *copy, bool to_device, bool renew,
                           uint64_t to, uint64_t from, size_t n_bytes)
{
    void *stream = NULL;
    cu_result_t code = find_stream(driver, copy->context, to_device, renew, &stream);

    if (code == CU_SUCCESS && copy->event == NULL) {
        code = driver->create_event(&copy->event, EVENT_DISABLE_TIMING);
    }
    if (code == CU_SUCCESS) {
        code = driver->copy_async(to, from, n_bytes, stream);
    }
    return code == CU_SUCCESS ? driver->record_event(copy->event, stream) : code;
}

vp_status_t vp_copy_start(vp_copy_t *copy, void *context, bool to_device, uint64_t to,
                          uint64_t from, size_t n_bytes, vp_error_t *error)
{
    const vp_driver_t *driver = vp_driver_find();
    cu_result_t code;
    void *previous;

    if (driver == NULL) {
        return vp_error_set(error, VP_ERR_INTERNAL, "device memory without a driver");
    }
    if (copy->context != context) {
        vp_copy_free(copy);
        copy->context = context;
    }
    code = driver->push_context(context);
    if (code == CU_SUCCESS) {
        code = enqueue(driver, copy, to_device, false, to, from, n_bytes);
        if (code == CU_INVALID_HANDLE) {
            copy->event = NULL;
            code = enqueue(driver, copy, to_device, true, to, from, n_bytes);
        }
        (void)driver->pop_context(&previous);
    }
    return code == CU_SUCCESS
               ? VP_OK
               : vp_driver_error(driver, code,
                                 to_device ? "write a receive buffer" : "read a send buffer",
                                 error);
}

vp_status_t vp_copy_test(const vp_copy_t *copy, bool *done_p, vp_error_t *error)
{
    const vp_driver_t *driver = vp_driver_find();
    cu_result_t code = CU_SUCCESS;
    void *previous;

    if (driver != NULL && copy->event != NULL) {
        code = driver->push_context(copy->context);
        if (code == CU_SUCCESS) {
            code = driver->query_event(copy->event);
            (void)driver->pop_context(&previous);
        }
    }
    *done_p = code != CU_NOT_READY;
    return code == CU_SUCCESS || code == CU_NOT_READY
               ? VP_OK
               : vp_driver_error(driver, code, "finish a copy", error);
}

void vp_copy_wait(const vp_copy_t *copy)
{
    const vp_driver_t *driver = vp_driver_find();
    void *previous;

    if (driver != NULL && copy->event != NULL &&
        driver->push_context(copy->context) == CU_SUCCESS) {
        (void)driver->wait_for_event(copy->event);
        (void)driver->pop_context(&previous);
    }
}

void vp_copy_free(vp_copy_t *copy)
{
    const vp_driver_t *driver = vp_driver_find();
    void *previous;

    if (driver != NULL && copy->event != NULL &&
        driver->push_context(copy->context) == CU_SUCCESS) {
        (void)driver->destroy_event(copy->event);
        (void)driver->pop_context(&previous);
    }
    *copy = (vp_copy_t){0};
}

bool vp_device_pin(void *context, void *host, size_t n_bytes)
{
    const vp_driver_t *driver = vp_driver_find();
    cu_result_t code;
    void *previous;

    if (driver == NULL || driver->push_context(context) != CU_SUCCESS) {
        return false;
    }
    code = driver->pin(host, n_bytes, PIN_PORTABLE);
    (void)driver->pop_context(&previous);
    return code == CU_SUCCESS;
}

void vp_device_unpin(void *context, void *host)
{
    const vp_driver_t *driver = vp_driver_find();
    void *previous;

    if (driver != NULL && driver->push_context(context) == CU_SUCCESS) {
        (void)driver->unpin(host);
        (void)driver->pop_context(&previous);
    }
}

vp_status_t vp_device_allocate(size_t n_bytes, uint64_t *device_p, vp_error_t *error)
{
    const vp_driver_t *driver = vp_driver_find();
    cu_address_t address = 0;
    cu_result_t code;

    if (driver == NULL) {
        return vp_error_set(error, VP_ERR_INTERNAL, "device memory without a driver");
    }
    code = driver->allocate(&address, n_bytes);
    *device_p = address;
    return code == CU_SUCCESS ? VP_OK
                              : vp_driver_error(driver, code, "allocate device memory", error);
}

void vp_device_free(uint64_t device)
{
    const vp_driver_t *driver = vp_driver_find();

    if (driver != NULL) {
        (void)driver->release(device);
    }
}

bool vp_device_export(uint64_t device, uint8_t *handle)
{
    const vp_driver_t *driver = vp_driver_find();
    cu_ipc_t ipc;

    if (driver == NULL || driver->get_handle(&ipc, device) != CU_SUCCESS) {
        return false;
    }
    memcpy(handle, ipc.bytes, sizeof(ipc.bytes));
    return true;
}

bool vp_device_reaches(const uint8_t *handle)
{
    const vp_driver_t *driver = vp_driver_find();
    cu_address_t address;
    cu_result_t code;
    cu_ipc_t ipc;

    memcpy(ipc.bytes, handle, sizeof(ipc.bytes));
    code = driver == NULL ? CU_NOT_INITIALIZED
                          : driver->open_handle(&address, ipc, IPC_LAZY_PEER_ACCESS);
    if (code == CU_SUCCESS) {
        (void)driver->close_handle(address);
    }
    return code == CU_SUCCESS || code == CU_ALREADY_MAPPED;
}
