/*
 * What the MPI library counts about its collectives, as MPI_T performance
 * variables named coll_variopath_*. Without them (another component, another MPI)
 * nothing is printed.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_EXAMPLES_COUNTERS_H
#define VP_EXAMPLES_COUNTERS_H

#include <mpi.h>

enum { MAX_COUNTERS = 64 };

typedef struct counters {
    MPI_T_pvar_session session;
    int n;
    MPI_T_pvar_handle handles[MAX_COUNTERS];
    char names[MAX_COUNTERS][128];
} counters_t;

/* A counter's handle counts from its allocation on: open before the calls, print after them. */
void open_counters(counters_t *counters);
/* Rank 0 prints the sums over all ranks of those that are not zero. Collective; closes them. */
void print_counters(counters_t *counters, int rank);

#endif
