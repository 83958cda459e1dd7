/*
 * The trace and the faults that a test injects by call number and rank.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "test/cuda_emu/driver.h"

#include <stdarg.h>
#include <unistd.h>

void emu_tracef(const char *fmt, ...)
{
    va_list ap;
    if (!emu.trace) {
        return;
    }
    fprintf(emu.trace, "%d %.6f ", (int)getpid(), emu_now() / 1e9);
    va_start(ap, fmt);
    vfprintf(emu.trace, fmt, ap);
    va_end(ap);
    fputc('\n', emu.trace);
    fflush(emu.trace);
}

CUresult emu_fault(const char *fn)
{
    for (int i = 0; i < emu.nfault; ++i) {
        fault_t *f = &emu.fault[i];
        if (strcmp(f->fn, fn)) {
            continue;
        }
        long k = __atomic_add_fetch(&f->seen, 1, __ATOMIC_RELAXED);
        if (k < f->nth || (f->count && k >= f->nth + f->count)) {
            continue;
        }
        emu_tracef("fault %s -> %d", fn, f->err);
        if (f->sticky) {
            emu.sticky = f->err;
        }
        return f->err;
    }
    return CUDA_SUCCESS;
}

/* CUDA_EMU_FAULTS="cuMemAlloc_v2:nth=3,count=1,err=2;async-copy:err=700,sticky=1,rank=2" */
void emu_faults_parse(const char *s)
{
    const char *r = getenv("OMPI_COMM_WORLD_RANK");
    int rank = r ? atoi(r) : -1;
    char *copy = strdup(s), *s1 = NULL, *w;
    for (w = strtok_r(copy, ";", &s1); w && emu.nfault < 16; w = strtok_r(NULL, ";", &s1)) {
        fault_t f = {.nth = 1, .err = CUDA_ERROR_UNKNOWN};
        char *c = strchr(w, ':'), *s2 = NULL, *k;
        int want = -1;
        if (c) {
            *c++ = 0;
        }
        snprintf(f.fn, sizeof(f.fn), "%s", w);
        for (k = c ? strtok_r(c, ",", &s2) : NULL; k; k = strtok_r(NULL, ",", &s2)) {
            sscanf(k, "nth=%ld", &f.nth);
            sscanf(k, "count=%ld", &f.count);
            sscanf(k, "err=%d", &f.err);
            sscanf(k, "sticky=%d", &f.sticky);
            sscanf(k, "rank=%d", &want);
        }
        if (want < 0 || want == rank) {
            emu.fault[emu.nfault++] = f;
        }
    }
    free(copy);
}
