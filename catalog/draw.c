/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/draw.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/units.h"
#include "catalog/picture.h"
#include "catalog/svg.h"

static void own(uint32_t *owner, uint32_t group, bool *is_seen)
{
    *owner = !*is_seen || *owner == group ? group : NOWHERE;
    *is_seen = true;
}

/* Notes between which groups each resource lies, as far as paths inside a node tell. */
static bool find_owners(vp_picture_t *picture)
{
    const vp_model_t *model = picture->model;
    bool *seen = vp_array_new((size_t)model->n_resources * 2, sizeof(*seen));
    uint32_t i;
    uint32_t k;

    picture->from = vp_array_new(model->n_resources, sizeof(*picture->from));
    picture->to = vp_array_new(model->n_resources, sizeof(*picture->to));
    if (seen == NULL || picture->from == NULL || picture->to == NULL) {
        free(seen);
        return false;
    }
    for (i = 0; i < model->n_resources; i++) {
        picture->from[i] = NOWHERE;
        picture->to[i] = NOWHERE;
    }
    for (i = 0; i < model->n_instances; i++) {
        const vp_instance_t *it = &model->instances[i];
        bool is_inside = it->kind != VP_PATH_NIC;

        for (k = 0; k < it->n_resources; k++) {
            is_inside = is_inside && model->resources[it->resources[k]].kind != VP_RESOURCE_NIC_TX;
        }
        for (k = 0; k < it->n_resources && is_inside; k++) {
            own(&picture->from[it->resources[k]], it->from_group, &seen[2 * it->resources[k]]);
            own(&picture->to[it->resources[k]], it->to_group, &seen[2 * it->resources[k] + 1]);
        }
    }
    free(seen);
    return true;
}

static bool is_of_host(vp_resource_kind_t kind)
{
    return kind == VP_RESOURCE_UPLINK || kind == VP_RESOURCE_DOWNLINK ||
           kind == VP_RESOURCE_SOCKET || kind == VP_RESOURCE_HOST_MEMORY;
}

