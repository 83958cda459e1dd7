/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/restrict.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"

#define GONE UINT32_MAX

/* Where the elements of the model are in the part; GONE: nowhere. */
typedef struct restriction {
    const vp_model_t *model;
    vp_model_t *part;
    uint32_t *group_ranks; /* [n_groups] ranks of it that are listed */
    uint32_t *groups;      /* [n_groups] */
    uint32_t *nodes;       /* [n_nodes] */
    uint32_t *resources;   /* [n_resources] */
    bool is_out_of_memory;
} restriction_t;

static void *make_array(restriction_t *restriction, size_t n, size_t size)
{
    void *array = vp_array_new(n, size);

    restriction->is_out_of_memory = restriction->is_out_of_memory || array == NULL;
    return array;
}

static char *copy(restriction_t *restriction, const char *text)
{
    char *result = text == NULL ? NULL : vp_string_copy(text);

    restriction->is_out_of_memory =
        restriction->is_out_of_memory || (text != NULL && result == NULL);
    return result;
}

static vp_status_t check_ranks(const vp_model_t *model, const uint32_t *ranks, uint32_t n_ranks,
                               vp_error_t *error)
{
    uint32_t i;

    if (n_ranks == 0) {
        return vp_error_set(error, VP_ERR_USAGE,
                            "a part of topology \"%s\" was asked for that has no ranks; list at "
                            "least one",
                            model->name);
    }
    for (i = 0; i < n_ranks; i++) {
        if (ranks[i] >= model->n_ranks || (i > 0 && ranks[i] <= ranks[i - 1])) {
            return vp_error_set(error, VP_ERR_USAGE,
                                "element %" PRIu32 " of the ranks of a part of topology \"%s\" is "
                                "rank %" PRIu32 "; list ranks below %" PRIu32
                                ", each once, in ascending order",
                                i, model->name, ranks[i], model->n_ranks);
        }
    }
    return VP_OK;
}

/* Does the instance carry anything between the ranks that are left? */
static bool is_kept(const restriction_t *restriction, const vp_instance_t *it)
{
    return restriction->groups[it->from_group] != GONE &&
           restriction->groups[it->to_group] != GONE &&
           (it->from_group != it->to_group || it->n_resources == 0 ||
            restriction->group_ranks[it->from_group] > 1);
}

/* Numbers the groups and nodes that are left. */
static void number_groups(restriction_t *restriction, const uint32_t *ranks, uint32_t n_ranks)
{
    const vp_model_t *model = restriction->model;
    vp_model_t *part = restriction->part;
    uint32_t i;

    for (i = 0; i < n_ranks; i++) {
        restriction->group_ranks[model->rank_group[ranks[i]]]++;
    }
    for (i = 0; i < model->n_nodes; i++) {
        restriction->nodes[i] = GONE;
    }
    for (i = 0; i < model->n_groups; i++) {
        uint32_t node = model->groups[i].node;

        restriction->groups[i] = GONE;
        if (restriction->group_ranks[i] > 0) {
            restriction->groups[i] = part->n_groups++;
            restriction->nodes[node] =
                restriction->nodes[node] == GONE ? part->n_nodes++ : restriction->nodes[node];
        }
    }
    part->n_ranks = n_ranks;
}

/* Counts NICs and instances that are left, and numbers the resources that they name. */
static void number_resources(restriction_t *restriction)
{
    const vp_model_t *model = restriction->model;
    vp_model_t *part = restriction->part;
    uint32_t i;
    uint32_t k;

    for (i = 0; i < model->n_resources; i++) {
        restriction->resources[i] = GONE;
    }
    for (i = 0; i < model->n_nics; i++) {
        if (restriction->groups[model->nics[i].group] != GONE) {
            restriction->resources[model->nics[i].tx_resource] = 0;
            restriction->resources[model->nics[i].rx_resource] = 0;
            part->n_nics++;
        }
    }
    for (i = 0; i < model->n_instances; i++) {
        const vp_instance_t *it = &model->instances[i];

        if (is_kept(restriction, it)) {
            part->n_instances++;
            for (k = 0; k < it->n_resources; k++) {
                restriction->resources[it->resources[k]] = 0;
            }
        }
    }
    for (i = 0; i < model->n_resources; i++) {
        if (restriction->resources[i] != GONE) {
            restriction->resources[i] = part->n_resources++;
        }
    }
}

