/*
 * Exact bounds of a demand by linear programming: HiGHS, in a Python process
 * of its own. Nothing but the command line uses it.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TOOLS_EXACT_H
#define VP_TOOLS_EXACT_H

#include <stdint.h>

#include "base/status.h"

typedef struct vp_exact {
    uint64_t lp_ns; /* certified by exact arithmetic, rounded down */
    uint64_t fluid_ns;
    uint32_t kmin;
} vp_exact_t;

/*
 * Runs lp_bound.py, from VARIOPATH_DATA or where it was installed, by VP_PYTHON
 * or python3. `demand` is a file. VP_ERR_IO: no Python, no script or no
 * highspy, or an answer that cannot be read.
 */
vp_status_t vp_exact_bounds(const char *topology, const char *demand, vp_exact_t *exact_p,
                            vp_error_t *error) VP_MUST_CHECK;

#endif
