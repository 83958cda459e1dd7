/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/topology_spec.h"

static uint32_t count_rail(const vp_spec_t *spec, uint32_t n_before, uint32_t switch_idx)
{
    uint32_t rail = 0;
    uint32_t i;

    for (i = 0; i < n_before; i++) {
        rail += spec->nics[i].switch_idx == switch_idx;
    }
    return rail;
}

static void add_port(const vp_json_t *json, vp_spec_t *spec, vp_spec_port_t port)
{
    uint64_t rate = spec->nics[port.nic].rate.bytes_per_s;
    uint32_t i;

    for (i = 0; i < spec->n_ports; i++) {
        if (spec->ports[i].nic == port.nic && spec->ports[i].switch_idx == port.switch_idx) {
            vp_json_mistake(json, VP_ERR_BAD_INPUT, "serves the switch \"%s\" twice; remove one",
                            spec->switches[port.switch_idx].name);
        }
    }
    if (spec->n_ports == VP_SPEC_MAX_PORTS) {
        vp_json_mistake(json, VP_ERR_LIMIT,
                        "is way number %d from a switch through a NIC; list fewer",
                        VP_SPEC_MAX_PORTS + 1);
    }
    if (vp_json_failed(json)) {
        return;
    }
    port.out_bytes_per_s = vp_spec_links_rate(spec, &port.out, rate);
    port.in_bytes_per_s = vp_spec_links_rate(spec, &port.in, rate);
    spec->ports[spec->n_ports++] = port;
}

/* The switches that a NIC serves: its own, and those under "serves". */
static void read_serves(const vp_json_t *json, vp_spec_t *spec, uint32_t nic)
{
    static const char *const keys[] = {"switch", "out", "in", NULL};
    vp_json_t list = vp_json_get(json, "serves", false);
    size_t n = vp_json_array(&list, 0, VP_MAX_GROUPS);
    bool has_own = false;
    size_t i;

    for (i = 0; i < n && !vp_json_failed(json); i++) {
        vp_json_t item = vp_json_item(&list, i);
        vp_spec_port_t port = {.nic = nic};

        if (!vp_json_object(&item, keys)) {
            return;
        }
        port.switch_idx = vp_spec_find_switch(&item, "switch", spec);
        (void)vp_spec_read_link_set(&item, "out", spec, &port.out);
        (void)vp_spec_read_link_set(&item, "in", spec, &port.in);
        has_own = has_own || port.switch_idx == spec->nics[nic].switch_idx;
        add_port(&item, spec, port);
    }
    if (!has_own) {
        add_port(json, spec,
                 (vp_spec_port_t){.nic = nic, .switch_idx = spec->nics[nic].switch_idx});
    }
}

static void read_nic(const vp_json_t *json, const vp_spec_sets_t *sets, uint32_t nic)
{
    vp_spec_t *spec = sets->spec;
    vp_spec_nic_t *it = &spec->nics[nic];
    vp_json_t direct = vp_json_get(json, "gpu_direct", false);

    it->name = vp_spec_read_name(json, "name");
    it->switch_idx = vp_spec_find_switch(json, "switch", spec);
    it->rail = count_rail(spec, nic, it->switch_idx);
    it->rate = vp_spec_find_rate(json, "rate", sets);
    it->path_class = vp_spec_find_class(json, sets);
    it->pci = vp_spec_read_pci(json);
    it->is_direct = vp_json_flag(&direct, spec->is_gpu_direct);
    if (!vp_spec_read_link_set(json, "to_host", spec, &it->to_host)) {
        it->to_host = spec->switches[it->switch_idx].to_host;
    }
    if (!vp_spec_read_link_set(json, "from_host", spec, &it->from_host)) {
        it->from_host = spec->switches[it->switch_idx].from_host;
    }
}

void vp_spec_read_nics(const vp_json_t *root, const vp_spec_sets_t *sets)
{
    static const char *const keys[] = {"name",   "switch",  "rate",      "class", "gpu_direct",
                                       "serves", "to_host", "from_host", "pci",   NULL};
    vp_spec_t *spec = sets->spec;
    vp_json_t list = vp_json_get(root, "nics", false);
    size_t n = vp_json_array(&list, 0, VP_SPEC_MAX_NICS);
    size_t i;

    spec->nics = vp_spec_array(&list, n, sizeof(*spec->nics));
    spec->ports = vp_spec_array(&list, 2 * (size_t)VP_SPEC_MAX_PORTS, sizeof(*spec->ports));
    for (i = 0; i < n && !vp_json_failed(root); i++) {
        vp_json_t item = vp_json_item(&list, i);

        if (!vp_json_object(&item, keys)) {
            return;
        }
        read_nic(&item, sets, (uint32_t)i);
        vp_spec_check_unique(&item, spec->nics, i, sizeof(*spec->nics), spec->nics[i].name);
        spec->n_nics = (uint32_t)i + 1;
        read_serves(&item, spec, (uint32_t)i);
    }
}

/* The listed path that lanes between two switches take first; NULL: none. */
static const vp_spec_path_t *nearest_path(const vp_spec_t *spec, uint32_t from, uint32_t to)
{
    const vp_spec_path_t *best = NULL;
    uint32_t i;

    for (i = 0; i < spec->n_paths; i++) {
        const vp_spec_path_t *path = &spec->paths[i];

        if (path->from == from && path->to == to && path->kind <= VP_PATH_SYS &&
            (best == NULL || path->kind < best->kind ||
             (path->kind == best->kind && path->bytes_per_s > best->bytes_per_s))) {
            best = path;
        }
    }
    return best;
}

static bool is_served(const vp_spec_t *spec, uint32_t nic, uint32_t switch_idx)
{
    uint32_t i;

    for (i = 0; i < spec->n_ports; i++) {
        if (spec->ports[i].nic == nic && spec->ports[i].switch_idx == switch_idx) {
            return true;
        }
    }
    return false;
}

/* A far NIC lies behind the links that lanes to and from the GPUs beside it use. */
void vp_spec_serve_all(const vp_json_t *root, vp_spec_t *spec)
{
    uint32_t nic;
    uint32_t switch_idx;

    for (nic = 0; nic < spec->n_nics; nic++) {
        uint32_t home = spec->nics[nic].switch_idx;

        for (switch_idx = 0; switch_idx < spec->n_switches && !vp_json_failed(root); switch_idx++) {
            const vp_spec_path_t *out = nearest_path(spec, switch_idx, home);
            const vp_spec_path_t *in = nearest_path(spec, home, switch_idx);

            if (out != NULL && in != NULL && !is_served(spec, nic, switch_idx)) {
                add_port(root, spec,
                         (vp_spec_port_t){.nic = nic,
                                          .switch_idx = switch_idx,
                                          .is_far = true,
                                          .out = out->links,
                                          .in = in->links});
            }
        }
    }
}
