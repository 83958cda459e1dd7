/*
 * The table of `nvidia-smi topo -m`, read but not yet understood; private to
 * the importer.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_CATALOG_IMPORT_SMI_H
#define VP_CATALOG_IMPORT_SMI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalog/import/machine.h"

enum { VP_SMI_MAX_COLUMNS = VP_HW_MAX_GPUS + VP_HW_MAX_NICS };

/* A cell: a vp_hw_class_t, or one of these. */
enum { VP_SMI_NVLINK = 100, VP_SMI_MISSING = 255 };

typedef struct vp_smi_column {
    char label[VP_HW_NAME_BYTES]; /* "GPU0", "NIC1", "mlx5_0" */
    char name[VP_HW_NAME_BYTES];  /* by the NIC legend, else the label */
    bool is_gpu;
    bool has_row;
    uint32_t line; /* of its row */
    uint32_t numa; /* VP_HW_NONE: unknown */
} vp_smi_column_t;

typedef struct vp_smi_table {
    uint32_t n_columns;
    uint32_t header_line;
    bool has_second_table;
    vp_smi_column_t columns[VP_SMI_MAX_COLUMNS];
    uint8_t cells[VP_SMI_MAX_COLUMNS * VP_SMI_MAX_COLUMNS]; /* [row * n_columns + column] */
} vp_smi_table_t;

/*
 * Reads the table, whatever surrounds it. Afterwards the matrix is symmetric,
 * its diagonal is SELF, and only NIC-NIC cells may be missing.
 */
vp_status_t vp_smi_table_read(const char *where, const char *text, size_t n_bytes,
                              vp_smi_table_t *table, vp_error_t *error) VP_MUST_CHECK;

/* Makes the matrix symmetric; a step of vp_smi_table_read. */
vp_status_t vp_smi_table_mirror(const char *where, vp_smi_table_t *table,
                                vp_error_t *error) VP_MUST_CHECK;

static inline uint8_t *vp_smi_cell(vp_smi_table_t *table, uint32_t row, uint32_t column)
{
    return &table->cells[(size_t)row * table->n_columns + column];
}

#endif
