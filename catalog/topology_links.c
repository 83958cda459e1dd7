/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/topology_spec.h"

#include <string.h>

static vp_resource_kind_t read_kind(const vp_json_t *json)
{
    vp_json_t member = vp_json_get(json, "kind", true);
    const char *text = vp_json_text(&member, 1, VP_SPEC_NAME_BYTES, "");
    vp_resource_kind_t kind = VP_RESOURCE_INTER_SWITCH;

    if (!vp_resource_kind_parse(text, &kind) || kind == VP_RESOURCE_NIC_TX ||
        kind == VP_RESOURCE_NIC_RX) {
        vp_json_mistake(&member, VP_ERR_BAD_INPUT,
                        "is \"%s\"; write \"inter-switch\", \"uplink\", \"downlink\", \"socket\" "
                        "or \"host-memory\" (NICs are listed under \"nics\")",
                        text);
    }
    return kind;
}

void vp_spec_read_links(const vp_json_t *root, const vp_spec_sets_t *sets)
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
        it->name = vp_spec_read_name(&item, "name");
        it->kind = read_kind(&item);
        it->rate = vp_spec_find_rate(&item, "rate", sets);
        vp_spec_check_unique(&item, spec->links, i, sizeof(*it), it->name);
        spec->n_links = (uint32_t)i + 1;
    }
}

typedef enum insertion { INSERTED, WAS_THERE, NO_ROOM } insertion_t;

/* Puts a link into the ascending set. */
static insertion_t insert(vp_spec_links_t *set, uint32_t link)
{
    uint32_t begin = 0;
    uint32_t at;

    while (begin < set->n && set->links[begin] < link) {
        begin++;
    }
    if (begin < set->n && set->links[begin] == link) {
        return WAS_THERE;
    }
    if (set->n == VP_MAX_FOOTPRINT) {
        return NO_ROOM;
    }
    for (at = set->n++; at > begin; at--) {
        set->links[at] = set->links[at - 1];
    }
    set->links[begin] = link;
    return INSERTED;
}

static void add_name(const vp_json_t *json, vp_spec_links_t *set, const vp_spec_t *spec)
{
    const char *name = vp_json_text(json, 1, VP_SPEC_NAME_BYTES, "");
    uint32_t link;

    for (link = 0; link < spec->n_links && strcmp(spec->links[link].name, name) != 0; link++) {
    }
    if (link == spec->n_links) {
        vp_json_mistake(json, VP_ERR_BAD_INPUT,
                        "names the link \"%s\", which \"links\" does not list; add it there or "
                        "correct the name",
                        name);
        return;
    }
    if (insert(set, link) == WAS_THERE) {
        vp_json_mistake(json, VP_ERR_BAD_INPUT, "lists the link \"%s\" twice; remove one", name);
    }
}

bool vp_spec_read_link_set(const vp_json_t *json, const char *key, const vp_spec_t *spec,
                           vp_spec_links_t *set)
{
    vp_json_t list = vp_json_get(json, key, false);
    size_t n = vp_json_array(&list, 0, VP_MAX_FOOTPRINT);
    size_t i;

    *set = (vp_spec_links_t){0};
    for (i = 0; i < n && !vp_json_failed(json); i++) {
        vp_json_t item = vp_json_item(&list, i);

        add_name(&item, set, spec);
    }
    return list.value != NULL;
}

bool vp_spec_links_add(const vp_spec_t *spec, vp_spec_links_t *set, const vp_spec_links_t *other,
                       vp_resource_kind_t kind)
{
    uint32_t i;

    for (i = 0; i < other->n; i++) {
        if ((kind == VP_N_RESOURCE_KINDS || spec->links[other->links[i]].kind == kind) &&
            insert(set, other->links[i]) == NO_ROOM) {
            return false;
        }
    }
    return true;
}

uint64_t vp_spec_links_rate(const vp_spec_t *spec, const vp_spec_links_t *set, uint64_t rate)
{
    uint32_t i;

    for (i = 0; i < set->n; i++) {
        uint64_t other = spec->links[set->links[i]].rate.bytes_per_s;

        rate = other < rate ? other : rate;
    }
    return rate;
}