static uint32_t minimum(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t drawn_nodes(const vp_model_t *model)
{
    return model->n_nodes < VP_DRAW_MAX_NODES ? model->n_nodes : VP_DRAW_MAX_NODES;
}

/* All drawn nodes get the room of the largest. */
static void measure(vp_picture_t *picture)
{
    const vp_model_t *model = picture->model;
    uint32_t most_groups = 1;
    uint32_t most_ranks = 1;
    uint32_t most_nics = 0;
    uint32_t node;
    uint32_t group;
    uint32_t i;

    for (node = 0; node < drawn_nodes(model); node++) {
        uint32_t begin = vp_picture_first_group(model, node);
        uint32_t end = vp_picture_first_group(model, node + 1);

        most_groups = end - begin > most_groups ? end - begin : most_groups;
        for (group = begin; group < end; group++) {
            uint32_t n_nics = vp_picture_count_nics(model, group);

            most_nics = n_nics > most_nics ? n_nics : most_nics;
            most_ranks = model->groups[group].n_ranks > most_ranks ? model->groups[group].n_ranks
                                                                   : most_ranks;
        }
    }
    picture->gap = GAP;
    for (i = 0; i < model->n_resources; i++) {
        picture->has_host = picture->has_host || is_of_host(model->resources[i].kind);
        if (model->resources[i].kind == VP_RESOURCE_INTER_SWITCH) {
            picture->gap = LINK_GAP;
        }
    }
    picture->n_columns = minimum(most_groups, COLUMNS);
    picture->n_rows = (most_groups + COLUMNS - 1) / COLUMNS;
    picture->chip_rows = (int)((minimum(most_ranks, CHIPS) + CHIPS_PER_ROW - 1) / CHIPS_PER_ROW) +
                         (most_ranks > CHIPS ? 1 : 0);
    picture->nic_rows = (int)((minimum(most_nics, NICS) + NICS_PER_ROW - 1) / NICS_PER_ROW) +
                        (most_nics > NICS ? 1 : 0);
}

/* Is there an earlier resource of the same kind, rate and origin? Counts all of them, too. */
static bool is_first(const vp_model_t *model, uint32_t resource, uint32_t *n_p)
{
    const vp_resource_t *it = &model->resources[resource];
    bool is_earliest = true;
    uint32_t i;

    *n_p = 0;
    for (i = 0; i < model->n_resources; i++) {
        const vp_resource_t *other = &model->resources[i];

        if (other->kind == it->kind && other->bytes_per_s == it->bytes_per_s &&
            strcmp(other->origin, it->origin) == 0) {
            is_earliest = is_earliest && i >= resource;
            (*n_p)++;
        }
        if (!is_earliest) {
            break;
        }
    }
    return is_earliest;
}

/* Each kind of link once: the first of it, and how many there are. */
static void find_rows(vp_picture_t *picture)
{
    uint32_t i;

    for (i = 0; i < picture->model->n_resources && picture->n_table < TABLE_ROWS; i++) {
        if (is_first(picture->model, i, &picture->table_counts[picture->n_table])) {
            picture->table[picture->n_table++] = i;
        }
    }
}

static void draw_row(const vp_picture_t *picture, int y, const char *kind, uint64_t bytes_per_s,
                     uint32_t n, const char *origin)
{
    char rate[VP_RATE_TEXT_BYTES];

    vp_rate_text(bytes_per_s, rate);
    vp_svg_text(picture->writer, "row", VP_SVG_START, MARGIN, y, "%s", kind);
    vp_svg_text(picture->writer, "row", VP_SVG_END, MARGIN + 150, y, "x %" PRIu32, n);
    vp_svg_text(picture->writer, "row", VP_SVG_END, MARGIN + 250, y, "%s", rate);
    vp_svg_text(picture->writer, "row", VP_SVG_START, MARGIN + 270, y, "%.100s", origin);
}

/* How fast each kind of link is, and from where the figure is. */
static void draw_table(const vp_picture_t *picture, int y)
{
    const vp_model_t *model = picture->model;
    uint32_t i;

    draw_row(picture, y, "GPU link", model->gpu_link_bytes_per_s, model->n_ranks,
             model->gpu_link_origin);
    for (i = 0; i < picture->n_table; i++) {
        const vp_resource_t *it = &model->resources[picture->table[i]];

        draw_row(picture, y + (int)(i + 1) * ROW, vp_resource_kind_text(it->kind), it->bytes_per_s,
                 picture->table_counts[i], it->origin);
    }
}

/* The network joins the NICs of all nodes; it is taken to be non-blocking. */
static void draw_network(const vp_picture_t *picture, int y)
{
    int width =
        (int)drawn_nodes(picture->model) * (vp_picture_node_width(picture) + MARGIN) - MARGIN;
    uint32_t node;

    for (node = 0; node < drawn_nodes(picture->model); node++) {
        int x = MARGIN + (int)node * (vp_picture_node_width(picture) + MARGIN) +
                vp_picture_node_width(picture) / 2;

        vp_svg_line(picture->writer, "wire", x, y - SPACE, x, y);
    }
    vp_svg_box(picture->writer, "network", MARGIN, y, width, NETWORK);
    vp_svg_text(picture->writer, "network-text", VP_SVG_MIDDLE, MARGIN + width / 2, y + 20,
                "network: %" PRIu32 " NICs", picture->model->n_nics);
}

static void draw_title(const vp_picture_t *picture)
{
    const vp_model_t *model = picture->model;

    vp_svg_text(picture->writer, "title", VP_SVG_START, MARGIN, MARGIN + 12, "%.60s", model->name);
    vp_svg_text(picture->writer, "small", VP_SVG_START, MARGIN, MARGIN + 28,
                "%" PRIu32 " ranks, %" PRIu32 " groups, %" PRIu32
                " node%s%s; %.40s rates; GB/s in each direction",
                model->n_ranks, model->n_groups, model->n_nodes, model->n_nodes == 1 ? "" : "s",
                model->n_nodes > VP_DRAW_MAX_NODES ? ", the first two drawn" : "", model->rates);
}

static void draw(vp_picture_t *picture)
{
    uint32_t n_nodes = drawn_nodes(picture->model);
    int network = picture->model->n_nics > 0 ? SPACE + NETWORK : 0;
    int bottom;
    int width;
    uint32_t node;

    measure(picture);
    find_rows(picture);
    width = MARGIN + (int)n_nodes * (vp_picture_node_width(picture) + MARGIN);
    width = width < LEAST_WIDTH ? LEAST_WIDTH : width;
    bottom = MARGIN + TITLE + vp_picture_node_height(picture);
    vp_svg_begin(picture->writer, width,
                 bottom + network + 2 * MARGIN + (int)(picture->n_table + 1) * ROW);
    draw_title(picture);
    for (node = 0; node < n_nodes; node++) {
        vp_picture_draw_node(picture, node,
                             MARGIN + (int)node * (vp_picture_node_width(picture) + MARGIN),
                             MARGIN + TITLE);
    }
    if (network > 0) {
        draw_network(picture, bottom + SPACE);
    }
    draw_table(picture, bottom + network + MARGIN + ROW);
    vp_svg_end(picture->writer);
}

void vp_model_draw(vp_writer_t *writer, const vp_model_t *model)
{
    vp_picture_t picture = {.writer = writer, .model = model};

    if (find_owners(&picture)) {
        draw(&picture);
    } else {
        writer->failed = true;
    }
    free(picture.from);
    free(picture.to);
}
