/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/topology_spec.h"

#include <inttypes.h>
#include <string.h>

void vp_spec_read_host(const vp_json_t *root, const vp_spec_sets_t *sets)
{
    static const char *const keys[] = {"rate", "class", "alternatives", NULL};
    vp_spec_host_t *host = &sets->spec->host;
    vp_json_t json = vp_json_get(root, "host", false);
    vp_json_t alternatives;

    if (json.value == NULL || !vp_json_object(&json, keys)) {
        return;
    }
    alternatives = vp_json_get(&json, "alternatives", false);
    host->is_given = true;
    host->bytes_per_s = vp_spec_find_rate(&json, "rate", sets).bytes_per_s;
    host->path_class = vp_spec_find_class(&json, sets);
    host->is_alternative = vp_json_flag(&alternatives, false);
}

/* Can bytes from and to this switch be staged at all? */
static void require_host(const vp_json_t *root, const vp_spec_t *spec, uint32_t switch_idx)
{
    if (!spec->host.is_given) {
        vp_json_mistake(root, VP_ERR_BAD_INPUT,
                        "peer-to-peer or GPUDirect is refused here, but the key \"host\" is "
                        "missing; add it with \"rate\" and \"class\" of staged bytes");
    }
    if (!spec->switches[switch_idx].has_host) {
        vp_json_mistake(root, VP_ERR_BAD_INPUT,
                        "bytes of switch \"%s\" are staged through host memory, but its "
                        "\"to_host\" and \"from_host\" are missing; add the links that such bytes "
                        "use, or [] for none",
                        spec->switches[switch_idx].name);
    }
}

static void too_long(const vp_json_t *root, const char *from, const char *to)
{
    vp_json_mistake(root, VP_ERR_LIMIT,
                    "a staged path from \"%s\" to \"%s\" uses more than %d shared resources; list "
                    "fewer links under \"to_host\" and \"from_host\"",
                    from, to, VP_MAX_FOOTPRINT);
}

/*
 * The way of a path through host memory: up from its source, down to its
 * destination, and between the sockets where the path itself goes there.
 */
static vp_spec_path_t stage_path(const vp_json_t *root, const vp_spec_t *spec,
                                 const vp_spec_path_t *path)
{
    const vp_spec_switch_t *from = &spec->switches[path->from];
    const vp_spec_switch_t *to = &spec->switches[path->to];
    vp_spec_path_t staged = {.kind = VP_PATH_HOST,
                             .from = path->from,
                             .to = path->to,
                             .path_class = spec->host.path_class,
                             .links = from->to_host,
                             .is_direct = true};

    require_host(root, spec, path->from);
    require_host(root, spec, path->to);
    if (!vp_spec_links_add(spec, &staged.links, &path->links, VP_RESOURCE_SOCKET) ||
        !vp_spec_links_add(spec, &staged.links, &to->from_host, VP_N_RESOURCE_KINDS)) {
        too_long(root, from->name, to->name);
    }
    staged.bytes_per_s = vp_spec_links_rate(spec, &staged.links, spec->host.bytes_per_s);
    return staged;
}

/* Two paths between the same switches may have one way through host memory. */
static bool has_path(const vp_spec_t *spec, const vp_spec_path_t *path)
{
    uint32_t i;

    for (i = 0; i < spec->n_paths; i++) {
        const vp_spec_path_t *it = &spec->paths[i];

        if (it->is_direct && it->kind == path->kind && it->from == path->from &&
            it->to == path->to && it->path_class == path->path_class &&
            it->links.n == path->links.n &&
            memcmp(it->links.links, path->links.links,
                   path->links.n * sizeof(path->links.links[0])) == 0) {
            return true;
        }
    }
    return false;
}

static void stage_paths(const vp_json_t *root, vp_spec_t *spec)
{
    uint32_t n_listed = spec->n_paths;
    uint32_t n_kept = 0;
    uint32_t i;

    for (i = 0; i < n_listed && !vp_json_failed(root); i++) {
        const vp_spec_path_t *path = &spec->paths[i];
        vp_spec_path_t staged;

        if (path->kind == VP_PATH_HOST || (path->is_direct && !spec->host.is_alternative)) {
            continue;
        }
        staged = stage_path(root, spec, path);
        if (!has_path(spec, &staged)) {
            spec->paths[spec->n_paths++] = staged;
        }
    }
    for (i = 0; i < spec->n_paths; i++) {
        if (spec->paths[i].is_direct) {
            spec->paths[n_kept++] = spec->paths[i];
        }
    }
    spec->n_paths = n_kept;
}

/*
 * A port whose GPUs write to host memory, from where the NIC reads, and the
 * converse: a NIC behind the switch loads its uplink twice.
 */
static vp_spec_port_t stage_port(const vp_json_t *root, const vp_spec_t *spec,
                                 const vp_spec_port_t *port)
{
    const vp_spec_nic_t *nic = &spec->nics[port->nic];
    const vp_spec_switch_t *at = &spec->switches[port->switch_idx];
    uint64_t rate = nic->rate.bytes_per_s < spec->host.bytes_per_s ? nic->rate.bytes_per_s
                                                                   : spec->host.bytes_per_s;
    vp_spec_port_t staged = {.nic = port->nic,
                             .switch_idx = port->switch_idx,
                             .is_staged = true,
                             .is_far = port->is_far,
                             .out = at->to_host,
                             .in = nic->to_host};

    require_host(root, spec, port->switch_idx);
    if (!vp_spec_links_add(spec, &staged.out, &port->out, VP_RESOURCE_SOCKET) ||
        !vp_spec_links_add(spec, &staged.out, &nic->from_host, VP_N_RESOURCE_KINDS)) {
        too_long(root, at->name, nic->name);
    }
    if (!vp_spec_links_add(spec, &staged.in, &port->in, VP_RESOURCE_SOCKET) ||
        !vp_spec_links_add(spec, &staged.in, &at->from_host, VP_N_RESOURCE_KINDS)) {
        too_long(root, nic->name, at->name);
    }
    staged.out_bytes_per_s = vp_spec_links_rate(spec, &staged.out, rate);
    staged.in_bytes_per_s = vp_spec_links_rate(spec, &staged.in, rate);
    return staged;
}

static void stage_ports(const vp_json_t *root, vp_spec_t *spec)
{
    uint32_t n_listed = spec->n_ports;
    uint32_t i;

    for (i = 0; i < n_listed && !vp_json_failed(root); i++) {
        if (!spec->nics[spec->ports[i].nic].is_direct) {
            spec->ports[i] = stage_port(root, spec, &spec->ports[i]);
        } else if (spec->host.is_alternative) {
            spec->ports[spec->n_ports++] = stage_port(root, spec, &spec->ports[i]);
        }
    }
}

void vp_spec_stage(const vp_json_t *root, vp_spec_t *spec)
{
    stage_paths(root, spec);
    stage_ports(root, spec);
}
