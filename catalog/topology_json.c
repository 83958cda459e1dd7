/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/topology_spec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void vp_spec_clear(vp_spec_t *spec)
{
    free(spec->switches);
    free(spec->nics);
    free(spec->links);
    free(spec->paths);
    free(spec->classes);
    free(spec->contention);
    *spec = (vp_spec_t){0};
}

void *vp_spec_array(const vp_json_t *json, size_t n, size_t size)
{
    void *array = vp_json_failed(json) ? NULL : vp_array_new(n, size);

    if (array == NULL) {
        vp_json_mistake(json, VP_ERR_NO_MEMORY,
                        "out of memory for this list; shorten it or give the process more memory");
    }
    return array;
}

static const char *read_name(const vp_json_t *json, const char *key)
{
    vp_json_t name = vp_json_get(json, key, true);

    return vp_json_text(&name, 1, VP_SPEC_NAME_BYTES, "");
}

static void read_format(const vp_json_t *root)
{
    vp_json_t format = vp_json_get(root, "format", true);
    vp_json_t version = vp_json_get(root, "version", true);
    const char *text = vp_json_text(&format, 1, VP_SPEC_NAME_BYTES, "");

    if (strcmp(text, "variopath-topology") != 0) {
        vp_json_mistake(&format, VP_ERR_BAD_INPUT,
                        "is \"%s\"; a topology file says \"variopath-topology\"", text);
    }
    (void)vp_json_integer(&version, 1, 1, 1);
}

static void read_head(const vp_json_t *root, uint32_t n_nodes, vp_spec_t *spec)
{
    vp_json_t about = vp_json_get(root, "about", false);
    vp_json_t nodes = vp_json_get(root, "nodes", false);
    vp_json_t alpha = vp_json_get(root, "alpha_ns", true);
    vp_json_t overhead = vp_json_get(root, "put_overhead_ns", false);
    vp_json_t pairs = vp_json_get(root, "nic_pairs", false);
    const char *pairing = vp_json_text(&pairs, 1, VP_SPEC_NAME_BYTES, "rail");

    spec->name = read_name(root, "name");
    (void)vp_json_text(&about, 0, 65536, "");
    spec->n_nodes = (uint32_t)vp_json_integer(&nodes, 1, VP_MAX_GROUPS, 1);
    if (n_nodes != 0) {
        spec->n_nodes = n_nodes;
    }
    spec->alpha_ns = vp_json_integer(&alpha, 0, VP_SPEC_MAX_NS, 0);
    spec->put_overhead_ns = vp_json_integer(&overhead, 0, VP_SPEC_MAX_NS, 0);
    spec->is_any_nic_pair = strcmp(pairing, "any") == 0;
    if (!spec->is_any_nic_pair && strcmp(pairing, "rail") != 0) {
        vp_json_mistake(&pairs, VP_ERR_BAD_INPUT, "is \"%s\"; write \"rail\" or \"any\"", pairing);
    }
}

/* Are the names at the start of each element, n_before elements of `size` bytes, all different? */
static void check_unique(const vp_json_t *json, const void *elements, size_t n_before, size_t size,
                         const char *name)
{
    size_t i;

    for (i = 0; i < n_before && !vp_json_failed(json); i++) {
        const char *other;

        memcpy(&other, (const char *)elements + i * size, sizeof(other));
        if (strcmp(other, name) == 0) {
            vp_json_mistake(json, VP_ERR_BAD_INPUT,
                            "has the name \"%s\" of element %zu; give each its own", name, i);
        }
    }
}

/* Resolves a text that names a switch. */
static uint32_t find_switch(const vp_json_t *json, const char *key, const vp_spec_t *spec)
{
    vp_json_t member = vp_json_get(json, key, true);
    const char *name = vp_json_text(&member, 1, VP_SPEC_NAME_BYTES, "");
    uint32_t i;

    for (i = 0; i < spec->n_switches; i++) {
        if (strcmp(spec->switches[i].name, name) == 0) {
            return i;
        }
    }
    vp_json_mistake(&member, VP_ERR_BAD_INPUT,
                    "names the switch \"%s\", which \"switches\" does not list; add it there or "
                    "correct the name",
                    name);
    return 0;
}

