/*
 * Sample files and what every import test does with them.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_IMPORT_SAMPLES_H
#define VP_TEST_IMPORT_SAMPLES_H

#include <jansson.h>
#include <stddef.h>

#include "base/status.h"

/*
 * Text of test/import/data/NAME, or of $VP_IMPORT_DATA/NAME where that is set
 * (the originals of the samples that are re-rendered here). free() it.
 */
char *sample_read(const char *name, size_t *n_bytes_p);

/* The same with the first `from` replaced by `to`; the test fails without any. */
char *sample_edit(const char *name, const char *from, const char *to);

/*
 * Imports a text as `where`: the report, to which "native" is added, the
 * topology file that the loader has read back. NULL with the error.
 */
json_t *sample_import(const char *where, const char *text, size_t n_bytes, vp_error_t *error);

/* Fails the test unless the error is one that ends with exit code 2 and names the file. */
void sample_check_error(const char *where, const vp_error_t *error);

#endif
