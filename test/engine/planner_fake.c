/* SPDX-License-Identifier: BSD-3-Clause */
#include "planner_fake.h"

#include <check.h>
#include <string.h>

#include "base/array.h"
#include "planner.h"
#include "scheduler/schedule.h"
#include "small_model.h"

const char *const planner_name = "rotations";
planner_mode_t planner_mode;
uint64_t planner_pairwise_ns;

/* Rotations need no families. */
vp_catalog_t *planner_catalog(uint32_t n_ranks)
{
    vp_catalog_t *catalog = vp_array_new(1, sizeof(*catalog));

    ck_assert_ptr_nonnull(catalog);
    catalog->model = small_model(n_ranks);
    catalog->mode = VP_CATALOG_EXHAUSTIVE;
    catalog->fingerprint = UINT64_C(0x5eed) + n_ranks;
    return catalog;
}

static uint32_t n_ways(const vp_model_t *model, uint32_t from, uint32_t to, uint32_t *first_p)
{
    size_t pair = vp_pair(model, model->rank_group[from], model->rank_group[to]);

    *first_p = model->pair_begin[pair];
    return model->pair_begin[pair + 1] - *first_p;
}

/* Piece `way` of a block; the last one takes the rest. */
static vp_status_t add_piece(vp_plan_builder_t *builder, const vp_model_t *model, uint32_t from,
                             uint32_t to, uint64_t n_bytes, uint32_t way, vp_error_t *error)
{
    uint32_t first, n = n_ways(model, from, to, &first);
    uint64_t piece = n_bytes / n;

    if (way >= n) {
        return VP_OK;
    }
    if (way == n - 1) {
        piece = n_bytes - piece * (n - 1);
    }
    if (planner_mode == PLANNER_SHORT && piece > 1) {
        piece--;
    }
    return vp_plan_builder_add(builder, from, to, first + way, piece, error);
}

static vp_status_t rotate(vp_plan_builder_t *builder, const vp_model_t *model,
                          const uint64_t *demand, uint32_t step, uint32_t way, vp_error_t *error)
{
    uint32_t from, to, n = model->n_ranks;
    vp_status_t status = VP_OK;

    vp_plan_builder_next(builder);
    for (from = 0; from < n && status == VP_OK; from++) {
        to = (from + step) % n;
        status = add_piece(builder, model, from, to, demand[(size_t)from * n + to], way, error);
    }
    return status;
}

static vp_status_t plan_rotations(const vp_catalog_t *catalog, const uint64_t *demand,
                                  const vp_schedule_options_t *options, vp_plan_t **plan_p,
                                  vp_error_t *error)
{
    const vp_model_t *model = catalog->model;
    vp_plan_builder_t *builder = NULL;
    uint32_t step, way;
    vp_status_t status;

    if (planner_mode == PLANNER_NO_PATH) {
        return vp_error_set(error, VP_ERR_BAD_INPUT, "no path for this pair");
    }
    if (planner_mode == PLANNER_NO_MEMORY) {
        return vp_error_no_memory(error, "the plan");
    }
    status = vp_plan_builder_create(model, &builder, error);
    for (step = 1; step < model->n_ranks && status == VP_OK; step++) {
        uint32_t turn = planner_mode == PLANNER_REVERSED ? model->n_ranks - step : step;

        for (way = 0; way < 2 && status == VP_OK; way++) {
            status = rotate(builder, model, demand, turn, way, error);
        }
    }
    if (status == VP_OK) {
        status = vp_plan_builder_finish(builder, options->alpha_ns, "rotations", plan_p, error);
    }
    if (status == VP_OK && planner_mode == PLANNER_OUTSIDE) {
        (*plan_p)->lanes[(*plan_p)->n_lanes - 1].offset_bytes += 1;
    }
    vp_plan_builder_destroy(builder);
    return status;
}

vp_schedule_fn_t vp_schedule_find(const char *name)
{
    return strcmp(name, "rotations") == 0 || strcmp(name, "rotations2") == 0 ? plan_rotations
                                                                             : NULL;
}

const char *vp_schedule_names(void)
{
    return "rotations, rotations2";
}

vp_status_t vp_pairwise_ns(const vp_model_t *model, const uint64_t *demand_bytes, uint64_t alpha_ns,
                           uint64_t *time_ns_p, vp_error_t *error)
{
    (void)model;
    (void)demand_bytes;
    (void)alpha_ns;
    (void)error;
    *time_ns_p = planner_pairwise_ns;
    return VP_OK;
}
