/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/machine.h"

#include <inttypes.h>
#include <string.h>

static void append(vp_path_t *path, uint32_t link)
{
    path->links[path->n_links++] = link;
}

static void append_footprint(const vp_machine_t *machine, vp_path_t *path,
                             const vp_instance_t *instance)
{
    uint32_t i;

    for (i = 0; i < instance->n_resources; i++) {
        append(path, vp_link_resource(machine, instance->resources[i]));
    }
}

static vp_status_t no_path(const vp_machine_t *machine, uint32_t source, uint32_t destination,
                           const char *what, vp_error_t *error)
{
    return vp_error_set(error, VP_ERR_BAD_INPUT,
                        "rank %" PRIu32 " has no %s to rank %" PRIu32 " in topology \"%s\"; the "
                        "algorithm cannot run there: add the path to the topology file or leave "
                        "the algorithm out",
                        source, what, destination, machine->model->name);
}

void vp_path_over(const vp_machine_t *machine, uint32_t source, uint32_t destination,
                  uint32_t instance_idx, vp_path_t *path_p)
{
    const vp_instance_t *instance = &machine->model->instances[instance_idx];

    path_p->kind = instance->kind;
    path_p->bytes_per_s = instance->bytes_per_s;
    path_p->n_links = 0;
    append(path_p, vp_link_out(machine, source));
    append_footprint(machine, path_p, instance);
    append(path_p, vp_link_in(machine, destination));
}

/* The nearest PCIe instance of a group pair, UINT32_MAX: none. */
static uint32_t nearest_instance(const vp_model_t *model, uint32_t from, uint32_t to,
                                 vp_path_kind_t max_kind)
{
    uint32_t best = UINT32_MAX;
    uint32_t i;

    for (i = model->pair_begin[vp_pair(model, from, to)];
         i < model->pair_begin[vp_pair(model, from, to) + 1]; i++) {
        const vp_instance_t *instance = &model->instances[i];
        const vp_instance_t *other = best == UINT32_MAX ? NULL : &model->instances[best];

        if (instance->kind <= max_kind &&
            (other == NULL || instance->kind < other->kind ||
             (instance->kind == other->kind && instance->bytes_per_s > other->bytes_per_s))) {
            best = i;
        }
    }
    return best;
}

vp_status_t vp_path_nearest(const vp_machine_t *machine, uint32_t source, uint32_t destination,
                            vp_path_t *path_p, vp_error_t *error)
{
    const vp_model_t *model = machine->model;
    uint32_t from = model->rank_group[source];
    uint32_t to = model->rank_group[destination];
    uint32_t instance = nearest_instance(model, from, to, VP_PATH_SYS);

    if (instance == UINT32_MAX) {
        return vp_path_nic(machine, source, destination, source - model->groups[from].first_rank,
                           path_p, error);
    }
    vp_path_over(machine, source, destination, instance, path_p);
    return VP_OK;
}

/* When a group has no NIC of its own, the model may still name a NIC path. */
static vp_status_t nic_instance(const vp_machine_t *machine, uint32_t source, uint32_t destination,
                                uint32_t rail, vp_path_t *path_p, vp_error_t *error)
{
    const vp_model_t *model = machine->model;
    size_t pair = vp_pair(model, model->rank_group[source], model->rank_group[destination]);
    uint32_t n = 0;
    uint32_t i;

    for (i = model->pair_begin[pair]; i < model->pair_begin[pair + 1]; i++) {
        n += model->instances[i].kind == VP_PATH_NIC;
    }
    if (n == 0) {
        return no_path(machine, source, destination, "path over NICs", error);
    }
    rail %= n;
    for (i = model->pair_begin[pair]; i < model->pair_begin[pair + 1]; i++) {
        if (model->instances[i].kind == VP_PATH_NIC && rail-- == 0) {
            break;
        }
    }
    vp_path_over(machine, source, destination, i, path_p);
    return VP_OK;
}

vp_status_t vp_path_nic(const vp_machine_t *machine, uint32_t source, uint32_t destination,
                        uint32_t rail, vp_path_t *path_p, vp_error_t *error)
{
    const vp_model_t *model = machine->model;
    uint32_t from = model->rank_group[source];
    uint32_t to = model->rank_group[destination];
    const uint32_t *nics = machine->group_nics;
    uint32_t n_from = vp_group_n_nics(machine, from);
    uint32_t n_to = vp_group_n_nics(machine, to);

    if (n_from == 0 || n_to == 0) {
        return nic_instance(machine, source, destination, rail, path_p, error);
    }
    return vp_path_between_nics(machine, source, destination,
                                nics[machine->nic_begin[from] + rail % n_from],
                                nics[machine->nic_begin[to] + rail % n_to], path_p, error);
}

