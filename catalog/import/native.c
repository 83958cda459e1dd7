/*
 * The native topology file of an imported machine.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "catalog/import/native.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "catalog/import/contention.h"
#include "catalog/import/native_writer.h"
#include "catalog/import/nic_place.h"
#include "catalog/import/pcie.h"
#include "catalog/json_read.h"
#include "catalog/model.h"

/* Not of the source: stated as assumptions in the file's "about". */
enum { ALPHA_NS = 10000, PUT_OVERHEAD_NS = 1000 };

void vp_native_append(vp_native_writer_t *writer, json_t *list, json_t *item)
{
    writer->has_failed = json_array_append_new(list, item) != 0 || writer->has_failed;
}

void vp_native_set(vp_native_writer_t *writer, json_t *object, const char *key, json_t *value)
{
    writer->has_failed = json_object_set_new(object, key, value) != 0 || writer->has_failed;
}

/* The link of an object towards its parent; assumed where the source does not tell. */
static vp_native_rate_t link_of(vp_native_writer_t *writer, uint32_t object)
{
    const vp_hw_object_t *it = &writer->machine->objects[object];

    if (it->link_bytes_per_s == 0) {
        writer->is_rate_assumed = true;
        return (vp_native_rate_t){vp_pcie_payload_bytes_per_s(16000, 16),
                                  "no figure: the source tells none, taken as PCIe 4.0 x16"};
    }
    return (vp_native_rate_t){it->link_bytes_per_s, it->link_origin};
}

static vp_native_rate_t slower(vp_native_rate_t a, vp_native_rate_t b)
{
    return b.bytes_per_s < a.bytes_per_s ? b : a;
}

void vp_native_name_rate(vp_native_writer_t *writer, const char *kind, vp_native_rate_t rate,
                         char *name)
{
    json_t *entry;
    uint32_t n = 0;

    (void)snprintf(name, VP_HW_NAME_BYTES, "%s", kind);
    while ((entry = json_object_get(writer->rates, name)) != NULL) {
        if ((uint64_t)json_integer_value(json_object_get(entry, "bytes_per_s")) ==
                rate.bytes_per_s &&
            strcmp(json_string_value(json_object_get(entry, "origin")), rate.origin) == 0) {
            return;
        }
        (void)snprintf(name, VP_HW_NAME_BYTES, "%s%" PRIu32, kind, ++n);
    }
    vp_native_set(writer, writer->rates, name,
                  json_pack("{s:I, s:s}", "bytes_per_s", (json_int_t)rate.bytes_per_s, "origin",
                            rate.origin));
}

/* Name of a switch in the file: that of its group, or its number among all for one above groups. */
static void name_switch(const vp_hardware_t *machine, uint32_t object, char *name)
{
    uint32_t n_before = 0;
    uint32_t i;

    for (i = 0; i < machine->n_gpus; i++) {
        if (machine->objects[machine->gpus[i]].parent == object) {
            (void)snprintf(name, VP_HW_NAME_BYTES, "sw%" PRIu32, machine->gpu_group[i]);
            return;
        }
    }
    for (i = 0; i < object; i++) {
        n_before += machine->objects[i].kind == VP_HW_SWITCH;
    }
    (void)snprintf(name, VP_HW_NAME_BYTES, "upper%" PRIu32, n_before);
}

/* Name of the link from (is_up) or to a switch at its parent. */
static void name_link(const vp_hardware_t *machine, uint32_t object, bool is_up, char *name)
{
    uint32_t parent = machine->objects[object].parent;
    char self[VP_HW_NAME_BYTES];
    char above[VP_HW_NAME_BYTES];

    name_switch(machine, object, self);
    if (machine->objects[parent].kind != VP_HW_SWITCH) {
        (void)snprintf(name, VP_NATIVE_TEXT_BYTES, "%s:%s", self, is_up ? "up" : "down");
        return;
    }
    name_switch(machine, parent, above);
    (void)snprintf(name, VP_NATIVE_TEXT_BYTES, "%s>%s", is_up ? self : above, is_up ? above : self);
}

