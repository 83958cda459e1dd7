/*
 * Conversions between bytes, bytes per second and nanoseconds. They happen
 * here and nowhere else, in integers, so that every rank computes the same.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_BASE_UNITS_H
#define VP_BASE_UNITS_H

#include <stdint.h>

#define VP_NS_PER_S UINT64_C(1000000000)

__extension__ typedef unsigned __int128 vp_uint128_t;

/* value * factor / divisor through 128 bits; saturates at UINT64_MAX. divisor > 0. Rounded down. */
static inline uint64_t vp_muldiv_floor(uint64_t value, uint64_t factor, uint64_t divisor)
{
    vp_uint128_t quotient = (vp_uint128_t)value * factor / divisor;

    return quotient > UINT64_MAX ? UINT64_MAX : (uint64_t)quotient;
}

/* The same, rounded up. */
static inline uint64_t vp_muldiv_ceil(uint64_t value, uint64_t factor, uint64_t divisor)
{
    vp_uint128_t product = (vp_uint128_t)value * factor;
    vp_uint128_t quotient = product / divisor + (product % divisor != 0);

    return quotient > UINT64_MAX ? UINT64_MAX : (uint64_t)quotient;
}

/* Time in ns that `bytes` take at bytes_per_s (> 0), rounded up: nothing takes no time. */
static inline uint64_t vp_transfer_ns(uint64_t bytes, uint64_t bytes_per_s)
{
    uint64_t product = bytes * VP_NS_PER_S;

    if (bytes > UINT64_MAX / VP_NS_PER_S) {
        return vp_muldiv_ceil(bytes, VP_NS_PER_S, bytes_per_s);
    }
    return product / bytes_per_s + (product % bytes_per_s != 0);
}

/* Bytes that fit into `ns` at bytes_per_s, rounded down. */
static inline uint64_t vp_bytes_in_ns(uint64_t bytes_per_s, uint64_t ns)
{
    return vp_muldiv_floor(bytes_per_s, ns, VP_NS_PER_S);
}

/* a + b and a * b, saturating: sums of user-given byte counts must not wrap. */
static inline uint64_t vp_add_sat(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static inline uint64_t vp_mul_sat(uint64_t a, uint64_t b)
{
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

/*
 * A rate for people, in the unit that leaves digits before the point: "64.0
 * GB/s", "50.0 MB/s", "900 B/s". text: VP_RATE_TEXT_BYTES.
 */
enum { VP_RATE_TEXT_BYTES = 32 };
void vp_rate_text(uint64_t bytes_per_s, char *text);

#endif
