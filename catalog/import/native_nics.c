/*
 * The NICs of the native topology file of an imported machine.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "catalog/import/native_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "catalog/import/nic_place.h"
#include "catalog/model.h"

/* Position of a NIC among those listed with its group. */
static uint32_t rail_of(const vp_native_writer_t *writer, const char *group)
{
    uint32_t rail = 0;
    size_t i;
    json_t *nic;

    json_array_foreach(writer->nics, i, nic)
    {
        rail += strcmp(json_string_value(json_object_get(nic, "switch")), group) == 0;
    }
    return rail;
}

/*
 * One group that a NIC serves. Left out where the links are those that a
 * topology file has anyway: none, to the group that the NIC is listed with.
 */
static vp_status_t add_service(vp_native_writer_t *writer, json_t *serves,
                               const vp_nic_place_t *place, uint32_t group)
{
    uint32_t gpu = vp_native_first_gpu(writer->machine, group);
    vp_native_rate_t rate = {place->bytes_per_s, place->origin};
    json_t *out = vp_native_way(writer, gpu, place->card, &rate);
    json_t *in = vp_native_way(writer, place->card, gpu, &rate);
    size_t n_links = json_array_size(out);
    char name[VP_HW_NAME_BYTES];

    (void)snprintf(name, sizeof(name), "sw%" PRIu32, group);
    if (n_links > (VP_MAX_FOOTPRINT - 2) / 2 || (n_links == 0 && group == place->group)) {
        json_decref(out);
        json_decref(in);
        return n_links == 0 ? VP_OK
                            : vp_hardware_note(writer->machine, writer->error,
                                               writer->machine->objects[place->card].name,
                                               "%zu links from the GPUs of group %" PRIu32
                                               ", more than a lane can have: not used there",
                                               n_links, group);
    }
    vp_native_append(writer, serves,
                     json_pack("{s:s, s:o, s:o}", "switch", name, "out", out, "in", in));
    return VP_OK;
}

static vp_status_t add_services(vp_native_writer_t *writer, json_t *serves,
                                const vp_nic_place_t *place, uint32_t nic_idx, uint32_t rail)
{
    vp_status_t status = VP_OK;
    uint32_t group;

    for (group = 0; group < writer->machine->n_groups && status == VP_OK; group++) {
        if (vp_nic_serves(writer->machine, nic_idx, group)) {
            writer->rails[group] |= UINT64_C(1) << (rail < 64 ? rail : 63);
            status = add_service(writer, serves, place, group);
        }
    }
    return status;
}

static vp_status_t add_nic(vp_native_writer_t *writer, const vp_nic_place_t *place,
                           uint32_t nic_idx)
{
    const vp_hw_object_t *card = &writer->machine->objects[place->card];
    vp_native_rate_t rate = {place->bytes_per_s, place->origin};
    json_t *serves = json_array();
    json_t *item;
    char group[VP_HW_NAME_BYTES];
    char class[VP_NATIVE_TEXT_BYTES];
    char rate_name[VP_HW_NAME_BYTES];
    vp_status_t status;

    vp_native_name_rate(writer, "nic", rate, rate_name);
    (void)snprintf(class, sizeof(class), "nic-%s", card->name);
    (void)snprintf(group, sizeof(group), "sw%" PRIu32, place->group);
    status = add_services(writer, serves, place, nic_idx, rail_of(writer, group));
    item = json_pack("{s:s, s:s, s:s, s:s}", "name", card->name, "switch", group, "rate", rate_name,
                     "class", class);
    if (json_array_size(serves) > 0) {
        vp_native_set(writer, item, "serves", json_incref(serves));
    }
    json_decref(serves);
    if (vp_hw_pci_is_device(&card->pci)) {
        char address[VP_HW_NAME_BYTES];

        vp_hw_pci_format(&card->pci, address);
        vp_native_set(writer, item, "pci", json_string(address));
    }
    vp_native_append(writer, writer->nics, item);
    vp_native_set(writer, writer->hardware, class,
                  json_pack("{s:s, s:s}", "tls", place->tls, "devices", place->devices));
    vp_native_set(writer, writer->emulated, class,
                  json_pack("{s:s, s:s}", "tls", "tcp,cuda_copy", "devices", "lo"));
    vp_native_set(writer, writer->local, class,
                  json_pack("{s:s, s:s}", "tls", "tcp", "devices", "lo"));
    return status;
}

/* Rail to rail, where every two groups have NICs of one rail; a group may have only a far one. */
const char *vp_native_pairing(const vp_native_writer_t *writer)
{
    uint32_t a;
    uint32_t b;

    for (a = 0; a < writer->machine->n_groups; a++) {
        for (b = 0; b < a; b++) {
            if (writer->rails[a] != 0 && writer->rails[b] != 0 &&
                (writer->rails[a] & writer->rails[b]) == 0) {
                return "any";
            }
        }
    }
    return "rail";
}

vp_status_t vp_native_add_nics(vp_native_writer_t *writer)
{
    uint32_t i;
    vp_status_t status = VP_OK;

    for (i = 0; i < writer->machine->n_nics && status == VP_OK; i++) {
        vp_nic_place_t place;

        status = vp_nic_place(writer->machine, i, &place, writer->error);
        if (status == VP_OK && place.group != VP_HW_NONE) {
            status = add_nic(writer, &place, i);
        }
    }
    return status;
}
