/*
 * The few NVML calls that UCX makes. There is no nvml.h in the toolkit: own declarations.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "test/cuda_emu/emu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NVML_API __attribute__((visibility("default")))
enum { OK = 0, UNINIT = 1, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, NO_DRIVER = 9 };

/* Layouts as in NVIDIA's public nvml.h */
typedef struct {
    char busIdLegacy[16];
    unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
    char busId[32];
} pci_t;
typedef struct {
    unsigned fieldId, scopeId;
    long long timestamp, latencyUsec;
    int valueType, ret;
    union {
        double d;
        unsigned ui;
        unsigned long ul;
        unsigned long long ull;
    } value;
} field_t;

static emu_topo_t T;
static int ready;

NVML_API int nvmlInit_v2(void)
{
    if (!ready && emu_topo_load(&T)) {
        return NO_DRIVER;
    }
    if (!T.ngpu) {
        return NO_DRIVER;
    }
    ready = 1;
    return OK;
}
NVML_API int nvmlInit(void)
{
    return nvmlInit_v2();
}
NVML_API int nvmlInitWithFlags(unsigned f)
{
    return nvmlInit_v2();
}
NVML_API int nvmlShutdown(void)
{
    return ready ? OK : UNINIT;
}

NVML_API const char *nvmlErrorString(int r)
{
    return r == OK              ? "Success"
           : r == NO_DRIVER     ? "Driver Not Loaded"
           : r == NOT_SUPPORTED ? "Not Supported"
                                : "Error";
}

NVML_API int nvmlDeviceGetCount_v2(unsigned *n)
{
    if (!ready) {
        return UNINIT;
    }
    *n = T.ngpu; /* NVML does not heed CUDA_VISIBLE_DEVICES */
    return OK;
}
NVML_API int nvmlDeviceGetCount(unsigned *n)
{
    return nvmlDeviceGetCount_v2(n);
}

NVML_API int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d)
{
    if (!ready) {
        return UNINIT;
    }
    if (i >= (unsigned)T.ngpu) {
        return INVALID;
    }
    *d = &T.gpu[i];
    return OK;
}
NVML_API int nvmlDeviceGetHandleByIndex(unsigned i, void **d)
{
    return nvmlDeviceGetHandleByIndex_v2(i, d);
}

NVML_API int nvmlDeviceGetPciInfo_v3(void *d, pci_t *p)
{
    emu_gpu_t *g = d;
    memset(p, 0, sizeof(*p));
    p->domain = g->domain;
    p->bus = g->bus;
    p->device = g->slot;
    snprintf(p->busId, sizeof(p->busId), "%08X:%02X:%02X.0", g->domain, g->bus, g->slot);
    snprintf(p->busIdLegacy, sizeof(p->busIdLegacy), "%04X:%02X:%02X.0", g->domain, g->bus,
             g->slot);
    return OK;
}

NVML_API int nvmlDeviceGetFieldValues(void *d, int n, field_t *v)
{
    emu_gpu_t *g = d;
    for (int i = 0; i < n; ++i) {
        v[i].ret = NOT_SUPPORTED;
        if (v[i].fieldId == 91) { /* NVML_FI_DEV_NVLINK_LINK_COUNT */
            v[i].ret = OK;
            v[i].valueType = 1; /* unsigned int */
            v[i].value.ui = g->nvlinks;
        }
    }
    return OK;
}

NVML_API int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *d, unsigned link, pci_t *p)
{
    emu_gpu_t *g = d;
    if (link >= (unsigned)g->nvlinks) {
        return NOT_SUPPORTED;
    }
    memset(p, 0, sizeof(*p));
    p->bus = 0xff; /* a switch */
    return OK;
}
NVML_API int nvmlDeviceGetNvLinkRemotePciInfo(void *d, unsigned l, pci_t *p)
{
    return nvmlDeviceGetNvLinkRemotePciInfo_v2(d, l, p);
}
/* uuid[16], status, cliqueId, state: state 0 is "not supported" (UCX logs an
 * error when the call itself fails) */
NVML_API int nvmlDeviceGetGpuFabricInfo(void *d, void *f)
{
    memset(f, 0, 28);
    return OK;
}
NVML_API int nvmlDeviceGetGpuFabricInfoV(void *d, void *f)
{
    memset((char *)f + 4, 0, 28);
    return OK;
}
