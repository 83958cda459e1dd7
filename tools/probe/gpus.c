/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/gpus.h"

#include <dlfcn.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

typedef int cu_result_t;
typedef unsigned long long cu_address_t;

enum { CU_SUCCESS = 0, CU_PEER_ALREADY_ENABLED = 704 };
enum { CU_STREAM_NON_BLOCKING = 1, CU_HOST_PORTABLE = 1 };
enum { PATTERN_WORDS = 1024, WORD_BYTES = 4 };

/* The interface of a name with its version never changes. */
#define DRIVER_FUNCTIONS(X)                                                                        \
    X(error_string, "cuGetErrorString", (cu_result_t, const char **))                              \
    X(init, "cuInit", (unsigned))                                                                  \
    X(version, "cuDriverGetVersion", (int *))                                                      \
    X(count, "cuDeviceGetCount", (int *))                                                          \
    X(name, "cuDeviceGetName", (char *, int, int))                                                 \
    X(pci, "cuDeviceGetPCIBusId", (char *, int, int))                                              \
    X(retain, "cuDevicePrimaryCtxRetain", (void **, int))                                          \
    X(release, "cuDevicePrimaryCtxRelease_v2", (int))                                              \
    X(set_context, "cuCtxSetCurrent", (void *))                                                    \
    X(can_reach, "cuDeviceCanAccessPeer", (int *, int, int))                                       \
    X(enable_peer, "cuCtxEnablePeerAccess", (void *, unsigned))                                    \
    X(allocate, "cuMemAlloc_v2", (cu_address_t *, size_t))                                         \
    X(free, "cuMemFree_v2", (cu_address_t))                                                        \
    X(allocate_host, "cuMemHostAlloc", (void **, size_t, unsigned))                                \
    X(free_host, "cuMemFreeHost", (void *))                                                        \
    X(fill, "cuMemsetD32_v2", (cu_address_t, unsigned, size_t))                                    \
    X(fetch, "cuMemcpyDtoH_v2", (void *, cu_address_t, size_t))                                    \
    X(copy, "cuMemcpyAsync", (cu_address_t, cu_address_t, size_t, void *))                         \
    X(to_host, "cuMemcpyDtoHAsync_v2", (void *, cu_address_t, size_t, void *))                     \
    X(from_host, "cuMemcpyHtoDAsync_v2", (cu_address_t, const void *, size_t, void *))             \
    X(create_stream, "cuStreamCreate", (void **, unsigned))                                        \
    X(destroy_stream, "cuStreamDestroy_v2", (void *))                                              \
    X(synchronize, "cuStreamSynchronize", (void *))                                                \
    X(wait, "cuStreamWaitEvent", (void *, void *, unsigned))                                       \
    X(host_function, "cuLaunchHostFunc", (void *, void (*)(void *), void *))                       \
    X(create_event, "cuEventCreate", (void **, unsigned))                                          \
    X(destroy_event, "cuEventDestroy_v2", (void *))                                                \
    X(record, "cuEventRecord", (void *, void *))                                                   \
    X(elapsed, "cuEventElapsedTime", (float *, void *, void *))

typedef struct driver {
#define DRIVER_FIELD(field, symbol, arguments) cu_result_t(*field) arguments;
    DRIVER_FUNCTIONS(DRIVER_FIELD)
#undef DRIVER_FIELD
} driver_t;

/* One copy that runs at a time: everything is of the GPU that moves the bytes. */
typedef struct engine {
    void *stream;
    void *begin;
    void *end;
} engine_t;

typedef struct gpu {
    char name[VP_PROBE_GPU_TEXT_BYTES];
    char pci[VP_PROBE_GPU_TEXT_BYTES];
    void *context;
    cu_address_t out; /* n_bytes that it sends, and as many that it gets */
    cu_address_t in;
    void *host_out; /* the same in pinned host memory */
    void *host_in;
    void *gate; /* event that others wait for */
    engine_t engines[VP_PROBE_MAX_COPIES];
    vp_probe_reach_t reach[VP_PROBE_MAX_GPUS];
} gpu_t;

struct vp_probe_gpus {
    driver_t driver;
    void *library;
    int version;
    uint32_t n_gpus;
    gpu_t *gpus;
    sem_t gate;
};

static vp_status_t fail(const driver_t *driver, cu_result_t code, const char *what,
                        vp_error_t *error)
{
    const char *text = NULL;

    (void)driver->error_string(code, &text);
    return vp_error_set(error, VP_ERR_DEVICE,
                        "the CUDA driver cannot %s: %s (error %d); nothing was measured, look at "
                        "the kernel's log and at nvidia-smi",
                        what, text == NULL ? "unknown error" : text, code);
}

