/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/nodes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "catalog/content.h"

/* The fewest bytes that one element of each list takes in a file. */
enum {
    GROUP_BYTES = 9,
    RESOURCE_BYTES = 17,
    NIC_BYTES = 36,
    INSTANCE_BYTES = 30,
    TEMPLATE_BYTES = 16,
    NODE_BYTES = 8
};

/* A template: where it begins in the file, and how much it holds. */
typedef struct node_template {
    size_t position;
    uint32_t n_groups;
    uint32_t n_ranks;
    uint32_t n_resources;
    uint32_t n_nics;
    uint32_t n_instances;
} node_template_t;

/*
 * Templates and lists are read twice: once to verify and count them, so that
 * nothing is allocated beyond the limits, and once more for each of their nodes.
 */
typedef struct decoding {
    vp_reader_t *reader;
    vp_model_t *model;
    uint32_t n_templates;
    uint32_t n_nodes;
    node_template_t *templates;
    vp_node_span_t *spans;
    vp_node_index_t index;
    uint64_t n_instances; /* counted */
    bool is_out_of_memory;
} decoding_t;

static bool is_failed(const decoding_t *decoding)
{
    return decoding->reader->failed || decoding->is_out_of_memory;
}

/* A count that so many elements can follow. */
static uint32_t read_count(vp_reader_t *reader, size_t element_bytes, uint32_t max)
{
    uint32_t n = vp_read_u32(reader);

    if (n > max || n > vp_reader_left(reader) / element_bytes) {
        reader->failed = true;
    }
    return reader->failed ? 0 : n;
}

static void *make_array(decoding_t *decoding, size_t n, size_t size)
{
    void *array = is_failed(decoding) ? NULL : vp_array_new(n, size);

    if (array == NULL && !decoding->reader->failed) {
        decoding->is_out_of_memory = true;
    }
    return array;
}

/* Reads a name and puts the label of the node before it. */
static char *read_name(decoding_t *decoding, uint32_t label)
{
    char *suffix = vp_read_string(decoding->reader, VP_MAX_NAME_BYTES);
    char text[VP_MAX_NAME_BYTES + 1];
    char *name;
    int n_bytes;

    if (suffix == NULL || label == VP_NODE_UNLABELLED) {
        return suffix;
    }
    n_bytes = snprintf(text, sizeof(text), "node%" PRIu32 "/%s", label, suffix);
    free(suffix);
    if (n_bytes < 0 || n_bytes > VP_MAX_NAME_BYTES) {
        decoding->reader->failed = true;
        return NULL;
    }
    name = vp_string_copy(text);
    decoding->is_out_of_memory = decoding->is_out_of_memory || name == NULL;
    return name;
}

static void skip_text(vp_reader_t *reader, size_t max_bytes)
{
    uint32_t n_bytes = vp_read_u32(reader);

    if (n_bytes > max_bytes || n_bytes > vp_reader_left(reader)) {
        reader->failed = true;
    } else {
        reader->position += n_bytes;
    }
}

static void skip(vp_reader_t *reader, size_t n_bytes)
{
    if (n_bytes > vp_reader_left(reader)) {
        reader->failed = true;
    } else {
        reader->position += n_bytes;
    }
}

/* Verifies that every instance of a list stays inside its nodes; returns their number. */
static uint32_t skip_instances(vp_reader_t *reader, const node_template_t *from,
                               const node_template_t *to)
{
    uint32_t n = read_count(reader, INSTANCE_BYTES, VP_MAX_INSTANCES);
    uint32_t n_resources = from->n_resources + (from == to ? 0 : to->n_resources);
    uint32_t i;
    uint32_t k;

    for (i = 0; i < n && !reader->failed; i++) {
        uint8_t n_used;

        (void)vp_read_u8(reader);
        reader->failed = vp_read_u32(reader) >= from->n_groups || reader->failed;
        reader->failed = vp_read_u32(reader) >= to->n_groups || reader->failed;
        skip(reader, 4 + 8 + 4 + 4);
        n_used = vp_read_u8(reader);
        reader->failed = n_used > VP_MAX_FOOTPRINT || reader->failed;
        for (k = 0; k < n_used && !reader->failed; k++) {
            reader->failed = vp_read_u32(reader) >= n_resources || reader->failed;
        }
    }
    return n;
}