static void read_switches(const vp_json_t *root, vp_spec_t *spec)
{
    static const char *const keys[] = {"name", "gpus", NULL};
    vp_json_t list = vp_json_get(root, "switches", true);
    size_t n = vp_json_array(&list, 1, VP_MAX_GROUPS);
    size_t i;

    spec->switches = vp_spec_array(&list, n, sizeof(*spec->switches));
    for (i = 0; i < n && !vp_json_failed(root); i++) {
        vp_json_t item = vp_json_item(&list, i);
        vp_spec_switch_t *it = &spec->switches[i];
        vp_json_t gpus;

        if (!vp_json_object(&item, keys)) {
            return;
        }
        gpus = vp_json_get(&item, "gpus", true);
        it->name = read_name(&item, "name");
        it->n_gpus = (uint32_t)vp_json_integer(&gpus, 1, VP_MAX_RANKS, 1);
        check_unique(&item, spec->switches, i, sizeof(*it), it->name);
        spec->n_switches = (uint32_t)i + 1;
    }
}

static uint32_t count_rail(const vp_spec_t *spec, uint32_t n_before, uint32_t switch_idx)
{
    uint32_t rail = 0;
    uint32_t i;

    for (i = 0; i < n_before; i++) {
        rail += spec->nics[i].switch_idx == switch_idx;
    }
    return rail;
}

static void read_nics(const vp_json_t *root, const vp_spec_sets_t *sets)
{
    static const char *const keys[] = {"name", "switch", "rate", "class", NULL};
    vp_spec_t *spec = sets->spec;
    vp_json_t list = vp_json_get(root, "nics", false);
    size_t n = vp_json_array(&list, 0, VP_SPEC_MAX_NICS);
    size_t i;

    spec->nics = vp_spec_array(&list, n, sizeof(*spec->nics));
    for (i = 0; i < n && !vp_json_failed(root); i++) {
        vp_json_t item = vp_json_item(&list, i);
        vp_spec_nic_t *it = &spec->nics[i];

        if (!vp_json_object(&item, keys)) {
            return;
        }
        it->name = read_name(&item, "name");
        it->switch_idx = find_switch(&item, "switch", spec);
        it->rail = count_rail(spec, (uint32_t)i, it->switch_idx);
        it->rate = vp_spec_find_rate(&item, "rate", sets);
        it->path_class = vp_spec_find_class(&item, sets);
        check_unique(&item, spec->nics, i, sizeof(*it), it->name);
        spec->n_nics = (uint32_t)i + 1;
    }
}

static vp_resource_kind_t read_link_kind(const vp_json_t *json)
{
    vp_json_t member = vp_json_get(json, "kind", true);
    const char *text = vp_json_text(&member, 1, VP_SPEC_NAME_BYTES, "");
    vp_resource_kind_t kind = VP_RESOURCE_INTER_SWITCH;

    if (!vp_resource_kind_parse(text, &kind) || kind == VP_RESOURCE_NIC_TX ||
        kind == VP_RESOURCE_NIC_RX) {
        vp_json_mistake(&member, VP_ERR_BAD_INPUT,
                        "is \"%s\"; write \"inter-switch\", \"uplink\", \"downlink\" or "
                        "\"socket\" (NICs are listed under \"nics\")",
                        text);
    }
    return kind;
}

