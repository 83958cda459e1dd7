/*
 * Start-up, visible devices, and the errors every entry may return.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "test/cuda_emu/driver.h"

#include <strings.h>
#include <unistd.h>

static void visible_parse(void)
{
    const char *v = getenv("CUDA_VISIBLE_DEVICES");
    if (!v) {
        for (int i = 0; i < emu.topo.ngpu; ++i) {
            emu.vis[emu.nvis++] = i;
        }
        return;
    }
    char *copy = strdup(v), *save = NULL;
    for (char *w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
        int k = -1;
        if (!strncmp(w, "GPU-", 4)) {
            for (int i = 0; i < emu.topo.ngpu; ++i) {
                char u[48];
                const uint8_t *b = emu.topo.gpu[i].uuid;
                snprintf(u, sizeof(u),
                         "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                         b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
                         b[12], b[13], b[14], b[15]);
                if (!strncasecmp(u, w, strlen(w))) {
                    k = i;
                }
            }
        } else {
            char *e;
            long n = strtol(w, &e, 10);
            if (e != w && !*e && n >= 0 && n < emu.topo.ngpu) {
                k = n;
            }
        }
        for (int i = 0; i < emu.nvis; ++i) {
            if (emu.vis[i] == k) {
                k = -1; /* a repeated device hides all */
            }
        }
        if (k < 0) {
            break;
        }
        emu.vis[emu.nvis++] = k;
    }
    free(copy);
}

emu_state_t emu = {.once = PTHREAD_ONCE_INIT};
pthread_mutex_t emu_mutex = PTHREAD_MUTEX_INITIALIZER;

/* In nanoseconds. */
static int64_t microseconds(const char *variable, long otherwise)
{
    const char *text = getenv(variable);

    return (int64_t)(text ? atol(text) : otherwise) * 1000;
}

static void init_once(void)
{
    const char *s;
    emu.pid = getpid();
    if (emu_topo_load(&emu.topo) || !(emu.sh = emu_shared_open(&emu.topo))) {
        emu.init = CUDA_ERROR_UNKNOWN;
        return;
    }
    visible_parse();
    if ((s = getenv("CUDA_EMU_TRACE"))) {
        char p[300];
        snprintf(p, sizeof(p), "%s.%d", s, emu.pid);
        emu.trace = fopen(p, "we");
    }
    if ((s = getenv("CUDA_EMU_FAULTS"))) {
        emu_faults_parse(s);
    }
    emu.tick = microseconds("CUDA_EMU_TICK_US", 200);
    emu.defer = microseconds("CUDA_EMU_DEFER_US", 0);
    emu.lag_max = microseconds("CUDA_EMU_LAG_US", 20000);
    pthread_condattr_t ca;
    pthread_condattr_init(&ca);
    pthread_condattr_setclock(&ca, CLOCK_MONOTONIC);
    pthread_cond_init(&emu.work, &ca);
    for (int i = 0; i < emu.nvis; ++i) {
        emu.primary[i] =
            (ctx_t){.magic = MAGIC_CTX, .dev = i, .gpu = emu.vis[i], .primary = 1, .id = ++emu.ids};
        emu.pool[i] = (pool_t){.gpu = emu.vis[i], .dev = i, .def = 1};
        emu.curpool[i] = &emu.pool[i];
    }
    if (getenv("CUDA_EMU_STATS")) {
        atexit(emu_stats_at_exit);
    }
    emu.init = emu.nvis ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

void emu_prepare(void)
{
    pthread_once(&emu.once, init_once);
}

CUresult emu_enter(emu_calls_t *calls, const char *name)
{
    CUresult r;

    emu_calls_add(calls, name);
    if (!emu.inited) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    if (emu.pid != getpid()) {
        return CUDA_ERROR_NOT_INITIALIZED; /* CUDA does not survive fork() */
    }
    if (emu.init) {
        return emu.init;
    }
    emu_tracef("%s", name);
    if (emu.nfault && (r = emu_fault(name))) {
        return r;
    }
    return emu.sticky;
}

API(cuInit, unsigned flags)
{
    emu_prepare();
    emu.inited = 1;
    if (emu.pid != getpid()) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    emu_tracef("cuInit -> %d", emu.init);
    return flags ? CUDA_ERROR_INVALID_VALUE : emu.init;
}

API(cuDriverGetVersion, int *v)
{
    emu_prepare();
    *v = emu.topo.driver_version;
    return CUDA_SUCCESS;
}

#define ERRORS(X)                                                                                  \
    X(CUDA_SUCCESS, "no error")                                                                    \
    X(CUDA_ERROR_INVALID_VALUE, "invalid argument")                                                \
    X(CUDA_ERROR_OUT_OF_MEMORY, "out of memory")                                                   \
    X(CUDA_ERROR_NOT_INITIALIZED, "initialization error")                                          \
    X(CUDA_ERROR_DEINITIALIZED, "driver shutting down")                                            \
    X(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected")                                  \
    X(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal")                                         \
    X(CUDA_ERROR_INVALID_CONTEXT, "invalid device context")                                        \
    X(CUDA_ERROR_MAP_FAILED, "mapping of buffer object failed")                                    \
    X(CUDA_ERROR_ALREADY_MAPPED, "resource already mapped")                                        \
    X(CUDA_ERROR_ECC_UNCORRECTABLE, "uncorrectable ECC error encountered")                         \
    X(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,                                                          \
      "peer access is not supported between these two devices")                                    \
    X(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle")                                        \
    X(CUDA_ERROR_NOT_FOUND, "named symbol not found")                                              \
    X(CUDA_ERROR_NOT_READY, "device not ready")                                                    \
    X(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered")                      \
    X(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled")                    \
    X(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access has not been enabled")                      \
    X(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,                                                   \
      "part or all of the requested memory range is already mapped")                               \
    X(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,                                                       \
      "pointer does not correspond to a registered memory region")                                 \
    X(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure")                                      \
    X(CUDA_ERROR_NOT_PERMITTED, "operation not permitted")                                         \
    X(CUDA_ERROR_NOT_SUPPORTED, "operation not supported")                                         \
    X(CUDA_ERROR_UNKNOWN, "unknown error")

API(cuGetErrorString, CUresult e, const char **s)
{
    switch (e) {
#define X(c, t)                                                                                    \
    case c:                                                                                        \
        *s = t;                                                                                    \
        return CUDA_SUCCESS;
        ERRORS(X)
#undef X
    default:
        *s = NULL;
        return CUDA_ERROR_INVALID_VALUE;
    }
}

API(cuGetErrorName, CUresult e, const char **s)
{
    switch (e) {
#define X(c, t)                                                                                    \
    case c:                                                                                        \
        *s = #c;                                                                                   \
        return CUDA_SUCCESS;
        ERRORS(X)
#undef X
    default:
        *s = NULL;
        return CUDA_ERROR_INVALID_VALUE;
    }
}
