/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/critical_greedy.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "scheduler/critical_channel.h"

enum { MAX_LENGTHS = 8, N_EXTRA = 2 };

static void release(vp_greedy_t *greedy)
{
    free(greedy->best);
    free(greedy->lengths);
    free(greedy->touched);
    free(greedy->is_touched);
    free(greedy->rest);
    free(greedy->price);
    free(greedy->potential);
    free(greedy->live.mask);
    free(greedy->live.whole);
    free(greedy->live.price);
    free(greedy->live.part);
    free(greedy->live.ticks);
    free(greedy->live.lane);
    vp_choice_release(&greedy->choice);
}

static bool make_room(vp_greedy_t *greedy)
{
    const vp_lanes_t *lanes = greedy->lanes;
    vp_live_t *live = &greedy->live;
    size_t n_lanes = lanes->n_lanes;

    live->lane = vp_array_new(n_lanes, sizeof(*live->lane));
    live->ticks = vp_array_new(n_lanes, sizeof(*live->ticks));
    live->part = vp_array_new(n_lanes, sizeof(*live->part));
    live->price = vp_array_new(n_lanes, sizeof(*live->price));
    live->whole = vp_array_new(n_lanes, sizeof(*live->whole));
    live->mask = vp_array_new(n_lanes * lanes->n_words, sizeof(*live->mask));
    greedy->potential = vp_array_new(lanes->n_ports, sizeof(*greedy->potential));
    greedy->price = vp_array_new(lanes->n_ports, sizeof(*greedy->price));
    greedy->rest = vp_array_new(lanes->jobs->n_jobs, sizeof(*greedy->rest));
    greedy->is_touched = vp_array_new(lanes->jobs->n_jobs, sizeof(*greedy->is_touched));
    greedy->touched = vp_array_new(lanes->jobs->model->n_ranks, sizeof(*greedy->touched));
    greedy->lengths = vp_array_new(n_lanes, sizeof(*greedy->lengths));
    greedy->best = vp_array_new(lanes->jobs->model->n_ranks, sizeof(*greedy->best));
    return live->lane != NULL && live->ticks != NULL && live->part != NULL && live->price != NULL &&
           live->whole != NULL && live->mask != NULL && greedy->potential != NULL &&
           greedy->price != NULL && greedy->rest != NULL && greedy->is_touched != NULL &&
           greedy->touched != NULL && greedy->lengths != NULL && greedy->best != NULL;
}

/* Takes what live lane i adds off its ports' potentials, or adds what it does now. */
static void subtract_part(vp_greedy_t *greedy, uint32_t i)
{
    const vp_critical_lane_t *lane = &greedy->lanes->lanes[greedy->live.lane[i]];
    uint32_t p;

    for (p = 0; p < lane->n_ports; p++) {
        greedy->potential[lane->ports[p]] -= greedy->live.part[i];
    }
}

static void add_part(vp_greedy_t *greedy, uint32_t i)
{
    const vp_critical_lane_t *lane = &greedy->lanes->lanes[greedy->live.lane[i]];
    uint32_t p;

    greedy->live.part[i] = (greedy->live.ticks[i] + greedy->alpha) * lane->share >> VP_SHARE_BITS;
    for (p = 0; p < lane->n_ports; p++) {
        greedy->potential[lane->ports[p]] += greedy->live.part[i];
    }
}

static void start(vp_greedy_t *greedy)
{
    const vp_lanes_t *lanes = greedy->lanes;
    uint32_t l;
    size_t j;

    greedy->noise_state = greedy->options->seed;
    greedy->alpha =
        lanes->alpha > greedy->options->alpha_floor ? lanes->alpha : greedy->options->alpha_floor;
    for (l = 0; l < lanes->n_lanes; l++) {
        greedy->live.lane[l] = l;
        greedy->live.ticks[l] = lanes->lanes[l].ticks;
        add_part(greedy, l);
    }
    greedy->live.n = lanes->n_lanes;
    memcpy(greedy->live.mask, lanes->masks,
           (size_t)lanes->n_lanes * lanes->n_words * sizeof(*lanes->masks));
    for (j = 0; j < lanes->jobs->n_jobs; j++) {
        greedy->rest[j] = lanes->jobs->jobs[j].n_bytes;
    }
}

