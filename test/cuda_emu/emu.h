/*
 * An emulated CUDA driver for tests: devices, links, and the state that the
 * processes of one session share.
 *
 * Device memory lives in memory files. A device pointer is a reserved range
 * without access rights, so a CPU dereference faults as it does with a real
 * GPU; the emulator itself reaches the bytes through a second mapping.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_CUDA_EMU_EMU_H
#define VP_TEST_CUDA_EMU_EMU_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define EMU_MAXGPU 32
#define EMU_HOST EMU_MAXGPU /* index of "host" in the path/traffic tables */
#define EMU_MAXLINK 128
#define EMU_MAXHOP 12
#define EMU_MAXSHARE 16

typedef struct {
    char name[96];
    uint8_t uuid[16];
    unsigned domain, bus, slot;
    size_t mem;
    int cc_major, cc_minor;
    int numa;
    int nvlinks;
} emu_gpu_t;

typedef struct {
    char name[64];
    double bw;                  /* bytes per second, 0 = unlimited */
    double lat_ns;              /* added once to each copy that crosses it */
    int nshare;                 /* 0: all of bw, however many sources have data on it */
    double share[EMU_MAXSHARE]; /* of bw, with 1, 2, ... sources; the last one for more */
} emu_link_t;

typedef struct {
    int n;
    int link[EMU_MAXHOP];
} emu_path_t;

typedef struct {
    char node[64];
    int ngpu;
    emu_gpu_t gpu[EMU_MAXGPU];
    int nlink;
    emu_link_t link[EMU_MAXLINK];
    emu_path_t path[EMU_MAXGPU + 1][EMU_MAXGPU + 1]; /* [src][dst] */
    uint8_t nop2p[EMU_MAXGPU][EMU_MAXGPU];
    int ipc; /* 0: legacy IPC refused (e.g. WSL, MIG, vGPU) */
    int vmm, pools, fabric, dmabuf;
    int driver_version;
} emu_topo_t;

#define EMU_MAXFLOW 256
enum { EMU_FLOW_FREE, EMU_FLOW_ACTIVE, EMU_FLOW_DONE };

typedef struct {
    int state, pid;
    emu_path_t path;
    double remaining, rate; /* bytes, bytes per second */
    int64_t finish;
} emu_flow_t;

typedef struct {
    _Atomic uint32_t init;
    pthread_mutex_t mtx;
    int64_t now, reaped; /* the model's present */
    int top, active, dirty;
    int64_t busy[EMU_MAXLINK]; /* until when a link was in use */
    emu_flow_t flow[EMU_MAXFLOW];
} emu_fluid_t;

typedef struct {
    _Atomic uint64_t bytes;
} emu_shlink_t;

typedef struct {
    _Atomic uint64_t next_id;
    _Atomic uint64_t used[EMU_MAXGPU];
    _Atomic uint64_t traffic[EMU_MAXGPU + 1][EMU_MAXGPU + 1]; /* bytes */
    _Atomic uint64_t copies[EMU_MAXGPU + 1][EMU_MAXGPU + 1];
    _Atomic uint64_t ipc_opens, ipc_closes, ipc_refused;
    emu_shlink_t link[EMU_MAXLINK];
    emu_fluid_t fluid;
} emu_shared_t;

int emu_topo_load(emu_topo_t *t); /* 0, or -1 and a message on stderr */
emu_shared_t *emu_shared_open(const emu_topo_t *t);
int64_t emu_now(void);

/* A copy of `bytes` over the path, submitted at `arrival`: a slot, or -1 if
 * there is none free now. */
int emu_flow_start(emu_shared_t *s, const emu_topo_t *t, const emu_path_t *p, size_t bytes,
                   int64_t arrival);
/* Bytes still to go at `now`; *when: the time of completion, so far as can be
 * told.  0 once it is complete: *when is then its time, and the slot is free. */
size_t emu_flow_poll(emu_shared_t *s, const emu_topo_t *t, int slot, int64_t now, int64_t *when);

#endif
