/*
 * What a repeated call pays before its first byte: the share of exchange and
 * planning in an alltoallv of 1 MiB per pair whose counts and buffers stay the same.
 * Of each call the exchange of the rank that came last counts, which waited for
 * nobody; on cores that ranks share, the others' is mostly the time that it is late.
 * The share is that of the median call.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 20, N_WARM = 3, N_CALLS = 21, N_COUNTERS = 2 };

static const char *const names[N_COUNTERS] = {"coll_variopath_exchange_ns",
                                              "coll_variopath_planning_ns"};

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handles[N_COUNTERS];

static int open_counters(void)
{
    int provided, index, i, count;

    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS ||
        MPI_T_pvar_session_create(&session) != MPI_SUCCESS) {
        return 0;
    }
    for (i = 0; i < N_COUNTERS; i++) {
        if (MPI_T_pvar_get_index(names[i], MPI_T_PVAR_CLASS_AGGREGATE, &index) != MPI_SUCCESS ||
            MPI_T_pvar_handle_alloc(session, index, NULL, &handles[i], &count) != MPI_SUCCESS) {
            return 0;
        }
    }
    return 1;
}

static double counted_ns(void)
{
    unsigned long long value;
    double sum = 0;
    int i;

    for (i = 0; i < N_COUNTERS; i++) {
        if (MPI_T_pvar_read(session, handles[i], &value) == MPI_SUCCESS) {
            sum += (double)value;
        }
    }
    return sum;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof(*values), compare);
    return values[n / 2];
}

/* One call; its time and what of it was counted, in ms. */
static void measure(const char *send, char *receive, const int *counts, const int *displs,
                    double *call_ms, double *counted_ms)
{
    double start, before;

    (void)MPI_Barrier(MPI_COMM_WORLD);
    before = counted_ns();
    start = MPI_Wtime();
    (void)MPI_Alltoallv(send, counts, displs, MPI_BYTE, receive, counts, displs, MPI_BYTE,
                        MPI_COMM_WORLD);
    *call_ms = 1e3 * (MPI_Wtime() - start);
    *counted_ms = 1e-6 * (counted_ns() - before);
}

/* Medians of calls: the slowest rank's time, the quickest rank's exchange. */
static void report(double *call_ms, double *counted_ms, int n_ranks, int rank)
{
    double slowest[N_CALLS], quickest[N_CALLS];
    double call, counted;

    (void)MPI_Reduce(call_ms, slowest, N_CALLS, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    (void)MPI_Reduce(counted_ms, quickest, N_CALLS, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        call = median(slowest, N_CALLS);
        counted = median(quickest, N_CALLS);
        (void)printf("%d ranks, %d bytes per pair: call %.3f ms, exchange and planning %.3f ms, "
                     "%.2f%%\n",
                     n_ranks, BLOCK_BYTES, call, counted, 100 * counted / call);
    }
}

static void run(int n_ranks, int rank)
{
    size_t n_bytes = (size_t)n_ranks * BLOCK_BYTES;
    char *send = malloc(n_bytes), *receive = malloc(n_bytes);
    int *counts = malloc(2 * (size_t)n_ranks * sizeof(*counts)), *displs = counts + n_ranks;
    double call_ms[N_WARM + N_CALLS], counted_ms[N_WARM + N_CALLS];
    int i;

    if (send == NULL || receive == NULL || counts == NULL) {
        (void)MPI_Abort(MPI_COMM_WORLD, 1);
        return;
    }
    memset(send, rank, n_bytes);
    memset(receive, 0, n_bytes);
    for (i = 0; i < n_ranks; i++) {
        counts[i] = BLOCK_BYTES;
        displs[i] = i * BLOCK_BYTES;
    }
    for (i = 0; i < N_WARM + N_CALLS; i++) {
        measure(send, receive, counts, displs, &call_ms[i], &counted_ms[i]);
    }
    report(call_ms + N_WARM, counted_ms + N_WARM, n_ranks, rank);
    free(send);
    free(receive);
    free(counts);
}

int main(int argc, char **argv)
{
    int rank, n_ranks;

    (void)MPI_Init(&argc, &argv);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (!open_counters()) {
        (void)fprintf(stderr, "the component's counters are not there\n");
        (void)MPI_Abort(MPI_COMM_WORLD, 1);
    }
    run(n_ranks, rank);
    (void)MPI_T_finalize();
    (void)MPI_Finalize();
    return 0;
}
