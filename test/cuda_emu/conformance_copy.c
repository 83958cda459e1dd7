/*
 * Streams, events and copies. Where only a known pace shows an order, the check is
 * for the emulated driver alone: a copy of 1 MiB from device 1 to 0 takes 210 ms there.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "test/cuda_emu/conformance.h"

#include <pthread.h>
#include <unistd.h>

enum { N_BYTES = 1 << 20 };

static volatile bool called;
static pthread_t caller;

static void CUDA_CB host_function(void *argument)
{
    (void)argument;
    caller = pthread_self();
    called = true;
}

static void events_follow_streams(CUdeviceptr to, CUdeviceptr from)
{
    CUstream first, second;
    CUevent before, after;
    double start;
    float ms = 0;
    char byte = 0;

    WORKS(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    WORKS(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    WORKS(cuEventCreate(&before, CU_EVENT_DEFAULT));
    WORKS(cuEventCreate(&after, CU_EVENT_DEFAULT));
    WORKS(cuEventQuery(before)); /* never recorded counts as done */
    start = conformance_seconds();
    WORKS(cuEventRecord(before, first));
    WORKS(cuMemcpyDtoDAsync(to, from, N_BYTES, first));
    WORKS(cuEventRecord(after, first));
    if (conformance_emulated()) {
        HOLDS(conformance_seconds() - start < 0.15);
        RETURNS(cuEventQuery(after), CUDA_ERROR_NOT_READY);
        RETURNS(cuStreamQuery(first), CUDA_ERROR_NOT_READY);
        WORKS(cuStreamQuery(second));
    }
    WORKS(cuStreamWaitEvent(second, after, 0));
    WORKS(cuLaunchHostFunc(second, host_function, NULL));
    WORKS(cuStreamSynchronize(second));
    HOLDS(called && !pthread_equal(caller, pthread_self()));
    WORKS(cuEventQuery(after));
    WORKS(cuEventElapsedTime(&ms, before, after));
    if (conformance_emulated()) {
        HOLDS(ms > 209 && ms < 215);
    }
    WORKS(cuMemcpyDtoH(&byte, to + N_BYTES - 1, 1));
    HOLDS(byte == 7);
    WORKS(cuStreamDestroy(first));
    WORKS(cuStreamDestroy(second));
    WORKS(cuEventDestroy(before));
    WORKS(cuEventDestroy(after));
}

/* "Synchronous" device-to-device copies are not, for the host, unless the memory says so. */
static void device_copies_are_asynchronous(CUdeviceptr to, CUdeviceptr from)
{
    unsigned on = 1;
    double start = conformance_seconds();

    WORKS(cuMemcpyDtoD(to, from, N_BYTES));
    if (conformance_emulated()) {
        HOLDS(conformance_seconds() - start < 0.15);
    }
    WORKS(cuCtxSynchronize());
    if (conformance_emulated()) {
        HOLDS(conformance_seconds() - start > 0.2);
    }
    WORKS(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, to));
    start = conformance_seconds();
    WORKS(cuMemcpyDtoD(to, from, N_BYTES));
    if (conformance_emulated()) {
        HOLDS(conformance_seconds() - start > 0.2);
    }
}

static void peers(void)
{
    CUcontext first, third;
    int can = -1;

    WORKS(cuDevicePrimaryCtxRetain(&first, 0));
    WORKS(cuDevicePrimaryCtxRetain(&third, 2));
    WORKS(cuDeviceCanAccessPeer(&can, 1, 0));
    HOLDS(can == 1);
    WORKS(cuDeviceCanAccessPeer(&can, 1, 2));
    HOLDS(can == 0);
    RETURNS(cuCtxEnablePeerAccess(third, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    WORKS(cuCtxEnablePeerAccess(first, 0));
    RETURNS(cuCtxEnablePeerAccess(first, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    WORKS(cuCtxDisablePeerAccess(first));
    RETURNS(cuCtxDisablePeerAccess(first), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
}

void conformance_copy(void)
{
    CUdeviceptr to = 0, from = 0;
    int last;

    WORKS(cuInit(0));
    last = conformance_devices() > 1 ? 1 : 0;
    (void)conformance_context(0);
    WORKS(cuMemAlloc(&to, N_BYTES));
    (void)conformance_context(last);
    WORKS(cuMemAlloc(&from, N_BYTES));
    WORKS(cuMemsetD8(from, 7, N_BYTES));
    WORKS(cuMemsetD8(to, 0, N_BYTES));
    WORKS(cuCtxSynchronize());
    events_follow_streams(to, from);
    device_copies_are_asynchronous(to, from);
    if (conformance_emulated()) {
        peers();
    }
    WORKS(cuMemFree(to));
    WORKS(cuMemFree(from));
}
