/*
 * What a test may ask the emulated driver beyond CUDA's own calls. The
 * functions are exported by the emulated libcuda.so.1 alone: find them by dlsym,
 * so that the same test program runs on a real driver too.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_CUDA_EMU_COUNTERS_H
#define VP_TEST_CUDA_EMU_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

/* How often this process called an entry, named as it is exported ("cuMemAlloc_v2"). */
uint64_t cuda_emu_calls(const char *name);
/* Bytes of all processes of the session that crossed a link of the description. */
uint64_t cuda_emu_link_bytes(const char *link);
/* Name of the i-th link of the description; NULL: there are no more. */
const char *cuda_emu_link_name(unsigned i);
/* Where the emulator itself reaches device memory; NULL: not inside one allocation. */
void *cuda_emu_host_view(unsigned long long address, size_t n_bytes);

#endif
