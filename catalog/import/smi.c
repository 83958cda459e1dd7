/*
 * Reading the text: colours off, words, header, rows (wrapped or not), legend.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "catalog/import/smi.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { MAX_LINE_WORDS = 2048, WORD_BYTES = VP_HW_NAME_BYTES };

typedef enum state { BEFORE, HEADER, ROWS, LEGEND, NIC_LEGEND, DONE } state_t;

typedef struct reader {
    const char *where;
    vp_smi_table_t *table;
    vp_error_t *error;
    state_t state;
    uint32_t line;
    bool is_header_done; /* "CPU Affinity" was there */
    bool has_numa;       /* the header has "NUMA Affinity" */
    uint32_t row;        /* the row being read; VP_HW_NONE: none */
    uint32_t n_cells;    /* of it */
    uint32_t n_trailing; /* words behind its cells */
    uint32_t n_words;
    char (*words)[WORD_BYTES]; /* of the line */
} reader_t;

static vp_status_t mistake(reader_t *reader, const char *what, const char *word, const char *remedy)
{
    return vp_error_set(reader->error, VP_ERR_BAD_INPUT, "%s: line %" PRIu32 ": %s%s%.40s%s; %s",
                        reader->where, reader->line, what, word[0] == '\0' ? "" : " \"", word,
                        word[0] == '\0' ? "" : "\"", remedy);
}

/* Length of a terminal escape sequence at the text; copies often lose the escape byte itself. */
static size_t escape_length(const char *text, size_t n_bytes)
{
    size_t i = 0;

    if (n_bytes > 0 && text[0] == 0x1b) {
        i++;
    }
    if (i >= n_bytes || text[i] != '[') {
        return i;
    }
    for (i++; i < n_bytes && (isdigit((unsigned char)text[i]) || text[i] == ';'); i++) {
    }
    if (i < n_bytes && (text[0] == 0x1b || text[i] == 'm') && isalpha((unsigned char)text[i])) {
        return i + 1;
    }
    return text[0] == 0x1b;
}

/* Cuts the line at `text` into words; returns its length with the newline. */
static size_t split_line(reader_t *reader, const char *text, size_t n_bytes)
{
    size_t n_word = 0;
    size_t i = 0;

    reader->n_words = 0;
    while (i < n_bytes && text[i] != '\n') {
        size_t n_escape = escape_length(text + i, n_bytes - i);
        unsigned char byte = (unsigned char)text[i];

        if (n_escape > 0) {
            i += n_escape;
            continue;
        }
        i++;
        if (byte <= ' ' || byte == '|' || byte == 0x7f || byte >= 0x80) {
            n_word = 0;
        } else if (n_word > 0 || reader->n_words < MAX_LINE_WORDS) {
            if (n_word == 0) {
                reader->n_words++;
            }
            if (n_word < WORD_BYTES - 1) {
                reader->words[reader->n_words - 1][n_word++] = (char)byte;
                reader->words[reader->n_words - 1][n_word] = '\0';
            }
        }
    }
    return i < n_bytes ? i + 1 : i;
}

static bool is_gpu_label(const char *word)
{
    return strncmp(word, "GPU", 3) == 0 && word[3] != '\0' &&
           strspn(word + 3, "0123456789") == strlen(word + 3);
}

/* The class of a cell; VP_SMI_MISSING: not a cell. */
static uint8_t cell_of(const char *word)
{
    static const struct {
        const char *text;
        uint8_t cell;
    } cells[] = {{"X", VP_HW_SELF},    {"PIX", VP_HW_PIX}, {"PXB", VP_HW_PXB}, {"PHB", VP_HW_PHB},
                 {"NODE", VP_HW_NODE}, {"SYS", VP_HW_SYS}, {"SOC", VP_HW_SYS}};
    size_t i;

    for (i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
        if (strcmp(word, cells[i].text) == 0) {
            return cells[i].cell;
        }
    }
    if (strncmp(word, "NV", 2) == 0 && word[2] != '\0' &&
        (strcmp(word + 2, "#") == 0 || strspn(word + 2, "0123456789") == strlen(word + 2))) {
        return VP_SMI_NVLINK;
    }
    return VP_SMI_MISSING;
}

static uint32_t find_label(const vp_smi_table_t *table, const char *label)
{
    uint32_t i;

    for (i = 0; i < table->n_columns; i++) {
        if (strcmp(table->columns[i].label, label) == 0) {
            return i;
        }
    }
    return VP_HW_NONE;
}

