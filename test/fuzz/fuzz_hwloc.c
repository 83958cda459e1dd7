/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/fuzz/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    return fuzz_import(data, n_bytes, VP_IMPORT_HWLOC);
}
