/*
 * hwloc lists every bridge function: a root port below a host bridge, then in
 * turns upstream and downstream ports. An upstream port with the downstream
 * ports below it is one switch.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "catalog/import/hwloc_tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "catalog/import/classify.h"
#include "catalog/import/pcie.h"

/* What is above an object on the PCI side. */
typedef enum port { PORT_NONE, PORT_HOST, PORT_DOWN, PORT_UP } port_t;

typedef struct place {
    uint32_t parent; /* object of the machine */
    port_t port;
    uint64_t link_mbytes_per_s; /* of the port above; 0: unknown */
    uint32_t numa;
} place_t;

typedef struct reader {
    const char *where;
    const vp_hwloc_tree_t *tree;
    vp_hardware_t *machine;
    vp_error_t *error;
    bool has_nvlink;
    uint32_t n_packages;
    uint32_t package;     /* the only one, else VP_HW_NONE */
    uint32_t bare_bridge; /* host bridge made up for devices that have none */
} reader_t;

void vp_hwloc_tree_clear(vp_hwloc_tree_t *tree)
{
    free(tree->nodes);
    *tree = (vp_hwloc_tree_t){0};
}

vp_status_t vp_hwloc_tree_add(vp_hwloc_tree_t *tree, vp_hwloc_type_t type, uint32_t parent,
                              const char *where, vp_hwloc_node_t **node_p, vp_error_t *error)
{
    uint32_t index = tree->n_nodes;
    vp_hwloc_node_t *node;

    if (index >= VP_HW_MAX_NODES) {
        return vp_error_set(error, VP_ERR_LIMIT, "%s: more than %d objects; this is not one node",
                            where, VP_HW_MAX_NODES);
    }
    if (!vp_array_reserve(&tree->nodes, &tree->capacity, (size_t)index + 1, sizeof(*node))) {
        return vp_error_no_memory(error, where);
    }
    node = &tree->nodes[index];
    memset(node, 0, sizeof(*node));
    node->type = type;
    node->first_child = VP_HW_NONE;
    node->last_child = VP_HW_NONE;
    node->next = VP_HW_NONE;
    node->numa = VP_HW_NONE;
    if (parent != VP_HW_NONE) {
        vp_hwloc_node_t *above = &tree->nodes[parent];

        if (above->last_child == VP_HW_NONE) {
            above->first_child = index;
        } else {
            tree->nodes[above->last_child].next = index;
        }
        above->last_child = index;
    }
    tree->n_nodes++;
    *node_p = node;
    return VP_OK;
}

/* Both ends of a link are listed; one of them may sleep at a lower speed. */
static void set_link(vp_hw_object_t *object, uint64_t own, uint64_t above)
{
    uint64_t link = own > above ? own : above;

    object->link_bytes_per_s = vp_pcie_payload_of_decoded(link * 1000000);
    if (object->link_bytes_per_s != 0) {
        (void)snprintf(object->link_origin, sizeof(object->link_origin),
                       "nominal: PCIe link of %" PRIu64 " MB/s, payload of 256-byte packets", link);
    }
}

static vp_status_t add_gpu(reader_t *reader, const vp_hwloc_node_t *pci, const place_t *place)
{
    char device[16];
    vp_hw_object_t *object;
    vp_status_t status = vp_hardware_add(reader->machine, VP_HW_GPU, place->parent, reader->where,
                                         &object, reader->error);

    if (status != VP_OK) {
        return status;
    }
    object->pci = pci->pci;
    object->numa = place->numa;
    set_link(object, pci->link_mbytes_per_s, place->link_mbytes_per_s);
    (void)snprintf(device, sizeof(device), "0x%04" PRIx32, pci->device);
    vp_hw_vendor_name(pci->vendor, device, object->name);
    if (pci->model[0] != '\0') {
        memcpy(object->name, pci->model, sizeof(object->name));
    }
    return VP_OK;
}

static vp_status_t add_port(reader_t *reader, const vp_hwloc_node_t *pci, const place_t *place,
                            const vp_hwloc_node_t *device)
{
    vp_hw_object_t *object;
    vp_status_t status = vp_hardware_add(reader->machine, VP_HW_NIC, place->parent, reader->where,
                                         &object, reader->error);

    if (status != VP_OK) {
        return status;
    }
    object->pci = pci->pci;
    object->is_rdma = device->type == VP_HWLOC_RDMA;
    set_link(object, pci->link_mbytes_per_s, place->link_mbytes_per_s);
    memcpy(object->name, device->name, sizeof(object->name));
    return VP_OK;
}

