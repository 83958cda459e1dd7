/*
 * Entries that allocate, free and register memory.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "test/cuda_emu/driver.h"

#include <sys/mman.h>

static CUresult mem_alloc(CUdeviceptr *p, size_t n)
{
    CTX();
    uintptr_t v;
    LOCK();
    CUresult r = emu_dev_alloc(ctx, n, K_DEV, NULL, &v);
    UNLOCK();
    if (!r) {
        *p = v;
    }
    return r;
}

API(cuMemAlloc_v2, CUdeviceptr *p, size_t n)
{
    ENTER();
    return mem_alloc(p, n);
}

API(cuMemAllocPitch_v2, CUdeviceptr *p, size_t *pitch, size_t w, size_t h, unsigned e)
{
    ENTER();
    *pitch = emu_up(w, 512);
    return mem_alloc(p, *pitch * h);
}

API(cuMemAllocManaged, CUdeviceptr *p, size_t n, unsigned flags)
{
    ENTER();
    CTX();
    if (!n) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    char *m = emu_sys_mmap(NULL, emu_up(n, EMU_PAGE), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    LOCK();
    emu_insert((alloc_t){
        .base = (uintptr_t)m, .size = n, .kind = K_MANAGED, .gpu = ctx->gpu, .ctx = ctx, .sh = m});
    UNLOCK();
    *p = (uintptr_t)m;
    return CUDA_SUCCESS;
}

API(cuMemFree_v2, CUdeviceptr p)
{
    ENTER();
    if (!p) {
        return CUDA_SUCCESS;
    }
    LOCK();
    alloc_t *a = emu_lookup(p);
    if (!a || a->base != p || (a->kind != K_DEV && a->kind != K_ASYNC && a->kind != K_MANAGED)) {
        UNLOCK();
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_drain(NULL, NULL, 0); /* cuMemFree waits for the device */
    a = emu_lookup(p);
    if (a->kind == K_MANAGED) {
        size_t n = emu_up(a->size, EMU_PAGE);
        emu_drop(a);
        emu_sys_munmap((void *)p, n);
    } else {
        emu_dev_free(a);
    }
    UNLOCK();
    return CUDA_SUCCESS;
}

API(cuMemGetInfo_v2, size_t *f, size_t *t)
{
    ENTER();
    CTX();
    *t = emu.topo.gpu[ctx->gpu].mem;
    *f = *t - atomic_load(&emu.sh->used[ctx->gpu]);
    return CUDA_SUCCESS;
}

API(cuMemGetAddressRange_v2, CUdeviceptr *b, size_t *n, CUdeviceptr p)
{
    ENTER();
    LOCK();
    alloc_t *a = emu_lookup(p);
    CUresult r = CUDA_ERROR_NOT_FOUND;
    if (a && a->kind != K_RESV && a->kind != K_HOSTREG && a->kind != K_HOST) {
        if (b) {
            *b = a->base;
        }
        if (n) {
            *n = a->size;
        }
        r = CUDA_SUCCESS;
    }
    UNLOCK();
    return r;
}

static CUresult host_alloc(void **p, size_t n, unsigned flags)
{
    CTX();
    if (!n) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    char *m = emu_sys_mmap(NULL, emu_up(n, EMU_PAGE), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    LOCK();
    emu_insert((alloc_t){.base = (uintptr_t)m,
                         .size = n,
                         .kind = K_HOST,
                         .gpu = -1,
                         .ctx = ctx,
                         .sh = m,
                         .hflags = flags});
    UNLOCK();
    *p = m;
    return CUDA_SUCCESS;
}

API(cuMemHostAlloc, void **p, size_t n, unsigned flags)
{
    ENTER();
    return host_alloc(p, n, flags);
}

API(cuMemAllocHost_v2, void **p, size_t n)
{
    ENTER();
    return host_alloc(p, n, 0);
}

API(cuMemFreeHost, void *p)
{
    ENTER();
    LOCK();
    alloc_t *a = emu_lookup((uintptr_t)p);
    if (!a || a->kind != K_HOST || a->base != (uintptr_t)p) {
        UNLOCK();
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_drain(NULL, NULL, 0);
    a = emu_lookup((uintptr_t)p);
    size_t n = emu_up(a->size, EMU_PAGE);
    emu_drop(a);
    emu_sys_munmap(p, n);
    UNLOCK();
    return CUDA_SUCCESS;
}

API(cuMemHostRegister_v2, void *p, size_t n, unsigned flags)
{
    ENTER();
    CTX();
    LOCK();
    alloc_t *a = emu_lookup((uintptr_t)p), *b = emu_lookup((uintptr_t)p + n - 1);
    CUresult r = CUDA_SUCCESS;
    if (a || b) {
        r = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    } else {
        emu_insert((alloc_t){.base = (uintptr_t)p,
                             .size = n,
                             .kind = K_HOSTREG,
                             .gpu = -1,
                             .ctx = ctx,
                             .sh = p,
                             .hflags = flags});
    }
    UNLOCK();
    return r;
}

API(cuMemHostUnregister, void *p)
{
    ENTER();
    LOCK();
    alloc_t *a = emu_lookup((uintptr_t)p);
    CUresult r = CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    if (a && a->kind == K_HOSTREG && a->base == (uintptr_t)p) {
        emu_drop(a);
        r = CUDA_SUCCESS;
    }
    UNLOCK();
    return r;
}

API(cuMemHostGetDevicePointer_v2, CUdeviceptr *d, void *p, unsigned flags)
{
    ENTER();
    LOCK();
    alloc_t *a = emu_lookup((uintptr_t)p);
    UNLOCK();
    if (!a || (a->kind != K_HOST && a->kind != K_HOSTREG)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *d = (uintptr_t)p;
    return CUDA_SUCCESS;
}

API(cuMemHostGetFlags, unsigned *f, void *p)
{
    ENTER();
    LOCK();
    alloc_t *a = emu_lookup((uintptr_t)p);
    UNLOCK();
    if (!a || (a->kind != K_HOST && a->kind != K_HOSTREG)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *f = a->hflags;
    return CUDA_SUCCESS;
}