static void add_link(vp_native_writer_t *writer, const char *name, vp_resource_kind_t kind,
                     vp_native_rate_t rate)
{
    char rate_name[VP_HW_NAME_BYTES];

    vp_native_name_rate(writer, kind == VP_RESOURCE_SOCKET ? "socket" : "uplink", rate, rate_name);
    vp_native_append(writer, writer->links,
                     json_pack("{s:s, s:s, s:s}", "name", name, "kind", vp_resource_kind_text(kind),
                               "rate", rate_name));
}

static void mark_used(vp_native_writer_t *writer, uint32_t object)
{
    while (!writer->is_used[object]) {
        writer->is_used[object] = true;
        object = object == 0 ? 0 : writer->machine->objects[object].parent;
    }
}

static void mark_all_used(vp_native_writer_t *writer)
{
    const vp_hardware_t *machine = writer->machine;
    uint32_t i;
    uint32_t group;

    for (i = 0; i < machine->n_gpus; i++) {
        mark_used(writer, machine->gpus[i]);
    }
    for (i = 0; i < machine->n_nics; i++) {
        for (group = 0; group < machine->n_groups; group++) {
            if (vp_nic_serves(machine, i, group)) {
                mark_used(writer, machine->nics[i]);
            }
        }
    }
}

/* Both directions of the link above every switch that has GPUs, or NICs that they use. */
static void add_switch_links(vp_native_writer_t *writer)
{
    const vp_hardware_t *machine = writer->machine;
    char name[VP_NATIVE_TEXT_BYTES];
    uint32_t i;

    for (i = 0; i < machine->n_objects; i++) {
        bool is_nested = machine->objects[i].kind == VP_HW_SWITCH &&
                         machine->objects[machine->objects[i].parent].kind == VP_HW_SWITCH;

        if (machine->objects[i].kind != VP_HW_SWITCH || !writer->is_used[i]) {
            continue;
        }
        name_link(machine, i, true, name);
        add_link(writer, name, is_nested ? VP_RESOURCE_INTER_SWITCH : VP_RESOURCE_UPLINK,
                 link_of(writer, i));
        name_link(machine, i, false, name);
        add_link(writer, name, is_nested ? VP_RESOURCE_INTER_SWITCH : VP_RESOURCE_DOWNLINK,
                 link_of(writer, i));
    }
}

/* What hangs straight below the system: a socket, or a NUMA node where sockets are unknown. */
static uint32_t domain_of(const vp_hardware_t *machine, uint32_t object)
{
    while (machine->objects[object].parent != 0) {
        object = machine->objects[object].parent;
    }
    return object;
}

/* Number of a domain among those of the system. */
static uint32_t domain_number(const vp_hardware_t *machine, uint32_t domain)
{
    uint32_t n = 0;
    uint32_t i;

    for (i = 1; i < domain; i++) {
        n += machine->objects[i].kind != VP_HW_GONE && machine->objects[i].parent == 0;
    }
    return n;
}

static void name_socket_link(const vp_hardware_t *machine, uint32_t from, uint32_t to, char *name)
{
    (void)snprintf(name, VP_NATIVE_TEXT_BYTES, "socket%" PRIu32 ">socket%" PRIu32,
                   domain_number(machine, from), domain_number(machine, to));
}

static vp_native_rate_t socket_rate(vp_native_writer_t *writer)
{
    vp_native_rate_t rate = link_of(writer, writer->machine->gpus[0]);

    rate.origin = "no figure: links between sockets are not in the source, taken as the GPU link";
    return rate;
}

static bool is_domain(const vp_native_writer_t *writer, uint32_t object)
{
    const vp_hw_object_t *it = &writer->machine->objects[object];

    return it->parent == 0 && it->kind != VP_HW_GONE && writer->is_used[object];
}

