/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/colour_quantum.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { N_LOADED = 4, N_PORTS = 6, N_BINS = 256, NO_SLOT = UINT8_MAX };

typedef struct predictor {
    const vp_jobs_t *jobs;
    uint32_t n_ports; /* looked at */
    uint32_t ports[N_PORTS];
    uint64_t *ticks[N_PORTS]; /* lengths of a port's jobs, descending */
    uint32_t n_ticks[N_PORTS];
    uint8_t *slot;     /* [jobs->n_ports] index into ports, or NO_SLOT */
    uint64_t *profile; /* [capacity] longest piece of each rank */
    size_t capacity;
    size_t n_ranks; /* of the profile in use */
} predictor_t;

/* Multiples of load / count of the fullest ports; 1 / 0: unlimited. */
static const struct {
    uint32_t factor;
    uint32_t divisor;
} multiples[VP_N_QUANTA] = {{1, 2}, {3, 5}, {7, 10}, {17, 20}, {1, 1}, {6, 5},
                            {7, 5}, {2, 1}, {14, 5}, {4, 1},   {6, 1}, {1, 0}};

static void choose_port(predictor_t *predictor, const vp_cut_t *whole, bool by_load)
{
    uint64_t largest = 0;
    uint32_t best = 0;
    uint32_t p;

    for (p = 0; p < predictor->jobs->n_ports; p++) {
        uint64_t size = by_load ? whole->load[p].ticks : whole->load[p].count;

        if (size > largest && predictor->slot[p] == NO_SLOT) {
            largest = size;
            best = p;
        }
    }
    if (largest > 0) {
        predictor->slot[best] = (uint8_t)predictor->n_ports;
        predictor->ports[predictor->n_ports++] = best;
    }
}

static int compare_descending(const void *a_p, const void *b_p)
{
    uint64_t a = *(const uint64_t *)a_p;
    uint64_t b = *(const uint64_t *)b_p;

    return a > b ? -1 : a < b;
}

static void collect(predictor_t *predictor, const vp_cut_t *whole)
{
    size_t i;
    uint32_t q;

    for (i = 0; i < whole->n_pieces; i++) {
        uint32_t ports[VP_JOBS_MAX_PORTS];
        uint32_t n_ports = vp_piece_ports(predictor->jobs, &whole->pieces[i], ports);

        for (q = 0; q < n_ports; q++) {
            uint8_t slot = predictor->slot[ports[q]];

            if (slot != NO_SLOT) {
                predictor->ticks[slot][predictor->n_ticks[slot]++] = whole->pieces[i].ticks;
            }
        }
    }
    for (q = 0; q < predictor->n_ports; q++) {
        qsort(predictor->ticks[q], predictor->n_ticks[q], sizeof(*predictor->ticks[q]),
              compare_descending);
    }
}

static vp_status_t init(predictor_t *predictor, const vp_jobs_t *jobs, const vp_cut_t *whole,
                        vp_error_t *error)
{
    uint32_t q;

    predictor->jobs = jobs;
    predictor->slot = vp_array_new(jobs->n_ports, sizeof(*predictor->slot));
    if (predictor->slot == NULL) {
        return vp_error_no_memory(error, "a choice of quanta");
    }
    memset(predictor->slot, NO_SLOT, jobs->n_ports);
    for (q = 0; q < N_PORTS; q++) {
        choose_port(predictor, whole, q < N_LOADED);
    }
    for (q = 0; q < predictor->n_ports; q++) {
        predictor->ticks[q] =
            vp_array_new(whole->load[predictor->ports[q]].count, sizeof(*predictor->ticks[q]));
        if (predictor->ticks[q] == NULL) {
            return vp_error_no_memory(error, "a choice of quanta");
        }
    }
    collect(predictor, whole);
    return VP_OK;
}

static void release(predictor_t *predictor)
{
    uint32_t q;

    for (q = 0; q < predictor->n_ports; q++) {
        free(predictor->ticks[q]);
    }
    free(predictor->profile);
    free(predictor->slot);
}

/* The piece of rank `rank` is at least this long. */
static bool raise_rank(predictor_t *predictor, size_t rank, uint64_t ticks)
{
    if (rank >= predictor->n_ranks) {
        if (!vp_array_reserve(&predictor->profile, &predictor->capacity, rank + 1,
                              sizeof(*predictor->profile))) {
            return false;
        }
        predictor->profile[rank] = 0;
        predictor->n_ranks = rank + 1;
    }
    if (ticks > predictor->profile[rank]) {
        predictor->profile[rank] = ticks;
    }
    return true;
}

