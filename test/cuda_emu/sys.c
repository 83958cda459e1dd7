/*
 * Memory straight from the kernel, past every hook, and reserved address ranges.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "test/cuda_emu/driver.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Straight to the kernel: libc's mmap() is hooked by UCM, whose callbacks may
 * come back into this library. */
void *emu_sys_mmap(void *a, size_t n, int prot, int flags, int fd, off_t off)
{
    return (void *)syscall(SYS_mmap, a, n, prot, flags, fd, off);
}

void emu_sys_munmap(void *a, size_t n)
{
    syscall(SYS_munmap, a, n);
}

size_t emu_up(size_t n, size_t a)
{
    return (n + a - 1) / a * a;
}

uintptr_t emu_va_reserve(size_t size, size_t align)
{
    if (align < EMU_VA_ALIGN) {
        align = EMU_VA_ALIGN;
    }
    size = emu_up(size, EMU_PAGE);
    char *p = emu_sys_mmap(NULL, size + align, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        return 0;
    }
    uintptr_t a = emu_up((uintptr_t)p, align);
    if (a > (uintptr_t)p) {
        emu_sys_munmap(p, a - (uintptr_t)p);
    }
    if (a + size < (uintptr_t)p + size + align) {
        emu_sys_munmap((void *)(a + size), (uintptr_t)p + size + align - a - size);
    }
    return a;
}
