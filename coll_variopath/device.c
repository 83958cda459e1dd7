/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "coll_variopath/device.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "coll_variopath/device_driver.h"

enum { CU_MEMORY_TYPE_DEVICE = 2 };

/* CU_POINTER_ATTRIBUTE_*; the first ones are known to every driver. */
enum {
    CU_ATTRIBUTE_CONTEXT = 1,
    CU_ATTRIBUTE_MEMORY_TYPE = 2,
    CU_ATTRIBUTE_BUFFER_ID = 7,
    CU_ATTRIBUTE_IS_MANAGED = 8,
    CU_ATTRIBUTE_DEVICE_ORDINAL = 9,
    CU_ATTRIBUTE_IS_IPC_CAPABLE = 10,
    CU_ATTRIBUTE_RANGE_BEGIN = 11,
    CU_ATTRIBUTE_RANGE_BYTES = 12
};
enum { N_OLD_ATTRIBUTES = 5, N_ATTRIBUTES = 8 };

/* CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_*, and what goes with them. */
enum {
    CU_ATTRIBUTE_FLUSH_OPTIONS = 117,
    CU_ATTRIBUTE_WRITES_ORDERING = 118,
    CU_FLUSH_OPTION_HOST = 1,
    CU_ORDERING_OWNER = 100, /* from there on the device itself sees writes in order */
    CU_FLUSH_CURRENT_CONTEXT = 0,
    CU_FLUSH_TO_OWNER = 100
};

enum { MAX_DEVICES = 64 };

static struct {
    pthread_mutex_t lock;
    vp_driver_t *_Atomic driver; /* NULL until found */
    vp_driver_t storage;
    _Atomic unsigned long long loads_seen; /* of the dynamic linker, at the last look */
    void *primary[MAX_DEVICES];            /* contexts that were retained, for good */
    atomic_bool old_driver;                /* knows the old attributes only */
} device = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Answers for one pointer, as the driver writes them. */
typedef struct attributes {
    void *context;
    unsigned memory_type;
    unsigned long long buffer_id;
    unsigned is_managed;
    int ordinal;
    int is_ipc_capable;
    cu_address_t range_begin;
    size_t range_bytes;
} attributes_t;

static int count_loads(struct dl_phdr_info *info, size_t n_bytes, void *count)
{
    (void)n_bytes;
    *(unsigned long long *)count = info->dlpi_adds;
    return 1;
}

static bool find_functions(vp_driver_t *driver)
{
    /* The handle is kept: the driver stays as long as the process. */
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

    if (library == NULL) {
        return false;
    }
#define DRIVER_FIND(field, symbol, arguments)                                                      \
    *(void **)&driver->field = dlsym(library, symbol);                                             \
    if (driver->field == NULL) {                                                                   \
        return false;                                                                              \
    }
    VP_DRIVER_FUNCTIONS(DRIVER_FIND)
#undef DRIVER_FIND
    *(void **)&driver->flush_writes = dlsym(library, "cuFlushGPUDirectRDMAWrites");
    return true;
}

const vp_driver_t *vp_driver_find(void)
{
    vp_driver_t *driver = atomic_load(&device.driver);
    unsigned long long loads = 0;

    if (driver != NULL) {
        return driver;
    }
    (void)dl_iterate_phdr(count_loads, &loads);
    if (loads == atomic_load(&device.loads_seen)) {
        return NULL;
    }
    (void)pthread_mutex_lock(&device.lock);
    if (atomic_load(&device.driver) == NULL) {
        if (find_functions(&device.storage)) {
            atomic_store(&device.driver, &device.storage);
        }
        atomic_store(&device.loads_seen, loads);
    }
    (void)pthread_mutex_unlock(&device.lock);
    return atomic_load(&device.driver);
}

bool vp_device_present(void)
{
    return vp_driver_find() != NULL;
}

vp_status_t vp_driver_error(const vp_driver_t *driver, cu_result_t code, const char *what,
                            vp_error_t *error)
{
    const char *text = NULL;

    (void)driver->error_string(code, &text);
    return vp_error_set(error, VP_ERR_DEVICE,
                        "the CUDA driver cannot %s: %s (error %d); the call fails, look for an "
                        "earlier failure of the device in this process",
                        what, text == NULL ? "unknown error" : text, code);
}

