/*
 * Traces, in both formats, as `variopath trace` reads them.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "tools/trace_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* What reports and pictures rely on. */
static void check(const vp_trace_t *trace)
{
    size_t i;

    for (i = 0; i < trace->n_lanes; i++) {
        const vp_trace_lane_t *lane = &trace->lanes[i];

        if (lane->call >= trace->n_calls || lane->rank >= trace->n_ranks ||
            lane->end_ns < lane->start_ns || (int)lane->kind < 0 ||
            (int)lane->kind >= VP_N_PATH_KINDS) {
            abort();
        }
    }
    for (i = 0; i < trace->n_calls; i++) {
        if (trace->calls[i].rank >= trace->n_ranks ||
            trace->calls[i].end_ns < trace->calls[i].start_ns) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    char *text = malloc(n_bytes + 1);
    vp_trace_t trace = {0};
    vp_error_t error = {.text = ""};

    if (text == NULL) {
        return 0;
    }
    memcpy(text, data, n_bytes);
    text[n_bytes] = '\0';
    if (vp_trace_read(&trace, "fuzz", text, n_bytes, &error) == VP_OK) {
        vp_trace_begin_at_zero(&trace);
        check(&trace);
    } else if (strncmp(error.text, "fuzz", 4) != 0) {
        abort();
    }
    vp_trace_release(&trace);
    free(text);
    return 0;
}
