/*
 * One rank is killed at some moment of many calls: ulfm SEED FILE. Every other rank must get an
 * MPI error, and be able to revoke and shrink the communicator and to go on with
 * what is left. The one that dies leaves its time in FILE. Under mpirun --with-ft ulfm.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "test/mca/cases.h"
#include "test/mca/exchange.h"

#include <mpi-ext.h>
#if defined(OMPI_HAVE_MPI_EXT_FTMPI)
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LATEST_US = 300000, MAX_CALLS = 1000000, N_AFTERWARDS = 10 };

static int world_rank, world_size;

typedef struct death {
    const char *file;
    unsigned after_us;
} death_t;

static double now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void *die(void *argument)
{
    const death_t *death = argument;
    FILE *file;

    (void)usleep(death->after_us);
    file = fopen(death->file, "w");
    if (file != NULL) {
        (void)fprintf(file, "%.3f\n", now_ms());
        (void)fclose(file);
    }
    (void)kill(getpid(), SIGKILL);
    return NULL;
}

/* Milliseconds since the death; below 0: nobody has died. */
static double since(const char *path)
{
    FILE *file = fopen(path, "r");
    double ms = 0;
    int found = file != NULL && fscanf(file, "%lf", &ms) == 1;

    if (file != NULL) {
        (void)fclose(file);
    }
    return found ? now_ms() - ms : -1;
}

static int many(int source, int destination, int seed)
{
    return 3000 + (source * 7 + destination * 3 + seed) % 50 * 200;
}

static int few(int source, int destination, int seed)
{
    return (source * 7 + destination * 3 + seed) % 5;
}

/* The code of one call on data of its own, which nobody looks at when it is no success. */
static int call_once(MPI_Comm comm, int seed, int *n_wrong)
{
    exchange_t call = {.kind = (exchange_kind_t)(seed % 3),
                       .mode = seed % 4 == 3 ? EXCHANGE_NONBLOCKING : EXCHANGE_BLOCKING,
                       .comm = comm,
                       .send_type = MPI_INT,
                       .receive_type = MPI_INT,
                       .ratio = 1,
                       .count = seed % 5 == 0 ? few : many,
                       .seed = seed / 7 % 4};
    int code = MPI_SUCCESS;

    *n_wrong += exchange_try(&call, &code);
    return code;
}

static const char *class_name(int code)
{
    int error_class = code;

    (void)MPI_Error_class(code, &error_class);
    switch (error_class) {
    case MPIX_ERR_PROC_FAILED:
        return "process failed";
    case MPIX_ERR_PROC_FAILED_PENDING:
        return "process failed, pending";
    case MPIX_ERR_REVOKED:
        return "revoked";
    case MPI_ERR_OTHER:
        return "other";
    default:
        return "unexpected";
    }
}

/* What is left goes on, and leaves together. */
static int go_on(MPI_Comm broken, int seed)
{
    MPI_Comm comm;
    int n_ranks = 0, i, n_wrong = 0;

    if (MPIX_Comm_shrink(broken, &comm) != MPI_SUCCESS) {
        return check_equal(0, 1, "a communicator of what is left");
    }
    (void)MPI_Comm_size(comm, &n_ranks);
    n_wrong += check_equal(n_ranks, world_size - 1, "the ranks that are left");
    for (i = 0; i < N_AFTERWARDS; i++) {
        n_wrong += check_equal(call_once(comm, seed + i, &n_wrong), MPI_SUCCESS,
                               "the code of a call afterwards");
    }
    (void)MPI_Barrier(comm);
    return n_wrong;
}

int main(int argc, char **argv)
{
    unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    death_t death = {.file = argc > 2 ? argv[2] : "/dev/null",
                     .after_us = seed * 2654435761u % LATEST_US};
    int provided, i, code = MPI_SUCCESS, n_wrong = 0;
    pthread_t thread;
    MPI_Comm comm;

    (void)MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    (void)MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    (void)MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (i = 0; i < MAX_CALLS && code == MPI_SUCCESS; i++) {
        /* Half of them while the communicator is being set up, or not long after. */
        if (i == (int)(seed / 4 % 2) && (unsigned)world_rank == seed % (unsigned)world_size) {
            (void)pthread_create(&thread, NULL, die, &death);
        }
        code = call_once(comm, (int)(seed % 1000) + i, &n_wrong);
    }
    (void)printf("rank %d: call %d: %s, %.0f ms after the death, %d wrong\n", world_rank, i,
                 class_name(code), since(death.file), n_wrong);
    (void)fflush(stdout);
    (void)MPIX_Comm_revoke(comm);
    n_wrong += go_on(comm, (int)(seed % 1000));
    (void)printf("rank %d: went on, %d wrong\n", world_rank, n_wrong);
    (void)fflush(stdout);
    /* MPI_Finalize waits for all that were there at the start; Open MPI 5.0.7 hangs in it at times.
     */
    _exit(n_wrong != 0);
}
#else
#include <stdio.h>

int main(void)
{
    (void)printf("this Open MPI has no MPIX_Comm_shrink\n");
    return 77;
}
#endif
