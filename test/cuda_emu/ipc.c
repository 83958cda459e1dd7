/*
 * Memory and events of other processes.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "test/cuda_emu/driver.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    uint32_t magic;
    int32_t pid, fd, gpu;
    uint64_t ino, dev, bsize;
    uint32_t offset, node;
    uint64_t size; /* of the allocation */
} ipch_t;
_Static_assert(sizeof(ipch_t) <= CU_IPC_HANDLE_SIZE, "IPC handle");

static uint32_t node_hash(void)
{
    uint32_t h = 2166136261u;
    for (const char *c = emu.topo.node; *c; ++c) {
        h = (h ^ (uint8_t)*c) * 16777619u;
    }
    return h;
}

API(cuIpcGetMemHandle, CUipcMemHandle *out, CUdeviceptr p)
{
    ENTER();
    CTX();
    if (!emu.topo.ipc) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    LOCK();
    alloc_t *a = emu_lookup(p);
    CUresult r = CUDA_ERROR_INVALID_VALUE; /* VMM, pool, managed, imported, host */
    if (a && a->kind == K_DEV) {
        ipch_t h = {.magic = MAGIC_IPC,
                    .pid = getpid(),
                    .fd = a->blk->fd,
                    .gpu = a->gpu,
                    .ino = a->blk->ino,
                    .dev = a->blk->dev,
                    .bsize = a->blk->size,
                    .offset = a->base - a->blk->va,
                    .size = a->size,
                    .node = node_hash()};
        memset(out, 0, sizeof(*out));
        memcpy(out, &h, sizeof(h));
        r = CUDA_SUCCESS;
    }
    UNLOCK();
    return r;
}

static CUresult ipc_open(CUdeviceptr *p, CUipcMemHandle raw, unsigned flags)
{
    ipch_t h;
    char path[64];
    struct stat st;
    CTX();
    memcpy(&h, &raw, sizeof(h));
    if (!emu.topo.ipc) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (h.magic != MAGIC_IPC || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (h.node != node_hash()) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (h.pid == getpid()) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (h.gpu != ctx->gpu && emu.topo.nop2p[ctx->gpu][h.gpu]) {
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    }
    LOCK();
    ipcmap_t *m;
    for (m = emu.ipc; m; m = m->next) {
        if (m->pid == h.pid && m->ino == h.ino && m->dev == h.dev) {
            break;
        }
    }
    if (!m) {
        snprintf(path, sizeof(path), "/proc/%d/fd/%d", h.pid, h.fd);
        int fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) || st.st_ino != h.ino || st.st_dev != h.dev) {
            if (fd >= 0) {
                close(fd);
            }
            UNLOCK();
            return CUDA_ERROR_INVALID_VALUE; /* freed, or the exporter is gone */
        }
        m = calloc(1, sizeof(*m));
        m->pid = h.pid;
        m->gpu = h.gpu;
        m->ino = h.ino;
        m->dev = h.dev;
        m->size = h.bsize;
        m->va = emu_va_reserve(m->size, 0);
        m->sh = emu_sys_mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        m->next = emu.ipc;
        emu.ipc = m;
        close(fd);
    }
    uintptr_t at = m->va + h.offset;
    alloc_t *a = emu_lookup(at);
    if (a && a->kind == K_IPC && a->base == at) {
        a->refs++;
    } else {
        emu_insert((alloc_t){.base = at,
                             .size = h.size,
                             .kind = K_IPC,
                             .gpu = h.gpu,
                             .ctx = ctx,
                             .sh = m->sh + h.offset,
                             .ipc = m,
                             .refs = 1});
    }
    m->refs++;
    if (h.gpu != ctx->gpu) {
        ctx->peer[h.gpu] = 1;
    }
    atomic_fetch_add(&emu.sh->ipc_opens, 1);
    *p = at;
    UNLOCK();
    return CUDA_SUCCESS;
}

API(cuIpcOpenMemHandle, CUdeviceptr *p, CUipcMemHandle h, unsigned flags)
{
    ENTER();
    CUresult r = ipc_open(p, h, flags);
    if (r) {
        atomic_fetch_add(&emu.sh->ipc_refused, 1);
    }
    return r;
}

API(cuIpcOpenMemHandle_v2, CUdeviceptr *p, CUipcMemHandle h, unsigned flags)
{
    ENTER();
    CUresult r = ipc_open(p, h, flags);
    if (r) {
        atomic_fetch_add(&emu.sh->ipc_refused, 1);
    }
    return r;
}

API(cuIpcCloseMemHandle, CUdeviceptr p)
{
    ENTER();
    CTX();
    LOCK();
    alloc_t *a = emu_lookup(p);
    if (!a || a->kind != K_IPC || a->base != p) {
        UNLOCK();
        return CUDA_ERROR_INVALID_VALUE;
    }
    atomic_fetch_add(&emu.sh->ipc_closes, 1);
    emu_drain(NULL, NULL, 0);
    a = emu_lookup(p);
    ipcmap_t *m = a->ipc;
    if (!--a->refs) {
        emu_drop(a);
    }
    if (!--m->refs) {
        for (ipcmap_t **q = &emu.ipc; *q; q = &(*q)->next) {
            if (*q == m) {
                *q = m->next;
                break;
            }
        }
        emu_sys_munmap(m->sh, m->size);
        emu_sys_munmap((void *)m->va, emu_up(m->size, EMU_PAGE));
        free(m);
    }
    UNLOCK();
    return CUDA_SUCCESS;
}

API(cuIpcGetEventHandle, CUipcEventHandle *out, CUevent e)
{
    ENTER();
    if (!e || e->magic != MAGIC_EVT || !(e->flags & CU_EVENT_INTERPROCESS)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    ipch_t h = {.magic = MAGIC_IPC + 1, .pid = getpid(), .fd = e->fd, .node = node_hash()};
    memset(out, 0, sizeof(*out));
    memcpy(out, &h, sizeof(h));
    return CUDA_SUCCESS;
}

API(cuIpcOpenEventHandle, CUevent *e, CUipcEventHandle raw)
{
    ipch_t h;
    char path[64];
    ENTER();
    memcpy(&h, &raw, sizeof(h));
    if (h.magic != MAGIC_IPC + 1 || h.node != node_hash()) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", h.pid, h.fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    event_t *v = calloc(1, sizeof(*v));
    v->magic = MAGIC_EVT;
    v->flags = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;
    v->fd = fd;
    v->st = emu_sys_mmap(NULL, EMU_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    *e = v;
    return CUDA_SUCCESS;
}
