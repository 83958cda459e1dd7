/*
 * A recorded trace as a picture: per rank as many lines as lanes were under way
 * at once, a box per lane with its destination, calls as bars behind them.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "tools/trace_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "tools/drawing.h"

enum { MAX_LINES = 8, MAX_RANKS = 256, LOW = 9, HIGH = 16 };

typedef struct picture {
    const vp_trace_t *trace;
    uint64_t span_ns;
    uint32_t n_lines; /* of each rank */
    int line;         /* height */
} picture_t;

static double x_of(const picture_t *picture, uint64_t ns)
{
    return VP_DRAWING_LEFT + (double)ns / (double)picture->span_ns * VP_DRAWING_PLOT;
}

static double row_height(const picture_t *picture)
{
    return (double)picture->n_lines * picture->line + 3;
}

static void draw_calls(vp_drawing_t *svg, const picture_t *picture)
{
    static const char *const colours[VP_TRACE_N_VERDICTS] = {"#e6edf5", "#f7e9dd", "#eeeeee"};
    size_t i;

    for (i = 0; i < picture->trace->n_calls; i++) {
        const vp_trace_call_t *call = &picture->trace->calls[i];

        if (call->rank < MAX_RANKS) {
            vp_drawing_rect(svg, x_of(picture, call->start_ns),
                            svg->y + row_height(picture) * call->rank,
                            x_of(picture, call->end_ns) - x_of(picture, call->start_ns),
                            row_height(picture) - 1, colours[call->verdict]);
        }
    }
}

static void draw_lane(vp_drawing_t *svg, const picture_t *picture, const vp_trace_lane_t *lane)
{
    double x = x_of(picture, lane->start_ns);
    double width = x_of(picture, lane->end_ns) - x;
    double y = svg->y + row_height(picture) * lane->rank +
               (double)(lane->row % picture->n_lines) * picture->line + 1;
    int size = picture->line == HIGH ? VP_DRAWING_TEXT - 1 : VP_DRAWING_TEXT - 4;
    char text[16];

    vp_drawing_put(svg,
                   "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%d\" fill=\"%s\" "
                   "stroke=\"white\" stroke-width=\"0.5\"><title>%" PRIu32 ": rank %" PRIu32
                   " to %" PRIu32 ", %s, %" PRIu64 " bytes, %" PRIu64 " ns</title></rect>\n",
                   x, y, width, picture->line - 1, vp_drawing_kind_colour(lane->kind),
                   lane->activation, lane->rank, lane->destination, vp_path_kind_text(lane->kind),
                   lane->n_bytes, lane->end_ns - lane->start_ns);
    (void)snprintf(text, sizeof(text), "%" PRIu32, lane->destination);
    if (width >= 0.62 * size * (double)strlen(text) + 2.0) {
        vp_drawing_put(svg, "<g fill=\"white\">");
        vp_drawing_text(svg, x + width / 2, y + picture->line / 2.0 + size * 0.35, "middle", size,
                        text);
        vp_drawing_put(svg, "</g>");
    }
}

static void label_ranks(vp_drawing_t *svg, const picture_t *picture, uint32_t n_ranks)
{
    char text[24];
    uint32_t rank;

    for (rank = 0; rank < n_ranks; rank++) {
        (void)snprintf(text, sizeof(text), "rank %" PRIu32, rank);
        vp_drawing_text(svg, VP_DRAWING_LEFT - 8,
                        svg->y + row_height(picture) * rank + row_height(picture) / 2 + 3, "end",
                        row_height(picture) < 12 ? VP_DRAWING_TEXT - 3 : VP_DRAWING_TEXT, text);
    }
}

static picture_t measure(const vp_trace_t *trace)
{
    picture_t picture = {.trace = trace, .span_ns = 1, .n_lines = 1};
    size_t i;

    for (i = 0; i < trace->n_calls; i++) {
        uint64_t end_ns = trace->calls[i].end_ns;

        picture.span_ns = end_ns > picture.span_ns ? end_ns : picture.span_ns;
    }
    for (i = 0; i < trace->n_lanes; i++) {
        const vp_trace_lane_t *lane = &trace->lanes[i];

        picture.span_ns = lane->end_ns > picture.span_ns ? lane->end_ns : picture.span_ns;
        if (lane->row >= picture.n_lines) {
            picture.n_lines = lane->row < MAX_LINES ? lane->row + 1 : MAX_LINES;
        }
    }
    picture.line = trace->n_ranks * picture.n_lines <= 48 ? HIGH : LOW;
    return picture;
}

vp_status_t vp_trace_draw(const vp_trace_t *trace, const char *path, vp_error_t *error)
{
    picture_t picture = measure(trace);
    uint32_t n_ranks = trace->n_ranks < MAX_RANKS ? trace->n_ranks : MAX_RANKS;
    vp_drawing_t svg = VP_DRAWING_INIT;
    vp_status_t status;
    char text[96];
    double top;
    size_t i;

    (void)snprintf(text, sizeof(text), "recorded: what %s%" PRIu32 " ranks sent",
                   trace->n_ranks > MAX_RANKS ? "the first " : "", n_ranks);
    vp_drawing_heading(&svg, text);
    vp_drawing_kinds(&svg, "labels: destination; behind them the calls");
    top = svg.y;
    draw_calls(&svg, &picture);
    for (i = 0; i < trace->n_lanes; i++) {
        if (trace->lanes[i].rank < n_ranks) {
            draw_lane(&svg, &picture, &trace->lanes[i]);
        }
    }
    label_ranks(&svg, &picture, n_ranks);
    svg.y += row_height(&picture) * n_ranks;
    vp_drawing_time_axis(&svg, top, picture.span_ns);
    status = vp_drawing_write(&svg, path, error);
    vp_drawing_release(&svg);
    return status;
}
