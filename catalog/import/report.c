/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/import/native.h"

#include <stdbool.h>

#include "catalog/import/facts.h"

/* Every jansson constructor answers a failed allocation with NULL, and every setter takes it. */
static bool set(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

/* A list of n items, each made from its index; NULL when memory is out. An item may be left out. */
typedef json_t *(*item_fn_t)(const vp_hardware_t *machine, uint32_t context, uint32_t i);
static json_t left_out;

static json_t *list_of(const vp_hardware_t *machine, uint32_t context, uint32_t n, item_fn_t make)
{
    json_t *list = json_array();
    uint32_t i;

    for (i = 0; i < n; i++) {
        json_t *item = make(machine, context, i);

        if (item != &left_out && json_array_append_new(list, item) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* An object that could not be filled is none. */
static json_t *whole(json_t *object, bool is_filled)
{
    if (!is_filled) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *pci_json(const vp_hw_object_t *object)
{
    char text[VP_HW_NAME_BYTES];

    vp_hw_pci_format(&object->pci, text);
    return object->pci.is_known ? json_string(text) : json_null();
}

static json_t *gpu_json(const vp_hardware_t *machine, uint32_t context, uint32_t i)
{
    const vp_hw_object_t *gpu = &machine->objects[machine->gpus[i]];
    json_t *item = json_object();

    (void)context;
    return whole(item, set(item, "index", json_integer(i)) &&
                           set(item, "name", json_string(gpu->name)) &&
                           set(item, "pci", pci_json(gpu)) &&
                           set(item, "group", json_integer(machine->gpu_group[i])) &&
                           set(item, "rank", json_integer(vp_facts_gpu_number(machine, i))));
}

/* The class of an object to a GPU, as text. */
static json_t *class_json(const vp_hardware_t *machine, uint32_t object, uint32_t i)
{
    return json_string(vp_hw_class_text(vp_hardware_class(machine, object, machine->gpus[i])));
}

static json_t *pair_row_json(const vp_hardware_t *machine, uint32_t context, uint32_t i)
{
    (void)context;
    return list_of(machine, machine->gpus[i], machine->n_gpus, class_json);
}

static json_t *near_name_json(const vp_hardware_t *machine, uint32_t gpu_idx, uint32_t i)
{
    return vp_hardware_is_nearest(machine, gpu_idx, i)
               ? json_string(machine->objects[machine->nics[i]].name)
               : &left_out;
}

static json_t *nearest_json(const vp_hardware_t *machine, uint32_t context, uint32_t i)
{
    (void)context;
    return list_of(machine, i, machine->n_nics, near_name_json);
}

static json_t *distance_json(const vp_hardware_t *machine, uint32_t context, uint32_t i)
{
    const vp_hw_object_t *nic = &machine->objects[machine->nics[i]];
    json_t *item = json_object();

    (void)context;
    return whole(item, set(item, "name", json_string(nic->name)) &&
                           set(item, "pci", pci_json(nic)) &&
                           set(item, "card", json_string(machine->objects[nic->card].name)) &&
                           set(item, "kinds",
                               list_of(machine, machine->nics[i], machine->n_gpus, class_json)));
}

static json_t *below_json(const vp_hardware_t *machine, uint32_t object, uint32_t i)
{
    return vp_hardware_common(machine, object, machine->gpus[i]) == object ? json_integer(i)
                                                                           : &left_out;
}

/* A switch with the GPUs below it: the inner ones are the groups, the outer a second level. */
static json_t *switch_json(const vp_hardware_t *machine, uint32_t context, uint32_t i)
{
    const vp_hw_object_t *object = &machine->objects[i];
    json_t *item;
    json_t *gpus;
    bool is_filled;

    (void)context;
    if (object->kind != VP_HW_SWITCH) {
        return &left_out;
    }
    gpus = list_of(machine, i, machine->n_gpus, below_json);
    if (gpus != NULL && json_array_size(gpus) == 0) {
        json_decref(gpus);
        return &left_out;
    }
    item = json_object();
    is_filled = set(item, "name", json_string(object->name));
    is_filled = set(item, "pci", pci_json(object)) && is_filled;
    is_filled = set(item, "gpus", gpus) && is_filled; /* in any case: it takes the list over */
    return whole(item, is_filled);
}

static json_t *note_json(const vp_hardware_t *machine, uint32_t context, uint32_t i)
{
    json_t *item = json_object();

    (void)context;
    return whole(item, set(item, "what", json_string(machine->notes[i].what)) &&
                           set(item, "why", json_string(machine->notes[i].why)));
}

vp_status_t vp_hardware_report(const vp_hardware_t *machine, json_t *object, vp_error_t *error)
{
    if (!set(object, "format", json_string(machine->format)) ||
        !set(object, "gpus", list_of(machine, 0, machine->n_gpus, gpu_json)) ||
        !set(object, "pairs", list_of(machine, 0, machine->n_gpus, pair_row_json)) ||
        !set(object, "nearest_nics", list_of(machine, 0, machine->n_gpus, nearest_json)) ||
        !set(object, "nic_distances", list_of(machine, 0, machine->n_nics, distance_json)) ||
        !set(object, "switch_tree", list_of(machine, 0, machine->n_objects, switch_json)) ||
        !set(object, "ignored", list_of(machine, 0, machine->n_notes, note_json))) {
        return vp_error_no_memory(error, "the report of an import");
    }
    return VP_OK;
}
