/*
 * The planner "concurrent": no activations, lanes share links. In its plainest
 * form everything starts at once on nearest paths. Otherwise bytes are spread
 * over paths, and each lane is cut in pieces that take turns, so that all
 * lanes of a source progress alike however different their bytes; a window of
 * two turns keeps each of them in flight.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "scheduler/concurrent.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/units.h"
#include "scheduler/cost.h"
#include "scheduler/jobs.h"
#include "scheduler/standing.h"

enum {
    MAX_TURNS = 32,
    MAX_CALL_TURNS = 16,
    MAX_CALL_LOSSY_TURNS = 8,
    MAX_LANES = 1 << 16,   /* of a plan in turns */
    PIECE_CHUNKS = 16,     /* least of a piece, */
    PIECE_BYTES = 1 << 18, /* and least of its bytes */
    WINDOW_TURNS = 2
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

/* What a search has found so far. */
typedef struct search {
    const vp_schedule_options_t *options;
    uint32_t contention;
    uint64_t reach_ns;     /* about what the best split takes */
    uint64_t planning_ns;  /* modelled */
    uint64_t exclusive_ns; /* that lanes which share nothing need on the best ways seen */
    bool plain_fills;
    vp_spread_t nearest;
    vp_spread_t best; /* a fork of it, or nothing: then nearest paths are best */
    vp_standing_t *own_standing;
    const vp_standing_t *standing;
} search_t;

/*
 * No pair has more than 9/4 of the mean: lanes end about together without turns. Where a lane
 * costs nothing to start, turns are worth it from 3/2 on.
 */
static bool is_even(const vp_spread_t *spread, uint64_t alpha_ns)
{
    uint64_t quarters = alpha_ns == 0 ? 6 : 9;
    uint64_t total_bytes = 0;
    uint64_t most_bytes = 0;
    size_t k;

    for (k = 0; k < spread->n_pairs; k++) {
        uint64_t n_bytes = spread->pairs[k].n_bytes;

        total_bytes += n_bytes;
        most_bytes = n_bytes > most_bytes ? n_bytes : most_bytes;
    }
    return most_bytes / quarters <= total_bytes / (spread->n_pairs + 1) / 4;
}

/*
 * Turns keep lanes of uneven blocks from ending one by one. Links that lose when
 * they are shared are slowed by any two sources, in whatever order lanes come:
 * there more turns gain less than the gaps between them cost.
 */
static uint32_t choose_turns(const search_t *search, const vp_spread_t *spread)
{
    size_t most = MAX_LANES / (count_lanes(spread) + 1);
    uint32_t wanted = search->contention == VP_LINKS_IDEAL ? MAX_CALL_TURNS : MAX_CALL_LOSSY_TURNS;

    wanted = search->options->effort == VP_EFFORT_THOROUGH ? MAX_TURNS : wanted;
    if (is_even(spread, search->options->alpha_ns)) {
        return 1;
    }
    return most < 1 ? 1 : most < wanted ? (uint32_t)most : wanted;
}

/*
 * Nearest paths unless spreading gains a hundredth: fewer lanes are fewer puts.
 * Lanes that do not fill the fullest links alone make everything at once slower
 * than its model, which knows no end of lanes.
 */
static bool is_better(const search_t *search, const vp_spread_t *spread)
{
    bool is_plain = search->best.model == NULL;
    uint64_t old_ns = vp_spread_fullest_ns(is_plain ? &search->nearest : &search->best);
    uint64_t new_ns = vp_spread_fullest_ns(spread);

    if (is_plain && !search->plain_fills) {
        return new_ns <= old_ns;
    }
    return new_ns < old_ns - old_ns / 100;
}

/* Times of lanes on their ports, one after the other, overheads counted. */
static vp_status_t weigh_exclusive(search_t *search, const vp_spread_t *spread, vp_error_t *error)
{
    const vp_model_t *model = spread->model;
    uint64_t *busy_ns = vp_array_new(spread->n_ports, sizeof(*busy_ns));
    uint64_t fullest_ns = 0;
    size_t k;
    uint32_t way;
    uint32_t i;

    if (busy_ns == NULL) {
        return vp_error_no_memory(error, "the paths of a demand");
    }
    for (k = 0; k < spread->n_pairs; k++) {
        const vp_spread_pair_t *pair = &spread->pairs[k];

        for (way = 0; way < pair->n_ways; way++) {
            size_t ports[VP_MAX_FOOTPRINT + 2];
            uint32_t n_ports = vp_spread_ports(spread, pair, way, ports);
            uint64_t n_bytes = spread->shares[pair->first_share + way];
            uint64_t ns = vp_add_sat(
                vp_transfer_ns(n_bytes, model->instances[pair->first_instance + way].bytes_per_s),
                search->options->alpha_ns);

            for (i = 0; i < n_ports && n_bytes > 0; i++) {
                busy_ns[ports[i]] = vp_add_sat(busy_ns[ports[i]], ns);
                fullest_ns = busy_ns[ports[i]] > fullest_ns ? busy_ns[ports[i]] : fullest_ns;
            }
        }
    }
    free(busy_ns);
    search->exclusive_ns = fullest_ns < search->exclusive_ns ? fullest_ns : search->exclusive_ns;
    return VP_OK;
}