static cu_result_t ask(const vp_driver_t *driver, uint64_t address, attributes_t *attributes)
{
    int names[N_ATTRIBUTES] = {CU_ATTRIBUTE_CONTEXT,        CU_ATTRIBUTE_MEMORY_TYPE,
                               CU_ATTRIBUTE_BUFFER_ID,      CU_ATTRIBUTE_IS_MANAGED,
                               CU_ATTRIBUTE_DEVICE_ORDINAL, CU_ATTRIBUTE_IS_IPC_CAPABLE,
                               CU_ATTRIBUTE_RANGE_BEGIN,    CU_ATTRIBUTE_RANGE_BYTES};
    void *values[N_ATTRIBUTES] = {&attributes->context,     &attributes->memory_type,
                                  &attributes->buffer_id,   &attributes->is_managed,
                                  &attributes->ordinal,     &attributes->is_ipc_capable,
                                  &attributes->range_begin, &attributes->range_bytes};
    bool old = atomic_load(&device.old_driver);
    cu_result_t code;

    *attributes = (attributes_t){.ordinal = -1};
    code = driver->get_attributes(old ? N_OLD_ATTRIBUTES : N_ATTRIBUTES, names, values, address);
    if (code == CU_INVALID_VALUE && !old) {
        *attributes = (attributes_t){.ordinal = -1};
        code = driver->get_attributes(N_OLD_ATTRIBUTES, names, values, address);
        atomic_store(&device.old_driver, code == CU_SUCCESS);
    }
    return code;
}

/* Answers that mean: no CUDA memory can be here. */
static bool means_host(cu_result_t code)
{
    return code == CU_INVALID_VALUE || code == CU_NOT_INITIALIZED || code == CU_DEINITIALIZED ||
           code == CU_STUB_LIBRARY || code == CU_NO_DEVICE;
}

static vp_memory_t describe(const attributes_t *attributes, uint64_t begin, uint64_t end)
{
    vp_memory_t memory = {.kind = VP_MEMORY_HOST, .device = -1};

    if (attributes->is_managed == 0 && attributes->memory_type != CU_MEMORY_TYPE_DEVICE) {
        return memory;
    }
    memory.kind = attributes->is_managed != 0 ? VP_MEMORY_MANAGED : VP_MEMORY_DEVICE;
    memory.device = attributes->ordinal;
    memory.buffer_id = attributes->buffer_id;
    memory.ipc = attributes->is_ipc_capable != 0;
    memory.context = attributes->context;
    memory.allocation_begin = attributes->range_begin;
    memory.allocation_bytes = attributes->range_bytes;
    memory.one_allocation = begin >= attributes->range_begin &&
                            end - attributes->range_begin <= attributes->range_bytes;
    return memory;
}

vp_status_t vp_device_classify(uint64_t begin, uint64_t end, vp_memory_t *memory_p,
                               vp_error_t *error)
{
    const vp_driver_t *driver;
    attributes_t attributes;
    cu_result_t code;

    if (begin == end) {
        *memory_p = (vp_memory_t){.kind = VP_MEMORY_NONE, .device = -1};
        return VP_OK;
    }
    driver = vp_driver_find();
    if (driver == NULL) {
        *memory_p = (vp_memory_t){.kind = VP_MEMORY_HOST, .device = -1};
        return VP_OK;
    }
    code = ask(driver, begin, &attributes);
    if (code != CU_SUCCESS && !means_host(code)) {
        return vp_driver_error(driver, code, "say what a buffer is", error);
    }
    if (code != CU_SUCCESS) {
        attributes = (attributes_t){.ordinal = -1};
    }
    *memory_p = describe(&attributes, begin, end);
    return VP_OK;
}

/* The device's primary context. It is retained once and kept: it holds the buffer's memory. */
static cu_result_t find_primary(const vp_driver_t *driver, int ordinal, void **context_p)
{
    cu_result_t code = CU_SUCCESS;

    if (ordinal < 0 || ordinal >= MAX_DEVICES) {
        return CU_INVALID_VALUE;
    }
    (void)pthread_mutex_lock(&device.lock);
    if (device.primary[ordinal] == NULL) {
        code = driver->retain_primary(&device.primary[ordinal], ordinal);
    }
    *context_p = device.primary[ordinal];
    (void)pthread_mutex_unlock(&device.lock);
    return code;
}

/* The calling thread may have no current context, or another device's. */
static cu_result_t enter(const vp_driver_t *driver, const vp_memory_t *memory)
{
    void *context = memory->context;
    cu_result_t code = CU_SUCCESS;

    if (context == NULL) {
        code = find_primary(driver, memory->device, &context);
    }
    return code == CU_SUCCESS ? driver->push_context(context) : code;
}

vp_status_t vp_device_read(const vp_memory_t *memory, void *host, uint64_t address, size_t n_bytes,
                           vp_error_t *error)
{
    const vp_driver_t *driver = vp_driver_find();
    void *context;
    cu_result_t code;

    if (driver == NULL) {
        return vp_error_set(error, VP_ERR_INTERNAL, "device memory without a driver");
    }
    code = enter(driver, memory);
    if (code == CU_SUCCESS) {
        code = driver->copy_to_host(host, address, n_bytes);
        (void)driver->pop_context(&context);
    }
    return code == CU_SUCCESS ? VP_OK : vp_driver_error(driver, code, "read a send buffer", error);
}

