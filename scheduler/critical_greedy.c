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
    free(greedy->channel.chosen);
    free(greedy->channel.holder);
    free(greedy->channel.busy);
    free(greedy->added);
    free(greedy->lengths);
    free(greedy->rest);
    free(greedy->potential);
    free(greedy->weight);
    free(greedy->price);
    free(greedy->ticks);
    free(greedy->open);
    free(greedy->spare);
    free(greedy->order);
    free(greedy->live);
}

static bool make_room(vp_greedy_t *greedy)
{
    const vp_lanes_t *lanes = greedy->lanes;
    size_t n_ranks = lanes->jobs->model->n_ranks;

    greedy->live = vp_array_new(lanes->n_lanes, sizeof(*greedy->live));
    greedy->order = vp_array_new(lanes->n_lanes, sizeof(*greedy->order));
    greedy->spare = vp_array_new(lanes->n_lanes, sizeof(*greedy->spare));
    greedy->open = vp_array_new(lanes->n_lanes, sizeof(*greedy->open));
    greedy->ticks = vp_array_new(lanes->n_lanes, sizeof(*greedy->ticks));
    greedy->price = vp_array_new(lanes->n_lanes, sizeof(*greedy->price));
    greedy->weight = vp_array_new(lanes->n_lanes, sizeof(*greedy->weight));
    greedy->potential = vp_array_new(lanes->n_ports, sizeof(*greedy->potential));
    greedy->rest = vp_array_new(lanes->jobs->n_jobs, sizeof(*greedy->rest));
    greedy->lengths = vp_array_new(lanes->n_lanes, sizeof(*greedy->lengths));
    greedy->added = vp_array_new(n_ranks, sizeof(*greedy->added));
    greedy->channel.busy = vp_array_new(lanes->n_words, sizeof(*greedy->channel.busy));
    greedy->channel.holder = vp_array_new(lanes->n_ports, sizeof(*greedy->channel.holder));
    greedy->channel.chosen = vp_array_new(n_ranks, sizeof(*greedy->channel.chosen));
    greedy->best = vp_array_new(n_ranks, sizeof(*greedy->best));
    return greedy->live != NULL && greedy->order != NULL && greedy->spare != NULL &&
           greedy->open != NULL && greedy->ticks != NULL && greedy->price != NULL &&
           greedy->weight != NULL && greedy->potential != NULL && greedy->rest != NULL &&
           greedy->lengths != NULL && greedy->added != NULL && greedy->channel.busy != NULL &&
           greedy->channel.holder != NULL && greedy->channel.chosen != NULL && greedy->best != NULL;
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
        greedy->live[l] = l;
        greedy->ticks[l] = lanes->lanes[l].ticks;
    }
    greedy->n_live = lanes->n_lanes;
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

/* What ports still have to do under the path split; returns the port with most, the first of
 * equals. */
static uint32_t set_potentials(vp_greedy_t *greedy)
{
    const vp_lanes_t *lanes = greedy->lanes;
    uint32_t most = 0;
    uint32_t i;
    uint32_t p;

    memset(greedy->potential, 0, lanes->n_ports * sizeof(*greedy->potential));
    for (i = 0; i < greedy->n_live; i++) {
        const vp_critical_lane_t *lane = &lanes->lanes[greedy->live[i]];
        uint64_t part = (greedy->ticks[greedy->live[i]] + greedy->alpha) * lane->share;

        for (p = 0; p < lane->n_ports; p++) {
            greedy->potential[lane->ports[p]] += part >> VP_SHARE_BITS;
        }
    }
    for (p = 1; p < lanes->n_ports; p++) {
        most = greedy->potential[p] > greedy->potential[most] ? p : most;
    }
    return most;
}

