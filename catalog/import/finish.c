/*
 * From the objects of a source to a usable tree: private bridges out, cards
 * joined, GPUs and NICs in order, groups.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "catalog/import/machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/*
 * A link of an idle device runs slower to save power. A bridge whose link is
 * below 1/2 of its only device's is read as such, not as a bottleneck.
 */
enum { IDLE_RATIO = 2, ROUNDING = 1000000 };

static bool is_same_slot(const vp_hw_pci_t *a, const vp_hw_pci_t *b)
{
    return a->is_known && b->is_known && a->domain == b->domain && a->bus == b->bus &&
           a->device == b->device;
}

static bool is_same_pci(const vp_hw_pci_t *a, const vp_hw_pci_t *b)
{
    return is_same_slot(a, b) && a->function == b->function;
}

/* Two ports of one card and so of one PCIe link: functions of one PCI device. */
static bool is_same_card(const vp_hw_object_t *a, const vp_hw_object_t *b)
{
    return a->parent == b->parent &&
           (is_same_slot(&a->pci, &b->pci) || (a->card_key != 0 && a->card_key == b->card_key));
}

static vp_status_t join_cards(vp_hardware_t *machine, vp_error_t *error)
{
    vp_hw_object_t *objects = machine->objects;
    uint32_t i;
    uint32_t k;

    for (i = 0; i < machine->n_objects; i++) {
        if (objects[i].kind != VP_HW_NIC || objects[i].card != VP_HW_NONE) {
            continue;
        }
        objects[i].card = i;
        for (k = i + 1; k < machine->n_objects; k++) {
            if (objects[k].kind == VP_HW_NIC && objects[k].card == VP_HW_NONE &&
                is_same_card(&objects[i], &objects[k])) {
                vp_status_t status =
                    vp_hardware_note(machine, error, objects[k].name,
                                     "second port of the card of %s: both share one PCIe link and "
                                     "are one resource",
                                     objects[i].name);

                if (status != VP_OK) {
                    return status;
                }
                objects[k].card = i;
            }
        }
    }
    return VP_OK;
}

/* Cards (GPUs, NIC cards) at or below each object. */
static void count_cards(const vp_hardware_t *machine, uint32_t *n_cards)
{
    uint32_t i = machine->n_objects;

    while (i-- > 1) {
        const vp_hw_object_t *object = &machine->objects[i];

        n_cards[i] += object->kind == VP_HW_GPU || (object->kind == VP_HW_NIC && object->card == i);
        n_cards[object->parent] += n_cards[i];
    }
}

/* A device that moves up past its private bridge has the slower of both links. */
static void take_link(vp_hw_object_t *device, const vp_hw_object_t *bridge)
{
    if (bridge->link_bytes_per_s == 0) {
        return;
    }
    if (device->link_bytes_per_s == 0 ||
        (bridge->link_bytes_per_s < device->link_bytes_per_s &&
         bridge->link_bytes_per_s + ROUNDING >= device->link_bytes_per_s / IDLE_RATIO)) {
        device->link_bytes_per_s = bridge->link_bytes_per_s;
        memcpy(device->link_origin, bridge->link_origin, sizeof(device->link_origin));
    }
}

/* Takes out bridges and packages without a card, and switches with a single one. */
static vp_status_t collapse(vp_hardware_t *machine, vp_error_t *error)
{
    vp_hw_object_t *objects = machine->objects;
    uint32_t *n_cards = vp_array_new(machine->n_objects, sizeof(*n_cards));
    uint32_t i;

    if (n_cards == NULL) {
        return vp_error_no_memory(error, "the hardware tree");
    }
    count_cards(machine, n_cards);
    for (i = 1; i < machine->n_objects; i++) {
        vp_hw_object_t *parent = &objects[objects[i].parent];

        if (parent->kind == VP_HW_GONE) {
            take_link(&objects[i], parent);
            objects[i].parent = parent->parent;
        }
        if (objects[i].kind == VP_HW_SWITCH &&
            (n_cards[i] == 0 || (n_cards[i] == 1 && !objects[i].is_certain))) {
            objects[i].kind = VP_HW_GONE;
        } else if ((objects[i].kind == VP_HW_HOST_BRIDGE || objects[i].kind == VP_HW_PACKAGE) &&
                   n_cards[i] == 0) {
            objects[i].kind = VP_HW_GONE;
        }
    }
    free(n_cards);
    return VP_OK;
}

