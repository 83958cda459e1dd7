/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/svg.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void put(vp_writer_t *writer, const char *text)
{
    vp_write_bytes(writer, text, strlen(text));
}

static void print(vp_writer_t *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void print(vp_writer_t *writer, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    put(writer, text);
}

/* Characters with a meaning are escaped; those that XML has no place for become '?'. */
static void put_escaped(vp_writer_t *writer, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            put(writer, "&lt;");
            break;
        case '>':
            put(writer, "&gt;");
            break;
        case '&':
            put(writer, "&amp;");
            break;
        default:
            vp_write_bytes(writer, (unsigned char)*text < 0x20 ? "?" : text, 1);
            break;
        }
    }
}

void vp_svg_begin(vp_writer_t *writer, int width, int height)
{
    print(writer,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
          "viewBox=\"0 0 %d %d\">\n",
          width, height, width, height);
    put(writer, "<style>\n"
                "text { font-family: sans-serif; font-size: 12px; fill: #222222 }\n"
                ".title { font-size: 18px; font-weight: bold }\n"
                ".head { font-size: 14px; font-weight: bold }\n"
                ".small { font-size: 11px; fill: #555555 }\n"
                ".page { fill: #ffffff }\n"
                ".node { fill: #f7f7f7; stroke: #999999; stroke-width: 1.5 }\n"
                ".host { fill: #ece7f2; stroke: #7a6a9b }\n"
                ".switch { fill: #dbe9f6; stroke: #2f6fab; stroke-width: 1.5 }\n"
                ".rank { fill: #e5f3e0; stroke: #4d9a3c }\n"
                ".nic { fill: #fdebd3; stroke: #c77d1b }\n"
                ".network { fill: #fdf4e6; stroke: #c77d1b }\n"
                ".link { fill: none; stroke: #2f6fab; stroke-width: 2 }\n"
                ".uplink { stroke: #7a6a9b; stroke-width: 2 }\n"
                ".wire { stroke: #c77d1b; stroke-width: 1.5 }\n"
                ".bus { stroke: #4d9a3c; stroke-width: 1.5 }\n"
                "</style>\n");
    vp_svg_box(writer, "page", 0, 0, width, height);
}

void vp_svg_end(vp_writer_t *writer)
{
    put(writer, "</svg>\n");
}

void vp_svg_box(vp_writer_t *writer, const char *style, int x, int y, int width, int height)
{
    print(writer, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/>\n",
          style, x, y, width, height);
}

void vp_svg_line(vp_writer_t *writer, const char *style, int x1, int y1, int x2, int y2)
{
    print(writer, "<line class=\"%s\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n", style, x1, y1,
          x2, y2);
}

void vp_svg_arc(vp_writer_t *writer, const char *style, int x1, int x2, int y, int rise)
{
    print(writer, "<path class=\"%s\" d=\"M %d %d C %d %d %d %d %d %d\"/>\n", style, x1, y, x1,
          y - rise, x2, y - rise, x2, y);
}

void vp_svg_text(vp_writer_t *writer, const char *style, vp_svg_anchor_t anchor, int x, int y,
                 const char *format, ...)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    char text[1536];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    print(writer, "<text class=\"%s\" text-anchor=\"%s\" x=\"%d\" y=\"%d\">", style,
          anchors[anchor], x, y);
    put_escaped(writer, text);
    put(writer, "</text>\n");
}
