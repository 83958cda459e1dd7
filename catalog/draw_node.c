/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/units.h"
#include "catalog/picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "catalog/svg.h"

static uint32_t minimum(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The name without its node, at most n_bytes of it, cut between characters. */
static const char *short_name(const char *name, char *text, size_t n_bytes)
{
    const char *slash = strchr(name, '/');
    size_t n;

    name = slash == NULL ? name : slash + 1;
    n = strlen(name);
    if (n < n_bytes) {
        (void)snprintf(text, n_bytes, "%s", name);
        return text;
    }
    for (n = n_bytes - 3; n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80; n--) {
    }
    (void)snprintf(text, n_bytes, "%.*s..", (int)n, name);
    return text;
}

uint32_t vp_picture_count_nics(const vp_model_t *model, uint32_t group)
{
    uint32_t n = 0;
    uint32_t i;

    for (i = 0; i < model->n_nics; i++) {
        n += model->nics[i].group == group;
    }
    return n;
}

uint32_t vp_picture_first_group(const vp_model_t *model, uint32_t node)
{
    uint32_t group = 0;

    while (group < model->n_groups && model->groups[group].node < node) {
        group++;
    }
    return group;
}

int vp_picture_node_width(const vp_picture_t *picture)
{
    return 2 * SPACE + (int)picture->n_columns * COLUMN +
           ((int)picture->n_columns - 1) * picture->gap;
}

int vp_picture_row_height(const vp_picture_t *picture)
{
    return UPLINK + SWITCH + SPACE + picture->chip_rows * (CHIP + 4) +
           (picture->nic_rows > 0 ? SPACE : 0) + picture->nic_rows * (CHIP + 4);
}

int vp_picture_rows_top(const vp_picture_t *picture)
{
    return HEAD + (picture->has_host ? HOST : 0);
}

int vp_picture_node_height(const vp_picture_t *picture)
{
    return vp_picture_rows_top(picture) + (int)picture->n_rows * vp_picture_row_height(picture) +
           SPACE;
}

static void draw_chips(const vp_picture_t *picture, const vp_group_t *group, int x, int y)
{
    int n_side = (int)minimum(group->n_ranks, CHIPS_PER_ROW);
    int inset = (COLUMN - n_side * (CHIP_WIDTH + 8) + 8) / 2;
    uint32_t i;

    vp_svg_line(picture->writer, "bus", x + COLUMN / 2, y - SPACE, x + COLUMN / 2, y);
    for (i = 0; i < group->n_ranks && i < CHIPS; i++) {
        int left = x + inset + (int)(i % CHIPS_PER_ROW) * (CHIP_WIDTH + 8);
        int top = y + (int)(i / CHIPS_PER_ROW) * (CHIP + 4);

        vp_svg_box(picture->writer, "rank", left, top, CHIP_WIDTH, CHIP);
        vp_svg_text(picture->writer, "rank-text", VP_SVG_MIDDLE, left + CHIP_WIDTH / 2, top + 16,
                    "%" PRIu32, group->first_rank + i);
    }
    if (group->n_ranks > CHIPS) {
        vp_svg_text(picture->writer, "small", VP_SVG_START, x,
                    y + (CHIPS / CHIPS_PER_ROW) * (CHIP + 4) + 16,
                    "and %" PRIu32 " more, to %" PRIu32, group->n_ranks - CHIPS,
                    group->first_rank + group->n_ranks - 1);
    }
}

static void draw_nics(const vp_picture_t *picture, uint32_t group, int x, int y)
{
    const vp_model_t *model = picture->model;
    int n_side = (int)minimum(vp_picture_count_nics(model, group), NICS_PER_ROW);
    int inset = (COLUMN - n_side * (NIC_WIDTH + 8) + 8) / 2;
    uint32_t n = 0;
    uint32_t i;
    char name[9];

    for (i = 0; i < model->n_nics; i++) {
        int left = x + inset + (int)(n % NICS_PER_ROW) * (NIC_WIDTH + 8);
        int top = y + (int)(n / NICS_PER_ROW) * (CHIP + 4);

        if (model->nics[i].group != group || n++ >= NICS) {
            continue;
        }
        vp_svg_box(picture->writer, "nic", left, top, NIC_WIDTH, CHIP);
        vp_svg_text(picture->writer, "nic-text", VP_SVG_MIDDLE, left + NIC_WIDTH / 2, top + 16,
                    "%s %.1f", short_name(model->nics[i].name, name, sizeof(name)),
                    vp_gigabytes(model->nics[i].bytes_per_s));
    }
    if (n > NICS) {
        vp_svg_text(picture->writer, "small", VP_SVG_START, x,
                    y + (NICS / NICS_PER_ROW) * (CHIP + 4) + 16, "and %" PRIu32 " more", n - NICS);
    }
}

/*
 * "up 64.0, down 64.0": the first uplink and downlink of a group. A switch
 * below others has its line end at the word "host".
 */
static void draw_uplink(const vp_picture_t *picture, uint32_t group, bool is_below, int x, int y)
{
    const vp_model_t *model = picture->model;
    uint32_t up = NOWHERE;
    uint32_t down = NOWHERE;
    uint32_t i;

    for (i = 0; i < model->n_resources; i++) {
        if (model->resources[i].kind == VP_RESOURCE_UPLINK && picture->from[i] == group) {
            up = up == NOWHERE ? i : up;
        }
        if (model->resources[i].kind == VP_RESOURCE_DOWNLINK && picture->to[i] == group) {
            down = down == NOWHERE ? i : down;
        }
    }
    if (up == NOWHERE && down == NOWHERE) {
        return;
    }
    vp_svg_line(picture->writer, "uplink", x + COLUMN / 2, y + (is_below ? 14 : 0), x + COLUMN / 2,
                y + UPLINK);
    if (is_below) {
        vp_svg_text(picture->writer, "small", VP_SVG_MIDDLE, x + COLUMN / 2, y + 11, "host");
    }
    if (up != NOWHERE) {
        vp_svg_text(picture->writer, "small", VP_SVG_END, x + COLUMN / 2 - 8, y + 28, "up %.1f",
                    vp_gigabytes(model->resources[up].bytes_per_s));
    }
    if (down != NOWHERE) {
        vp_svg_text(picture->writer, "small", VP_SVG_START, x + COLUMN / 2 + 8, y + 28, "down %.1f",
                    vp_gigabytes(model->resources[down].bytes_per_s));
    }
}

static void draw_group(const vp_picture_t *picture, uint32_t group, bool is_below, int x, int y)
{
    const vp_model_t *model = picture->model;
    const vp_group_t *it = &model->groups[group];
    size_t pair = vp_pair(model, group, group);
    int top = y + UPLINK;
    char name[22];

    draw_uplink(picture, group, is_below, x, y);
    vp_svg_box(picture->writer, "switch", x, top, COLUMN, SWITCH);
    vp_svg_text(picture->writer, "head", VP_SVG_MIDDLE, x + COLUMN / 2, top + 18, "%s",
                short_name(it->name, name, sizeof(name)));
    if (model->pair_begin[pair] < model->pair_begin[pair + 1]) {
        const vp_instance_t *inside = &model->instances[model->pair_begin[pair]];
        char rate[VP_RATE_TEXT_BYTES];

        vp_rate_text(inside->bytes_per_s, rate);
        vp_svg_text(picture->writer, "small", VP_SVG_MIDDLE, x + COLUMN / 2, top + 35, "%s %s",
                    vp_path_kind_text(inside->kind), rate);
    }
    top += SWITCH + SPACE;
    draw_chips(picture, it, x, top);
    top += picture->chip_rows * (CHIP + 4) + SPACE;
    if (vp_picture_count_nics(model, group) > 0) {
        draw_nics(picture, group, x, top);
    }
}

static int column_left(const vp_picture_t *picture, int x, uint32_t position)
{
    return x + SPACE + (int)(position % COLUMNS) * (COLUMN + picture->gap);
}

/* Links between switches of one row: between neighbours straight, else as curves. */
static void draw_links(const vp_picture_t *picture, uint32_t begin, uint32_t end, int x, int y)
{
    const vp_model_t *model = picture->model;
    uint32_t i;

    for (i = 0; i < model->n_resources; i++) {
        uint32_t from = picture->from[i] - begin;
        uint32_t to = picture->to[i] - begin;
        int top;
        int left;

        if (model->resources[i].kind != VP_RESOURCE_INTER_SWITCH || from >= end - begin ||
            to >= end - begin || from == to || from / COLUMNS != to / COLUMNS) {
            continue;
        }
        top = y + (int)(from / COLUMNS) * vp_picture_row_height(picture) + UPLINK;
        left = column_left(picture, x, from < to ? from : to) + COLUMN;
        if (from + 1 == to || to + 1 == from) {
            int height = top + (from < to ? 17 : 33);

            vp_svg_line(picture->writer, "link", left, height, left + picture->gap, height);
            vp_svg_text(picture->writer, "small", VP_SVG_MIDDLE, left + picture->gap / 2,
                        height - 4, "%s %.1f %s", from < to ? "" : "<",
                        vp_gigabytes(model->resources[i].bytes_per_s), from < to ? ">" : "");
        } else if (from < to) {
            vp_svg_arc(picture->writer, "link", column_left(picture, x, from) + COLUMN / 2,
                       column_left(picture, x, to) + COLUMN / 2, top, UPLINK - 8);
        }
    }
}

/* The bar of the host, with what connects its sockets and its memory. */
static void draw_host(const vp_picture_t *picture, uint32_t node, int x, int y)
{
    const vp_model_t *model = picture->model;
    char text[512] = "host";
    char name[32];
    size_t used = strlen(text);
    uint32_t i;

    for (i = 0; i < model->n_resources && used < sizeof(text); i++) {
        const vp_resource_t *it = &model->resources[i];

        if (it->node == node &&
            (it->kind == VP_RESOURCE_SOCKET || it->kind == VP_RESOURCE_HOST_MEMORY)) {
            used += (size_t)snprintf(text + used, sizeof(text) - used, "   %s %.1f",
                                     short_name(it->name, name, sizeof(name)),
                                     vp_gigabytes(it->bytes_per_s));
        }
    }
    vp_svg_box(picture->writer, "host", x + SPACE, y + HEAD,
               vp_picture_node_width(picture) - 2 * SPACE, HOST);
    vp_svg_text(picture->writer, "host-text", VP_SVG_MIDDLE, x + vp_picture_node_width(picture) / 2,
                y + HEAD + 27, "%s", text);
}

void vp_picture_draw_node(const vp_picture_t *picture, uint32_t node, int x, int y)
{
    const vp_model_t *model = picture->model;
    uint32_t begin = vp_picture_first_group(model, node);
    uint32_t end = vp_picture_first_group(model, node + 1);
    const char *slash = begin < end ? strchr(model->groups[begin].name, '/') : NULL;
    uint32_t group;

    vp_svg_box(picture->writer, "node", x, y, vp_picture_node_width(picture),
               vp_picture_node_height(picture));
    if (slash != NULL) {
        vp_svg_text(picture->writer, "head", VP_SVG_START, x + SPACE, y + 23, "%.*s",
                    (int)minimum((uint32_t)(slash - model->groups[begin].name), 40),
                    model->groups[begin].name);
    }
    if (picture->has_host) {
        draw_host(picture, node, x, y);
    }
    draw_links(picture, begin, end, x, y + vp_picture_rows_top(picture));
    for (group = begin; group < end; group++) {
        draw_group(picture, group, group - begin >= COLUMNS, column_left(picture, x, group - begin),
                   y + vp_picture_rows_top(picture) +
                       (int)((group - begin) / COLUMNS) * vp_picture_row_height(picture));
    }
}
