/*
 * The native topology file of an imported machine.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "catalog/import/native.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "catalog/import/contention.h"
#include "catalog/import/nic_place.h"
#include "catalog/import/pcie.h"
#include "catalog/model.h"

/* Not of the source: stated as assumptions in the file's "about". */
enum { ALPHA_NS = 10000, PUT_OVERHEAD_NS = 1000, TEXT_BYTES = 256 };

typedef struct rate {
    uint64_t bytes_per_s;
    const char *origin;
} rate_t;

typedef struct writer {
    vp_hardware_t *machine;
    vp_error_t *error;
    json_t *rates; /* of the set "nominal" */
    json_t *links;
    json_t *paths;
    json_t *nics;
    json_t *hardware; /* path classes of the transports "hardware" and "local" */
    json_t *local;
    bool is_rate_assumed;
    bool has_failed; /* memory ran out */
} writer_t;

static void append(writer_t *writer, json_t *list, json_t *item)
{
    writer->has_failed = json_array_append_new(list, item) != 0 || writer->has_failed;
}

static void set(writer_t *writer, json_t *object, const char *key, json_t *value)
{
    writer->has_failed = json_object_set_new(object, key, value) != 0 || writer->has_failed;
}

/* The link of an object towards its parent; assumed where the source does not tell. */
static rate_t link_of(writer_t *writer, uint32_t object)
{
    const vp_hw_object_t *it = &writer->machine->objects[object];

    if (it->link_bytes_per_s == 0) {
        writer->is_rate_assumed = true;
        return (rate_t){vp_pcie_payload_bytes_per_s(16000, 16),
                        "no figure: the source tells none, taken as PCIe 4.0 x16"};
    }
    return (rate_t){it->link_bytes_per_s, it->link_origin};
}

static rate_t slower(rate_t a, rate_t b)
{
    return b.bytes_per_s < a.bytes_per_s ? b : a;
}

/* Name of an entry of "rates" with this content: KIND, or KIND1, KIND2 ... for further contents. */
static void name_rate(writer_t *writer, const char *kind, rate_t rate, char *name)
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
    set(writer, writer->rates, name,
        json_pack("{s:I, s:s}", "bytes_per_s", (json_int_t)rate.bytes_per_s, "origin",
                  rate.origin));
}

/* Name of a switch in the file: that of its group, or its own number for one above groups. */
static void name_switch(const vp_hardware_t *machine, uint32_t object, char *name)
{
    uint32_t i;

    for (i = 0; i < machine->n_gpus; i++) {
        if (machine->objects[machine->gpus[i]].parent == object) {
            (void)snprintf(name, VP_HW_NAME_BYTES, "sw%" PRIu32, machine->gpu_group[i]);
            return;
        }
    }
    (void)snprintf(name, VP_HW_NAME_BYTES, "upper%" PRIu32, object);
}

/* Name of the link from (is_up) or to a switch at its parent. */
static void name_link(const vp_hardware_t *machine, uint32_t object, bool is_up, char *name)
{
    uint32_t parent = machine->objects[object].parent;
    char self[VP_HW_NAME_BYTES];
    char above[VP_HW_NAME_BYTES];

    name_switch(machine, object, self);
    if (machine->objects[parent].kind != VP_HW_SWITCH) {
        (void)snprintf(name, TEXT_BYTES, "%s:%s", self, is_up ? "up" : "down");
        return;
    }
    name_switch(machine, parent, above);
    (void)snprintf(name, TEXT_BYTES, "%s>%s", is_up ? self : above, is_up ? above : self);
}

static void add_link(writer_t *writer, const char *name, vp_resource_kind_t kind, rate_t rate)
{
    char rate_name[VP_HW_NAME_BYTES];

    name_rate(writer, kind == VP_RESOURCE_SOCKET ? "socket" : "uplink", rate, rate_name);
    append(writer, writer->links,
           json_pack("{s:s, s:s, s:s}", "name", name, "kind", vp_resource_kind_text(kind), "rate",
                     rate_name));
}

static bool has_gpu_below(const vp_hardware_t *machine, uint32_t object)
{
    uint32_t i;

    for (i = 0; i < machine->n_gpus; i++) {
        if (vp_hardware_common(machine, object, machine->gpus[i]) == object) {
            return true;
        }
    }
    return false;
}

