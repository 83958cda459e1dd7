/*
 * What every rank sends over time. A rank with few messages at once has a row
 * of boxes, one per message, with destination and activation; where ranks send
 * more than MAX_LINES at once, a row shows how many are under way.
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

enum {
    MAX_LINES = 4,
    MAX_RANKS = 128,
    MAX_BOXES = 100000,
    N_COLUMNS = 240,
    MIN_TITLED = 5,
    LOW = 9,
    HIGH = 18
};

/* One message. */
typedef struct box {
    uint64_t start_ns;
    uint64_t done_ns;
    uint32_t flow;
    uint32_t source;
    uint32_t line; /* of its rank's row */
} box_t;

typedef struct lanes {
    const vp_simulation_t *simulation;
    box_t *boxes; /* by source, then start */
    size_t n_boxes;
    uint32_t n_lines; /* most messages that a rank has under way */
    uint32_t n_rows;  /* ranks drawn */
    bool has_steps;   /* the algorithm numbers its activations or steps */
    double line_height;
    uint64_t bound_ns; /* 0: none */
} lanes_t;

static int compare_boxes(const void *a, const void *b)
{
    const box_t *left = a;
    const box_t *right = b;

    if (left->source != right->source) {
        return left->source < right->source ? -1 : 1;
    }
    if (left->start_ns != right->start_ns) {
        return left->start_ns < right->start_ns ? -1 : 1;
    }
    return (left->flow > right->flow) - (left->flow < right->flow);
}

static vp_status_t list_boxes(lanes_t *lanes, vp_error_t *error)
{
    const vp_network_t *network = lanes->simulation->machine->network;
    uint32_t n_flows = (uint32_t)vp_network_n_flows(network);
    uint32_t flow;

    lanes->boxes = vp_array_new(n_flows, sizeof(*lanes->boxes));
    if (lanes->boxes == NULL) {
        return vp_error_no_memory(error, "a drawing");
    }
    for (flow = 0; flow < n_flows; flow++) {
        if (vp_network_flow_bytes(network, flow) > 0) {
            lanes->has_steps = lanes->has_steps || vp_network_flow_step(network, flow) > 0;
            lanes->boxes[lanes->n_boxes++] = (box_t){vp_network_flow_start_ns(network, flow),
                                                     vp_network_flow_done_ns(network, flow), flow,
                                                     vp_network_flow_source(network, flow), 0};
        }
    }
    qsort(lanes->boxes, lanes->n_boxes, sizeof(*lanes->boxes), compare_boxes);
    return VP_OK;
}

/* First line whose last message is done. Lines beyond those that are drawn are all one. */
static void place_boxes(lanes_t *lanes)
{
    uint64_t free_ns[MAX_LINES] = {0};
    size_t i;

    for (i = 0; i < lanes->n_boxes; i++) {
        box_t *box = &lanes->boxes[i];
        uint32_t line = 0;

        if (i > 0 && box->source != lanes->boxes[i - 1].source) {
            for (line = 0; line < MAX_LINES; line++) {
                free_ns[line] = 0;
            }
            line = 0;
        }
        while (line < MAX_LINES && free_ns[line] > box->start_ns) {
            line++;
        }
        if (line < MAX_LINES) {
            free_ns[line] = box->done_ns;
        }
        box->line = line;
        lanes->n_lines = line + 1 > lanes->n_lines ? line + 1 : lanes->n_lines;
    }
}

vp_path_kind_t vp_simulation_flow_kind(const vp_machine_t *machine, uint32_t flow)
{
    static const vp_path_kind_t kinds[VP_N_RESOURCE_KINDS] = {
        VP_PATH_PXB, VP_PATH_PHB, VP_PATH_PHB, VP_PATH_SYS, VP_PATH_NIC, VP_PATH_NIC};
    const vp_model_t *model = machine->model;
    vp_path_kind_t kind = VP_PATH_PIX;
    uint32_t i;

    for (i = 0; i < vp_network_flow_n_links(machine->network, flow); i++) {
        uint32_t link = vp_network_flow_link(machine->network, flow, i);
        vp_path_kind_t other = VP_PATH_PIX;

        if (link >= 2 * model->n_ranks) {
            link -= 2 * model->n_ranks;
            other = link < model->n_resources ? kinds[model->resources[link].kind] : VP_PATH_HOST;
        }
        kind = other > kind ? other : kind;
    }
    return kind;
}

