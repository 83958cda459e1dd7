/*
 * What the files of the emulated driver share: objects behind CUDA's handles,
 * the state of the process, and the macros that every entry begins with.
 *
 *   driver.c   cuInit, visible devices, errors     device.c   devices
 *   context.c  contexts and peer access            table.c    allocations, blocks
 *   engine.c   queued operations and their pace    stream.c, event.c
 *   memory.c   allocation entries                  copy.c     copies and fills
 *   ipc.c, pool.c, vmm.c, pointer.c                lookup.c   cuGetProcAddress
 *   fault.c    injected faults, trace              counter.c  what tests ask
 *   sys.c      mmap around every hook              fluid.c    bandwidth
 *   topology.c the description file                nvml.c, runtime.c: own libraries
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_CUDA_EMU_DRIVER_H
#define VP_TEST_CUDA_EMU_DRIVER_H

#define __CUDA_API_VERSION_INTERNAL /* no _v2 renaming by cuda.h */
#include <cuda.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/cuda_emu/emu.h"

/*
 * Every exported entry is a small trampoline. UCX's memory hooks overwrite the
 * first 5 or 12 bytes of some of these functions and move the old ones
 * elsewhere; their decoder knows few instructions, so the start is made of
 * those: 1 + 3 + 4 + 4 = 12 bytes.
 */
#define EMU_EXPORT(name)                                                                           \
    __asm__(".pushsection .text\n\t.p2align 4\n\t.globl " #name "\n\t.type " #name                 \
            ",@function\n" #name ":\n\t"                                                           \
            "push %rbp\n\tmov %rsp,%rbp\n\tsub $16,%rsp\n\tsub $16,%rsp\n\t"                       \
            "mov %rbp,%rsp\n\tpop %rbp\n\tjmp emu_" #name "\n\t.size " #name ",.-" #name           \
            "\n\t.popsection")
#define API(name, ...)                                                                             \
    EMU_EXPORT(name);                                                                              \
    __attribute__((used)) static CUresult emu_##name(__VA_ARGS__)

#define MAGIC_CTX 0xc7c7c701u
#define MAGIC_STR 0xc7c7c702u
#define MAGIC_EVT 0xc7c7c703u
#define MAGIC_IPC 0x31504946u /* "FIP1" */

typedef struct CUctx_st ctx_t;
typedef struct CUstream_st stream_t;
typedef struct CUevent_st event_t;
typedef struct CUmemPoolHandle_st pool_t;

enum kind { K_DEV = 1, K_ASYNC, K_VMM, K_MANAGED, K_HOST, K_HOSTREG, K_IPC, K_RESV };

typedef struct block {
    struct block *next;
    int fd, gpu, small;
    size_t size, live;
    uintptr_t va; /* what the application sees: PROT_NONE */
    char *sh;     /* the emulator's own mapping */
    uint64_t ino, dev;
} block_t;

typedef struct ipcmap {
    struct ipcmap *next;
    int pid, gpu, refs;
    uint64_t ino, dev;
    size_t size;
    uintptr_t va;
    char *sh;
} ipcmap_t;

typedef struct vmmh { /* CUmemGenericAllocationHandle */
    uint32_t magic;
    int refs, fd, gpu, imported;
    size_t size;
    char *sh;
    CUmemAllocationProp prop;
} vmmh_t;

typedef struct {
    uintptr_t base;
    size_t size;
    enum kind kind;
    int gpu; /* physical index, or -1 */
    ctx_t *ctx;
    char *sh;
    block_t *blk;
    uint64_t id;
    int sync_memops, refs;
    unsigned hflags;
    pool_t *pool;
    vmmh_t *vmm;
    ipcmap_t *ipc;
} alloc_t;

struct CUctx_st {
    uint32_t magic;
    int dev; /* visible ordinal */
    int gpu; /* physical */
    unsigned flags;
    int primary, retained;
    uint64_t id;
    stream_t *null_stream, *ptds;
    uint8_t peer[EMU_MAXGPU];
};

typedef struct {
    _Atomic uint64_t rec, done;
    _Atomic int64_t t;
} evstate_t;

struct CUevent_st {
    uint32_t magic;
    unsigned flags;
    int fd;
    uint64_t seen; /* the last completion the application has observed */
    evstate_t *st, own;
};

enum opkind { OP_COPY, OP_SET, OP_EVENT, OP_WAIT, OP_HOST, OP_WRITE, OP_FREE };

typedef struct op {
    struct op *next;
    enum opkind kind;
    char *dst, *src;
    size_t n, done, width, height, dpitch, spitch;
    emu_path_t path;
    int where_src, where_dst;
    int64_t ready, lat, deadline, polled; /* ready: when it can start */
    int slot;                             /* its flow, while under way */
    size_t grain;
    uint64_t val;
    int esize;
    event_t *ev;
    CUhostFn fn;
    CUstreamCallback cb;
    void *arg;
} op_t;

struct CUstream_st {
    uint32_t magic;
    stream_t *next;
    ctx_t *ctx;
    unsigned flags;
    int prio, busy_host;
    uint64_t id;
    op_t *head, *tail;
    int64_t vtime;
};