static vp_status_t add_column(reader_t *reader, const char *word)
{
    vp_smi_table_t *table = reader->table;
    vp_smi_column_t *column;

    if (!isalpha((unsigned char)word[0]) || cell_of(word) != VP_SMI_MISSING) {
        return mistake(reader, "the header goes on with", word,
                       "a header names devices, and a row begins with one of them");
    }
    if (is_gpu_label(word) && (strlen(word) > 6 || strtoul(word + 3, NULL, 10) >= VP_HW_MAX_GPUS)) {
        return mistake(reader, "no node has a GPU", word, "the GPUs are numbered from 0 to 255");
    }
    if (find_label(table, word) != VP_HW_NONE) {
        return mistake(reader, "two columns are named", word, "is the header joined from two?");
    }
    if (table->n_columns == VP_SMI_MAX_COLUMNS) {
        return mistake(reader, "more columns than a node has devices, at", word,
                       "is this the right file?");
    }
    column = &table->columns[table->n_columns++];
    memset(column, 0, sizeof(*column));
    (void)snprintf(column->label, sizeof(column->label), "%s", word);
    (void)snprintf(column->name, sizeof(column->name), "%s", word);
    column->is_gpu = is_gpu_label(word);
    column->numa = VP_HW_NONE;
    return VP_OK;
}

/* Labels from word `first` on, until the affinity columns begin. */
static vp_status_t read_header_words(reader_t *reader, uint32_t first)
{
    uint32_t i;

    for (i = first; i < reader->n_words; i++) {
        if (strcmp(reader->words[i], "CPU") == 0) {
            reader->is_header_done = true;
        }
        if (strcmp(reader->words[i], "NUMA") == 0 && i + 1 < reader->n_words &&
            strcmp(reader->words[i + 1], "Affinity") == 0) {
            reader->has_numa = true;
        }
        if (!reader->is_header_done) {
            vp_status_t status = add_column(reader, reader->words[i]);

            if (status != VP_OK) {
                return status;
            }
        }
    }
    return VP_OK;
}

/* Where the header begins in the line: at a GPU that no cell follows. */
static uint32_t find_header(const reader_t *reader)
{
    uint32_t i;

    for (i = 0; i < reader->n_words; i++) {
        if (is_gpu_label(reader->words[i])) {
            bool is_header = i + 1 == reader->n_words || is_gpu_label(reader->words[i + 1]) ||
                             strcmp(reader->words[i + 1], "CPU") == 0 ||
                             (i == 0 && isalpha((unsigned char)reader->words[i + 1][0]) &&
                              cell_of(reader->words[i + 1]) == VP_SMI_MISSING);

            return is_header ? i : VP_HW_NONE;
        }
    }
    return VP_HW_NONE;
}

static vp_status_t begin_table(reader_t *reader)
{
    uint32_t first = find_header(reader);

    if (first == VP_HW_NONE) {
        return VP_OK;
    }
    reader->state = HEADER;
    reader->table->header_line = reader->line;
    return read_header_words(reader, first);
}

static vp_status_t torn_row(reader_t *reader)
{
    const vp_smi_column_t *column = &reader->table->columns[reader->row];
    char what[128];

    (void)snprintf(what, sizeof(what),
                   "the row is torn: %" PRIu32 " of %" PRIu32 " cells in that of", reader->n_cells,
                   reader->table->n_columns);
    reader->line = column->line;
    return mistake(reader, what, column->label, "copy the whole table again");
}

static vp_status_t end_row(reader_t *reader)
{
    vp_smi_table_t *table = reader->table;

    if (reader->row == VP_HW_NONE || reader->n_cells == table->n_columns) {
        return VP_OK;
    }
    if (reader->n_cells == 0 && !table->columns[reader->row].is_gpu) {
        table->columns[reader->row].has_row = false;
        return VP_OK;
    }
    return torn_row(reader);
}

static vp_status_t read_trailing(reader_t *reader, const char *word)
{
    vp_smi_column_t *column = &reader->table->columns[reader->row];

    if (cell_of(word) != VP_SMI_MISSING) {
        return mistake(reader, "more cells than the header has columns, at", word,
                       "copy the whole table again");
    }
    /* CPU affinity, then NUMA affinity, each one word. */
    if (++reader->n_trailing == 2 && reader->has_numa && strlen(word) <= 4 &&
        strspn(word, "0123456789") == strlen(word)) {
        column->numa = (uint32_t)strtoul(word, NULL, 10);
    }
    return VP_OK;
}

static vp_status_t read_cells(reader_t *reader, uint32_t first)
{
    uint32_t i;
    vp_status_t status = VP_OK;

    for (i = first; i < reader->n_words && status == VP_OK; i++) {
        const char *word = reader->words[i];

        if (reader->n_cells == reader->table->n_columns) {
            status = read_trailing(reader, word);
        } else if (isdigit((unsigned char)word[0])) {
            status = torn_row(reader); /* the affinity comes too early */
        } else if (cell_of(word) == VP_SMI_MISSING) {
            status = mistake(reader, "not X, PIX, PXB, PHB, NODE, SYS, SOC or NV#:", word,
                             "the row is torn or this is not `nvidia-smi topo -m`");
        } else {
            *vp_smi_cell(reader->table, reader->row, reader->n_cells++) = cell_of(word);
        }
    }
    return status;
}