static void label_box(vp_drawing_t *svg, const lanes_t *lanes, uint32_t flow, double x, double y,
                      double width)
{
    const vp_machine_t *machine = lanes->simulation->machine;
    uint32_t n = vp_network_flow_n_links(machine->network, flow);
    uint32_t last = vp_network_flow_link(machine->network, flow, n - 1);
    uint32_t step = vp_network_flow_step(machine->network, flow);
    int size = lanes->line_height >= HIGH - 2 ? VP_DRAWING_TEXT - 1 : VP_DRAWING_TEXT - 4;
    char text[48];

    (void)snprintf(text, sizeof(text), "%" PRIu32 ":%" PRIu32, step,
                   last % machine->model->n_ranks);
    if (!lanes->has_steps || width < 0.62 * size * (double)strlen(text) + 2.0) {
        (void)snprintf(text, sizeof(text), "%" PRIu32, last % machine->model->n_ranks);
    }
    if (width >= 0.62 * size * (double)strlen(text) + 2.0) {
        vp_drawing_put(svg, "<g fill=\"white\" stroke=\"none\">");
        vp_drawing_text(svg, x + width / 2, y + lanes->line_height / 2 + size * 0.35, "middle",
                        size, text);
        vp_drawing_put(svg, "</g>");
    }
}

/* What a viewer shows when the pointer rests on the box. */
static void put_title(vp_drawing_t *svg, const vp_machine_t *machine, const box_t *box)
{
    const vp_network_t *network = machine->network;
    uint32_t n = vp_network_flow_n_links(network, box->flow);

    vp_drawing_put(svg,
                   "><title>%" PRIu32 ": rank %" PRIu32 " to %" PRIu32 ", %s, %" PRIu64
                   " bytes, %" PRIu64 " to %" PRIu64 " ns</title></rect>\n",
                   vp_network_flow_step(network, box->flow), box->source,
                   vp_network_flow_link(network, box->flow, n - 1) % machine->model->n_ranks,
                   vp_path_kind_text(vp_simulation_flow_kind(machine, box->flow)),
                   vp_network_flow_bytes(network, box->flow), box->start_ns, box->done_ns);
}

static void draw_box(vp_drawing_t *svg, const lanes_t *lanes, const box_t *box, double top)
{
    const vp_machine_t *machine = lanes->simulation->machine;
    double scale = (double)VP_DRAWING_PLOT / (double)lanes->simulation->time_ns;
    double x = VP_DRAWING_LEFT + (double)box->start_ns * scale;
    double width = (double)(box->done_ns - box->start_ns) * scale;
    double y = top + box->line * lanes->line_height;

    vp_drawing_box(svg, x, y, width, lanes->line_height - 1,
                   vp_drawing_kind_colour(vp_simulation_flow_kind(machine, box->flow)));
    if (width >= MIN_TITLED) {
        put_title(svg, machine, box);
    } else {
        vp_drawing_put(svg, "/>\n");
    }
    label_box(svg, lanes, box->flow, x, y, width);
}

static void draw_boxes(vp_drawing_t *svg, lanes_t *lanes)
{
    double row = lanes->line_height * lanes->n_lines + 2;
    size_t i;

    vp_drawing_put(svg, VP_DRAWING_BOXES);
    for (i = 0; i < lanes->n_boxes && lanes->boxes[i].source < lanes->n_rows; i++) {
        draw_box(svg, lanes, &lanes->boxes[i], svg->y + row * lanes->boxes[i].source);
    }
    vp_drawing_put(svg, "</g>\n");
}

static double column_ns(const lanes_t *lanes, int column)
{
    return (column + 0.5) * (double)lanes->simulation->time_ns / N_COLUMNS;
}

/* Messages of boxes[begin .. end - 1] under way in the middle of each column. */
static void count_boxes(const lanes_t *lanes, size_t begin, size_t end, uint32_t *counts)
{
    size_t i;
    int column;

    for (column = 0; column < N_COLUMNS; column++) {
        counts[column] = 0;
        for (i = begin; i < end; i++) {
            counts[column] += (double)lanes->boxes[i].start_ns <= column_ns(lanes, column) &&
                              (double)lanes->boxes[i].done_ns > column_ns(lanes, column);
        }
    }
}

static void draw_counts(vp_drawing_t *svg, const lanes_t *lanes, const uint32_t *counts,
                        uint32_t most, double y)
{
    double width = (double)VP_DRAWING_PLOT / N_COLUMNS;
    int begin = 0;
    int column;

    for (column = 1; column <= N_COLUMNS; column++) {
        if (column < N_COLUMNS && counts[column] == counts[begin]) {
            continue;
        }
        if (counts[begin] > 0) {
            char text[16];
            double x = VP_DRAWING_LEFT + begin * width;
            double part = (double)counts[begin] / most;

            vp_drawing_put(svg,
                           "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
                           "fill=\"#4477aa\" fill-opacity=\"%.2f\"/>\n",
                           x, y, (column - begin) * width, lanes->line_height - 1,
                           0.15 + 0.85 * part);
            (void)snprintf(text, sizeof(text), "%" PRIu32, counts[begin]);
            if ((column - begin) * width > 24) {
                vp_drawing_put(svg, "<g fill=\"%s\">", part > 0.5 ? "white" : "black");
                vp_drawing_text(svg, x + (column - begin) * width / 2,
                                y + lanes->line_height / 2 + VP_DRAWING_TEXT * 0.35, "middle",
                                VP_DRAWING_TEXT - 1, text);
                vp_drawing_put(svg, "</g>\n");
            }
        }
        begin = column;
    }
}