/* PCIe links between a rank's switch and a NIC's, in the direction asked for. */
static bool append_to_nic(const vp_machine_t *machine, vp_path_t *path, uint32_t from, uint32_t to)
{
    uint32_t instance;

    if (from == to) {
        return true;
    }
    instance = nearest_instance(machine->model, from, to, VP_PATH_SYS);
    if (instance == UINT32_MAX) {
        return false;
    }
    append_footprint(machine, path, &machine->model->instances[instance]);
    return true;
}

vp_status_t vp_path_between_nics(const vp_machine_t *machine, uint32_t source, uint32_t destination,
                                 uint32_t source_nic, uint32_t destination_nic, vp_path_t *path_p,
                                 vp_error_t *error)
{
    const vp_model_t *model = machine->model;
    const vp_nic_t *out = &model->nics[source_nic];
    const vp_nic_t *in = &model->nics[destination_nic];
    bool ok;

    path_p->kind = VP_PATH_NIC;
    path_p->bytes_per_s = 0;
    path_p->n_links = 0;
    append(path_p, vp_link_out(machine, source));
    ok = append_to_nic(machine, path_p, model->rank_group[source], out->group);
    append(path_p, vp_link_resource(machine, out->tx_resource));
    append(path_p, vp_link_resource(machine, in->rx_resource));
    ok = ok && append_to_nic(machine, path_p, in->group, model->rank_group[destination]);
    append(path_p, vp_link_in(machine, destination));
    return ok ? VP_OK : no_path(machine, source, destination, "path over these NICs", error);
}

/* Inside a node: up into host memory, down again; the model's own way where it names one. */
static void host_inside(const vp_machine_t *machine, uint32_t source, uint32_t destination,
                        vp_path_t *path_p)
{
    const vp_model_t *model = machine->model;
    uint32_t from = model->rank_group[source];
    uint32_t to = model->rank_group[destination];
    uint32_t instance = nearest_instance(model, from, to, VP_PATH_SYS);

    append(path_p, vp_link_out(machine, source));
    if (instance != UINT32_MAX && model->instances[instance].kind >= VP_PATH_PHB) {
        append_footprint(machine, path_p, &model->instances[instance]);
    } else {
        append(path_p, machine->host_up[from]);
        append(path_p, machine->host_down[to]);
    }
    append(path_p, vp_link_in(machine, destination));
}

vp_status_t vp_path_host(const vp_machine_t *machine, uint32_t source, uint32_t destination,
                         vp_path_t *path_p, vp_error_t *error)
{
    const vp_model_t *model = machine->model;
    uint32_t from = model->rank_group[source];
    uint32_t to = model->rank_group[destination];
    uint32_t rail = source - model->groups[from].first_rank;
    uint32_t n_from = vp_group_n_nics(machine, from);
    uint32_t n_to = vp_group_n_nics(machine, to);
    const vp_nic_t *out;
    const vp_nic_t *in;

    path_p->kind = VP_PATH_HOST;
    path_p->bytes_per_s = 0;
    path_p->n_links = 0;
    if (model->groups[from].node == model->groups[to].node) {
        host_inside(machine, source, destination, path_p);
        return VP_OK;
    }
    if (n_from == 0 || n_to == 0) {
        return no_path(machine, source, destination, "NIC for a path through host memory", error);
    }
    out = &model->nics[machine->group_nics[machine->nic_begin[from] + rail % n_from]];
    in = &model->nics[machine->group_nics[machine->nic_begin[to] + rail % n_to]];
    append(path_p, vp_link_out(machine, source));
    append(path_p, machine->host_up[from]);
    append(path_p, machine->host_down[out->group]); /* from host memory to the NIC */
    append(path_p, vp_link_resource(machine, out->tx_resource));
    append(path_p, vp_link_resource(machine, in->rx_resource));
    append(path_p, machine->host_up[in->group]);
    append(path_p, machine->host_down[to]);
    append(path_p, vp_link_in(machine, destination));
    return VP_OK;
}

void vp_path_join(const vp_path_t *first, const vp_path_t *second, vp_path_t *path_p)
{
    vp_path_t joined = *first;
    uint32_t i;

    for (i = 0; i < second->n_links && joined.n_links < VP_NETWORK_MAX_ROUTE; i++) {
        joined.links[joined.n_links++] = second->links[i];
    }
    if (second->bytes_per_s != 0 &&
        (joined.bytes_per_s == 0 || second->bytes_per_s < joined.bytes_per_s)) {
        joined.bytes_per_s = second->bytes_per_s;
    }
    *path_p = joined;
}
