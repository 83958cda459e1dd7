/*
 * What is known about a pointer.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "test/cuda_emu/driver.h"

static int visible_of(int gpu)
{
    for (int i = 0; i < emu.nvis; ++i) {
        if (emu.vis[i] == gpu) {
            return i;
        }
    }
    return -2;
}

/* Lock held.  Returns NOT_FOUND-like INVALID_VALUE for what is unknown. */
static CUresult attr(void *out, CUpointer_attribute k, uintptr_t p)
{
    alloc_t *a = emu_lookup(p);
    if (!a || a->kind == K_RESV) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    int host = a->kind == K_HOST || a->kind == K_HOSTREG;
    int dev = a->gpu >= 0 ? visible_of(a->gpu) : a->ctx ? a->ctx->dev : -2;
    if (dev == -2 && a->ctx) {
        dev = a->ctx->dev; /* imported from a device that is not visible here */
    }
    switch (k) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)out = a->ctx;
        break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(CUmemorytype *)out = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)out = p;
        break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!host && a->kind != K_MANAGED) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *(void **)out = (void *)p;
        break;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        *(int *)out = a->sync_memops;
        break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *(unsigned long long *)out = a->id;
        break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned *)out = a->kind == K_MANAGED;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)out = dev;
        break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *(int *)out = a->kind == K_DEV && emu.topo.ipc;
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)out = a->base;
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)out = a->size;
        break;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *(int *)out = 1;
        break;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *(int *)out = a->vmm    ? (int)a->vmm->prop.requestedHandleTypes
                      : a->pool ? (int)a->pool->types
                                : 0;
        break;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        *(int *)out = a->kind == K_DEV || a->kind == K_VMM;
        break;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *(int *)out = CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE;
        break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *(CUmemoryPool *)out = a->pool;
        break;
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        *(size_t *)out = a->blk ? a->blk->size : a->size;
        break;
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        *(CUdeviceptr *)out = a->blk ? a->blk->va : a->base;
        break;
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        *(unsigned long long *)out = a->blk ? a->blk->ino : a->id;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

API(cuPointerGetAttribute, void *out, CUpointer_attribute k, CUdeviceptr p)
{
    ENTER();
    LOCK();
    CUresult r = attr(out, k, p);
    UNLOCK();
    return r;
}

static size_t attr_size(CUpointer_attribute k)
{
    switch (k) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        return 8;
    default:
        return 4;
    }
}

API(cuPointerGetAttributes, unsigned n, CUpointer_attribute *k, void **out, CUdeviceptr p)
{
    ENTER();
    LOCK();
    for (unsigned i = 0; i < n; ++i) {
        if (attr(out[i], k[i], p)) {
            memset(out[i], 0, attr_size(k[i])); /* unknown pointers: nulls, success */
            if (k[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) {
                *(int *)out[i] = -2;
            }
        }
    }
    UNLOCK();
    return CUDA_SUCCESS;
}

API(cuPointerSetAttribute, const void *v, CUpointer_attribute k, CUdeviceptr p)
{
    ENTER();
    if (k != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    LOCK();
    alloc_t *a = emu_lookup(p);
    if (a) {
        a->sync_memops = *(const unsigned *)v;
    }
    UNLOCK();
    return a ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

API(cuMemRangeGetAttribute, void *out, size_t n, CUmem_range_attribute k, CUdeviceptr p, size_t len)
{
    ENTER();
    LOCK();
    alloc_t *a = emu_lookup(p);
    UNLOCK();
    if (!a || a->kind != K_MANAGED || n < 4) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *(int *)out = CU_DEVICE_INVALID;
    return CUDA_SUCCESS;
}
