/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/topology_spec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void vp_spec_clear(vp_spec_t *spec)
{
    free(spec->switches);
    free(spec->gpus);
    free(spec->rank_pci);
    free(spec->nics);
    free(spec->ports);
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

const char *vp_spec_read_name(const vp_json_t *json, const char *key)
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
    vp_json_t peer_to_peer = vp_json_get(root, "peer_to_peer", false);
    vp_json_t gpu_direct = vp_json_get(root, "gpu_direct", false);
    const char *pairing = vp_json_text(&pairs, 1, VP_SPEC_NAME_BYTES, "rail");

    spec->name = vp_spec_read_name(root, "name");
    (void)vp_json_text(&about, 0, 65536, "");
    spec->n_nodes = (uint32_t)vp_json_integer(&nodes, 1, VP_MAX_GROUPS, 1);
    if (n_nodes != 0) {
        spec->n_nodes = n_nodes;
    }
    spec->alpha_ns = vp_json_integer(&alpha, 0, VP_SPEC_MAX_NS, 0);
    spec->put_overhead_ns = vp_json_integer(&overhead, 0, VP_SPEC_MAX_NS, 0);
    spec->is_peer_to_peer = vp_json_flag(&peer_to_peer, true);
    spec->is_gpu_direct = vp_json_flag(&gpu_direct, true);
    spec->is_any_nic_pair = strcmp(pairing, "any") == 0;
    if (!spec->is_any_nic_pair && strcmp(pairing, "rail") != 0) {
        vp_json_mistake(&pairs, VP_ERR_BAD_INPUT, "is \"%s\"; write \"rail\" or \"any\"", pairing);
    }
}

void vp_spec_check_unique(const vp_json_t *json, const void *elements, size_t n_before, size_t size,
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

uint32_t vp_spec_find_switch(const vp_json_t *json, const char *key, const vp_spec_t *spec)
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
            other->path_class == path->path_class && other->links.n == path->links.n &&
            memcmp(other->links.links, path->links.links,
                   path->links.n * sizeof(path->links.links[0])) == 0) {
            vp_json_mistake(json, VP_ERR_BAD_INPUT,
                            "is the same path as element %" PRIu32 "; remove one", i);
        }
    }
}

static void read_paths(const vp_json_t *root, const vp_spec_sets_t *sets)
{
    static const char *const keys[] = {"kind",  "from",  "to",           "rate",
                                       "links", "class", "peer_to_peer", NULL};
    vp_spec_t *spec = sets->spec;
    vp_json_t list = vp_json_get(root, "paths", true);
    size_t n = vp_json_array(&list, 0, VP_SPEC_MAX_PATHS);
    size_t i;

    spec->paths = vp_spec_array(&list, 2 * n, sizeof(*spec->paths)); /* each may be staged, too */
    for (i = 0; i < n && !vp_json_failed(root); i++) {
        vp_json_t item = vp_json_item(&list, i);
        vp_spec_path_t *it = &spec->paths[i];
        vp_json_t direct;

        if (!vp_json_object(&item, keys)) {
            return;
        }
        it->kind = read_path_kind(&item);
        it->from = vp_spec_find_switch(&item, "from", spec);
        it->to = vp_spec_find_switch(&item, "to", spec);
        it->bytes_per_s = vp_spec_find_rate(&item, "rate", sets).bytes_per_s;
        it->path_class = vp_spec_find_class(&item, sets);
        (void)vp_spec_read_link_set(&item, "links", spec, &it->links);
        direct = vp_json_get(&item, "peer_to_peer", false);
        it->is_direct = vp_json_flag(&direct, spec->is_peer_to_peer) || it->kind == VP_PATH_HOST;
        check_path(&item, spec, it);
        spec->n_paths = (uint32_t)i + 1;
    }
}

vp_status_t vp_spec_read(vp_json_document_t *document, const vp_spec_choice_t *choice,
                         vp_spec_t *spec)
{
    static const char *const keys[] = {
        "format",   "version",         "name",         "about",      "nodes",
        "alpha_ns", "rates",           "gpu_link",     "switches",   "nics",
        "links",    "put_overhead_ns", "paths",        "nic_pairs",  "transports",
        "host",     "contention",      "peer_to_peer", "gpu_direct", NULL};
    vp_json_t root = vp_json_root(document);
    vp_spec_sets_t sets = {.spec = spec};

    if (!vp_json_object(&root, keys)) {
        return document->status;
    }
    read_format(&root);
    read_head(&root, choice->n_nodes, spec);
    vp_spec_read_sets(&root, choice, &sets);
    spec->gpu_link = vp_spec_find_rate(&root, "gpu_link", &sets);
    vp_spec_read_links(&root, &sets);
    vp_spec_read_switches(&root, spec);
    read_paths(&root, &sets);
    vp_spec_read_nics(&root, &sets);
    if (choice->is_all_nics) {
        vp_spec_serve_all(&root, spec);
    }
    vp_spec_read_contention(&root, spec);
    vp_spec_read_host(&root, &sets);
    vp_spec_stage(&root, spec);
    vp_spec_populate(&root, choice, spec);
    vp_spec_check_size(&root, spec);
    return document->status;
}
