/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/simulate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "tools/drawing.h"

enum { ROW = 18, CHART = 320, N_COLOURS = 8 };

static const char *const colours[N_COLOURS] = {"#4477aa", "#ee6677", "#228833", "#aa3377",
                                               "#ccbb44", "#66ccee", "#444444", "#ee8866"};

static const char *name_of(const vp_result_t *result, char *text, size_t n_bytes)
{
    (void)snprintf(text, n_bytes, "%.40s, %.40s, %.10s", result->algorithm, result->links,
                   result->execution);
    return text;
}

static uint64_t most_rate(const vp_report_t *report)
{
    uint64_t most = 1;
    size_t i;

    for (i = 0; i < report->n_results; i++) {
        uint64_t rate = vp_report_rate(report, &report->results[i]);

        most = rate > most ? rate : most;
    }
    return most;
}

static bool is_drawn(const vp_report_t *report, const vp_result_t *result)
{
    return result->total_bytes == report->results[report->n_results - 1].total_bytes;
}

static void draw_rates(vp_drawing_t *svg, const vp_report_t *report)
{
    double most = (double)most_rate(report);
    char text[192];
    size_t i;

    (void)snprintf(text, sizeof(text),
                   "%.60s, simulated: algorithmic bandwidth per rank in GB/s, %" PRIu32
                   " ranks, %" PRIu64 " bytes",
                   report->model->name, report->model->n_ranks,
                   report->results[report->n_results - 1].total_bytes);
    vp_drawing_heading(svg, text);
    for (i = 0; i < report->n_results; i++) {
        const vp_result_t *result = &report->results[i];
        double width = (double)vp_report_rate(report, result) / most * VP_DRAWING_PLOT;

        if (!is_drawn(report, result)) {
            continue;
        }
        vp_drawing_text(svg, VP_DRAWING_LEFT - 8, svg->y + 12, "end", VP_DRAWING_TEXT,
                        name_of(result, text, sizeof(text)));
        vp_drawing_rect(svg, VP_DRAWING_LEFT, svg->y, width, ROW - 4, colours[0]);
        (void)snprintf(text, sizeof(text), "%.3f", (double)vp_report_rate(report, result) / 1e9);
        vp_drawing_text(svg, VP_DRAWING_LEFT + width + 8, svg->y + 12, "start", VP_DRAWING_TEXT,
                        text);
        svg->y += ROW;
    }
}

/* The plot of bandwidth against size: what its axes reach. */
typedef struct chart {
    double top;
    double least; /* log2 of bytes per rank */
    double most;
    double most_rate;
} chart_t;

static double log_size(const vp_report_t *report, const vp_result_t *result)
{
    return log2((double)(result->total_bytes > 0 ? result->total_bytes : 1) /
                report->model->n_ranks);
}

static double chart_x(const chart_t *chart, double size)
{
    return VP_DRAWING_LEFT + (size - chart->least) / (chart->most - chart->least) * VP_DRAWING_PLOT;
}

static double chart_y(const chart_t *chart, double rate)
{
    return chart->top + CHART * (1.0 - rate / chart->most_rate);
}

static void size_text(double bytes, char *text, size_t n_bytes)
{
    static const char units[] = "BKMGT";
    int unit = 0;

    while (bytes >= 1024.0 && unit < 4) {
        bytes /= 1024.0;
        unit++;
    }
    (void)snprintf(text, n_bytes, "%.3g %c", bytes, units[unit]);
}

