/*
 * bench_idle [used] [count]: what calls of others cost beside the component. Rank 0 prints medians
 * in ns of a ping-pong and an allreduce of 8 bytes between all ranks. "used": after one alltoallv,
 * when lanes are open. "count": no times; messages to itself and allreduces alone, whose
 * instructions valgrind counts, because they do not depend on the machine's load.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_SAMPLES = 3001, N_COUNTED = 2000, MAX_RANKS = 64 };

static int rank, n_ranks;

static void ping_pong(void)
{
    long long text = rank;

    if (rank == 0) {
        (void)MPI_Send(&text, 1, MPI_LONG_LONG, 1, 1, MPI_COMM_WORLD);
        (void)MPI_Recv(&text, 1, MPI_LONG_LONG, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        (void)MPI_Recv(&text, 1, MPI_LONG_LONG, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        (void)MPI_Send(&text, 1, MPI_LONG_LONG, 0, 1, MPI_COMM_WORLD);
    }
}

static void reduce(void)
{
    long long mine = rank, sum;

    (void)MPI_Allreduce(&mine, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
}

__attribute__((noinline)) static void message_to_self(void)
{
    long long sent = 1, received;

    (void)MPI_Sendrecv(&sent, 1, MPI_LONG_LONG, 0, 2, &received, 1, MPI_LONG_LONG, 0, 2,
                       MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static void reduce_alone(void)
{
    long long mine = 1, sum;

    (void)MPI_Allreduce(&mine, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_SELF);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median_ns(void (*operation)(void))
{
    static double samples[N_SAMPLES];
    int i;

    for (i = 0; i < 200; i++) {
        operation();
    }
    for (i = 0; i < N_SAMPLES; i++) {
        double start = MPI_Wtime();

        operation();
        samples[i] = 1e9 * (MPI_Wtime() - start);
    }
    qsort(samples, N_SAMPLES, sizeof(samples[0]), compare);
    return samples[N_SAMPLES / 2];
}

/* Under valgrind, which counts what happens inside of the operation. */
static void repeat(void (*operation)(void))
{
    int i;

    for (i = 0; i < N_COUNTED; i++) {
        operation();
    }
}

static void use_component(void)
{
    int counts[MAX_RANKS], displs[MAX_RANKS], i;
    char *sent = calloc((size_t)n_ranks, 1000), *received = calloc((size_t)n_ranks, 1000);

    for (i = 0; i < n_ranks; i++) {
        counts[i] = 1000;
        displs[i] = 1000 * i;
    }
    (void)MPI_Alltoallv(sent, counts, displs, MPI_BYTE, received, counts, displs, MPI_BYTE,
                        MPI_COMM_WORLD);
    free(sent);
    free(received);
}

static int has(int argc, char **argv, const char *word)
{
    int i;

    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], word) == 0) {
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    double latency, reduction;

    (void)MPI_Init(&argc, &argv);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (n_ranks < 2 || n_ranks > MAX_RANKS) {
        (void)MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (has(argc, argv, "used")) {
        use_component();
    }
    if (has(argc, argv, "count")) {
        repeat(message_to_self);
        repeat(reduce_alone);
    } else {
        latency = median_ns(ping_pong);
        (void)MPI_Barrier(MPI_COMM_WORLD);
        reduction = median_ns(reduce);
        if (rank == 0) {
            (void)printf("%.0f %.0f\n", latency, reduction);
        }
    }
    (void)MPI_Finalize();
    return 0;
}
