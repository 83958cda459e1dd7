/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/import/nic_place.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* 100 Gb/s, where neither port nor link is known. */
#define ASSUMED_BYTES_PER_S UINT64_C(12500000000)

/* Position of the card among those with the same classes to all GPUs. */
static uint32_t twin_number(const vp_hardware_t *machine, uint32_t nic_idx)
{
    uint32_t n = 0;
    uint32_t i;
    uint32_t k;

    for (i = 0; i < nic_idx; i++) {
        uint32_t other = machine->nics[i];
        bool is_twin = machine->objects[other].card == other;

        for (k = 0; k < machine->n_gpus && is_twin; k++) {
            is_twin = vp_hardware_class(machine, machine->gpus[k], other) ==
                      vp_hardware_class(machine, machine->gpus[k], machine->nics[nic_idx]);
        }
        n += is_twin;
    }
    return n;
}

/* Is the GPU the first of its group? All of a group are equally near to everything. */
static bool is_first(const vp_hardware_t *machine, uint32_t gpu_idx)
{
    uint32_t i;

    for (i = 0; i < gpu_idx; i++) {
        if (machine->gpu_group[i] == machine->gpu_group[gpu_idx]) {
            return false;
        }
    }
    return true;
}

/* Counts the groups for which the NIC is a nearest one at its least class, or takes one of them. */
static uint32_t find_group(const vp_hardware_t *machine, uint32_t nic_idx, vp_hw_class_t *class_p,
                           uint32_t number)
{
    uint32_t n = 0;
    vp_hw_class_t best = VP_HW_N_CLASSES;
    uint32_t i;

    for (i = 0; i < machine->n_gpus; i++) {
        vp_hw_class_t class = vp_hardware_class(machine, machine->gpus[i], machine->nics[nic_idx]);

        if (is_first(machine, i) && vp_hardware_is_nearest(machine, i, nic_idx) && class < best) {
            best = class;
        }
    }
    *class_p = best;
    for (i = 0; i < machine->n_gpus; i++) {
        if (is_first(machine, i) && vp_hardware_is_nearest(machine, i, nic_idx) &&
            vp_hardware_class(machine, machine->gpus[i], machine->nics[nic_idx]) == best &&
            n++ == number) {
            return machine->gpu_group[i];
        }
    }
    return n;
}

static vp_status_t choose_group(vp_hardware_t *machine, uint32_t nic_idx, vp_nic_place_t *place,
                                vp_error_t *error)
{
    const char *name = machine->objects[place->card].name;
    vp_hw_class_t class;
    uint32_t n_groups = find_group(machine, nic_idx, &class, VP_HW_NONE);

    if (n_groups == 0) {
        return vp_hardware_note(machine, error, name, "every GPU has a nearer NIC: not used");
    }
    place->group = find_group(machine, nic_idx, &class, twin_number(machine, nic_idx) % n_groups);
    return VP_OK;
}

bool vp_nic_serves(const vp_hardware_t *machine, uint32_t nic_idx, uint32_t group)
{
    uint32_t i = 0;

    while (machine->gpu_group[i] != group) {
        i++;
    }
    return vp_hardware_is_nearest(machine, i, nic_idx);
}

/* Ports of a card add up, but never beyond its PCIe link. */
static void set_rate(const vp_hardware_t *machine, vp_nic_place_t *place)
{
    const vp_hw_object_t *card = &machine->objects[place->card];
    uint64_t ports = 0;
    uint32_t n_ports = 0;
    uint32_t i;

    for (i = 0; i < machine->n_nics; i++) {
        const vp_hw_object_t *port = &machine->objects[machine->nics[i]];

        if (port->card == place->card) {
            ports += port->port_bytes_per_s;
            n_ports++;
        }
    }
    if (ports > 0 && (card->link_bytes_per_s == 0 || ports <= card->link_bytes_per_s)) {
        place->bytes_per_s = ports;
        (void)snprintf(place->origin, sizeof(place->origin),
                       "nominal: %" PRIu32 " port%s of %" PRIu64 " Mb/s together", n_ports,
                       n_ports > 1 ? "s" : "", ports / 125000);
    } else if (card->link_bytes_per_s > 0) {
        place->bytes_per_s = card->link_bytes_per_s;
        (void)snprintf(place->origin, sizeof(place->origin), "%s", card->link_origin);
    } else {
        place->bytes_per_s = ASSUMED_BYTES_PER_S;
        (void)snprintf(place->origin, sizeof(place->origin),
                       "no figure: the source tells neither port nor link, taken as 100 Gb/s");
    }
}

/* Interfaces of the kernel, as opposed to RDMA devices. */
static bool is_interface(const char *name)
{
    static const char *const prefixes[] = {"eno", "enp", "ens", "eth", "enx", "bond"};
    size_t i;

    for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* "mlx5_0:1,mlx5_1:1" for RDMA, "eno1" for TCP, nothing where only an address is known. */
static void set_transport(const vp_hardware_t *machine, vp_nic_place_t *place)
{
    const vp_hw_object_t *card = &machine->objects[place->card];
    bool is_tcp = !card->is_rdma || is_interface(card->name);
    size_t used = 0;
    uint32_t i;

    place->tls = is_tcp ? "tcp,cuda_copy" : "rc,cuda_copy";
    place->devices[0] = '\0';
    for (i = 0; i < machine->n_nics; i++) {
        const vp_hw_object_t *port = &machine->objects[machine->nics[i]];
        size_t n = strlen(port->name) + 3;

        if (port->card == place->card && strchr(port->name, ':') == NULL &&
            used + n < sizeof(place->devices)) {
            used += (size_t)snprintf(place->devices + used, sizeof(place->devices) - used, "%s%s%s",
                                     used > 0 ? "," : "", port->name, is_tcp ? "" : ":1");
        }
    }
}

vp_status_t vp_nic_place(vp_hardware_t *machine, uint32_t nic_idx, vp_nic_place_t *place,
                         vp_error_t *error)
{
    vp_status_t status;

    *place = (vp_nic_place_t){
        .card = machine->objects[machine->nics[nic_idx]].card, .group = VP_HW_NONE, .tls = ""};
    if (place->card != machine->nics[nic_idx]) {
        return VP_OK;
    }
    status = choose_group(machine, nic_idx, place, error);
    if (status == VP_OK && place->group != VP_HW_NONE) {
        set_rate(machine, place);
        set_transport(machine, place);
    }
    return status;
}
