/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>

void vp_rate_text(uint64_t bytes_per_s, char *text)
{
    static const struct {
        uint64_t unit;
        const char *name;
    } units[] = {{1000000000, "GB/s"}, {1000000, "MB/s"}, {1000, "kB/s"}};
    size_t i;

    for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (bytes_per_s >= units[i].unit) {
            (void)snprintf(text, VP_RATE_TEXT_BYTES, "%.1f %s",
                           (double)bytes_per_s / (double)units[i].unit, units[i].name);
            return;
        }
    }
    (void)snprintf(text, VP_RATE_TEXT_BYTES, "%" PRIu64 " B/s", bytes_per_s);
}
