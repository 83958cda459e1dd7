/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/command.h"

#include <stdarg.h>
#include <stdio.h>

int vp_command_fail(const vp_error_t *error)
{
    (void)fprintf(stderr, "variopath: %s\n", error->text);
    switch (error->status) {
    case VP_ERR_USAGE:
    case VP_ERR_BAD_INPUT:
    case VP_ERR_LIMIT:
    case VP_ERR_UNSUPPORTED:
        return VP_EXIT_BAD_INPUT;
    default:
        return VP_EXIT_ENVIRONMENT;
    }
}

int vp_command_usage(const char *command, const char *format, ...)
{
    va_list arguments;

    (void)fprintf(stderr, "variopath %s: ", command);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "; see `variopath %s --help`\n", command);
    return VP_EXIT_BAD_INPUT;
}
