/*
 * NCCL's topology XML, as NCCL_TOPO_DUMP_FILE writes it and NCCL_TOPO_FILE
 * takes it (RCCL's is the same):
 *
 *   system > cpu > pci > ... > pci > gpu > nvlink
 *                                  > nic > net
 *
 * A <pci> with others inside is a switch, each physical one listed once. A
 * <cpu> is a NUMA node: what is common below it is taken as one host bridge.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "catalog/import/import.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "catalog/import/classify.h"
#include "catalog/import/pcie.h"
#include "catalog/import/xml.h"

/* Speeds above this, in Mb/s, are in kb/s: some plugins report them so. */
#define MAX_PLAUSIBLE_MBIT_PER_S UINT64_C(4000000)

enum { MAX_NUMA = 4096 };

typedef struct reader {
    const char *where;
    vp_hardware_t *machine;
    vp_error_t *error;
    uint32_t n_unknown; /* entries that do not tell what they are */
    char first_unknown[VP_HW_NAME_BYTES];
    uint32_t n_links; /* NVLink or xGMI */
    bool has_gdr;     /* a device may take part in GPUDirect RDMA, or the file does not tell */
} reader_t;

static vp_status_t read_class(const reader_t *reader, const xmlNode *node, uint32_t *class_p)
{
    const char *text = vp_xml_attribute(node, "class");
    uint32_t class = 0;
    size_t n_digits;

    *class_p = 0;
    if (text == NULL) {
        return VP_OK;
    }
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        text += 2;
    }
    n_digits = strlen(text);
    if (n_digits != 6 || sscanf(text, "%6" SCNx32, &class) != 1 ||
        strspn(text, "0123456789abcdefABCDEF") != 6) {
        return vp_xml_mistake(reader->where, node, reader->error,
                              "class=\"%.32s\" is not a PCI class of six hexadecimal digits", text);
    }
    *class_p = class >> 8;
    return VP_OK;
}

static uint32_t read_vendor(const xmlNode *node)
{
    const char *text = vp_xml_attribute(node, "vendor");
    uint32_t vendor = 0;

    /* Static files write 0xffff or 0x0000, or leave it out. */
    if (text == NULL || sscanf(text, "0x%4" SCNx32, &vendor) != 1 || vendor == 0xffff) {
        return 0;
    }
    return vendor;
}

static vp_status_t read_link(const reader_t *reader, const xmlNode *node, vp_hw_object_t *object)
{
    const char *speed_text = vp_xml_attribute(node, "link_speed");
    uint64_t width = 0;
    uint32_t speed = 0;
    vp_status_t status =
        vp_xml_number(reader->where, node, "link_width", 255, &width, reader->error);

    if (status != VP_OK) {
        return status;
    }
    if (width == 255) {
        width = 0; /* the kernel's "unknown" */
    }
    if (!vp_pcie_is_width(width)) {
        return vp_xml_mistake(reader->where, node, reader->error,
                              "link_width=\"%" PRIu64 "\" is not a width that PCIe has", width);
    }
    if (speed_text != NULL && !vp_pcie_speed_parse(speed_text, &speed)) {
        return vp_xml_mistake(reader->where, node, reader->error,
                              "link_speed=\"%.32s\" is not a speed that PCIe has, such as "
                              "\"16.0 GT/s PCIe\"",
                              speed_text);
    }
    object->link_bytes_per_s = vp_pcie_payload_bytes_per_s(speed, (uint32_t)width);
    if (object->link_bytes_per_s != 0) {
        (void)snprintf(object->link_origin, sizeof(object->link_origin),
                       "nominal: PCIe %" PRIu32 ".%" PRIu32 " GT/s x%" PRIu64
                       ", payload of 256-byte packets",
                       speed / 1000, speed % 1000 / 100, width);
    }
    return VP_OK;
}

