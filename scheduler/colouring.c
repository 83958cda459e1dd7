/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/colouring.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { WORD_BITS = 64 };

vp_status_t vp_colouring_init(vp_colouring_t *colouring, const vp_jobs_t *jobs, vp_error_t *error)
{
    *colouring = (vp_colouring_t){.jobs = jobs};
    colouring->hint = vp_array_new(jobs->n_ports, sizeof(*colouring->hint));
    return colouring->hint != NULL ? VP_OK : vp_error_no_memory(error, "the ports of a plan");
}

void vp_colouring_release(vp_colouring_t *colouring)
{
    vp_pool_t *pool = colouring->jobs == NULL ? NULL : colouring->jobs->pool;

    vp_pool_give(pool, colouring->pieces);
    vp_pool_give(pool, colouring->owner);
    vp_pool_give(pool, colouring->list);
    vp_pool_give(pool, colouring->n_lanes);
    vp_pool_give(pool, colouring->ticks);
    free(colouring->hint);
    vp_pool_give(pool, colouring->free);
    *colouring = (vp_colouring_t){0};
}

/* Room for more colours; what is there stays. */
static vp_status_t grow(vp_colouring_t *colouring, uint32_t n_words, vp_error_t *error)
{
    uint32_t n_ports = colouring->jobs->n_ports;
    size_t n_colours = (size_t)n_words * WORD_BITS;
    vp_pool_t *pool = colouring->jobs->pool;
    uint64_t *set = vp_pool_take(pool, (size_t)n_ports * n_words, sizeof(*set));
    size_t capacities[4] = {colouring->capacity, colouring->capacity, colouring->capacity,
                            (size_t)colouring->capacity * n_ports};
    bool fits;
    uint32_t p;

    if (set == NULL) {
        return vp_error_no_memory(error, "the activations of a plan");
    }
    fits = vp_pool_reserve(pool, &colouring->ticks, &capacities[0], n_colours,
                           sizeof(*colouring->ticks)) &&
           vp_pool_reserve(pool, &colouring->n_lanes, &capacities[1], n_colours,
                           sizeof(*colouring->n_lanes)) &&
           vp_pool_reserve(pool, &colouring->list, &capacities[2], n_colours,
                           sizeof(*colouring->list)) &&
           vp_pool_reserve(pool, &colouring->owner, &capacities[3], n_colours * n_ports,
                           sizeof(*colouring->owner));
    if (!fits) {
        vp_pool_give(pool, set);
        return vp_error_no_memory(error, "the activations of a plan");
    }
    memset(set, 0xff, (size_t)n_ports * n_words * sizeof(*set));
    for (p = 0; p < n_ports && colouring->n_words > 0; p++) {
        memcpy(set + (size_t)p * n_words, colouring->free + (size_t)p * colouring->n_words,
               colouring->n_words * sizeof(*set));
    }
    vp_pool_give(pool, colouring->free);
    colouring->free = set;
    colouring->n_words = n_words;
    colouring->capacity = n_words * WORD_BITS;
    return VP_OK;
}

vp_status_t vp_colouring_reset(vp_colouring_t *colouring, uint32_t n_colours, vp_error_t *error)
{
    uint32_t n_words = n_colours / WORD_BITS + 1;
    uint32_t n_ports = colouring->jobs->n_ports;

    colouring->n_pieces = 0;
    colouring->n_colours = 0;
    colouring->cost = 0;
    memset(colouring->hint, 0, n_ports * sizeof(*colouring->hint));
    if (n_words > colouring->n_words) {
        colouring->n_words = 0;
        return grow(colouring, n_words, error);
    }
    memset(colouring->free, 0xff, (size_t)n_ports * colouring->n_words * sizeof(*colouring->free));
    return VP_OK;
}

vp_status_t vp_colouring_add_piece(vp_colouring_t *colouring, const vp_piece_t *piece,
                                   uint32_t *number_p, vp_error_t *error)
{
    if (!vp_pool_reserve(colouring->jobs->pool, &colouring->pieces, &colouring->piece_capacity,
                         colouring->n_pieces + 1, sizeof(*colouring->pieces))) {
        return vp_error_no_memory(error, "the pieces of a plan");
    }
    colouring->pieces[colouring->n_pieces] = *piece;
    *number_p = (uint32_t)colouring->n_pieces++;
    return VP_OK;
}

vp_status_t vp_colouring_open(vp_colouring_t *colouring, uint32_t *colour_p, vp_error_t *error)
{
    if (colouring->n_colours == colouring->capacity) {
        vp_status_t status =
            grow(colouring, colouring->n_words + colouring->n_words / 2 + 1, error);

        if (status != VP_OK) {
            return status;
        }
    }
    *colour_p = colouring->n_colours++;
    colouring->ticks[*colour_p] = 0;
    colouring->n_lanes[*colour_p] = 0;
    colouring->list[*colour_p] = VP_NO_PIECE;
    return VP_OK;
}

