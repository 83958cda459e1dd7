/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "catalog/order.h"

/* A template that some node has shown, as its bytes in what is being written. */
typedef struct seen {
    size_t begin;
    size_t n_bytes;
} seen_t;

typedef struct encoding {
    vp_writer_t *writer;
    const vp_model_t *model;
    vp_node_span_t *spans; /* [n_nodes] */
    seen_t *seen;
    size_t seen_capacity;
    uint32_t n_seen;
    vp_writer_t templates; /* the bytes of all templates, one after the other */
    vp_instance_t *listed; /* instances of one list, relative to their nodes */
    vp_instance_t *compared;
    size_t listed_capacity;
    size_t compared_capacity;
} encoding_t;

/* The number of "nodeNUMBER/..." in its one spelling, VP_NODE_UNLABELLED for other names. */
static uint32_t parse_label(const char *name)
{
    uint64_t label = 0;
    size_t i = 4;

    if (name == NULL || strncmp(name, "node", 4) != 0 || (name[4] == '0' && name[5] != '/')) {
        return VP_NODE_UNLABELLED;
    }
    for (; name[i] >= '0' && name[i] <= '9' && label < VP_NODE_UNLABELLED; i++) {
        label = label * 10 + (uint64_t)(name[i] - '0');
    }
    return i > 4 && name[i] == '/' && label < VP_NODE_UNLABELLED ? (uint32_t)label
                                                                 : VP_NODE_UNLABELLED;
}

/* The label that all elements of the node have. */
static uint32_t find_label(const vp_model_t *model, const vp_node_span_t *span)
{
    uint32_t label = span->n_groups == 0 ? VP_NODE_UNLABELLED
                                         : parse_label(model->groups[span->first_group].name);
    uint32_t i;

    for (i = 0; i < span->n_groups; i++) {
        if (parse_label(model->groups[span->first_group + i].name) != label) {
            return VP_NODE_UNLABELLED;
        }
    }
    for (i = 0; i < span->n_resources; i++) {
        if (parse_label(model->resources[span->first_resource + i].name) != label) {
            return VP_NODE_UNLABELLED;
        }
    }
    for (i = 0; i < span->n_nics; i++) {
        if (parse_label(model->nics[span->first_nic + i].name) != label) {
            return VP_NODE_UNLABELLED;
        }
    }
    return label;
}

static void find_spans(const vp_model_t *model, vp_node_span_t *spans)
{
    uint32_t node;
    uint32_t i;

    for (i = 0; i < model->n_groups; i++) {
        spans[model->groups[i].node].n_groups++;
    }
    for (i = 0; i < model->n_resources; i++) {
        spans[model->resources[i].node].n_resources++;
    }
    for (i = 0; i < model->n_nics; i++) {
        spans[model->nics[i].node].n_nics++;
    }
    for (node = 0; node < model->n_nodes; node++) {
        vp_node_span_t *span = &spans[node];

        if (node > 0) {
            span->first_group = span[-1].first_group + span[-1].n_groups;
            span->first_resource = span[-1].first_resource + span[-1].n_resources;
            span->first_nic = span[-1].first_nic + span[-1].n_nics;
        }
        span->label = find_label(model, span);
    }
}

static void write_name(vp_writer_t *writer, const vp_node_span_t *span, const char *name)
{
    vp_write_string(writer,
                    span->label == VP_NODE_UNLABELLED ? name : name + strcspn(name, "/") + 1);
}

static void write_instances(vp_writer_t *writer, const vp_instance_t *instances, size_t n)
{
    size_t i;
    uint32_t k;

    vp_write_u32(writer, (uint32_t)n);
    for (i = 0; i < n; i++) {
        const vp_instance_t *it = &instances[i];

        vp_write_u8(writer, (uint8_t)it->kind);
        vp_write_u32(writer, it->from_group);
        vp_write_u32(writer, it->to_group);
        vp_write_u32(writer, it->n_copies);
        vp_write_u64(writer, it->bytes_per_s);
        vp_write_u32(writer, it->source_class);
        vp_write_u32(writer, it->destination_class);
        vp_write_u8(writer, (uint8_t)it->n_resources);
        for (k = 0; k < it->n_resources; k++) {
            vp_write_u32(writer, it->resources[k]);
        }
    }
}

