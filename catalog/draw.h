/*
 * A picture of a topology: groups with their ranks, links with rates, NICs.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_DRAW_H
#define VP_CATALOG_DRAW_H

#include "base/buf.h"
#include "catalog/model.h"

/*
 * Appends an SVG document that shows the tree of a checked model: at most
 * VP_DRAW_MAX_NODES nodes (the rest as a number), in each its host with
 * sockets, switches (rank groups) with uplinks, links between switches, ranks
 * and NICs; below, every kind of link with its rate and where that comes from.
 * Memory running out is writer->failed.
 */
enum { VP_DRAW_MAX_NODES = 2 };
void vp_model_draw(vp_writer_t *writer, const vp_model_t *model);

#endif
