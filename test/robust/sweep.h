/*
 * The allocation-failure sweep of one operation: it runs once to list its
 * allocations, then again for each that is chosen, which then fails. Each time
 * the operation must either say that memory is out, in its status and in one
 * sentence, or give the same result; and whatever it took is given back.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_ROBUST_SWEEP_H
#define VP_TEST_ROBUST_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Does everything from nothing, gives all back, and tells the result by a hash of it. */
typedef vp_status_t (*sweep_fn_t)(const void *argument, uint64_t *digest_p, vp_error_t *error);

/* Fails the running test. Every allocation with VP_ROBUST_ALL in the environment. */
void sweep(const char *name, sweep_fn_t run, const void *argument);
bool sweep_is_whole(void);

#endif
