/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/demand.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "catalog/model.h"

#define MAX_CELL_BYTES (UINT64_C(1) << 62)

typedef struct reader {
    const char *where;
    const char *at;         /* next character */
    const char *line_start; /* of the current line */
    uint32_t line;          /* from 1 */
    vp_error_t *error;
    uint64_t *cells;
    size_t n_cells;
    size_t capacity;
} reader_t;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool ends_cell(char c)
{
    return c == ',' || c == '\n' || c == '\0';
}

static void skip_blanks(reader_t *reader)
{
    while (is_blank(*reader->at)) {
        reader->at++;
    }
}

/* Length of the cell at `cell` for a message: without what follows, and not too long. */
static int shown_length(const char *cell)
{
    int length = 0;

    while (!ends_cell(cell[length]) && length < 24) {
        length++;
    }
    while (length > 0 && is_blank(cell[length - 1])) {
        length--;
    }
    return length;
}

static vp_status_t bad_cell(const reader_t *reader, const char *cell, const char *fault)
{
    return vp_error_set(reader->error, VP_ERR_BAD_INPUT,
                        "%s:%" PRIu32 ":%td: \"%.*s\" %s; a demand is rows of byte counts "
                        "between 0 and 2^62, separated by commas",
                        reader->where, reader->line, cell - reader->line_start + 1,
                        shown_length(cell), cell, fault);
}

/* Reads one number and the blanks around it. */
static vp_status_t read_cell(reader_t *reader, uint64_t *value_p)
{
    const char *cell;
    uint64_t value = 0;

    skip_blanks(reader);
    cell = reader->at;
    if (*cell == '-' && is_digit(cell[1])) {
        return bad_cell(reader, cell, "is negative");
    }
    if (!is_digit(*cell)) {
        return bad_cell(reader, cell, "is not a number");
    }
    for (; is_digit(*reader->at); reader->at++) {
        uint64_t digit = (uint64_t)(*reader->at - '0');

        if (value > (MAX_CELL_BYTES - digit) / 10) {
            return bad_cell(reader, cell, "is above 2^62");
        }
        value = value * 10 + digit;
    }
    skip_blanks(reader);
    if (!ends_cell(*reader->at)) {
        return bad_cell(reader, cell, "is not a number");
    }
    *value_p = value;
    return VP_OK;
}

static vp_status_t append_cell(reader_t *reader, uint64_t value, uint32_t n_columns)
{
    if (n_columns >= VP_MAX_RANKS) {
        return vp_error_set(reader->error, VP_ERR_BAD_INPUT,
                            "%s:%" PRIu32 ":%td: more than %d columns; a demand has at most as "
                            "many ranks",
                            reader->where, reader->line, reader->at - reader->line_start + 1,
                            VP_MAX_RANKS);
    }
    if (!vp_array_reserve(&reader->cells, &reader->capacity, reader->n_cells + 1,
                          sizeof(*reader->cells))) {
        return vp_error_no_memory(reader->error, "a demand");
    }
    reader->cells[reader->n_cells++] = value;
    return VP_OK;
}

/* Reads the cells of the current line, up to but without its end. */
static vp_status_t read_row(reader_t *reader, uint32_t *n_columns_p)
{
    uint32_t n_columns = 0;

    for (;;) {
        uint64_t value = 0;
        vp_status_t status = read_cell(reader, &value);

        if (status == VP_OK) {
            status = append_cell(reader, value, n_columns);
        }
        if (status != VP_OK) {
            return status;
        }
        n_columns++;
        if (*reader->at != ',') {
            *n_columns_p = n_columns;
            return VP_OK;
        }
        reader->at++;
    }
}

/* Moves to the next line; false at the end of the text. */
static bool next_line(reader_t *reader)
{
    while (*reader->at != '\n' && *reader->at != '\0') {
        reader->at++;
    }
    if (*reader->at == '\0') {
        return false;
    }
    reader->at++;
    reader->line_start = reader->at;
    reader->line++;
    return true;
}

static vp_status_t read_rows(reader_t *reader, uint32_t *n_ranks_p)
{
    uint32_t n_ranks = 0;
    uint32_t n_rows = 0;

    do {
        uint32_t n_columns = 0;
        vp_status_t status;

        skip_blanks(reader);
        if (*reader->at == '#' || *reader->at == '\n' || *reader->at == '\0') {
            continue;
        }
        status = read_row(reader, &n_columns);
        if (status != VP_OK) {
            return status;
        }
        n_ranks = n_rows == 0 ? n_columns : n_ranks;
        n_rows++;
        if (n_columns != n_ranks || n_rows > n_ranks) {
            return vp_error_set(reader->error, VP_ERR_BAD_INPUT,
                                "%s:%" PRIu32 ":%td: row %" PRIu32 " has %" PRIu32
                                " columns, the first has %" PRIu32 "; a demand is square, one "
                                "row and one column for each rank",
                                reader->where, reader->line, reader->at - reader->line_start + 1,
                                n_rows, n_columns, n_ranks);
        }
    } while (next_line(reader));
    if (n_rows == 0 || n_rows != n_ranks) {
        return vp_error_set(reader->error, VP_ERR_BAD_INPUT,
                            "%s:%" PRIu32 ":%td: the text ends after %" PRIu32 " rows of %" PRIu32
                            " columns; a demand is square, one row and one column for each rank",
                            reader->where, reader->line, reader->at - reader->line_start + 1,
                            n_rows, n_ranks);
    }
    *n_ranks_p = n_ranks;
    return VP_OK;
}

vp_status_t vp_demand_parse(const char *text, const char *where, uint64_t **demand_bytes_p,
                            uint32_t *n_ranks_p, vp_error_t *error)
{
    reader_t reader = {.where = where, .at = text, .line_start = text, .line = 1, .error = error};
    uint32_t n_ranks = 0;
    vp_status_t status = read_rows(&reader, &n_ranks);

    if (status != VP_OK) {
        free(reader.cells);
        return status;
    }
    *demand_bytes_p = reader.cells;
    *n_ranks_p = n_ranks;
    return VP_OK;
}