static void add_socket_links(vp_native_writer_t *writer)
{
    const vp_hardware_t *machine = writer->machine;
    char name[VP_NATIVE_TEXT_BYTES];
    uint32_t from;
    uint32_t to;

    for (from = 1; from < machine->n_objects; from++) {
        for (to = 1; to < machine->n_objects; to++) {
            if (from != to && is_domain(writer, from) && is_domain(writer, to)) {
                name_socket_link(machine, from, to, name);
                add_link(writer, name, VP_RESOURCE_SOCKET, socket_rate(writer));
            }
        }
    }
}

uint32_t vp_native_first_gpu(const vp_hardware_t *machine, uint32_t group)
{
    uint32_t i = 0;

    while (machine->gpu_group[i] != group) {
        i++;
    }
    return machine->gpus[i];
}

/* The slowest GPU link of the group. */
static vp_native_rate_t group_rate(vp_native_writer_t *writer, uint32_t group)
{
    const vp_hardware_t *machine = writer->machine;
    vp_native_rate_t rate = link_of(writer, vp_native_first_gpu(machine, group));
    uint32_t i;

    for (i = 0; i < machine->n_gpus; i++) {
        if (machine->gpu_group[i] == group) {
            rate = slower(rate, link_of(writer, machine->gpus[i]));
        }
    }
    return rate;
}

static void add_path(vp_native_writer_t *writer, const char *kind, uint32_t from, uint32_t to,
                     vp_native_rate_t rate, json_t *links)
{
    char names[2][VP_HW_NAME_BYTES];
    char rate_kind[8];
    char rate_name[VP_HW_NAME_BYTES];
    size_t i;

    for (i = 0; kind[i] != '\0'; i++) {
        rate_kind[i] = (char)(kind[i] | 32);
    }
    rate_kind[i] = '\0';
    vp_native_name_rate(writer, rate_kind, rate, rate_name);
    (void)snprintf(names[0], sizeof(names[0]), "sw%" PRIu32, from);
    (void)snprintf(names[1], sizeof(names[1]), "sw%" PRIu32, to);
    vp_native_append(writer, writer->paths,
                     json_pack("{s:s, s:s, s:s, s:s, s:o, s:s}", "kind", kind, "from", names[0],
                               "to", names[1], "rate", rate_name, "links", links, "class", "pcie"));
}

/* Adds the links of the switches from an object up to, and without, a common ancestor. */
static vp_native_rate_t climb(vp_native_writer_t *writer, json_t *links, uint32_t object,
                              uint32_t common, bool is_up, vp_native_rate_t rate)
{
    const vp_hardware_t *machine = writer->machine;
    char name[VP_NATIVE_TEXT_BYTES];

    for (; object != common; object = machine->objects[object].parent) {
        if (machine->objects[object].kind == VP_HW_SWITCH) {
            name_link(machine, object, is_up, name);
            vp_native_append(writer, links, json_string(name));
            rate = slower(rate, link_of(writer, object));
        }
    }
    return rate;
}

json_t *vp_native_way(vp_native_writer_t *writer, uint32_t source, uint32_t destination,
                      vp_native_rate_t *rate)
{
    const vp_hardware_t *machine = writer->machine;
    uint32_t common = vp_hardware_common(machine, source, destination);
    json_t *links = json_array();
    char name[VP_NATIVE_TEXT_BYTES];

    *rate = climb(writer, links, source, common, true, *rate);
    if (common == 0) {
        name_socket_link(machine, domain_of(machine, source), domain_of(machine, destination),
                         name);
        vp_native_append(writer, links, json_string(name));
        *rate = slower(*rate, socket_rate(writer));
    }
    *rate = climb(writer, links, destination, common, false, *rate);
    return links;
}

