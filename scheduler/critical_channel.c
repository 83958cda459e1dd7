/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/critical_channel.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/*
 * Few machines that this planner is for have more than 64 ports, and mostly a
 * mask is one word: what works on masks is inlined for that case apart.
 */
#define MASK_INLINE static inline __attribute__((always_inline))

vp_status_t vp_choice_init(vp_choice_t *choice, const vp_lanes_t *lanes, vp_error_t *error)
{
    size_t n_ranks = lanes->jobs->model->n_ranks;
    size_t n_masks = (size_t)lanes->n_lanes * lanes->n_words;

    *choice = (vp_choice_t){.key = vp_array_new(lanes->n_lanes, sizeof(*choice->key)),
                            .mask = vp_array_new(n_masks, sizeof(*choice->mask)),
                            .busy = vp_array_new(lanes->n_words, sizeof(*choice->busy)),
                            .trial = vp_array_new(lanes->n_words, sizeof(*choice->trial)),
                            .holder = vp_array_new(lanes->n_ports, sizeof(*choice->holder)),
                            .added = vp_array_new(n_ranks, sizeof(*choice->added)),
                            .chosen = vp_array_new(n_ranks, sizeof(*choice->chosen))};
    while (lanes->n_lanes >> choice->index_bits != 0) {
        choice->index_bits++;
    }
    if (choice->index_bits + VP_LANE_WEIGHT_BITS > 64) {
        choice->weight_shift = choice->index_bits + VP_LANE_WEIGHT_BITS - 64;
    }
    if (choice->key == NULL || choice->mask == NULL || choice->busy == NULL ||
        choice->trial == NULL || choice->holder == NULL || choice->added == NULL ||
        choice->chosen == NULL) {
        vp_choice_release(choice);
        return vp_error_no_memory(error, "the choice of lanes");
    }
    return VP_OK;
}

void vp_choice_release(vp_choice_t *choice)
{
    free(choice->chosen);
    free(choice->added);
    free(choice->holder);
    free(choice->trial);
    free(choice->busy);
    free(choice->mask);
    free(choice->key);
    *choice = (vp_choice_t){0};
}

static uint32_t index_of(const vp_choice_t *choice, uint64_t key)
{
    return (uint32_t)(~key & ((UINT64_C(1) << choice->index_bits) - 1));
}

static uint64_t weight_of(const vp_choice_t *choice, uint32_t position)
{
    return choice->key[position] >> choice->index_bits;
}

MASK_INLINE void copy_mask(uint64_t *to, const uint64_t *from, uint32_t n_words)
{
    uint32_t w;

    for (w = 0; w < n_words; w++) {
        to[w] = from[w];
    }
}

MASK_INLINE void add_mask(uint64_t *to, const uint64_t *mask, uint32_t n_words)
{
    uint32_t w;

    for (w = 0; w < n_words; w++) {
        to[w] |= mask[w];
    }
}

MASK_INLINE bool meets(const uint64_t *a, const uint64_t *b, uint32_t n_words)
{
    uint64_t met = 0;
    uint32_t w;

    for (w = 0; w < n_words; w++) {
        met |= a[w] & b[w];
    }
    return met != 0;
}

/* Keys of all live lanes in their order; returns the largest. Of equals the first is largest. */
static uint64_t weigh(vp_choice_t *choice, const vp_live_t *live, uint64_t length)
{
    const uint64_t all = (UINT64_C(1) << choice->index_bits) - 1;
    uint64_t largest = 0;
    uint32_t i;

    for (i = 0; i < live->n; i++) {
        uint64_t weight = vp_live_worth(live, i, length) >> choice->weight_shift;
        uint64_t key = weight << choice->index_bits | (all - i);

        choice->key[i] = key;
        largest = key > largest ? key : largest;
    }
    return largest;
}