/* Addresses of a group's GPUs: a flag, and if it is 1 one address for each rank. */
static void skip_addresses(vp_reader_t *reader, uint32_t n_ranks)
{
    uint8_t is_known = vp_read_u8(reader);

    reader->failed = reader->failed || is_known > 1;
    if (is_known == 1 && !reader->failed) {
        skip(reader, (size_t)n_ranks * 8);
    }
}

static void skip_template(vp_reader_t *reader, node_template_t *it)
{
    uint32_t i;

    it->position = reader->position;
    it->n_groups = read_count(reader, GROUP_BYTES, VP_MAX_GROUPS);
    for (i = 0; i < it->n_groups && !reader->failed; i++) {
        uint32_t n_ranks;

        skip_text(reader, VP_MAX_NAME_BYTES);
        n_ranks = vp_read_u32(reader);
        reader->failed = reader->failed || n_ranks > VP_MAX_RANKS - it->n_ranks;
        it->n_ranks += reader->failed ? 0 : n_ranks;
        skip_addresses(reader, n_ranks);
    }
    it->n_resources = read_count(reader, RESOURCE_BYTES, VP_MAX_RESOURCES);
    for (i = 0; i < it->n_resources && !reader->failed; i++) {
        skip_text(reader, VP_MAX_NAME_BYTES);
        skip(reader, 1 + 8);
        skip_text(reader, VP_MAX_ORIGIN_BYTES);
    }
    it->n_nics = read_count(reader, NIC_BYTES, VP_MAX_NICS);
    for (i = 0; i < it->n_nics && !reader->failed; i++) {
        skip_text(reader, VP_MAX_NAME_BYTES);
        reader->failed = vp_read_u32(reader) >= it->n_groups || reader->failed;
        reader->failed = vp_read_u32(reader) >= it->n_resources || reader->failed;
        reader->failed = vp_read_u32(reader) >= it->n_resources || reader->failed;
        skip(reader, 8 + 4 + 8);
    }
    it->n_instances = skip_instances(reader, it, it);
}

static void read_templates(decoding_t *decoding)
{
    uint32_t n = read_count(decoding->reader, TEMPLATE_BYTES, VP_MAX_GROUPS);
    uint32_t i;

    decoding->templates = make_array(decoding, n, sizeof(*decoding->templates));
    for (i = 0; i < n && !is_failed(decoding); i++) {
        skip_template(decoding->reader, &decoding->templates[i]);
    }
    decoding->n_templates = n;
}

/* Appends the elements of a node's template to the spans of all before it. */
static void place_node(decoding_t *decoding, vp_node_span_t *span)
{
    const node_template_t *from = &decoding->templates[span->node_template];
    vp_model_t *model = decoding->model;

    span->first_group = model->n_groups;
    span->n_groups = from->n_groups;
    span->first_resource = model->n_resources;
    span->n_resources = from->n_resources;
    span->first_nic = model->n_nics;
    span->n_nics = from->n_nics;
    if (from->n_groups > VP_MAX_GROUPS - model->n_groups ||
        from->n_ranks > VP_MAX_RANKS - model->n_ranks ||
        from->n_resources > VP_MAX_RESOURCES - model->n_resources ||
        from->n_nics > VP_MAX_NICS - model->n_nics) {
        decoding->reader->failed = true;
        return;
    }
    model->n_groups += from->n_groups;
    model->n_ranks += from->n_ranks;
    model->n_resources += from->n_resources;
    model->n_nics += from->n_nics;
    decoding->n_instances += from->n_instances;
}