static void copy_groups(restriction_t *restriction)
{
    const vp_model_t *model = restriction->model;
    uint32_t first_rank = 0;
    uint32_t i;

    for (i = 0; i < model->n_groups; i++) {
        if (restriction->groups[i] != GONE) {
            restriction->part->groups[restriction->groups[i]] =
                (vp_group_t){.name = copy(restriction, model->groups[i].name),
                             .node = restriction->nodes[model->groups[i].node],
                             .first_rank = first_rank,
                             .n_ranks = restriction->group_ranks[i]};
            first_rank += restriction->group_ranks[i];
        }
    }
}

static void copy_addresses(restriction_t *restriction, const uint32_t *ranks)
{
    const vp_model_t *model = restriction->model;
    vp_model_t *part = restriction->part;
    uint32_t i;

    for (i = 0; part->rank_pci != NULL && i < part->n_ranks; i++) {
        part->rank_pci[i] = model->rank_pci[ranks[i]];
    }
}

static void copy_resources(restriction_t *restriction)
{
    const vp_model_t *model = restriction->model;
    uint32_t i;

    for (i = 0; i < model->n_resources; i++) {
        if (restriction->resources[i] != GONE) {
            vp_resource_t *it = &restriction->part->resources[restriction->resources[i]];

            *it = model->resources[i];
            it->name = copy(restriction, model->resources[i].name);
            it->origin = copy(restriction, model->resources[i].origin);
            it->node = restriction->nodes[it->node];
        }
    }
}

static void copy_nics(restriction_t *restriction)
{
    const vp_model_t *model = restriction->model;
    uint32_t n = 0;
    uint32_t i;

    for (i = 0; i < model->n_nics; i++) {
        if (restriction->groups[model->nics[i].group] != GONE) {
            vp_nic_t *it = &restriction->part->nics[n++];

            *it = model->nics[i];
            it->name = copy(restriction, model->nics[i].name);
            it->node = restriction->nodes[it->node];
            it->group = restriction->groups[it->group];
            it->tx_resource = restriction->resources[it->tx_resource];
            it->rx_resource = restriction->resources[it->rx_resource];
        }
    }
}