static void keep_better(search_t *search, vp_spread_t *spread)
{
    if (is_better(search, spread)) {
        vp_spread_t worse = search->best;

        search->best = *spread;
        *spread = worse;
    }
}

/* Deals the demand out by a split; keeps that if it is better, and if it is to be played. */
static vp_status_t try_split(search_t *search, const vp_split_t *split, bool is_played,
                             vp_error_t *error)
{
    vp_spread_t spread = {0};
    vp_status_t status = vp_spread_fork(&search->nearest, &spread, error);

    if (status == VP_OK) {
        status = vp_spread_deal(&spread, split, error);
    }
    if (status == VP_OK) {
        status = weigh_exclusive(search, &spread, error);
    }
    if (status == VP_OK && is_played) {
        keep_better(search, &spread);
    }
    vp_spread_release(&spread);
    return status;
}

/* Whole blocks over NICs keep clear of links that lose much when they are shared. */
static vp_status_t try_nics(search_t *search, vp_error_t *error)
{
    vp_spread_t spread = {0};
    vp_status_t status = search->contention == VP_LINKS_IDEAL
                             ? VP_OK
                             : vp_spread_fork(&search->nearest, &spread, error);

    if (status == VP_OK && spread.model != NULL) {
        vp_spread_over_nics(&spread);
        keep_better(search, &spread);
    }
    vp_spread_release(&spread);
    return status;
}

/* Splits for equal blocks, known before the call. */
static vp_status_t try_standing(search_t *search, vp_error_t *error)
{
    vp_status_t status = VP_OK;
    int i;

    for (i = 0; i < 2 && status == VP_OK; i++) {
        status = try_split(search, &search->standing->split[i], i == 0, error);
    }
    for (i = 0; i < 2 && status == VP_OK; i++) {
        if (search->standing->has_even[i]) {
            status = try_split(search, &search->standing->even[i], true, error);
        }
    }
    return status;
}

static vp_status_t open_standing(search_t *search, vp_error_t *error)
{
    vp_status_t status = VP_OK;

    search->standing = search->options->standing;
    if (search->standing == NULL) {
        status = vp_standing_create(search->nearest.model, search->options->links,
                                    &search->own_standing, error);
        search->standing = search->own_standing;
    }
    return status == VP_OK
               ? vp_standing_reach(search->standing, &search->nearest, &search->reach_ns, error)
               : status;
}

static uint64_t split_cost(const search_t *search, uint64_t n_steps)
{
    return n_steps * VP_COST_SPLIT_STEP_NS +
           (uint64_t)(search->nearest.model->n_ranks - 1) * VP_COST_DEAL_NS;
}

/* Is a NIC the fullest shared link? If not, links to far NICs are too full for more bytes. */
static bool is_nic_fullest(const vp_spread_t *spread)
{
    const vp_model_t *model = spread->model;
    uint64_t nic_ns = 0;
    uint64_t link_ns = 0;
    uint32_t i;

    for (i = 0; i < model->n_resources; i++) {
        uint64_t ns = spread->load_ns[(size_t)2 * model->n_ranks + i];
        uint64_t *most_ns = vp_plan_contention_table(model->resources[i].kind) == VP_CONTENTION_NIC
                                ? &nic_ns
                                : &link_ns;

        *most_ns = ns > *most_ns ? ns : *most_ns;
    }
    return nic_ns > link_ns;
}

/* A split for this very demand; in a call only where it may gain more than it costs. */
static vp_status_t try_own_split(search_t *search, bool is_frugal, vp_error_t *error)
{
    uint64_t best_ns =
        vp_spread_fullest_ns(search->best.model == NULL ? &search->nearest : &search->best);
    uint64_t gain_ns = best_ns > search->reach_ns ? best_ns - search->reach_ns : 0;
    bool uses_far = is_nic_fullest(&search->nearest);
    uint64_t most_steps = vp_split_most_steps(&search->standing->split[0], uses_far);
    vp_split_t split = {0};
    vp_status_t status;

    if (gain_ns < best_ns / 100 || (is_frugal && gain_ns <= split_cost(search, most_steps))) {
        return VP_OK;
    }
    status = vp_split_collect(&split, &search->nearest, error);
    if (status == VP_OK) {
        vp_split_solve(&split, uses_far);
        search->planning_ns += split_cost(search, split.n_steps);
        status = try_split(search, &split, true, error);
    }
    vp_split_release(&split);
    return status;
}

