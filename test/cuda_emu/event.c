/*
 * Events, also between processes.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "test/cuda_emu/driver.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

API(cuEventCreate, CUevent *e, unsigned flags)
{
    ENTER();
    CTX();
    if ((flags & CU_EVENT_INTERPROCESS) && !(flags & CU_EVENT_DISABLE_TIMING)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    event_t *v = calloc(1, sizeof(*v));
    v->magic = MAGIC_EVT;
    v->flags = flags;
    v->fd = -1;
    v->st = &v->own;
    if (flags & CU_EVENT_INTERPROCESS) {
        v->fd = emu_new_memfd(EMU_PAGE, ctx->gpu, NULL, NULL);
        v->st = emu_sys_mmap(NULL, EMU_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, v->fd, 0);
    }
    *e = v;
    return CUDA_SUCCESS;
}

API(cuEventDestroy_v2, CUevent e)
{
    ENTER();
    if (!e || e->magic != MAGIC_EVT) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    LOCK();
    /* pending operations may still name it: keep the memory of busy events */
    int busy = atomic_load(&e->st->done) < atomic_load(&e->st->rec);
    e->magic = 0;
    if (!busy) {
        if (e->st != &e->own) {
            emu_sys_munmap(e->st, EMU_PAGE);
        }
        if (e->fd >= 0) {
            close(e->fd);
        }
        free(e);
    }
    UNLOCK();
    return CUDA_SUCCESS;
}

static CUresult event_record(CUevent e, CUstream h)
{
    if (!e || e->magic != MAGIC_EVT) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    LOCK();
    STREAM(h);
    op_t *o = calloc(1, sizeof(*o));
    o->kind = OP_EVENT;
    o->ev = e;
    o->val = atomic_fetch_add(&e->st->rec, 1) + 1;
    emu_enqueue(s, o);
    UNLOCK();
    return CUDA_SUCCESS;
}

API(cuEventRecord, CUevent e, CUstream h)
{
    ENTER();
    return event_record(e, h);
}

API(cuEventRecordWithFlags, CUevent e, CUstream h, unsigned flags)
{
    ENTER();
    return event_record(e, h);
}

static int event_done(CUevent e)
{
    uint64_t d = atomic_load(&e->st->done);
    if (d < atomic_load(&e->st->rec)) {
        return 0;
    }
    if (e->seen != d) {
        e->seen = d;
        LOCK();
        emu_observed(atomic_load(&e->st->t));
        UNLOCK();
    }
    return 1;
}

API(cuEventQuery, CUevent e)
{
    ENTER();
    if (!e || e->magic != MAGIC_EVT) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (atomic_load(&e->st->done) < atomic_load(&e->st->rec)) {
        LOCK();
        emu_step_all(emu_now(), 0);
        UNLOCK();
    }
    return event_done(e) ? emu.sticky : CUDA_ERROR_NOT_READY;
}

API(cuEventSynchronize, CUevent e)
{
    ENTER();
    if (!e || e->magic != MAGIC_EVT) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    LOCK();
    while (atomic_load(&e->st->done) < atomic_load(&e->st->rec)) {
        int64_t now = emu_now(), when = emu_step_all(now, 0);
        if (when > now + 200000) {
            when = now + 200000;
        }
        UNLOCK();
        struct timespec ts = {when / 1000000000, when % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
        LOCK();
    }
    UNLOCK();
    event_done(e);
    return emu.sticky;
}

static CUresult elapsed(float *ms, CUevent a, CUevent b)
{
    if (!a || !b || a->magic != MAGIC_EVT || b->magic != MAGIC_EVT ||
        ((a->flags | b->flags) & CU_EVENT_DISABLE_TIMING)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (atomic_load(&a->st->done) < atomic_load(&a->st->rec) ||
        atomic_load(&b->st->done) < atomic_load(&b->st->rec)) {
        return CUDA_ERROR_NOT_READY;
    }
    *ms = (atomic_load(&b->st->t) - atomic_load(&a->st->t)) / 1e6;
    return CUDA_SUCCESS;
}

API(cuEventElapsedTime, float *ms, CUevent a, CUevent b)
{
    ENTER();
    return elapsed(ms, a, b);
}

API(cuEventElapsedTime_v2, float *ms, CUevent a, CUevent b)
{
    ENTER();
    return elapsed(ms, a, b);
}

API(cuStreamWaitEvent, CUstream h, CUevent e, unsigned flags)
{
    ENTER();
    if (!e || e->magic != MAGIC_EVT) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    LOCK();
    STREAM(h);
    op_t *o = calloc(1, sizeof(*o));
    o->kind = OP_WAIT;
    o->ev = e;
    o->val = atomic_load(&e->st->rec);
    emu_enqueue(s, o);
    UNLOCK();
    return CUDA_SUCCESS;
}
