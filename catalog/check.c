/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "catalog/order.h"

/* The sentence that every refusal of a model ends with. */
#define MODEL_REMEDY "; correct the topology it was made from and make it again"

#define FULL_PPM 1000000U

static vp_status_t check_counts(const vp_model_t *model, vp_error_t *error)
{
    if (model->n_ranks == 0 || model->n_ranks > VP_MAX_RANKS) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "topology has %" PRIu32 " ranks; it must have 1 to %d" MODEL_REMEDY,
                            model->n_ranks, VP_MAX_RANKS);
    }
    if (model->n_groups == 0 || model->n_groups > VP_MAX_GROUPS) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "topology has %" PRIu32
                            " rank groups; it must have 1 to %d" MODEL_REMEDY,
                            model->n_groups, VP_MAX_GROUPS);
    }
    if (model->n_nodes == 0 || model->n_nodes > model->n_groups) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "topology has %" PRIu32 " nodes for %" PRIu32
                            " rank groups; every node needs one" MODEL_REMEDY,
                            model->n_nodes, model->n_groups);
    }
    if (model->n_resources > VP_MAX_RESOURCES || model->n_nics > VP_MAX_NICS ||
        model->n_instances > VP_MAX_INSTANCES) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "topology has %" PRIu32 " shared resources, %" PRIu32
                            " NICs and %" PRIu32
                            " path instances; the limits are %d, %d and %d" MODEL_REMEDY,
                            model->n_resources, model->n_nics, model->n_instances, VP_MAX_RESOURCES,
                            VP_MAX_NICS, VP_MAX_INSTANCES);
    }
    if (model->gpu_link_bytes_per_s == 0) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "the GPU link has a rate of 0 bytes/s" MODEL_REMEDY);
    }
    return VP_OK;
}

static vp_status_t check_name(const char *what, uint32_t index, const char *name, vp_error_t *error)
{
    if (name == NULL || strlen(name) > VP_MAX_NAME_BYTES) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "%s %" PRIu32 " has no name or one longer than %d bytes" MODEL_REMEDY,
                            what, index, VP_MAX_NAME_BYTES);
    }
    return VP_OK;
}

static vp_status_t check_group(const vp_model_t *model, uint32_t group, uint32_t first_rank,
                               vp_error_t *error)
{
    const vp_group_t *it = &model->groups[group];
    vp_status_t status = check_name("rank group", group, it->name, error);
    uint32_t i;

    if (status != VP_OK) {
        return status;
    }
    if (it->first_rank != first_rank || it->n_ranks == 0 ||
        it->n_ranks > model->n_ranks - first_rank) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "rank group %" PRIu32 " (%s) holds %" PRIu32 " ranks from rank %" PRIu32
                            "; it must hold at least one and begin at rank %" PRIu32 MODEL_REMEDY,
                            group, it->name, it->n_ranks, it->first_rank, first_rank);
    }
    if (it->node >= model->n_nodes || (group > 0 && it->node < model->groups[group - 1].node)) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "rank group %" PRIu32 " (%s) is on node %" PRIu32
                            "; groups go node by node below %" PRIu32 MODEL_REMEDY,
                            group, it->name, it->node, model->n_nodes);
    }
    for (i = 0; i < it->n_ranks; i++) {
        if (model->rank_group[first_rank + i] != group) {
            return vp_error_set(error, VP_ERR_BAD_INPUT,
                                "rank %" PRIu32 " is indexed under group %" PRIu32
                                " but belongs to group %" PRIu32 MODEL_REMEDY,
                                first_rank + i, model->rank_group[first_rank + i], group);
        }
    }
    return VP_OK;
}

static vp_status_t check_groups(const vp_model_t *model, vp_error_t *error)
{
    uint32_t first_rank = 0;
    uint32_t group;
    vp_status_t status;

    for (group = 0; group < model->n_groups; group++) {
        status = check_group(model, group, first_rank, error);
        if (status != VP_OK) {
            return status;
        }
        first_rank += model->groups[group].n_ranks;
    }
    if (first_rank != model->n_ranks) {
        return vp_error_set(error, VP_ERR_BAD_INPUT,
                            "the rank groups hold %" PRIu32 " ranks of %" PRIu32 MODEL_REMEDY,
                            first_rank, model->n_ranks);
    }
    for (first_rank = 0; model->rank_pci != NULL && first_rank < model->n_ranks; first_rank++) {
        if (model->rank_pci[first_rank] > VP_PCI_MAX) {
            return vp_error_set(error, VP_ERR_BAD_INPUT,
                                "the GPU of rank %" PRIu32
                                " has an impossible PCI address" MODEL_REMEDY,
                                first_rank);
        }
    }
    return VP_OK;
}

static vp_status_t check_resources(const vp_model_t *model, vp_error_t *error)
{
    uint32_t i;
    vp_status_t status;

    for (i = 0; i < model->n_resources; i++) {
        const vp_resource_t *it = &model->resources[i];

        status = check_name("resource", i, it->name, error);
        if (status != VP_OK) {
            return status;
        }
        if ((unsigned)it->kind >= VP_N_RESOURCE_KINDS || it->node >= model->n_nodes ||
            it->bytes_per_s == 0) {
            return vp_error_set(error, VP_ERR_BAD_INPUT,
                                "resource %" PRIu32
                                " (%s) has an unknown kind, a node out of range or a rate of "
                                "0 bytes/s" MODEL_REMEDY,
                                i, it->name);
        }
    }
    return VP_OK;
}