/* Chooses the heaviest lane, then the heaviest of those that fit beside it, and so on. */
MASK_INLINE void pick(vp_choice_t *choice, const vp_live_t *live, uint64_t length, uint32_t n_words)
{
    uint64_t heaviest = weigh(choice, live, length);
    const uint64_t *mask = live->mask;
    uint32_t n = live->n;

    choice->n_chosen = 0;
    while (n > 0) {
        uint32_t chosen = index_of(choice, heaviest);
        const uint64_t *taken = live->mask + (size_t)chosen * n_words;
        uint32_t n_left = 0;
        uint32_t i;

        choice->chosen[choice->n_chosen++] = chosen;
        heaviest = 0;
        for (i = 0; i < n; i++, mask += n_words) {
            uint64_t key = choice->key[i];

            if (!meets(mask, taken, n_words)) {
                copy_mask(choice->mask + (size_t)n_left * n_words, mask, n_words);
                choice->key[n_left++] = key;
                heaviest = key > heaviest ? key : heaviest;
            }
        }
        choice->n_seen += n;
        n = n_left;
        mask = choice->mask;
    }
}

/* Descending; keys differ. Shell's method: keys are few. */
static void sort_keys(uint64_t *key, uint32_t n)
{
    static const uint32_t gaps[] = {1750, 701, 301, 132, 57, 19, 5, 1};
    size_t g;

    for (g = 0; g < sizeof(gaps) / sizeof(gaps[0]); g++) {
        uint32_t gap = gaps[g];
        uint32_t i;

        for (i = gap; i < n; i++) {
            uint64_t moved = key[i];
            uint32_t at = i;

            for (; at >= gap && key[at - gap] < moved; at -= gap) {
                key[at] = key[at - gap];
            }
            key[at] = moved;
        }
    }
}

/* Adds every lane that fits, heaviest first, to `busy`, and notes them. */
MASK_INLINE void fill(vp_choice_t *choice, uint32_t n, uint64_t *busy, uint32_t n_words,
                      uint32_t *n_added_p)
{
    uint32_t n_added = 0;
    uint32_t i;

    for (i = 0; i < n; i++) {
        const uint64_t *mask = choice->mask + (size_t)i * n_words;

        if (!meets(mask, busy, n_words)) {
            add_mask(busy, mask, n_words);
            choice->added[n_added++] = i;
        }
    }
    choice->n_seen += n;
    *n_added_p = n_added;
}

/* Ports that are busy and were not taken again. */
MASK_INLINE uint32_t count_open(const vp_choice_t *choice, uint32_t n_words)
{
    uint32_t n_open = 0;
    uint32_t w;

    for (w = 0; w < n_words; w++) {
        n_open += (uint32_t)__builtin_popcountll(choice->busy[w] & ~choice->trial[w]);
    }
    return n_open;
}

/*
 * Fills `trial`, from which lanes were taken, up again; false as soon as the
 * new lanes cannot weigh more than `needed`. Nothing fitted before, so that
 * each new lane is on a port that was given up.
 */
MASK_INLINE bool refill(vp_choice_t *choice, uint32_t n, uint64_t needed, uint32_t n_words,
                        uint32_t *n_added_p)
{
    uint32_t n_open = count_open(choice, n_words);
    uint64_t least = n_open == 0 ? UINT64_MAX : (needed / n_open) << choice->index_bits;
    uint64_t sum = 0;
    uint32_t n_added = 0;
    uint32_t i;

    for (i = 0; i < n && n_open > 0 && choice->key[i] >= least; i++) {
        const uint64_t *mask = choice->mask + (size_t)i * n_words;

        if (meets(mask, choice->trial, n_words)) {
            continue;
        }
        add_mask(choice->trial, mask, n_words);
        choice->added[n_added++] = i;
        sum += weight_of(choice, i);
        n_open = count_open(choice, n_words);
        least = sum > needed || n_open == 0 ? 0 : ((needed - sum) / n_open) << choice->index_bits;
    }
    choice->n_seen += i;
    *n_added_p = n_added;
    return sum > needed;
}

static const vp_critical_lane_t *lane_at(const vp_greedy_t *greedy, uint32_t position)
{
    uint32_t i = index_of(&greedy->choice, greedy->choice.key[position]);

    return &greedy->lanes->lanes[greedy->live.lane[i]];
}

static bool is_held(const uint64_t *busy, uint32_t port)
{
    return (busy[port / 64] >> (port % 64) & 1) != 0;
}

static void hold(vp_greedy_t *greedy, uint32_t position)
{
    const vp_critical_lane_t *lane = lane_at(greedy, position);
    uint32_t i;

    for (i = 0; i < lane->n_ports; i++) {
        greedy->choice.holder[lane->ports[i]] = position;
    }
}