static vp_status_t load(vp_probe_gpus_t *gpus, vp_error_t *error)
{
    const char *missing = NULL;

    gpus->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (gpus->library == NULL) {
        return vp_error_set(error, VP_ERR_DEVICE,
                            "no CUDA driver: %s; run this where nvidia-smi works", dlerror());
    }
#define DRIVER_FIND(field, symbol, arguments)                                                      \
    *(void **)&gpus->driver.field = dlsym(gpus->library, symbol);                                  \
    missing = gpus->driver.field == NULL ? symbol : missing;
    DRIVER_FUNCTIONS(DRIVER_FIND)
#undef DRIVER_FIND
    if (missing != NULL) {
        return vp_error_set(error, VP_ERR_DEVICE,
                            "the CUDA driver has no %s; it is older than CUDA 10, update it",
                            missing);
    }
    return VP_OK;
}

static vp_status_t count(vp_probe_gpus_t *gpus, vp_error_t *error)
{
    const driver_t *driver = &gpus->driver;
    cu_result_t code = driver->init(0);
    int n = 0;

    if (code == CU_SUCCESS) {
        code = driver->count(&n);
    }
    if (code == CU_SUCCESS) {
        code = driver->version(&gpus->version);
    }
    if (code != CU_SUCCESS) {
        return fail(driver, code, "be started", error);
    }
    if (n == 0) {
        return vp_error_set(error, VP_ERR_DEVICE,
                            "the CUDA driver shows no GPU; look at CUDA_VISIBLE_DEVICES");
    }
    if (n > VP_PROBE_MAX_GPUS) {
        return vp_error_set(error, VP_ERR_LIMIT,
                            "the CUDA driver shows %d GPUs, the limit is %d; hide some with "
                            "CUDA_VISIBLE_DEVICES",
                            n, VP_PROBE_MAX_GPUS);
    }
    gpus->gpus = vp_array_new((size_t)n, sizeof(*gpus->gpus));
    gpus->n_gpus = gpus->gpus == NULL ? 0 : (uint32_t)n;
    return gpus->gpus == NULL ? vp_error_no_memory(error, "the list of GPUs") : VP_OK;
}

static cu_result_t open_engine(const driver_t *driver, engine_t *engine)
{
    cu_result_t code = driver->create_stream(&engine->stream, CU_STREAM_NON_BLOCKING);

    if (code == CU_SUCCESS) {
        code = driver->create_event(&engine->begin, 0);
    }
    return code == CU_SUCCESS ? driver->create_event(&engine->end, 0) : code;
}

static cu_result_t allocate(const driver_t *driver, gpu_t *gpu, size_t n_bytes)
{
    cu_result_t code = driver->allocate(&gpu->out, n_bytes);

    if (code == CU_SUCCESS) {
        code = driver->allocate(&gpu->in, n_bytes);
    }
    if (code == CU_SUCCESS) {
        code = driver->allocate_host(&gpu->host_out, n_bytes, CU_HOST_PORTABLE);
    }
    if (code == CU_SUCCESS) {
        code = driver->allocate_host(&gpu->host_in, n_bytes, CU_HOST_PORTABLE);
    }
    return code == CU_SUCCESS ? driver->create_event(&gpu->gate, 0) : code;
}

static vp_status_t open_gpu(vp_probe_gpus_t *gpus, uint32_t i, size_t n_bytes, vp_error_t *error)
{
    const driver_t *driver = &gpus->driver;
    gpu_t *gpu = &gpus->gpus[i];
    cu_result_t code = driver->name(gpu->name, VP_PROBE_GPU_TEXT_BYTES, (int)i);
    uint32_t k;

    if (code == CU_SUCCESS) {
        code = driver->pci(gpu->pci, VP_PROBE_GPU_TEXT_BYTES, (int)i);
    }
    if (code == CU_SUCCESS) {
        code = driver->retain(&gpu->context, (int)i);
    }
    if (code == CU_SUCCESS) {
        code = driver->set_context(gpu->context);
    }
    if (code == CU_SUCCESS) {
        code = allocate(driver, gpu, n_bytes);
    }
    for (k = 0; code == CU_SUCCESS && k < VP_PROBE_MAX_COPIES; k++) {
        code = open_engine(driver, &gpu->engines[k]);
    }
    return code == CU_SUCCESS ? VP_OK : fail(driver, code, "open a GPU and its memory", error);
}