/* Puts one port's pieces into the profile: whole quanta, then short jobs and remainders merged. */
static bool add_port(predictor_t *predictor, uint32_t q, uint64_t tau_ticks)
{
    const uint64_t *ticks = predictor->ticks[q];
    uint32_t n = predictor->n_ticks[q];
    uint32_t bins[N_BINS] = {0};
    uint64_t width = tau_ticks / N_BINS + 1;
    size_t rank = 0;
    uint32_t bin = N_BINS;
    uint32_t i;

    for (i = 0; i < n && ticks[i] > tau_ticks; i++) {
        uint64_t rest = ticks[i];

        for (; rest > tau_ticks; rest -= tau_ticks) {
            if (!raise_rank(predictor, rank++, tau_ticks)) {
                return false;
            }
        }
        bins[rest / width]++;
    }
    while (bin > 0 || i < n) {
        uint64_t middle = bin > 0 ? (bin - 1) * width + width / 2 : 0;

        if (bin > 0 && bins[bin - 1] == 0) {
            bin--;
        } else if (i < n && (bin == 0 || ticks[i] >= middle)) {
            if (!raise_rank(predictor, rank++, ticks[i++])) {
                return false;
            }
        } else {
            bins[bin - 1]--;
            if (!raise_rank(predictor, rank++, middle)) {
                return false;
            }
        }
    }
    return true;
}

/*
 * Pieces that come late find what is free in the wrong places. Measured from 32
 * to 256 GPUs that costs about as much as a few pieces of the longest kind,
 * less what all pieces have in common; on 16 it can be made good.
 */
static uint64_t expected_loss(const predictor_t *predictor, const vp_cut_t *whole,
                              const vp_quantum_t *quantum)
{
    enum { NO_LOSS_RANKS = 16, RANKS_PER_PIECE = 8, MOST_PIECES = 6 };
    uint64_t longest = whole->longest < quantum->tau_ticks ? whole->longest : quantum->tau_ticks;
    uint64_t mean = predictor->n_ranks == 0 ? 0 : whole->max_ticks / predictor->n_ranks;
    uint32_t n_ranks = predictor->jobs->model->n_ranks;
    uint32_t n_lost = n_ranks < NO_LOSS_RANKS ? 0 : (n_ranks - NO_LOSS_RANKS) / RANKS_PER_PIECE;

    n_lost = n_lost < MOST_PIECES ? n_lost : MOST_PIECES;
    return longest > mean ? n_lost * (longest - mean) : 0;
}

static bool predict(predictor_t *predictor, const vp_cut_t *whole, vp_quantum_t *quantum)
{
    size_t rank;
    uint32_t q;

    predictor->n_ranks = 0;
    for (q = 0; q < predictor->n_ports; q++) {
        if (!add_port(predictor, q, quantum->tau_ticks)) {
            return false;
        }
    }
    quantum->predicted = 0;
    for (rank = 0; rank < predictor->n_ranks; rank++) {
        quantum->predicted += predictor->jobs->alpha_ticks + predictor->profile[rank];
    }
    quantum->expected = quantum->predicted + expected_loss(predictor, whole, quantum);
    return true;
}

/* Few elements: insertion, stable. */
static void sort(vp_quantum_t *quanta)
{
    uint32_t i;

    for (i = 1; i < VP_N_QUANTA; i++) {
        vp_quantum_t quantum = quanta[i];
        uint32_t at = i;

        for (; at > 0 && quanta[at - 1].expected > quantum.expected; at--) {
            quanta[at] = quanta[at - 1];
        }
        quanta[at] = quantum;
    }
}

vp_status_t vp_quanta_predict(const vp_jobs_t *jobs, const vp_cut_t *whole,
                              vp_quantum_t quanta[VP_N_QUANTA], vp_error_t *error)
{
    predictor_t predictor = {0};
    vp_status_t status = init(&predictor, jobs, whole, error);
    uint32_t i;

    for (i = 0; i < VP_N_QUANTA && status == VP_OK; i++) {
        uint64_t mean = whole->max_count == 0 ? 0 : whole->max_ticks / whole->max_count;
        uint64_t tau_ticks = multiples[i].divisor == 0
                                 ? UINT64_MAX
                                 : mean * multiples[i].factor / multiples[i].divisor + 1;

        quanta[i].tau_ticks = tau_ticks < whole->longest ? tau_ticks : UINT64_MAX;
        if (!predict(&predictor, whole, &quanta[i])) {
            status = vp_error_no_memory(error, "a choice of quanta");
        }
    }
    release(&predictor);
    if (status == VP_OK) {
        sort(quanta);
    }
    return status;
}
