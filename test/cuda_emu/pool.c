/*
 * Stream-ordered allocation.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "test/cuda_emu/driver.h"

API(cuDeviceGetDefaultMemPool, CUmemoryPool *p, CUdevice d)
{
    ENTER();
    DEV(d);
    *p = &emu.pool[d];
    return CUDA_SUCCESS;
}

API(cuDeviceGetMemPool, CUmemoryPool *p, CUdevice d)
{
    ENTER();
    DEV(d);
    *p = emu.curpool[d];
    return CUDA_SUCCESS;
}

API(cuDeviceSetMemPool, CUdevice d, CUmemoryPool p)
{
    ENTER();
    DEV(d);
    emu.curpool[d] = p;
    return CUDA_SUCCESS;
}

API(cuMemPoolCreate, CUmemoryPool *p, const CUmemPoolProps *q)
{
    ENTER();
    DEV(q->location.id);
    if (q->handleTypes & CU_MEM_HANDLE_TYPE_FABRIC) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    pool_t *x = calloc(1, sizeof(*x));
    x->gpu = emu.vis[q->location.id];
    x->dev = q->location.id;
    x->types = q->handleTypes;
    *p = x;
    return CUDA_SUCCESS;
}

API(cuMemPoolDestroy, CUmemoryPool p)
{
    ENTER();
    if (!p || p->def) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

API(cuMemPoolSetAttribute, CUmemoryPool p, CUmemPool_attribute a, void *v)
{
    ENTER();
    return CUDA_SUCCESS;
}
API(cuMemPoolGetAttribute, CUmemoryPool p, CUmemPool_attribute a, void *v)
{
    ENTER();
    *(uint64_t *)v = 0;
    return CUDA_SUCCESS;
}
API(cuMemPoolTrimTo, CUmemoryPool p, size_t n)
{
    ENTER();
    return CUDA_SUCCESS;
}
API(cuMemPoolSetAccess, CUmemoryPool p, const CUmemAccessDesc *d, size_t n)
{
    ENTER();
    return CUDA_SUCCESS;
}

API(cuMemPoolGetAccess, CUmemAccess_flags *f, CUmemoryPool p, CUmemLocation *l)
{
    ENTER();
    *f = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return CUDA_SUCCESS;
}

static CUresult alloc_async(CUdeviceptr *p, size_t n, pool_t *pool, CUstream h)
{
    CTX();
    uintptr_t v;
    if (!emu.topo.pools) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    LOCK();
    CUresult r = emu_dev_alloc(ctx, n, K_ASYNC, pool ? pool : emu.curpool[ctx->dev], &v);
    UNLOCK();
    if (!r) {
        *p = v;
    }
    return r;
}

API(cuMemAllocAsync, CUdeviceptr *p, size_t n, CUstream h)
{
    ENTER();
    return alloc_async(p, n, NULL, h);
}

API(cuMemAllocFromPoolAsync, CUdeviceptr *p, size_t n, CUmemoryPool pool, CUstream h)
{
    ENTER();
    return alloc_async(p, n, pool, h);
}

API(cuMemFreeAsync, CUdeviceptr p, CUstream h)
{
    ENTER();
    LOCK();
    STREAM(h);
    alloc_t *a = emu_lookup(p);
    if (!a || a->base != p || (a->kind != K_ASYNC && a->kind != K_DEV)) {
        UNLOCK();
        return CUDA_ERROR_INVALID_VALUE;
    }
    op_t *o = calloc(1, sizeof(*o));
    o->kind = OP_FREE;
    o->val = p;
    emu_enqueue(s, o);
    UNLOCK();
    return CUDA_SUCCESS;
}
