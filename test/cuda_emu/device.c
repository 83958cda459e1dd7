/*
 * Devices and their attributes.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "test/cuda_emu/driver.h"

API(cuDeviceGetCount, int *n)
{
    ENTER();
    *n = emu.nvis;
    return CUDA_SUCCESS;
}

API(cuDeviceGet, CUdevice *d, int i)
{
    ENTER();
    DEV(i);
    *d = i;
    return CUDA_SUCCESS;
}

API(cuDeviceGetName, char *s, int n, CUdevice d)
{
    ENTER();
    DEV(d);
    snprintf(s, n, "%s", g->name);
    return CUDA_SUCCESS;
}

static CUresult get_uuid(CUuuid *u, CUdevice d)
{
    DEV(d);
    memcpy(u, g->uuid, 16);
    return CUDA_SUCCESS;
}

API(cuDeviceGetUuid, CUuuid *u, CUdevice d)
{
    ENTER();
    return get_uuid(u, d);
}

API(cuDeviceGetUuid_v2, CUuuid *u, CUdevice d)
{
    ENTER();
    return get_uuid(u, d);
}

API(cuDeviceTotalMem_v2, size_t *n, CUdevice d)
{
    ENTER();
    DEV(d);
    *n = g->mem;
    return CUDA_SUCCESS;
}

API(cuDeviceComputeCapability, int *ma, int *mi, CUdevice d)
{
    ENTER();
    DEV(d);
    *ma = g->cc_major;
    *mi = g->cc_minor;
    return CUDA_SUCCESS;
}

API(cuDeviceGetPCIBusId, char *s, int n, CUdevice d)
{
    ENTER();
    DEV(d);
    snprintf(s, n, "%04X:%02X:%02X.0", g->domain, g->bus, g->slot);
    return CUDA_SUCCESS;
}

API(cuDeviceGetByPCIBusId, CUdevice *d, const char *s)
{
    unsigned dom = 0, bus, slot, fn = 0;
    ENTER();
    if (sscanf(s, "%x:%x:%x.%x", &dom, &bus, &slot, &fn) < 3) {
        dom = 0;
        if (sscanf(s, "%x:%x.%x", &bus, &slot, &fn) < 2) {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    for (int i = 0; i < emu.nvis; ++i) {
        emu_gpu_t *g = &emu.topo.gpu[emu.vis[i]];
        if (g->domain == dom && g->bus == bus && g->slot == slot) {
            *d = i;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_DEVICE;
}

API(cuDeviceGetAttribute, int *v, CUdevice_attribute a, CUdevice d)
{
    ENTER();
    DEV(d);
    switch (a) {
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
        *v = g->bus;
        break;
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
        *v = g->slot;
        break;
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
        *v = g->domain;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *v = g->cc_major;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *v = g->cc_minor;
        break;
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
    case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
        *v = 1;
        break;
    case CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED:
        *v = emu.topo.ipc;
        break;
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
        *v = emu.topo.vmm;
        break;
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED:
        *v = emu.topo.fabric;
        break;
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
        *v = emu.topo.pools;
        break;
    case CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES:
        *v = 0;
        break;
    case CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED:
        *v = emu.topo.dmabuf;
        break;
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS:
        *v = 1;
        break;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
        *v = 2;
        break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *v = 8;
        break;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
        *v = 32;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
        *v = 1024;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
        *v = 64;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
        *v = 2147483647;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
        *v = 65535;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
        *v = 49152;
        break;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
        *v = 512;
        break;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
        *v = 1000000;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_PITCH:
        *v = 2147483647;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
        *v = 0;
        break;
    case CU_DEVICE_ATTRIBUTE_NUMA_ID:
    case CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID:
        *v = g->numa;
        break;
    default:
        *v = 0;
    }
    return CUDA_SUCCESS;
}

/* Nothing to do: there is no NIC that could write. */
API(cuFlushGPUDirectRDMAWrites, CUflushGPUDirectRDMAWritesTarget target,
    CUflushGPUDirectRDMAWritesScope scope)
{
    ENTER();
    CTX();
    return CUDA_SUCCESS;
}

API(cuDeviceCanAccessPeer, int *v, CUdevice d, CUdevice p)
{
    ENTER();
    DEV(d);
    if (p < 0 || p >= emu.nvis) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    *v = d != p && !emu.topo.nop2p[emu.vis[d]][emu.vis[p]];
    return CUDA_SUCCESS;
}

API(cuDeviceGetP2PAttribute, int *v, CUdevice_P2PAttribute a, CUdevice d, CUdevice p)
{
    ENTER();
    DEV(d);
    if (p < 0 || p >= emu.nvis || d == p) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    int ok = !emu.topo.nop2p[emu.vis[d]][emu.vis[p]];
    *v = a == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED          ? ok
         : a == CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED ? ok && g->nvlinks
                                                                : 0;
    return CUDA_SUCCESS;
}
