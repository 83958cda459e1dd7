/*
 * What tests ask the emulator: driver calls of this process, bytes by link,
 * bytes by source and destination, and where the bytes of device memory are.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "test/cuda_emu/driver.h"

#include <inttypes.h>
#include <unistd.h>

#include "test/cuda_emu/counters.h"

#define EXPORTED __attribute__((visibility("default")))

static emu_calls_t *_Atomic all_calls;

void emu_calls_add(emu_calls_t *calls, const char *name)
{
    if (__atomic_fetch_add(&calls->n, 1, __ATOMIC_RELAXED) == 0) {
        calls->name = name;
        calls->next = atomic_load(&all_calls);
        while (!atomic_compare_exchange_weak(&all_calls, &calls->next, calls)) {
        }
    }
}

EXPORTED uint64_t cuda_emu_calls(const char *name)
{
    for (const emu_calls_t *c = atomic_load(&all_calls); c; c = c->next) {
        if (strcmp(c->name, name) == 0) {
            return __atomic_load_n(&c->n, __ATOMIC_RELAXED);
        }
    }
    return 0;
}

EXPORTED uint64_t cuda_emu_link_bytes(const char *link)
{
    for (int i = 0; emu.sh && i < emu.topo.nlink; ++i) {
        if (strcmp(emu.topo.link[i].name, link) == 0) {
            return atomic_load(&emu.sh->link[i].bytes);
        }
    }
    return 0;
}

EXPORTED const char *cuda_emu_link_name(unsigned i)
{
    return emu.sh && i < (unsigned)emu.topo.nlink ? emu.topo.link[i].name : NULL;
}

EXPORTED void *cuda_emu_host_view(CUdeviceptr p, size_t n)
{
    LOCK();
    alloc_t *a = emu_lookup(p);
    char *view = a && a->sh && p + n <= a->base + a->size ? a->sh + (p - a->base) : NULL;
    UNLOCK();
    return view;
}

static void print_end(FILE *f, int end)
{
    if (end == EMU_HOST) {
        fprintf(f, " host");
    } else {
        fprintf(f, " %d", end);
    }
}

static void print_session(FILE *f)
{
    for (int i = 0; i <= EMU_MAXGPU; ++i) {
        for (int k = 0; k <= EMU_MAXGPU; ++k) {
            if (atomic_load(&emu.sh->copies[i][k])) {
                fprintf(f, "copies");
                print_end(f, i);
                print_end(f, k);
                fprintf(f, " %" PRIu64 " bytes %" PRIu64 "\n", atomic_load(&emu.sh->copies[i][k]),
                        atomic_load(&emu.sh->traffic[i][k]));
            }
        }
    }
    for (int i = 0; i < emu.topo.nlink; ++i) {
        fprintf(f, "link %s bytes %" PRIu64 "\n", emu.topo.link[i].name,
                atomic_load(&emu.sh->link[i].bytes));
    }
    fprintf(f, "ipc opened %" PRIu64 " closed %" PRIu64 " refused %" PRIu64 "\n",
            atomic_load(&emu.sh->ipc_opens), atomic_load(&emu.sh->ipc_closes),
            atomic_load(&emu.sh->ipc_refused));
}

/* Calls are this process's, all else the session's so far. One file per process. */
void emu_stats_at_exit(void)
{
    char path[512];
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    FILE *f;

    if (emu.pid != getpid()) {
        return;
    }
    snprintf(path, sizeof(path), "%s.%s", getenv("CUDA_EMU_STATS"), rank ? rank : "0");
    f = fopen(path, "we");
    if (!f) {
        return;
    }
    for (const emu_calls_t *c = atomic_load(&all_calls); c; c = c->next) {
        fprintf(f, "calls %s %" PRIu64 "\n", c->name, __atomic_load_n(&c->n, __ATOMIC_RELAXED));
    }
    print_session(f);
    fclose(f);
}