static vp_status_t add_pair(vp_native_writer_t *writer, uint32_t from, uint32_t to)
{
    const vp_hardware_t *machine = writer->machine;
    uint32_t source = vp_native_first_gpu(machine, from);
    uint32_t destination = vp_native_first_gpu(machine, to);
    vp_native_rate_t rate = slower(group_rate(writer, from), group_rate(writer, to));
    json_t *links = vp_native_way(writer, source, destination, &rate);

    if (json_array_size(links) > VP_MAX_FOOTPRINT) {
        json_decref(links);
        return vp_error_set(writer->error, VP_ERR_LIMIT,
                            "GPUs of groups %" PRIu32 " and %" PRIu32 " are more than %d switch "
                            "links apart; a topology file describes paths of up to that many",
                            from, to, VP_MAX_FOOTPRINT);
    }
    add_path(writer, vp_hw_class_text(vp_hardware_class(machine, source, destination)), from, to,
             rate, links);
    return VP_OK;
}

static vp_status_t add_paths(vp_native_writer_t *writer)
{
    const vp_hardware_t *machine = writer->machine;
    uint32_t from;
    uint32_t to;

    for (from = 0; from < machine->n_groups; from++) {
        /* Of a single GPU too: it fills the position of an idle rank. */
        add_path(writer, "PIX", from, from, group_rate(writer, from), json_array());
        for (to = 0; to < machine->n_groups; to++) {
            vp_status_t status = from == to ? VP_OK : add_pair(writer, from, to);

            if (status != VP_OK) {
                return status;
            }
        }
    }
    return VP_OK;
}

/* The GPUs of a group: a list with their addresses, or just their number. */
static json_t *group_gpus(vp_native_writer_t *writer, uint32_t group)
{
    const vp_hardware_t *machine = writer->machine;
    json_t *list = json_array();
    bool is_known = false;
    json_t *result;
    uint32_t i;

    for (i = 0; i < machine->n_gpus; i++) {
        const vp_hw_pci_t *pci = &machine->objects[machine->gpus[i]].pci;
        char address[VP_HW_NAME_BYTES];

        if (machine->gpu_group[i] == group) {
            vp_hw_pci_format(pci, address);
            vp_native_append(writer, list,
                             vp_hw_pci_is_device(pci) ? json_pack("{s:s}", "pci", address)
                                                      : json_object());
            is_known = is_known || vp_hw_pci_is_device(pci);
        }
    }
    result = is_known ? json_incref(list) : json_integer((json_int_t)json_array_size(list));
    json_decref(list);
    return result;
}

static void add_groups(vp_native_writer_t *writer, json_t *switches)
{
    char name[VP_HW_NAME_BYTES];
    uint32_t group;

    for (group = 0; group < writer->machine->n_groups; group++) {
        (void)snprintf(name, sizeof(name), "sw%" PRIu32, group);
        vp_native_append(writer, switches,
                         json_pack("{s:s, s:o}", "name", name, "gpus", group_gpus(writer, group)));
    }
}

static void write_head(vp_native_writer_t *writer, json_t *root, const char *name)
{
    char about[VP_NATIVE_TEXT_BYTES];

    (void)snprintf(about, sizeof(about),
                   "Imported from %s. alpha_ns, put_overhead_ns and the contention tables are "
                   "assumptions, as is every rate of origin \"no figure\".",
                   writer->machine->format);
    vp_native_set(writer, root, "format", json_string("variopath-topology"));
    vp_native_set(writer, root, "version", json_integer(1));
    vp_native_set(writer, root, "name", json_string(name));
    vp_native_set(writer, root, "about", json_string(about));
    vp_native_set(writer, root, "nodes", json_integer(1));
    vp_native_set(writer, root, "alpha_ns", json_integer(ALPHA_NS));
    vp_native_set(writer, root, "put_overhead_ns", json_integer(PUT_OVERHEAD_NS));
}

