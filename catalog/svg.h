/*
 * The few shapes that pictures of this room are made of; private to it.
 * Coordinates are pixels; classes are those of the style sheet in svg.c.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_SVG_H
#define VP_CATALOG_SVG_H

#include "base/buf.h"

typedef enum vp_svg_anchor { VP_SVG_START, VP_SVG_MIDDLE, VP_SVG_END } vp_svg_anchor_t;

void vp_svg_begin(vp_writer_t *writer, int width, int height);
void vp_svg_end(vp_writer_t *writer);
void vp_svg_box(vp_writer_t *writer, const char *style, int x, int y, int width, int height);
void vp_svg_line(vp_writer_t *writer, const char *style, int x1, int y1, int x2, int y2);
/* A curve between two points of one height, `rise` above them. */
void vp_svg_arc(vp_writer_t *writer, const char *style, int x1, int x2, int y, int rise);
/* Text is escaped; y is its base line. */
void vp_svg_text(vp_writer_t *writer, const char *style, vp_svg_anchor_t anchor, int x, int y,
                 const char *format, ...) __attribute__((format(printf, 6, 7)));

#endif