static vp_status_t begin_row(reader_t *reader, uint32_t row)
{
    vp_smi_column_t *column = &reader->table->columns[row];
    vp_status_t status = end_row(reader);

    if (status != VP_OK) {
        return status;
    }
    if (column->has_row) {
        return mistake(reader, "a second row of", column->label, "keep one table in the file");
    }
    reader->state = ROWS;
    reader->row = row;
    reader->n_cells = 0;
    reader->n_trailing = 0;
    column->has_row = true;
    column->line = reader->line;
    return read_cells(reader, 1);
}

/* Does the line begin with a label and a cell, or is it a label alone? */
static bool is_row(const reader_t *reader)
{
    return reader->n_words == 1 || cell_of(reader->words[1]) != VP_SMI_MISSING;
}

static vp_status_t read_table_line(reader_t *reader)
{
    const char *word = reader->words[0];
    uint32_t row = find_label(reader->table, word);

    if (strncmp(word, "Legend", 6) == 0) {
        reader->state = LEGEND;
        return end_row(reader);
    }
    if (strcmp(word, "NIC") == 0 && reader->n_words > 1 &&
        strncmp(reader->words[1], "Legend", 6) == 0) {
        reader->state = NIC_LEGEND;
        return end_row(reader);
    }
    if (row != VP_HW_NONE && is_row(reader)) {
        return begin_row(reader, row);
    }
    if (is_gpu_label(word) && reader->n_words > 1 && is_row(reader)) {
        return mistake(reader, "a row of an unknown device", word, "the header has no such column");
    }
    if (reader->state == HEADER) {
        return read_header_words(reader, 0);
    }
    if (find_header(reader) != VP_HW_NONE) {
        reader->table->has_second_table = true;
        reader->state = DONE;
        return end_row(reader);
    }
    /* What follows a complete row is its wrapped tail, or prose. */
    return reader->n_cells < reader->table->n_columns || cell_of(word) != VP_SMI_MISSING
               ? read_cells(reader, 0)
               : VP_OK;
}

static vp_status_t read_nic_legend(reader_t *reader)
{
    char *word = reader->words[0];
    size_t n = strlen(word);
    uint32_t column;

    if (reader->n_words < 2 || n < 2 || word[n - 1] != ':') {
        return VP_OK;
    }
    word[n - 1] = '\0';
    column = find_label(reader->table, word);
    if (column == VP_HW_NONE) {
        return mistake(reader, "the NIC legend names an unknown device", word,
                       "the header has no such column");
    }
    (void)snprintf(reader->table->columns[column].name, sizeof(reader->table->columns[column].name),
                   "%s", reader->words[1]);
    return VP_OK;
}

static vp_status_t read_line(reader_t *reader)
{
    if (reader->n_words == 0) {
        return VP_OK;
    }
    switch (reader->state) {
    case BEFORE:
        return begin_table(reader);
    case HEADER:
    case ROWS:
        return read_table_line(reader);
    case LEGEND:
        if (strcmp(reader->words[0], "NIC") == 0 && reader->n_words > 1 &&
            strncmp(reader->words[1], "Legend", 6) == 0) {
            reader->state = NIC_LEGEND;
        }
        return VP_OK;
    case NIC_LEGEND:
        return read_nic_legend(reader);
    default:
        return VP_OK;
    }
}

static vp_status_t read_lines(reader_t *reader, const char *text, size_t n_bytes)
{
    size_t at = 0;
    vp_status_t status = VP_OK;

    while (at < n_bytes && status == VP_OK) {
        reader->line++;
        at += split_line(reader, text + at, n_bytes - at);
        status = read_line(reader);
    }
    if (status != VP_OK) {
        return status;
    }
    if (reader->state == BEFORE) {
        return vp_error_set(reader->error, VP_ERR_BAD_INPUT,
                            "%s: no header line with GPU0 in %" PRIu32
                            " lines; is this the output of `nvidia-smi topo -m`?",
                            reader->where, reader->line);
    }
    if (reader->row == VP_HW_NONE) {
        return mistake(reader, "no row follows the header", "", "copy the whole table again");
    }
    return end_row(reader);
}

vp_status_t vp_smi_table_read(const char *where, const char *text, size_t n_bytes,
                              vp_smi_table_t *table, vp_error_t *error)
{
    reader_t reader = {.where = where, .table = table, .error = error, .row = VP_HW_NONE};
    vp_status_t status;

    memset(table, 0, sizeof(*table));
    memset(table->cells, VP_SMI_MISSING, sizeof(table->cells));
    reader.words = vp_array_new(MAX_LINE_WORDS, sizeof(*reader.words));
    if (reader.words == NULL) {
        return vp_error_no_memory(error, where);
    }
    status = read_lines(&reader, text, n_bytes);
    free(reader.words);
    return status == VP_OK ? vp_smi_table_mirror(where, table, error) : status;
}
