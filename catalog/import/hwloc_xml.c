/*
 * lstopo's XML, formats 1 (no version) and 2. It is read here and not by
 * libhwloc, which trusts its files: 2.9 crashes on damaged ones, and says of
 * a bad file that it is bad, but not where.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "catalog/import/import.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/import/hwloc_tree.h"
#include "catalog/import/xml.h"

enum { FORMAT_VERSION = 2 };

typedef struct reader {
    const char *where;
    vp_hwloc_tree_t *tree;
    vp_error_t *error;
} reader_t;

static vp_status_t check_version(const reader_t *reader, const xmlNode *root)
{
    const char *text = vp_xml_attribute(root, "version");
    char library[32];
    unsigned major = 1;
    unsigned minor = 0;
    int n = 0;

    if (text == NULL) {
        return VP_OK;
    }
    if (!isdigit((unsigned char)text[0]) || sscanf(text, "%3u.%3u%n", &major, &minor, &n) != 2 ||
        text[n] != '\0') {
        return vp_xml_mistake(reader->where, root, reader->error,
                              "version=\"%.32s\" is not a version such as \"2.0\"", text);
    }
    if (major <= FORMAT_VERSION) {
        return VP_OK;
    }
    vp_hwloc_version(library, sizeof(library));
    return vp_error_set(reader->error, VP_ERR_UNSUPPORTED,
                        "%s: line %ld: the file is hwloc XML version %u.%u, and this program%s%s "
                        "reads versions up to %d; write the file again with "
                        "`lstopo --export-xml-flags v2`",
                        reader->where, xmlGetLineNo(root), major, minor,
                        library[0] == '\0' ? "" : " on hwloc ", library, FORMAT_VERSION);
}

/* "15.753846" GB/s in MB/s, rounded; four digits and a fraction at most. */
static bool parse_rate(const char *text, uint64_t *mbytes_per_s_p)
{
    size_t n_whole = strspn(text, "0123456789");
    const char *fraction = text[n_whole] == '.' ? text + n_whole + 1 : text + n_whole;
    size_t n_fraction = strspn(fraction, "0123456789");
    uint64_t value;
    size_t i;

    if (n_whole == 0 || n_whole > 4 || fraction[n_fraction] != '\0') {
        return false;
    }
    value = strtoul(text, NULL, 10);
    for (i = 0; i < 4; i++) {
        value = value * 10 + (i < n_fraction ? (uint64_t)(fraction[i] - '0') : 0);
    }
    *mbytes_per_s_p = (value + 5) / 10;
    return true;
}

static vp_status_t read_pci(const reader_t *reader, const xmlNode *xml, vp_hwloc_node_t *node)
{
    const char *busid = vp_xml_attribute(xml, "pci_busid");
    const char *type = vp_xml_attribute(xml, "pci_type");
    const char *speed = vp_xml_attribute(xml, "pci_link_speed");

    if (busid == NULL || !vp_hw_pci_parse(busid, &node->pci)) {
        return vp_xml_mistake(reader->where, xml, reader->error,
                              "pci_busid=\"%.32s\" is not a PCI address such as \"0000:0c:00.0\"",
                              busid == NULL ? "" : busid);
    }
    if (type == NULL || strspn(type, "0123456789abcdefABCDEF") != 4 ||
        sscanf(type, "%4" SCNx32 " [%4" SCNx32 ":%4" SCNx32 "]", &node->pci_class, &node->vendor,
               &node->device) != 3) {
        return vp_xml_mistake(reader->where, xml, reader->error,
                              "pci_type=\"%.48s\" does not tell class, vendor and device, as in "
                              "\"0302 [10de:1eb8]\"",
                              type == NULL ? "" : type);
    }
    if (speed != NULL && !parse_rate(speed, &node->link_mbytes_per_s)) {
        return vp_xml_mistake(reader->where, xml, reader->error,
                              "pci_link_speed=\"%.32s\" is not a rate in GB/s", speed);
    }
    return VP_OK;
}

