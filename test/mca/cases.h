/*
 * A small harness for MPI test programs: every rank runs every case, rank 0
 * prints one line per case and a closing line in the manner of Check.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_MCA_CASES_H
#define VP_TEST_MCA_CASES_H

#include <mpi.h>

/* Returns the number of things that are wrong on this rank. */
typedef int (*case_fn_t)(void);

typedef struct mpi_case {
    const char *name;
    case_fn_t run;
} mpi_case_t;

/* Counts a wrong value and says which, with rank and both values. */
int check_equal(long long got, long long expected, const char *what);

/*
 * Runs the cases on MPI_COMM_WORLD. Returns 0 when all are right, for main.
 * carried_expected: 2 = the variopath component must have carried all calls, 1 =
 * some, 0 = none; -1: whatever. Read from its MPI_T counters. `only` restricts to the
 * cases whose name holds that text; NULL: all.
 */
int run_cases(const mpi_case_t *cases, int n_cases, int carried_expected, const char *only);

/* "all": 2, "carried": 1, "passed": 0, anything else: -1. */
int carried_argument(const char *text);

/*
 * A performance variable of the library: it counts from counter_open on.
 * counter_sum adds it up over all ranks and closes it; -1 when it does not exist.
 */
typedef struct counter {
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    int exists;
} counter_t;

void counter_open(counter_t *counter, const char *name);
long long counter_sum(counter_t *counter);

#endif
