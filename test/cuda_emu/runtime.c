/*
 * A small CUDA runtime library over the emulated driver, for programs that are
 * linked with one. No kernels, graphs or textures.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define RT __attribute__((visibility("default")))

static __thread int dev;
static __thread cudaError_t last;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext prim[64];
static CUresult initres = CUDA_ERROR_NOT_INITIALIZED;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init_once(void)
{
    initres = cuInit(0);
}

/* The two enumerations agree on the values, but for a few. */
static cudaError_t err(CUresult r)
{
    cudaError_t e = (cudaError_t)r;
    if (r == CUDA_ERROR_INVALID_CONTEXT) {
        e = cudaErrorDeviceUninitialized;
    }
    if (e != cudaSuccess && e != cudaErrorNotReady) {
        last = e;
    }
    return e;
}

static CUresult init(void)
{
    pthread_once(&once, init_once);
    return initres;
}

/* Like the real one: an application's current context is respected, else the
 * primary context of this thread's device becomes current. */
static CUresult need(void)
{
    CUcontext c = NULL;
    CUresult r = init();
    if (r || (r = cuCtxGetCurrent(&c))) {
        return r;
    }
    if (c) {
        return CUDA_SUCCESS;
    }
    pthread_mutex_lock(&lock);
    if (!prim[dev]) {
        r = cuDevicePrimaryCtxRetain(&prim[dev], dev);
    }
    pthread_mutex_unlock(&lock);
    return r ? r : cuCtxSetCurrent(prim[dev]);
}

#define NEED()                                                                                     \
    do {                                                                                           \
        CUresult n_ = need();                                                                      \
        if (n_)                                                                                    \
            return err(n_);                                                                        \
    } while (0)
#define D(p) ((CUdeviceptr)(p))

RT cudaError_t cudaGetLastError(void)
{
    cudaError_t e = last;
    last = cudaSuccess;
    return e;
}
RT cudaError_t cudaPeekAtLastError(void)
{
    return last;
}
RT const char *cudaGetErrorString(cudaError_t e)
{
    const char *s = NULL;
    if (e == cudaErrorInsufficientDriver) {
        return "CUDA driver version is insufficient for CUDA runtime version";
    }
    cuGetErrorString((CUresult)e, &s);
    return s ? s : "unrecognized error code";
}
RT const char *cudaGetErrorName(cudaError_t e)
{
    static __thread char b[32];
    snprintf(b, sizeof(b), "cudaError(%d)", e);
    return e ? b : "cudaSuccess";
}
RT cudaError_t cudaDriverGetVersion(int *v)
{
    return err(cuDriverGetVersion(v));
}
RT cudaError_t cudaRuntimeGetVersion(int *v)
{
    *v = CUDART_VERSION;
    return cudaSuccess;
}

RT cudaError_t cudaGetDeviceCount(int *n)
{
    CUresult r = init();
    *n = 0;
    return err(r ? r : cuDeviceGetCount(n));
}
RT cudaError_t cudaSetDevice(int d)
{
    int n;
    cudaError_t e = cudaGetDeviceCount(&n);
    if (e) {
        return e;
    }
    if (d < 0 || d >= n) {
        return err(CUDA_ERROR_INVALID_DEVICE);
    }
    dev = d;
    cuCtxSetCurrent(NULL);
    return err(need()); /* since CUDA 12 this initializes the primary context */
}
RT cudaError_t cudaGetDevice(int *d)
{
    CUcontext c = NULL;
    CUdevice x;
    CUresult r = init();
    if (r) {
        return err(r);
    }
    *d = dev;
    if (!cuCtxGetCurrent(&c) && c && !cuCtxGetDevice(&x)) {
        *d = x;
    }
    return cudaSuccess;
}
RT cudaError_t cudaDeviceReset(void)
{
    return cudaSuccess;
}
RT cudaError_t cudaDeviceSynchronize(void)
{
    NEED();
    return err(cuCtxSynchronize());
}
RT cudaError_t cudaSetDeviceFlags(unsigned f)
{
    return cudaSuccess;
}
RT cudaError_t cudaDeviceGetAttribute(int *v, enum cudaDeviceAttr a, int d)
{
    CUresult r = init();
    return err(r ? r : cuDeviceGetAttribute(v, (CUdevice_attribute)a, d));
}
RT cudaError_t cudaDeviceGetPCIBusId(char *s, int n, int d)
{
    CUresult r = init();
    return err(r ? r : cuDeviceGetPCIBusId(s, n, d));
}
RT cudaError_t cudaDeviceGetByPCIBusId(int *d, const char *s)
{
    CUresult r = init();
    return err(r ? r : cuDeviceGetByPCIBusId(d, s));
}
RT cudaError_t cudaDeviceCanAccessPeer(int *v, int d, int p)
{
    CUresult r = init();
    return err(r ? r : cuDeviceCanAccessPeer(v, d, p));
}
RT cudaError_t cudaDeviceEnablePeerAccess(int p, unsigned f)
{
    CUcontext c;
    NEED();
    CUresult r = cuDevicePrimaryCtxRetain(&c, p);
    return err(r ? r : cuCtxEnablePeerAccess(c, f));
}
RT cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int d)
{
    CUresult r = init();
    int v;
    memset(p, 0, sizeof(*p));
    if (r || (r = cuDeviceGetName(p->name, sizeof(p->name), d))) {
        return err(r);
    }
    cuDeviceTotalMem(&p->totalGlobalMem, d);
    cuDeviceGetUuid((CUuuid *)&p->uuid, d);
    cuDeviceGetAttribute(&p->pciBusID, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, d);
    cuDeviceGetAttribute(&p->pciDeviceID, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, d);
    cuDeviceGetAttribute(&p->pciDomainID, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, d);
    cuDeviceGetAttribute(&p->major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, d);
    cuDeviceGetAttribute(&p->minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, d);
    cuDeviceGetAttribute(&v, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, d);
    p->unifiedAddressing = v;
    p->multiProcessorCount = 8;
    p->warpSize = 32;
    return cudaSuccess;
}