static void read_spans(decoding_t *decoding)
{
    vp_reader_t *reader = decoding->reader;
    uint32_t i;

    decoding->n_nodes = read_count(reader, NODE_BYTES, VP_MAX_GROUPS);
    decoding->spans = make_array(decoding, decoding->n_nodes, sizeof(*decoding->spans));
    for (i = 0; i < decoding->n_nodes && !is_failed(decoding); i++) {
        decoding->spans[i].node_template = vp_read_u32(reader);
        decoding->spans[i].label = vp_read_u32(reader);
        if (decoding->spans[i].node_template >= decoding->n_templates) {
            reader->failed = true;
            return;
        }
        place_node(decoding, &decoding->spans[i]);
    }
    if (!is_failed(decoding) && !vp_node_index_init(&decoding->index, decoding->spans,
                                                    decoding->n_nodes, decoding->n_templates)) {
        decoding->is_out_of_memory = true;
    }
}

/* Puts an instance that was verified before into the model. */
static void read_instance(decoding_t *decoding, const vp_node_span_t *from,
                          const vp_node_span_t *to)
{
    vp_reader_t *reader = decoding->reader;
    vp_instance_t *it = &decoding->model->instances[decoding->model->n_instances++];
    uint32_t k;
    uint32_t at;

    it->kind = (vp_path_kind_t)vp_read_u8(reader);
    it->from_group = from->first_group + vp_read_u32(reader);
    it->to_group = to->first_group + vp_read_u32(reader);
    it->n_copies = vp_read_u32(reader);
    it->bytes_per_s = vp_read_u64(reader);
    it->source_class = vp_read_u32(reader);
    it->destination_class = vp_read_u32(reader);
    it->n_resources = vp_read_u8(reader);
    for (k = 0; k < it->n_resources; k++) {
        uint32_t resource = vp_read_u32(reader);

        resource += resource < from->n_resources ? from->first_resource
                                                 : to->first_resource - from->n_resources;
        /* Those of the node that comes first come first. */
        for (at = k; at > 0 && it->resources[at - 1] > resource; at--) {
            it->resources[at] = it->resources[at - 1];
        }
        it->resources[at] = resource;
    }
}

static void read_list(decoding_t *decoding, const vp_node_span_t *from, const vp_node_span_t *to)
{
    uint32_t n = vp_read_u32(decoding->reader);
    uint32_t i;

    for (i = 0; i < n; i++) {
        read_instance(decoding, from, to);
    }
}

static void read_addresses(decoding_t *decoding, const vp_group_t *group)
{
    vp_model_t *model = decoding->model;
    uint32_t i;

    if (vp_read_u8(decoding->reader) == 0) {
        return;
    }
    if (model->rank_pci == NULL) {
        model->rank_pci = make_array(decoding, model->n_ranks, sizeof(*model->rank_pci));
    }
    for (i = 0; i < group->n_ranks && !is_failed(decoding); i++) {
        model->rank_pci[group->first_rank + i] = vp_read_u64(decoding->reader);
    }
}

static void read_node(decoding_t *decoding, uint32_t node, uint32_t *first_rank)
{
    vp_node_span_t *span = &decoding->spans[node];
    vp_reader_t *reader = decoding->reader;
    vp_model_t *model = decoding->model;
    uint32_t i;

    reader->position = decoding->templates[span->node_template].position + 4;
    for (i = 0; i < span->n_groups; i++) {
        vp_group_t *it = &model->groups[span->first_group + i];

        it->name = read_name(decoding, span->label);
        it->node = node;
        it->first_rank = *first_rank;
        it->n_ranks = vp_read_u32(reader);
        *first_rank += it->n_ranks;
        read_addresses(decoding, it);
    }
    skip(reader, 4);
    for (i = 0; i < span->n_resources && !is_failed(decoding); i++) {
        vp_resource_t *it = &model->resources[span->first_resource + i];

        it->name = read_name(decoding, span->label);
        it->node = node;
        it->kind = (vp_resource_kind_t)vp_read_u8(reader);
        it->bytes_per_s = vp_read_u64(reader);
        it->origin = vp_read_string(reader, VP_MAX_ORIGIN_BYTES);
    }
    skip(reader, 4);
    for (i = 0; i < span->n_nics && !is_failed(decoding); i++) {
        vp_nic_t *it = &model->nics[span->first_nic + i];

        it->name = read_name(decoding, span->label);
        it->node = node;
        it->group = span->first_group + vp_read_u32(reader);
        it->tx_resource = span->first_resource + vp_read_u32(reader);
        it->rx_resource = span->first_resource + vp_read_u32(reader);
        it->bytes_per_s = vp_read_u64(reader);
        it->path_class = vp_read_u32(reader);
        it->pci = vp_read_u64(reader);
    }
    if (!is_failed(decoding)) {
        read_list(decoding, span, span);
    }
}

