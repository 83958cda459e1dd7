/*
 * From the table of `nvidia-smi topo -m` to a tree. In a tree, two devices
 * that a third one reaches over X and Y are no further apart than the larger
 * of both. So the devices within PIX of each other form nested sets with
 * those within PXB, PHB, NODE and SYS: each set is a bridge of the tree.
 *
 * NV# hides how a pair is connected over PCIe. Such a pair gets the nearest
 * class that all other cells allow no further than.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "catalog/import/import.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "catalog/import/smi.h"

typedef struct builder {
    const char *where;
    vp_smi_table_t *table;
    vp_hardware_t *machine;
    vp_error_t *error;
    /* set[class][column]: smallest column of the set of devices within that class */
    uint32_t set[VP_HW_N_CLASSES][VP_SMI_MAX_COLUMNS];
    /* object[class][smallest column]: what the set became */
    uint32_t object[VP_HW_N_CLASSES][VP_SMI_MAX_COLUMNS];
} builder_t;

/* An upper limit of a cell that the table does not show. */
static uint8_t limit_of(vp_smi_table_t *table, uint32_t a, uint32_t b)
{
    uint8_t cell = *vp_smi_cell(table, a, b);
    uint32_t numa = table->columns[a].numa;

    if (cell != VP_SMI_NVLINK) {
        return cell; /* VP_SMI_MISSING is above every class */
    }
    return numa != VP_HW_NONE && numa == table->columns[b].numa ? VP_HW_NODE : VP_HW_SYS;
}

/* Joins the sets of the class; a smaller class has been joined before. */
static void join(builder_t *builder, vp_hw_class_t level)
{
    uint32_t *set = builder->set[level];
    uint32_t n = builder->table->n_columns;
    uint32_t a;
    uint32_t b;
    uint32_t k;

    memcpy(set, builder->set[level - 1], n * sizeof(*set));
    for (a = 0; a < n; a++) {
        for (b = a + 1; b < n; b++) {
            uint32_t low = set[a] < set[b] ? set[a] : set[b];
            uint32_t high = set[a] < set[b] ? set[b] : set[a];

            if (low == high || limit_of(builder->table, a, b) > level) {
                continue;
            }
            for (k = 0; k < n; k++) {
                set[k] = set[k] == high ? low : set[k];
            }
        }
    }
}

static vp_hw_class_t class_of(const builder_t *builder, uint32_t a, uint32_t b)
{
    vp_hw_class_t level = VP_HW_PIX;

    while (level < VP_HW_SYS && builder->set[level][a] != builder->set[level][b]) {
        level++;
    }
    return level;
}

static vp_status_t contradiction(builder_t *builder, uint32_t a, uint32_t b)
{
    vp_smi_table_t *table = builder->table;
    vp_hw_class_t level = (vp_hw_class_t)*vp_smi_cell(table, a, b);
    uint32_t k;

    for (k = 0; k < table->n_columns; k++) {
        if (k != a && k != b && limit_of(table, a, k) < level && limit_of(table, k, b) < level) {
            break;
        }
    }
    return vp_error_set(builder->error, VP_ERR_BAD_INPUT,
                        "%s: line %" PRIu32 ": %s to %s is %s, but %s is nearer to both than that; "
                        "no tree of bridges looks so, the table is damaged",
                        builder->where, table->columns[a].line, table->columns[a].label,
                        table->columns[b].label, vp_hw_class_text(level),
                        k < table->n_columns ? table->columns[k].label : "a chain of others");
}

static vp_status_t make_sets(builder_t *builder)
{
    vp_smi_table_t *table = builder->table;
    vp_hw_class_t level;
    uint32_t a;
    uint32_t b;

    for (a = 0; a < table->n_columns; a++) {
        builder->set[VP_HW_SELF][a] = a;
    }
    for (level = VP_HW_PIX; level <= VP_HW_SYS; level++) {
        join(builder, level);
    }
    for (a = 0; a < table->n_columns; a++) {
        for (b = a + 1; b < table->n_columns; b++) {
            uint8_t cell = *vp_smi_cell(table, a, b);

            if (cell < VP_HW_N_CLASSES && cell != class_of(builder, a, b)) {
                return contradiction(builder, a, b);
            }
        }
    }
    return VP_OK;
}

static bool is_alone(const builder_t *builder, vp_hw_class_t level, uint32_t column)
{
    uint32_t n_members = 0;
    uint32_t k;

    for (k = 0; k < builder->table->n_columns; k++) {
        n_members += builder->set[level][k] == builder->set[level][column];
    }
    return n_members == 1;
}

/* Does the set consist of one set of the class below? */
static bool is_same_set(const builder_t *builder, vp_hw_class_t level, uint32_t column)
{
    uint32_t k;

    for (k = 0; k < builder->table->n_columns; k++) {
        if (builder->set[level][k] == builder->set[level][column] &&
            builder->set[level - 1][k] != builder->set[level - 1][column]) {
            return false;
        }
    }
    return true;
}

