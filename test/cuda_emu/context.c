/*
 * Contexts, the calling thread's stack of them, and peer access.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "test/cuda_emu/driver.h"

static __thread ctx_t *tstack[16];
static __thread int tdepth;

ctx_t *emu_current(void)
{
    ctx_t *c = tdepth ? tstack[tdepth - 1] : NULL;
    if (c && c->magic != MAGIC_CTX) {
        return NULL;
    }
    return c && c->primary && !c->retained ? NULL : c;
}

API(cuDevicePrimaryCtxRetain, CUcontext *c, CUdevice d)
{
    ENTER();
    DEV(d);
    LOCK();
    emu.primary[d].retained++;
    UNLOCK();
    *c = &emu.primary[d];
    return CUDA_SUCCESS;
}

static CUresult primary_release(CUdevice d)
{
    DEV(d);
    LOCK();
    if (emu.primary[d].retained > 0) {
        emu.primary[d].retained--;
    }
    UNLOCK();
    return CUDA_SUCCESS;
}

API(cuDevicePrimaryCtxRelease, CUdevice d)
{
    ENTER();
    return primary_release(d);
}

API(cuDevicePrimaryCtxRelease_v2, CUdevice d)
{
    ENTER();
    return primary_release(d);
}

API(cuDevicePrimaryCtxReset_v2, CUdevice d)
{
    ENTER();
    DEV(d);
    return CUDA_SUCCESS;
}

API(cuDevicePrimaryCtxGetState, CUdevice d, unsigned *flags, int *active)
{
    ENTER();
    DEV(d);
    if (flags) {
        *flags = emu.primary[d].flags;
    }
    if (active) {
        *active = emu.primary[d].retained > 0;
    }
    return CUDA_SUCCESS;
}

API(cuDevicePrimaryCtxSetFlags_v2, CUdevice d, unsigned flags)
{
    ENTER();
    DEV(d);
    emu.primary[d].flags = flags;
    return CUDA_SUCCESS;
}

static CUresult ctx_create(CUcontext *c, unsigned flags, CUdevice d)
{
    DEV(d);
    ctx_t *x = calloc(1, sizeof(*x));
    *x = (ctx_t){.magic = MAGIC_CTX, .dev = d, .gpu = emu.vis[d], .flags = flags};
    x->id = __atomic_add_fetch(&emu.ids, 1, __ATOMIC_RELAXED);
    if (tdepth < 16) {
        tstack[tdepth++] = x;
    }
    *c = x;
    return CUDA_SUCCESS;
}

API(cuCtxCreate_v2, CUcontext *c, unsigned flags, CUdevice d)
{
    ENTER();
    return ctx_create(c, flags, d);
}

API(cuCtxCreate_v3, CUcontext *c, CUexecAffinityParam *p, int n, unsigned flags, CUdevice d)
{
    ENTER();
    return ctx_create(c, flags, d);
}

API(cuCtxCreate_v4, CUcontext *c, CUctxCreateParams *p, unsigned flags, CUdevice d)
{
    ENTER();
    return ctx_create(c, flags, d);
}

API(cuCtxDestroy_v2, CUcontext c)
{
    ENTER();
    if (!c || c->magic != MAGIC_CTX || c->primary) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (tdepth && tstack[tdepth - 1] == c) {
        --tdepth;
    }
    c->magic = 0; /* kept, so that stale handles are recognized */
    return CUDA_SUCCESS;
}

API(cuCtxGetCurrent, CUcontext *c)
{
    ENTER();
    *c = tdepth ? tstack[tdepth - 1] : NULL;
    return CUDA_SUCCESS;
}

API(cuCtxSetCurrent, CUcontext c)
{
    ENTER();
    if (c && c->magic != MAGIC_CTX) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (!c) {
        if (tdepth) {
            --tdepth;
        }
    } else if (tdepth) {
        tstack[tdepth - 1] = c;
    } else {
        tstack[tdepth++] = c;
    }
    return CUDA_SUCCESS;
}

API(cuCtxPushCurrent_v2, CUcontext c)
{
    ENTER();
    if (!c || c->magic != MAGIC_CTX || tdepth == 16) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    tstack[tdepth++] = c;
    return CUDA_SUCCESS;
}

API(cuCtxPopCurrent_v2, CUcontext *c)
{
    ENTER();
    if (!tdepth) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    --tdepth;
    if (c) {
        *c = tstack[tdepth];
    }
    return CUDA_SUCCESS;
}

API(cuCtxGetDevice, CUdevice *d)
{
    ENTER();
    CTX();
    *d = ctx->dev;
    return CUDA_SUCCESS;
}

API(cuCtxGetDevice_v2, CUdevice *d, CUcontext c)
{
    ENTER();
    if (!c) {
        c = emu_current();
    }
    if (!c || c->magic != MAGIC_CTX) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *d = c->dev;
    return CUDA_SUCCESS;
}

API(cuCtxGetId, CUcontext c, unsigned long long *id)
{
    ENTER();
    if (!c) {
        c = emu_current();
    }
    if (!c || c->magic != MAGIC_CTX) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *id = c->id;
    return CUDA_SUCCESS;
}

API(cuCtxGetFlags, unsigned *f)
{
    ENTER();
    CTX();
    *f = ctx->flags;
    return CUDA_SUCCESS;
}

API(cuCtxSetFlags, unsigned f)
{
    ENTER();
    CTX();
    ctx->flags = f;
    return CUDA_SUCCESS;
}

API(cuCtxGetApiVersion, CUcontext c, unsigned *v)
{
    ENTER();
    if (c && c->magic != MAGIC_CTX) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *v = 3020;
    return CUDA_SUCCESS;
}

API(cuModuleGetLoadingMode, CUmoduleLoadingMode *m)
{
    ENTER();
    *m = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

API(cuCtxSetLimit, CUlimit l, size_t v)
{
    ENTER();
    return CUDA_SUCCESS;
}

API(cuCtxGetLimit, size_t *v, CUlimit l)
{
    ENTER();
    *v = 0;
    return CUDA_SUCCESS;
}

API(cuCtxGetStreamPriorityRange, int *lo, int *hi)
{
    ENTER();
    if (lo) {
        *lo = 0;
    }
    if (hi) {
        *hi = -5;
    }
    return CUDA_SUCCESS;
}

API(cuCtxEnablePeerAccess, CUcontext p, unsigned flags)
{
    ENTER();
    CTX();
    if (!p || p->magic != MAGIC_CTX) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (flags) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (p->gpu == ctx->gpu) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    if (emu.topo.nop2p[ctx->gpu][p->gpu]) {
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    }
    if (ctx->peer[p->gpu]) {
        return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    }
    ctx->peer[p->gpu] = 1;
    return CUDA_SUCCESS;
}

API(cuCtxDisablePeerAccess, CUcontext p)
{
    ENTER();
    CTX();
    if (!p || p->magic != MAGIC_CTX) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (!ctx->peer[p->gpu]) {
        return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    }
    ctx->peer[p->gpu] = 0;
    return CUDA_SUCCESS;
}