static const vp_hwloc_node_t *node_at(const reader_t *reader, uint32_t index)
{
    return index == VP_HW_NONE ? NULL : &reader->tree->nodes[index];
}

/* The first child of a type at or behind `index` among its siblings, or NULL. */
static const vp_hwloc_node_t *find_child(const reader_t *reader, uint32_t index,
                                         vp_hwloc_type_t type)
{
    const vp_hwloc_node_t *child = node_at(reader, index);

    while (child != NULL && (child->type != type || child->name[0] == '\0')) {
        child = node_at(reader, child->next);
    }
    return child;
}

static vp_status_t note_device(reader_t *reader, const vp_hwloc_node_t *pci, const char *why)
{
    char address[VP_HW_NAME_BYTES];

    vp_hw_pci_format(&pci->pci, address);
    return vp_hardware_note(reader->machine, reader->error, address, "%s", why);
}

/* Its RDMA devices are the ports; without any, its first network interface. */
static vp_status_t add_nic(reader_t *reader, const vp_hwloc_node_t *pci, const place_t *place)
{
    const vp_hwloc_node_t *device = find_child(reader, pci->first_child, VP_HWLOC_RDMA);
    vp_status_t status = VP_OK;

    if (device == NULL) {
        device = find_child(reader, pci->first_child, VP_HWLOC_NETWORK);
        return device != NULL
                   ? add_port(reader, pci, place, device)
                   : note_device(reader, pci,
                                 "network controller without a device of the system: no driver, "
                                 "or lent to a virtual machine");
    }
    while (device != NULL && status == VP_OK) {
        status = add_port(reader, pci, place, device);
        device = find_child(reader, device->next, VP_HWLOC_RDMA);
    }
    return status;
}

static vp_status_t add_pci(reader_t *reader, const vp_hwloc_node_t *pci, const place_t *place)
{
    bool computes = find_child(reader, pci->first_child, VP_HWLOC_COPROCESSOR) != NULL;
    bool has_rdma = find_child(reader, pci->first_child, VP_HWLOC_RDMA) != NULL;
    vp_hw_device_t kind = vp_hw_device_kind(pci->pci_class, pci->vendor, computes);

    reader->has_nvlink = reader->has_nvlink || pci->is_nvswitch;
    if (kind == VP_HW_DEVICE_GPU) {
        return add_gpu(reader, pci, place);
    }
    if (kind == VP_HW_DEVICE_NIC || has_rdma) {
        return add_nic(reader, pci, place);
    }
    return kind == VP_HW_DEVICE_SCREEN
               ? note_device(reader, pci,
                             "display of a management console or a virtual machine, no GPU")
               : VP_OK;
}

static vp_status_t add_host_bridge(reader_t *reader, const char *name, place_t *place)
{
    uint32_t index = reader->machine->n_objects;
    vp_hw_object_t *object;
    vp_status_t status;

    /* Below the whole machine: near its only package, or nobody knows to which. */
    if (place->parent == 0 && reader->package != VP_HW_NONE) {
        place->parent = reader->package;
    }
    if (place->parent == 0 && reader->n_packages > 1) {
        status = vp_hardware_note(reader->machine, reader->error, name,
                                  "the source does not tell its socket: taken as far from all "
                                  "other host bridges (SYS)");
        if (status != VP_OK) {
            return status;
        }
    }
    status = vp_hardware_add(reader->machine, VP_HW_HOST_BRIDGE, place->parent, reader->where,
                             &object, reader->error);
    if (status != VP_OK) {
        return status;
    }
    object->numa = place->numa;
    (void)snprintf(object->name, sizeof(object->name), "%s", name);
    place->parent = index;
    place->port = PORT_HOST;
    place->link_mbytes_per_s = 0;
    return VP_OK;
}

