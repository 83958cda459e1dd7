/*
 * Allocations that fail on purpose. A program linked with the flags of
 * $(robust_ldflags) takes its memory, and jansson's, through here: allocations
 * are counted, one of them can be made to fail, and what is not given back is
 * known. What other libraries take for themselves is left alone: hwloc and
 * libxml2 do not survive it.
 *
 * Not for two threads at once.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_ROBUST_FAILING_H
#define VP_TEST_ROBUST_FAILING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Counts from here; allocation number fail_at (1 ..) fails, 0: none. */
void failing_start(size_t fail_at);
/* The same, none fails, and the call stack of each is looked at. */
void failing_start_listing(void);
/* Ends it; the number of allocations. */
size_t failing_stop(void);
/* Blocks taken since the start and not given back. */
size_t failing_n_live(void);
/* Where they were taken, and where the allocation failed: addresses for addr2line. */
void failing_report(FILE *stream);

/*
 * The numbers to try of the allocations that were listed, ascending: every one
 * with `all` or where they are few, else the first of each call stack. Borrowed
 * until the next start.
 */
const size_t *failing_choose(bool all, size_t *n_p);
/* Call stacks that were seen. */
size_t failing_n_sites(void);

/* jansson takes its memory here from now on; before anything else of it is called. */
void failing_take_jansson(void);

#endif
