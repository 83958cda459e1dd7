/*
 * SVG drawings, written from top to bottom: `y` is where the next part begins.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_DRAWING_H
#define VP_TOOLS_DRAWING_H

#include "base/buf.h"
#include "base/status.h"
#include "catalog/model.h"

/* Columns of every part: labels up to LEFT, a plot of PLOT pixels, notes behind it. */
enum {
    VP_DRAWING_LEFT = 220,
    VP_DRAWING_PLOT = 960,
    VP_DRAWING_WIDTH = VP_DRAWING_LEFT + VP_DRAWING_PLOT + 180
};
enum { VP_DRAWING_TEXT = 11 }; /* height of common text */

typedef struct vp_drawing {
    vp_writer_t body;
    double y;
} vp_drawing_t;

#define VP_DRAWING_INIT                                                                            \
    {                                                                                              \
        VP_WRITER_INIT, 10                                                                         \
    }

/* Raw SVG. */
void vp_drawing_put(vp_drawing_t *svg, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Text with its baseline at y; anchor: "start", "middle" or "end". */
void vp_drawing_text(vp_drawing_t *svg, double x, double y, const char *anchor, int size,
                     const char *text);
void vp_drawing_rect(vp_drawing_t *svg, double x, double y, double width, double height,
                     const char *colour);
/* Begins a group, to be ended by "</g>", of boxes that a line of white sets apart; and one of
 * them, whose element the caller ends. */
#define VP_DRAWING_BOXES "<g stroke=\"white\" stroke-width=\"0.5\">\n"
void vp_drawing_box(vp_drawing_t *svg, double x, double y, double width, double height,
                    const char *colour);
void vp_drawing_line(vp_drawing_t *svg, double x1, double y1, double x2, double y2,
                     const char *colour);
/* A thin line of a grid, through which what is below shows. */
void vp_drawing_grid(vp_drawing_t *svg, double x1, double y1, double x2, double y2);
/* A time marked in a plot that began at `top` and ends at svg->y; nothing for 0 or beyond it.
 * Its text goes below the axis, which is to follow. */
void vp_drawing_mark(vp_drawing_t *svg, double top, uint64_t at_ns, uint64_t time_ns,
                     const char *text);
/* A heading at svg->y, which moves on. */
void vp_drawing_heading(vp_drawing_t *svg, const char *text);
/* The largest of 1, 2, 5 times a power of ten that fits at least four times into a span. */
uint64_t vp_drawing_tick(uint64_t span);
/* Times 0 .. time_ns below a plot that began at `top` and ends at svg->y, which moves on. */
void vp_drawing_time_axis(vp_drawing_t *svg, double top, uint64_t time_ns);
/* Kinds of paths have the same colours everywhere; the legend ends in a note. */
const char *vp_drawing_kind_colour(vp_path_kind_t kind);
void vp_drawing_kinds(vp_drawing_t *svg, const char *note);
vp_status_t vp_drawing_write(const vp_drawing_t *svg, const char *path,
                             vp_error_t *error) VP_MUST_CHECK;
void vp_drawing_release(vp_drawing_t *svg);

#endif