static vp_status_t add_switch(reader_t *reader, const vp_hwloc_node_t *bridge, place_t *place)
{
    uint32_t index = reader->machine->n_objects;
    vp_hw_object_t *object;
    vp_status_t status = vp_hardware_add(reader->machine, VP_HW_SWITCH, place->parent,
                                         reader->where, &object, reader->error);

    if (status != VP_OK) {
        return status;
    }
    object->pci = bridge->pci;
    set_link(object, bridge->link_mbytes_per_s, place->link_mbytes_per_s);
    vp_hw_pci_format(&object->pci, object->name);
    place->parent = index;
    place->port = PORT_UP;
    place->link_mbytes_per_s = 0;
    return VP_OK;
}

static vp_status_t read_io(reader_t *reader, uint32_t first, const place_t *place);

static vp_status_t read_bridge(reader_t *reader, const vp_hwloc_node_t *bridge, place_t place)
{
    vp_status_t status = VP_OK;

    if (bridge->type == VP_HWLOC_HOST_BRIDGE || place.port == PORT_NONE) {
        status = add_host_bridge(reader, bridge->name, &place);
    } else if (place.port == PORT_DOWN) {
        status = add_switch(reader, bridge, &place);
    } else {
        place.port = PORT_DOWN;
        place.link_mbytes_per_s = bridge->link_mbytes_per_s;
    }
    return status == VP_OK ? read_io(reader, bridge->first_child, &place) : status;
}

/* A device without any bridge above it hangs at a host bridge that hwloc does not show. */
static vp_status_t read_pci(reader_t *reader, const vp_hwloc_node_t *pci, place_t place)
{
    vp_status_t status = VP_OK;

    if (place.port == PORT_NONE) {
        if (reader->bare_bridge == VP_HW_NONE) {
            status = add_host_bridge(reader, "devices without bridge", &place);
            reader->bare_bridge = place.parent;
        }
        place.parent = reader->bare_bridge;
    }
    return status == VP_OK ? add_pci(reader, pci, &place) : status;
}

static vp_status_t read_io(reader_t *reader, uint32_t first, const place_t *place)
{
    const vp_hwloc_node_t *node;
    vp_status_t status = VP_OK;

    for (node = node_at(reader, first); node != NULL && status == VP_OK;
         node = node_at(reader, node->next)) {
        if (node->type == VP_HWLOC_HOST_BRIDGE || node->type == VP_HWLOC_BRIDGE) {
            status = read_bridge(reader, node, *place);
        } else if (node->type == VP_HWLOC_PCI) {
            status = read_pci(reader, node, *place);
        }
    }
    return status;
}

/* Packages come before the I/O of the objects around them, so that they are known there. */
static vp_status_t read_normal(reader_t *reader, const vp_hwloc_node_t *node, uint32_t parent)
{
    place_t place = {.port = PORT_NONE, .numa = node->numa};
    const vp_hwloc_node_t *child;
    vp_hw_object_t *package;
    vp_status_t status = VP_OK;

    if (node->type == VP_HWLOC_PACKAGE) {
        uint32_t index = reader->machine->n_objects;

        status = vp_hardware_add(reader->machine, VP_HW_PACKAGE, parent, reader->where, &package,
                                 reader->error);
        parent = index;
        reader->package = reader->n_packages++ == 0 ? index : VP_HW_NONE;
    }
    for (child = node_at(reader, node->first_child); child != NULL && status == VP_OK;
         child = node_at(reader, child->next)) {
        if (child->type == VP_HWLOC_NORMAL || child->type == VP_HWLOC_PACKAGE) {
            status = read_normal(reader, child, parent);
        }
    }
    place.parent = parent;
    reader->bare_bridge = VP_HW_NONE;
    return status == VP_OK ? read_io(reader, node->first_child, &place) : status;
}

vp_status_t vp_hwloc_tree_read(const char *where, const vp_hwloc_tree_t *tree,
                               vp_hardware_t *machine, vp_error_t *error)
{
    reader_t reader = {.where = where,
                       .tree = tree,
                       .machine = machine,
                       .error = error,
                       .has_nvlink = tree->has_nvlink,
                       .package = VP_HW_NONE,
                       .bare_bridge = VP_HW_NONE};
    vp_status_t status = read_normal(&reader, &tree->nodes[0], 0);

    if (status == VP_OK && reader.has_nvlink) {
        status = vp_hardware_note(machine, error, "NVLink",
                                  "NVLink or xGMI is present: only PCIe and NIC paths are used");
    }
    return status;
}