/* Peer access is a promise; some machines break it, so a pattern must arrive. */
static cu_result_t check_peer(const driver_t *driver, gpu_t *from, const gpu_t *to, uint32_t index)
{
    unsigned words[PATTERN_WORDS] = {0};
    unsigned pattern = 0x5a000000U + index;
    cu_result_t code = driver->fill(from->out, pattern, PATTERN_WORDS);
    uint32_t i;

    if (code == CU_SUCCESS) {
        code = driver->copy(to->in, from->out, sizeof(words), from->engines[0].stream);
    }
    if (code == CU_SUCCESS) {
        code = driver->synchronize(from->engines[0].stream);
    }
    if (code == CU_SUCCESS) {
        code = driver->set_context(to->context);
    }
    if (code == CU_SUCCESS) {
        code = driver->fetch(words, to->in, sizeof(words));
    }
    from->reach[index] = VP_PROBE_PEER;
    for (i = 0; i < PATTERN_WORDS; i++) {
        if (words[i] != pattern) {
            from->reach[index] = VP_PROBE_WRONG_BYTES;
        }
    }
    return code;
}

static vp_status_t connect(vp_probe_gpus_t *gpus, uint32_t a, uint32_t b, vp_error_t *error)
{
    const driver_t *driver = &gpus->driver;
    cu_result_t code;
    int can = 0;

    code = driver->can_reach(&can, (int)a, (int)b);
    if (code == CU_SUCCESS && can != 0) {
        code = driver->set_context(gpus->gpus[a].context);
        if (code == CU_SUCCESS) {
            code = driver->enable_peer(gpus->gpus[b].context, 0);
        }
        if (code == CU_SUCCESS || code == CU_PEER_ALREADY_ENABLED) {
            code = check_peer(driver, &gpus->gpus[a], &gpus->gpus[b], b);
        }
    }
    return code == CU_SUCCESS ? VP_OK : fail(driver, code, "reach one GPU from another", error);
}

vp_status_t vp_probe_gpus_open(size_t n_bytes, vp_probe_gpus_t **gpus_p, vp_error_t *error)
{
    vp_probe_gpus_t *gpus = vp_array_new(1, sizeof(*gpus));
    size_t least = (size_t)PATTERN_WORDS * WORD_BYTES;
    vp_status_t status;
    uint32_t a, b;

    if (gpus == NULL) {
        return vp_error_no_memory(error, "the GPUs");
    }
    (void)sem_init(&gpus->gate, 0, 0);
    status = load(gpus, error);
    if (status == VP_OK) {
        status = count(gpus, error);
    }
    for (a = 0; a < gpus->n_gpus && status == VP_OK; a++) {
        status = open_gpu(gpus, a, n_bytes < least ? least : n_bytes, error);
    }
    for (a = 0; a < gpus->n_gpus; a++) {
        for (b = 0; b < gpus->n_gpus && status == VP_OK; b++) {
            status = a == b ? VP_OK : connect(gpus, a, b, error);
        }
    }
    if (status != VP_OK) {
        vp_probe_gpus_close(gpus);
        return status;
    }
    *gpus_p = gpus;
    return VP_OK;
}

static void close_engine(const driver_t *driver, const engine_t *engine)
{
    if (engine->stream != NULL) {
        (void)driver->destroy_stream(engine->stream);
    }
    if (engine->begin != NULL) {
        (void)driver->destroy_event(engine->begin);
    }
    if (engine->end != NULL) {
        (void)driver->destroy_event(engine->end);
    }
}

static void close_gpu(const driver_t *driver, const gpu_t *gpu, int device)
{
    uint32_t i;

    if (gpu->context == NULL) {
        return;
    }
    (void)driver->set_context(gpu->context);
    for (i = 0; i < VP_PROBE_MAX_COPIES; i++) {
        close_engine(driver, &gpu->engines[i]);
    }
    if (gpu->gate != NULL) {
        (void)driver->destroy_event(gpu->gate);
    }
    (void)driver->free_host(gpu->host_out);
    (void)driver->free_host(gpu->host_in);
    (void)driver->free(gpu->out);
    (void)driver->free(gpu->in);
    (void)driver->release(device);
}

void vp_probe_gpus_close(vp_probe_gpus_t *gpus)
{
    uint32_t i;

    if (gpus == NULL) {
        return;
    }
    for (i = 0; i < gpus->n_gpus; i++) {
        close_gpu(&gpus->driver, &gpus->gpus[i], (int)i);
    }
    /* The library stays loaded: drivers do not like to leave a process. */
    (void)sem_destroy(&gpus->gate);
    free(gpus->gpus);
    free(gpus);
}

uint32_t vp_probe_gpus_count(const vp_probe_gpus_t *gpus)
{
    return gpus->n_gpus;
}

const char *vp_probe_gpu_name(const vp_probe_gpus_t *gpus, uint32_t gpu)
{
    return gpus->gpus[gpu].name;
}

const char *vp_probe_gpu_pci(const vp_probe_gpus_t *gpus, uint32_t gpu)
{
    return gpus->gpus[gpu].pci;
}

int vp_probe_driver_version(const vp_probe_gpus_t *gpus)
{
    return gpus->version;
}