RT cudaError_t cudaMalloc(void **p, size_t n)
{
    CUdeviceptr d = 0;
    NEED();
    if (!n) {
        *p = NULL;
        return cudaSuccess;
    }
    CUresult r = cuMemAlloc(&d, n);
    if (!r) {
        *p = (void *)d;
    }
    return err(r);
}
RT cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t w, size_t h)
{
    CUdeviceptr d = 0;
    NEED();
    CUresult r = cuMemAllocPitch(&d, pitch, w, h, 4);
    if (!r) {
        *p = (void *)d;
    }
    return err(r);
}
RT cudaError_t cudaMallocManaged(void **p, size_t n, unsigned f)
{
    CUdeviceptr d = 0;
    NEED();
    CUresult r = cuMemAllocManaged(&d, n, f);
    if (!r) {
        *p = (void *)d;
    }
    return err(r);
}
RT cudaError_t cudaFree(void *p)
{
    NEED();
    return err(cuMemFree(D(p)));
}
RT cudaError_t cudaMallocHost(void **p, size_t n)
{
    NEED();
    return err(cuMemAllocHost(p, n));
}
RT cudaError_t cudaHostAlloc(void **p, size_t n, unsigned f)
{
    NEED();
    return err(cuMemHostAlloc(p, n, f));
}
RT cudaError_t cudaFreeHost(void *p)
{
    NEED();
    return p ? err(cuMemFreeHost(p)) : cudaSuccess;
}
RT cudaError_t cudaHostRegister(void *p, size_t n, unsigned f)
{
    NEED();
    return err(cuMemHostRegister(p, n, f));
}
RT cudaError_t cudaHostUnregister(void *p)
{
    NEED();
    return err(cuMemHostUnregister(p));
}
RT cudaError_t cudaHostGetDevicePointer(void **d, void *p, unsigned f)
{
    NEED();
    return err(cuMemHostGetDevicePointer((CUdeviceptr *)d, p, f));
}
RT cudaError_t cudaMemGetInfo(size_t *f, size_t *t)
{
    NEED();
    return err(cuMemGetInfo(f, t));
}

RT cudaError_t cudaMallocAsync(void **p, size_t n, cudaStream_t s)
{
    CUdeviceptr d = 0;
    NEED();
    CUresult r = cuMemAllocAsync(&d, n, s);
    if (!r) {
        *p = (void *)d;
    }
    return err(r);
}
RT cudaError_t cudaFreeAsync(void *p, cudaStream_t s)
{
    NEED();
    return err(cuMemFreeAsync(D(p), s));
}

