/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/assign.h"

#include <stdlib.h>

#include "base/array.h"

/*
 * Rows and columns count from 1; 0 stands for "none". Prices and slacks are
 * sums of distinct credits along alternating paths, hence below 2^62 in size.
 */

vp_status_t vp_assign_init(vp_assign_t *assign, uint32_t max_size, vp_error_t *error)
{
    size_t n = (size_t)max_size + 1;

    *assign = (vp_assign_t){0};
    assign->row_price = vp_array_new(n, sizeof(*assign->row_price));
    assign->column_price = vp_array_new(n, sizeof(*assign->column_price));
    assign->slack = vp_array_new(n, sizeof(*assign->slack));
    assign->row_of_column = vp_array_new(n, sizeof(*assign->row_of_column));
    assign->previous = vp_array_new(n, sizeof(*assign->previous));
    assign->reached = vp_array_new(n, sizeof(*assign->reached));
    if (assign->row_price == NULL || assign->column_price == NULL || assign->slack == NULL ||
        assign->row_of_column == NULL || assign->previous == NULL || assign->reached == NULL) {
        vp_assign_release(assign);
        return vp_error_no_memory(error, "an assignment");
    }
    return VP_OK;
}

void vp_assign_release(vp_assign_t *assign)
{
    free(assign->reached);
    free(assign->previous);
    free(assign->row_of_column);
    free(assign->slack);
    free(assign->column_price);
    free(assign->row_price);
    *assign = (vp_assign_t){0};
}

/* Lowers slacks by the edges of `row`, reached over column `from`; returns the closest column. */
static uint32_t scan_row(vp_assign_t *assign, const uint64_t *credits, uint32_t n_columns,
                         uint32_t row, uint32_t from)
{
    const uint64_t *row_credits = credits + (size_t)(row - 1) * n_columns - 1;
    uint32_t closest = 0;
    uint32_t column;

    for (column = 1; column <= n_columns; column++) {
        int64_t slack;

        if (assign->reached[column]) {
            continue;
        }
        slack =
            -(int64_t)row_credits[column] - assign->row_price[row] - assign->column_price[column];
        if (slack < assign->slack[column]) {
            assign->slack[column] = slack;
            assign->previous[column] = from;
        }
        if (closest == 0 || assign->slack[column] < assign->slack[closest]) {
            closest = column;
        }
    }
    return closest;
}

/* Shifts prices so that the closest column lies at slack 0. */
static void shift_prices(vp_assign_t *assign, uint32_t n_columns, int64_t shift)
{
    uint32_t column;

    for (column = 0; column <= n_columns; column++) {
        if (assign->reached[column]) {
            assign->row_price[assign->row_of_column[column]] += shift;
            assign->column_price[column] -= shift;
        } else {
            assign->slack[column] -= shift;
        }
    }
}

static void augment(vp_assign_t *assign, const uint64_t *credits, uint32_t n_columns, uint32_t row)
{
    uint32_t column = 0;
    uint32_t i;

    for (i = 0; i <= n_columns; i++) {
        assign->slack[i] = INT64_MAX;
        assign->reached[i] = false;
    }
    assign->row_of_column[0] = row;
    do {
        uint32_t closest;

        assign->reached[column] = true;
        closest = scan_row(assign, credits, n_columns, assign->row_of_column[column], column);
        shift_prices(assign, n_columns, assign->slack[closest]);
        column = closest;
    } while (assign->row_of_column[column] != 0);
    while (column != 0) {
        uint32_t before = assign->previous[column];

        assign->row_of_column[column] = assign->row_of_column[before];
        column = before;
    }
}

uint64_t vp_assign_best(vp_assign_t *assign, const uint64_t *credits, uint32_t n_rows,
                        uint32_t n_columns, uint32_t *column_of_row)
{
    uint64_t sum = 0;
    uint32_t i;

    for (i = 0; i <= n_columns; i++) {
        assign->row_price[i] = 0;
        assign->column_price[i] = 0;
        assign->row_of_column[i] = 0;
    }
    for (i = 1; i <= n_rows; i++) {
        augment(assign, credits, n_columns, i);
    }
    for (i = 1; i <= n_columns; i++) {
        uint32_t row = assign->row_of_column[i];

        if (row != 0) {
            column_of_row[row - 1] = i - 1;
            sum += credits[(size_t)(row - 1) * n_columns + i - 1];
        }
    }
    return sum;
}