static vp_status_t read_net(reader_t *reader, const xmlNode *net, uint32_t parent,
                            const vp_hw_object_t *pci)
{
    const char *name = vp_xml_attribute(net, "name");
    uint64_t speed = 0;
    vp_hw_object_t *object;
    vp_status_t status =
        vp_xml_number(reader->where, net, "speed", UINT64_C(1000000000), &speed, reader->error);

    if (status != VP_OK) {
        return status;
    }
    if (name == NULL || name[0] == '\0') {
        return vp_xml_mistake(reader->where, net, reader->error,
                              "has no name; every network device needs one");
    }
    if (speed > MAX_PLAUSIBLE_MBIT_PER_S) {
        status = vp_hardware_note(reader->machine, reader->error, name,
                                  "speed=\"%" PRIu64 "\" cannot be Mb/s, taken as kb/s", speed);
        speed /= 1000;
    }
    if (status == VP_OK) {
        status = vp_hardware_add(reader->machine, VP_HW_NIC, parent, reader->where, &object,
                                 reader->error);
    }
    if (status != VP_OK) {
        return status;
    }
    object->pci = pci->pci;
    object->is_rdma = true;
    object->link_bytes_per_s = pci->link_bytes_per_s;
    memcpy(object->link_origin, pci->link_origin, sizeof(object->link_origin));
    object->port_bytes_per_s = speed * 125000;
    (void)snprintf(object->name, sizeof(object->name), "%s", name);
    return VP_OK;
}

/* A <nic> below a <pci> holds its ports; straight below a <cpu> there is no PCI device. */
static vp_status_t read_nic(reader_t *reader, const xmlNode *nic, uint32_t parent,
                            const vp_hw_object_t *pci)
{
    xmlNode *net;
    vp_status_t status = VP_OK;

    for (net = vp_xml_element(nic->children); net != NULL && status == VP_OK;
         net = vp_xml_element(net->next)) {
        if (vp_xml_is(net, "net") && pci != NULL) {
            status = read_net(reader, net, parent, pci);
        } else if (vp_xml_is(net, "net")) {
            const char *name = vp_xml_attribute(net, "name");

            status = vp_hardware_note(reader->machine, reader->error, name == NULL ? "net" : name,
                                      "virtual network device: no PCI address");
        }
    }
    return status;
}

static vp_status_t read_gpu(reader_t *reader, const xmlNode *node, const xmlNode *gpu,
                            uint32_t parent, const vp_hw_object_t *pci)
{
    uint64_t number = VP_HW_NONE;
    xmlNode *child;
    vp_hw_object_t *object;
    vp_status_t status = VP_OK;

    for (child = gpu == NULL ? NULL : vp_xml_element(gpu->children); child != NULL;
         child = vp_xml_element(child->next)) {
        reader->n_links += vp_xml_is(child, "nvlink") || vp_xml_is(child, "xgmi");
    }
    if (gpu != NULL) {
        const char *gdr = vp_xml_attribute(gpu, "gdr");

        reader->has_gdr = reader->has_gdr || gdr == NULL || strcmp(gdr, "0") != 0;
        status =
            vp_xml_number(reader->where, gpu, "dev", VP_HW_MAX_GPUS - 1, &number, reader->error);
    } else {
        reader->has_gdr = true;
    }
    if (status == VP_OK) {
        status = vp_hardware_add(reader->machine, VP_HW_GPU, parent, reader->where, &object,
                                 reader->error);
    }
    if (status != VP_OK) {
        return status;
    }
    object->pci = pci->pci;
    object->numa = pci->numa;
    object->link_bytes_per_s = pci->link_bytes_per_s;
    memcpy(object->link_origin, pci->link_origin, sizeof(object->link_origin));
    object->ordinal = (uint32_t)number;
    vp_hw_vendor_name(read_vendor(node), vp_xml_attribute(node, "device"), object->name);
    return VP_OK;
}

static vp_status_t read_pci(reader_t *reader, const xmlNode *node, uint32_t parent);

