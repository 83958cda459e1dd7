/*
 * Virtual memory management.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "test/cuda_emu/driver.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC_VMM 0xc7c7c704u
#define GRAN EMU_VA_ALIGN

static vmmh_t *vmmh(CUmemGenericAllocationHandle h)
{
    vmmh_t *v = (vmmh_t *)(uintptr_t)h;
    return v && v->magic == MAGIC_VMM ? v : NULL;
}

API(cuMemGetAllocationGranularity, size_t *g_, const CUmemAllocationProp *p,
    CUmemAllocationGranularity_flags o)
{
    ENTER();
    *g_ = GRAN;
    return CUDA_SUCCESS;
}

API(cuMemCreate, CUmemGenericAllocationHandle *h, size_t n, const CUmemAllocationProp *p,
    unsigned long long flags)
{
    ENTER();
    if (!emu.topo.vmm) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (!n || n % GRAN || p->location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    DEV(p->location.id);
    if ((p->requestedHandleTypes & CU_MEM_HANDLE_TYPE_FABRIC) && !emu.topo.fabric) {
        return CUDA_ERROR_NOT_PERMITTED;
    }
    if (emu_charge(emu.vis[p->location.id], n)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    vmmh_t *v = calloc(1, sizeof(*v));
    v->magic = MAGIC_VMM;
    v->refs = 1;
    v->gpu = emu.vis[p->location.id];
    v->fd = emu_new_memfd(n, v->gpu, NULL, NULL);
    v->size = n;
    v->prop = *p;
    v->sh = emu_sys_mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, v->fd, 0);
    *h = (uintptr_t)v;
    return CUDA_SUCCESS;
}

static void vmm_unref(vmmh_t *v)
{
    if (--v->refs) {
        return;
    }
    emu_sys_munmap(v->sh, v->size);
    close(v->fd);
    if (!v->imported) {
        atomic_fetch_sub(&emu.sh->used[v->gpu], v->size);
    }
    v->magic = 0;
    free(v);
}

API(cuMemRelease, CUmemGenericAllocationHandle h)
{
    ENTER();
    LOCK();
    vmmh_t *v = vmmh(h);
    if (v) {
        vmm_unref(v);
    }
    UNLOCK();
    return v ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

API(cuMemAddressReserve, CUdeviceptr *p, size_t n, size_t align, CUdeviceptr hint,
    unsigned long long flags)
{
    ENTER();
    if (!n || n % EMU_PAGE) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    uintptr_t va = emu_va_reserve(n, align);
    if (!va) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    LOCK();
    emu_insert((alloc_t){.base = va, .size = n, .kind = K_RESV, .gpu = -1});
    UNLOCK();
    *p = va;
    return CUDA_SUCCESS;
}

API(cuMemAddressFree, CUdeviceptr p, size_t n)
{
    ENTER();
    LOCK();
    CUresult r = CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < emu.na; ++i) {
        if (emu.a[i].kind == K_RESV && emu.a[i].base == p && emu.a[i].size == n) {
            emu_drop(&emu.a[i]);
            emu_sys_munmap((void *)(uintptr_t)p, n);
            r = CUDA_SUCCESS;
            break;
        }
    }
    UNLOCK();
    return r;
}

API(cuMemMap, CUdeviceptr p, size_t n, size_t off, CUmemGenericAllocationHandle h,
    unsigned long long flags)
{
    ENTER();
    LOCK();
    vmmh_t *v = vmmh(h);
    alloc_t *a = emu_lookup(p);
    CUresult r = CUDA_ERROR_INVALID_VALUE;
    if (v && a && a->kind == K_RESV && p + n <= a->base + a->size && off + n <= v->size) {
        emu_insert((alloc_t){
            .base = p, .size = n, .kind = K_VMM, .gpu = v->gpu, .sh = v->sh + off, .vmm = v});
        v->refs++;
        r = CUDA_SUCCESS;
    }
    UNLOCK();
    return r;
}

API(cuMemUnmap, CUdeviceptr p, size_t n)
{
    ENTER();
    LOCK();
    alloc_t *a = emu_lookup(p);
    CUresult r = CUDA_ERROR_INVALID_VALUE;
    if (a && a->kind == K_VMM && a->base == p && a->size == n) {
        emu_drain(NULL, NULL, 0);
        a = emu_lookup(p);
        vmm_unref(a->vmm);
        emu_drop(a);
        r = CUDA_SUCCESS;
    }
    UNLOCK();
    return r;
}

API(cuMemSetAccess, CUdeviceptr p, size_t n, const CUmemAccessDesc *d, size_t k)
{
    ENTER();
    return CUDA_SUCCESS;
}

API(cuMemGetAccess, unsigned long long *f, const CUmemLocation *l, CUdeviceptr p)
{
    ENTER();
    *f = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return CUDA_SUCCESS;
}

API(cuMemRetainAllocationHandle, CUmemGenericAllocationHandle *h, void *p)
{
    ENTER();
    LOCK();
    alloc_t *a = emu_lookup((uintptr_t)p);
    CUresult r = CUDA_ERROR_INVALID_VALUE;
    if (a && a->kind == K_VMM) {
        a->vmm->refs++;
        *h = (uintptr_t)a->vmm;
        r = CUDA_SUCCESS;
    }
    UNLOCK();
    return r;
}

API(cuMemGetAllocationPropertiesFromHandle, CUmemAllocationProp *p, CUmemGenericAllocationHandle h)
{
    ENTER();
    vmmh_t *v = vmmh(h);
    if (!v) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *p = v->prop;
    return CUDA_SUCCESS;
}

API(cuMemExportToShareableHandle, void *out, CUmemGenericAllocationHandle h,
    CUmemAllocationHandleType t, unsigned long long flags)
{
    ENTER();
    vmmh_t *v = vmmh(h);
    if (!v || !(v->prop.requestedHandleTypes & t)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (t != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    *(int *)out = fcntl(v->fd, F_DUPFD_CLOEXEC, 0);
    return CUDA_SUCCESS;
}

API(cuMemImportFromShareableHandle, CUmemGenericAllocationHandle *h, void *os,
    CUmemAllocationHandleType t)
{
    struct stat st;
    ENTER();
    CTX();
    if (t != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    int fd = fcntl((int)(intptr_t)os, F_DUPFD_CLOEXEC, 0);
    if (fd < 0 || fstat(fd, &st)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    vmmh_t *v = calloc(1, sizeof(*v));
    v->magic = MAGIC_VMM;
    v->refs = v->imported = 1;
    v->fd = fd;
    v->gpu = ctx->gpu;
    char link[64], to[64] = "";
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    if (readlink(link, to, sizeof(to) - 1) < 0 ||
        sscanf(to, "/memfd:cuda_emu-gpu%d", &v->gpu) != 1) {
        close(fd);
        free(v);
        return CUDA_ERROR_INVALID_VALUE;
    }
    v->size = st.st_size;
    v->prop = (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                    .requestedHandleTypes = t,
                                    .location = {CU_MEM_LOCATION_TYPE_DEVICE, ctx->dev}};
    v->sh = emu_sys_mmap(NULL, v->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    *h = (uintptr_t)v;
    return CUDA_SUCCESS;
}