vp_probe_reach_t vp_probe_gpus_reach(const vp_probe_gpus_t *gpus, uint32_t from, uint32_t to)
{
    return gpus->gpus[from].reach[to];
}

static uint32_t mover(const vp_probe_copy_t *copy)
{
    return copy->way == VP_PROBE_WRITE || copy->way == VP_PROBE_TO_HOST ? copy->source
                                                                        : copy->destination;
}

static cu_result_t post(const vp_probe_gpus_t *gpus, const vp_probe_copy_t *copy, size_t n_bytes,
                        void *stream)
{
    const driver_t *driver = &gpus->driver;
    const gpu_t *from = &gpus->gpus[copy->source];
    const gpu_t *to = &gpus->gpus[copy->destination];

    switch (copy->way) {
    case VP_PROBE_TO_HOST:
        return driver->to_host(from->host_in, from->out, n_bytes, stream);
    case VP_PROBE_FROM_HOST:
        return driver->from_host(to->in, to->host_out, n_bytes, stream);
    default:
        return driver->copy(to->in, from->out, n_bytes, stream);
    }
}

/* What a stream does: waits for the gate, then its copies between two time stamps. */
static cu_result_t queue(const vp_probe_gpus_t *gpus, const vp_probe_copy_t *copy, uint32_t index,
                         void *gate, size_t n_bytes, uint32_t n_times)
{
    const driver_t *driver = &gpus->driver;
    const gpu_t *gpu = &gpus->gpus[mover(copy)];
    const engine_t *engine = &gpu->engines[index];
    cu_result_t code = driver->set_context(gpu->context);
    uint32_t i;

    if (code == CU_SUCCESS) {
        code = driver->wait(engine->stream, gate, 0);
    }
    if (code == CU_SUCCESS) {
        code = driver->record(engine->begin, engine->stream);
    }
    for (i = 0; i < n_times && code == CU_SUCCESS; i++) {
        code = post(gpus, copy, n_bytes, engine->stream);
    }
    return code == CU_SUCCESS ? driver->record(engine->end, engine->stream) : code;
}

static void wait_at_gate(void *gate)
{
    while (sem_wait(gate) != 0) {
    }
}

/* The gate is shut until all streams stand before it. */
static cu_result_t queue_all(vp_probe_gpus_t *gpus, const vp_probe_copy_t *copies,
                             uint32_t n_copies, size_t n_bytes, uint32_t n_times)
{
    const driver_t *driver = &gpus->driver;
    const gpu_t *first = &gpus->gpus[mover(&copies[0])];
    void *stream = first->engines[VP_PROBE_MAX_COPIES - 1].stream;
    cu_result_t code = driver->set_context(first->context);
    uint32_t i;

    if (code == CU_SUCCESS) {
        code = driver->host_function(stream, wait_at_gate, &gpus->gate);
    }
    if (code != CU_SUCCESS) {
        return code;
    }
    code = driver->record(first->gate, stream);
    for (i = 0; i < n_copies && code == CU_SUCCESS; i++) {
        code = queue(gpus, &copies[i], i, first->gate, n_bytes, n_times);
    }
    (void)sem_post(&gpus->gate);
    return code;
}

static cu_result_t finish(const vp_probe_gpus_t *gpus, const vp_probe_copy_t *copy, uint32_t index,
                          double *seconds)
{
    const driver_t *driver = &gpus->driver;
    const gpu_t *gpu = &gpus->gpus[mover(copy)];
    const engine_t *engine = &gpu->engines[index];
    cu_result_t code = driver->set_context(gpu->context);
    float ms = 0;

    if (code == CU_SUCCESS) {
        code = driver->synchronize(engine->stream);
    }
    if (code == CU_SUCCESS) {
        code = driver->elapsed(&ms, engine->begin, engine->end);
    }
    *seconds = (double)ms / 1e3 > *seconds ? (double)ms / 1e3 : *seconds;
    return code;
}

vp_status_t vp_probe_gpus_run(vp_probe_gpus_t *gpus, const vp_probe_copy_t *copies,
                              uint32_t n_copies, size_t n_bytes, uint32_t n_times,
                              double *seconds_p, vp_error_t *error)
{
    cu_result_t code = queue_all(gpus, copies, n_copies, n_bytes, n_times);
    double seconds = 0;
    uint32_t i;

    for (i = 0; i < n_copies; i++) {
        cu_result_t one = finish(gpus, &copies[i], i, &seconds);

        code = code == CU_SUCCESS ? one : code;
    }
    if (code != CU_SUCCESS || seconds <= 0) {
        return fail(&gpus->driver, code, "copy and time it", error);
    }
    *seconds_p = seconds;
    return VP_OK;
}