/* Instances from nodes of one template to those of another: counts them, or reads the list again.
 */
static void count_between(decoding_t *decoding, uint32_t a, uint32_t b)
{
    vp_reader_t *reader = decoding->reader;
    uint64_t n_pairs = vp_node_index_pairs(&decoding->index, a, b);
    uint8_t form = vp_read_u8(reader);
    uint64_t i;
    /* A copy, so that nodes of one template still count as two. */
    node_template_t to = decoding->templates[b];

    reader->failed = reader->failed || form > VP_BETWEEN_SINGLE;
    if (!reader->failed && form == VP_BETWEEN_EQUAL) {
        decoding->n_instances += n_pairs * skip_instances(reader, &decoding->templates[a], &to);
        return;
    }
    for (i = 0; i < n_pairs && !reader->failed; i++) {
        decoding->n_instances += skip_instances(reader, &decoding->templates[a], &to);
    }
}

static void read_between(decoding_t *decoding, uint32_t a, uint32_t b)
{
    const vp_node_index_t *index = &decoding->index;
    vp_reader_t *reader = decoding->reader;
    bool is_again = vp_read_u8(reader) == VP_BETWEEN_EQUAL;
    size_t position = reader->position;
    uint32_t i;
    uint32_t k;

    for (i = index->begin[a]; i < index->begin[a + 1]; i++) {
        for (k = index->begin[b]; k < index->begin[b + 1]; k++) {
            if (index->nodes[i] != index->nodes[k]) {
                reader->position = is_again ? position : reader->position;
                read_list(decoding, &decoding->spans[index->nodes[i]],
                          &decoding->spans[index->nodes[k]]);
            }
        }
    }
}

static void for_template_pairs(decoding_t *decoding,
                               void (*visit)(decoding_t *decoding, uint32_t a, uint32_t b))
{
    uint32_t a;
    uint32_t b;

    for (a = 0; a < decoding->n_templates; a++) {
        for (b = 0; b < decoding->n_templates && !is_failed(decoding); b++) {
            if (vp_node_index_pairs(&decoding->index, a, b) > 0) {
                visit(decoding, a, b);
            }
        }
    }
}

/* Everything is verified and counted: makes the arrays and fills them. */
static void expand(decoding_t *decoding, size_t position)
{
    vp_model_t *model = decoding->model;
    uint32_t first_rank = 0;
    uint32_t node;

    if (decoding->n_instances > VP_MAX_INSTANCES) {
        decoding->reader->failed = true;
    }
    model->groups = make_array(decoding, model->n_groups, sizeof(*model->groups));
    model->resources = make_array(decoding, model->n_resources, sizeof(*model->resources));
    model->nics = make_array(decoding, model->n_nics, sizeof(*model->nics));
    model->instances = make_array(decoding, decoding->n_instances, sizeof(*model->instances));
    for (node = 0; node < decoding->n_nodes && !is_failed(decoding); node++) {
        read_node(decoding, node, &first_rank);
    }
    decoding->reader->position = position;
    if (!is_failed(decoding)) {
        for_template_pairs(decoding, read_between);
    }
}

bool vp_nodes_read(vp_reader_t *reader, vp_model_t *model)
{
    decoding_t decoding = {.reader = reader, .model = model};
    size_t position = 0;

    read_templates(&decoding);
    if (!is_failed(&decoding)) {
        read_spans(&decoding);
    }
    if (!is_failed(&decoding)) {
        position = reader->position;
        for_template_pairs(&decoding, count_between);
    }
    if (!is_failed(&decoding)) {
        model->n_nodes = decoding.n_nodes;
        expand(&decoding, position);
    }
    vp_node_index_clear(&decoding.index);
    free(decoding.spans);
    free(decoding.templates);
    return !is_failed(&decoding);
}
