/*
 * cuGetProcAddress and the entries that only say that they do not exist.
 *
 * cuGetExportTable refuses every table: the real runtime library asks for
 * private ones and makes sure with one of them that the driver is its vendor's.
 * That check is not to be worked around; runtime.c stands in where a test
 * needs a runtime library.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "test/cuda_emu/driver.h"

#include <dlfcn.h>
#include <unistd.h>

#include "test/cuda_emu/lookup.h"

CUresult emu_unimplemented(const char *name);

__attribute__((used)) CUresult emu_unimplemented(const char *name)
{
    if (getenv("CUDA_EMU_VERBOSE")) {
        fprintf(stderr, "cuda_emu[%d]: %s is not implemented\n", (int)getpid(), name);
    }
    emu_tracef("UNIMPLEMENTED %s", name);
    return CUDA_ERROR_NOT_SUPPORTED;
}

static void *self_handle(void)
{
    static void *handle;
    Dl_info info;

    if (!handle && dladdr((void *)&emu_unimplemented, &info)) {
        handle = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    }
    return handle;
}

/* The newest variant that the caller's version allows; *known_p: the name exists at all. */
static const emu_procedure_t *find(const char *name, int version, int per_thread, int *known_p)
{
    const emu_procedure_t *best = NULL;

    *known_p = 0;
    for (int i = 0; i < emu_n_procedures; ++i) {
        const emu_procedure_t *p = &emu_procedures[i];

        if (strcmp(p->name, name) != 0 || (p->per_thread && !per_thread)) {
            continue;
        }
        *known_p = 1;
        if (p->version <= version &&
            (!best || p->per_thread > best->per_thread ||
             (p->per_thread == best->per_thread && p->version >= best->version))) {
            best = p;
        }
    }
    return best;
}

static CUresult get_procedure(const char *name, void **function_p, int version, cuuint64_t flags,
                              CUdriverProcAddressQueryResult *result_p)
{
    int per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    int known;
    const emu_procedure_t *best = find(name, version, per_thread, &known);

    *function_p = NULL;
    if (best) {
        *function_p = dlsym(self_handle(), best->symbol);
    } else if (!known) {
        *function_p = dlsym(self_handle(), name);
    }
    emu_tracef("cuGetProcAddress %s %d -> %s", name, version, *function_p ? "found" : "NOT FOUND");
    if (result_p) {
        *result_p = *function_p ? CU_GET_PROC_ADDRESS_SUCCESS
                    : known     ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    }
    return *function_p ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

API(cuGetProcAddress, const char *name, void **function_p, int version, cuuint64_t flags)
{
    emu_prepare();
    return get_procedure(name, function_p, version, flags, NULL);
}

API(cuGetProcAddress_v2, const char *name, void **function_p, int version, cuuint64_t flags,
    CUdriverProcAddressQueryResult *result_p)
{
    emu_prepare();
    return get_procedure(name, function_p, version, flags, result_p);
}

API(cuGetExportTable, const void **table_p, const CUuuid *id)
{
    (void)id;
    *table_p = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}
