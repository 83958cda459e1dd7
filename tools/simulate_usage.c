/*
 * The use of the busiest links over time: a row per link, darker where it
 * carries more.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "tools/simulate.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/units.h"
#include "tools/drawing.h"

enum { ROW = 14, N_LINKS = 24, N_SHADES = 11 };

/* Shades 0 .. 10 of tenths; white for nothing. */
static const char *const shades[N_SHADES] = {"#ffffff", "#e8eef7", "#d0deee", "#b5cbe4",
                                             "#98b6d8", "#7aa0cb", "#5d8abd", "#4274ad",
                                             "#2b5e99", "#184881", "#083264"};

typedef struct ranked_link {
    double part; /* of the time that its bytes take */
    uint32_t link;
} ranked_link_t;

static int compare_parts(const void *a, const void *b)
{
    const ranked_link_t *left = a;
    const ranked_link_t *right = b;

    if (left->part > right->part || left->part < right->part) {
        return left->part > right->part ? -1 : 1;
    }
    return (left->link > right->link) - (left->link < right->link);
}

static void draw_row(vp_drawing_t *svg, const vp_simulation_t *simulation, uint32_t link)
{
    const vp_machine_t *machine = simulation->machine;
    uint64_t slice_ns = vp_network_usage_slice_ns(machine->network);
    double full =
        (double)vp_link_bytes_per_s(machine, link) * (double)slice_ns / (double)VP_NS_PER_S;
    double scale = (double)slice_ns / (double)simulation->time_ns * VP_DRAWING_PLOT;
    uint32_t n_slices = (uint32_t)((simulation->time_ns + slice_ns - 1) / slice_ns);
    uint32_t begin = 0;
    int shade = -1;
    uint32_t i;

    n_slices = n_slices < VP_USAGE_SLICES ? n_slices : VP_USAGE_SLICES;
    for (i = 0; i <= n_slices; i++) {
        int next = -1;

        if (i < n_slices) {
            next = (int)((double)vp_network_link_usage(machine->network, link, i) / full *
                             (N_SHADES - 1) +
                         0.5);
            next = next < N_SHADES ? next : N_SHADES - 1;
        }
        if (next != shade) {
            if (shade > 0) {
                double end = i * scale < VP_DRAWING_PLOT ? i * scale : VP_DRAWING_PLOT;

                vp_drawing_rect(svg, VP_DRAWING_LEFT + begin * scale, svg->y, end - begin * scale,
                                ROW - 2, shades[shade]);
            }
            begin = i;
            shade = next;
        }
    }
}

static void draw_legend(vp_drawing_t *svg)
{
    int i;

    vp_drawing_text(svg, VP_DRAWING_LEFT - 8, svg->y + 10, "end", VP_DRAWING_TEXT,
                    "use of the link");
    for (i = 0; i < N_SHADES; i++) {
        char text[16];
        double x = VP_DRAWING_LEFT + 60.0 * i;

        vp_drawing_put(svg,
                       "<rect x=\"%.1f\" y=\"%.1f\" width=\"24\" height=\"10\" fill=\"%s\" "
                       "stroke=\"#999999\"/>\n",
                       x, svg->y + 1, shades[i]);
        (void)snprintf(text, sizeof(text), "%d%%", 10 * i);
        vp_drawing_text(svg, x + 28, svg->y + 10, "start", VP_DRAWING_TEXT - 1, text);
    }
    svg->y += ROW + 4;
}

static void draw_links(vp_drawing_t *svg, const vp_simulation_t *simulation, ranked_link_t *links,
                       uint32_t n)
{
    char text[VP_LINK_NAME_BYTES];
    uint32_t i;

    for (i = 0; i < n && links[i].part > 0.0; i++) {
        vp_machine_link_name(simulation->machine, links[i].link, text);
        vp_drawing_text(svg, VP_DRAWING_LEFT - 8, svg->y + 10, "end", VP_DRAWING_TEXT - 1, text);
        draw_row(svg, simulation, links[i].link);
        (void)snprintf(text, sizeof(text), "%.1f%% of the time", 100.0 * links[i].part);
        vp_drawing_text(svg, VP_DRAWING_LEFT + VP_DRAWING_PLOT + 8, svg->y + 10, "start",
                        VP_DRAWING_TEXT - 1, text);
        svg->y += ROW;
    }
}

vp_status_t vp_result_draw_usage(vp_drawing_t *svg, const vp_result_t *result, vp_error_t *error)
{
    const vp_simulation_t *simulation = &result->simulation;
    uint32_t n = vp_network_n_links(simulation->machine->network);
    ranked_link_t *links;
    char text[160];
    double top;
    uint32_t i;

    if (simulation->time_ns == 0) {
        return VP_OK;
    }
    links = vp_array_new(n, sizeof(*links));
    if (links == NULL) {
        return vp_error_no_memory(error, "a drawing");
    }
    for (i = 0; i < n; i++) {
        links[i].link = i;
        links[i].part = (double)vp_network_link_bytes(simulation->machine->network, i) * 1e9 /
                        (double)vp_link_bytes_per_s(simulation->machine, i) /
                        (double)simulation->time_ns;
    }
    qsort(links, n, sizeof(*links), compare_parts);
    (void)snprintf(text, sizeof(text), "%.40s, %.40s: the %d busiest links over time",
                   result->algorithm, result->links, n < N_LINKS ? (int)n : N_LINKS);
    vp_drawing_heading(svg, text);
    draw_legend(svg);
    top = svg->y;
    draw_links(svg, simulation, links, n < N_LINKS ? n : N_LINKS);
    vp_drawing_mark(svg, top, result->bound_ns, simulation->time_ns, "bound");
    vp_drawing_time_axis(svg, top, simulation->time_ns);
    free(links);
    return VP_OK;
}
