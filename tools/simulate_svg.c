/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/simulate.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/file.h"

enum { WIDTH = 900, LABEL = 260, ROW = 18, TOP = 40, N_LINKS = 24 };

/* Bars are drawn in a plot of BAR pixels for the longest. */
enum { BAR = WIDTH - LABEL - 130 };

static void put(vp_writer_t *svg, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(vp_writer_t *svg, const char *format, ...)
{
    char line[VP_LINK_NAME_BYTES + 512];
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof(line)) {
        svg->failed = true;
        return;
    }
    vp_write_bytes(svg, line, (size_t)length);
}

/* Text with the characters that XML reserves replaced; link names hold ">". */
static void put_text(vp_writer_t *svg, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            put(svg, "&lt;");
            break;
        case '>':
            put(svg, "&gt;");
            break;
        case '&':
            put(svg, "&amp;");
            break;
        default:
            put(svg, "%c", *text);
            break;
        }
    }
}

static void put_bar(vp_writer_t *svg, int y, double part, const char *colour)
{
    put(svg, "<rect x=\"%d\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\"/>\n", LABEL, y,
        part * BAR, ROW - 4, colour);
}

static void put_label(vp_writer_t *svg, int x, int y, const char *anchor, const char *text)
{
    put(svg, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">", x, y + ROW - 7, anchor);
    put_text(svg, text);
    put(svg, "</text>\n");
}

static int draw_rates(vp_writer_t *svg, const vp_report_t *report, int y)
{
    uint64_t most = 1;
    char text[128];
    size_t i;

    for (i = 0; i < report->n_results; i++) {
        uint64_t rate = vp_algorithmic_bytes_per_s(report->total_bytes, report->model->n_ranks,
                                                   report->results[i].simulation.time_ns);

        most = rate > most ? rate : most;
    }
    put_label(svg, 10, y, "start", "algorithmic bandwidth per rank, GB/s");
    y += ROW;
    for (i = 0; i < report->n_results; i++) {
        const vp_result_t *result = &report->results[i];
        uint64_t rate = vp_algorithmic_bytes_per_s(report->total_bytes, report->model->n_ranks,
                                                   result->simulation.time_ns);

        (void)snprintf(text, sizeof(text), "%.40s, %.40s, %.10s", result->algorithm, result->links,
                       result->execution);
        put_label(svg, LABEL - 8, y, "end", text);
        put_bar(svg, y, (double)rate / (double)most, "#4477aa");
        (void)snprintf(text, sizeof(text), "%.3f", (double)rate / 1e9);
        put_label(svg, LABEL + BAR + 8, y, "start", text);
        y += ROW;
    }
    return y + ROW;
}

/* The most used of the links that have not been drawn, UINT32_MAX: none. */
static uint32_t next_link(const vp_simulation_t *simulation, const uint32_t *drawn, int n_drawn,
                          double *part_p)
{
    const vp_machine_t *machine = simulation->machine;
    uint32_t best = UINT32_MAX;
    uint32_t i;
    int k;

    *part_p = 0.0;
    for (i = 0; i < vp_network_n_links(machine->network); i++) {
        double part = (double)vp_network_link_bytes(machine->network, i) * 1e9 /
                      (double)vp_link_bytes_per_s(machine, i) / (double)simulation->time_ns;

        for (k = 0; k < n_drawn && drawn[k] != i; k++) {
        }
        if (k == n_drawn && part > *part_p) {
            *part_p = part;
            best = i;
        }
    }
    return best;
}

static int draw_links(vp_writer_t *svg, const vp_result_t *result, int y)
{
    uint32_t drawn[N_LINKS];
    char text[VP_LINK_NAME_BYTES + 128];
    double part;
    int n;

    (void)snprintf(text, sizeof(text), "%.40s, %.40s: use of its %d busiest links",
                   result->algorithm, result->links, N_LINKS);
    put_label(svg, 10, y, "start", text);
    y += ROW;
    for (n = 0; n < N_LINKS && result->simulation.time_ns > 0; n++) {
        drawn[n] = next_link(&result->simulation, drawn, n, &part);
        if (drawn[n] == UINT32_MAX) {
            break;
        }
        vp_machine_link_name(result->simulation.machine, drawn[n], text);
        put_label(svg, LABEL - 8, y, "end", text);
        put_bar(svg, y, part < 1.0 ? part : 1.0, "#228833");
        (void)snprintf(text, sizeof(text), "%.1f%%", 100.0 * part);
        put_label(svg, LABEL + BAR + 8, y, "start", text);
        y += ROW;
    }
    return y + ROW;
}

vp_status_t vp_report_draw(const vp_report_t *report, const char *path, vp_error_t *error)
{
    vp_writer_t svg = VP_WRITER_INIT;
    int height = TOP + (int)(report->n_results * (N_LINKS + 4) + 4) * ROW;
    int y = TOP;
    size_t i;
    vp_status_t status;

    put(&svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
        "font-family=\"sans-serif\" font-size=\"11\">\n",
        WIDTH, height);
    put(&svg, "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n");
    put_label(&svg, 10, 10, "start", report->model->name);
    y = draw_rates(&svg, report, y);
    for (i = 0; i < report->n_results; i++) {
        y = draw_links(&svg, &report->results[i], y);
    }
    put(&svg, "</svg>\n");
    status = svg.failed ? vp_error_no_memory(error, "a drawing")
                        : vp_file_write(path, svg.data, svg.n_bytes, error);
    vp_writer_clear(&svg);
    return status;
}