static bool is_resource_of(const vp_model_t *model, uint32_t resource, vp_resource_kind_t kind,
                           uint32_t node)
{
    return resource < model->n_resources && model->resources[resource].kind == kind &&
           model->resources[resource].node == node;
}

static vp_status_t check_nics(const vp_model_t *model, vp_error_t *error)
{
    uint32_t i;
    vp_status_t status;

    for (i = 0; i < model->n_nics; i++) {
        const vp_nic_t *it = &model->nics[i];

        status = check_name("NIC", i, it->name, error);
        if (status != VP_OK) {
            return status;
        }
        if (it->group >= model->n_groups || it->node != model->groups[it->group].node ||
            !is_resource_of(model, it->tx_resource, VP_RESOURCE_NIC_TX, it->node) ||
            !is_resource_of(model, it->rx_resource, VP_RESOURCE_NIC_RX, it->node) ||
            it->bytes_per_s == 0 || it->path_class >= model->n_classes || it->pci > VP_PCI_MAX) {
            return vp_error_set(error, VP_ERR_BAD_INPUT,
                                "NIC %" PRIu32
                                " (%s) names a group, resource or path class that is not its own, "
                                "has a rate of 0 bytes/s or an impossible PCI address" MODEL_REMEDY,
                                i, it->name);
        }
    }
    return VP_OK;
}

static vp_status_t check_classes(const vp_model_t *model, vp_error_t *error)
{
    uint32_t i;
    vp_status_t status;

    for (i = 0; i < model->n_classes; i++) {
        const vp_path_class_t *it = &model->classes[i];

        status = check_name("path class", i, it->name, error);
        if (status != VP_OK) {
            return status;
        }
        if (it->tls == NULL || it->devices == NULL || strlen(it->tls) > VP_MAX_NAME_BYTES ||
            strlen(it->devices) > VP_MAX_NAME_BYTES) {
            return vp_error_set(error, VP_ERR_BAD_INPUT,
                                "path class %" PRIu32
                                " (%s) has no transports or devices, or longer lists than %d "
                                "bytes" MODEL_REMEDY,
                                i, it->name, VP_MAX_NAME_BYTES);
        }
    }
    return VP_OK;
}

static bool is_table_valid(const vp_contention_t *profile, uint32_t table)
{
    uint32_t i;

    if (profile->n_entries[table] == 0 || profile->n_entries[table] > VP_MAX_CONTENTION_ENTRIES ||
        profile->share_ppm[table][0] != FULL_PPM) {
        return false;
    }
    for (i = 0; i < profile->n_entries[table]; i++) {
        if (profile->share_ppm[table][i] == 0 || profile->share_ppm[table][i] > FULL_PPM) {
            return false;
        }
    }
    return true;
}

static vp_status_t check_contention(const vp_model_t *model, vp_error_t *error)
{
    uint32_t i;
    uint32_t table;
    vp_status_t status;

    for (i = 0; i < model->n_contention; i++) {
        status = check_name("contention profile", i, model->contention[i].name, error);
        if (status != VP_OK) {
            return status;
        }
        for (table = 0; table < VP_N_CONTENTION_TABLES; table++) {
            if (!is_table_valid(&model->contention[i], table)) {
                return vp_error_set(error, VP_ERR_BAD_INPUT,
                                    "contention profile %s, table %" PRIu32
                                    ": it needs 1 to %d shares of 1 to %u ppm, the first being "
                                    "%u" MODEL_REMEDY,
                                    model->contention[i].name, table, VP_MAX_CONTENTION_ENTRIES,
                                    FULL_PPM, FULL_PPM);
            }
        }
    }
    return VP_OK;
}

static vp_status_t instance_error(const vp_model_t *model, uint32_t instance, const char *what,
                                  vp_error_t *error)
{
    const vp_instance_t *it = &model->instances[instance];

    return vp_error_set(error, VP_ERR_BAD_INPUT,
                        "path instance %" PRIu32 " (%s from group %" PRIu32 " to group %" PRIu32
                        ") %s" MODEL_REMEDY,
                        instance, vp_path_kind_text(it->kind), it->from_group, it->to_group, what);
}

/* Why a footprint is wrong; NULL when it is right. Groups of the instance are in range. */
static const char *footprint_fault(const vp_model_t *model, const vp_instance_t *it)
{
    uint32_t from_node = model->groups[it->from_group].node;
    uint32_t to_node = model->groups[it->to_group].node;
    uint32_t i;

    for (i = 0; i < it->n_resources; i++) {
        const vp_resource_t *resource;

        if (it->resources[i] >= model->n_resources) {
            return "names a resource that does not exist";
        }
        if (i > 0 && it->resources[i] <= it->resources[i - 1]) {
            return "has a footprint that is not ascending";
        }
        resource = &model->resources[it->resources[i]];
        if ((resource->kind == VP_RESOURCE_NIC_TX && resource->node != from_node) ||
            (resource->kind == VP_RESOURCE_NIC_RX && resource->node != to_node) ||
            (resource->node != from_node && resource->node != to_node)) {
            return "uses a resource of a node that it does not touch";
        }
    }
    return NULL;
}

