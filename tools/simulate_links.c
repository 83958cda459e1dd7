/*
 * What every shared link carries over time: a row of boxes per link, one per
 * message, with source and destination; the links that are busiest first.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "tools/simulate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "tools/drawing.h"

enum { MAX_LINKS = 20, MAX_LINES = 4, HIGH = 16, LOW = 11 };

/* One message on one link. */
typedef struct box {
    uint32_t link;
    uint32_t flow;
    uint64_t start_ns;
    uint64_t done_ns;
} box_t;

typedef struct rows {
    const vp_simulation_t *simulation;
    box_t *boxes; /* by link, then start */
    size_t n_boxes;
    uint32_t links[MAX_LINKS]; /* busiest first */
    uint32_t n_links;
    int line; /* height */
} rows_t;

static int compare_boxes(const void *a, const void *b)
{
    const box_t *left = a;
    const box_t *right = b;

    if (left->link != right->link) {
        return left->link < right->link ? -1 : 1;
    }
    if (left->start_ns != right->start_ns) {
        return left->start_ns < right->start_ns ? -1 : 1;
    }
    return (left->flow > right->flow) - (left->flow < right->flow);
}

/* The links of GPUs come first and are the ranks' rows already; beyond are the shared ones. */
static uint32_t first_shared(const rows_t *rows)
{
    return 2 * rows->simulation->machine->model->n_ranks;
}

static vp_status_t list_boxes(rows_t *rows, vp_error_t *error)
{
    const vp_network_t *network = rows->simulation->machine->network;
    uint32_t n_flows = (uint32_t)vp_network_n_flows(network);
    size_t capacity = 0;
    uint32_t flow;
    uint32_t hop;

    for (flow = 0; flow < n_flows; flow++) {
        for (hop = 0; hop < vp_network_flow_n_links(network, flow); hop++) {
            uint32_t link = vp_network_flow_link(network, flow, hop);

            if (link < first_shared(rows) || vp_network_flow_bytes(network, flow) == 0) {
                continue;
            }
            if (!vp_array_reserve(&rows->boxes, &capacity, rows->n_boxes + 1,
                                  sizeof(*rows->boxes))) {
                return vp_error_no_memory(error, "a drawing");
            }
            rows->boxes[rows->n_boxes++] =
                (box_t){link, flow, vp_network_flow_start_ns(network, flow),
                        vp_network_flow_done_ns(network, flow)};
        }
    }
    qsort(rows->boxes, rows->n_boxes, sizeof(*rows->boxes), compare_boxes);
    return VP_OK;
}

/* The part of the time that its bytes take, in millionths. */
static uint64_t part_of(const rows_t *rows, uint32_t link)
{
    const vp_machine_t *machine = rows->simulation->machine;
    double ns = (double)vp_network_link_bytes(machine->network, link) * 1e9 /
                (double)vp_link_bytes_per_s(machine, link);

    return (uint64_t)(ns * 1e6 / (double)rows->simulation->time_ns + 0.5);
}

/* The busiest links, those of equal use in their own order. */
static void choose_links(rows_t *rows)
{
    uint32_t n = vp_network_n_links(rows->simulation->machine->network);
    uint32_t link;

    for (link = first_shared(rows); link < n; link++) {
        uint64_t part = part_of(rows, link);
        uint32_t at = rows->n_links;

        while (at > 0 && part_of(rows, rows->links[at - 1]) < part) {
            if (at < MAX_LINKS) {
                rows->links[at] = rows->links[at - 1];
            }
            at--;
        }
        if (part > 0 && at < MAX_LINKS) {
            rows->links[at] = link;
            rows->n_links += rows->n_links < MAX_LINKS;
        }
    }
}

