/*
 * Copies and fills.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "test/cuda_emu/driver.h"

enum { NEED_DEV_DST = 1, NEED_DEV_SRC = 2, SYNC = 4 };

static CUresult copy(uintptr_t dst, uintptr_t src, size_t n, CUstream h, int how)
{
    loc_t d, s_;
    CUresult r;
    CTX();
    if (!n) {
        return CUDA_SUCCESS;
    }
    LOCK();
    STREAM(h);
    if ((r = emu_resolve(dst, n, &d)) || (r = emu_resolve(src, n, &s_))) {
        goto out;
    }
    if (((how & NEED_DEV_DST) && !d.a) || ((how & NEED_DEV_SRC) && !s_.a)) {
        r = CUDA_ERROR_INVALID_VALUE;
        goto out;
    }
    op_t *o = calloc(1, sizeof(*o));
    o->kind = OP_COPY;
    o->dst = d.p;
    o->src = s_.p;
    o->n = n;
    o->grain = 1;
    o->where_src = s_.where;
    o->where_dst = d.where;
    emu_make_path(s_.where, d.where, &o->path);
    if (emu.trace) {
        emu_tracef("  copy %zu bytes %d -> %d", n, s_.where, d.where);
    }
    if (how & SYNC) {
        emu_drain(NULL, ctx, 1);
    }
    emu_enqueue(s, o);
    /* Device to device is asynchronous for the host even in the "synchronous"
     * calls, unless SYNC_MEMOPS is set; pageable host memory never is. */
    int d2d = d.where != EMU_HOST && s_.where != EMU_HOST;
    int memops = (ctx->flags & CU_CTX_SYNC_MEMOPS) || (d.a && d.a->sync_memops) ||
                 (s_.a && s_.a->sync_memops);
    if ((how & SYNC) ? !d2d || memops : !d.pinned || !s_.pinned) {
        emu_drain(s, NULL, 0);
    }
    r = emu.sticky;
out:
    UNLOCK();
    return r;
}

API(cuMemcpy, CUdeviceptr d, CUdeviceptr s, size_t n)
{
    ENTER();
    return copy(d, s, n, NULL, SYNC);
}

API(cuMemcpyPeer, CUdeviceptr d, CUcontext dc, CUdeviceptr s, CUcontext sc, size_t n)
{
    ENTER();
    return copy(d, s, n, NULL, SYNC | NEED_DEV_DST | NEED_DEV_SRC);
}

API(cuMemcpyHtoD_v2, CUdeviceptr d, const void *s, size_t n)
{
    ENTER();
    return copy(d, (uintptr_t)s, n, NULL, SYNC | NEED_DEV_DST);
}

API(cuMemcpyDtoH_v2, void *d, CUdeviceptr s, size_t n)
{
    ENTER();
    return copy((uintptr_t)d, s, n, NULL, SYNC | NEED_DEV_SRC);
}

API(cuMemcpyDtoD_v2, CUdeviceptr d, CUdeviceptr s, size_t n)
{
    ENTER();
    return copy(d, s, n, NULL, SYNC | NEED_DEV_DST | NEED_DEV_SRC);
}

API(cuMemcpyAsync, CUdeviceptr d, CUdeviceptr s, size_t n, CUstream h)
{
    ENTER();
    return copy(d, s, n, h, 0);
}

API(cuMemcpyPeerAsync, CUdeviceptr d, CUcontext dc, CUdeviceptr s, CUcontext sc, size_t n,
    CUstream h)
{
    ENTER();
    return copy(d, s, n, h, NEED_DEV_DST | NEED_DEV_SRC);
}

API(cuMemcpyHtoDAsync_v2, CUdeviceptr d, const void *s, size_t n, CUstream h)
{
    ENTER();
    return copy(d, (uintptr_t)s, n, h, NEED_DEV_DST);
}

API(cuMemcpyDtoHAsync_v2, void *d, CUdeviceptr s, size_t n, CUstream h)
{
    ENTER();
    return copy((uintptr_t)d, s, n, h, NEED_DEV_SRC);
}

API(cuMemcpyDtoDAsync_v2, CUdeviceptr d, CUdeviceptr s, size_t n, CUstream h)
{
    ENTER();
    return copy(d, s, n, h, NEED_DEV_DST | NEED_DEV_SRC);
}

