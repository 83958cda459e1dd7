/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/import/machine.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "catalog/pci.h"

vp_hardware_t *vp_hardware_create(const char *format)
{
    vp_hardware_t *machine = calloc(1, sizeof(*machine));
    vp_hw_object_t *system;

    if (machine == NULL) {
        return NULL;
    }
    machine->format = format;
    if (vp_hardware_add(machine, VP_HW_SYSTEM, VP_HW_NONE, format, &system, NULL) != VP_OK) {
        vp_hardware_destroy(machine);
        return NULL;
    }
    return machine;
}

void vp_hardware_destroy(vp_hardware_t *machine)
{
    if (machine == NULL) {
        return;
    }
    free(machine->objects);
    free(machine->notes);
    free(machine->gpus);
    free(machine->gpu_group);
    free(machine->nics);
    free(machine);
}

vp_status_t vp_hardware_add(vp_hardware_t *machine, vp_hw_kind_t kind, uint32_t parent,
                            const char *where, vp_hw_object_t **object_p, vp_error_t *error)
{
    vp_hw_object_t *object;

    if (machine->n_objects >= VP_HW_MAX_NODES) {
        return vp_error_set(error, VP_ERR_LIMIT,
                            "%s: more than %d bridges and devices; this is not one node", where,
                            VP_HW_MAX_NODES);
    }
    if (!vp_array_reserve(&machine->objects, &machine->object_capacity,
                          (size_t)machine->n_objects + 1, sizeof(*object))) {
        return vp_error_no_memory(error, "the hardware tree");
    }
    object = &machine->objects[machine->n_objects++];
    memset(object, 0, sizeof(*object));
    object->kind = kind;
    object->parent = parent;
    object->numa = VP_HW_NONE;
    object->ordinal = VP_HW_NONE;
    object->card = VP_HW_NONE;
    *object_p = object;
    return VP_OK;
}

void vp_hw_name_clean(char *name)
{
    for (; *name != '\0'; name++) {
        if (*name < ' ' || *name > '~') {
            *name = '?';
        }
    }
}

vp_status_t vp_hardware_note(vp_hardware_t *machine, vp_error_t *error, const char *what,
                             const char *format, ...)
{
    vp_hw_note_t *note;
    va_list arguments;

    if (machine->n_notes >= VP_HW_MAX_NOTES) {
        return VP_OK;
    }
    if (!vp_array_reserve(&machine->notes, &machine->note_capacity, (size_t)machine->n_notes + 1,
                          sizeof(*note))) {
        return vp_error_no_memory(error, "the notes of an import");
    }
    note = &machine->notes[machine->n_notes++];
    (void)snprintf(note->what, sizeof(note->what), "%s", what);
    va_start(arguments, format);
    (void)vsnprintf(note->why, sizeof(note->why), format, arguments);
    va_end(arguments);
    vp_hw_name_clean(note->what);
    vp_hw_name_clean(note->why);
    return VP_OK;
}

const char *vp_hw_class_text(vp_hw_class_t class)
{
    static const char *const texts[VP_HW_N_CLASSES] = {"SELF", "PIX", "PXB", "PHB", "NODE", "SYS"};

    return texts[class];
}

static uint32_t depth_of(const vp_hardware_t *machine, uint32_t object)
{
    uint32_t depth = 0;

    while (machine->objects[object].parent != VP_HW_NONE) {
        object = machine->objects[object].parent;
        depth++;
    }
    return depth;
}

uint32_t vp_hardware_common(const vp_hardware_t *machine, uint32_t a, uint32_t b)
{
    /* A parent has the smaller index, so the larger of two unequal ones is never the answer. */
    while (a != b) {
        if (a > b) {
            a = machine->objects[a].parent;
        } else {
            b = machine->objects[b].parent;
        }
    }
    return a;
}

uint32_t vp_hardware_hops(const vp_hardware_t *machine, uint32_t a, uint32_t b)
{
    uint32_t common = vp_hardware_common(machine, a, b);

    return depth_of(machine, a) + depth_of(machine, b) - 2 * depth_of(machine, common);
}

vp_hw_class_t vp_hardware_class(const vp_hardware_t *machine, uint32_t a, uint32_t b)
{
    const vp_hw_object_t *objects = machine->objects;
    uint32_t common;

    if (a == b) {
        return VP_HW_SELF;
    }
    common = vp_hardware_common(machine, a, b);
    switch (objects[common].kind) {
    case VP_HW_SWITCH:
        return objects[a].parent == common && objects[b].parent == common ? VP_HW_PIX : VP_HW_PXB;
    case VP_HW_HOST_BRIDGE:
        return VP_HW_PHB;
    case VP_HW_PACKAGE:
        return VP_HW_NODE;
    default:
        return VP_HW_SYS;
    }
}

bool vp_hardware_is_nearest(const vp_hardware_t *machine, uint32_t gpu_idx, uint32_t nic_idx)
{
    uint32_t gpu = machine->gpus[gpu_idx];
    vp_hw_class_t class = vp_hardware_class(machine, gpu, machine->nics[nic_idx]);
    uint32_t hops = vp_hardware_hops(machine, gpu, machine->nics[nic_idx]);
    uint32_t k;

    for (k = 0; k < machine->n_nics; k++) {
        vp_hw_class_t other = vp_hardware_class(machine, gpu, machine->nics[k]);

        /* Below one host bridge, fewer switches are nearer; above it the class says all. */
        if (other < class || (other == class && class <= VP_HW_PXB &&
                              vp_hardware_hops(machine, gpu, machine->nics[k]) < hops)) {
            return false;
        }
    }
    return true;
}

bool vp_hw_pci_parse(const char *text, vp_hw_pci_t *pci_p)
{
    vp_pci_t pci;

    if (!vp_pci_parse(text, &pci)) {
        return false;
    }
    *pci_p = (vp_hw_pci_t){.domain = (uint32_t)(pci >> 16),
                           .bus = (uint8_t)(pci >> 8),
                           .device = (uint8_t)(pci >> 3 & 0x1f),
                           .function = (uint8_t)(pci & 7),
                           .is_known = true};
    return true;
}

void vp_hw_pci_format(const vp_hw_pci_t *pci, char *text)
{
    text[0] = '\0';
    if (pci->is_known) {
        (void)snprintf(text, VP_HW_NAME_BYTES, "%04" PRIx32 ":%02x:%02x.%x", pci->domain, pci->bus,
                       pci->device, pci->function);
    }
}

bool vp_hw_pci_is_device(const vp_hw_pci_t *pci)
{
    return pci->is_known &&
           (pci->domain != 0 || pci->bus != 0 || pci->device != 0 || pci->function != 0);
}
