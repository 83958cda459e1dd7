/*
 * Streams and what is queued on them other than copies.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "test/cuda_emu/driver.h"

stream_t *emu_get_stream(CUstream h)
{
    if (h == NULL || h == CU_STREAM_LEGACY || h == CU_STREAM_PER_THREAD) {
        ctx_t *c = emu_current();
        if (!c) {
            return NULL;
        }
        stream_t **p = h == CU_STREAM_PER_THREAD ? &c->ptds : &c->null_stream;
        if (!*p) {
            *p = emu_stream_new(c, 0, 0);
        }
        return *p;
    }
    return h->magic == MAGIC_STR ? h : NULL;
}

static CUresult stream_create(CUstream *h, unsigned flags, int prio)
{
    CTX();
    if (flags & ~CU_STREAM_NON_BLOCKING) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    LOCK();
    *h = emu_stream_new(ctx, flags, prio);
    UNLOCK();
    return CUDA_SUCCESS;
}

API(cuStreamCreate, CUstream *h, unsigned flags)
{
    ENTER();
    return stream_create(h, flags, 0);
}

API(cuStreamCreateWithPriority, CUstream *h, unsigned flags, int prio)
{
    ENTER();
    return stream_create(h, flags, prio);
}

API(cuStreamDestroy_v2, CUstream h)
{
    ENTER();
    if (!h || h->magic != MAGIC_STR) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    LOCK();
    emu_drain(h, NULL, 0); /* the real one returns at once and frees later */
    for (stream_t **p = &emu.streams; *p; p = &(*p)->next) {
        if (*p == h) {
            *p = h->next;
            break;
        }
    }
    h->magic = 0; /* what is used after its end is told apart */
    h->next = emu.ended_streams;
    emu.ended_streams = h;
    UNLOCK();
    return CUDA_SUCCESS;
}

API(cuStreamQuery, CUstream h)
{
    ENTER();
    LOCK();
    STREAM(h);
    emu_step_all(emu_now(), 0);
    CUresult r = s->head ? CUDA_ERROR_NOT_READY : emu.sticky;
    UNLOCK();
    return r;
}

API(cuStreamSynchronize, CUstream h)
{
    ENTER();
    LOCK();
    STREAM(h);
    if (s->head) {
        emu_drain(s, NULL, 0);
        emu_observed(s->vtime);
    }
    UNLOCK();
    return emu.sticky;
}

API(cuCtxSynchronize, void)
{
    ENTER();
    CTX();
    LOCK();
    emu_drain(NULL, ctx, 0);
    UNLOCK();
    return emu.sticky;
}

API(cuStreamGetFlags, CUstream h, unsigned *f)
{
    ENTER();
    LOCK();
    STREAM(h);
    *f = s->flags;
    UNLOCK();
    return CUDA_SUCCESS;
}

API(cuStreamGetPriority, CUstream h, int *p)
{
    ENTER();
    LOCK();
    STREAM(h);
    *p = s->prio;
    UNLOCK();
    return CUDA_SUCCESS;
}

API(cuStreamGetCtx, CUstream h, CUcontext *c)
{
    ENTER();
    LOCK();
    STREAM(h);
    *c = s->ctx;
    UNLOCK();
    return CUDA_SUCCESS;
}

API(cuStreamGetId, CUstream h, unsigned long long *id)
{
    ENTER();
    LOCK();
    STREAM(h);
    *id = s->id;
    UNLOCK();
    return CUDA_SUCCESS;
}

API(cuStreamIsCapturing, CUstream h, CUstreamCaptureStatus *st)
{
    ENTER();
    *st = CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

API(cuThreadExchangeStreamCaptureMode, CUstreamCaptureMode *m)
{
    ENTER();
    return CUDA_SUCCESS;
}

API(cuLaunchHostFunc, CUstream h, CUhostFn fn, void *arg)
{
    ENTER();
    LOCK();
    STREAM(h);
    op_t *o = calloc(1, sizeof(*o));
    o->kind = OP_HOST;
    o->fn = fn;
    o->arg = arg;
    emu_enqueue(s, o);
    UNLOCK();
    return CUDA_SUCCESS;
}

API(cuStreamAddCallback, CUstream h, CUstreamCallback cb, void *arg, unsigned flags)
{
    ENTER();
    LOCK();
    STREAM(h);
    op_t *o = calloc(1, sizeof(*o));
    o->kind = OP_HOST;
    o->cb = cb;
    o->arg = arg;
    emu_enqueue(s, o);
    UNLOCK();
    return CUDA_SUCCESS;
}

static CUresult write_value(CUstream h, CUdeviceptr p, uint64_t v, int esize)
{
    loc_t l;
    LOCK();
    STREAM(h);
    CUresult r = emu_resolve(p, esize, &l);
    if (!r && !l.a) {
        r = CUDA_ERROR_INVALID_VALUE;
    }
    if (!r) {
        op_t *o = calloc(1, sizeof(*o));
        o->kind = OP_WRITE;
        o->dst = l.p;
        o->val = v;
        o->esize = esize;
        emu_enqueue(s, o);
    }
    UNLOCK();
    return r;
}

API(cuStreamWriteValue32_v2, CUstream h, CUdeviceptr p, cuuint32_t v, unsigned flags)
{
    ENTER();
    return write_value(h, p, v, 4);
}

API(cuStreamWriteValue64_v2, CUstream h, CUdeviceptr p, cuuint64_t v, unsigned flags)
{
    ENTER();
    return write_value(h, p, v, 8);
}
