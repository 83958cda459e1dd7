/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/content.h"

#include "base/array.h"
#include "catalog/nodes.h"

/* The fewest bytes that one element of each list takes in a file. */
enum { CLASS_BYTES = 12, CONTENTION_BYTES = 4 + 3 * 5, MEMBER_BYTES = 8 };

/*
 * Allocates an array of a number of elements that is read here. It is refused
 * when so many elements of at least element_bytes cannot follow: no small file
 * makes the reader allocate much.
 */
static void *read_array(vp_reader_t *reader, size_t element_bytes, size_t size, uint32_t *n_p)
{
    uint32_t n = vp_read_u32(reader);
    void *array = NULL;

    if (n > vp_reader_left(reader) / element_bytes) {
        reader->failed = true;
    }
    if (!reader->failed) {
        array = vp_array_new(n, size);
        reader->failed = array == NULL;
        reader->no_memory = array == NULL;
    }
    *n_p = array == NULL ? 0 : n;
    return array;
}

static char *read_name(vp_reader_t *reader)
{
    return vp_read_string(reader, VP_MAX_NAME_BYTES);
}

static char *read_origin(vp_reader_t *reader)
{
    return vp_read_string(reader, VP_MAX_ORIGIN_BYTES);
}

static void read_classes(vp_reader_t *reader, vp_model_t *model)
{
    uint32_t i;

    model->classes = read_array(reader, CLASS_BYTES, sizeof(*model->classes), &model->n_classes);
    for (i = 0; i < model->n_classes && !reader->failed; i++) {
        model->classes[i].name = read_name(reader);
        model->classes[i].tls = read_name(reader);
        model->classes[i].devices = read_name(reader);
    }
}

static void read_table(vp_reader_t *reader, vp_contention_t *it, uint32_t table)
{
    uint32_t k;

    it->n_entries[table] = vp_read_u8(reader);
    if (it->n_entries[table] > VP_MAX_CONTENTION_ENTRIES) {
        it->n_entries[table] = 0;
        reader->failed = true;
    }
    for (k = 0; k < it->n_entries[table]; k++) {
        it->share_ppm[table][k] = vp_read_u32(reader);
    }
    it->origin[table] = read_origin(reader);
}

static void read_contention(vp_reader_t *reader, vp_model_t *model)
{
    uint32_t i;
    uint32_t table;

    model->contention =
        read_array(reader, CONTENTION_BYTES, sizeof(*model->contention), &model->n_contention);
    for (i = 0; i < model->n_contention && !reader->failed; i++) {
        model->contention[i].name = read_name(reader);
        for (table = 0; table < VP_N_CONTENTION_TABLES; table++) {
            read_table(reader, &model->contention[i], table);
        }
    }
}

static bool read_model(vp_reader_t *reader, vp_model_t *model)
{
    model->name = read_name(reader);
    model->rates = read_name(reader);
    model->transport = read_name(reader);
    model->alpha_ns = vp_read_u64(reader);
    model->put_overhead_ns = vp_read_u64(reader);
    model->gpu_link_bytes_per_s = vp_read_u64(reader);
    model->gpu_link_origin = read_origin(reader);
    read_classes(reader, model);
    read_contention(reader, model);
    return !reader->failed && vp_nodes_read(reader, model) && vp_model_finish(model, NULL) == VP_OK;
}

static void read_shapes(vp_reader_t *reader, vp_catalog_t *catalog)
{
    size_t n_pairs = (size_t)catalog->model->n_groups * catalog->model->n_groups;
    uint32_t first_family = 0;
    uint32_t i;
    size_t k;

    for (i = 0; i < catalog->n_shapes; i++) {
        catalog->shapes[i].first_family = first_family;
        catalog->shapes[i].n_families = vp_read_u32(reader);
        first_family += catalog->shapes[i].n_families;
        for (k = 0; k < n_pairs; k++) {
            catalog->shape_lanes[i * n_pairs + k] = vp_read_u16(reader);
        }
    }
}

static void read_members(vp_reader_t *reader, vp_catalog_t *catalog, uint32_t n_members)
{
    uint32_t at = 0;
    uint32_t i;

    for (i = 0; i < catalog->n_families; i++) {
        uint32_t n = vp_read_u32(reader);

        if (n > n_members - at) {
            reader->failed = true;
            return;
        }
        at += n;
        catalog->member_begin[i + 1] = at;
    }
    if (at != n_members) {
        reader->failed = true;
        return;
    }
    for (i = 0; i < n_members; i++) {
        catalog->members[i].instance = vp_read_u32(reader);
        catalog->members[i].count = vp_read_u32(reader);
    }
}

static bool read_tree(vp_reader_t *reader, vp_catalog_t *catalog)
{
    size_t n_pairs = (size_t)catalog->model->n_groups * catalog->model->n_groups;
    uint32_t n_shapes = vp_read_u32(reader);
    uint32_t n_families = vp_read_u32(reader);
    uint32_t n_members = vp_read_u32(reader);
    size_t left = vp_reader_left(reader);

    if (reader->failed || n_shapes > left / (4 + 2 * n_pairs) || n_families > left / 4 ||
        n_members > left / MEMBER_BYTES) {
        reader->failed = true;
        return false;
    }
    catalog->shape_lanes = vp_array_new(n_shapes * n_pairs, sizeof(*catalog->shape_lanes));
    catalog->shapes = vp_array_new(n_shapes, sizeof(*catalog->shapes));
    catalog->member_begin = vp_array_new((size_t)n_families + 1, sizeof(*catalog->member_begin));
    catalog->members = vp_array_new(n_members, sizeof(*catalog->members));
    if (catalog->shape_lanes == NULL || catalog->shapes == NULL || catalog->member_begin == NULL ||
        catalog->members == NULL) {
        return false;
    }
    catalog->n_shapes = n_shapes;
    catalog->n_families = n_families;
    read_shapes(reader, catalog);
    read_members(reader, catalog, n_members);
    return !reader->failed;
}

bool vp_content_read(vp_reader_t *reader, vp_catalog_t *catalog)
{
    catalog->mode = (vp_catalog_mode_t)vp_read_u8(reader);
    catalog->model = vp_array_new(1, sizeof(*catalog->model));
    return catalog->model != NULL && read_model(reader, catalog->model) &&
           read_tree(reader, catalog);
}