static void read_links(const vp_json_t *root, const vp_spec_sets_t *sets)
{
    static const char *const keys[] = {"name", "kind", "rate", NULL};
    vp_spec_t *spec = sets->spec;
    vp_json_t list = vp_json_get(root, "links", false);
    size_t n = vp_json_array(&list, 0, VP_SPEC_MAX_LINKS);
    size_t i;

    spec->links = vp_spec_array(&list, n, sizeof(*spec->links));
    for (i = 0; i < n && !vp_json_failed(root); i++) {
        vp_json_t item = vp_json_item(&list, i);
        vp_spec_link_t *it = &spec->links[i];

        if (!vp_json_object(&item, keys)) {
            return;
        }
        it->name = read_name(&item, "name");
        it->kind = read_link_kind(&item);
        it->rate = vp_spec_find_rate(&item, "rate", sets);
        check_unique(&item, spec->links, i, sizeof(*it), it->name);
        spec->n_links = (uint32_t)i + 1;
    }
}

static vp_path_kind_t read_path_kind(const vp_json_t *json)
{
    vp_json_t member = vp_json_get(json, "kind", true);
    const char *text = vp_json_text(&member, 1, VP_SPEC_NAME_BYTES, "");
    vp_path_kind_t kind = VP_PATH_PIX;

    if (!vp_path_kind_parse(text, &kind) || kind == VP_PATH_NIC) {
        vp_json_mistake(&member, VP_ERR_BAD_INPUT,
                        "is \"%s\"; write PIX, PXB, PHB, NODE, SYS or HOST (NIC paths follow from "
                        "\"nics\")",
                        text);
    }
    return kind;
}

/* Puts a link into the ascending list of the path. */
static void add_link(const vp_json_t *json, vp_spec_path_t *path, const vp_spec_t *spec)
{
    const char *name = vp_json_text(json, 1, VP_SPEC_NAME_BYTES, "");
    uint32_t link;
    uint32_t at = path->n_links;

    for (link = 0; link < spec->n_links && strcmp(spec->links[link].name, name) != 0; link++) {
    }
    if (link == spec->n_links) {
        vp_json_mistake(json, VP_ERR_BAD_INPUT,
                        "names the link \"%s\", which \"links\" does not list; add it there or "
                        "correct the name",
                        name);
        return;
    }
    for (; at > 0 && path->links[at - 1] > link; at--) {
        path->links[at] = path->links[at - 1];
    }
    if (at > 0 && path->links[at - 1] == link) {
        vp_json_mistake(json, VP_ERR_BAD_INPUT, "lists the link \"%s\" twice; remove one", name);
    }
    path->links[at] = link;
    path->n_links++;
}

static void read_path_links(const vp_json_t *json, vp_spec_path_t *path, const vp_spec_t *spec)
{
    vp_json_t list = vp_json_get(json, "links", false);
    size_t n = vp_json_array(&list, 0, VP_MAX_FOOTPRINT);
    size_t i;

    for (i = 0; i < n && !vp_json_failed(json); i++) {
        vp_json_t item = vp_json_item(&list, i);

        add_link(&item, path, spec);
    }
}

static void check_path(const vp_json_t *json, const vp_spec_t *spec, const vp_spec_path_t *path)
{
    uint32_t i;

    if (path->kind == VP_PATH_PIX && path->from != path->to) {
        vp_json_mistake(json, VP_ERR_BAD_INPUT,
                        "is a PIX path between two switches; PIX stays inside one, write PXB");
    }
    for (i = 0; i < spec->n_paths && !vp_json_failed(json); i++) {
        const vp_spec_path_t *other = &spec->paths[i];

        if (other->kind == path->kind && other->from == path->from && other->to == path->to &&
            other->path_class == path->path_class && other->n_links == path->n_links &&
            memcmp(other->links, path->links, path->n_links * sizeof(path->links[0])) == 0) {
            vp_json_mistake(json, VP_ERR_BAD_INPUT,
                            "is the same path as element %" PRIu32 "; remove one", i);
        }
    }
}