struct CUmemPoolHandle_st {
    int gpu, dev, def;
    CUmemAllocationHandleType types;
    uint64_t threshold, used;
};

typedef struct {
    char fn[48];
    long nth, count, seen;
    int err, sticky;
} fault_t;

typedef struct emu_state {
    pthread_once_t once;
    CUresult init;
    int inited, pid;
    emu_topo_t topo;
    emu_shared_t *sh;
    int nvis, vis[EMU_MAXGPU];
    ctx_t primary[EMU_MAXGPU]; /* by visible ordinal */
    pool_t pool[EMU_MAXGPU], *curpool[EMU_MAXGPU];
    alloc_t *a;
    int na, ca;
    block_t *small;
    ipcmap_t *ipc;
    stream_t *streams;
    stream_t *ended_streams;
    int npending;
    pthread_cond_t work;
    int engine, stop;
    int64_t tick, defer;
    int64_t lag, lag_at, lag_max; /* see observed() */
    int sticky;
    fault_t fault[16];
    int nfault;
    FILE *trace;
    uint64_t ids;
} emu_state_t;

/* What a pointer of a copy refers to. */
typedef struct {
    alloc_t *a;
    char *p;   /* where the emulator reaches the bytes */
    int where; /* physical gpu, or EMU_HOST */
    int pinned;
} loc_t;

extern emu_state_t emu;
extern pthread_mutex_t emu_mutex; /* guards everything that is not atomic */

/* How often an entry was called by this process; registers itself at the first call. */
typedef struct emu_calls {
    struct emu_calls *next;
    const char *name;
    uint64_t n;
} emu_calls_t;

#define EMU_PAGE 4096ul
#define EMU_VA_ALIGN ((size_t)2 << 20)

/* What every entry begins with; the function's name without "emu_" is the entry's. */
#define ENTER()                                                                                    \
    do {                                                                                           \
        static emu_calls_t calls_;                                                                 \
        CUresult entered_ = emu_enter(&calls_, __func__ + 4);                                      \
        if (entered_) {                                                                            \
            return entered_;                                                                       \
        }                                                                                          \
    } while (0)
#define LOCK() pthread_mutex_lock(&emu_mutex)
#define UNLOCK() pthread_mutex_unlock(&emu_mutex)
/* Declares `ctx`, the calling thread's context. */
#define CTX()                                                                                      \
    ctx_t *ctx = emu_current();                                                                    \
    if (!ctx) {                                                                                    \
        return CUDA_ERROR_INVALID_CONTEXT;                                                         \
    }                                                                                              \
    (void)ctx
/* Declares `g`, the device with this ordinal. */
#define DEV(d)                                                                                     \
    if ((d) < 0 || (d) >= emu.nvis) {                                                              \
        return CUDA_ERROR_INVALID_DEVICE;                                                          \
    }                                                                                              \
    emu_gpu_t *g = &emu.topo.gpu[emu.vis[d]];                                                      \
    (void)g
/* Declares `s`, the stream behind a handle; called with the lock held. */
#define STREAM(h)                                                                                  \
    stream_t *s = emu_get_stream(h);                                                               \
    if (!s) {                                                                                      \
        UNLOCK();                                                                                  \
        return emu_current() ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_CONTEXT;             \
    }

/* context.c */
ctx_t *emu_current(void);

/* driver.c */
void emu_prepare(void); /* reads the environment, once */
CUresult emu_enter(emu_calls_t *calls, const char *name);

/* engine.c */
CUresult emu_resolve(uintptr_t p, size_t n, loc_t *l);
void emu_make_path(int s, int d, emu_path_t *p);
int64_t emu_step_all(int64_t now, int engine);
void emu_enqueue(stream_t *s, op_t *o);
void emu_drain(stream_t *one, ctx_t *ctx, int blocking_only);
stream_t *emu_stream_new(ctx_t *ctx, unsigned flags, int prio);
void emu_observed(int64_t done_at);

/* fault.c */
void emu_tracef(const char *fmt, ...);
CUresult emu_fault(const char *fn);
void emu_faults_parse(const char *s);

/* stream.c */
stream_t *emu_get_stream(CUstream h);

/* sys.c */
void *emu_sys_mmap(void *a, size_t n, int prot, int flags, int fd, off_t off);
void emu_sys_munmap(void *a, size_t n);
size_t emu_up(size_t n, size_t a);
uintptr_t emu_va_reserve(size_t size, size_t align);

/* table.c */
alloc_t *emu_lookup(uintptr_t p);
alloc_t *emu_insert(alloc_t a);
void emu_drop(alloc_t *a);
int emu_new_memfd(size_t size, int gpu, uint64_t *ino, uint64_t *dev);
int emu_charge(int gpu, size_t n);
CUresult emu_dev_alloc(ctx_t *ctx, size_t size, enum kind kind, pool_t *pool, uintptr_t *out);
void emu_dev_free(alloc_t *a);

/* counter.c */
void emu_calls_add(emu_calls_t *calls, const char *name);
void emu_stats_at_exit(void);

#endif
