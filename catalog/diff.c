/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/diff.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "catalog/order.h"

static void add_fact(vp_diff_t *diff, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_fact(vp_diff_t *diff, const char *format, ...)
{
    va_list arguments;

    if (diff->n_facts == VP_DIFF_MAX_FACTS) {
        diff->n_more++;
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(diff->facts[diff->n_facts++], VP_DIFF_FACT_BYTES, format, arguments);
    va_end(arguments);
}

static void compare_number(vp_diff_t *diff, const char *of, const char *what, uint64_t a,
                           uint64_t b)
{
    if (a != b) {
        add_fact(diff, "%s%s%s: %" PRIu64 " and %" PRIu64, of, of[0] == '\0' ? "" : ": ", what, a,
                 b);
    }
}

static void compare_text(vp_diff_t *diff, const char *of, const char *what, const char *a,
                         const char *b)
{
    a = a == NULL ? "" : a;
    b = b == NULL ? "" : b;
    if (strcmp(a, b) != 0) {
        add_fact(diff, "%.80s%s%s: \"%.100s\" and \"%.100s\"", of, of[0] == '\0' ? "" : ": ", what,
                 a, b);
    }
}

static void compare_head(vp_diff_t *diff, const vp_model_t *a, const vp_model_t *b)
{
    compare_text(diff, "", "topology", a->name, b->name);
    compare_text(diff, "", "rate set", a->rates, b->rates);
    compare_text(diff, "", "transport set", a->transport, b->transport);
    compare_number(diff, "", "nodes", a->n_nodes, b->n_nodes);
    compare_number(diff, "", "ranks", a->n_ranks, b->n_ranks);
    compare_number(diff, "", "rank groups", a->n_groups, b->n_groups);
    compare_number(diff, "", "shared resources", a->n_resources, b->n_resources);
    compare_number(diff, "", "NICs", a->n_nics, b->n_nics);
    compare_number(diff, "", "path classes", a->n_classes, b->n_classes);
    compare_number(diff, "", "contention profiles", a->n_contention, b->n_contention);
    compare_number(diff, "", "path instances", a->n_instances, b->n_instances);
    compare_number(diff, "", "alpha_ns", a->alpha_ns, b->alpha_ns);
    compare_number(diff, "", "put_overhead_ns", a->put_overhead_ns, b->put_overhead_ns);
    compare_number(diff, "GPU link", "bytes/s", a->gpu_link_bytes_per_s, b->gpu_link_bytes_per_s);
    compare_text(diff, "GPU link", "origin", a->gpu_link_origin, b->gpu_link_origin);
}

static void compare_addresses(vp_diff_t *diff, const char *of, vp_pci_t a, vp_pci_t b)
{
    char in_a[VP_PCI_TEXT_BYTES];
    char in_b[VP_PCI_TEXT_BYTES];

    vp_pci_format(a, in_a);
    vp_pci_format(b, in_b);
    compare_text(diff, of, "PCI address", in_a, in_b);
}

static void compare_gpus(vp_diff_t *diff, const vp_model_t *a, const vp_model_t *b)
{
    uint32_t i;

    for (i = 0; i < a->n_ranks && a->n_ranks == b->n_ranks; i++) {
        char of[64];

        (void)snprintf(of, sizeof(of), "GPU of rank %" PRIu32, i);
        compare_addresses(diff, of, a->rank_pci == NULL ? VP_PCI_UNKNOWN : a->rank_pci[i],
                          b->rank_pci == NULL ? VP_PCI_UNKNOWN : b->rank_pci[i]);
    }
}

static void compare_groups(vp_diff_t *diff, const vp_model_t *a, const vp_model_t *b)
{
    uint32_t i;

    for (i = 0; i < a->n_groups && a->n_groups == b->n_groups; i++) {
        const vp_group_t *in_a = &a->groups[i];

        compare_text(diff, in_a->name, "name of the group", in_a->name, b->groups[i].name);
        compare_number(diff, in_a->name, "node", in_a->node, b->groups[i].node);
        compare_number(diff, in_a->name, "ranks", in_a->n_ranks, b->groups[i].n_ranks);
    }
}

static void compare_resources(vp_diff_t *diff, const vp_model_t *a, const vp_model_t *b)
{
    uint32_t i;

    for (i = 0; i < a->n_resources && a->n_resources == b->n_resources; i++) {
        const vp_resource_t *in_a = &a->resources[i];
        const vp_resource_t *in_b = &b->resources[i];

        compare_text(diff, in_a->name, "name of the resource", in_a->name, in_b->name);
        compare_text(diff, in_a->name, "kind", vp_resource_kind_text(in_a->kind),
                     vp_resource_kind_text(in_b->kind));
        compare_number(diff, in_a->name, "node", in_a->node, in_b->node);
        compare_number(diff, in_a->name, "bytes/s", in_a->bytes_per_s, in_b->bytes_per_s);
        compare_text(diff, in_a->name, "origin", in_a->origin, in_b->origin);
    }
}

static void compare_nics(vp_diff_t *diff, const vp_model_t *a, const vp_model_t *b)
{
    uint32_t i;

    for (i = 0; i < a->n_nics && a->n_nics == b->n_nics; i++) {
        const vp_nic_t *in_a = &a->nics[i];
        const vp_nic_t *in_b = &b->nics[i];

        compare_text(diff, in_a->name, "name of the NIC", in_a->name, in_b->name);
        compare_number(diff, in_a->name, "group", in_a->group, in_b->group);
        compare_number(diff, in_a->name, "tx resource", in_a->tx_resource, in_b->tx_resource);
        compare_number(diff, in_a->name, "rx resource", in_a->rx_resource, in_b->rx_resource);
        compare_number(diff, in_a->name, "bytes/s", in_a->bytes_per_s, in_b->bytes_per_s);
        compare_number(diff, in_a->name, "path class", in_a->path_class, in_b->path_class);
        compare_addresses(diff, in_a->name, in_a->pci, in_b->pci);
    }
}

static void compare_classes(vp_diff_t *diff, const vp_model_t *a, const vp_model_t *b)
{
    char of[64];
    uint32_t i;

    for (i = 0; i < a->n_classes && a->n_classes == b->n_classes; i++) {
        (void)snprintf(of, sizeof(of), "path class %" PRIu32, i);
        compare_text(diff, of, "name", a->classes[i].name, b->classes[i].name);
        compare_text(diff, of, "tls", a->classes[i].tls, b->classes[i].tls);
        compare_text(diff, of, "devices", a->classes[i].devices, b->classes[i].devices);
    }
}

static void compare_table(vp_diff_t *diff, const char *of, const vp_contention_t *a,
                          const vp_contention_t *b, uint32_t table)
{
    uint32_t k;

    compare_number(diff, of, "entries", a->n_entries[table], b->n_entries[table]);
    for (k = 0; k < a->n_entries[table] && a->n_entries[table] == b->n_entries[table]; k++) {
        compare_number(diff, of, "share in ppm", a->share_ppm[table][k], b->share_ppm[table][k]);
    }
    compare_text(diff, of, "origin", a->origin[table], b->origin[table]);
}

static void compare_contention(vp_diff_t *diff, const vp_model_t *a, const vp_model_t *b)
{
    static const char *const tables[VP_N_CONTENTION_TABLES] = {"GPU", "uplink", "NIC"};
    char of[64];
    uint32_t i;
    uint32_t table;

    for (i = 0; i < a->n_contention && a->n_contention == b->n_contention; i++) {
        compare_text(diff, "", "name of a contention profile", a->contention[i].name,
                     b->contention[i].name);
        for (table = 0; table < VP_N_CONTENTION_TABLES; table++) {
            (void)snprintf(of, sizeof(of), "contention of %s in \"%.32s\"", tables[table],
                           a->contention[i].name);
            compare_table(diff, of, &a->contention[i], &b->contention[i], table);
        }
    }
}

/* Instances are numbered alike only until the first that differs, so only that one is named. */
static void compare_instances(vp_diff_t *diff, const vp_model_t *a, const vp_model_t *b)
{
    uint32_t i = 0;

    while (i < a->n_instances && i < b->n_instances &&
           vp_instance_compare(&a->instances[i], &b->instances[i]) == 0) {
        i++;
    }
    if (i < a->n_instances && i < b->n_instances) {
        const vp_instance_t *in_a = &a->instances[i];
        const vp_instance_t *in_b = &b->instances[i];

        add_fact(diff,
                 "path instance %" PRIu32 ": %s %.48s -> %.48s at %" PRIu64 " bytes/s over %" PRIu32
                 " resources and %s %.48s -> %.48s at %" PRIu64 " bytes/s over %" PRIu32,
                 i, vp_path_kind_text(in_a->kind), a->groups[in_a->from_group].name,
                 a->groups[in_a->to_group].name, in_a->bytes_per_s, in_a->n_resources,
                 vp_path_kind_text(in_b->kind), b->groups[in_b->from_group].name,
                 b->groups[in_b->to_group].name, in_b->bytes_per_s, in_b->n_resources);
    }
}

static void compare_models(vp_diff_t *diff, const vp_model_t *a, const vp_model_t *b)
{
    compare_head(diff, a, b);
    compare_groups(diff, a, b);
    compare_gpus(diff, a, b);
    compare_resources(diff, a, b);
    compare_nics(diff, a, b);
    compare_classes(diff, a, b);
    compare_contention(diff, a, b);
    compare_instances(diff, a, b);
}

static const char *mode_text(vp_catalog_mode_t mode)
{
    return mode == VP_CATALOG_EXHAUSTIVE ? "exhaustive" : "generated";
}

/* Families of equal models differ only when one catalog was not built to its end. */
static void compare_trees(vp_diff_t *diff, const vp_catalog_t *a, const vp_catalog_t *b)
{
    uint32_t n_members = a->member_begin[a->n_families];
    uint32_t i;

    compare_text(diff, "", "mode", mode_text(a->mode), mode_text(b->mode));
    compare_number(diff, "", "shapes", a->n_shapes, b->n_shapes);
    compare_number(diff, "", "families", a->n_families, b->n_families);
    if (diff->n_facts > 0) {
        return;
    }
    for (i = 0; i < a->n_families; i++) {
        if (a->member_begin[i + 1] != b->member_begin[i + 1]) {
            add_fact(diff, "members of family %" PRIu32 ": %" PRIu32 " and %" PRIu32, i,
                     a->member_begin[i + 1] - a->member_begin[i],
                     b->member_begin[i + 1] - b->member_begin[i]);
            return;
        }
    }
    for (i = 0; i < n_members; i++) {
        if (a->members[i].instance != b->members[i].instance ||
            a->members[i].count != b->members[i].count) {
            add_fact(diff,
                     "family member %" PRIu32 ": instance %" PRIu32 " %" PRIu32
                     " times and instance %" PRIu32 " %" PRIu32 " times",
                     i, a->members[i].instance, a->members[i].count, b->members[i].instance,
                     b->members[i].count);
            return;
        }
    }
}

bool vp_model_diff(const vp_model_t *a, const vp_model_t *b, vp_diff_t *diff)
{
    *diff = (vp_diff_t){0};
    compare_models(diff, a, b);
    return diff->n_facts == 0;
}

bool vp_catalog_diff(const vp_catalog_t *a, const vp_catalog_t *b, vp_diff_t *diff)
{
    *diff = (vp_diff_t){0};
    compare_models(diff, a->model, b->model);
    compare_trees(diff, a, b);
    return diff->n_facts == 0;
}
