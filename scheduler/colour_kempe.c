/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/colour_kempe.h"

#include <stdlib.h>

#include "base/array.h"

/* A change under examination: `number` goes to colour a, closed parts of a and b swap. */
typedef struct change {
    uint32_t a;
    uint32_t b;
    uint64_t into_a; /* longest piece that a gets, and b */
    uint64_t into_b;
    bool tallest_a; /* whether a loses a piece as long as it is, and b */
    bool tallest_b;
} change_t;

vp_status_t vp_kempe_init(vp_kempe_t *kempe, vp_colouring_t *colouring, vp_error_t *error)
{
    size_t n_ranks = colouring->jobs->model->n_ranks;

    *kempe = (vp_kempe_t){.colouring = colouring};
    kempe->moved = vp_array_new(2 * n_ranks, sizeof(*kempe->moved));
    kempe->from_a = vp_array_new(VP_KEMPE_MAX_WIDTH, sizeof(*kempe->from_a));
    kempe->from_b = vp_array_new(VP_KEMPE_MAX_WIDTH, sizeof(*kempe->from_b));
    if (kempe->moved == NULL || kempe->from_a == NULL || kempe->from_b == NULL) {
        vp_kempe_release(kempe);
        return vp_error_no_memory(error, "changes of a plan");
    }
    return VP_OK;
}

void vp_kempe_release(vp_kempe_t *kempe)
{
    free(kempe->from_b);
    free(kempe->from_a);
    free(kempe->moved);
    free(kempe->mark);
    *kempe = (vp_kempe_t){0};
}

static vp_status_t make_marks(vp_kempe_t *kempe, vp_error_t *error)
{
    size_t capacity = kempe->mark_capacity;
    size_t i;

    if (!vp_array_reserve(&kempe->mark, &kempe->mark_capacity, kempe->colouring->piece_capacity,
                          sizeof(*kempe->mark))) {
        return vp_error_no_memory(error, "changes of a plan");
    }
    for (i = capacity; i < kempe->mark_capacity; i++) {
        kempe->mark[i] = 0;
    }
    if (kempe->stamp > UINT32_MAX - 8) {
        kempe->stamp = 0;
        for (i = 0; i < kempe->mark_capacity; i++) {
            kempe->mark[i] = 0;
        }
    }
    return VP_OK;
}

/* Last colours in which the piece's ports of one end are free, at most width, latest first. */
static uint32_t collect(vp_kempe_t *kempe, const uint32_t *ports, uint32_t n_ports, bool arriving,
                        uint32_t width, uint32_t *colours)
{
    vp_colouring_t *colouring = kempe->colouring;
    uint32_t word = (colouring->n_colours + 63) / 64;
    uint32_t n = 0;
    uint32_t i;

    while (word-- > 0 && n < width) {
        uint64_t set = ~UINT64_C(0);

        for (i = 0; i < n_ports; i++) {
            if (colouring->jobs->arrives[ports[i]] == arriving) {
                set &= colouring->free[(size_t)ports[i] * colouring->n_words + word];
            }
        }
        colouring->steps += n_ports;
        while (set != 0 && n < width) {
            uint32_t bit = 63 - (uint32_t)__builtin_clzll(set);

            set &= ~(UINT64_C(1) << bit);
            if (word * 64 + bit < colouring->n_colours) {
                vp_colouring_need_row(colouring, word * 64 + bit);
                colours[n++] = word * 64 + bit;
            }
        }
    }
    return n;
}

static void push(vp_kempe_t *kempe, change_t *change, uint32_t number, bool in_a)
{
    uint64_t ticks = kempe->colouring->pieces[number].ticks;

    kempe->mark[number] = kempe->stamp + (in_a ? 1 : 0);
    kempe->moved[kempe->n_moved++] = number;
    if (in_a) {
        change->into_b = ticks > change->into_b ? ticks : change->into_b;
        change->tallest_a |= ticks == kempe->colouring->ticks[change->a];
    } else {
        change->into_a = ticks > change->into_a ? ticks : change->into_a;
        change->tallest_b |= ticks == kempe->colouring->ticks[change->b];
    }
}

/* Longest piece of a colour that does not belong to the change. */
static uint64_t longest_staying(const vp_kempe_t *kempe, uint32_t colour)
{
    vp_colouring_t *colouring = kempe->colouring;
    uint64_t longest = 0;
    uint32_t i;

    for (i = 0; i < colouring->jobs->model->n_ranks; i++) {
        if (!vp_colouring_is_free(colouring, i, colour)) {
            uint32_t number = vp_colouring_owner(colouring, i, colour);

            if (kempe->mark[number] < kempe->stamp && colouring->pieces[number].ticks > longest) {
                longest = colouring->pieces[number].ticks;
            }
        }
    }
    colouring->steps += i;
    return longest;
}

/*
 * Follows conflicts from the pieces of a that are in the way of `ports`; they
 * and all that follows swap colours. False if a piece of b on `ports` would
 * come to a, or if colour b alone would grow by limit_ticks.
 */
