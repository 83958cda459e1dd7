/*
 * The driver's functions that the device files share. Found at run time; the
 * interface of a name never changes.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_COLL_DEVICE_DRIVER_H
#define VP_COLL_DEVICE_DRIVER_H

#include <stdint.h>

#include "base/status.h"

typedef int cu_result_t;
typedef unsigned long long cu_address_t;
typedef struct cu_ipc {
    unsigned char bytes[64];
} cu_ipc_t;

enum {
    CU_SUCCESS = 0,
    CU_INVALID_VALUE = 1,
    CU_NOT_INITIALIZED = 3,
    CU_DEINITIALIZED = 4,
    CU_STUB_LIBRARY = 34,
    CU_NO_DEVICE = 100,
    CU_INVALID_CONTEXT = 201,
    CU_ALREADY_MAPPED = 208,
    CU_INVALID_HANDLE = 400,
    CU_NOT_READY = 600
};

#define VP_DRIVER_FUNCTIONS(X)                                                                     \
    X(get_attributes, "cuPointerGetAttributes", (unsigned, int *, void **, cu_address_t))          \
    X(error_string, "cuGetErrorString", (cu_result_t, const char **))                              \
    X(retain_primary, "cuDevicePrimaryCtxRetain", (void **, int))                                  \
    X(push_context, "cuCtxPushCurrent_v2", (void *))                                               \
    X(pop_context, "cuCtxPopCurrent_v2", (void **))                                                \
    X(copy_to_host, "cuMemcpyDtoH_v2", (void *, cu_address_t, size_t))                             \
    X(copy_to_device, "cuMemcpyHtoD_v2", (cu_address_t, const void *, size_t))                     \
    X(copy, "cuMemcpy", (cu_address_t, cu_address_t, size_t))                                      \
    X(wait_for_stream, "cuStreamSynchronize", (void *))                                            \
    X(get_attribute, "cuDeviceGetAttribute", (int *, int, int))                                    \
    X(get_context, "cuCtxGetCurrent", (void **))                                                   \
    X(create_stream, "cuStreamCreate", (void **, unsigned))                                        \
    X(copy_async, "cuMemcpyAsync", (cu_address_t, cu_address_t, size_t, void *))                   \
    X(create_event, "cuEventCreate", (void **, unsigned))                                          \
    X(record_event, "cuEventRecord", (void *, void *))                                             \
    X(query_event, "cuEventQuery", (void *))                                                       \
    X(wait_for_event, "cuEventSynchronize", (void *))                                              \
    X(destroy_event, "cuEventDestroy_v2", (void *))                                                \
    X(pin, "cuMemHostRegister_v2", (void *, size_t, unsigned))                                     \
    X(unpin, "cuMemHostUnregister", (void *))                                                      \
    X(allocate, "cuMemAlloc_v2", (cu_address_t *, size_t))                                         \
    X(release, "cuMemFree_v2", (cu_address_t))                                                     \
    X(get_handle, "cuIpcGetMemHandle", (cu_ipc_t *, cu_address_t))                                 \
    X(open_handle, "cuIpcOpenMemHandle_v2", (cu_address_t *, cu_ipc_t, unsigned))                  \
    X(close_handle, "cuIpcCloseMemHandle", (cu_address_t))

typedef struct vp_driver {
#define VP_DRIVER_FIELD(field, symbol, arguments) cu_result_t(*field) arguments;
    VP_DRIVER_FUNCTIONS(VP_DRIVER_FIELD)
#undef VP_DRIVER_FIELD
    /* NULL before CUDA 11.3. */
    cu_result_t (*flush_writes)(int target, int scope);
} vp_driver_t;

/* NULL: no driver in this process. Looking costs nothing while no library was loaded since. */
const vp_driver_t *vp_driver_find(void);
/* VP_ERR_DEVICE: "the CUDA driver cannot WHAT: ...". */
vp_status_t vp_driver_error(const vp_driver_t *driver, cu_result_t code, const char *what,
                            vp_error_t *error);

#endif
