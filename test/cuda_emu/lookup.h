/*
 * The generated table behind cuGetProcAddress.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_CUDA_EMU_LOOKUP_H
#define VP_TEST_CUDA_EMU_LOOKUP_H

typedef struct emu_procedure {
    const char *name; /* as given to cuGetProcAddress */
    int version;      /* the driver version that brought it */
    int per_thread;   /* the variant with a default stream per thread */
    const char *symbol;
} emu_procedure_t;

extern const emu_procedure_t emu_procedures[];
extern const int emu_n_procedures;

#endif
