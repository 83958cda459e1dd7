/*
 * Layout: u8 version; u32 number of texts, the texts that tell where rates come
 * from; u32 number of objects, the objects without the system, parents first.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "catalog/import/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "catalog/import/native.h"
#include "catalog/json_write.h"
#include "catalog/pci.h"

/* Faster than any link for long, and far from where sums of rates could wrap. */
#define MAX_RATE UINT64_C(100000000000000)
enum { VERSION = 1, OBJECT_BYTES = 50, IS_CERTAIN = 1, IS_RDMA = 2, HAS_PCI = 4 };

typedef struct encoding {
    const vp_hardware_t *machine;
    uint32_t *number;     /* [n_objects] in the bytes; the system is 0 */
    uint32_t *origin;     /* [n_objects] number of its text */
    uint32_t *first_with; /* [n_texts] an object with the text */
    uint32_t n_objects;
    uint32_t n_texts;
} encoding_t;

/* Numbers what is left of the tree, and the distinct origins. */
static void number(encoding_t *encoding)
{
    const vp_hw_object_t *objects = encoding->machine->objects;
    uint32_t i;
    uint32_t k;

    for (i = 1; i < encoding->machine->n_objects; i++) {
        if (objects[i].kind == VP_HW_GONE) {
            continue;
        }
        encoding->number[i] = ++encoding->n_objects;
        for (k = 0; k < encoding->n_texts; k++) {
            if (strcmp(objects[encoding->first_with[k]].link_origin, objects[i].link_origin) == 0) {
                break;
            }
        }
        if (k == encoding->n_texts) {
            encoding->first_with[encoding->n_texts++] = i;
        }
        encoding->origin[i] = k;
    }
}

static uint64_t pack(const vp_hw_pci_t *pci)
{
    return (uint64_t)pci->domain << 16 | (uint64_t)pci->bus << 8 | (uint64_t)pci->device << 3 |
           pci->function;
}

static void write_object(vp_writer_t *writer, const encoding_t *encoding, uint32_t index)
{
    const vp_hw_object_t *it = &encoding->machine->objects[index];

    vp_write_u8(writer, (uint8_t)it->kind);
    vp_write_u32(writer, encoding->number[it->parent]);
    vp_write_u8(writer, (uint8_t)((it->is_certain ? IS_CERTAIN : 0) | (it->is_rdma ? IS_RDMA : 0) |
                                  (it->pci.is_known ? HAS_PCI : 0)));
    vp_write_u64(writer, it->pci.is_known ? pack(&it->pci) : 0);
    vp_write_u32(writer, it->numa);
    vp_write_u32(writer, it->ordinal);
    vp_write_u64(writer, it->link_bytes_per_s);
    vp_write_u64(writer, it->port_bytes_per_s);
    vp_write_u64(writer, it->card_key);
    vp_write_u32(writer, encoding->origin[index]);
    vp_write_string(writer, it->name);
}

void vp_facts_write(vp_writer_t *writer, const vp_hardware_t *machine)
{
    size_t n = machine->n_objects;
    encoding_t encoding = {.machine = machine,
                           .number = vp_array_new(n, sizeof(uint32_t)),
                           .origin = vp_array_new(n, sizeof(uint32_t)),
                           .first_with = vp_array_new(n, sizeof(uint32_t))};
    uint32_t i;

    if (encoding.number == NULL || encoding.origin == NULL || encoding.first_with == NULL) {
        writer->failed = true;
    } else {
        number(&encoding);
        vp_write_u8(writer, VERSION);
        vp_write_u32(writer, encoding.n_texts);
        for (i = 0; i < encoding.n_texts; i++) {
            vp_write_string(writer, machine->objects[encoding.first_with[i]].link_origin);
        }
        vp_write_u32(writer, encoding.n_objects);
        for (i = 1; i < machine->n_objects; i++) {
            if (machine->objects[i].kind != VP_HW_GONE) {
                write_object(writer, &encoding, i);
            }
        }
    }
    free(encoding.number);
    free(encoding.origin);
    free(encoding.first_with);
}

