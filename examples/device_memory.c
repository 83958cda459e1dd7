/* SPDX-License-Identifier: BSD-3-Clause */
#include "examples/device_memory.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define DRIVER(X)                                                                                  \
    X(initialize, "cuInit", (unsigned))                                                            \
    X(count_devices, "cuDeviceGetCount", (int *))                                                  \
    X(get_name, "cuDeviceGetName", (char *, int, int))                                             \
    X(retain_context, "cuDevicePrimaryCtxRetain", (void **, int))                                  \
    X(set_context, "cuCtxSetCurrent", (void *))                                                    \
    X(synchronize, "cuCtxSynchronize", (void))                                                     \
    X(allocate, "cuMemAlloc_v2", (unsigned long long *, size_t))                                   \
    X(release, "cuMemFree_v2", (unsigned long long))                                               \
    X(write, "cuMemcpyHtoD_v2", (unsigned long long, const void *, size_t))                        \
    X(read, "cuMemcpyDtoH_v2", (void *, unsigned long long, size_t))

static struct {
#define FIELD(field, symbol, arguments) int(*field) arguments;
    DRIVER(FIELD)
#undef FIELD
} driver;

static char name[128];

static int find_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);

    if (library == NULL) {
        return 0;
    }
#define FIND(field, symbol, arguments)                                                             \
    *(void **)&driver.field = dlsym(library, symbol);                                              \
    if (driver.field == NULL) {                                                                    \
        return 0;                                                                                  \
    }
    DRIVER(FIND)
#undef FIND
    return 1;
}

static void require(int code, const char *what)
{
    if (code != 0) {
        (void)fprintf(stderr, "the CUDA driver refuses to %s (error %d)\n", what, code);
        exit(3);
    }
}

const char *device_open(int local_rank)
{
    int n_devices = 0;
    void *context;
    int device;

    if (!find_driver()) {
        return "there is no CUDA driver (libcuda.so.1) here";
    }
    if (driver.initialize(0) != 0 || driver.count_devices(&n_devices) != 0 || n_devices == 0) {
        return "the CUDA driver offers no device";
    }
    device = local_rank % n_devices;
    require(driver.get_name(name, (int)sizeof(name), device), "name a device");
    require(driver.retain_context(&context, device), "make a context");
    require(driver.set_context(context), "use a context");
    return NULL;
}

const char *device_name(void)
{
    return name;
}

void *device_allocate(size_t n_bytes)
{
    unsigned long long memory = 0;

    require(driver.allocate(&memory, n_bytes == 0 ? 1 : n_bytes), "allocate device memory");
    return (void *)(uintptr_t)memory;
}

void device_free(void *memory)
{
    require(driver.release((uintptr_t)memory), "free device memory");
}

void device_write(void *device, const void *host, size_t n_bytes)
{
    if (n_bytes > 0) {
        require(driver.write((uintptr_t)device, host, n_bytes), "write device memory");
        require(driver.synchronize(), "wait for a copy");
    }
}

void device_read(void *host, const void *device, size_t n_bytes)
{
    if (n_bytes > 0) {
        require(driver.read(host, (uintptr_t)device, n_bytes), "read device memory");
    }
}
