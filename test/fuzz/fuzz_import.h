/*
 * One input for an importer: read, and when that succeeds, everything that is
 * made of it. The native file must be one that the loader takes.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_FUZZ_IMPORT_H
#define VP_TEST_FUZZ_IMPORT_H

#include <stdint.h>

#include "catalog/import/import.h"

int fuzz_import(const uint8_t *data, size_t n_bytes, vp_import_format_t format);

/* The entry point that libFuzzer calls. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

#endif
