/*
 * late FILE TEXT [SIGNAL]: rank 0 comes to an alltoallv only when FILE, this job's output,
 * holds TEXT, or after a minute; meanwhile it sends SIGNAL to the others, when one is given.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_RANKS = 16, COUNT = 1000 };

static int holds(const char *path, const char *text)
{
    FILE *file = fopen(path, "r");
    char line[1024];
    int found = 0;

    while (file != NULL && !found && fgets(line, sizeof(line), file) != NULL) {
        found = strstr(line, text) != NULL;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

static void come_late(const char *path, const char *text, int number, const int *pids, int n_ranks)
{
    int tries, i;

    for (tries = 0; tries < 600 && !holds(path, text); tries++) {
        for (i = 1; i < n_ranks && number > 0; i++) {
            (void)kill((pid_t)pids[i], number);
        }
        (void)usleep(100 * 1000);
    }
}

int main(int argc, char **argv)
{
    int sent[MAX_RANKS * COUNT], received[MAX_RANKS * COUNT], counts[MAX_RANKS], displs[MAX_RANKS];
    int pids[MAX_RANKS], pid = (int)getpid(), rank, n_ranks, i, n_wrong = 0;

    (void)MPI_Init(&argc, &argv);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (argc < 3 || n_ranks > MAX_RANKS) {
        (void)MPI_Abort(MPI_COMM_WORLD, 2);
    }
    (void)MPI_Gather(&pid, 1, MPI_INT, pids, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (i = 0; i < n_ranks * COUNT; i++) {
        sent[i] = rank * 1000000 + i;
    }
    for (i = 0; i < n_ranks; i++) {
        counts[i] = COUNT;
        displs[i] = i * COUNT;
    }
    if (rank == 0) {
        come_late(argv[1], argv[2], argc > 3 ? atoi(argv[3]) : 0, pids, n_ranks);
    }
    (void)MPI_Alltoallv(sent, counts, displs, MPI_INT, received, counts, displs, MPI_INT,
                        MPI_COMM_WORLD);
    for (i = 0; i < n_ranks * COUNT; i++) {
        n_wrong += received[i] != i / COUNT * 1000000 + rank * COUNT + i % COUNT;
    }
    (void)printf("rank %d: %d wrong\n", rank, n_wrong);
    (void)MPI_Finalize();
    return n_wrong != 0;
}