/* Next number of a splitmix64 sequence. */
static uint64_t draw(uint64_t *state_p)
{
    uint64_t z = *state_p += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The port with most left to do, the first of equals. */
static uint32_t find_critical(const vp_greedy_t *greedy)
{
    uint32_t most = 0;
    uint32_t p;

    for (p = 1; p < greedy->lanes->n_ports; p++) {
        most = greedy->potential[p] > greedy->potential[most] ? p : most;
    }
    return most;
}

static void set_prices(vp_greedy_t *greedy, uint64_t largest)
{
    const vp_lanes_t *lanes = greedy->lanes;
    vp_live_t *live = &greedy->live;
    uint32_t i;
    uint32_t p;

    for (p = 0; p < lanes->n_ports; p++) {
        greedy->price[p] = vp_power(vp_fraction(greedy->potential[p], largest > 0 ? largest : 1),
                                    greedy->options->price_power);
    }
    for (i = 0; i < live->n; i++) {
        const vp_critical_lane_t *lane = &lanes->lanes[live->lane[i]];
        uint64_t price = 1;

        for (p = 0; p < lane->n_ports; p++) {
            price += greedy->price[lane->ports[p]];
        }
        if (greedy->options->noise > 0) {
            uint64_t factor = VP_SHARE_ONE - greedy->options->noise / 2 +
                              draw(&greedy->noise_state) % greedy->options->noise;

            price = (price * factor >> VP_SHARE_BITS) + 1;
        }
        /* Bytes are worth no more on a slow way. Finishing a job earns its overhead back. */
        live->whole[i] = price * ((live->ticks[i] * lane->speed >> VP_SHARE_BITS) + greedy->alpha);
        live->price[i] = (price * lane->speed >> VP_SHARE_BITS) + 1;
    }
}

static void sort_lengths(uint64_t *lengths, uint32_t n)
{
    uint32_t i;

    for (i = 1; i < n; i++) {
        uint64_t length = lengths[i];
        uint32_t at = i;

        for (; at > 0 && lengths[at - 1] < length; at--) {
            lengths[at] = lengths[at - 1];
        }
        lengths[at] = length;
    }
}

/* Candidates: quantiles of the jobs on the critical port, and parts of the longest. */
static uint32_t choose_lengths(vp_greedy_t *greedy, uint32_t critical, uint64_t *candidates)
{
    const vp_live_t *live = &greedy->live;
    const uint64_t *masks = live->mask + critical / 64;
    uint32_t n_words = greedy->lanes->n_words;
    uint32_t n_lengths = greedy->options->n_lengths;
    uint32_t n = 0;
    uint32_t i;

    for (i = 0; i < live->n; i++) {
        if ((masks[(size_t)i * n_words] >> (critical % 64) & 1) != 0) {
            greedy->lengths[n++] = live->ticks[i];
        }
    }
    sort_lengths(greedy->lengths, n);
    n_lengths = n_lengths < n ? n_lengths : n;
    for (i = 0; i < n_lengths; i++) {
        candidates[i] = n_lengths == 1 ? greedy->lengths[0]
                                       : greedy->lengths[(size_t)i * (n - 1) / (n_lengths - 1)];
    }
    candidates[n_lengths] = greedy->lengths[0] / 2;
    candidates[n_lengths + 1] = greedy->lengths[0] / 4;
    for (i = 0; i < n_lengths + N_EXTRA; i++) {
        candidates[i] = candidates[i] * greedy->options->length_percent / 100 + 1;
    }
    return n_lengths + N_EXTRA;
}

/* Keeps the channel at this length if its worth over length and overhead is the best so far. */
static void judge(vp_greedy_t *greedy, uint64_t length)
{
    const vp_choice_t *choice = &greedy->choice;
    uint64_t value = 0;
    uint32_t i;

    for (i = 0; i < choice->n_chosen; i++) {
        value += vp_live_worth(&greedy->live, choice->chosen[i], length);
    }
    if (greedy->n_best > 0 && (vp_uint128_t)value * (greedy->best_ticks + greedy->alpha) <=
                                  (vp_uint128_t)greedy->best_value * (length + greedy->alpha)) {
        return;
    }
    greedy->best_value = value;
    greedy->best_ticks = length;
    greedy->n_best = choice->n_chosen;
    memcpy(greedy->best, choice->chosen, choice->n_chosen * sizeof(*greedy->best));
}

/* Judges the channel for a length, at that length and at those of its lanes. */
static void try_length(vp_greedy_t *greedy, uint64_t length, uint32_t n_swaps)
{
    uint32_t i;

    vp_greedy_choose(greedy, length, n_swaps);
    judge(greedy, length);
    for (i = 0; i < greedy->choice.n_chosen; i++) {
        judge(greedy, greedy->live.ticks[greedy->choice.chosen[i]] + 1);
    }
}

static void choose_channel(vp_greedy_t *greedy)
{
    uint64_t candidates[MAX_LENGTHS + N_EXTRA];
    uint32_t critical = find_critical(greedy);
    uint32_t n = choose_lengths(greedy, critical, candidates);
    uint32_t i;

    set_prices(greedy, greedy->potential[critical]);
    greedy->n_best = 0;
    for (i = 0; i < n; i++) {
        try_length(greedy, candidates[i], greedy->options->n_swaps);
    }
    if (greedy->options->n_refine > 0) {
        try_length(greedy, greedy->best_ticks, greedy->options->n_refine);
    }
}

/* Bytes that a lane of the chosen channel carries; no sliver stays behind. */
static uint64_t volume(const vp_greedy_t *greedy, const vp_critical_lane_t *lane)
{
    const vp_way_t *way = &greedy->lanes->jobs->ways[lane->way];
    uint64_t rest = greedy->rest[lane->job];
    uint64_t least = greedy->lanes->jobs->min_cut_bytes;
    uint64_t n_bytes = vp_way_bytes_in(way, greedy->best_ticks << greedy->lanes->tick_shift);

    n_bytes = n_bytes < least ? least : n_bytes;
    return rest < n_bytes + least ? rest : n_bytes;
}

static vp_status_t append(vp_greedy_t *greedy, vp_error_t *error)
{
    const vp_jobs_t *jobs = greedy->lanes->jobs;
    uint32_t colour;
    uint32_t i;
    vp_status_t status = vp_colouring_open(greedy->colouring, &colour, error);

    for (i = 0; i < greedy->n_best && status == VP_OK; i++) {
        const vp_critical_lane_t *lane = &greedy->lanes->lanes[greedy->live.lane[greedy->best[i]]];
        const vp_job_t *job = &jobs->jobs[lane->job];
        uint64_t n_bytes = volume(greedy, lane);
        vp_piece_t piece = {.way = lane->way,
                            .job = lane->job,
                            .n_bytes = n_bytes,
                            .source = job->source,
                            .destination = job->destination};
        uint32_t number;

        greedy->rest[lane->job] -= n_bytes;
        greedy->is_touched[lane->job] = true;
        greedy->touched[i] = lane->job;
        if (n_bytes < job->n_bytes) {
            piece.n_bytes = vp_round_to_chunks(jobs, n_bytes);
        }
        piece.ticks = vp_way_ticks(&jobs->ways[lane->way], piece.n_bytes);
        status = vp_colouring_add_piece(greedy->colouring, &piece, &number, error);
        if (status == VP_OK) {
            vp_colouring_put(greedy->colouring, colour, number);
        }
    }
    return status;
}

/* Drops lanes of finished jobs and measures what is left of those that the last activation had. */
static void update(vp_greedy_t *greedy)
{
    const vp_lanes_t *lanes = greedy->lanes;
    vp_live_t *live = &greedy->live;
    uint32_t n = 0;
    uint32_t i;

    for (i = 0; i < live->n; i++) {
        const vp_critical_lane_t *lane = &lanes->lanes[live->lane[i]];
        uint64_t rest = greedy->rest[lane->job];

        if (greedy->is_touched[lane->job]) {
            subtract_part(greedy, i);
        }
        if (rest == 0) {
            continue;
        }
        live->lane[n] = live->lane[i];
        live->ticks[n] = live->ticks[i];
        live->part[n] = live->part[i];
        memmove(live->mask + (size_t)n * lanes->n_words, live->mask + (size_t)i * lanes->n_words,
                lanes->n_words * sizeof(*live->mask));
        if (greedy->is_touched[lane->job]) {
            live->ticks[n] = vp_way_ticks(&lanes->jobs->ways[lane->way], rest) >> lanes->tick_shift;
            add_part(greedy, n);
        }
        n++;
    }
    for (i = 0; i < greedy->n_best; i++) {
        greedy->is_touched[greedy->touched[i]] = false;
    }
    live->n = n;
}

/* Of an activation, beside what the choice looks at: prices, keys, lengths. */
static uint64_t fixed_steps(const vp_greedy_options_t *options, uint32_t n_live)
{
    enum { PER_LANE = 2, PER_KEY = 1, PER_SORTED_KEY = 4 };
    uint64_t n_sorted =
        (options->n_swaps > 0 ? options->n_lengths + N_EXTRA : 0) + (options->n_refine > 0 ? 1 : 0);

    return (PER_LANE + PER_KEY * (uint64_t)(options->n_lengths + N_EXTRA) +
            PER_SORTED_KEY * n_sorted) *
           n_live;
}

uint64_t vp_greedy_steps(const vp_lanes_t *lanes, const vp_greedy_options_t *options,
                         uint32_t n_live)
{
    enum { PICKS_PER_PASS = 3, TRIED = 8, MOST_SEEN = 256 };
    uint64_t pass = n_live / TRIED * (n_live < MOST_SEEN ? n_live : MOST_SEEN);
    uint64_t pick = (uint64_t)lanes->n_sources / PICKS_PER_PASS * n_live;
    uint64_t seen =
        (options->n_lengths + N_EXTRA) * (options->n_swaps == 0 ? pick : options->n_swaps * pass) +
        options->n_refine * pass;

    return fixed_steps(options, n_live) + seen * lanes->n_words;
}

vp_status_t vp_greedy_run(const vp_lanes_t *lanes, const vp_greedy_options_t *options,
                          uint64_t limit, vp_colouring_t *colouring, vp_error_t *error)
{
    enum { N_COLOURS = 60 };
    vp_greedy_t greedy = {.lanes = lanes, .options = options, .colouring = colouring};
    vp_status_t status = vp_colouring_reset(colouring, N_COLOURS, error);

    if (status == VP_OK) {
        status = vp_choice_init(&greedy.choice, lanes, error);
    }
    if (status == VP_OK && !make_room(&greedy)) {
        status = vp_error_no_memory(error, "a greedy plan");
    }
    if (status == VP_OK) {
        start(&greedy);
    }
    while (status == VP_OK && greedy.live.n > 0 && colouring->cost < limit) {
        choose_channel(&greedy);
        status = append(&greedy, error);
        update(&greedy);
        colouring->steps +=
            (uint64_t)(options->n_lengths + N_EXTRA) * greedy.live.n * (8 + 8 * options->n_swaps);
    }
    colouring->steps += greedy.choice.n_seen * lanes->n_words;
    release(&greedy);
    return status;
}
