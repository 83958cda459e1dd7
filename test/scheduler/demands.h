/*
 * Demands for the scheduler's tests: reproducible random ones, and fixtures
 * with known bounds.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_SCHEDULER_DEMANDS_H
#define VP_TEST_SCHEDULER_DEMANDS_H

#include <stdint.h>

typedef enum demand_kind {
    DEMAND_DENSE,
    DEMAND_ZIPF,
    DEMAND_SPARSE, /* 70% of the pairs are empty */
    DEMAND_HOT,    /* one destination gets eight times as much */
    DEMAND_SINGLE, /* one pair */
    DEMAND_FEW,    /* as many pairs as ranks: where unseeded binding stalls */
    DEMAND_ZERO,
    DEMAND_HUGE,  /* up to 2^40 bytes a pair */
    DEMAND_BYTES, /* one byte a pair */
    N_DEMAND_KINDS
} demand_kind_t;

const char *demand_kind_text(demand_kind_t kind);

/* Next number of a splitmix64 sequence. */
uint64_t demand_random(uint64_t *state_p);

/* New bytes[n_ranks][n_ranks]; the diagonal holds garbage, which must not matter. */
uint64_t *demand_make(demand_kind_t kind, uint32_t n_ranks, uint64_t seed);

/* A fixture: independently computed bounds of a demand on a machine. */
typedef struct demand_fixture {
    const char *machine;
    const char *kind;
    uint64_t lp_ns; /* rounded down from the tenths that the solver gave */
    uint32_t kmin;
    uint64_t fluid_ns; /* rounded down likewise */
} demand_fixture_t;

extern const demand_fixture_t demand_fixtures[];
extern const uint32_t n_demand_fixtures;

/* Reads a fixture's demand; ends the process when that fails. */
uint64_t *demand_fixture_read(const demand_fixture_t *fixture, uint32_t n_ranks);

#endif
