/*
 * Demand matrices as CSV: N rows of N byte counts, row = source rank.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_SCHEDULER_DEMAND_H
#define VP_SCHEDULER_DEMAND_H

#include "base/status.h"
#include <stddef.h>
#include <stdint.h>

/*
 * Parses text (zero-terminated) into new demand_bytes[n_ranks][n_ranks], which
 * the caller frees. Blank lines and lines starting with '#' are skipped.
 * VP_ERR_BAD_INPUT with `where`, line and column: not a number, negative,
 * above 2^62, rows of different length, not square. Pure: no I/O.
 */
vp_status_t vp_demand_parse(const char *text, const char *where, uint64_t **demand_bytes_p,
                            uint32_t *n_ranks_p, vp_error_t *error) VP_MUST_CHECK;

#endif
