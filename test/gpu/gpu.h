/*
 * Buffers of every kind of memory for test programs, over the driver found at
 * run time: a real one, or the emulated one. A driver call that fails ends the
 * program with a message.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_GPU_GPU_H
#define VP_TEST_GPU_GPU_H

#include <stddef.h>
#include <stdint.h>

/*
 * Kinds: 'h' malloc, 'p' pinned host, 'd' device, 'a' stream-ordered device,
 * 'v' virtual memory management, 'm' managed, 'n' no buffer: NULL.
 */
typedef struct gpu_buffer {
    char kind;
    char *address;
    size_t n_bytes;
    size_t mapped_bytes;         /* 'v' */
    unsigned long long physical; /* 'v': the handle */
} gpu_buffer_t;

/* Loads the driver and makes a context of device ordinal % count current. NULL, or why not. */
const char *gpu_open(int ordinal, int own_context);
int gpu_count(void);

void gpu_alloc(gpu_buffer_t *buffer, char kind, size_t n_bytes);
void gpu_free(gpu_buffer_t *buffer);
void gpu_put(const gpu_buffer_t *buffer, const void *bytes);
void gpu_get(const gpu_buffer_t *buffer, void *bytes);

/* From device to device, done when it returns. */
void gpu_copy(const gpu_buffer_t *to, const gpu_buffer_t *from);

/* The calling thread's context; set to NULL: none. */
void *gpu_context(void);
void gpu_set_context(void *context);

/* Calls of an entry so far, -1: only the emulated driver counts. */
long long gpu_calls(const char *name);

#endif