static vp_status_t read_switch(reader_t *reader, const xmlNode *node, uint32_t parent,
                               const vp_hw_object_t *pci)
{
    xmlNode *child;
    vp_hw_object_t *object;
    uint32_t index = reader->machine->n_objects;
    vp_status_t status = vp_hardware_add(reader->machine, VP_HW_SWITCH, parent, reader->where,
                                         &object, reader->error);

    if (status != VP_OK) {
        return status;
    }
    *object = *pci;
    object->kind = VP_HW_SWITCH;
    object->parent = parent;
    for (child = vp_xml_element(node->children); child != NULL && status == VP_OK;
         child = vp_xml_element(child->next)) {
        if (vp_xml_is(child, "pci")) {
            status = read_pci(reader, child, index);
        }
    }
    return status;
}

static xmlNode *find_child(const xmlNode *node, const char *name)
{
    xmlNode *child = vp_xml_element(node->children);

    while (child != NULL && !vp_xml_is(child, name)) {
        child = vp_xml_element(child->next);
    }
    return child;
}

/* An entry without children: its class alone tells, if it has one. */
static vp_status_t read_leaf(reader_t *reader, const xmlNode *node, uint32_t parent,
                             const vp_hw_object_t *pci, uint32_t class)
{
    char address[VP_HW_NAME_BYTES];
    vp_hw_object_t *object;
    vp_status_t status;

    vp_hw_pci_format(&pci->pci, address);
    switch (vp_hw_device_kind(class, read_vendor(node), true)) {
    case VP_HW_DEVICE_GPU:
        return read_gpu(reader, node, NULL, parent, pci);
    case VP_HW_DEVICE_NIC:
        status = vp_hardware_add(reader->machine, VP_HW_NIC, parent, reader->where, &object,
                                 reader->error);
        if (status == VP_OK) {
            *object = *pci;
            object->kind = VP_HW_NIC;
            object->parent = parent;
            object->is_rdma = true;
            (void)snprintf(object->name, sizeof(object->name), "%s", address);
        }
        return status;
    case VP_HW_DEVICE_UNKNOWN:
        if (reader->n_unknown++ == 0) {
            memcpy(reader->first_unknown, address, sizeof(reader->first_unknown));
        }
        return vp_hardware_note(reader->machine, reader->error, address,
                                "neither class nor <gpu> or <net>: it cannot be told what it is");
    default:
        return vp_hardware_note(reader->machine, reader->error, address,
                                "class 0x%04" PRIx32 " is no GPU, NIC or switch", class);
    }
}

static vp_status_t read_pci(reader_t *reader, const xmlNode *node, uint32_t parent)
{
    const char *busid = vp_xml_attribute(node, "busid");
    vp_hw_object_t pci = {
        .kind = VP_HW_SWITCH, .numa = VP_HW_NONE, .ordinal = VP_HW_NONE, .card = VP_HW_NONE};
    xmlNode *gpu = find_child(node, "gpu");
    xmlNode *nic = find_child(node, "nic");
    uint32_t class;
    vp_status_t status;

    if (busid == NULL || !vp_hw_pci_parse(busid, &pci.pci)) {
        return vp_xml_mistake(reader->where, node, reader->error,
                              "busid=\"%.32s\" is not a PCI address such as \"0000:0c:00.0\"",
                              busid == NULL ? "" : busid);
    }
    (void)snprintf(pci.name, sizeof(pci.name), "%.32s", busid);
    status = read_link(reader, node, &pci);
    if (status == VP_OK) {
        status = read_class(reader, node, &class);
    }
    if (status != VP_OK) {
        return status;
    }
    if (gpu != NULL) {
        status = read_gpu(reader, node, gpu, parent, &pci);
    }
    if (status == VP_OK && nic != NULL) {
        status = read_nic(reader, nic, parent, &pci);
    }
    if (status == VP_OK && find_child(node, "pci") != NULL) {
        return read_switch(reader, node, parent, &pci);
    }
    if (status == VP_OK && gpu == NULL && nic == NULL) {
        return read_leaf(reader, node, parent, &pci, class);
    }
    return status;
}

