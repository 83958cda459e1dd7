/*
 * bandwidth [LARGEST]: MPI_Alltoallv of device buffers beside plain copies from
 * device to device of as many bytes, both by each rank at once. A table on rank 0:
 * bytes that a rank sends, GB/s per rank of both, medians of 7. The last call of
 * each size is verified.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/gpu/gpu.h"

enum { MAX_RANKS = 64, REPEAT = 7, SMALLEST = 64 << 10 };

static int rank, n_ranks;
static int counts[MAX_RANKS], displs[MAX_RANKS];

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Seconds of the slowest rank, the median of REPEAT. */
static double measure(const gpu_buffer_t *send, const gpu_buffer_t *receive, int plain)
{
    double seconds[REPEAT];
    int i;

    for (i = 0; i < REPEAT; i++) {
        double begin;

        (void)MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        if (plain) {
            gpu_copy(receive, send);
        } else {
            (void)MPI_Alltoallv(send->address, counts, displs, MPI_BYTE, receive->address, counts,
                                displs, MPI_BYTE, MPI_COMM_WORLD);
        }
        seconds[i] = MPI_Wtime() - begin;
        (void)MPI_Allreduce(MPI_IN_PLACE, &seconds[i], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    qsort(seconds, REPEAT, sizeof(seconds[0]), compare);
    return seconds[REPEAT / 2];
}

/* Every block holds its sender's number. */
static int is_right(const gpu_buffer_t *receive, int block)
{
    unsigned char *bytes = malloc(receive->n_bytes);
    int from, i, wrong = 0;

    gpu_get(receive, bytes);
    for (from = 0; from < n_ranks; from++) {
        for (i = 0; i < block; i++) {
            wrong += bytes[from * block + i] != (unsigned char)(from + 1);
        }
    }
    free(bytes);
    (void)MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return wrong == 0;
}

static int one_size(int block)
{
    size_t n_bytes = (size_t)block * (size_t)n_ranks;
    unsigned char *bytes = malloc(n_bytes);
    gpu_buffer_t send, receive;
    double plain, lanes;
    int i, right;

    for (i = 0; i < n_ranks; i++) {
        counts[i] = block;
        displs[i] = i * block;
    }
    memset(bytes, rank + 1, n_bytes);
    gpu_alloc(&send, 'd', n_bytes);
    gpu_alloc(&receive, 'd', n_bytes);
    gpu_put(&send, bytes);
    (void)measure(&send, &receive, 1);
    plain = measure(&send, &receive, 1);
    (void)measure(&send, &receive, 0);
    lanes = measure(&send, &receive, 0);
    right = is_right(&receive, block);
    if (rank == 0) {
        (void)printf("| %10zu | %9.3f | %9.3f | %s |\n", n_bytes, (double)n_bytes / plain * 1e-9,
                     (double)n_bytes / lanes * 1e-9, right ? "verified" : "WRONG");
    }
    gpu_free(&send);
    gpu_free(&receive);
    free(bytes);
    return right;
}

int main(int argc, char **argv)
{
    int largest = argc > 1 ? atoi(argv[1]) : 64 << 20;
    int size, right = 1;
    const char *why;

    (void)MPI_Init(&argc, &argv);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    why = n_ranks > MAX_RANKS ? "too many ranks" : gpu_open(rank, 0);
    if (why != NULL) {
        (void)fprintf(stderr, "rank %d: %s\n", rank, why);
        (void)MPI_Abort(MPI_COMM_WORLD, 77);
    }
    if (rank == 0) {
        (void)printf("%d ranks, %d device%s\n\n", n_ranks, gpu_count(),
                     gpu_count() == 1 ? "" : "s");
        (void)printf("| bytes sent | copy GB/s | call GB/s | |\n|---|---|---|---|\n");
    }
    for (size = SMALLEST; size <= largest && right; size *= 4) {
        right = one_size(size / n_ranks);
    }
    (void)MPI_Finalize();
    return !right;
}