static vp_status_t start_search(search_t *search, const vp_model_t *model,
                                const uint64_t *demand_bytes, vp_error_t *error)
{
    const vp_schedule_options_t *options = search->options;
    uint64_t chunk_bytes = options->chunk_bytes != 0 ? options->chunk_bytes : VP_CHUNK_BYTES;
    vp_status_t status = vp_jobs_refuse_fix(options, planner_name, error);

    if (status == VP_OK) {
        status = vp_jobs_check_chunk(chunk_bytes, error);
    }
    if (status == VP_OK) {
        status = vp_links_find(model, options->links, &search->contention, error);
    }
    if (status == VP_OK) {
        status = vp_spread_nearest(&search->nearest, model, demand_bytes, search->contention,
                                   chunk_bytes, error);
    }
    if (status != VP_OK) {
        return status;
    }
    search->plain_fills = vp_spread_fills_alone(&search->nearest);
    return vp_standing_reach(NULL, &search->nearest, &search->reach_ns, error);
}

/* Links lose nothing, and on nearest paths they are about as full as they must be. */
static bool is_plain_best(const search_t *search)
{
    return search->contention == VP_LINKS_IDEAL && search->plain_fills &&
           vp_spread_fullest_ns(&search->nearest) <= search->reach_ns + search->reach_ns / 100;
}

/* Other spreads than nearest paths, the cheapest first. */
static vp_status_t try_spreads(search_t *search, bool is_frugal, vp_error_t *error)
{
    vp_status_t status = open_standing(search, error);

    if (status == VP_OK) {
        status = weigh_exclusive(search, &search->nearest, error);
    }
    if (status == VP_OK) {
        status = try_nics(search, error);
    }
    if (status == VP_OK) {
        status = try_standing(search, error);
    }
    return status == VP_OK ? try_own_split(search, is_frugal, error) : status;
}

static vp_status_t make_plain(const search_t *search, vp_plan_t **plan_p, vp_error_t *error)
{
    return make_plan(&search->nearest, 1, search->contention, search->options->alpha_ns, plan_p,
                     error);
}

/*
 * The best spread, unless everything at once is faster by more than a fiftieth:
 * turns have their overheads, and spreads were judged as if each link had two
 * sources.
 */
static vp_status_t make_best(const search_t *search, vp_plan_t **plan_p, vp_error_t *error)
{
    bool is_plain = search->best.model == NULL;
    const vp_spread_t *spread = is_plain ? &search->nearest : &search->best;
    uint32_t n_turns = is_plain && search->plain_fills ? 1 : choose_turns(search, spread);
    vp_plan_t *plan = NULL;
    vp_plan_t *plain = NULL;
    vp_status_t status;

    if (is_plain && n_turns == 1) {
        return make_plain(search, plan_p, error);
    }
    status =
        make_plan(spread, n_turns, search->contention, search->options->alpha_ns, &plan, error);
    if (status == VP_OK) {
        status = make_plain(search, &plain, error);
    }
    if (status != VP_OK) {
        vp_plan_destroy(plan);
        return status;
    }
    if (plan->time_ns > vp_add_sat(plain->time_ns, plain->time_ns / 50)) {
        *plan_p = plain;
        plain = plan;
    } else {
        *plan_p = plan;
    }
    vp_plan_destroy(plain);
    return VP_OK;
}

/* No exclusive lanes are faster: links lose nothing and are about as full as they can be. */
static bool is_done(const search_t *search, const vp_plan_t *plan)
{
    uint64_t least_ns = vp_add_sat(search->reach_ns, search->options->alpha_ns);

    return search->contention == VP_LINKS_IDEAL && plan->time_ns <= least_ns + least_ns / 50;
}

vp_status_t vp_concurrent_search(const vp_model_t *model, const uint64_t *demand_bytes,
                                 const vp_schedule_options_t *options, bool is_frugal,
                                 vp_plan_t **plan_p, uint64_t *exclusive_ns_p, vp_error_t *error)
{
    search_t search = {.options = options, .exclusive_ns = UINT64_MAX};
    vp_plan_t *plan = NULL;
    vp_status_t status = start_search(&search, model, demand_bytes, error);

    if (status == VP_OK && !is_plain_best(&search)) {
        status = try_spreads(&search, is_frugal, error);
    }
    if (status == VP_OK) {
        status = make_best(&search, &plan, error);
    }
    if (status == VP_OK) {
        plan->planning_ns = search.planning_ns;
        *plan_p = plan;
        *exclusive_ns_p = is_done(&search, plan) ? UINT64_MAX : search.exclusive_ns;
    }
    vp_standing_destroy(search.own_standing);
    vp_spread_release(&search.best);
    vp_spread_release(&search.nearest);
    return status;
}

vp_status_t vp_schedule_concurrent(const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                                   const vp_schedule_options_t *options, vp_plan_t **plan_p,
                                   vp_error_t *error)
{
    uint64_t exclusive_ns = 0;

    return vp_concurrent_search(catalog->model, demand_bytes, options, false, plan_p, &exclusive_ns,
                                error);
}
