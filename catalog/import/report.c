/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/import/native.h"

#include <stdbool.h>

/* Every jansson constructor answers a failed allocation with NULL, and every setter takes it. */
static bool set(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

static json_t *pci_json(const vp_hw_object_t *object)
{
    char text[VP_HW_NAME_BYTES];

    vp_hw_pci_format(&object->pci, text);
    return object->pci.is_known ? json_string(text) : json_null();
}

/* GPUs become ranks group by group. */
static uint32_t rank_of(const vp_hardware_t *machine, uint32_t gpu_idx)
{
    uint32_t rank = 0;
    uint32_t i;

    for (i = 0; i < machine->n_gpus; i++) {
        rank += machine->gpu_group[i] < machine->gpu_group[gpu_idx] ||
                (machine->gpu_group[i] == machine->gpu_group[gpu_idx] && i < gpu_idx);
    }
    return rank;
}

static json_t *gpus_json(const vp_hardware_t *machine)
{
    json_t *list = json_array();
    uint32_t i;

    for (i = 0; i < machine->n_gpus; i++) {
        const vp_hw_object_t *gpu = &machine->objects[machine->gpus[i]];
        json_t *item = json_object();

        if (!set(item, "index", json_integer(i)) || !set(item, "name", json_string(gpu->name)) ||
            !set(item, "pci", pci_json(gpu)) ||
            !set(item, "group", json_integer(machine->gpu_group[i])) ||
            !set(item, "rank", json_integer(rank_of(machine, i)))) {
            json_decref(item);
            item = NULL;
        }
        if (json_array_append_new(list, item) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* Classes of one device to all GPUs, as texts. */
static json_t *classes_json(const vp_hardware_t *machine, uint32_t object)
{
    json_t *list = json_array();
    uint32_t i;

    for (i = 0; i < machine->n_gpus; i++) {
        vp_hw_class_t class = vp_hardware_class(machine, object, machine->gpus[i]);

        if (json_array_append_new(list, json_string(vp_hw_class_text(class))) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *pairs_json(const vp_hardware_t *machine)
{
    json_t *rows = json_array();
    uint32_t i;

    for (i = 0; i < machine->n_gpus; i++) {
        if (json_array_append_new(rows, classes_json(machine, machine->gpus[i])) != 0) {
            json_decref(rows);
            return NULL;
        }
    }
    return rows;
}

static json_t *nearest_of(const vp_hardware_t *machine, uint32_t gpu_idx)
{
    json_t *names = json_array();
    uint32_t i;

    for (i = 0; i < machine->n_nics; i++) {
        if (vp_hardware_is_nearest(machine, gpu_idx, i) &&
            json_array_append_new(names, json_string(machine->objects[machine->nics[i]].name)) !=
                0) {
            json_decref(names);
            return NULL;
        }
    }
    return names;
}

static json_t *nearest_json(const vp_hardware_t *machine)
{
    json_t *rows = json_array();
    uint32_t i;

    for (i = 0; i < machine->n_gpus; i++) {
        if (json_array_append_new(rows, nearest_of(machine, i)) != 0) {
            json_decref(rows);
            return NULL;
        }
    }
    return rows;
}

static json_t *distances_json(const vp_hardware_t *machine)
{
    json_t *list = json_array();
    uint32_t i;

    for (i = 0; i < machine->n_nics; i++) {
        const vp_hw_object_t *nic = &machine->objects[machine->nics[i]];
        json_t *item = json_object();

        if (!set(item, "name", json_string(nic->name)) || !set(item, "pci", pci_json(nic)) ||
            !set(item, "card", json_string(machine->objects[nic->card].name)) ||
            !set(item, "kinds", classes_json(machine, machine->nics[i]))) {
            json_decref(item);
            item = NULL;
        }
        if (json_array_append_new(list, item) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* The GPUs at or below an object. */
static json_t *gpus_below(const vp_hardware_t *machine, uint32_t object)
{
    json_t *list = json_array();
    uint32_t i;

    for (i = 0; i < machine->n_gpus; i++) {
        if (vp_hardware_common(machine, object, machine->gpus[i]) == object &&
            json_array_append_new(list, json_integer(i)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* Switches with the GPUs below each: the inner ones are the groups, the outer a second level. */
static json_t *switches_json(const vp_hardware_t *machine)
{
    json_t *list = json_array();
    uint32_t i;

    for (i = 0; i < machine->n_objects; i++) {
        const vp_hw_object_t *object = &machine->objects[i];
        json_t *item;
        json_t *gpus;

        if (object->kind != VP_HW_SWITCH) {
            continue;
        }
        gpus = gpus_below(machine, i);
        if (json_array_size(gpus) == 0) {
            json_decref(gpus);
            continue;
        }
        item = json_object();
        if (!set(item, "name", json_string(object->name)) || !set(item, "pci", pci_json(object)) ||
            !set(item, "gpus", gpus)) {
            json_decref(item);
            item = NULL;
        }
        if (json_array_append_new(list, item) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *notes_json(const vp_hardware_t *machine)
{
    json_t *list = json_array();
    uint32_t i;

    for (i = 0; i < machine->n_notes; i++) {
        json_t *item = json_object();

        if (!set(item, "what", json_string(machine->notes[i].what)) ||
            !set(item, "why", json_string(machine->notes[i].why))) {
            json_decref(item);
            item = NULL;
        }
        if (json_array_append_new(list, item) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

vp_status_t vp_hardware_report(const vp_hardware_t *machine, json_t *object, vp_error_t *error)
{
    if (!set(object, "format", json_string(machine->format)) ||
        !set(object, "gpus", gpus_json(machine)) || !set(object, "pairs", pairs_json(machine)) ||
        !set(object, "nearest_nics", nearest_json(machine)) ||
        !set(object, "nic_distances", distances_json(machine)) ||
        !set(object, "switch_tree", switches_json(machine)) ||
        !set(object, "ignored", notes_json(machine))) {
        return vp_error_no_memory(error, "the report of an import");
    }
    return VP_OK;
}