static vp_status_t read_cpu(reader_t *reader, const xmlNode *cpu)
{
    uint64_t numa = VP_HW_NONE;
    uint32_t index = reader->machine->n_objects;
    xmlNode *child;
    vp_hw_object_t *object;
    vp_status_t status =
        vp_xml_number(reader->where, cpu, "numaid", MAX_NUMA, &numa, reader->error);

    if (status == VP_OK) {
        status = vp_hardware_add(reader->machine, VP_HW_HOST_BRIDGE, 0, reader->where, &object,
                                 reader->error);
    }
    if (status != VP_OK) {
        return status;
    }
    object->numa = (uint32_t)numa;
    (void)snprintf(object->name, sizeof(object->name), "numa%" PRIu32,
                   object->numa == VP_HW_NONE ? index : object->numa);
    for (child = vp_xml_element(cpu->children); child != NULL && status == VP_OK;
         child = vp_xml_element(child->next)) {
        if (vp_xml_is(child, "pci")) {
            status = read_pci(reader, child, index);
        } else if (vp_xml_is(child, "nic")) {
            status = read_nic(reader, child, index, NULL);
        } else {
            status = vp_hardware_note(reader->machine, reader->error, (const char *)child->name,
                                      "unknown element in line %ld", xmlGetLineNo(child));
        }
    }
    return status;
}

/* Files of several hosts give each <cpu> the hash of its host. */
static vp_status_t check_host(const reader_t *reader, const xmlNode *cpu, const char **host_p)
{
    const char *host = vp_xml_attribute(cpu, "host_hash");

    if (host != NULL && *host_p != NULL && strcmp(host, *host_p) != 0) {
        return vp_xml_mistake(reader->where, cpu, reader->error,
                              "host_hash=\"%.32s\" is a second host; dump and import one node",
                              host);
    }
    if (host != NULL) {
        *host_p = host;
    }
    return VP_OK;
}

static vp_status_t conclude(reader_t *reader)
{
    uint32_t n_gpus = 0;
    uint32_t i;

    for (i = 0; i < reader->machine->n_objects; i++) {
        n_gpus += reader->machine->objects[i].kind == VP_HW_GPU;
    }
    if (n_gpus == 0 && reader->n_unknown > 0) {
        return vp_error_set(reader->error, VP_ERR_BAD_INPUT,
                            "%s: the groups cannot be told from the file alone: %" PRIu32
                            " entries (the first is %s) have neither a class nor <gpu> or <net>; "
                            "import what NCCL writes on the machine itself with "
                            "NCCL_TOPO_DUMP_FILE",
                            reader->where, reader->n_unknown, reader->first_unknown);
    }
    if (n_gpus > 0 && !reader->has_gdr) {
        vp_status_t status = vp_hardware_note(reader->machine, reader->error, "gdr=\"0\"",
                                              "NCCL found no GPUDirect RDMA: NIC paths may have to "
                                              "go through host memory");

        if (status != VP_OK) {
            return status;
        }
    }
    if (reader->n_links > 0) {
        return vp_hardware_note(reader->machine, reader->error, "NVLink",
                                "%" PRIu32 " NVLink or xGMI connections: only PCIe and NIC paths "
                                "are used",
                                reader->n_links);
    }
    return VP_OK;
}

vp_status_t vp_import_nccl(const char *where, const char *text, size_t n_bytes,
                           vp_hardware_t *machine, vp_error_t *error)
{
    reader_t reader = {.where = where, .machine = machine, .error = error};
    const char *host = NULL;
    xmlDoc *document;
    xmlNode *cpu;
    vp_status_t status = vp_xml_parse(where, text, n_bytes, "system", &document, error);

    if (status != VP_OK) {
        return status;
    }
    for (cpu = vp_xml_element(xmlDocGetRootElement(document)->children);
         cpu != NULL && status == VP_OK; cpu = vp_xml_element(cpu->next)) {
        if (!vp_xml_is(cpu, "cpu")) {
            status = vp_hardware_note(machine, error, (const char *)cpu->name,
                                      "unknown element in line %ld", xmlGetLineNo(cpu));
            continue;
        }
        status = check_host(&reader, cpu, &host);
        if (status == VP_OK) {
            status = read_cpu(&reader, cpu);
        }
    }
    if (status == VP_OK) {
        status = conclude(&reader);
    }
    xmlFreeDoc(document);
    return status;
}