static CUresult copy2d(const CUDA_MEMCPY2D *c, CUstream h, int sync)
{
    loc_t d, s_;
    CUresult r;
    CTX();
    if (c->srcMemoryType == CU_MEMORYTYPE_ARRAY || c->dstMemoryType == CU_MEMORYTYPE_ARRAY) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (!c->WidthInBytes || !c->Height) {
        return CUDA_SUCCESS;
    }
    uintptr_t src = c->srcMemoryType == CU_MEMORYTYPE_HOST ? (uintptr_t)c->srcHost : c->srcDevice;
    uintptr_t dst = c->dstMemoryType == CU_MEMORYTYPE_HOST ? (uintptr_t)c->dstHost : c->dstDevice;
    src += c->srcY * c->srcPitch + c->srcXInBytes;
    dst += c->dstY * c->dstPitch + c->dstXInBytes;
    LOCK();
    STREAM(h);
    if ((r = emu_resolve(dst, (c->Height - 1) * c->dstPitch + c->WidthInBytes, &d)) ||
        (r = emu_resolve(src, (c->Height - 1) * c->srcPitch + c->WidthInBytes, &s_))) {
        goto out;
    }
    op_t *o = calloc(1, sizeof(*o));
    o->kind = OP_COPY;
    o->dst = d.p;
    o->src = s_.p;
    o->width = c->WidthInBytes;
    o->height = c->Height;
    o->dpitch = c->dstPitch;
    o->spitch = c->srcPitch;
    o->n = o->width * o->height;
    o->grain = o->width;
    o->where_src = s_.where;
    o->where_dst = d.where;
    emu_make_path(s_.where, d.where, &o->path);
    emu_enqueue(s, o);
    if (sync || !d.pinned || !s_.pinned) {
        emu_drain(s, NULL, 0);
    }
    r = emu.sticky;
out:
    UNLOCK();
    return r;
}

API(cuMemcpy2D_v2, const CUDA_MEMCPY2D *c)
{
    ENTER();
    return copy2d(c, NULL, 1);
}

API(cuMemcpy2DUnaligned_v2, const CUDA_MEMCPY2D *c)
{
    ENTER();
    return copy2d(c, NULL, 1);
}

API(cuMemcpy2DAsync_v2, const CUDA_MEMCPY2D *c, CUstream h)
{
    ENTER();
    return copy2d(c, h, 0);
}

static CUresult set(CUdeviceptr p, uint64_t v, int esize, size_t count, CUstream h)
{
    loc_t d;
    CUresult r;
    CTX();
    if (!count) {
        return CUDA_SUCCESS;
    }
    LOCK();
    STREAM(h);
    if (!(r = emu_resolve(p, count * esize, &d)) && !d.a) {
        r = CUDA_ERROR_INVALID_VALUE;
    }
    if (!r) {
        op_t *o = calloc(1, sizeof(*o));
        o->kind = OP_SET;
        o->dst = d.p;
        o->val = v;
        o->esize = esize;
        o->n = count * esize;
        emu_enqueue(s, o);
    }
    UNLOCK();
    return r;
}

API(cuMemsetD8_v2, CUdeviceptr p, unsigned char v, size_t n)
{
    ENTER();
    return set(p, v, 1, n, NULL);
}
API(cuMemsetD16_v2, CUdeviceptr p, unsigned short v, size_t n)
{
    ENTER();
    return set(p, v, 2, n, NULL);
}
API(cuMemsetD32_v2, CUdeviceptr p, unsigned v, size_t n)
{
    ENTER();
    return set(p, v, 4, n, NULL);
}
API(cuMemsetD8Async, CUdeviceptr p, unsigned char v, size_t n, CUstream h)
{
    ENTER();
    return set(p, v, 1, n, h);
}
API(cuMemsetD16Async, CUdeviceptr p, unsigned short v, size_t n, CUstream h)
{
    ENTER();
    return set(p, v, 2, n, h);
}
API(cuMemsetD32Async, CUdeviceptr p, unsigned v, size_t n, CUstream h)
{
    ENTER();
    return set(p, v, 4, n, h);
}
