/*
 * SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
 * Generators, OOPSLA 2014): the one source of randomness of the simulator.
 * Equal seeds give equal numbers on every machine.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SIM_RANDOM_H
#define VP_SIM_RANDOM_H

#include <stdint.h>

#include "base/units.h"

static inline uint64_t vp_random_next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* 0 .. n - 1 (n > 0): the high half of a product, uneven by less than n / 2^64. */
static inline uint64_t vp_random_below(uint64_t *state, uint64_t n)
{
    return (uint64_t)((vp_uint128_t)vp_random_next(state) * n >> 64);
}

/* In [0, 1), a multiple of 2^-53. */
static inline double vp_random_unit(uint64_t *state)
{
    return (double)(vp_random_next(state) >> 11) * 0x1p-53;
}

#endif
