/*
 * What is allocated: the table of address ranges, and the blocks behind device memory.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "test/cuda_emu/driver.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int lower(uintptr_t p) /* first entry with base > p */
{
    int lo = 0, hi = emu.na;
    while (lo < hi) {
        int m = (lo + hi) / 2;
        if (emu.a[m].base > p) {
            hi = m;
        } else {
            lo = m + 1;
        }
    }
    return lo;
}

alloc_t *emu_lookup(uintptr_t p)
{
    int i = lower(p) - 1;
    /* reservations may hold mappings: the mapping sorts after its reservation */
    for (int k = 0; i >= 0 && k < 64; --i, ++k) {
        alloc_t *a = &emu.a[i];
        if (p < a->base + a->size) {
            return a;
        }
        if (a->kind != K_VMM && a->kind != K_HOSTREG) {
            break;
        }
    }
    return NULL;
}

alloc_t *emu_insert(alloc_t a)
{
    if (emu.na == emu.ca) {
        emu.ca = emu.ca ? 2 * emu.ca : 64;
        emu.a = realloc(emu.a, emu.ca * sizeof(*emu.a));
    }
    int i = lower(a.base);
    memmove(&emu.a[i + 1], &emu.a[i], (emu.na - i) * sizeof(*emu.a));
    ++emu.na;
    if (!a.id) {
        a.id = ++emu.ids;
    }
    emu.a[i] = a;
    return &emu.a[i];
}

void emu_drop(alloc_t *a)
{
    int i = a - emu.a;
    memmove(&emu.a[i], &emu.a[i + 1], (emu.na - i - 1) * sizeof(*emu.a));
    --emu.na;
}

/* The name tells an importer of the descriptor whose memory it is. */
int emu_new_memfd(size_t size, int gpu, uint64_t *ino, uint64_t *dev)
{
    struct stat st;
    char name[32];
    snprintf(name, sizeof(name), "cuda_emu-gpu%d", gpu);
    int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    if (ftruncate(fd, size) || fstat(fd, &st)) {
        close(fd);
        return -1;
    }
    if (ino) {
        *ino = st.st_ino;
        *dev = st.st_dev;
    }
    return fd;
}

int emu_charge(int gpu, size_t n)
{
    if (atomic_fetch_add(&emu.sh->used[gpu], n) + n > emu.topo.gpu[gpu].mem) {
        atomic_fetch_sub(&emu.sh->used[gpu], n);
        return -1;
    }
    return 0;
}

static block_t *block_new(int gpu, size_t size, int small)
{
    block_t *b = calloc(1, sizeof(*b));
    if (emu_charge(gpu, size)) {
        free(b);
        return NULL;
    }
    b->gpu = gpu;
    b->size = size;
    b->small = small;
    b->fd = emu_new_memfd(size, gpu, &b->ino, &b->dev);
    b->va = emu_va_reserve(size, 0);
    b->sh = b->fd < 0 ? MAP_FAILED
                      : emu_sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);
    if (b->fd < 0 || !b->va || b->sh == MAP_FAILED) {
        fprintf(stderr, "cuda_emu: out of host memory or file descriptors: %s\n", strerror(errno));
        abort();
    }
    return b;
}

static void block_free(block_t *b)
{
    emu_sys_munmap(b->sh, b->size);
    emu_sys_munmap((void *)b->va, emu_up(b->size, EMU_PAGE));
    close(b->fd);
    atomic_fetch_sub(&emu.sh->used[b->gpu], b->size);
    free(b);
}

#define SMALL_MAX ((size_t)1 << 20)
#define SMALL_BLOCK ((size_t)2 << 20)

/* Small requests share 2 MiB blocks, as with the real driver: two buffers can
 * have one IPC block, and a base need not be page aligned. */
CUresult emu_dev_alloc(ctx_t *ctx, size_t size, enum kind kind, pool_t *pool, uintptr_t *out)
{
    alloc_t a = {.kind = kind,
                 .gpu = pool ? pool->gpu : ctx->gpu,
                 .size = size,
                 .ctx = kind == K_DEV ? ctx : NULL,
                 .pool = pool};
    block_t *b;

    if (!size) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (size < SMALL_MAX) {
        size_t need = emu_up(size, 512);
        for (b = emu.small; b; b = b->next) {
            if (b->gpu != a.gpu || b->small != (int)kind) {
                continue;
            }
            uintptr_t at = b->va;
            for (int i = lower(b->va - 1); i < emu.na && emu.a[i].base < b->va + b->size; ++i) {
                if (emu.a[i].base - at >= need) {
                    break;
                }
                at = emu.a[i].base + emu_up(emu.a[i].size, 512);
            }
            if (b->va + b->size - at >= need) {
                a.base = at;
                break;
            }
        }
        if (!b) {
            b = block_new(a.gpu, SMALL_BLOCK, kind);
            if (!b) {
                return CUDA_ERROR_OUT_OF_MEMORY;
            }
            b->next = emu.small;
            emu.small = b;
            a.base = b->va;
        }
    } else {
        b = block_new(a.gpu, emu_up(size, EMU_VA_ALIGN), 0);
        if (!b) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        a.base = b->va;
    }
    b->live++;
    a.blk = b;
    a.sh = b->sh + (a.base - b->va);
    emu_insert(a);
    *out = a.base;
    return CUDA_SUCCESS;
}

void emu_dev_free(alloc_t *a)
{
    block_t *b = a->blk;
    memset(a->sh, 0xdb, a->size < 4096 ? a->size : 4096); /* poison the start */
    emu_drop(a);
    if (!--b->live && !b->small) {
        block_free(b);
    }
}
