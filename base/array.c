/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *vp_array_new(size_t n, size_t size)
{
    return calloc(n == 0 ? 1 : n, size == 0 ? 1 : size);
}

bool vp_array_reserve(void *array_p, size_t *capacity_p, size_t needed, size_t size)
{
    void *array;
    size_t capacity = *capacity_p < 8 ? 8 : *capacity_p;

    if (needed <= *capacity_p) {
        return true;
    }
    while (capacity < needed) {
        if (capacity > SIZE_MAX / 2) {
            return false;
        }
        capacity *= 2;
    }
    if (capacity > SIZE_MAX / size) {
        return false;
    }
    memcpy(&array, array_p, sizeof(array));
    array = realloc(array, capacity * size);
    if (array == NULL) {
        return false;
    }
    memcpy(array_p, &array, sizeof(array));
    *capacity_p = capacity;
    return true;
}

char *vp_string_copy(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);

    if (copy != NULL) {
        memcpy(copy, text, bytes);
    }
    return copy;
}