static vp_status_t fill(vp_native_writer_t *writer, json_t *switches, char *gpu_rate_name)
{
    vp_native_rate_t gpu_rate = group_rate(writer, 0);
    uint32_t group;
    vp_status_t status;

    mark_all_used(writer);
    for (group = 1; group < writer->machine->n_groups; group++) {
        gpu_rate = slower(gpu_rate, group_rate(writer, group));
    }
    vp_native_name_rate(writer, "gpu", gpu_rate, gpu_rate_name);
    vp_native_set(writer, writer->hardware, "pcie",
                  json_pack("{s:s, s:s}", "tls", "cuda_ipc,cuda_copy,posix,cma", "devices", ""));
    vp_native_set(writer, writer->emulated, "pcie",
                  json_pack("{s:s, s:s}", "tls", "cuda_ipc,cuda_copy,posix,cma", "devices", ""));
    vp_native_set(writer, writer->local, "pcie",
                  json_pack("{s:s, s:s}", "tls", "posix,cma", "devices", ""));
    add_groups(writer, switches);
    add_switch_links(writer);
    add_socket_links(writer);
    status = add_paths(writer);
    if (status == VP_OK) {
        status = vp_native_add_nics(writer);
    }
    if (status == VP_OK && writer->is_rate_assumed) {
        status =
            vp_hardware_note(writer->machine, writer->error, "rates",
                             "the source does not tell all link rates; those of origin "
                             "\"no figure\" are taken as PCIe 4.0 x16: correct or measure them");
    }
    return status;
}

static json_t *contention_profiles(void)
{
    static const char text[] = VP_IMPORT_CONTENTION;
    vp_json_document_t document;

    return vp_json_open(&document, "contention", text, sizeof(text) - 1, NULL) == VP_OK
               ? document.root
               : NULL;
}

vp_status_t vp_hardware_topology(vp_hardware_t *machine, const char *name, json_t **json_p,
                                 vp_error_t *error)
{
    json_t *root = json_object();
    json_t *switches = json_array();
    char gpu_rate_name[VP_HW_NAME_BYTES];
    vp_native_writer_t writer = {.machine = machine,
                                 .error = error,
                                 .rates = json_object(),
                                 .links = json_array(),
                                 .paths = json_array(),
                                 .nics = json_array(),
                                 .hardware = json_object(),
                                 .emulated = json_object(),
                                 .local = json_object(),
                                 .is_used = vp_array_new(machine->n_objects, sizeof(bool)),
                                 .rails = vp_array_new(machine->n_groups, sizeof(uint64_t))};
    vp_status_t status = writer.is_used == NULL || writer.rails == NULL
                             ? vp_error_no_memory(error, "a topology file")
                             : fill(&writer, switches, gpu_rate_name);

    write_head(&writer, root, name);
    vp_native_set(&writer, root, "rates", json_pack("{s:o}", "nominal", writer.rates));
    vp_native_set(&writer, root, "gpu_link", json_string(gpu_rate_name));
    vp_native_set(&writer, root, "switches", switches);
    vp_native_set(&writer, root, "nics", writer.nics);
    vp_native_set(&writer, root, "links", writer.links);
    vp_native_set(&writer, root, "paths", writer.paths);
    if (status == VP_OK) {
        vp_native_set(&writer, root, "nic_pairs", json_string(vp_native_pairing(&writer)));
    }
    vp_native_set(&writer, root, "transports",
                  json_pack("{s:o, s:o, s:o}", "hardware", writer.hardware, "emulated",
                            writer.emulated, "local", writer.local));
    vp_native_set(&writer, root, "contention", contention_profiles());
    free(writer.is_used);
    free(writer.rails);
    if (status == VP_OK && writer.has_failed) {
        status = vp_error_no_memory(error, "a topology file");
    }
    if (status != VP_OK) {
        json_decref(root);
        return status;
    }
    *json_p = root;
    return VP_OK;
}