/* Takes the lanes in the way of another out of `trial`; returns what they weigh. */
MASK_INLINE uint64_t make_way(vp_choice_t *choice, const vp_critical_lane_t *lane, uint64_t *trial,
                              uint32_t n_words)
{
    uint64_t lost = 0;
    uint32_t i;
    uint32_t w;

    for (i = 0; i < lane->n_ports; i++) {
        uint32_t met = choice->holder[lane->ports[i]];

        if (is_held(trial, lane->ports[i])) {
            lost += weight_of(choice, met);
            for (w = 0; w < n_words; w++) {
                trial[w] &= ~choice->mask[(size_t)met * n_words + w];
            }
        }
    }
    return lost;
}

/* Puts a lane in place of those in its way, and fills up, if that gains. */
MASK_INLINE bool exchange(vp_greedy_t *greedy, uint32_t position, uint32_t n_words)
{
    vp_choice_t *choice = &greedy->choice;
    const vp_critical_lane_t *lane = lane_at(greedy, position);
    uint64_t weight = weight_of(choice, position);
    uint64_t lost;
    uint32_t n_added;
    uint32_t i;

    if (is_held(choice->busy, lane->ports[0]) && choice->holder[lane->ports[0]] == position) {
        return false;
    }
    copy_mask(choice->trial, choice->busy, n_words);
    lost = make_way(choice, lane, choice->trial, n_words);
    if (lost >= weight + weight / 2) {
        return false;
    }
    add_mask(choice->trial, choice->mask + (size_t)position * n_words, n_words);
    if (weight > lost) {
        fill(choice, greedy->live.n, choice->trial, n_words, &n_added);
    } else if (!refill(choice, greedy->live.n, lost - weight, n_words, &n_added)) {
        return false;
    }
    copy_mask(choice->busy, choice->trial, n_words);
    hold(greedy, position);
    for (i = 0; i < n_added; i++) {
        hold(greedy, choice->added[i]);
    }
    return true;
}

static void collect_chosen(vp_greedy_t *greedy)
{
    vp_choice_t *choice = &greedy->choice;
    uint32_t source;

    choice->n_chosen = 0;
    for (source = 0; source < greedy->lanes->n_sources; source++) {
        uint32_t port = greedy->lanes->sources[source];

        if (is_held(choice->busy, port)) {
            choice->chosen[choice->n_chosen++] =
                index_of(choice, choice->key[choice->holder[port]]);
        }
    }
}

MASK_INLINE void pick_and_exchange(vp_greedy_t *greedy, uint64_t length, uint32_t n_swaps,
                                   uint32_t n_words)
{
    vp_choice_t *choice = &greedy->choice;
    bool changed = true;
    uint32_t n_added;
    uint32_t pass;
    uint32_t i;

    (void)weigh(choice, &greedy->live, length);
    sort_keys(choice->key, greedy->live.n);
    for (i = 0; i < greedy->live.n; i++) {
        size_t index = index_of(choice, choice->key[i]);

        copy_mask(choice->mask + (size_t)i * n_words, greedy->live.mask + index * n_words, n_words);
    }
    memset(choice->busy, 0, n_words * sizeof(*choice->busy));
    fill(choice, greedy->live.n, choice->busy, n_words, &n_added);
    for (i = 0; i < n_added; i++) {
        hold(greedy, choice->added[i]);
    }
    for (pass = 0; pass < n_swaps && changed; pass++) {
        changed = false;
        for (i = 0; i < greedy->live.n; i++) {
            changed |= exchange(greedy, i, n_words);
        }
    }
    collect_chosen(greedy);
}

void vp_greedy_choose(vp_greedy_t *greedy, uint64_t length, uint32_t n_swaps)
{
    uint32_t n_words = greedy->lanes->n_words;

    if (n_swaps > 0 && n_words == 1) {
        pick_and_exchange(greedy, length, n_swaps, 1);
    } else if (n_swaps > 0) {
        pick_and_exchange(greedy, length, n_swaps, n_words);
    } else if (n_words == 1) {
        pick(&greedy->choice, &greedy->live, length, 1);
    } else {
        pick(&greedy->choice, &greedy->live, length, n_words);
    }
}
