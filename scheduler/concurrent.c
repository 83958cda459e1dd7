/*
 * The planner "concurrent": no activations, lanes share links. In its plainest
 * form everything starts at once on nearest paths. Otherwise bytes are spread
 * over paths, and each lane is cut in pieces that take turns, so that all
 * lanes of a source progress alike however different their bytes; a window of
 * two turns keeps each of them in flight.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/units.h"
#include "scheduler/jobs.h"
#include "scheduler/schedule.h"
#include "scheduler/spread.h"

enum {
    MAX_TURNS = 32,
    MAX_CALL_TURNS = 16,
    MAX_LANES = 1 << 16,   /* of a plan in turns */
    PIECE_CHUNKS = 16,     /* least of a piece, */
    PIECE_BYTES = 1 << 16, /* and least of its bytes */
    WINDOW_TURNS = 2,
    N_SWEEPS = 4
};

static const char planner_name[] = "concurrent";

static size_t count_lanes(const vp_spread_t *spread)
{
    size_t n_lanes = 0;
    size_t i;

    for (i = 0; i < spread->n_shares; i++) {
        n_lanes += spread->shares[i] > 0;
    }
    return n_lanes;
}

/* Most lanes of one source, whole; at least 1. */
static uint32_t widest_source(const vp_spread_t *spread)
{
    uint32_t widest = 1;
    uint32_t n_lanes = 0;
    size_t k;
    uint32_t way;

    for (k = 0; k < spread->n_pairs; k++) {
        const vp_spread_pair_t *pair = &spread->pairs[k];

        n_lanes = k > 0 && spread->pairs[k - 1].source == pair->source ? n_lanes : 0;
        for (way = 0; way < pair->n_ways; way++) {
            n_lanes += spread->shares[pair->first_share + way] > 0;
        }
        widest = n_lanes > widest ? n_lanes : widest;
    }
    return widest;
}

/* Where the share ends that has had `turn` of n_turns, at whole chunks. */
static uint64_t end_of_turn(uint64_t share_bytes, uint32_t turn, uint32_t n_turns,
                            uint64_t chunk_bytes)
{
    uint64_t n_bytes;

    if (turn == n_turns) {
        return share_bytes;
    }
    n_bytes = vp_muldiv_floor(share_bytes, turn, n_turns);
    return n_bytes - n_bytes % chunk_bytes;
}

/* Turns of a share that leave its pieces long enough. */
static uint32_t turns_of(uint64_t share_bytes, uint32_t n_turns, uint64_t chunk_bytes)
{
    uint64_t least = PIECE_CHUNKS * chunk_bytes > PIECE_BYTES ? PIECE_CHUNKS * chunk_bytes
                                                              : (uint64_t)PIECE_BYTES;
    uint64_t most = share_bytes / least;

    return most < 1 ? 1 : most < n_turns ? (uint32_t)most : n_turns;
}

/* The piece of a share that runs in one of n_turns: shares with fewer turns are spread over all. */
static uint64_t piece_of(uint64_t share_bytes, uint32_t turn, uint32_t n_turns,
                         uint64_t chunk_bytes)
{
    uint32_t own = turns_of(share_bytes, n_turns, chunk_bytes);
    uint32_t before = (uint32_t)((uint64_t)turn * own / n_turns);
    uint32_t after = (uint32_t)((uint64_t)(turn + 1) * own / n_turns);

    return end_of_turn(share_bytes, after, own, chunk_bytes) -
           end_of_turn(share_bytes, before, own, chunk_bytes);
}

/*
 * The pieces of one turn. A pair is cut at whole chunks, so the one share that
 * is not whole chunks, and ends in the last turn, comes behind the others.
 */
static vp_status_t add_turn(const vp_spread_t *spread, vp_plan_builder_t *builder, uint32_t turn,
                            uint32_t n_turns, vp_error_t *error)
{
    vp_status_t status = VP_OK;
    size_t k;
    uint32_t way;

    for (k = 0; k < spread->n_pairs; k++) {
        const vp_spread_pair_t *pair = &spread->pairs[k];

        for (way = 0; way < 2 * pair->n_ways && status == VP_OK; way++) {
            uint32_t own = way % pair->n_ways;
            uint64_t share_bytes = spread->shares[pair->first_share + own];

            if ((share_bytes % spread->chunk_bytes != 0) == (way >= pair->n_ways)) {
                status = vp_plan_builder_add(
                    builder, pair->source, pair->destination, pair->first_instance + own,
                    piece_of(share_bytes, turn, n_turns, spread->chunk_bytes), error);
            }
        }
    }
    return status;
}