static void draw_axes(vp_drawing_t *svg, const vp_report_t *report, const chart_t *chart)
{
    uint64_t tick = vp_drawing_tick((uint64_t)chart->most_rate);
    uint64_t rate;
    double drawn = -1.0;
    char text[64];
    size_t i;

    for (rate = 0; (double)rate <= chart->most_rate; rate += tick) {
        double y = chart_y(chart, (double)rate);

        vp_drawing_grid(svg, VP_DRAWING_LEFT, y, VP_DRAWING_LEFT + VP_DRAWING_PLOT, y);
        (void)snprintf(text, sizeof(text), "%g GB/s", (double)rate / 1e9);
        vp_drawing_text(svg, VP_DRAWING_LEFT - 8, y + 4, "end", VP_DRAWING_TEXT, text);
    }
    for (i = 0; i < report->n_results; i++) {
        double size = log_size(report, &report->results[i]);

        if (fabs(size - drawn) > 1e-9) {
            drawn = size;
            size_text(exp2(size), text, sizeof(text));
            vp_drawing_grid(svg, chart_x(chart, size), chart->top, chart_x(chart, size),
                            chart->top + CHART);
            vp_drawing_text(svg, chart_x(chart, size), chart->top + CHART + 16, "middle",
                            VP_DRAWING_TEXT, text);
        }
    }
    vp_drawing_text(svg, VP_DRAWING_LEFT + VP_DRAWING_PLOT / 2, chart->top + CHART + 32, "middle",
                    VP_DRAWING_TEXT, "bytes per rank");
}

/* One line: the results of each size at the same place as `first` among those of the first. */
static void draw_curve(vp_drawing_t *svg, const vp_report_t *report, const chart_t *chart,
                       size_t first, size_t n_curves)
{
    const char *colour = colours[first % N_COLOURS];
    const char *dash = first / N_COLOURS % 2 == 0 ? "none" : "6,3";
    double y = chart->top + (double)first * ROW;
    char text[128];
    size_t i;

    vp_drawing_put(svg,
                   "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" "
                   "stroke-dasharray=\"%s\" points=\"",
                   colour, dash);
    for (i = first; i < report->n_results; i += n_curves) {
        vp_drawing_put(svg, "%.2f,%.2f ", chart_x(chart, log_size(report, &report->results[i])),
                       chart_y(chart, (double)vp_report_rate(report, &report->results[i])));
    }
    vp_drawing_put(svg, "\"/>\n");
    vp_drawing_rect(svg, VP_DRAWING_LEFT + VP_DRAWING_PLOT + 10, y + 3, 12, 4, colour);
    (void)snprintf(text, sizeof(text), "%.20s, %.12s", report->results[first].algorithm,
                   report->results[first].links);
    vp_drawing_text(svg, VP_DRAWING_LEFT + VP_DRAWING_PLOT + 26, y + 10, "start", VP_DRAWING_TEXT,
                    text);
}

static void draw_sizes(vp_drawing_t *svg, const vp_report_t *report)
{
    chart_t chart = {0, 1e9, 0, (double)most_rate(report)};
    size_t n_curves = 1;
    size_t i;

    vp_drawing_heading(svg, "algorithmic bandwidth per rank against size");
    chart.top = svg->y;
    while (report->results[n_curves].total_bytes == report->results[0].total_bytes) {
        n_curves++;
    }
    for (i = 0; i < report->n_results; i++) {
        double size = log_size(report, &report->results[i]);

        chart.least = size < chart.least ? size : chart.least;
        chart.most = size > chart.most ? size : chart.most;
    }
    draw_axes(svg, report, &chart);
    for (i = 0; i < n_curves; i++) {
        draw_curve(svg, report, &chart, i, n_curves);
    }
    svg->y += (n_curves * ROW > CHART ? (double)(n_curves * ROW) : CHART) + 40;
}

vp_status_t vp_report_draw(const vp_report_t *report, const char *path, vp_error_t *error)
{
    vp_drawing_t svg = VP_DRAWING_INIT;
    vp_status_t status = VP_OK;
    size_t i;

    if (report->n_results > 0) {
        draw_rates(&svg, report);
    }
    if (vp_report_is_sweep(report)) {
        draw_sizes(&svg, report);
    }
    for (i = 0; status == VP_OK && i < report->n_results; i++) {
        if (is_drawn(report, &report->results[i])) {
            status = vp_result_draw_lanes(&svg, &report->results[i], error);
        }
        if (status == VP_OK && report->results[i].draws_links) {
            status = vp_result_draw_links(&svg, &report->results[i], error);
        }
        if (status == VP_OK && is_drawn(report, &report->results[i])) {
            status = vp_result_draw_usage(&svg, &report->results[i], error);
        }
    }
    if (status == VP_OK) {
        status = vp_drawing_write(&svg, path, error);
    }
    vp_drawing_release(&svg);
    return status;
}