static vp_status_t draw_strips(vp_drawing_t *svg, const lanes_t *lanes, vp_error_t *error)
{
    uint32_t *counts = vp_array_new((size_t)lanes->n_rows * N_COLUMNS, sizeof(uint32_t));
    uint32_t most = 1;
    size_t begin = 0;
    size_t end = 0;
    size_t i;
    uint32_t rank;

    if (counts == NULL) {
        return vp_error_no_memory(error, "a drawing");
    }
    for (rank = 0; rank < lanes->n_rows; rank++) {
        begin = end;
        while (end < lanes->n_boxes && lanes->boxes[end].source == rank) {
            end++;
        }
        count_boxes(lanes, begin, end, counts + (size_t)rank * N_COLUMNS);
    }
    for (i = 0; i < (size_t)lanes->n_rows * N_COLUMNS; i++) {
        most = counts[i] > most ? counts[i] : most;
    }
    for (rank = 0; rank < lanes->n_rows; rank++) {
        draw_counts(svg, lanes, counts + (size_t)rank * N_COLUMNS, most,
                    svg->y + rank * (lanes->line_height + 2));
    }
    free(counts);
    return VP_OK;
}

static void label_rows(vp_drawing_t *svg, const lanes_t *lanes, double row)
{
    char text[32];
    uint32_t rank;

    for (rank = 0; rank < lanes->n_rows; rank++) {
        (void)snprintf(text, sizeof(text), "rank %" PRIu32, rank);
        vp_drawing_text(svg, VP_DRAWING_LEFT - 8, svg->y + rank * row + row / 2 + 3, "end",
                        row < 12 ? VP_DRAWING_TEXT - 3 : VP_DRAWING_TEXT, text);
    }
}

static vp_status_t draw(vp_drawing_t *svg, lanes_t *lanes, vp_error_t *error)
{
    bool is_boxes = lanes->n_lines <= MAX_LINES && lanes->n_boxes <= MAX_BOXES;
    uint32_t n_lines = is_boxes ? lanes->n_lines : 1;
    vp_status_t status = VP_OK;
    double top;
    double row;

    lanes->line_height = lanes->n_rows * n_lines <= 48 ? HIGH : LOW;
    row = lanes->line_height * n_lines + 2;
    if (is_boxes) {
        vp_drawing_kinds(svg, "labels: activation or step:destination, or destination");
    } else {
        vp_drawing_text(svg, VP_DRAWING_LEFT, svg->y + 9, "start", VP_DRAWING_TEXT,
                        "number of messages under way: the darker, the more");
        svg->y += 16;
    }
    top = svg->y;
    label_rows(svg, lanes, row);
    if (is_boxes) {
        draw_boxes(svg, lanes);
    } else {
        status = draw_strips(svg, lanes, error);
    }
    svg->y += row * lanes->n_rows;
    vp_drawing_mark(svg, top, lanes->bound_ns, lanes->simulation->time_ns, "bound");
    vp_drawing_time_axis(svg, top, lanes->simulation->time_ns);
    return status;
}

vp_status_t vp_result_draw_lanes(vp_drawing_t *svg, const vp_result_t *result, vp_error_t *error)
{
    uint32_t n_ranks = result->simulation.machine->model->n_ranks;
    lanes_t lanes = {.simulation = &result->simulation,
                     .bound_ns = result->bound_ns,
                     .n_rows = n_ranks < MAX_RANKS ? n_ranks : MAX_RANKS};
    char text[192];
    vp_status_t status;

    if (result->simulation.time_ns == 0) {
        return VP_OK;
    }
    (void)snprintf(text, sizeof(text), "%.40s, %.40s, %.10s: what %s%" PRIu32 " ranks send",
                   result->algorithm, result->links, result->execution,
                   n_ranks > MAX_RANKS ? "the first " : "", lanes.n_rows);
    vp_drawing_heading(svg, text);
    status = list_boxes(&lanes, error);
    if (status == VP_OK) {
        place_boxes(&lanes);
        status = draw(svg, &lanes, error);
    }
    free(lanes.boxes);
    return status;
}
