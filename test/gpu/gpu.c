/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "test/gpu/gpu.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* cuda.h renames functions to their newest version: the expanded name is what is looked up. */
#define TEXT_OF(name) TEXT_OF_EXPANDED(name)
#define TEXT_OF_EXPANDED(name) #name
#define FUNCTIONS(X)                                                                               \
    X(cuInit)                                                                                      \
    X(cuDeviceGetCount)                                                                            \
    X(cuDevicePrimaryCtxRetain)                                                                    \
    X(cuCtxGetCurrent)                                                                             \
    X(cuCtxGetDevice)                                                                              \
    X(cuCtxSetCurrent)                                                                             \
    X(cuCtxSynchronize)                                                                            \
    X(cuGetErrorString)                                                                            \
    X(cuMemAlloc)                                                                                  \
    X(cuMemAllocAsync)                                                                             \
    X(cuMemAllocManaged)                                                                           \
    X(cuMemAddressFree)                                                                            \
    X(cuMemAddressReserve)                                                                         \
    X(cuMemCreate)                                                                                 \
    X(cuMemFree)                                                                                   \
    X(cuMemFreeAsync)                                                                              \
    X(cuMemFreeHost)                                                                               \
    X(cuMemGetAllocationGranularity)                                                               \
    X(cuMemHostAlloc)                                                                              \
    X(cuMemMap)                                                                                    \
    X(cuMemRelease)                                                                                \
    X(cuMemSetAccess)                                                                              \
    X(cuMemUnmap)                                                                                  \
    X(cuMemcpyDtoD)                                                                                \
    X(cuMemcpyDtoH)                                                                                \
    X(cuMemcpyHtoD)                                                                                \
    X(cuStreamSynchronize)

#define POINTER(name) static __typeof__(&name) p_##name;
FUNCTIONS(POINTER)
#undef POINTER

/* Not in the table: its newest version has arguments that differ between toolkits. */
static CUresult (*create_context)(CUcontext *, unsigned, CUdevice);

static void require(CUresult code, const char *what)
{
    const char *text = NULL;

    if (code != CUDA_SUCCESS) {
        (void)p_cuGetErrorString(code, &text);
        (void)fprintf(stderr, "%s: %s (%d)\n", what, text == NULL ? "?" : text, (int)code);
        exit(3);
    }
}

static int find_functions(void *library)
{
#define FIND(name)                                                                                 \
    *(void **)&p_##name = dlsym(library, TEXT_OF(name));                                           \
    if (p_##name == NULL) {                                                                        \
        return 0;                                                                                  \
    }
    FUNCTIONS(FIND)
#undef FIND
    *(void **)&create_context = dlsym(library, "cuCtxCreate_v2");
    return create_context != NULL;
}

int gpu_count(void)
{
    int n = 0;

    require(p_cuDeviceGetCount(&n), "cuDeviceGetCount");
    return n;
}

const char *gpu_open(int ordinal, int own_context)
{
    static char why[96];
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    CUcontext context;
    CUresult code;

    if (library == NULL || !find_functions(library)) {
        return "there is no usable libcuda.so.1";
    }
    code = p_cuInit(0);
    if (code != CUDA_SUCCESS || gpu_count() == 0) {
        (void)snprintf(why, sizeof(why), "the driver offers no device (cuInit: %d)", (int)code);
        return why;
    }
    if (own_context) {
        require(create_context(&context, 0, ordinal % gpu_count()), "cuCtxCreate");
    } else {
        require(p_cuDevicePrimaryCtxRetain(&context, ordinal % gpu_count()),
                "cuDevicePrimaryCtxRetain");
    }
    require(p_cuCtxSetCurrent(context), "cuCtxSetCurrent");
    return NULL;
}

