/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "test/cuda_emu/conformance.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BIG = 4 << 20, SMALL = 1000, BLOCK = 2 << 20 };

static sigjmp_buf escape;
static volatile int fault_code;

static void caught(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    fault_code = info->si_code;
    siglongjmp(escape, 1);
}

/* Does the CPU's touch of this address fault? */
static bool faults(CUdeviceptr address, bool write)
{
    volatile char *byte = (volatile char *)(uintptr_t)address;

    fault_code = 0;
    if (sigsetjmp(escape, 1) != 0) {
        return true;
    }
    if (write) {
        *byte = 1;
    } else {
        fault_code = *byte;
    }
    return false;
}

static void device_memory_is_out_of_reach(CUdeviceptr address)
{
    struct sigaction action = {.sa_sigaction = caught, .sa_flags = SA_SIGINFO}, before;
    int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

    (void)sigaction(SIGSEGV, &action, &before);
    HOLDS(faults(address, true));
    HOLDS(faults(address, false));
    if (conformance_emulated()) {
        HOLDS(fault_code == SEGV_ACCERR);
    }
    (void)sigaction(SIGSEGV, &before, NULL);
    errno = 0;
    HOLDS(read(zero, (void *)(uintptr_t)address, 16) == -1 && errno == EFAULT);
    (void)close(zero);
}

static void pointers_are_known(CUdeviceptr big, CUdeviceptr small, CUcontext context)
{
    char host[64];
    unsigned type = 0;
    int capable = 0;
    unsigned long long first = 0, second = 0;
    CUcontext found = NULL;
    CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_CONTEXT};
    void *values[] = {&type, (void *)&found};

    WORKS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, big + 100));
    HOLDS(type == CU_MEMORYTYPE_DEVICE);
    RETURNS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  (CUdeviceptr)(uintptr_t)host),
            CUDA_ERROR_INVALID_VALUE);
    /* The plural says nothing about unknown pointers, and succeeds. */
    found = context;
    WORKS(cuPointerGetAttributes(2, names, values, (CUdeviceptr)(uintptr_t)host));
    HOLDS(type == 0 && found == NULL);
    WORKS(cuPointerGetAttributes(2, names, values, big));
    HOLDS(type == CU_MEMORYTYPE_DEVICE && found == context);
    WORKS(cuPointerGetAttribute(&first, CU_POINTER_ATTRIBUTE_BUFFER_ID, big));
    WORKS(cuPointerGetAttribute(&second, CU_POINTER_ATTRIBUTE_BUFFER_ID, small));
    HOLDS(first != second);
    WORKS(cuPointerGetAttribute(&capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, big));
    HOLDS(capable == 1);
}

static void ranges_are_known(CUdeviceptr big, CUdeviceptr small)
{
    char host[64];
    CUdeviceptr base = 0;
    size_t n_bytes = 0;

    WORKS(cuMemGetAddressRange(&base, &n_bytes, small + 10));
    HOLDS(base == small && n_bytes == SMALL);
    HOLDS(small % 256 == 0);
    RETURNS(cuMemcpyDtoH(host, big + BIG - 16, sizeof(host)), CUDA_ERROR_INVALID_VALUE);
    RETURNS(cuMemcpyDtoD(big, (CUdeviceptr)(uintptr_t)host, 16), CUDA_ERROR_INVALID_VALUE);
}

static void other_memory_has_no_handle(void)
{
    CUdeviceptr pool = 0, managed = 0;
    CUipcMemHandle handle;
    int capable = 1;

    WORKS(cuMemAllocAsync(&pool, 4096, 0));
    WORKS(cuStreamSynchronize(0));
    RETURNS(cuIpcGetMemHandle(&handle, pool), CUDA_ERROR_INVALID_VALUE);
    WORKS(cuPointerGetAttribute(&capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, pool));
    HOLDS(capable == 0);
    WORKS(cuMemFreeAsync(pool, 0));
    WORKS(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    *(volatile char *)(uintptr_t)managed = 1;
    RETURNS(cuIpcGetMemHandle(&handle, managed), CUDA_ERROR_INVALID_VALUE);
    WORKS(cuMemFree(managed));
}

static void contexts_are_per_thread(void)
{
    CUdeviceptr address;
    CUcontext context = NULL, popped = NULL;
    int device;

    WORKS(cuCtxGetCurrent(&context));
    HOLDS(context == NULL);
    RETURNS(cuMemAlloc(&address, BIG), CUDA_ERROR_INVALID_CONTEXT);
    context = conformance_context(0);
    WORKS(cuCtxPopCurrent(&popped));
    HOLDS(popped == context);
    RETURNS(cuCtxGetDevice(&device), CUDA_ERROR_INVALID_CONTEXT);
    WORKS(cuCtxPushCurrent(context));
}

static void a_child_has_no_driver(void)
{
    int status = -1, device;
    pid_t child = fork();

    if (child == 0) {
        _exit(cuCtxGetDevice(&device) == CUDA_SUCCESS);
    }
    (void)waitpid(child, &status, 0);
    HOLDS(status == 0);
}

void conformance_memory(void)
{
    CUcontext context;
    CUdeviceptr big = 0, small = 0;

    RETURNS(cuMemAlloc(&big, BIG), CUDA_ERROR_NOT_INITIALIZED);
    WORKS(cuInit(0));
    contexts_are_per_thread();
    WORKS(cuCtxGetCurrent(&context));
    WORKS(cuMemAlloc(&big, BIG));
    WORKS(cuMemAlloc(&small, SMALL));
    device_memory_is_out_of_reach(big);
    pointers_are_known(big, small, context);
    ranges_are_known(big, small);
    other_memory_has_no_handle();
    RETURNS(cuMemFree(big + 4096), CUDA_ERROR_INVALID_VALUE);
    WORKS(cuMemFree(big));
    WORKS(cuMemFree(small));
    RETURNS(cuMemFree(small), CUDA_ERROR_INVALID_VALUE);
    RETURNS(cuMemAlloc(&big, (size_t)1 << 50), CUDA_ERROR_OUT_OF_MEMORY);
    a_child_has_no_driver();
}
