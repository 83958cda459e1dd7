/*
 * What a CUDA driver does in the corners that this project depends on. Every
 * check holds on the emulated driver; on a real one, a check that fails is a
 * difference that the emulator does not show.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_CUDA_EMU_CONFORMANCE_H
#define VP_TEST_CUDA_EMU_CONFORMANCE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

/* Counts a check, says what is different. */
void conformance_check(bool right, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The call returns this code. */
#define RETURNS(call, code)                                                                        \
    do {                                                                                           \
        CUresult got_ = (call);                                                                    \
        conformance_check(got_ == (code), __FILE__, __LINE__, "%s returns %d, expected %d", #call, \
                          (int)got_, (int)(code));                                                 \
    } while (0)
#define WORKS(call) RETURNS(call, CUDA_SUCCESS)
#define HOLDS(condition) conformance_check((condition), __FILE__, __LINE__, "%s", #condition)

/* Is this the emulated driver, with its pace and its three devices? */
bool conformance_emulated(void);
int conformance_devices(void);
double conformance_seconds(void);
/* Makes the primary context of a device current and returns it. */
CUcontext conformance_context(CUdevice device);

/* conformance_memory.c: in one process. */
void conformance_memory(void);
/* conformance_copy.c: streams, events, copies, peers. */
void conformance_copy(void);
/* conformance_process.c: between two processes over a socket pair. */
void conformance_export(int socket);
void conformance_import(int socket);

#endif