static void draw_box(vp_drawing_t *svg, const rows_t *rows, const box_t *box, double y)
{
    const vp_machine_t *machine = rows->simulation->machine;
    const vp_network_t *network = machine->network;
    double scale = (double)VP_DRAWING_PLOT / (double)rows->simulation->time_ns;
    double x = VP_DRAWING_LEFT + (double)box->start_ns * scale;
    double width = (double)(box->done_ns - box->start_ns) * scale;
    uint32_t last =
        vp_network_flow_link(network, box->flow, vp_network_flow_n_links(network, box->flow) - 1);
    int size = rows->line == HIGH ? VP_DRAWING_TEXT - 2 : VP_DRAWING_TEXT - 4;
    char text[32];

    (void)snprintf(text, sizeof(text), "%" PRIu32 ">%" PRIu32,
                   vp_network_flow_source(network, box->flow), last % machine->model->n_ranks);
    vp_drawing_box(svg, x, y, width, rows->line - 1,
                   vp_drawing_kind_colour(vp_simulation_flow_kind(machine, box->flow)));
    vp_drawing_put(svg, "/>\n");
    if (width >= 0.62 * size * (double)strlen(text) + 2.0) {
        vp_drawing_put(svg, "<g fill=\"white\" stroke=\"none\">");
        vp_drawing_text(svg, x + width / 2, y + rows->line / 2.0 + size * 0.35, "middle", size,
                        text);
        vp_drawing_put(svg, "</g>");
    }
}

/* Messages at once lie in lines; what does not fit into MAX_LINES lies upon the last one. */
static uint32_t draw_link(vp_drawing_t *svg, const rows_t *rows, uint32_t link)
{
    uint64_t free_ns[MAX_LINES] = {0};
    uint32_t n_lines = 1;
    size_t i;

    for (i = 0; i < rows->n_boxes; i++) {
        uint32_t line = 0;

        if (rows->boxes[i].link != link) {
            continue;
        }
        while (line + 1 < MAX_LINES && free_ns[line] > rows->boxes[i].start_ns) {
            line++;
        }
        free_ns[line] = rows->boxes[i].done_ns;
        n_lines = line + 1 > n_lines ? line + 1 : n_lines;
        draw_box(svg, rows, &rows->boxes[i], svg->y + (double)line * rows->line);
    }
    return n_lines;
}

static void draw_rows(vp_drawing_t *svg, const rows_t *rows)
{
    char text[VP_LINK_NAME_BYTES];
    uint32_t i;

    for (i = 0; i < rows->n_links; i++) {
        uint32_t n_lines;

        vp_drawing_put(svg, VP_DRAWING_BOXES);
        n_lines = draw_link(svg, rows, rows->links[i]);
        vp_drawing_put(svg, "</g>\n");
        vp_machine_link_name(rows->simulation->machine, rows->links[i], text);
        vp_drawing_text(svg, VP_DRAWING_LEFT - 8, svg->y + rows->line - 4, "end",
                        VP_DRAWING_TEXT - 1, text);
        (void)snprintf(text, sizeof(text), "%.1f%% of the time",
                       (double)part_of(rows, rows->links[i]) / 1e4);
        vp_drawing_text(svg, VP_DRAWING_LEFT + VP_DRAWING_PLOT + 8, svg->y + rows->line - 4,
                        "start", VP_DRAWING_TEXT - 1, text);
        svg->y += (double)n_lines * rows->line + 2;
    }
}

vp_status_t vp_result_draw_links(vp_drawing_t *svg, const vp_result_t *result, vp_error_t *error)
{
    rows_t rows = {.simulation = &result->simulation};
    char text[160];
    vp_status_t status;
    double top;

    if (result->simulation.time_ns == 0) {
        return VP_OK;
    }
    status = list_boxes(&rows, error);
    if (status == VP_OK) {
        choose_links(&rows);
        rows.line = rows.n_links <= 12 ? HIGH : LOW;
        (void)snprintf(text, sizeof(text),
                       "%.40s, %.40s: what %s%" PRIu32 " shared links carry (source>destination)",
                       result->algorithm, result->links,
                       rows.n_links == MAX_LINKS ? "the busiest " : "", rows.n_links);
        vp_drawing_heading(svg, text);
        top = svg->y;
        draw_rows(svg, &rows);
        vp_drawing_mark(svg, top, result->bound_ns, result->simulation.time_ns, "bound");
        vp_drawing_time_axis(svg, top, result->simulation.time_ns);
    }
    free(rows.boxes);
    return status;
}