static vp_status_t read_bridge(const reader_t *reader, const xmlNode *xml, vp_hwloc_node_t *node)
{
    const char *type = vp_xml_attribute(xml, "bridge_type");
    const char *buses = vp_xml_attribute(xml, "bridge_pci");
    uint32_t domain;
    unsigned first;
    unsigned last;
    int n = 0;

    if (buses == NULL || strlen(buses) > 32 || !isxdigit((unsigned char)buses[0]) ||
        sscanf(buses, "%8" SCNx32 ":[%2x-%2x]%n", &domain, &first, &last, &n) != 3 ||
        buses[n] != '\0' || first > last) {
        return vp_xml_mistake(reader->where, xml, reader->error,
                              "bridge_pci=\"%.32s\" is not a range of buses such as "
                              "\"0000:[03-08]\"",
                              buses == NULL ? "" : buses);
    }
    (void)snprintf(node->name, sizeof(node->name), "host bridge %s", buses);
    if (type != NULL && strcmp(type, "0-1") == 0) {
        node->type = VP_HWLOC_HOST_BRIDGE;
        return VP_OK;
    }
    if (type == NULL || strcmp(type, "1-1") != 0) {
        return vp_xml_mistake(reader->where, xml, reader->error,
                              "bridge_type=\"%.32s\" is neither \"0-1\" nor \"1-1\"",
                              type == NULL ? "" : type);
    }
    return read_pci(reader, xml, node);
}

static vp_status_t read_os_device(const reader_t *reader, const xmlNode *xml, vp_hwloc_node_t *node)
{
    /* Values of hwloc_obj_osdev_type_t in formats 1 and 2. */
    enum { NETWORK = 2, OPENFABRICS = 3, COPROCESSOR = 5 };
    const char *name = vp_xml_attribute(xml, "name");
    uint64_t type = UINT64_MAX;
    vp_status_t status = vp_xml_number(reader->where, xml, "osdev_type", 64, &type, reader->error);

    if (status != VP_OK) {
        return status;
    }
    if (type == UINT64_MAX) {
        return vp_xml_mistake(reader->where, xml, reader->error,
                              "has no osdev_type; every device of the system needs one");
    }
    (void)snprintf(node->name, sizeof(node->name), "%s", name == NULL ? "" : name);
    node->type = type == NETWORK       ? VP_HWLOC_NETWORK
                 : type == OPENFABRICS ? VP_HWLOC_RDMA
                 : type == COPROCESSOR ? VP_HWLOC_COPROCESSOR
                                       : VP_HWLOC_OTHER;
    return VP_OK;
}

/*
 * The only member of a set such as "0x00000004" or "0x1,,0x0" (words of 32
 * bits, highest first, empty ones 0); VP_HW_NONE: several or none.
 */
static vp_status_t read_numa(const reader_t *reader, const xmlNode *xml, vp_hwloc_node_t *node)
{
    const char *text = vp_xml_attribute(xml, "nodeset");
    const char *word = text;
    uint32_t n_members = 0;
    uint32_t member = 0;

    if (text == NULL) {
        return VP_OK;
    }
    if (text[0] == '\0' || strspn(text, "0123456789abcdefABCDEFx,.") != strlen(text)) {
        return vp_xml_mistake(reader->where, xml, reader->error,
                              "nodeset=\"%.32s\" is not a set of hexadecimal words", text);
    }
    while (word != NULL && n_members < 2 && member < VP_HW_MAX_NODES) {
        uint32_t bits = (uint32_t)strtoul(word, NULL, 16);

        member += 32; /* of the words before */
        for (; bits != 0 && n_members < 2; bits &= bits - 1) {
            n_members++;
            member = (uint32_t)__builtin_ctz(bits);
        }
        word = strchr(word, ',');
        word = word == NULL ? NULL : word + 1;
    }
    node->numa = n_members == 1 && strstr(text, "...") == NULL ? member : VP_HW_NONE;
    return VP_OK;
}

static bool is_type(const char *type, const char *const *types)
{
    for (; *types != NULL; types++) {
        if (strcmp(type, *types) == 0) {
            return true;
        }
    }
    return false;
}

/* The attributes of one object; its type is one that hwloc has. */
static vp_status_t read_attributes(const reader_t *reader, const xmlNode *xml, const char *type,
                                   vp_hwloc_node_t *node)
{
    static const char *const normal[] = {"Machine",  "System",   "Group",    "NUMANode", "NUMA",
                                         "Die",      "Core",     "PU",       "Cache",    "L1Cache",
                                         "L2Cache",  "L3Cache",  "L4Cache",  "L5Cache",  "L1iCache",
                                         "L2iCache", "L3iCache", "MemCache", "Node",     NULL};
    const char *subtype = vp_xml_attribute(xml, "subtype");

    if (is_type(type, normal)) {
        return read_numa(reader, xml, node);
    }
    if (strcmp(type, "Package") == 0 || strcmp(type, "Socket") == 0) {
        node->type = VP_HWLOC_PACKAGE;
        return read_numa(reader, xml, node);
    }
    if (strcmp(type, "Bridge") == 0) {
        node->type = VP_HWLOC_BRIDGE;
        return read_bridge(reader, xml, node);
    }
    if (strcmp(type, "PCIDev") == 0) {
        node->type = VP_HWLOC_PCI;
        node->is_nvswitch = subtype != NULL && strcmp(subtype, "NVSwitch") == 0;
        return read_pci(reader, xml, node);
    }
    if (strcmp(type, "OSDev") == 0) {
        return read_os_device(reader, xml, node);
    }
    node->type = VP_HWLOC_OTHER;
    return strcmp(type, "Misc") == 0
               ? VP_OK
               : vp_xml_mistake(reader->where, xml, reader->error,
                                "type=\"%.32s\" is not a type of object that hwloc has", type);
}