RT cudaError_t cudaMemcpy(void *d, const void *s, size_t n, enum cudaMemcpyKind k)
{
    NEED();
    switch (k) {
    case cudaMemcpyHostToHost:
        memcpy(d, s, n);
        return cudaSuccess;
    case cudaMemcpyHostToDevice:
        return err(cuMemcpyHtoD(D(d), s, n));
    case cudaMemcpyDeviceToHost:
        return err(cuMemcpyDtoH(d, D(s), n));
    case cudaMemcpyDeviceToDevice:
        return err(cuMemcpyDtoD(D(d), D(s), n));
    default:
        return err(cuMemcpy(D(d), D(s), n));
    }
}
RT cudaError_t cudaMemcpyAsync(void *d, const void *s, size_t n, enum cudaMemcpyKind k,
                               cudaStream_t h)
{
    NEED();
    return err(cuMemcpyAsync(D(d), D(s), n, h));
}
RT cudaError_t cudaMemcpyPeer(void *d, int dd, const void *s, int sd, size_t n)
{
    NEED();
    return err(cuMemcpyDtoD(D(d), D(s), n));
}
RT cudaError_t cudaMemcpyPeerAsync(void *d, int dd, const void *s, int sd, size_t n, cudaStream_t h)
{
    NEED();
    return err(cuMemcpyDtoDAsync(D(d), D(s), n, h));
}
RT cudaError_t cudaMemset(void *p, int v, size_t n)
{
    NEED();
    return err(cuMemsetD8(D(p), v, n));
}
RT cudaError_t cudaMemsetAsync(void *p, int v, size_t n, cudaStream_t h)
{
    NEED();
    return err(cuMemsetD8Async(D(p), v, n, h));
}

RT cudaError_t cudaStreamCreate(cudaStream_t *s)
{
    NEED();
    return err(cuStreamCreate(s, 0));
}
RT cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned f)
{
    NEED();
    return err(cuStreamCreate(s, f));
}
RT cudaError_t cudaStreamDestroy(cudaStream_t s)
{
    NEED();
    return err(cuStreamDestroy(s));
}
RT cudaError_t cudaStreamQuery(cudaStream_t s)
{
    NEED();
    return err(cuStreamQuery(s));
}
RT cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
    NEED();
    return err(cuStreamSynchronize(s));
}
RT cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned f)
{
    NEED();
    return err(cuStreamWaitEvent(s, e, f));
}
RT cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t f, void *a)
{
    NEED();
    return err(cuLaunchHostFunc(s, f, a));
}
RT cudaError_t cudaEventCreate(cudaEvent_t *e)
{
    NEED();
    return err(cuEventCreate(e, 0));
}
RT cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned f)
{
    NEED();
    return err(cuEventCreate(e, f));
}
RT cudaError_t cudaEventDestroy(cudaEvent_t e)
{
    NEED();
    return err(cuEventDestroy(e));
}
RT cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
    NEED();
    return err(cuEventRecord(e, s));
}
RT cudaError_t cudaEventQuery(cudaEvent_t e)
{
    NEED();
    return err(cuEventQuery(e));
}
RT cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
    NEED();
    return err(cuEventSynchronize(e));
}
RT cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b)
{
    NEED();
    return err(cuEventElapsedTime(ms, a, b));
}

RT cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *h, void *p)
{
    NEED();
    return err(cuIpcGetMemHandle((CUipcMemHandle *)h, D(p)));
}
RT cudaError_t cudaIpcOpenMemHandle(void **p, cudaIpcMemHandle_t h, unsigned f)
{
    CUipcMemHandle x;
    NEED();
    memcpy(&x, &h, sizeof(x));
    return err(cuIpcOpenMemHandle((CUdeviceptr *)p, x, f));
}
RT cudaError_t cudaIpcCloseMemHandle(void *p)
{
    NEED();
    return err(cuIpcCloseMemHandle(D(p)));
}

RT cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *a, const void *p)
{
    unsigned type = 0, managed = 0;
    int ord = -2;
    NEED();
    memset(a, 0, sizeof(*a));
    CUpointer_attribute k[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                               CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *v[] = {&type, &managed, &ord};
    CUresult r = cuPointerGetAttributes(3, k, v, D(p));
    if (r) {
        return err(r);
    }
    a->device = ord;
    a->type = managed                        ? cudaMemoryTypeManaged
              : type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice
              : type == CU_MEMORYTYPE_HOST   ? cudaMemoryTypeHost
                                             : cudaMemoryTypeUnregistered;
    if (a->type == cudaMemoryTypeUnregistered) {
        a->device = -1;
    }
    a->devicePointer = a->type == cudaMemoryTypeUnregistered ? NULL : (void *)p;
    a->hostPointer = a->type == cudaMemoryTypeDevice ? NULL : (void *)p;
    return cudaSuccess;
}