static void read_object(vp_reader_t *reader, const char *origins, uint32_t n_origins,
                        vp_hw_object_t *it)
{
    uint32_t origin;
    uint8_t flags;
    uint64_t pci;

    flags = vp_read_u8(reader);
    pci = vp_read_u64(reader);
    it->is_certain = (flags & IS_CERTAIN) != 0;
    it->is_rdma = (flags & IS_RDMA) != 0;
    it->pci = (vp_hw_pci_t){.domain = (uint32_t)(pci >> 16),
                            .bus = (uint8_t)(pci >> 8),
                            .device = (uint8_t)(pci >> 3 & 0x1f),
                            .function = (uint8_t)(pci & 7),
                            .is_known = (flags & HAS_PCI) != 0};
    it->numa = vp_read_u32(reader);
    it->ordinal = vp_read_u32(reader);
    it->link_bytes_per_s = vp_read_u64(reader);
    it->port_bytes_per_s = vp_read_u64(reader);
    it->card_key = vp_read_u64(reader);
    origin = vp_read_u32(reader);
    vp_read_text(reader, it->name, sizeof(it->name));
    if (reader->failed || origin >= n_origins || it->link_bytes_per_s > MAX_RATE ||
        it->port_bytes_per_s > MAX_RATE || (it->kind == VP_HW_NIC && it->name[0] == '\0') ||
        (it->pci.is_known && pci == 0) || pci > VP_PCI_MAX) {
        reader->failed = true;
        return;
    }
    memcpy(it->link_origin, origins + (size_t)origin * VP_HW_ORIGIN_BYTES, VP_HW_ORIGIN_BYTES);
    vp_hw_name_clean(it->link_origin);
    /* A rate has an origin. */
    reader->failed = it->link_bytes_per_s != 0 && it->link_origin[0] == '\0';
}

static vp_status_t read_objects(vp_reader_t *reader, const char *origins, uint32_t n_origins,
                                const char *where, vp_hardware_t *machine, vp_error_t *error)
{
    uint32_t n = vp_read_u32(reader);
    uint32_t i;

    if (n > vp_reader_left(reader) / OBJECT_BYTES) {
        reader->failed = true;
    }
    for (i = 0; i < n && !reader->failed; i++) {
        uint8_t kind = vp_read_u8(reader);
        uint32_t parent = vp_read_u32(reader);
        vp_hw_object_t *it;
        vp_status_t status;

        if (kind <= VP_HW_SYSTEM || kind >= VP_HW_GONE || parent > i ||
            machine->objects[parent].kind == VP_HW_GPU ||
            machine->objects[parent].kind == VP_HW_NIC) {
            reader->failed = true;
            break;
        }
        status = vp_hardware_add(machine, (vp_hw_kind_t)kind, parent, where, &it, error);
        if (status != VP_OK) {
            return status;
        }
        read_object(reader, origins, n_origins, it);
    }
    return VP_OK;
}

static vp_status_t read_machine(vp_reader_t *reader, const char *where, vp_hardware_t *machine,
                                vp_error_t *error)
{
    uint8_t version = vp_read_u8(reader);
    uint32_t n_origins = vp_read_u32(reader);
    char *origins = NULL;
    vp_status_t status = VP_OK;
    uint32_t i;

    if (version != VERSION || n_origins > vp_reader_left(reader) / 4) {
        reader->failed = true;
        n_origins = 0;
    }
    origins = vp_array_new(n_origins, VP_HW_ORIGIN_BYTES);
    if (origins == NULL) {
        return vp_error_no_memory(error, where);
    }
    for (i = 0; i < n_origins; i++) {
        vp_read_text(reader, origins + (size_t)i * VP_HW_ORIGIN_BYTES, VP_HW_ORIGIN_BYTES);
    }
    if (!reader->failed) {
        status = read_objects(reader, origins, n_origins, where, machine, error);
    }
    free(origins);
    if (status == VP_OK && (reader->failed || vp_reader_left(reader) > 0)) {
        status = vp_error_set(error, VP_ERR_BAD_INPUT,
                              "%s: not the facts of a node, or damaged; they are not used", where);
    }
    return status;
}

vp_status_t vp_facts_read(const void *data, size_t n_bytes, const char *where,
                          vp_hardware_t **machine_p, vp_error_t *error)
{
    vp_hardware_t *machine = vp_hardware_create("hwloc");
    vp_reader_t reader;
    vp_status_t status;

    if (machine == NULL) {
        return vp_error_no_memory(error, where);
    }
    vp_reader_init(&reader, data, n_bytes);
    status = read_machine(&reader, where, machine, error);
    if (status == VP_OK) {
        status = vp_hardware_finish(machine, where, error);
    }
    if (status != VP_OK) {
        vp_hardware_destroy(machine);
        return status;
    }
    *machine_p = machine;
    return VP_OK;
}

vp_status_t vp_facts_topology(vp_hardware_t *machine, const char *name, char **text_p,
                              vp_error_t *error)
{
    json_t *json;
    char *text;
    vp_status_t status = vp_hardware_topology(machine, name, &json, error);

    if (status != VP_OK) {
        return status;
    }
    text = vp_json_print(json, JSON_COMPACT);
    json_decref(json);
    if (text == NULL) {
        return vp_error_no_memory(error, "a topology file");
    }
    *text_p = text;
    return VP_OK;
}

uint32_t vp_facts_gpu_number(const vp_hardware_t *machine, uint32_t gpu_idx)
{
    uint32_t rank = 0;
    uint32_t i;

    for (i = 0; i < machine->n_gpus; i++) {
        rank += machine->gpu_group[i] < machine->gpu_group[gpu_idx] ||
                (machine->gpu_group[i] == machine->gpu_group[gpu_idx] && i < gpu_idx);
    }
    return rank;
}