/* Numbers an instance by its nodes: resources of the second one follow those of the first. */
static vp_instance_t make_relative(const vp_node_span_t *from, const vp_node_span_t *to,
                                   const vp_instance_t *it)
{
    vp_instance_t relative = *it;
    uint32_t n = 0;
    uint32_t k;

    relative.from_group -= from->first_group;
    relative.to_group -= to->first_group;
    for (k = 0; k < it->n_resources; k++) {
        if (it->resources[k] - from->first_resource < from->n_resources) {
            relative.resources[n++] = it->resources[k] - from->first_resource;
        }
    }
    for (k = 0; k < it->n_resources; k++) {
        if (it->resources[k] - from->first_resource >= from->n_resources) {
            relative.resources[n++] = it->resources[k] - to->first_resource + from->n_resources;
        }
    }
    return relative;
}

/* Lists the instances from a node to another, or inside one, in their own order. */
static size_t collect(encoding_t *encoding, const vp_node_span_t *from, const vp_node_span_t *to,
                      vp_instance_t **list_p, size_t *capacity_p)
{
    const vp_model_t *model = encoding->model;
    size_t n = 0;
    uint32_t i;

    for (i = 0; i < from->n_groups && to->n_groups > 0; i++) {
        size_t pair = vp_pair(model, from->first_group + i, to->first_group);
        uint32_t at = model->pair_begin[pair];
        uint32_t end = model->pair_begin[pair + to->n_groups];

        if (!vp_array_reserve(list_p, capacity_p, n + (end - at), sizeof(**list_p))) {
            encoding->writer->failed = true;
            return 0;
        }
        for (; at < end; at++) {
            (*list_p)[n++] = make_relative(from, to, &model->instances[at]);
        }
    }
    vp_instances_sort(*list_p, n);
    return n;
}

/* Addresses of a group's GPUs: none, or one for each rank. */
static void write_addresses(vp_writer_t *writer, const vp_model_t *model, const vp_group_t *group)
{
    bool is_known = false;
    uint32_t i;

    for (i = 0; i < group->n_ranks && model->rank_pci != NULL; i++) {
        is_known = is_known || model->rank_pci[group->first_rank + i] != VP_PCI_UNKNOWN;
    }
    vp_write_u8(writer, is_known ? 1 : 0);
    for (i = 0; i < group->n_ranks && is_known; i++) {
        vp_write_u64(writer, model->rank_pci[group->first_rank + i]);
    }
}

static void write_elements(vp_writer_t *writer, const vp_model_t *model, const vp_node_span_t *span)
{
    uint32_t i;

    vp_write_u32(writer, span->n_groups);
    for (i = 0; i < span->n_groups; i++) {
        const vp_group_t *it = &model->groups[span->first_group + i];

        write_name(writer, span, it->name);
        vp_write_u32(writer, it->n_ranks);
        write_addresses(writer, model, it);
    }
    vp_write_u32(writer, span->n_resources);
    for (i = 0; i < span->n_resources; i++) {
        const vp_resource_t *it = &model->resources[span->first_resource + i];

        write_name(writer, span, it->name);
        vp_write_u8(writer, (uint8_t)it->kind);
        vp_write_u64(writer, it->bytes_per_s);
        vp_write_string(writer, it->origin);
    }
    vp_write_u32(writer, span->n_nics);
    for (i = 0; i < span->n_nics; i++) {
        const vp_nic_t *it = &model->nics[span->first_nic + i];

        write_name(writer, span, it->name);
        vp_write_u32(writer, it->group - span->first_group);
        vp_write_u32(writer, it->tx_resource - span->first_resource);
        vp_write_u32(writer, it->rx_resource - span->first_resource);
        vp_write_u64(writer, it->bytes_per_s);
        vp_write_u32(writer, it->path_class);
        vp_write_u64(writer, it->pci);
    }
}

/* Encodes the node behind the templates, and takes it away again if an equal one is there. */
static void find_template(encoding_t *encoding, vp_node_span_t *span)
{
    vp_writer_t *templates = &encoding->templates;
    size_t begin = templates->n_bytes;
    size_t n_inside;
    size_t n_bytes;
    uint32_t i;

    write_elements(templates, encoding->model, span);
    n_inside = collect(encoding, span, span, &encoding->listed, &encoding->listed_capacity);
    write_instances(templates, encoding->listed, n_inside);
    if (templates->failed || !vp_array_reserve(&encoding->seen, &encoding->seen_capacity,
                                               (size_t)encoding->n_seen + 1, sizeof(seen_t))) {
        encoding->writer->failed = true;
        return;
    }
    n_bytes = templates->n_bytes - begin;
    for (i = 0; i < encoding->n_seen; i++) {
        if (encoding->seen[i].n_bytes == n_bytes &&
            memcmp(templates->data + encoding->seen[i].begin, templates->data + begin, n_bytes) ==
                0) {
            span->node_template = i;
            templates->n_bytes = begin;
            return;
        }
    }
    encoding->seen[encoding->n_seen] = (seen_t){.begin = begin, .n_bytes = n_bytes};
    span->node_template = encoding->n_seen++;
}