static bool follow(vp_kempe_t *kempe, change_t *change, const uint32_t *ports, uint32_t n_ports,
                   uint64_t limit_ticks)
{
    vp_colouring_t *colouring = kempe->colouring;
    uint32_t next;
    uint32_t i;

    kempe->stamp += 2;
    kempe->n_moved = 0;
    for (i = 0; i < n_ports; i++) {
        if (!vp_colouring_is_free(colouring, ports[i], change->a)) {
            uint32_t number = vp_colouring_owner(colouring, ports[i], change->a);

            if (kempe->mark[number] < kempe->stamp) {
                push(kempe, change, number, true);
            }
        }
    }
    for (next = 0; next < kempe->n_moved; next++) {
        uint32_t number = kempe->moved[next];
        bool in_a = (kempe->mark[number] & 1) != 0;
        uint32_t other = in_a ? change->b : change->a;
        uint32_t own[VP_JOBS_MAX_PORTS];
        uint32_t n_own = vp_piece_ports(colouring->jobs, &colouring->pieces[number], own);

        colouring->steps += n_own;
        for (i = 0; i < n_own; i++) {
            uint32_t met;

            if (vp_colouring_is_free(colouring, own[i], other)) {
                continue;
            }
            met = vp_colouring_owner(colouring, own[i], other);
            if (kempe->mark[met] < kempe->stamp) {
                push(kempe, change, met, !in_a);
            }
        }
        if (change->into_b > colouring->ticks[change->b] &&
            change->into_b - colouring->ticks[change->b] >= limit_ticks) {
            return false;
        }
    }
    for (i = 0; i < n_ports; i++) {
        if (!vp_colouring_is_free(colouring, ports[i], change->b) &&
            kempe->mark[vp_colouring_owner(colouring, ports[i], change->b)] >= kempe->stamp) {
            return false;
        }
    }
    return true;
}

/* By how much both colours together grow; may be negative. */
static int64_t growth(const vp_kempe_t *kempe, const change_t *change, uint64_t ticks)
{
    const vp_colouring_t *colouring = kempe->colouring;
    uint64_t a = colouring->ticks[change->a];
    uint64_t b = colouring->ticks[change->b];
    uint64_t new_a = change->into_a > ticks ? change->into_a : ticks;
    uint64_t new_b = change->into_b;
    uint64_t stay_a = change->tallest_a && new_a < a ? longest_staying(kempe, change->a) : a;
    uint64_t stay_b = change->tallest_b && new_b < b ? longest_staying(kempe, change->b) : b;

    new_a = stay_a > new_a ? stay_a : new_a;
    new_b = stay_b > new_b ? stay_b : new_b;
    return (int64_t)(new_a + new_b) - (int64_t)(a + b);
}

/* Carries out the change that was followed last. */
static void commit(vp_kempe_t *kempe, const change_t *change, uint32_t number)
{
    vp_colouring_t *colouring = kempe->colouring;
    uint32_t i;

    for (i = 0; i < kempe->n_moved; i++) {
        bool in_a = (kempe->mark[kempe->moved[i]] & 1) != 0;

        vp_colouring_take(colouring, in_a ? change->a : change->b, kempe->moved[i]);
    }
    for (i = 0; i < kempe->n_moved; i++) {
        bool in_a = (kempe->mark[kempe->moved[i]] & 1) != 0;

        vp_colouring_put(colouring, in_a ? change->b : change->a, kempe->moved[i]);
    }
    vp_colouring_put(colouring, change->a, number);
    if (change->tallest_a) {
        vp_colouring_measure(colouring, change->a);
    }
    if (change->tallest_b) {
        vp_colouring_measure(colouring, change->b);
    }
}

vp_status_t vp_kempe_place(vp_kempe_t *kempe, uint32_t number, uint32_t width, uint64_t limit_ticks,
                           bool *placed_p, vp_error_t *error)
{
    vp_colouring_t *colouring = kempe->colouring;
    uint64_t ticks = colouring->pieces[number].ticks;
    uint32_t ports[VP_JOBS_MAX_PORTS];
    uint32_t n_ports = vp_piece_ports(colouring->jobs, &colouring->pieces[number], ports);
    uint32_t n_a = collect(kempe, ports, n_ports, false, width, kempe->from_a);
    uint32_t n_b = collect(kempe, ports, n_ports, true, width, kempe->from_b);
    int64_t best = (int64_t)limit_ticks;
    change_t chosen = {.a = VP_NO_COLOUR};
    uint32_t i;
    vp_status_t status = make_marks(kempe, error);

    *placed_p = false;
    for (i = 0; i < n_a * n_b && status == VP_OK && best > 0; i++) {
        change_t change = {.a = kempe->from_a[i / n_b], .b = kempe->from_b[i % n_b]};
        int64_t grows;

        if (kempe->stamp > UINT32_MAX - 8) {
            status = make_marks(kempe, error);
        }
        if (change.a == change.b || !follow(kempe, &change, ports, n_ports, (uint64_t)best)) {
            continue;
        }
        grows = growth(kempe, &change, ticks);
        if (grows < best) {
            best = grows;
            chosen = change;
        }
    }
    if (status != VP_OK || chosen.a == VP_NO_COLOUR) {
        return status;
    }
    chosen = (change_t){.a = chosen.a, .b = chosen.b};
    (void)follow(kempe, &chosen, ports, n_ports, UINT64_MAX);
    commit(kempe, &chosen, number);
    *placed_p = true;
    return VP_OK;
}
