/*
 * A picture while it is being drawn: its measures, and what both its files
 * need; private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_PICTURE_H
#define VP_CATALOG_PICTURE_H

#include "catalog/draw.h"

/* Pixels. */
enum {
    MARGIN = 24,
    LEAST_WIDTH = 720,
    TITLE = 36, /* above the nodes */
    COLUMN = 176,
    GAP = 20,
    LINK_GAP = 84, /* where links between neighbours have their rates */
    HEAD = 34,     /* name of a node */
    HOST = 44,
    UPLINK = 46, /* between host and switches, or for curves between switches */
    SWITCH = 44,
    CHIP = 24,
    CHIP_WIDTH = 38,
    NIC_WIDTH = 84,
    SPACE = 14,
    NETWORK = 30,
    ROW = 18 /* of the table */
};
enum { COLUMNS = 4, CHIPS = 16, CHIPS_PER_ROW = 4, NICS = 8, NICS_PER_ROW = 2, TABLE_ROWS = 40 };

#define NOWHERE UINT32_MAX

typedef struct picture {
    vp_writer_t *writer;
    const vp_model_t *model;
    uint32_t *from; /* [n_resources] group whose paths inside the node use it; NOWHERE: several */
    uint32_t *to;
    bool has_host;
    int gap; /* between switches */
    uint32_t n_columns;
    uint32_t n_rows;
    int chip_rows;
    int nic_rows;
    uint32_t n_table; /* kinds of links, see find_rows */
    uint32_t table[TABLE_ROWS];
    uint32_t table_counts[TABLE_ROWS + 1];
} vp_picture_t;

static inline double vp_gigabytes(uint64_t bytes_per_s)
{
    return (double)bytes_per_s / 1e9;
}

/* NICs of a group; the first group of a node or of the next one that has any. */
uint32_t vp_picture_count_nics(const vp_model_t *model, uint32_t group);
uint32_t vp_picture_first_group(const vp_model_t *model, uint32_t node);

/* Width and height of a node; height of a row of switches; where the first row begins in a node. */
int vp_picture_node_width(const vp_picture_t *picture);
int vp_picture_node_height(const vp_picture_t *picture);
int vp_picture_row_height(const vp_picture_t *picture);
int vp_picture_rows_top(const vp_picture_t *picture);

void vp_picture_draw_node(const vp_picture_t *picture, uint32_t node, int x, int y);

#endif