static bool is_equal(const vp_instance_t *a, const vp_instance_t *b, size_t n)
{
    size_t i;

    for (i = 0; i < n && vp_instance_compare(&a[i], &b[i]) == 0; i++) {
    }
    return i == n;
}

/* Calls `visit` for the instances of every pair of different nodes of two templates. */
typedef bool (*visit_fn_t)(encoding_t *encoding, const vp_node_span_t *from,
                           const vp_node_span_t *to, size_t n_first);

static bool visit_pairs(encoding_t *encoding, const vp_node_index_t *index, uint32_t a, uint32_t b,
                        size_t n_first, visit_fn_t visit)
{
    uint32_t i;
    uint32_t k;

    for (i = index->begin[a]; i < index->begin[a + 1]; i++) {
        for (k = index->begin[b]; k < index->begin[b + 1]; k++) {
            if (index->nodes[i] != index->nodes[k] &&
                !visit(encoding, &encoding->spans[index->nodes[i]],
                       &encoding->spans[index->nodes[k]], n_first)) {
                return false;
            }
        }
    }
    return true;
}

static bool is_as_listed(encoding_t *encoding, const vp_node_span_t *from, const vp_node_span_t *to,
                         size_t n_first)
{
    size_t n = collect(encoding, from, to, &encoding->compared, &encoding->compared_capacity);

    return n == n_first && is_equal(encoding->listed, encoding->compared, n);
}

static bool write_single(encoding_t *encoding, const vp_node_span_t *from, const vp_node_span_t *to,
                         size_t n_first)
{
    size_t n = collect(encoding, from, to, &encoding->listed, &encoding->listed_capacity);

    (void)n_first;
    write_instances(encoding->writer, encoding->listed, n);
    return true;
}

static void write_between(encoding_t *encoding, const vp_node_index_t *index, uint32_t a,
                          uint32_t b)
{
    uint32_t second = index->begin[b] + (a == b ? 1 : 0);
    const vp_node_span_t *from = &encoding->spans[index->nodes[index->begin[a]]];
    const vp_node_span_t *to = &encoding->spans[index->nodes[second]];
    size_t n = collect(encoding, from, to, &encoding->listed, &encoding->listed_capacity);

    if (visit_pairs(encoding, index, a, b, n, is_as_listed)) {
        vp_write_u8(encoding->writer, VP_BETWEEN_EQUAL);
        write_instances(encoding->writer, encoding->listed, n);
    } else {
        vp_write_u8(encoding->writer, VP_BETWEEN_SINGLE);
        (void)visit_pairs(encoding, index, a, b, n, write_single);
    }
}

static void write_all_between(encoding_t *encoding)
{
    vp_node_index_t index = {0};
    uint32_t a;
    uint32_t b;

    if (!vp_node_index_init(&index, encoding->spans, encoding->model->n_nodes, encoding->n_seen)) {
        encoding->writer->failed = true;
    }
    for (a = 0; a < encoding->n_seen && !encoding->writer->failed; a++) {
        for (b = 0; b < encoding->n_seen; b++) {
            if (vp_node_index_pairs(&index, a, b) > 0) {
                write_between(encoding, &index, a, b);
            }
        }
    }
    vp_node_index_clear(&index);
}

void vp_nodes_write(vp_writer_t *writer, const vp_model_t *model)
{
    encoding_t encoding = {.writer = writer, .model = model, .templates = VP_WRITER_INIT};
    uint32_t i;

    encoding.spans = vp_array_new(model->n_nodes, sizeof(*encoding.spans));
    if (encoding.spans == NULL) {
        writer->failed = true;
        return;
    }
    find_spans(model, encoding.spans);
    for (i = 0; i < model->n_nodes && !writer->failed; i++) {
        find_template(&encoding, &encoding.spans[i]);
    }
    vp_write_u32(writer, encoding.n_seen);
    vp_write_bytes(writer, encoding.templates.data, encoding.templates.n_bytes);
    vp_write_u32(writer, model->n_nodes);
    for (i = 0; i < model->n_nodes; i++) {
        vp_write_u32(writer, encoding.spans[i].node_template);
        vp_write_u32(writer, encoding.spans[i].label);
    }
    if (!writer->failed) {
        write_all_between(&encoding);
    }
    vp_writer_clear(&encoding.templates);
    free(encoding.seen);
    free(encoding.spans);
    free(encoding.listed);
    free(encoding.compared);
}
