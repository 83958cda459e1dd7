/* SPDX-License-Identifier: BSD-3-Clause */
#include "mca/component.h"

#include <stdarg.h>
#include <stdlib.h>

void vp_help(const char *topic, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, topic);
    text = opal_show_help_vstring(VP_HELP_FILE, topic, true, arguments);
    va_end(arguments);
    if (NULL == text) {
        opal_output(0, "coll:variopath: %s (%s not found)", topic, VP_HELP_FILE);
        return;
    }
    opal_output(0, "%s", text);
    free(text);
}