vp_status_t vp_device_write(const vp_memory_t *memory, uint64_t address, const void *host,
                            size_t n_bytes, vp_error_t *error)
{
    const vp_driver_t *driver = vp_driver_find();
    void *context;
    cu_result_t code;

    if (driver == NULL) {
        return vp_error_set(error, VP_ERR_INTERNAL, "device memory without a driver");
    }
    code = enter(driver, memory);
    if (code == CU_SUCCESS) {
        code = driver->copy_to_device(address, host, n_bytes);
        if (code == CU_SUCCESS) {
            /* From pageable memory the copy above may return before the device has the bytes. */
            code = driver->wait_for_stream(NULL);
        }
        (void)driver->pop_context(&context);
    }
    return code == CU_SUCCESS ? VP_OK
                              : vp_driver_error(driver, code, "write a receive buffer", error);
}

vp_status_t vp_device_copy(const vp_memory_t *memory, uint64_t to, uint64_t from, size_t n_bytes,
                           vp_error_t *error)
{
    const vp_driver_t *driver = vp_driver_find();
    void *context;
    cu_result_t code;

    if (driver == NULL) {
        return vp_error_set(error, VP_ERR_INTERNAL, "device memory without a driver");
    }
    code = enter(driver, memory);
    if (code == CU_SUCCESS) {
        code = driver->copy(to, from, n_bytes);
        if (code == CU_SUCCESS) {
            /* Between devices the copy above returns before it is done. */
            code = driver->wait_for_stream(NULL);
        }
        (void)driver->pop_context(&context);
    }
    return code == CU_SUCCESS ? VP_OK : vp_driver_error(driver, code, "copy a block", error);
}

vp_status_t vp_device_enter(const vp_memory_t *memory, vp_error_t *error)
{
    const vp_driver_t *driver = vp_driver_find();
    cu_result_t code;

    if (driver == NULL) {
        return vp_error_set(error, VP_ERR_INTERNAL, "device memory without a driver");
    }
    code = enter(driver, memory);
    return code == CU_SUCCESS ? VP_OK
                              : vp_driver_error(driver, code, "use a buffer's context", error);
}

vp_status_t vp_device_wait(const vp_memory_t *memory, vp_error_t *error)
{
    const vp_driver_t *driver = vp_driver_find();
    void *context;
    cu_result_t code;

    if (driver == NULL) {
        return vp_error_set(error, VP_ERR_INTERNAL, "device memory without a driver");
    }
    code = enter(driver, memory);
    if (code == CU_SUCCESS) {
        code = driver->wait_for_stream(NULL);
        (void)driver->pop_context(&context);
    }
    return code == CU_SUCCESS ? VP_OK
                              : vp_driver_error(driver, code, "finish the default stream", error);
}

/* Does the device see what a NIC wrote only after a flush, and can the host do one? */
static bool needs_flush(const vp_driver_t *driver, int ordinal)
{
    int ordering = CU_ORDERING_OWNER, options = 0;

    return driver->flush_writes != NULL &&
           driver->get_attribute(&ordering, CU_ATTRIBUTE_WRITES_ORDERING, ordinal) == CU_SUCCESS &&
           ordering < CU_ORDERING_OWNER &&
           driver->get_attribute(&options, CU_ATTRIBUTE_FLUSH_OPTIONS, ordinal) == CU_SUCCESS &&
           (options & CU_FLUSH_OPTION_HOST) != 0;
}

vp_status_t vp_device_flush_writes(const vp_memory_t *memory, vp_error_t *error)
{
    const vp_driver_t *driver = vp_driver_find();
    void *context;
    cu_result_t code;

    if (driver == NULL || !needs_flush(driver, memory->device)) {
        return VP_OK;
    }
    code = enter(driver, memory);
    if (code == CU_SUCCESS) {
        code = driver->flush_writes(CU_FLUSH_CURRENT_CONTEXT, CU_FLUSH_TO_OWNER);
        (void)driver->pop_context(&context);
    }
    return code == CU_SUCCESS ? VP_OK
                              : vp_driver_error(driver, code, "flush what a NIC wrote", error);
}

void vp_device_leave(void)
{
    const vp_driver_t *driver = vp_driver_find();
    void *context;

    if (driver != NULL) {
        (void)driver->pop_context(&context);
    }
}

const char *vp_memory_kind_text(vp_memory_kind_t kind)
{
    switch (kind) {
    case VP_MEMORY_NONE:
        return "none";
    case VP_MEMORY_HOST:
        return "host";
    case VP_MEMORY_DEVICE:
        return "device";
    case VP_MEMORY_MANAGED:
        return "managed";
    }
    return "unknown kind of memory";
}