static int compare_pci(const void *a, const void *b)
{
    const vp_hw_pci_t *x = &(*(const vp_hw_object_t *const *)a)->pci;
    const vp_hw_pci_t *y = &(*(const vp_hw_object_t *const *)b)->pci;
    uint64_t p =
        ((uint64_t)x->domain << 32) | (uint64_t)(x->bus << 16 | x->device << 8 | x->function);
    uint64_t q =
        ((uint64_t)y->domain << 32) | (uint64_t)(y->bus << 16 | y->device << 8 | y->function);

    return (p > q) - (p < q);
}

/* Ports of one PCI function may share its address; anything else may not. */
static vp_status_t check_addresses(const vp_hardware_t *machine, const char *where,
                                   vp_error_t *error)
{
    const vp_hw_object_t **sorted = vp_array_new(machine->n_objects, sizeof(*sorted));
    uint32_t n = 0;
    uint32_t i;
    vp_status_t status = VP_OK;

    if (sorted == NULL) {
        return vp_error_no_memory(error, "the hardware tree");
    }
    for (i = 0; i < machine->n_objects; i++) {
        if (machine->objects[i].pci.is_known) {
            sorted[n++] = &machine->objects[i];
        }
    }
    qsort(sorted, n, sizeof(*sorted), compare_pci);
    for (i = 1; i < n && status == VP_OK; i++) {
        if (is_same_pci(&sorted[i - 1]->pci, &sorted[i]->pci) &&
            (sorted[i - 1]->kind != VP_HW_NIC || sorted[i]->kind != VP_HW_NIC ||
             sorted[i - 1]->parent != sorted[i]->parent)) {
            char text[VP_HW_NAME_BYTES];

            vp_hw_pci_format(&sorted[i]->pci, text);
            status = vp_error_set(error, VP_ERR_BAD_INPUT,
                                  "%s: PCI address %s is there twice; a device hangs at one "
                                  "place, so the file is damaged or joins two machines",
                                  where, text);
        }
    }
    free(sorted);
    return status;
}

/* GPU numbers of the source count only when each GPU has its own. */
static vp_status_t order_gpus(vp_hardware_t *machine, const char *where, vp_error_t *error)
{
    const vp_hw_object_t *objects = machine->objects;
    uint32_t i;
    uint32_t k;

    for (i = 0; i < machine->n_gpus; i++) {
        if (objects[machine->gpus[i]].ordinal == VP_HW_NONE) {
            return VP_OK;
        }
    }
    for (i = 1; i < machine->n_gpus; i++) {
        uint32_t gpu = machine->gpus[i];

        for (k = i; k > 0 && objects[machine->gpus[k - 1]].ordinal > objects[gpu].ordinal; k--) {
            machine->gpus[k] = machine->gpus[k - 1];
        }
        if (k > 0 && objects[machine->gpus[k - 1]].ordinal == objects[gpu].ordinal) {
            return vp_error_set(error, VP_ERR_BAD_INPUT,
                                "%s: two GPUs have the number %" PRIu32
                                "; give each its own or import one node at a time",
                                where, objects[gpu].ordinal);
        }
        machine->gpus[k] = gpu;
    }
    return VP_OK;
}

static vp_status_t check_counts(const vp_hardware_t *machine, const char *where, vp_error_t *error)
{
    uint32_t n_gpus = 0;
    uint32_t n_nics = 0;
    uint32_t i;

    for (i = 0; i < machine->n_objects; i++) {
        n_gpus += machine->objects[i].kind == VP_HW_GPU;
        n_nics += machine->objects[i].kind == VP_HW_NIC;
    }
    if (n_gpus > VP_HW_MAX_GPUS || n_nics > VP_HW_MAX_NICS) {
        return vp_error_set(error, VP_ERR_LIMIT,
                            "%s: %" PRIu32 " GPUs and %" PRIu32 " NICs; one node has at most %d "
                            "and %d, import one node at a time",
                            where, n_gpus, n_nics, VP_HW_MAX_GPUS, VP_HW_MAX_NICS);
    }
    return VP_OK;
}

/* Lists GPUs and usable NICs: those with RDMA; the others only where there are none of these. */
static vp_status_t list_devices(vp_hardware_t *machine, vp_error_t *error)
{
    const vp_hw_object_t *objects = machine->objects;
    bool has_rdma = false;
    uint32_t i;
    vp_status_t status = VP_OK;

    for (i = 0; i < machine->n_objects; i++) {
        has_rdma = has_rdma || (objects[i].kind == VP_HW_NIC && objects[i].is_rdma);
    }
    for (i = 0; i < machine->n_objects && status == VP_OK; i++) {
        if (objects[i].kind == VP_HW_GPU) {
            machine->gpus[machine->n_gpus++] = i;
        } else if (objects[i].kind == VP_HW_NIC && has_rdma && !objects[i].is_rdma) {
            status = vp_hardware_note(machine, error, objects[i].name,
                                      "network device without RDMA, on a machine that has RDMA "
                                      "devices");
        } else if (objects[i].kind == VP_HW_NIC) {
            machine->nics[machine->n_nics++] = i;
        }
    }
    return status;
}

