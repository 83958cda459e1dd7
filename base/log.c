/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

void vp_log(const vp_log_t *log, vp_log_level_t level, const char *format, ...)
{
    char line[1024];
    va_list arguments;

    if (log == NULL || log->write == NULL || (int)level > log->verbosity) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    log->write(log->context, level, line);
}