static const char *instance_fault(const vp_model_t *model, const vp_instance_t *it)
{
    const vp_group_t *from;
    const vp_group_t *to;

    if ((unsigned)it->kind >= VP_N_PATH_KINDS) {
        return "is of an unknown kind";
    }
    if (it->from_group >= model->n_groups || it->to_group >= model->n_groups) {
        return "touches a group that does not exist";
    }
    if (it->source_class >= model->n_classes || it->destination_class >= model->n_classes) {
        return "names a path class that does not exist";
    }
    if (it->bytes_per_s == 0) {
        return "has a rate of 0 bytes/s";
    }
    if (it->n_resources > VP_MAX_FOOTPRINT) {
        return "has too many resources";
    }
    from = &model->groups[it->from_group];
    to = &model->groups[it->to_group];
    if (it->kind == VP_PATH_PIX && from != to) {
        return "is inside one switch but joins two groups";
    }
    if (it->kind != VP_PATH_NIC && it->kind != VP_PATH_HOST && from->node != to->node) {
        return "is inside a node but joins two nodes";
    }
    if (it->n_copies == 0 || it->n_copies > from->n_ranks || it->n_copies > to->n_ranks ||
        (it->n_resources > 0 && it->n_copies > 1)) {
        return "can be selected more often than its groups or its footprint allow, or never";
    }
    return footprint_fault(model, it);
}

static vp_status_t check_instances(const vp_model_t *model, vp_error_t *error)
{
    uint32_t i;

    for (i = 0; i < model->n_instances; i++) {
        const char *fault = instance_fault(model, &model->instances[i]);

        if (fault == NULL && i > 0 &&
            vp_instance_compare(&model->instances[i - 1], &model->instances[i]) >= 0) {
            fault = "is listed twice or out of order";
        }
        if (fault != NULL) {
            return instance_error(model, i, fault, error);
        }
    }
    return VP_OK;
}

static vp_status_t check_pairs(const vp_model_t *model, vp_error_t *error)
{
    size_t n_pairs = (size_t)model->n_groups * model->n_groups;
    uint32_t at = 0;
    size_t pair;

    for (pair = 0; pair <= n_pairs; pair++) {
        if (model->pair_begin[pair] != at) {
            return vp_error_set(error, VP_ERR_BAD_INPUT,
                                "group pair %zu is indexed at path instance %" PRIu32
                                " but begins at %" PRIu32 MODEL_REMEDY,
                                pair, model->pair_begin[pair], at);
        }
        while (pair < n_pairs && at < model->n_instances &&
               vp_pair(model, model->instances[at].from_group, model->instances[at].to_group) ==
                   pair) {
            at++;
        }
    }
    return VP_OK;
}

/* Notes that a rank of the group opens the class; false when it opens too many. */
static bool open_class(uint32_t *classes, uint32_t *n_classes, uint32_t path_class)
{
    uint32_t i;

    for (i = 0; i < *n_classes; i++) {
        if (classes[i] == path_class) {
            return true;
        }
    }
    if (*n_classes == VP_MAX_CLASSES_PER_RANK) {
        return false;
    }
    classes[(*n_classes)++] = path_class;
    return true;
}

static vp_status_t check_class_counts(const vp_model_t *model, vp_error_t *error)
{
    uint32_t *classes =
        vp_array_new((size_t)model->n_groups * VP_MAX_CLASSES_PER_RANK, sizeof(*classes));
    uint32_t *n_classes = vp_array_new(model->n_groups, sizeof(*n_classes));
    vp_status_t status = VP_OK;
    uint32_t i;

    if (classes == NULL || n_classes == NULL) {
        status = vp_error_no_memory(error, "the check of a topology");
    }
    for (i = 0; status == VP_OK && i < model->n_instances; i++) {
        const vp_instance_t *it = &model->instances[i];

        if (!open_class(classes + (size_t)it->from_group * VP_MAX_CLASSES_PER_RANK,
                        &n_classes[it->from_group], it->source_class) ||
            !open_class(classes + (size_t)it->to_group * VP_MAX_CLASSES_PER_RANK,
                        &n_classes[it->to_group], it->destination_class)) {
            status =
                instance_error(model, i, "makes its ranks open more than 16 path classes", error);
        }
    }
    free(classes);
    free(n_classes);
    return status;
}

vp_status_t vp_model_check(const vp_model_t *model, vp_error_t *error)
{
    static vp_status_t (*const checks[])(const vp_model_t *, vp_error_t *) = {
        check_counts,     check_groups,    check_resources, check_classes,      check_nics,
        check_contention, check_instances, check_pairs,     check_class_counts,
    };
    size_t i;

    for (i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        vp_status_t status = checks[i](model, error);

        if (status != VP_OK) {
            return status;
        }
    }
    return VP_OK;
}