/* The bridge of the column's set of a class: `above`, where the class has none of its own. */
static vp_status_t find_bridge(builder_t *builder, vp_hw_class_t level, uint32_t column,
                               uint32_t above, uint32_t *object_p)
{
    static const vp_hw_kind_t kinds[VP_HW_N_CLASSES] = {
        [VP_HW_PIX] = VP_HW_SWITCH,   [VP_HW_PXB] = VP_HW_SWITCH, [VP_HW_PHB] = VP_HW_HOST_BRIDGE,
        [VP_HW_NODE] = VP_HW_PACKAGE, [VP_HW_SYS] = VP_HW_SYSTEM,
    };
    uint32_t *known = &builder->object[level][builder->set[level][column]];
    vp_hw_object_t *object;
    vp_status_t status;

    if (*known == VP_HW_NONE) {
        /* A switch of PXB that holds one switch only is that switch; a lone device needs none. */
        if ((level == VP_HW_PXB && is_same_set(builder, level, column)) ||
            (level == VP_HW_PIX && is_alone(builder, VP_HW_PXB, column))) {
            *known = above;
        } else {
            *known = builder->machine->n_objects;
            status = vp_hardware_add(builder->machine, kinds[level], above, builder->where, &object,
                                     builder->error);
            if (status != VP_OK) {
                return status;
            }
            object->is_certain = true;
            (void)snprintf(object->name, sizeof(object->name), "%s%" PRIu32,
                           vp_hw_class_text(level), builder->set[level][column]);
        }
    }
    *object_p = *known;
    return VP_OK;
}

/*
 * Names such as "ibp177s0f1" tell bus, slot and function, hence which ports
 * are one card. Others ("mlx5_1") do not.
 */
static uint64_t card_key(const char *name)
{
    unsigned bus;
    unsigned slot;
    unsigned function;
    int n = 0;

    if (sscanf(name, "%*1[ei]%*1[nb]p%3us%2uf%1u%n", &bus, &slot, &function, &n) == 3 &&
        strspn(name + n, "np0123456789") == strlen(name + n)) {
        return (uint64_t)1 << 32 | (uint64_t)bus << 8 | slot;
    }
    return 0;
}

static vp_status_t add_device(builder_t *builder, uint32_t column)
{
    const vp_smi_column_t *it = &builder->table->columns[column];
    vp_hw_class_t level;
    uint32_t parent = 0;
    vp_hw_object_t *object;
    vp_status_t status;

    for (level = VP_HW_NODE; level >= VP_HW_PIX; level--) {
        status = find_bridge(builder, level, column, parent, &parent);
        if (status != VP_OK) {
            return status;
        }
    }
    status = vp_hardware_add(builder->machine, it->is_gpu ? VP_HW_GPU : VP_HW_NIC, parent,
                             builder->where, &object, builder->error);
    if (status != VP_OK) {
        return status;
    }
    memcpy(object->name, it->name, sizeof(object->name));
    object->numa = it->numa;
    object->is_rdma = true;
    object->card_key = it->is_gpu ? 0 : card_key(it->name);
    return VP_OK;
}

/* NICs at PIX of each other may be the ports of one card, and names seldom tell. */
static vp_status_t note_ports(builder_t *builder, uint32_t nic)
{
    vp_smi_table_t *table = builder->table;
    uint32_t other;

    if (table->columns[nic].is_gpu || card_key(table->columns[nic].name) != 0) {
        return VP_OK;
    }
    for (other = 0; other < nic; other++) {
        if (!table->columns[other].is_gpu && *vp_smi_cell(table, other, nic) == VP_HW_PIX) {
            return vp_hardware_note(builder->machine, builder->error, table->columns[nic].name,
                                    "the table does not tell whether it is a port of the card of "
                                    "%s: taken as a card of its own",
                                    table->columns[other].name);
        }
    }
    return VP_OK;
}

static vp_status_t note_gaps(builder_t *builder)
{
    vp_smi_table_t *table = builder->table;
    uint32_t a;
    uint32_t b;
    vp_status_t status = VP_OK;

    for (a = 0; a < table->n_columns && status == VP_OK; a++) {
        if (!table->columns[a].has_row) {
            status =
                vp_hardware_note(builder->machine, builder->error, table->columns[a].label,
                                 "its row is missing; the rows of the other devices were used");
        }
        if (status == VP_OK) {
            status = note_ports(builder, a);
        }
        for (b = a + 1; b < table->n_columns && status == VP_OK; b++) {
            char pair[2 * VP_HW_NAME_BYTES];

            if (*vp_smi_cell(table, a, b) == VP_SMI_NVLINK) {
                (void)snprintf(pair, sizeof(pair), "NVLink %.16s-%.16s", table->columns[a].label,
                               table->columns[b].label);
                status = vp_hardware_note(
                    builder->machine, builder->error, pair,
                    "only PCIe and NIC paths are used; NVLink hides how the pair is connected "
                    "over PCIe: taken as %s, from the other cells",
                    vp_hw_class_text(class_of(builder, a, b)));
            }
        }
    }
    if (status == VP_OK && table->has_second_table) {
        status = vp_hardware_note(builder->machine, builder->error, "second table",
                                  "only the first table of the file is read");
    }
    return status;
}

static vp_status_t build(builder_t *builder)
{
    uint32_t i;
    vp_status_t status = make_sets(builder);

    if (status != VP_OK) {
        return status;
    }
    memset(builder->object, 0xff, sizeof(builder->object)); /* VP_HW_NONE */
    for (i = 0; i < builder->table->n_columns && status == VP_OK; i++) {
        status = add_device(builder, i);
    }
    return status == VP_OK ? note_gaps(builder) : status;
}

vp_status_t vp_import_nvidia_smi(const char *where, const char *text, size_t n_bytes,
                                 vp_hardware_t *machine, vp_error_t *error)
{
    vp_smi_table_t *table = malloc(sizeof(*table));
    builder_t *builder = malloc(sizeof(*builder));
    vp_status_t status;

    if (table == NULL || builder == NULL) {
        status = vp_error_no_memory(error, where);
    } else {
        status = vp_smi_table_read(where, text, n_bytes, table, error);
    }
    if (status == VP_OK) {
        builder->where = where;
        builder->table = table;
        builder->machine = machine;
        builder->error = error;
        status = build(builder);
    }
    free(builder);
    free(table);
    return status;
}
