/* SPDX-License-Identifier: BSD-3-Clause */
#include "failing.h"

#include <jansson.h>
#include <stdlib.h>

static void *take(size_t n_bytes)
{
    return malloc(n_bytes);
}

static void give(void *block)
{
    free(block);
}

void failing_take_jansson(void)
{
    json_set_alloc_funcs(take, give);
}
