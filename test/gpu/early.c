/*
 * early carried|any: device memory that is older than MPI and addressed in its middle,
 * and memory that one rank frees and takes anew for each call while the others keep
 * theirs. All bytes are verified.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/gpu/gpu.h"
#include "test/mca/cases.h"

enum { MAX_RANKS = 64, INSIDE = 8, LARGEST = 60000, N_TURNS = 200 };

static int rank, n_ranks;
static gpu_buffer_t early_send, early_receive; /* from before MPI_Init */

static unsigned char pattern(int from, int to, int k, int turn)
{
    return (unsigned char)(from * 31 + to * 17 + k * 3 + (k >> 8) + turn * 101);
}

/* What rank `from` sends to `to`, or, receiving, what it should get. */
static void fill(unsigned char *bytes, int block, int receiving, int turn)
{
    int i, k;

    for (i = 0; i < n_ranks; i++) {
        for (k = 0; k < block; k++) {
            bytes[i * block + k] =
                receiving ? pattern(i, rank, k, turn) : pattern(rank, i, k, turn);
        }
    }
}

/* A block for everybody, INSIDE bytes behind the begin of the buffers, which are larger. */
static int exchange_inside(const gpu_buffer_t *send, const gpu_buffer_t *receive, int block,
                           int turn)
{
    unsigned char *got = calloc(1, receive->n_bytes), *expected = calloc(1, receive->n_bytes);
    unsigned char *sent = calloc(1, send->n_bytes);
    int counts[MAX_RANKS], displs[MAX_RANKS], i, n_wrong;

    for (i = 0; i < n_ranks; i++) {
        counts[i] = block;
        displs[i] = i * block;
    }
    fill(sent + INSIDE, block, 0, turn);
    fill(expected + INSIDE, block, 1, turn);
    gpu_put(send, sent);
    gpu_put(receive, got); /* zeros */
    n_wrong = check_equal(MPI_Alltoallv(send->address + INSIDE, counts, displs, MPI_BYTE,
                                        receive->address + INSIDE, counts, displs, MPI_BYTE,
                                        MPI_COMM_WORLD),
                          MPI_SUCCESS, "the code of alltoallv");
    gpu_get(receive, got);
    n_wrong += check_equal(memcmp(got, expected, receive->n_bytes), 0, "a difference in the bytes");
    free(sent);
    free(got);
    free(expected);
    return n_wrong;
}

static int case_early(void)
{
    int turn, n_wrong = 0;

    for (turn = 0; turn < 3; turn++) {
        n_wrong += exchange_inside(&early_send, &early_receive, LARGEST / n_ranks - turn, turn);
    }
    return n_wrong;
}

/* Sizes grow and shrink. The addresses that come back are often old ones. */
static int case_one_frees(void)
{
    int turn, n_wrong = 0;

    for (turn = 0; turn < N_TURNS && n_wrong == 0; turn++) {
        int block = 1 + (int)((unsigned)turn * 2654435761u >> 8) % (LARGEST / n_ranks);
        size_t n_bytes = (size_t)(block * n_ranks) + INSIDE;
        gpu_buffer_t send, receive;

        if (rank != 1) {
            n_wrong += exchange_inside(&early_send, &early_receive, block, turn);
            continue;
        }
        gpu_alloc(&send, 'd', n_bytes);
        gpu_alloc(&receive, 'd', n_bytes);
        n_wrong += exchange_inside(&send, &receive, block, turn);
        gpu_free(&send);
        gpu_free(&receive);
    }
    return n_wrong;
}

int main(int argc, char **argv)
{
    static const mpi_case_t cases[] = {
        {"memory from before MPI_Init, addressed inside", case_early},
        {"one rank's memory comes and goes", case_one_frees},
    };
    const char *launched = getenv("OMPI_COMM_WORLD_RANK");
    const char *why = gpu_open(launched == NULL ? 0 : atoi(launched), 0);
    int code, provided;

    if (why != NULL) {
        (void)fprintf(stderr, "%s\n", why);
        return 77;
    }
    gpu_alloc(&early_send, 'd', LARGEST + INSIDE);
    gpu_alloc(&early_receive, 'd', LARGEST + INSIDE);
    (void)MPI_Init(&argc, &argv);
    (void)MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (n_ranks > MAX_RANKS) {
        (void)MPI_Abort(MPI_COMM_WORLD, 2);
    }
    code = run_cases(cases, (int)(sizeof(cases) / sizeof(cases[0])),
                     argc > 1 ? carried_argument(argv[1]) : -1, NULL);
    gpu_free(&early_send);
    gpu_free(&early_receive);
    (void)MPI_T_finalize();
    (void)MPI_Finalize();
    return code;
}