static void read_paths(const vp_json_t *root, const vp_spec_sets_t *sets)
{
    static const char *const keys[] = {"kind", "from", "to", "rate", "links", "class", NULL};
    vp_spec_t *spec = sets->spec;
    vp_json_t list = vp_json_get(root, "paths", true);
    size_t n = vp_json_array(&list, 0, VP_SPEC_MAX_PATHS);
    size_t i;

    spec->paths = vp_spec_array(&list, n, sizeof(*spec->paths));
    for (i = 0; i < n && !vp_json_failed(root); i++) {
        vp_json_t item = vp_json_item(&list, i);
        vp_spec_path_t *it = &spec->paths[i];

        if (!vp_json_object(&item, keys)) {
            return;
        }
        it->kind = read_path_kind(&item);
        it->from = find_switch(&item, "from", spec);
        it->to = find_switch(&item, "to", spec);
        it->rate = vp_spec_find_rate(&item, "rate", sets);
        it->path_class = vp_spec_find_class(&item, sets);
        read_path_links(&item, it, spec);
        check_path(&item, spec, it);
        spec->n_paths = (uint32_t)i + 1;
    }
}

/* Ranks, groups and path instances of all nodes within their limits; every switch reachable. */
static void check_size(const vp_json_t *root, const vp_spec_t *spec)
{
    uint64_t n_gpus = 0;
    uint64_t n_instances = (uint64_t)spec->n_nics * spec->n_nics;
    uint32_t i;

    n_instances = n_instances * spec->n_nodes * spec->n_nodes;
    n_instances += (uint64_t)spec->n_paths * spec->n_nodes;
    for (i = 0; i < spec->n_switches; i++) {
        n_gpus += spec->switches[i].n_gpus;
        if (spec->n_nodes > 1 && count_rail(spec, spec->n_nics, i) == 0) {
            vp_json_mistake(root, VP_ERR_BAD_INPUT,
                            "switch \"%s\" has no NIC, so its GPUs cannot reach another node; add "
                            "one to \"nics\" or use one node",
                            spec->switches[i].name);
        }
    }
    if (n_gpus * spec->n_nodes > VP_MAX_RANKS ||
        (uint64_t)spec->n_switches * spec->n_nodes > VP_MAX_GROUPS ||
        n_instances > VP_SPEC_MAX_INSTANCES) {
        vp_json_mistake(
            root, VP_ERR_LIMIT,
            "%" PRIu32 " nodes make %" PRIu64 " GPUs, %" PRIu64 " rank groups and up to %" PRIu64
            " path instances; the limits are %d, %d and %d, use fewer nodes",
            spec->n_nodes, n_gpus * spec->n_nodes, (uint64_t)spec->n_switches * spec->n_nodes,
            n_instances, VP_MAX_RANKS, VP_MAX_GROUPS, VP_SPEC_MAX_INSTANCES);
    }
}

vp_status_t vp_spec_read(vp_json_document_t *document, const vp_spec_choice_t *choice,
                         vp_spec_t *spec)
{
    static const char *const keys[] = {
        "format",          "version",   "name",       "about",      "nodes", "alpha_ns",
        "put_overhead_ns", "rates",     "gpu_link",   "switches",   "nics",  "links",
        "paths",           "nic_pairs", "transports", "contention", NULL};
    vp_json_t root = vp_json_root(document);
    vp_spec_sets_t sets = {.spec = spec};

    if (!vp_json_object(&root, keys)) {
        return document->status;
    }
    read_format(&root);
    read_head(&root, choice->n_nodes, spec);
    vp_spec_read_sets(&root, choice, &sets);
    spec->gpu_link = vp_spec_find_rate(&root, "gpu_link", &sets);
    read_switches(&root, spec);
    read_links(&root, &sets);
    read_paths(&root, &sets);
    read_nics(&root, &sets);
    vp_spec_read_contention(&root, spec);
    check_size(&root, spec);
    return document->status;
}