static void enter(vp_colouring_t *colouring, uint32_t colour, uint32_t number)
{
    uint32_t *row = colouring->owner + (size_t)colour * colouring->jobs->n_ports;
    uint32_t ports[VP_JOBS_MAX_PORTS];
    uint32_t n_ports = vp_piece_ports(colouring->jobs, &colouring->pieces[number], ports);
    uint32_t i;

    for (i = 0; i < n_ports; i++) {
        row[ports[i]] = number;
    }
}

void vp_colouring_need_row(vp_colouring_t *colouring, uint32_t colour)
{
    uint32_t number = colouring->list[colour];

    if (number == VP_HAS_ROW) {
        return;
    }
    for (; number != VP_NO_PIECE; number = colouring->pieces[number].next) {
        enter(colouring, colour, number);
    }
    colouring->list[colour] = VP_HAS_ROW;
    colouring->steps += 4 * (uint64_t)colouring->n_lanes[colour];
}

void vp_colouring_put(vp_colouring_t *colouring, uint32_t colour, uint32_t number)
{
    vp_piece_t *piece = &colouring->pieces[number];
    uint64_t *set = colouring->free + colour / WORD_BITS;
    uint64_t bit = UINT64_C(1) << (colour % WORD_BITS);
    uint32_t ports[VP_JOBS_MAX_PORTS];
    uint32_t n_ports = vp_piece_ports(colouring->jobs, piece, ports);
    uint32_t i;

    for (i = 0; i < n_ports; i++) {
        set[(size_t)ports[i] * colouring->n_words] &= ~bit;
    }
    piece->colour = colour;
    if (colouring->list[colour] == VP_HAS_ROW) {
        enter(colouring, colour, number);
    } else {
        piece->next = colouring->list[colour];
        colouring->list[colour] = number;
    }
    if (colouring->n_lanes[colour]++ == 0) {
        colouring->cost += colouring->jobs->alpha_ticks;
    }
    if (piece->ticks > colouring->ticks[colour]) {
        colouring->cost += piece->ticks - colouring->ticks[colour];
        colouring->ticks[colour] = piece->ticks;
    }
}

void vp_colouring_take(vp_colouring_t *colouring, uint32_t colour, uint32_t number)
{
    const vp_piece_t *piece = &colouring->pieces[number];
    uint64_t *set = colouring->free + colour / WORD_BITS;
    uint64_t bit = UINT64_C(1) << (colour % WORD_BITS);
    uint32_t ports[VP_JOBS_MAX_PORTS];
    uint32_t n_ports = vp_piece_ports(colouring->jobs, piece, ports);
    uint32_t i;

    for (i = 0; i < n_ports; i++) {
        set[(size_t)ports[i] * colouring->n_words] |= bit;
        if (colour / WORD_BITS < colouring->hint[ports[i]]) {
            colouring->hint[ports[i]] = colour / WORD_BITS;
        }
    }
    if (--colouring->n_lanes[colour] == 0) {
        colouring->cost -= colouring->jobs->alpha_ticks + colouring->ticks[colour];
        colouring->ticks[colour] = 0;
    }
}

void vp_colouring_measure(vp_colouring_t *colouring, uint32_t colour)
{
    uint64_t longest = 0;
    uint32_t i;

    for (i = 0; i < colouring->jobs->model->n_ranks; i++) {
        if (!vp_colouring_is_free(colouring, i, colour)) {
            uint64_t ticks = colouring->pieces[vp_colouring_owner(colouring, i, colour)].ticks;

            longest = ticks > longest ? ticks : longest;
        }
    }
    colouring->steps += i;
    colouring->cost = colouring->cost - colouring->ticks[colour] + longest;
    colouring->ticks[colour] = longest;
}

/* The first word at or after `word` in which a port has a free colour. */
static uint32_t skip_full(vp_colouring_t *colouring, uint32_t port)
{
    const uint64_t *set = colouring->free + (size_t)port * colouring->n_words;
    uint32_t word = colouring->hint[port];

    while (word < colouring->n_words && set[word] == 0) {
        word++;
    }
    colouring->hint[port] = word;
    return word;
}

uint32_t vp_colouring_first(vp_colouring_t *colouring, const uint32_t *ports, uint32_t n_ports,
                            uint32_t from)
{
    const uint64_t *sets[VP_JOBS_MAX_PORTS];
    uint64_t mask = ~UINT64_C(0) << (from % WORD_BITS);
    uint32_t word = from / WORD_BITS;
    uint32_t first = word;
    uint32_t i;

    colouring->steps += 8;
    for (i = 0; i < n_ports; i++) {
        uint32_t start = skip_full(colouring, ports[i]);

        word = start > word ? start : word;
        sets[i] = colouring->free + (size_t)ports[i] * colouring->n_words;
    }
    mask = word == first ? mask : ~UINT64_C(0);
    for (; word * WORD_BITS < colouring->n_colours; word++) {
        uint64_t set = sets[0][word] & sets[1][word] & mask;

        for (i = 2; i < n_ports; i++) {
            set &= sets[i][word];
        }
        colouring->steps += n_ports;
        if (set != 0) {
            uint32_t colour = word * WORD_BITS + (uint32_t)__builtin_ctzll(set);

            return colour < colouring->n_colours ? colour : VP_NO_COLOUR;
        }
        mask = ~UINT64_C(0);
    }
    return VP_NO_COLOUR;
}
