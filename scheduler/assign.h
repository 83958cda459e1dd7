/*
 * Small linear assignment, exact and in integers; private to this room.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_ASSIGN_H
#define VP_SCHEDULER_ASSIGN_H

#include "base/status.h"
#include <stdbool.h>
#include <stdint.h>

/* Room for assignments of up to max_size columns. */
typedef struct vp_assign {
    int64_t *row_price;
    int64_t *column_price;
    int64_t *slack;
    uint32_t *row_of_column;
    uint32_t *previous;
    bool *reached;
} vp_assign_t;

vp_status_t vp_assign_init(vp_assign_t *assign, uint32_t max_size, vp_error_t *error) VP_MUST_CHECK;
/* Also after a failed or never made init of a zeroed record. */
void vp_assign_release(vp_assign_t *assign);

/*
 * Gives each of n_rows rows its own column (n_rows <= n_columns <= max_size)
 * so that the sum of credits[row * n_columns + column] is largest, and returns
 * that sum. All credits together stay below 2^61. Ties fall to lower columns
 * in the order of the algorithm (successive shortest augmenting paths), which
 * is a function of the input alone. O(n_rows^2 * n_columns).
 */
uint64_t vp_assign_best(vp_assign_t *assign, const uint64_t *credits, uint32_t n_rows,
                        uint32_t n_columns, uint32_t *column_of_row);

#endif
