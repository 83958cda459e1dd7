/*
 * The machine that this runs on, as hwloc sees it.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "catalog/import/import.h"

#include <errno.h>
#include <hwloc.h>
#include <stdio.h>
#include <string.h>

#include "catalog/import/hwloc_tree.h"

static const char live[] = "this machine";

static void set_pci(vp_hwloc_node_t *node, const struct hwloc_pcidev_attr_s *pci)
{
    node->pci = (vp_hw_pci_t){.domain = (uint32_t)pci->domain,
                              .bus = pci->bus,
                              .device = pci->dev,
                              .function = pci->func,
                              .is_known = true};
    node->pci_class = pci->class_id;
    node->vendor = pci->vendor_id;
    node->device = pci->device_id;
    if (pci->linkspeed > 0.0F && pci->linkspeed < 10000.0F) {
        node->link_mbytes_per_s = (uint64_t)((double)pci->linkspeed * 1000.0 + 0.5);
    }
}

static void set_name(char *name, const char *text)
{
    (void)snprintf(name, VP_HW_NAME_BYTES, "%s", text == NULL ? "" : text);
}

static void read_bridge(hwloc_obj_t object, vp_hwloc_node_t *node)
{
    const struct hwloc_bridge_attr_s *bridge = &object->attr->bridge;

    if (bridge->upstream_type == HWLOC_OBJ_BRIDGE_HOST) {
        node->type = VP_HWLOC_HOST_BRIDGE;
        (void)snprintf(node->name, sizeof(node->name), "host bridge %04x:[%02x-%02x]",
                       (unsigned)bridge->downstream.pci.domain,
                       bridge->downstream.pci.secondary_bus,
                       bridge->downstream.pci.subordinate_bus);
    } else {
        node->type = VP_HWLOC_BRIDGE;
        set_pci(node, &bridge->upstream.pci);
    }
}

static void read_os_device(hwloc_obj_t object, vp_hwloc_node_t *node)
{
    set_name(node->name, object->name);
    switch (object->attr->osdev.type) {
    case HWLOC_OBJ_OSDEV_NETWORK:
        node->type = VP_HWLOC_NETWORK;
        break;
    case HWLOC_OBJ_OSDEV_OPENFABRICS:
        node->type = VP_HWLOC_RDMA;
        break;
    case HWLOC_OBJ_OSDEV_COPROC:
        node->type = VP_HWLOC_COPROCESSOR;
        break;
    default:
        node->type = VP_HWLOC_OTHER;
        break;
    }
}

static void read_attributes(hwloc_obj_t object, vp_hwloc_node_t *node)
{
    switch (object->type) {
    case HWLOC_OBJ_BRIDGE:
        read_bridge(object, node);
        break;
    case HWLOC_OBJ_PCI_DEVICE:
        node->type = VP_HWLOC_PCI;
        node->is_nvswitch = object->subtype != NULL && strcmp(object->subtype, "NVSwitch") == 0;
        set_pci(node, &object->attr->pcidev);
        set_name(node->model, hwloc_obj_get_info_by_name(object, "PCIDevice"));
        break;
    case HWLOC_OBJ_OS_DEVICE:
        read_os_device(object, node);
        break;
    default:
        node->type = object->type == HWLOC_OBJ_PACKAGE ? VP_HWLOC_PACKAGE : VP_HWLOC_NORMAL;
        if (object->nodeset != NULL && hwloc_bitmap_weight(object->nodeset) == 1) {
            node->numa = (uint32_t)hwloc_bitmap_first(object->nodeset);
        }
        break;
    }
}

/* Normal children first, then I/O, as in a file. */
static vp_status_t read_object(hwloc_obj_t object, uint32_t parent, vp_hwloc_tree_t *tree,
                               vp_error_t *error)
{
    uint32_t index = tree->n_nodes;
    hwloc_obj_t child;
    vp_hwloc_node_t *node;
    vp_status_t status = vp_hwloc_tree_add(tree, VP_HWLOC_NORMAL, parent, live, &node, error);

    if (status != VP_OK) {
        return status;
    }
    read_attributes(object, node);
    for (child = object->first_child; child != NULL && status == VP_OK;
         child = child->next_sibling) {
        status = read_object(child, index, tree, error);
    }
    for (child = object->io_first_child; child != NULL && status == VP_OK;
         child = child->next_sibling) {
        status = read_object(child, index, tree, error);
    }
    return status;
}

static bool has_nvlink(hwloc_topology_t topology)
{
    static const char *const names[] = {"NVLinkBandwidth", "XGMIBandwidth"};
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct hwloc_distances_s *distances;
        unsigned n = 1;

        if (hwloc_distances_get_by_name(topology, names[i], &n, &distances, 0) == 0 && n > 0) {
            hwloc_distances_release(topology, distances);
            return true;
        }
    }
    return false;
}

/* Components of hwloc that ask drivers; those that it does not have are none to leave out. */
static void leave_drivers_out(hwloc_topology_t topology)
{
    static const char *const names[] = {"cuda", "nvml", "opencl", "rsmi", "levelzero", "gl"};
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
                                            names[i]);
    }
}

static bool discover(hwloc_topology_t topology, bool is_quick)
{
    if (is_quick) {
        leave_drivers_out(topology);
    }
    return hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL) == 0 &&
           hwloc_topology_set_cache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE) == 0 &&
           hwloc_topology_set_icache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE) == 0 &&
           hwloc_topology_load(topology) == 0;
}

vp_status_t vp_import_hwloc_live(bool is_quick, vp_hardware_t *machine, vp_error_t *error)
{
    vp_hwloc_tree_t tree = {0};
    hwloc_topology_t topology;
    vp_status_t status;

    if (hwloc_topology_init(&topology) != 0) {
        return vp_error_no_memory(error, "hwloc discovery");
    }
    if (!discover(topology, is_quick)) {
        status = vp_error_set(error, VP_ERR_IO,
                              "hwloc cannot discover this machine: %s; import a file instead",
                              strerror(errno));
    } else {
        tree.has_nvlink = has_nvlink(topology);
        status = read_object(hwloc_get_root_obj(topology), VP_HW_NONE, &tree, error);
    }
    hwloc_topology_destroy(topology);
    if (status == VP_OK) {
        status = vp_hwloc_tree_read(live, &tree, machine, error);
    }
    vp_hwloc_tree_clear(&tree);
    return status;
}

/* The library tells its version only as a property of what it discovers. */
void vp_hwloc_version(char *text, size_t n_bytes)
{
    const char *version = NULL;
    hwloc_topology_t topology;

    (void)snprintf(text, n_bytes, "%u", hwloc_get_api_version() >> 16);
    if (hwloc_topology_init(&topology) != 0) {
        return;
    }
    if (hwloc_topology_set_synthetic(topology, "pu:1") == 0 && hwloc_topology_load(topology) == 0) {
        version = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology), "hwlocVersion");
    }
    if (version != NULL) {
        (void)snprintf(text, n_bytes, "%s", version);
    }
    hwloc_topology_destroy(topology);
}
