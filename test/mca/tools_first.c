/*
 * A tool registers every framework through MPI_T before MPI_Init selects the
 * components: the other coll components must not be listed twice, and the
 * counters must be readable before, during and after.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "test/mca/cases.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int provided;
    counter_t counter;
    int rank;
    int n_ranks;
    int *ones;
    int *displs;
    int *sent;
    int *received;
    long long carried;
    int n_wrong = 0;
    int i;

    (void)MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    counter_open(&counter, "coll_variopath_carried");
    (void)MPI_Init(&argc, &argv);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    ones = calloc((size_t)n_ranks * 4, sizeof(int));
    if (ones == NULL) {
        return 2;
    }
    displs = ones + n_ranks;
    sent = displs + n_ranks;
    received = sent + n_ranks;
    for (i = 0; i < n_ranks; i++) {
        ones[i] = 1;
        displs[i] = i;
        sent[i] = 100 * rank + i;
    }
    (void)MPI_Alltoallv(sent, ones, displs, MPI_INT, received, ones, displs, MPI_INT,
                        MPI_COMM_WORLD);
    for (i = 0; i < n_ranks; i++) {
        n_wrong += check_equal(received[i], 100 * i + rank, "a received int");
    }
    carried = counter_sum(&counter);
    if (rank == 0) {
        (void)printf("carried %lld\n", carried);
    }
    free(ones);
    (void)MPI_T_finalize();
    (void)MPI_Finalize();
    return n_wrong != 0;
}