static void read_info(const xmlNode *xml, vp_hwloc_node_t *node)
{
    const char *name = vp_xml_attribute(xml, "name");
    const char *value = vp_xml_attribute(xml, "value");

    if (name != NULL && value != NULL && strcmp(name, "PCIDevice") == 0) {
        (void)snprintf(node->model, sizeof(node->model), "%s", value);
    }
}

/* Normal objects hold anything, I/O objects I/O only: what hwloc guarantees of its trees. */
static bool may_hold(vp_hwloc_type_t parent, vp_hwloc_type_t child)
{
    return parent <= VP_HWLOC_PACKAGE || child > VP_HWLOC_PACKAGE;
}

static vp_status_t read_object(const reader_t *reader, xmlNode *xml, uint32_t parent)
{
    const char *type = vp_xml_attribute(xml, "type");
    uint32_t index = reader->tree->n_nodes;
    xmlNode *child;
    vp_hwloc_node_t *node;
    vp_status_t status;

    if (type == NULL) {
        return vp_xml_mistake(reader->where, xml, reader->error,
                              "has no type; every object needs one");
    }
    status = vp_hwloc_tree_add(reader->tree, VP_HWLOC_NORMAL, parent, reader->where, &node,
                               reader->error);
    if (status == VP_OK) {
        status = read_attributes(reader, xml, type, node);
    }
    if (status == VP_OK && parent != VP_HW_NONE &&
        !may_hold(reader->tree->nodes[parent].type, node->type)) {
        status = vp_xml_mistake(reader->where, xml, reader->error,
                                "type=\"%.32s\" is inside a bridge or device; the file is damaged",
                                type);
    }
    for (child = vp_xml_element(xml->children); child != NULL && status == VP_OK;
         child = vp_xml_element(child->next)) {
        if (vp_xml_is(child, "object")) {
            status = read_object(reader, child, index);
        } else if (vp_xml_is(child, "info")) {
            read_info(child, &reader->tree->nodes[index]);
        }
    }
    return status;
}

/* Distances tell of NVLink; nothing else is read from them. */
static bool tells_of_nvlink(const xmlNode *xml)
{
    const char *name = vp_xml_attribute(xml, "name");

    return name != NULL && (strncmp(name, "NVLink", 6) == 0 || strncmp(name, "XGMI", 4) == 0);
}

static vp_status_t read_root(const reader_t *reader, xmlNode *root)
{
    xmlNode *child;
    vp_status_t status = check_version(reader, root);

    for (child = vp_xml_element(root->children); child != NULL && status == VP_OK;
         child = vp_xml_element(child->next)) {
        if (!vp_xml_is(child, "object")) {
            reader->tree->has_nvlink = reader->tree->has_nvlink || tells_of_nvlink(child);
        } else if (reader->tree->n_nodes > 0) {
            status = vp_xml_mistake(reader->where, child, reader->error,
                                    "is a second root object; a file describes one machine");
        } else {
            status = read_object(reader, child, VP_HW_NONE);
        }
    }
    if (status == VP_OK && reader->tree->n_nodes == 0) {
        status = vp_xml_mistake(reader->where, root, reader->error,
                                "holds no object; is the file complete?");
    }
    if (status == VP_OK && reader->tree->nodes[0].type != VP_HWLOC_NORMAL) {
        status = vp_xml_mistake(reader->where, root, reader->error,
                                "does not begin with an object of type Machine");
    }
    return status;
}

vp_status_t vp_import_hwloc(const char *where, const char *text, size_t n_bytes,
                            vp_hardware_t *machine, vp_error_t *error)
{
    vp_hwloc_tree_t tree = {0};
    reader_t reader = {.where = where, .tree = &tree, .error = error};
    xmlDoc *document;
    vp_status_t status = vp_xml_parse(where, text, n_bytes, "topology", &document, error);

    if (status != VP_OK) {
        return status;
    }
    status = read_root(&reader, xmlDocGetRootElement(document));
    xmlFreeDoc(document);
    if (status == VP_OK) {
        status = vp_hwloc_tree_read(where, &tree, machine, error);
    }
    vp_hwloc_tree_clear(&tree);
    return status;
}
