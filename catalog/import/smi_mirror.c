/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/import/smi.h"

#include <inttypes.h>

/* The line to look at for a cell: that of its row, or the header. */
static uint32_t line_of(const vp_smi_table_t *table, uint32_t a, uint32_t b)
{
    if (table->columns[a].has_row) {
        return table->columns[a].line;
    }
    return table->columns[b].has_row ? table->columns[b].line : table->header_line;
}

static const char *cell_text(uint8_t cell)
{
    return cell == VP_SMI_NVLINK ? "NV#" : vp_hw_class_text((vp_hw_class_t)cell);
}

static vp_status_t mirror_cell(const char *where, vp_smi_table_t *table, uint32_t a, uint32_t b,
                               vp_error_t *error)
{
    const char *label_a = table->columns[a].label;
    const char *label_b = table->columns[b].label;
    uint8_t *here = vp_smi_cell(table, a, b);
    uint8_t *there = vp_smi_cell(table, b, a);

    if (*here == VP_SMI_MISSING) {
        *here = *there;
    }
    if (*there == VP_SMI_MISSING) {
        *there = *here;
    }
    if (*here == VP_SMI_MISSING && (table->columns[a].is_gpu || table->columns[b].is_gpu)) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "%s: line %" PRIu32 ": neither %s nor %s has a row that tells how "
                            "they are connected; copy the whole table again",
                            where, line_of(table, a, b), label_a, label_b);
    }
    if (*here != *there) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "%s: line %" PRIu32 ": %s to %s is %s, but line %" PRIu32
                            " says %s the other way; the table is damaged",
                            where, table->columns[a].line, label_a, label_b, cell_text(*here),
                            table->columns[b].line, cell_text(*there));
    }
    if (*here == VP_HW_SELF) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "%s: line %" PRIu32 ": X between %s and %s, which are two devices; "
                            "the table is damaged",
                            where, line_of(table, a, b), label_a, label_b);
    }
    return VP_OK;
}

vp_status_t vp_smi_table_mirror(const char *where, vp_smi_table_t *table, vp_error_t *error)
{
    uint32_t a;
    uint32_t b;

    for (a = 0; a < table->n_columns; a++) {
        uint8_t *self = vp_smi_cell(table, a, a);

        if (*self != VP_HW_SELF && *self != VP_SMI_MISSING) {
            return vp_error_set(error, VP_ERR_BAD_INPUT,
                                "%s: line %" PRIu32 ": %s to itself is %s instead of X; the row is "
                                "shifted or damaged",
                                where, table->columns[a].line, table->columns[a].label,
                                cell_text(*self));
        }
        *self = VP_HW_SELF;
        for (b = a + 1; b < table->n_columns; b++) {
            vp_status_t status = mirror_cell(where, table, a, b, error);

            if (status != VP_OK) {
                return status;
            }
        }
    }
    return VP_OK;
}
