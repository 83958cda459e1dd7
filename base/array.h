/*
 * Allocation of arrays with checked sizes. Everything comes from malloc and
 * is released with free.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_BASE_ARRAY_H
#define VP_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Zeroed array of n elements of `size` bytes; n = 0 gives a valid pointer to
 * free. NULL when the product overflows or memory is out.
 */
void *vp_array_new(size_t n, size_t size) __attribute__((malloc, warn_unused_result));

/*
 * Makes room for `needed` elements in *array_p, which has room for
 * *capacity_p; grows by doubling and leaves both untouched on failure.
 * Returns false when memory is out.
 */
bool vp_array_reserve(void *array_p, size_t *capacity_p, size_t needed, size_t size)
    __attribute__((warn_unused_result));

/* Copy of a string, NULL when memory is out. */
char *vp_string_copy(const char *text) __attribute__((malloc, warn_unused_result));

#endif
