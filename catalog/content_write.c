/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/content.h"

#include "catalog/nodes.h"

static void write_classes(vp_writer_t *writer, const vp_model_t *model)
{
    uint32_t i;

    vp_write_u32(writer, model->n_classes);
    for (i = 0; i < model->n_classes; i++) {
        vp_write_string(writer, model->classes[i].name);
        vp_write_string(writer, model->classes[i].tls);
        vp_write_string(writer, model->classes[i].devices);
    }
}

static void write_contention(vp_writer_t *writer, const vp_model_t *model)
{
    uint32_t i;
    uint32_t table;
    uint32_t k;

    vp_write_u32(writer, model->n_contention);
    for (i = 0; i < model->n_contention; i++) {
        const vp_contention_t *it = &model->contention[i];

        vp_write_string(writer, it->name);
        for (table = 0; table < VP_N_CONTENTION_TABLES; table++) {
            vp_write_u8(writer, (uint8_t)it->n_entries[table]);
            for (k = 0; k < it->n_entries[table]; k++) {
                vp_write_u32(writer, it->share_ppm[table][k]);
            }
            vp_write_string(writer, it->origin[table]);
        }
    }
}

static void write_model(vp_writer_t *writer, const vp_model_t *model)
{
    vp_write_string(writer, model->name);
    vp_write_string(writer, model->rates);
    vp_write_string(writer, model->transport);
    vp_write_u64(writer, model->alpha_ns);
    vp_write_u64(writer, model->put_overhead_ns);
    vp_write_u64(writer, model->gpu_link_bytes_per_s);
    vp_write_string(writer, model->gpu_link_origin);
    write_classes(writer, model);
    write_contention(writer, model);
    vp_nodes_write(writer, model);
}

static void write_tree(vp_writer_t *writer, const vp_catalog_t *catalog)
{
    size_t n_pairs = (size_t)catalog->model->n_groups * catalog->model->n_groups;
    uint32_t n_members = catalog->member_begin[catalog->n_families];
    size_t k;
    uint32_t i;

    vp_write_u32(writer, catalog->n_shapes);
    vp_write_u32(writer, catalog->n_families);
    vp_write_u32(writer, n_members);
    for (i = 0; i < catalog->n_shapes; i++) {
        vp_write_u32(writer, catalog->shapes[i].n_families);
        for (k = 0; k < n_pairs; k++) {
            vp_write_u16(writer, catalog->shape_lanes[i * n_pairs + k]);
        }
    }
    for (i = 0; i < catalog->n_families; i++) {
        vp_write_u32(writer, catalog->member_begin[i + 1] - catalog->member_begin[i]);
    }
    for (i = 0; i < n_members; i++) {
        vp_write_u32(writer, catalog->members[i].instance);
        vp_write_u32(writer, catalog->members[i].count);
    }
}

void vp_content_write(vp_writer_t *writer, const vp_catalog_t *catalog)
{
    vp_write_u8(writer, (uint8_t)catalog->mode);
    write_model(writer, catalog->model);
    write_tree(writer, catalog);
}