static uint32_t minimum(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void copy_instances(restriction_t *restriction)
{
    const vp_model_t *model = restriction->model;
    uint32_t n = 0;
    uint32_t i;
    uint32_t k;

    for (i = 0; i < model->n_instances; i++) {
        const vp_instance_t *from = &model->instances[i];
        vp_instance_t *it;

        if (!is_kept(restriction, from)) {
            continue;
        }
        it = &restriction->part->instances[n++];
        *it = *from;
        it->n_copies = minimum(from->n_copies, minimum(restriction->group_ranks[from->from_group],
                                                       restriction->group_ranks[from->to_group]));
        it->from_group = restriction->groups[from->from_group];
        it->to_group = restriction->groups[from->to_group];
        for (k = 0; k < from->n_resources; k++) {
            it->resources[k] = restriction->resources[from->resources[k]];
        }
    }
}

static void copy_classes(restriction_t *restriction)
{
    const vp_model_t *model = restriction->model;
    uint32_t i;

    for (i = 0; i < model->n_classes; i++) {
        restriction->part->classes[i] =
            (vp_path_class_t){.name = copy(restriction, model->classes[i].name),
                              .tls = copy(restriction, model->classes[i].tls),
                              .devices = copy(restriction, model->classes[i].devices)};
    }
}

static void copy_contention(restriction_t *restriction)
{
    const vp_model_t *model = restriction->model;
    uint32_t i;
    uint32_t table;

    for (i = 0; i < model->n_contention; i++) {
        vp_contention_t *it = &restriction->part->contention[i];

        *it = model->contention[i];
        it->name = copy(restriction, model->contention[i].name);
        for (table = 0; table < VP_N_CONTENTION_TABLES; table++) {
            it->origin[table] = copy(restriction, model->contention[i].origin[table]);
        }
    }
}

/* What no choice of ranks changes. */
static void copy_head(restriction_t *restriction)
{
    const vp_model_t *model = restriction->model;
    vp_model_t *part = restriction->part;

    part->name = copy(restriction, model->name);
    part->rates = copy(restriction, model->rates);
    part->transport = copy(restriction, model->transport);
    part->alpha_ns = model->alpha_ns;
    part->put_overhead_ns = model->put_overhead_ns;
    part->gpu_link_bytes_per_s = model->gpu_link_bytes_per_s;
    part->gpu_link_origin = copy(restriction, model->gpu_link_origin);
    part->n_classes = model->n_classes;
    part->n_contention = model->n_contention;
}

static void fill(restriction_t *restriction, const uint32_t *ranks, uint32_t n_ranks)
{
    vp_model_t *part = restriction->part;

    number_groups(restriction, ranks, n_ranks);
    number_resources(restriction);
    copy_head(restriction);
    if (restriction->model->rank_pci != NULL) {
        part->rank_pci = make_array(restriction, n_ranks, sizeof(*part->rank_pci));
    }
    part->groups = make_array(restriction, part->n_groups, sizeof(*part->groups));
    part->resources = make_array(restriction, part->n_resources, sizeof(*part->resources));
    part->nics = make_array(restriction, part->n_nics, sizeof(*part->nics));
    part->classes = make_array(restriction, part->n_classes, sizeof(*part->classes));
    part->instances = make_array(restriction, part->n_instances, sizeof(*part->instances));
    part->contention = make_array(restriction, part->n_contention, sizeof(*part->contention));
    if (!restriction->is_out_of_memory) {
        copy_groups(restriction);
        copy_addresses(restriction, ranks);
        copy_resources(restriction);
        copy_nics(restriction);
        copy_classes(restriction);
        copy_instances(restriction);
        copy_contention(restriction);
    }
}

vp_status_t vp_model_restrict(const vp_model_t *model, const uint32_t *ranks, uint32_t n_ranks,
                              vp_model_t **model_p, vp_error_t *error)
{
    restriction_t restriction = {.model = model};
    vp_status_t status = check_ranks(model, ranks, n_ranks, error);

    if (status != VP_OK) {
        return status;
    }
    restriction.part = make_array(&restriction, 1, sizeof(*restriction.part));
    restriction.group_ranks = make_array(&restriction, model->n_groups, sizeof(uint32_t));
    restriction.groups = make_array(&restriction, model->n_groups, sizeof(uint32_t));
    restriction.nodes = make_array(&restriction, model->n_nodes, sizeof(uint32_t));
    restriction.resources = make_array(&restriction, model->n_resources, sizeof(uint32_t));
    if (!restriction.is_out_of_memory) {
        fill(&restriction, ranks, n_ranks);
    }
    if (restriction.is_out_of_memory) {
        status = vp_error_no_memory(error, "a part of a topology");
    } else {
        status = vp_model_finish(restriction.part, error);
    }
    free(restriction.group_ranks);
    free(restriction.groups);
    free(restriction.nodes);
    free(restriction.resources);
    if (status != VP_OK) {
        vp_model_destroy(restriction.part);
        return status;
    }
    *model_p = restriction.part;
    return VP_OK;
}

vp_status_t vp_catalog_restrict(const vp_catalog_t *catalog, const uint32_t *ranks,
                                uint32_t n_ranks, vp_catalog_t **catalog_p, vp_error_t *error)
{
    vp_catalog_t *restricted = vp_array_new(1, sizeof(*restricted));
    vp_status_t status;

    if (restricted == NULL) {
        return vp_error_no_memory(error, "the catalog of a communicator");
    }
    restricted->mode = VP_CATALOG_GENERATED;
    restricted->member_begin = vp_array_new(1, sizeof(*restricted->member_begin));
    status = restricted->member_begin == NULL
                 ? vp_error_no_memory(error, "the catalog of a communicator")
                 : vp_model_restrict(catalog->model, ranks, n_ranks, &restricted->model, error);
    if (status != VP_OK) {
        vp_catalog_destroy(restricted);
        return status;
    }
    *catalog_p = restricted;
    return VP_OK;
}

vp_status_t vp_catalog_restrict_to_all(const vp_catalog_t *catalog, vp_catalog_t **catalog_p,
                                       vp_error_t *error)
{
    uint32_t n_ranks = catalog->model->n_ranks, rank;
    uint32_t *ranks = vp_array_new(n_ranks, sizeof(*ranks));
    vp_status_t status;

    if (ranks == NULL) {
        return vp_error_no_memory(error, "the ranks of a communicator");
    }
    for (rank = 0; rank < n_ranks; rank++) {
        ranks[rank] = rank;
    }
    status = vp_catalog_restrict(catalog, ranks, n_ranks, catalog_p, error);
    free(ranks);
    return status;
}