/* Both directions of the link above every switch that has GPUs. */
static void add_switch_links(writer_t *writer)
{
    const vp_hardware_t *machine = writer->machine;
    char name[TEXT_BYTES];
    uint32_t i;

    for (i = 0; i < machine->n_objects; i++) {
        bool is_nested = machine->objects[i].kind == VP_HW_SWITCH &&
                         machine->objects[machine->objects[i].parent].kind == VP_HW_SWITCH;

        if (machine->objects[i].kind != VP_HW_SWITCH || !has_gpu_below(machine, i)) {
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
    (void)snprintf(name, TEXT_BYTES, "socket%" PRIu32 ">socket%" PRIu32,
                   domain_number(machine, from), domain_number(machine, to));
}

static rate_t socket_rate(writer_t *writer)
{
    rate_t rate = link_of(writer, writer->machine->gpus[0]);

    rate.origin = "no figure: links between sockets are not in the source, taken as the GPU link";
    return rate;
}

static bool is_domain(const vp_hardware_t *machine, uint32_t object)
{
    return machine->objects[object].parent == 0 && machine->objects[object].kind != VP_HW_GONE &&
           has_gpu_below(machine, object);
}

static void add_socket_links(writer_t *writer)
{
    const vp_hardware_t *machine = writer->machine;
    char name[TEXT_BYTES];
    uint32_t from;
    uint32_t to;

    for (from = 1; from < machine->n_objects; from++) {
        for (to = 1; to < machine->n_objects; to++) {
            if (from != to && is_domain(machine, from) && is_domain(machine, to)) {
                name_socket_link(machine, from, to, name);
                add_link(writer, name, VP_RESOURCE_SOCKET, socket_rate(writer));
            }
        }
    }
}

static uint32_t first_gpu(const vp_hardware_t *machine, uint32_t group)
{
    uint32_t i = 0;

    while (machine->gpu_group[i] != group) {
        i++;
    }
    return machine->gpus[i];
}

/* The slowest GPU link of the group. */
static rate_t group_rate(writer_t *writer, uint32_t group)
{
    const vp_hardware_t *machine = writer->machine;
    rate_t rate = link_of(writer, first_gpu(machine, group));
    uint32_t i;

    for (i = 0; i < machine->n_gpus; i++) {
        if (machine->gpu_group[i] == group) {
            rate = slower(rate, link_of(writer, machine->gpus[i]));
        }
    }
    return rate;
}

static void add_path(writer_t *writer, const char *kind, uint32_t from, uint32_t to, rate_t rate,
                     json_t *links)
{
    char names[2][VP_HW_NAME_BYTES];
    char rate_kind[8];
    char rate_name[VP_HW_NAME_BYTES];
    size_t i;

    for (i = 0; kind[i] != '\0'; i++) {
        rate_kind[i] = (char)(kind[i] | 32);
    }
    rate_kind[i] = '\0';
    name_rate(writer, rate_kind, rate, rate_name);
    (void)snprintf(names[0], sizeof(names[0]), "sw%" PRIu32, from);
    (void)snprintf(names[1], sizeof(names[1]), "sw%" PRIu32, to);
    append(writer, writer->paths,
           json_pack("{s:s, s:s, s:s, s:s, s:o, s:s}", "kind", kind, "from", names[0], "to",
                     names[1], "rate", rate_name, "links", links, "class", "pcie"));
}

/* Adds the links of the switches from an object up to, and without, a common ancestor. */
static rate_t climb(writer_t *writer, json_t *links, uint32_t object, uint32_t common, bool is_up,
                    rate_t rate)
{
    const vp_hardware_t *machine = writer->machine;
    char name[TEXT_BYTES];

    for (; object != common; object = machine->objects[object].parent) {
        if (machine->objects[object].kind == VP_HW_SWITCH) {
            name_link(machine, object, is_up, name);
            append(writer, links, json_string(name));
            rate = slower(rate, link_of(writer, object));
        }
    }
    return rate;
}

static vp_status_t add_pair(writer_t *writer, uint32_t from, uint32_t to)
{
    const vp_hardware_t *machine = writer->machine;
    uint32_t source = first_gpu(machine, from);
    uint32_t destination = first_gpu(machine, to);
    uint32_t common = vp_hardware_common(machine, source, destination);
    rate_t rate = slower(group_rate(writer, from), group_rate(writer, to));
    json_t *links = json_array();
    char name[TEXT_BYTES];

    rate = climb(writer, links, source, common, true, rate);
    if (common == 0) {
        name_socket_link(machine, domain_of(machine, source), domain_of(machine, destination),
                         name);
        append(writer, links, json_string(name));
        rate = slower(rate, socket_rate(writer));
    }
    rate = climb(writer, links, destination, common, false, rate);
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

static vp_status_t add_paths(writer_t *writer)
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

static void add_nic(writer_t *writer, const vp_nic_place_t *place)
{
    const vp_hw_object_t *card = &writer->machine->objects[place->card];
    rate_t rate = {place->bytes_per_s, place->origin};
    char group[VP_HW_NAME_BYTES];
    char class[TEXT_BYTES];
    char rate_name[VP_HW_NAME_BYTES];

    name_rate(writer, "nic", rate, rate_name);
    (void)snprintf(class, sizeof(class), "nic-%s", card->name);
    (void)snprintf(group, sizeof(group), "sw%" PRIu32, place->group);
    append(writer, writer->nics,
           json_pack("{s:s, s:s, s:s, s:s}", "name", card->name, "switch", group, "rate", rate_name,
                     "class", class));
    set(writer, writer->hardware, class,
        json_pack("{s:s, s:s}", "tls", place->tls, "devices", place->devices));
    set(writer, writer->local, class, json_pack("{s:s, s:s}", "tls", "tcp", "devices", "lo"));
}

static vp_status_t add_nics(writer_t *writer)
{
    uint32_t i;
    vp_status_t status = VP_OK;

    for (i = 0; i < writer->machine->n_nics && status == VP_OK; i++) {
        vp_nic_place_t place;

        status = vp_nic_place(writer->machine, i, &place, writer->error);
        if (status == VP_OK && place.group != VP_HW_NONE) {
            add_nic(writer, &place);
        }
    }
    return status;
}

static void add_groups(writer_t *writer, json_t *switches)
{
    const vp_hardware_t *machine = writer->machine;
    char name[VP_HW_NAME_BYTES];
    uint32_t group;
    uint32_t i;

    for (group = 0; group < machine->n_groups; group++) {
        json_int_t n_gpus = 0;

        for (i = 0; i < machine->n_gpus; i++) {
            n_gpus += machine->gpu_group[i] == group;
        }
        (void)snprintf(name, sizeof(name), "sw%" PRIu32, group);
        append(writer, switches, json_pack("{s:s, s:I}", "name", name, "gpus", n_gpus));
    }
}

static void write_head(writer_t *writer, json_t *root, const char *name)
{
    char about[TEXT_BYTES];

    (void)snprintf(about, sizeof(about),
                   "Imported from %s. alpha_ns, put_overhead_ns and the contention tables are "
                   "assumptions, as is every rate of origin \"no figure\".",
                   writer->machine->format);
    set(writer, root, "format", json_string("variopath-topology"));
    set(writer, root, "version", json_integer(1));
    set(writer, root, "name", json_string(name));
    set(writer, root, "about", json_string(about));
    set(writer, root, "nodes", json_integer(1));
    set(writer, root, "alpha_ns", json_integer(ALPHA_NS));
    set(writer, root, "put_overhead_ns", json_integer(PUT_OVERHEAD_NS));
}

static vp_status_t fill(writer_t *writer, json_t *switches, char *gpu_rate_name)
{
    rate_t gpu_rate = group_rate(writer, 0);
    uint32_t group;
    vp_status_t status;

    for (group = 1; group < writer->machine->n_groups; group++) {
        gpu_rate = slower(gpu_rate, group_rate(writer, group));
    }
    name_rate(writer, "gpu", gpu_rate, gpu_rate_name);
    set(writer, writer->hardware, "pcie",
        json_pack("{s:s, s:s}", "tls", "cuda_ipc,cuda_copy,posix,cma", "devices", ""));
    set(writer, writer->local, "pcie", json_pack("{s:s, s:s}", "tls", "posix,cma", "devices", ""));
    add_groups(writer, switches);
    add_switch_links(writer);
    add_socket_links(writer);
    status = add_paths(writer);
    if (status == VP_OK) {
        status = add_nics(writer);
    }
    if (status == VP_OK && writer->is_rate_assumed) {
        status =
            vp_hardware_note(writer->machine, writer->error, "rates",
                             "the source does not tell all link rates; those of origin "
                             "\"no figure\" are taken as PCIe 4.0 x16: correct or measure them");
    }
    return status;
}

vp_status_t vp_hardware_topology(vp_hardware_t *machine, const char *name, json_t **json_p,
                                 vp_error_t *error)
{
    json_t *root = json_object();
    json_t *switches = json_array();
    char gpu_rate_name[VP_HW_NAME_BYTES];
    writer_t writer = {.machine = machine,
                       .error = error,
                       .rates = json_object(),
                       .links = json_array(),
                       .paths = json_array(),
                       .nics = json_array(),
                       .hardware = json_object(),
                       .local = json_object()};
    vp_status_t status = fill(&writer, switches, gpu_rate_name);

    write_head(&writer, root, name);
    set(&writer, root, "rates", json_pack("{s:o}", "nominal", writer.rates));
    set(&writer, root, "gpu_link", json_string(gpu_rate_name));
    set(&writer, root, "switches", switches);
    set(&writer, root, "nics", writer.nics);
    set(&writer, root, "links", writer.links);
    set(&writer, root, "paths", writer.paths);
    set(&writer, root, "nic_pairs", json_string("rail"));
    set(&writer, root, "transports",
        json_pack("{s:o, s:o}", "hardware", writer.hardware, "local", writer.local));
    set(&writer, root, "contention", json_loads(VP_IMPORT_CONTENTION, 0, NULL));
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
