/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/critical_channel.h"

#include <string.h>

static void weigh(vp_greedy_t *greedy, uint64_t length)
{
    uint32_t i;

    for (i = 0; i < greedy->n_live; i++) {
        greedy->weight[greedy->live[i]] = vp_greedy_worth(greedy, greedy->live[i], length);
    }
}

static bool is_heavier(const vp_greedy_t *greedy, uint32_t a, uint32_t b)
{
    return greedy->weight[a] > greedy->weight[b] ||
           (greedy->weight[a] == greedy->weight[b] && a < b);
}

/* Live lanes by descending weight into `order`: merge sort, runs of doubling length. */
static void sort_by_weight(vp_greedy_t *greedy)
{
    uint32_t *from = greedy->order;
    uint32_t *to = greedy->spare;
    uint32_t n = greedy->n_live;
    uint32_t run;

    memcpy(from, greedy->live, n * sizeof(*from));
    for (run = 1; run < n; run *= 2) {
        uint32_t *other = from;
        uint32_t begin;

        for (begin = 0; begin < n; begin += 2 * run) {
            uint32_t middle = begin + run < n ? begin + run : n;
            uint32_t end = middle + run < n ? middle + run : n;
            uint32_t i = begin;
            uint32_t j = middle;
            uint32_t at;

            for (at = begin; at < end; at++) {
                bool first = j == end || (i < middle && is_heavier(greedy, from[i], from[j]));

                to[at] = first ? from[i++] : from[j++];
            }
        }
        from = to;
        to = other;
    }
    greedy->order = from;
    greedy->spare = to;
}

static bool fits(const vp_greedy_t *greedy, uint32_t l)
{
    const uint64_t *mask = greedy->lanes->masks + (size_t)l * greedy->lanes->n_words;
    uint64_t met = 0;
    uint32_t i;

    for (i = 0; i < greedy->lanes->n_words; i++) {
        met |= mask[i] & greedy->channel.busy[i];
    }
    return met == 0;
}

static void hold(vp_greedy_t *greedy, uint32_t l, bool held)
{
    const vp_critical_lane_t *lane = &greedy->lanes->lanes[l];
    const uint64_t *mask = greedy->lanes->masks + (size_t)l * greedy->lanes->n_words;
    uint32_t i;

    for (i = 0; i < greedy->lanes->n_words; i++) {
        if (held) {
            greedy->channel.busy[i] |= mask[i];
        } else {
            greedy->channel.busy[i] &= ~mask[i];
        }
    }
    for (i = 0; i < lane->n_ports && held; i++) {
        greedy->channel.holder[lane->ports[i]] = l;
    }
}

static bool is_held(const vp_greedy_t *greedy, uint32_t port)
{
    return (greedy->channel.busy[port / 64] >> (port % 64) & 1) != 0;
}

static bool meet(const vp_greedy_t *greedy, uint32_t a, uint32_t b)
{
    const uint64_t *mask_a = greedy->lanes->masks + (size_t)a * greedy->lanes->n_words;
    const uint64_t *mask_b = greedy->lanes->masks + (size_t)b * greedy->lanes->n_words;
    uint64_t met = 0;
    uint32_t i;

    for (i = 0; i < greedy->lanes->n_words; i++) {
        met |= mask_a[i] & mask_b[i];
    }
    return met != 0;
}

/* Adds every lane that fits, heaviest first; notes them and returns their weight. */
static uint64_t fill(vp_greedy_t *greedy, uint32_t *n_added_p)
{
    uint32_t *open = greedy->open;
    uint32_t n_open = 0;
    uint32_t n_added = 0;
    uint32_t best = 0;
    uint64_t sum = 0;
    uint32_t i;

    for (i = 0; i < greedy->n_live; i++) {
        uint32_t l = greedy->live[i];

        if (fits(greedy, l)) {
            best = n_open == 0 || is_heavier(greedy, l, best) ? l : best;
            open[n_open++] = l;
        }
    }
    while (n_open > 0) {
        uint32_t chosen = best;
        uint32_t n = 0;

        hold(greedy, chosen, true);
        greedy->added[n_added++] = chosen;
        sum += greedy->weight[chosen];
        for (i = 0; i < n_open; i++) {
            uint32_t l = open[i];

            if (!meet(greedy, l, chosen)) {
                best = n == 0 || is_heavier(greedy, l, best) ? l : best;
                open[n++] = l;
            }
        }
        n_open = n;
    }
    *n_added_p = n_added;
    return sum;
}

/* Puts lane l in place of those in its way, and fills up; takes it back if that loses. */
static bool exchange(vp_greedy_t *greedy, uint32_t l)
{
    const vp_critical_lane_t *lane = &greedy->lanes->lanes[l];
    uint32_t out[VP_JOBS_MAX_PORTS];
    uint64_t lost = 0;
    uint64_t gained;
    uint32_t n_out = 0;
    uint32_t n_added;
    uint32_t i;
    uint32_t j;

    if (is_held(greedy, lane->ports[0]) && greedy->channel.holder[lane->ports[0]] == l) {
        return false;
    }
    for (i = 0; i < lane->n_ports; i++) {
        uint32_t met = greedy->channel.holder[lane->ports[i]];

        if (!is_held(greedy, lane->ports[i])) {
            continue;
        }
        for (j = 0; j < n_out && out[j] != met; j++) {
        }
        if (j == n_out) {
            out[n_out++] = met;
            lost += greedy->weight[met];
        }
    }
    if (lost >= greedy->weight[l] + greedy->weight[l] / 2) {
        return false;
    }
    for (i = 0; i < n_out; i++) {
        hold(greedy, out[i], false);
    }
    hold(greedy, l, true);
    gained = greedy->weight[l] + fill(greedy, &n_added);
    if (gained > lost) {
        return true;
    }
    for (i = 0; i < n_added; i++) {
        hold(greedy, greedy->added[i], false);
    }
    hold(greedy, l, false);
    for (i = 0; i < n_out; i++) {
        hold(greedy, out[i], true);
    }
    return false;
}

static void collect_chosen(vp_greedy_t *greedy)
{
    vp_channel_choice_t *channel = &greedy->channel;
    uint32_t i;

    channel->n_chosen = 0;
    for (i = 0; i < greedy->n_live; i++) {
        uint32_t l = greedy->live[i];
        uint32_t port = greedy->lanes->lanes[l].ports[0];

        if (is_held(greedy, port) && channel->holder[port] == l) {
            channel->chosen[channel->n_chosen++] = l;
        }
    }
}

void vp_greedy_choose(vp_greedy_t *greedy, uint64_t length)
{
    bool changed = true;
    uint32_t n_added;
    uint32_t pass;
    uint32_t i;

    weigh(greedy, length);
    memset(greedy->channel.busy, 0, greedy->lanes->n_words * sizeof(*greedy->channel.busy));
    (void)fill(greedy, &n_added);
    if (greedy->options->n_swaps > 0) {
        sort_by_weight(greedy);
    }
    for (pass = 0; pass < greedy->options->n_swaps && changed; pass++) {
        changed = false;
        for (i = 0; i < greedy->n_live; i++) {
            changed |= exchange(greedy, greedy->order[i]);
        }
    }
    collect_chosen(greedy);
}
