/*
 * A plan with what running it takes.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/units.h"
#include "coll_variopath/run.h"

void vp_program_destroy(vp_program_t *program)
{
    if (program == NULL) {
        return;
    }
    vp_plan_destroy(program->plan);
    vp_waits_destroy(program->waits);
    free(program->row);
    free(program->column);
    free(program->flights);
    free(program->left);
    free(program->state);
    free(program->seen);
    free(program);
}

/*
 * Lanes shorter than the overhead of an activation end before anybody could be told of
 * it, so they do not wait. Longer ones lose more to each other on shared links.
 */
static vp_sync_t sync_by_length(const vp_engine_t *engine, const vp_plan_t *plan)
{
    uint64_t alpha_ns =
        engine->options.alpha_ns != 0 ? engine->options.alpha_ns : engine->model->alpha_ns;

    return plan->time_ns / 2 > vp_mul_sat(alpha_ns, plan->n_activations) ? VP_SYNC_DEPS
                                                                         : VP_SYNC_FREE;
}

/* A list means its waits, and lanes that share their links have none. */
static vp_sync_t choose_sync(const vp_engine_t *engine, const vp_plan_t *plan)
{
    if (plan->form.order == VP_PLAN_LIST) {
        return VP_SYNC_DEPS;
    }
    if (plan->form.order == VP_PLAN_CONCURRENT) {
        return VP_SYNC_FREE;
    }
    return engine->options.sync == VP_SYNC_AUTO ? sync_by_length(engine, plan)
                                                : engine->options.sync;
}

/* With waits the next lanes start shortly before the last ones have ended. */
static uint32_t choose_window(const vp_program_t *program)
{
    return program->sync == VP_SYNC_DEPS ? 2 * program->plan->form.window
                                         : program->plan->form.window;
}

static bool copy_counts(const vp_engine_t *engine, vp_program_t *program)
{
    size_t n = engine->n_ranks, mine = vp_engine_my_place(engine), place;
    uint32_t rank;

    program->row = vp_array_new(n, sizeof(*program->row));
    program->column = vp_array_new(n, sizeof(*program->column));
    for (rank = 0; program->row != NULL && program->column != NULL && rank < n; rank++) {
        place = engine->place[rank];
        program->row[rank] = engine->demand[mine * n + place];
        program->column[rank] = engine->demand[place * n + mine];
    }
    return program->row != NULL && program->column != NULL;
}

static vp_status_t fill_program(const vp_engine_t *engine, vp_program_t *program, vp_error_t *error)
{
    vp_status_t status = vp_waits_create(engine->model, program->plan, vp_engine_my_place(engine),
                                         program->sync == VP_SYNC_DEPS, &program->waits, error);

    if (status != VP_OK) {
        return status;
    }
    program->window = choose_window(program);
    program->flights = vp_array_new(program->window, sizeof(*program->flights));
    program->left = vp_array_new(program->waits->n_own, sizeof(*program->left));
    program->state = vp_array_new(program->waits->n_own, sizeof(*program->state));
    program->seen = vp_array_new(program->waits->remote.n_waits, sizeof(*program->seen));
    return copy_counts(engine, program) && program->flights != NULL && program->left != NULL &&
                   program->state != NULL && program->seen != NULL
               ? VP_OK
               : vp_error_no_memory(error, "the lanes of a plan");
}

vp_status_t vp_program_create(const vp_engine_t *engine, vp_plan_t *plan, vp_program_t **program_p,
                              vp_error_t *error)
{
    vp_program_t *program = vp_array_new(1, sizeof(*program));
    vp_status_t status;

    if (program == NULL) {
        vp_plan_destroy(plan);
        return vp_error_no_memory(error, "the lanes of a plan");
    }
    program->plan = plan;
    program->sync = choose_sync(engine, plan);
    status = fill_program(engine, program, error);
    if (status != VP_OK) {
        vp_program_destroy(program);
        return status;
    }
    *program_p = program;
    return VP_OK;
}