/* A plan of the spread in turns, with window_turns of them in flight. */
static vp_status_t make_plan(const vp_spread_t *spread, uint32_t n_turns, uint32_t contention,
                             uint64_t alpha_ns, vp_plan_t **plan_p, vp_error_t *error)
{
    uint32_t width = widest_source(spread);
    const vp_plan_form_t form = {VP_PLAN_CONCURRENT, n_turns == 1 ? width : WINDOW_TURNS * width,
                                 true, contention};
    vp_plan_builder_t *builder = NULL;
    vp_status_t status = vp_plan_builder_create(spread->model, &builder, error);
    uint32_t turn;

    if (status != VP_OK) {
        return status;
    }
    vp_plan_builder_set_form(builder, &form);
    for (turn = 0; turn < n_turns && status == VP_OK; turn++) {
        status = add_turn(spread, builder, turn, n_turns, error);
    }
    if (status == VP_OK) {
        status = vp_plan_builder_finish(builder, alpha_ns, planner_name, plan_p, error);
    }
    vp_plan_builder_destroy(builder);
    return status;
}

static uint32_t choose_turns(const vp_spread_t *spread, vp_effort_t effort)
{
    size_t most = MAX_LANES / (count_lanes(spread) + 1);
    uint32_t wanted = effort == VP_EFFORT_THOROUGH ? MAX_TURNS : MAX_CALL_TURNS;

    return most < 1 ? 1 : most < wanted ? (uint32_t)most : wanted;
}

/*
 * The plain plan unless spreading gains a hundredth: fewer lanes are fewer
 * puts. Lanes that do not fill the fullest links alone make the plain plan
 * slower than its model, which knows no end of lanes.
 */
static bool is_worth_it(const vp_plan_t *plain, const vp_plan_t *spread, bool plain_fills)
{
    return plain_fills ? spread->time_ns < plain->time_ns - plain->time_ns / 100
                       : spread->time_ns <= plain->time_ns;
}

vp_status_t vp_schedule_concurrent(const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                                   const vp_schedule_options_t *options, vp_plan_t **plan_p,
                                   vp_error_t *error)
{
    vp_spread_t spread = {0};
    vp_plan_t *plain = NULL;
    vp_plan_t *balanced = NULL;
    bool plain_fills = true;
    uint32_t contention = VP_LINKS_IDEAL;
    uint64_t chunk_bytes = options->chunk_bytes != 0 ? options->chunk_bytes : VP_CHUNK_BYTES;
    vp_status_t status = vp_jobs_refuse_fix(options, planner_name, error);

    if (status == VP_OK) {
        status = vp_jobs_check_chunk(chunk_bytes, error);
    }
    if (status == VP_OK) {
        status = vp_links_find(catalog->model, options->links, &contention, error);
    }
    if (status == VP_OK) {
        status = vp_spread_nearest(&spread, catalog->model, demand_bytes, contention, chunk_bytes,
                                   error);
    }
    if (status == VP_OK) {
        status = make_plan(&spread, 1, contention, options->alpha_ns, &plain, error);
    }
    if (status == VP_OK) {
        plain_fills = vp_spread_fills_alone(&spread);
        vp_spread_balance(&spread, N_SWEEPS);
        status = make_plan(&spread, choose_turns(&spread, options->effort), contention,
                           options->alpha_ns, &balanced, error);
    }
    vp_spread_release(&spread);
    if (status == VP_OK && is_worth_it(plain, balanced, plain_fills)) {
        *plan_p = balanced;
        balanced = NULL;
    } else if (status == VP_OK) {
        *plan_p = plain;
        plain = NULL;
    }
    vp_plan_destroy(balanced);
    vp_plan_destroy(plain);
    return status;
}
