/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/scores.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

static const uint16_t *row_of(const vp_catalog_t *catalog, uint32_t shape, uint32_t group)
{
    size_t n_groups = catalog->model->n_groups;

    return catalog->shape_lanes + (shape * n_groups + group) * n_groups;
}

/* Rows while they are numbered: a table of 1 + row by hash, with open addressing. */
typedef struct row_table {
    uint32_t *slots;
    size_t mask;
} row_table_t;

/* The number of a group's row, new or known. */
static uint32_t number_row(vp_scores_t *scores, row_table_t *table, const uint16_t *row,
                           uint32_t group)
{
    size_t n_bytes = scores->catalog->model->n_groups * sizeof(*row);
    size_t slot = (vp_hash64(row, n_bytes) + group) & table->mask;

    while (table->slots[slot] != 0) {
        uint32_t known = table->slots[slot] - 1;

        if (scores->row_group[known] == group && memcmp(scores->rows[known], row, n_bytes) == 0) {
            return known;
        }
        slot = (slot + 1) & table->mask;
    }
    scores->rows[scores->n_rows] = row;
    scores->row_group[scores->n_rows] = group;
    table->slots[slot] = ++scores->n_rows;
    return scores->n_rows - 1;
}

static bool number_rows(vp_scores_t *scores)
{
    const vp_catalog_t *catalog = scores->catalog;
    size_t n_groups = catalog->model->n_groups;
    row_table_t table = {.mask = 1};
    uint32_t shape;
    uint32_t group;

    while (table.mask < 2 * n_groups * catalog->n_shapes) {
        table.mask = 2 * table.mask + 1;
    }
    table.slots = vp_array_new(table.mask + 1, sizeof(*table.slots));
    if (table.slots == NULL) {
        return false;
    }
    for (shape = 0; shape < catalog->n_shapes; shape++) {
        for (group = 0; group < n_groups; group++) {
            scores->shape_rows[shape * n_groups + group] =
                number_row(scores, &table, row_of(catalog, shape, group), group);
        }
    }
    free(table.slots);
    return true;
}

/* From the back: where a shape and the one behind it share a row, they share the next shape. */
static void link_shapes(vp_scores_t *scores)
{
    size_t n_groups = scores->catalog->model->n_groups;
    uint32_t n_shapes = scores->catalog->n_shapes;
    uint32_t shape;
    uint32_t group;

    for (shape = n_shapes; shape-- > 0;) {
        const uint32_t *rows = scores->shape_rows + shape * n_groups;
        uint32_t *next = scores->next + shape * n_groups;
        uint32_t n_shared = 0;

        while (shape + 1 < n_shapes && n_shared < n_groups &&
               rows[n_shared] == rows[n_groups + n_shared]) {
            n_shared++;
        }
        for (group = 0; group < n_groups; group++) {
            next[group] = group < n_shared ? next[n_groups + group] : shape + 1;
        }
        if (shape + 1 < n_shapes) {
            scores->n_shared[shape + 1] = n_shared;
        }
    }
}

vp_status_t vp_scores_init(vp_scores_t *scores, const vp_catalog_t *catalog, vp_error_t *error)
{
    size_t n_groups = catalog->model->n_groups;
    size_t n_rows = n_groups * catalog->n_shapes;

    *scores = (vp_scores_t){.catalog = catalog};
    scores->rows = vp_array_new(n_rows, sizeof(*scores->rows));
    scores->row_group = vp_array_new(n_rows, sizeof(*scores->row_group));
    scores->shape_rows = vp_array_new(n_rows, sizeof(*scores->shape_rows));
    scores->n_shared = vp_array_new(catalog->n_shapes, sizeof(*scores->n_shared));
    scores->next = vp_array_new(n_rows, sizeof(*scores->next));
    scores->row_score = vp_array_new(n_rows, sizeof(*scores->row_score));
    scores->best_tail = vp_array_new(n_groups + 1, sizeof(*scores->best_tail));
    scores->prefix = vp_array_new(n_groups + 1, sizeof(*scores->prefix));
    if (scores->rows == NULL || scores->row_group == NULL || scores->shape_rows == NULL ||
        scores->n_shared == NULL || scores->next == NULL || scores->row_score == NULL ||
        scores->best_tail == NULL || scores->prefix == NULL || !number_rows(scores)) {
        return vp_error_no_memory(error, "shape scores");
    }
    link_shapes(scores);
    return VP_OK;
}

void vp_scores_release(vp_scores_t *scores)
{
    free(scores->prefix);
    free(scores->best_tail);
    free(scores->row_score);
    free(scores->next);
    free(scores->n_shared);
    free(scores->shape_rows);
    free(scores->row_group);
    free((void *)scores->rows);
    *scores = (vp_scores_t){0};
}

/* Scores all rows; best_tail[a]: what rows a and later of any shape score at most. */
static void score_rows(vp_scores_t *scores, const uint64_t *pressure)
{
    const vp_model_t *model = scores->catalog->model;
    uint32_t row;
    uint32_t group;

    memset(scores->best_tail, 0, ((size_t)model->n_groups + 1) * sizeof(*scores->best_tail));
    for (row = 0; row < scores->n_rows; row++) {
        const uint64_t *row_pressure = pressure + vp_pair(model, scores->row_group[row], 0);
        uint64_t *best = &scores->best_tail[scores->row_group[row]];
        uint64_t score = 0;

        for (group = 0; group < model->n_groups; group++) {
            score += row_pressure[group] * scores->rows[row][group];
        }
        scores->row_score[row] = score;
        *best = score > *best ? score : *best;
    }
    for (group = model->n_groups; group > 0; group--) {
        scores->best_tail[group - 1] += scores->best_tail[group];
    }
}

static uint64_t shape_score(const vp_scores_t *scores, uint32_t shape)
{
    size_t n_groups = scores->catalog->model->n_groups;
    uint64_t score = 0;
    uint32_t group;

    for (group = 0; group < n_groups; group++) {
        score += scores->row_score[scores->shape_rows[shape * n_groups + group]];
    }
    return score;
}

bool vp_scores_choose(vp_scores_t *scores, const uint64_t *pressure, uint32_t *shape_p)
{
    size_t n_groups = scores->catalog->model->n_groups;
    uint32_t n_shapes = scores->catalog->n_shapes;
    uint32_t shape = 0;
    uint64_t best = 0;
    bool is_found = false;

    if (n_shapes == 0) {
        return false;
    }
    score_rows(scores, pressure);
    /* Any shape's score will do to skip from the start; one below it keeps the first of equals. */
    best = shape_score(scores, scores->last);
    best -= best > 0;
    while (shape < n_shapes) {
        const uint32_t *rows = scores->shape_rows + shape * n_groups;
        uint32_t depth = shape == 0 ? 0 : scores->n_shared[shape];

        do {
            scores->prefix[depth + 1] = scores->prefix[depth] + scores->row_score[rows[depth]];
            depth++;
        } while (scores->prefix[depth] + scores->best_tail[depth] > best && depth < n_groups);
        if (scores->prefix[depth] + scores->best_tail[depth] > best) {
            best = scores->prefix[depth];
            *shape_p = shape;
            is_found = true;
        }
        shape = scores->next[shape * n_groups + depth - 1];
    }
    scores->last = is_found ? *shape_p : scores->last;
    return is_found;
}
