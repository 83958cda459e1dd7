/*
 * Memory of CUDA devices: what a buffer is, and copies from and to it.
 *
 * The driver is found, never loaded: a process that has not loaded libcuda.so.1
 * has no device memory, and a program that does not use CUDA pays next to
 * nothing. Nothing is linked; CUDA's headers are not needed to build.
 *
 * Thread-safe. No function but vp_device_enter changes the calling thread's
 * current context for longer than the call.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_COLL_DEVICE_H
#define VP_COLL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef enum vp_memory_kind {
    VP_MEMORY_NONE,   /* no byte is touched: agrees with everything */
    VP_MEMORY_HOST,   /* ordinary or pinned */
    VP_MEMORY_DEVICE, /* the CPU must not touch it */
    VP_MEMORY_MANAGED /* both may; moves under CUDA's control */
} vp_memory_kind_t;

typedef struct vp_memory {
    vp_memory_kind_t kind;
    /* The rest is of device and managed memory only. */
    int device;          /* ordinal in this process; means nothing in another one */
    uint64_t buffer_id;  /* of the allocation, never used twice in a process */
    bool ipc;            /* another process can map it (legacy CUDA IPC) */
    bool one_allocation; /* every touched byte is in the same allocation: */
    uint64_t allocation_begin;
    uint64_t allocation_bytes;
    void *context; /* the allocation's CUcontext; NULL: pool and mapped memory has none */
} vp_memory_t;

/* Is a CUDA driver loaded in this process? Cheap; may turn from false to true, never back. */
bool vp_device_present(void);

/*
 * What is [begin, end), a buffer from the first to behind the last touched
 * byte? Judged by its first byte; begin == end: VP_MEMORY_NONE. One query of
 * the driver. VP_ERR_DEVICE: the driver does not answer (a device failed).
 */
vp_status_t vp_device_classify(uint64_t begin, uint64_t end, vp_memory_t *memory_p,
                               vp_error_t *error) VP_MUST_CHECK;

/*
 * Copies n_bytes between memory of the device and the host; when they return,
 * the bytes are there for the CPU and for every stream. memory is the device
 * side's. VP_ERR_DEVICE.
 */
vp_status_t vp_device_read(const vp_memory_t *memory, void *host, uint64_t device, size_t n_bytes,
                           vp_error_t *error) VP_MUST_CHECK;
vp_status_t vp_device_write(const vp_memory_t *memory, uint64_t device, const void *host,
                            size_t n_bytes, vp_error_t *error) VP_MUST_CHECK;

/* Between any two places of device or host memory; at least one side is a device's. */
vp_status_t vp_device_copy(const vp_memory_t *memory, uint64_t to, uint64_t from, size_t n_bytes,
                           vp_error_t *error) VP_MUST_CHECK;

/*
 * Makes the memory's context current for the calling thread until
 * vp_device_leave: UCX needs it to register device memory and to put from it. VP_ERR_DEVICE.
 */
vp_status_t vp_device_enter(const vp_memory_t *memory, vp_error_t *error) VP_MUST_CHECK;
void vp_device_leave(void);

/* Returns when the legacy default stream of the memory's context has nothing left to do.
 * VP_ERR_DEVICE. */
vp_status_t vp_device_wait(const vp_memory_t *memory, vp_error_t *error) VP_MUST_CHECK;

/*
 * Makes what NICs wrote into the device's memory visible to it, where its writes are not
 * ordered by themselves (CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING). VP_ERR_DEVICE.
 */
vp_status_t vp_device_flush_writes(const vp_memory_t *memory, vp_error_t *error) VP_MUST_CHECK;

/* The calling thread's current context; NULL: it has none. */
void *vp_device_context(void);

/*
 * A copy that runs while the caller does something else. All zeroes is a copy
 * that was never started; one object serves any number of copies in turn.
 */
typedef struct vp_copy {
    void *context;
    void *event;
} vp_copy_t;

/*
 * Starts a copy in a stream of this room's own; one side is device memory of the
 * context. The bytes must be left alone until it is done. VP_ERR_DEVICE.
 */
vp_status_t vp_copy_start(vp_copy_t *copy, void *context, bool to_device, uint64_t to,
                          uint64_t from, size_t n_bytes, vp_error_t *error) VP_MUST_CHECK;
/* Is the last one done? VP_ERR_DEVICE: it failed. */
vp_status_t vp_copy_test(const vp_copy_t *copy, bool *done_p, vp_error_t *error) VP_MUST_CHECK;
/* Returns when the last one no longer touches its bytes. */
void vp_copy_wait(const vp_copy_t *copy);
void vp_copy_free(vp_copy_t *copy);

/*
 * Pins host memory, so that copies from and to it run at full speed and do not
 * wait for each other. False: the driver refuses, copies work all the same.
 */
bool vp_device_pin(void *context, void *host, size_t n_bytes);
void vp_device_unpin(void *context, void *host);

/*
 * Device memory of this room's own, in the current context. VP_ERR_DEVICE. What a
 * handle opens is another process's memory: can copies of this process reach it?
 */
enum { VP_DEVICE_HANDLE_BYTES = 64 };
vp_status_t vp_device_allocate(size_t n_bytes, uint64_t *device_p, vp_error_t *error) VP_MUST_CHECK;
void vp_device_free(uint64_t device);
bool vp_device_export(uint64_t device, uint8_t *handle);
bool vp_device_reaches(const uint8_t *handle);

/* "none", "host", "device", "managed". */
const char *vp_memory_kind_text(vp_memory_kind_t kind);

#endif
