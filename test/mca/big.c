/*
 * One block of more than 2^31 bytes, as a count of a large datatype: rank 0 sends it to
 * rank 1, which answers with one element. Every 4096th byte and the edges are verified.
 * Takes 2.1 GiB on each of two ranks.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "test/mca/cases.h"

enum { ELEMENT_BYTES = 4 << 20, N_ELEMENTS = 520, STEP = 4096 };

static int rank;

static unsigned char pattern(uint64_t i)
{
    return (unsigned char)((i >> 12) * 7 + (i >> 24) * 13 + i + 1);
}

static unsigned char *take(int n_elements)
{
    unsigned char *bytes = calloc((size_t)n_elements, ELEMENT_BYTES);

    if (bytes == NULL) {
        (void)MPI_Abort(MPI_COMM_WORLD, 77);
    }
    return bytes;
}

static int count_wrong(const unsigned char *bytes, uint64_t n_bytes)
{
    uint64_t i;
    int n_wrong = bytes[n_bytes - 1] != pattern(n_bytes - 1);

    for (i = 0; i < n_bytes; i += STEP) {
        n_wrong += bytes[i] != pattern(i);
    }
    return n_wrong;
}

static int big(void)
{
    const int sizes[2] = {N_ELEMENTS, 1}; /* what ranks 0 and 1 send */
    int send_counts[2] = {0, 0}, receive_counts[2] = {0, 0}, displs[2] = {0, 0}, peer = 1 - rank;
    uint64_t i, n_sent = (uint64_t)sizes[rank] * ELEMENT_BYTES;
    unsigned char *sent = take(sizes[rank]), *received = take(sizes[peer]);
    MPI_Datatype element;
    int n_wrong;

    for (i = 0; i < n_sent; i += STEP) {
        sent[i] = pattern(i);
    }
    sent[n_sent - 1] = pattern(n_sent - 1);
    send_counts[peer] = sizes[rank];
    receive_counts[peer] = sizes[peer];
    (void)MPI_Type_contiguous(ELEMENT_BYTES, MPI_BYTE, &element);
    (void)MPI_Type_commit(&element);
    n_wrong = check_equal(MPI_Alltoallv(sent, send_counts, displs, element, received,
                                        receive_counts, displs, element, MPI_COMM_WORLD),
                          MPI_SUCCESS, "the code of alltoallv");
    n_wrong +=
        check_equal(count_wrong(received, (uint64_t)sizes[peer] * ELEMENT_BYTES), 0, "wrong bytes");
    (void)MPI_Type_free(&element);
    free(sent);
    free(received);
    return n_wrong;
}

int main(int argc, char **argv)
{
    static const mpi_case_t cases[] = {{"a block of more than 2^31 bytes", big}};
    int n_ranks, provided, code;

    (void)MPI_Init(&argc, &argv);
    (void)MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (n_ranks != 2) {
        (void)MPI_Abort(MPI_COMM_WORLD, 2);
    }
    code = run_cases(cases, 1, carried_argument(argc > 1 ? argv[1] : ""), NULL);
    (void)MPI_T_finalize();
    (void)MPI_Finalize();
    return code;
}