static vp_status_t check_names(const vp_hardware_t *machine, const char *where, vp_error_t *error)
{
    uint32_t i;
    uint32_t k;

    for (i = 0; i < machine->n_nics; i++) {
        for (k = 0; k < i; k++) {
            const char *name = machine->objects[machine->nics[i]].name;

            if (strcmp(name, machine->objects[machine->nics[k]].name) == 0) {
                return vp_error_set(error, VP_ERR_BAD_INPUT,
                                    "%s: two NICs have the name \"%s\"; give each its own or "
                                    "import one node at a time",
                                    where, name);
            }
        }
    }
    return VP_OK;
}

/* GPUs whose parent is the same switch form a group, in the order of their first GPU. */
static void make_groups(vp_hardware_t *machine)
{
    const vp_hw_object_t *objects = machine->objects;
    uint32_t i;
    uint32_t k;

    for (i = 0; i < machine->n_gpus; i++) {
        uint32_t parent = objects[machine->gpus[i]].parent;

        for (k = 0; k < i; k++) {
            if (objects[parent].kind == VP_HW_SWITCH &&
                objects[machine->gpus[k]].parent == parent) {
                break;
            }
        }
        machine->gpu_group[i] = k < i ? machine->gpu_group[k] : machine->n_groups++;
    }
}

/* What the tree may not show; the reader of the import knows the machine. */
static vp_status_t note_doubts(vp_hardware_t *machine, vp_error_t *error)
{
    const vp_hw_object_t *objects = machine->objects;
    bool is_numa_crossed = false;
    uint32_t a;
    uint32_t b;
    vp_status_t status = VP_OK;

    for (a = 0; a < machine->n_gpus; a++) {
        for (b = 0; b < a; b++) {
            const vp_hw_object_t *x = &objects[machine->gpus[a]];
            const vp_hw_object_t *y = &objects[machine->gpus[b]];

            is_numa_crossed =
                is_numa_crossed ||
                (x->numa != y->numa && x->numa != VP_HW_NONE && y->numa != VP_HW_NONE &&
                 vp_hardware_class(machine, machine->gpus[a], machine->gpus[b]) == VP_HW_NODE);
        }
    }
    if (is_numa_crossed) {
        status = vp_hardware_note(machine, error, "NUMA nodes",
                                  "pairs across NUMA nodes of one socket are NODE here; "
                                  "nvidia-smi prints SYS for them");
    }
    if (status == VP_OK && machine->n_gpus > 1 && machine->n_groups == machine->n_gpus) {
        status =
            vp_hardware_note(machine, error, "groups",
                             "no two GPUs share a PCIe switch in the source; a virtual machine "
                             "may hide switches that are there");
    }
    return status;
}

vp_status_t vp_hardware_finish(vp_hardware_t *machine, const char *where, vp_error_t *error)
{
    vp_status_t status = check_counts(machine, where, error);
    uint32_t i;

    for (i = 0; i < machine->n_objects; i++) {
        vp_hw_name_clean(machine->objects[i].name);
    }
    if (status == VP_OK) {
        status = check_addresses(machine, where, error);
    }
    if (status == VP_OK) {
        status = join_cards(machine, error);
    }
    if (status == VP_OK) {
        status = collapse(machine, error);
    }
    if (status != VP_OK) {
        return status;
    }
    machine->gpus = vp_array_new(VP_HW_MAX_GPUS, sizeof(*machine->gpus));
    machine->gpu_group = vp_array_new(VP_HW_MAX_GPUS, sizeof(*machine->gpu_group));
    machine->nics = vp_array_new(VP_HW_MAX_NICS, sizeof(*machine->nics));
    if (machine->gpus == NULL || machine->gpu_group == NULL || machine->nics == NULL) {
        return vp_error_no_memory(error, "the lists of GPUs and NICs");
    }
    status = list_devices(machine, error);
    if (status != VP_OK) {
        return status;
    }
    if (machine->n_gpus == 0) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "%s: no GPU found; import a file of a machine that has GPUs", where);
    }
    status = check_names(machine, where, error);
    if (status == VP_OK) {
        status = order_gpus(machine, where, error);
    }
    if (status != VP_OK) {
        return status;
    }
    make_groups(machine);
    return note_doubts(machine, error);
}
