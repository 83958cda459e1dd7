/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/model_json.h"

static json_t *pack_groups(const vp_model_t *model)
{
    json_t *groups = json_array();
    uint32_t group;
    uint32_t rank;

    for (group = 0; group < model->n_groups; group++) {
        json_t *ranks = json_array();

        for (rank = 0; rank < model->groups[group].n_ranks; rank++) {
            (void)json_array_append_new(ranks,
                                        json_integer(model->groups[group].first_rank + rank));
        }
        (void)json_array_append_new(groups, ranks);
    }
    return groups;
}

static json_t *pack_nics(const vp_model_t *model)
{
    json_t *nics = json_array();
    uint32_t i;

    for (i = 0; i < model->n_nics; i++) {
        const vp_nic_t *nic = &model->nics[i];

        (void)json_array_append_new(nics, json_pack("{s:s, s:I, s:I, s:I, s:s}", "name", nic->name,
                                                    "node", (json_int_t)nic->node, "group",
                                                    (json_int_t)nic->group, "bytes_per_s",
                                                    (json_int_t)nic->bytes_per_s, "class",
                                                    model->classes[nic->path_class].name));
    }
    return nics;
}

static json_t *pack_resources(const vp_model_t *model)
{
    json_t *resources = json_array();
    uint32_t i;

    for (i = 0; i < model->n_resources; i++) {
        const vp_resource_t *it = &model->resources[i];

        (void)json_array_append_new(
            resources, json_pack("{s:I, s:s, s:s, s:I, s:s}", "id", (json_int_t)i, "name", it->name,
                                 "kind", vp_resource_kind_text(it->kind), "bytes_per_s",
                                 (json_int_t)it->bytes_per_s, "origin", it->origin));
    }
    return resources;
}

static json_t *pack_instances(const vp_model_t *model)
{
    json_t *instances = json_array();
    uint32_t i;
    uint32_t k;

    for (i = 0; i < model->n_instances; i++) {
        const vp_instance_t *it = &model->instances[i];
        json_t *resources = json_array();

        for (k = 0; k < it->n_resources; k++) {
            (void)json_array_append_new(resources, json_integer(it->resources[k]));
        }
        (void)json_array_append_new(
            instances,
            json_pack("{s:s, s:I, s:I, s:I, s:I, s:s, s:s, s:o}", "kind",
                      vp_path_kind_text(it->kind), "from_group", (json_int_t)it->from_group,
                      "to_group", (json_int_t)it->to_group, "bytes_per_s",
                      (json_int_t)it->bytes_per_s, "copies", (json_int_t)it->n_copies,
                      "source_class", model->classes[it->source_class].name, "destination_class",
                      model->classes[it->destination_class].name, "resources", resources));
    }
    return instances;
}

static json_t *pack_classes(const vp_model_t *model)
{
    json_t *classes = json_array();
    uint32_t i;

    for (i = 0; i < model->n_classes; i++) {
        (void)json_array_append_new(
            classes, json_pack("{s:s, s:s, s:s}", "name", model->classes[i].name, "tls",
                               model->classes[i].tls, "devices", model->classes[i].devices));
    }
    return classes;
}

static json_t *pack_contention(const vp_model_t *model)
{
    static const char *const keys[VP_N_CONTENTION_TABLES] = {"gpu", "uplink", "nic"};
    json_t *profiles = json_object();
    uint32_t i;
    uint32_t table;
    uint32_t k;

    for (i = 0; i < model->n_contention; i++) {
        const vp_contention_t *it = &model->contention[i];
        json_t *tables = json_object();

        for (table = 0; table < VP_N_CONTENTION_TABLES; table++) {
            json_t *shares = json_array();

            for (k = 0; k < it->n_entries[table]; k++) {
                (void)json_array_append_new(shares, json_integer(it->share_ppm[table][k]));
            }
            (void)json_object_set_new(
                tables, keys[table],
                json_pack("{s:o, s:s}", "share_ppm", shares, "origin", it->origin[table]));
        }
        (void)json_object_set_new(profiles, it->name, tables);
    }
    return profiles;
}

json_t *vp_model_to_json(const vp_model_t *model)
{
    return json_pack(
        "{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:{s:I, s:s}, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
        model->name, "rates", model->rates, "transports", model->transport, "nodes",
        (json_int_t)model->n_nodes, "ranks", (json_int_t)model->n_ranks, "alpha_ns",
        (json_int_t)model->alpha_ns, "put_overhead_ns", (json_int_t)model->put_overhead_ns,
        "gpu_link", "bytes_per_s", (json_int_t)model->gpu_link_bytes_per_s, "origin",
        model->gpu_link_origin, "groups", pack_groups(model), "nics", pack_nics(model), "resources",
        pack_resources(model), "instances", pack_instances(model), "classes", pack_classes(model),
        "contention", pack_contention(model));
}