static void set_prices(vp_greedy_t *greedy, uint32_t most)
{
    const vp_lanes_t *lanes = greedy->lanes;
    uint64_t largest = greedy->potential[most] > 0 ? greedy->potential[most] : 1;
    uint32_t i;
    uint32_t p;

    for (p = 0; p < lanes->n_ports; p++) {
        greedy->potential[p] =
            vp_power(vp_fraction(greedy->potential[p], largest), greedy->options->price_squarings);
    }
    for (i = 0; i < greedy->n_live; i++) {
        const vp_critical_lane_t *lane = &lanes->lanes[greedy->live[i]];
        uint64_t price = 1;

        for (p = 0; p < lane->n_ports; p++) {
            price += greedy->potential[lane->ports[p]];
        }
        if (greedy->options->noise > 0) {
            uint64_t factor = VP_SHARE_ONE - greedy->options->noise / 2 +
                              draw(&greedy->noise_state) % greedy->options->noise;

            price = (price * factor >> VP_SHARE_BITS) + 1;
        }
        greedy->price[greedy->live[i]] = price;
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
static uint32_t choose_lengths(vp_greedy_t *greedy, uint32_t most, uint64_t *candidates)
{
    const vp_lanes_t *lanes = greedy->lanes;
    uint32_t n_lengths = greedy->options->n_lengths;
    uint32_t n = 0;
    uint32_t i;

    for (i = 0; i < greedy->n_live; i++) {
        uint32_t l = greedy->live[i];

        if (lanes->masks[(size_t)l * lanes->n_words + most / 64] >> (most % 64) & 1) {
            greedy->lengths[n++] = greedy->ticks[l];
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
    const vp_channel_choice_t *channel = &greedy->channel;
    uint64_t value = 0;
    uint32_t i;

    for (i = 0; i < channel->n_chosen; i++) {
        value += vp_greedy_worth(greedy, channel->chosen[i], length);
    }
    if (greedy->n_best > 0 && (vp_uint128_t)value * (greedy->best_ticks + greedy->alpha) <=
                                  (vp_uint128_t)greedy->best_value * (length + greedy->alpha)) {
        return;
    }
    greedy->best_value = value;
    greedy->best_ticks = length;
    greedy->n_best = channel->n_chosen;
    memcpy(greedy->best, channel->chosen, channel->n_chosen * sizeof(*greedy->best));
}

static void choose_channel(vp_greedy_t *greedy)
{
    uint64_t candidates[MAX_LENGTHS + N_EXTRA];
    uint32_t most = set_potentials(greedy);
    uint32_t n = choose_lengths(greedy, most, candidates);
    uint32_t i;
    uint32_t j;

    set_prices(greedy, most);
    greedy->n_best = 0;
    for (i = 0; i < n; i++) {
        vp_greedy_choose(greedy, candidates[i]);
        judge(greedy, candidates[i]);
        for (j = 0; j < greedy->channel.n_chosen; j++) {
            judge(greedy, greedy->ticks[greedy->channel.chosen[j]] + 1);
        }
    }
}

/* Bytes that a lane of the chosen channel carries; no sliver stays behind. */
static uint64_t volume(const vp_greedy_t *greedy, const vp_critical_lane_t *lane)
{
    const vp_way_t *way = &greedy->lanes->jobs->ways[lane->way];
    uint64_t rest = greedy->rest[lane->job];
    uint64_t n_bytes = vp_way_bytes_in(way, greedy->best_ticks << greedy->lanes->tick_shift);

    n_bytes = n_bytes < VP_JOBS_MIN_CUT_BYTES ? VP_JOBS_MIN_CUT_BYTES : n_bytes;
    return rest < n_bytes + VP_JOBS_MIN_CUT_BYTES ? rest : n_bytes;
}

static vp_status_t append(vp_greedy_t *greedy, vp_error_t *error)
{
    const vp_jobs_t *jobs = greedy->lanes->jobs;
    uint32_t colour;
    uint32_t i;
    vp_status_t status = vp_colouring_open(greedy->colouring, &colour, error);

    for (i = 0; i < greedy->n_best && status == VP_OK; i++) {
        const vp_critical_lane_t *lane = &greedy->lanes->lanes[greedy->best[i]];
        const vp_job_t *job = &jobs->jobs[lane->job];
        uint64_t n_bytes = volume(greedy, lane);
        vp_piece_t piece = {.way = lane->way,
                            .job = lane->job,
                            .n_bytes = n_bytes,
                            .source = job->source,
                            .destination = job->destination};
        uint32_t number;

        greedy->rest[lane->job] -= n_bytes;
        if (n_bytes < job->n_bytes) {
            piece.n_bytes = vp_round_to_chunks(n_bytes);
        }
        piece.ticks = vp_way_ticks(&jobs->ways[lane->way], piece.n_bytes);
        status = vp_colouring_add_piece(greedy->colouring, &piece, &number, error);
        if (status == VP_OK) {
            vp_colouring_put(greedy->colouring, colour, number);
        }
    }
    return status;
}

/* Drops lanes of finished jobs and measures what is left of the others. */
static void update(vp_greedy_t *greedy)
{
    const vp_lanes_t *lanes = greedy->lanes;
    uint32_t n = 0;
    uint32_t i;

    for (i = 0; i < greedy->n_live; i++) {
        uint32_t l = greedy->live[i];
        uint64_t rest = greedy->rest[lanes->lanes[l].job];

        if (rest > 0) {
            greedy->live[n++] = l;
            greedy->ticks[l] =
                vp_way_ticks(&lanes->jobs->ways[lanes->lanes[l].way], rest) >> lanes->tick_shift;
        }
    }
    greedy->n_live = n;
}

uint64_t vp_greedy_steps(const vp_greedy_options_t *options, uint32_t n_lanes)
{
    enum { PER_LANE = 16, PER_FIT = 1 };
    uint64_t per_length =
        PER_LANE * (uint64_t)n_lanes +
        (uint64_t)options->n_swaps * (PER_LANE + PER_FIT * (uint64_t)n_lanes / 4) * n_lanes;

    return (options->n_lengths + N_EXTRA) * per_length;
}

vp_status_t vp_greedy_run(const vp_lanes_t *lanes, const vp_greedy_options_t *options,
                          uint64_t limit, vp_colouring_t *colouring, vp_error_t *error)
{
    enum { N_COLOURS = 60 };
    vp_greedy_t greedy = {.lanes = lanes, .options = options, .colouring = colouring};
    vp_status_t status = vp_colouring_reset(colouring, N_COLOURS, error);

    if (status == VP_OK && !make_room(&greedy)) {
        status = vp_error_no_memory(error, "a greedy plan");
    }
    if (status == VP_OK) {
        start(&greedy);
    }
    while (status == VP_OK && greedy.n_live > 0 && colouring->cost < limit) {
        choose_channel(&greedy);
        status = append(&greedy, error);
        update(&greedy);
        colouring->steps +=
            (uint64_t)(options->n_lengths + N_EXTRA) * greedy.n_live * (8 + 8 * options->n_swaps);
    }
    release(&greedy);
    return status;
}
