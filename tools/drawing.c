/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/drawing.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/file.h"

void vp_drawing_put(vp_drawing_t *svg, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof(line)) {
        svg->body.failed = true;
        return;
    }
    vp_write_bytes(&svg->body, line, (size_t)length);
}

/* With the characters that XML reserves replaced: link names hold ">". */
static void put_escaped(vp_drawing_t *svg, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            vp_drawing_put(svg, "&lt;");
            break;
        case '>':
            vp_drawing_put(svg, "&gt;");
            break;
        case '&':
            vp_drawing_put(svg, "&amp;");
            break;
        default:
            vp_write_bytes(&svg->body, text, 1);
            break;
        }
    }
}

void vp_drawing_text(vp_drawing_t *svg, double x, double y, const char *anchor, int size,
                     const char *text)
{
    vp_drawing_put(svg, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\">", x, y,
                   anchor, size);
    put_escaped(svg, text);
    vp_drawing_put(svg, "</text>\n");
}

void vp_drawing_rect(vp_drawing_t *svg, double x, double y, double width, double height,
                     const char *colour)
{
    vp_drawing_put(svg,
                   "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n", x,
                   y, width, height, colour);
}

void vp_drawing_box(vp_drawing_t *svg, double x, double y, double width, double height,
                    const char *colour)
{
    vp_drawing_put(svg, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%g\" fill=\"%s\"", x,
                   y, width, height, colour);
}

void vp_drawing_line(vp_drawing_t *svg, double x1, double y1, double x2, double y2,
                     const char *colour)
{
    vp_drawing_put(svg, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\"/>\n",
                   x1, y1, x2, y2, colour);
}

void vp_drawing_grid(vp_drawing_t *svg, double x1, double y1, double x2, double y2)
{
    vp_drawing_put(svg,
                   "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"black\" "
                   "stroke-opacity=\"0.2\"/>\n",
                   x1, y1, x2, y2);
}

void vp_drawing_mark(vp_drawing_t *svg, double top, uint64_t at_ns, uint64_t time_ns,
                     const char *text)
{
    double x = VP_DRAWING_LEFT + (double)at_ns / (double)time_ns * VP_DRAWING_PLOT;

    if (at_ns == 0 || at_ns > time_ns) {
        return;
    }
    vp_drawing_put(svg,
                   "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"#cc3311\" "
                   "stroke-width=\"2\" stroke-dasharray=\"6,3\"/>\n<g fill=\"#cc3311\">",
                   x, top - 4, x, svg->y + 2);
    vp_drawing_text(svg, x, svg->y + 27, "middle", VP_DRAWING_TEXT, text); /* below the times */
    vp_drawing_put(svg, "</g>\n");
}

void vp_drawing_heading(vp_drawing_t *svg, const char *text)
{
    svg->y += 12;
    vp_drawing_text(svg, 10, svg->y + 12, "start", 14, text);
    svg->y += 22;
}

uint64_t vp_drawing_tick(uint64_t span)
{
    static const uint64_t steps[] = {5, 2, 1};
    uint64_t power = 1;
    int i;

    while (power <= span / 40) {
        power *= 10;
    }
    for (i = 0; i < 2 && steps[i] * power > span / 4; i++) {
    }
    return steps[i] * power;
}

void vp_drawing_time_axis(vp_drawing_t *svg, double top, uint64_t time_ns)
{
    uint64_t tick = vp_drawing_tick(time_ns);
    uint64_t at;
    char text[64];

    for (at = 0; time_ns > 0 && at <= time_ns; at += tick) {
        double x = VP_DRAWING_LEFT + (double)at / (double)time_ns * VP_DRAWING_PLOT;

        vp_drawing_grid(svg, x, top, x, svg->y + 4);
        (void)snprintf(text, sizeof(text), "%g", (double)at / 1e3);
        vp_drawing_text(svg, x, svg->y + 15, "middle", VP_DRAWING_TEXT, text);
    }
    vp_drawing_text(svg, VP_DRAWING_LEFT + VP_DRAWING_PLOT + 12, svg->y + 15, "start",
                    VP_DRAWING_TEXT, "us");
    svg->y += 24;
}

const char *vp_drawing_kind_colour(vp_path_kind_t kind)
{
    static const char *const colours[VP_N_PATH_KINDS] = {"#4477aa", "#228833", "#ccbb44", "#ccbb44",
                                                         "#ee8866", "#aa3377", "#888888"};

    return colours[kind];
}

void vp_drawing_kinds(vp_drawing_t *svg, const char *note)
{
    int kind;

    for (kind = 0; kind < VP_N_PATH_KINDS; kind++) {
        double x = VP_DRAWING_LEFT + 80.0 * kind;

        vp_drawing_rect(svg, x, svg->y, 12, 10, vp_drawing_kind_colour((vp_path_kind_t)kind));
        vp_drawing_text(svg, x + 16, svg->y + 9, "start", VP_DRAWING_TEXT,
                        vp_path_kind_text((vp_path_kind_t)kind));
    }
    vp_drawing_text(svg, VP_DRAWING_LEFT + 80.0 * kind, svg->y + 9, "start", VP_DRAWING_TEXT, note);
    svg->y += 16;
}

vp_status_t vp_drawing_write(const vp_drawing_t *svg, const char *path, vp_error_t *error)
{
    vp_drawing_t page = VP_DRAWING_INIT;
    vp_status_t status;

    vp_drawing_put(&page,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
                   "font-family=\"sans-serif\">\n",
                   VP_DRAWING_WIDTH, svg->y + 10);
    vp_drawing_put(&page, "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n");
    vp_write_bytes(&page.body, svg->body.data, svg->body.n_bytes);
    vp_drawing_put(&page, "</svg>\n");
    status = svg->body.failed || page.body.failed
                 ? vp_error_no_memory(error, "a drawing")
                 : vp_file_write(path, page.body.data, page.body.n_bytes, error);
    vp_drawing_release(&page);
    return status;
}

void vp_drawing_release(vp_drawing_t *svg)
{
    vp_writer_clear(&svg->body);
}
