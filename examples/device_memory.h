/*
 * CUDA device memory for an example that is built where CUDA is not installed:
 * the driver is found when the program runs. A real program would include
 * cuda.h or cuda_runtime.h and call cudaMalloc.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_EXAMPLES_DEVICE_MEMORY_H
#define VP_EXAMPLES_DEVICE_MEMORY_H

#include <stddef.h>

/* Makes a context of a device current, one of the node's in turn. NULL, or why not. */
const char *device_open(int local_rank);
const char *device_name(void);

/* What follows ends the program with a message when the driver refuses. */
void *device_allocate(size_t n_bytes);
void device_free(void *memory);
/* Between host and device; done when they return. */
void device_write(void *device, const void *host, size_t n_bytes);
void device_read(void *host, const void *device, size_t n_bytes);

#endif
