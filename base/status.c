/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/status.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

const char *vp_status_text(int status)
{
    switch (status) {
#define VP_STATUS_CASE(name, value, text)                                                          \
    case value:                                                                                    \
        return text;
        VP_STATUS_MAP(VP_STATUS_CASE)
#undef VP_STATUS_CASE
    default:
        return "unknown status";
    }
}

vp_status_t vp_error_set(vp_error_t *error, vp_status_t status, const char *format, ...)
{
    va_list arguments;

    if (error == NULL) {
        return status;
    }
    error->status = status;
    va_start(arguments, format);
    (void)vsnprintf(error->text, sizeof(error->text), format, arguments);
    va_end(arguments);
    return status;
}

vp_status_t vp_error_no_memory(vp_error_t *error, const char *what)
{
    return vp_error_set(error, VP_ERR_NO_MEMORY,
                        "out of memory for %s; use a smaller machine description or demand, "
                        "or give the process more memory",
                        what);
}
