/*
 * The clock of measurements and timeouts. It never enters a decision that
 * ranks share.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_COLL_CLOCK_H
#define VP_COLL_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "base/units.h"

static inline uint64_t vp_clock_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * VP_NS_PER_S + (uint64_t)now.tv_nsec;
}

#endif