static void alloc_mapped(gpu_buffer_t *buffer, size_t n_bytes)
{
    CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED};
    CUmemAccessDesc access = {.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;
    size_t unit = 1;
    CUdevice device;

    require(p_cuCtxGetDevice(&device), "cuCtxGetDevice");
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device;
    access.location = properties.location;
    require(
        p_cuMemGetAllocationGranularity(&unit, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
        "cuMemGetAllocationGranularity");
    buffer->mapped_bytes = (n_bytes + unit - 1) / unit * unit;
    require(p_cuMemCreate(&handle, buffer->mapped_bytes, &properties, 0), "cuMemCreate");
    require(p_cuMemAddressReserve(&address, buffer->mapped_bytes, 0, 0, 0), "cuMemAddressReserve");
    require(p_cuMemMap(address, buffer->mapped_bytes, 0, handle, 0), "cuMemMap");
    require(p_cuMemSetAccess(address, buffer->mapped_bytes, &access, 1), "cuMemSetAccess");
    buffer->address = (char *)(uintptr_t)address;
    buffer->physical = handle;
}

void gpu_alloc(gpu_buffer_t *buffer, char kind, size_t n_bytes)
{
    CUdeviceptr address = 0;

    *buffer = (gpu_buffer_t){.kind = kind, .n_bytes = n_bytes};
    switch (kind) {
    case 'n':
        return;
    case 'h':
        buffer->address = malloc(n_bytes);
        return;
    case 'p':
        require(p_cuMemHostAlloc((void **)&buffer->address, n_bytes, 0), "cuMemHostAlloc");
        return;
    case 'v':
        alloc_mapped(buffer, n_bytes);
        return;
    case 'a':
        require(p_cuMemAllocAsync(&address, n_bytes, NULL), "cuMemAllocAsync");
        require(p_cuStreamSynchronize(NULL), "cuStreamSynchronize");
        break;
    case 'm':
        require(p_cuMemAllocManaged(&address, n_bytes, CU_MEM_ATTACH_GLOBAL), "cuMemAllocManaged");
        break;
    default:
        require(p_cuMemAlloc(&address, n_bytes), "cuMemAlloc");
    }
    buffer->address = (char *)(uintptr_t)address;
}

void gpu_free(gpu_buffer_t *buffer)
{
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)buffer->address;

    switch (buffer->kind) {
    case 'n':
        break;
    case 'h':
        free(buffer->address);
        break;
    case 'p':
        require(p_cuMemFreeHost(buffer->address), "cuMemFreeHost");
        break;
    case 'v':
        require(p_cuMemUnmap(address, buffer->mapped_bytes), "cuMemUnmap");
        require(p_cuMemRelease(buffer->physical), "cuMemRelease");
        require(p_cuMemAddressFree(address, buffer->mapped_bytes), "cuMemAddressFree");
        break;
    case 'a':
        require(p_cuMemFreeAsync(address, NULL), "cuMemFreeAsync");
        require(p_cuStreamSynchronize(NULL), "cuStreamSynchronize");
        break;
    default:
        require(p_cuMemFree(address), "cuMemFree");
    }
    buffer->address = NULL;
}

static int on_host(const gpu_buffer_t *buffer)
{
    return buffer->kind == 'h' || buffer->kind == 'p';
}

void gpu_put(const gpu_buffer_t *buffer, const void *bytes)
{
    if (on_host(buffer)) {
        memcpy(buffer->address, bytes, buffer->n_bytes);
    } else if (buffer->kind != 'n') {
        require(p_cuMemcpyHtoD((CUdeviceptr)(uintptr_t)buffer->address, bytes, buffer->n_bytes),
                "cuMemcpyHtoD");
        require(p_cuCtxSynchronize(), "cuCtxSynchronize");
    }
}

void gpu_get(const gpu_buffer_t *buffer, void *bytes)
{
    if (on_host(buffer)) {
        memcpy(bytes, buffer->address, buffer->n_bytes);
    } else if (buffer->kind != 'n') {
        require(p_cuMemcpyDtoH(bytes, (CUdeviceptr)(uintptr_t)buffer->address, buffer->n_bytes),
                "cuMemcpyDtoH");
    }
}

void gpu_copy(const gpu_buffer_t *to, const gpu_buffer_t *from)
{
    require(p_cuMemcpyDtoD((CUdeviceptr)(uintptr_t)to->address,
                           (CUdeviceptr)(uintptr_t)from->address, from->n_bytes),
            "cuMemcpyDtoD");
    require(p_cuCtxSynchronize(), "cuCtxSynchronize");
}

void *gpu_context(void)
{
    CUcontext context;

    require(p_cuCtxGetCurrent(&context), "cuCtxGetCurrent");
    return context;
}

void gpu_set_context(void *context)
{
    require(p_cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

long long gpu_calls(const char *name)
{
    uint64_t (*calls)(const char *);

    *(void **)&calls = dlsym(RTLD_DEFAULT, "cuda_emu_calls");
    return calls == NULL ? -1 : (long long)calls(name);
}
