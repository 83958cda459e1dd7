/*
 * The shape of a catalog with the largest score S(M); private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_SCORES_H
#define VP_SCHEDULER_SCORES_H

#include "catalog/model.h"

/*
 * Shapes in their lexicographic order are the leaves of a tree whose levels are
 * the rows of their matrices, and groups have few different rows. A walk over
 * the tree skips every branch that cannot beat the best leaf so far, even with
 * the best row of each group still to come.
 */
typedef struct vp_scores {
    const vp_catalog_t *catalog;
    uint32_t n_rows;       /* different (group, row) in all */
    const uint16_t **rows; /* [n_rows] lane counts, [n_groups] each */
    uint32_t *row_group;   /* [n_rows] */
    uint32_t *shape_rows;  /* [n_shapes][n_groups] index into rows */
    uint32_t *n_shared;    /* [n_shapes] leading rows as in the shape before */
    uint32_t *next;        /* [n_shapes][n_groups] next shape that differs up to that row */
    uint64_t *row_score;   /* [n_rows] */
    uint64_t *best_tail;   /* [n_groups + 1] sum of the best rows from there on */
    uint64_t *prefix;      /* [n_groups + 1] score of the leading rows */
    uint32_t last;         /* shape that was chosen last */
} vp_scores_t;

vp_status_t vp_scores_init(vp_scores_t *scores, const vp_catalog_t *catalog,
                           vp_error_t *error) VP_MUST_CHECK;
/* Also after a failed or never made init of a zeroed record. */
void vp_scores_release(vp_scores_t *scores);

/*
 * The shape with the largest score at this pressure (group demand, below 2^48
 * in all), the first of equals; false if none scores above 0. A function of
 * catalog and pressure alone.
 */
bool vp_scores_choose(vp_scores_t *scores, const uint64_t *pressure, uint32_t *shape_p);

#endif
