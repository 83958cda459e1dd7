/*
 * Lives of communicators and processes. Usage: lifecycle storm N | fork | changing N |
 * finalize, each a program of its own, because each ends in its own way.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "test/mca/cases.h"
#include "test/mca/exchange.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int world_rank;
static int world_size;

static int some(int source, int destination, int seed)
{
    return (source * 7 + destination * 3 + seed) % 5;
}

/* 60% zeros, and sizes from nothing to 256 KiB, another matrix each time. */
static int experts(int source, int destination, int seed)
{
    unsigned state = (unsigned)(source * 31 + destination) * 2654435761u + (unsigned)seed * 40503u;

    state ^= state >> 15;
    return state % 10 < 6 ? 0 : 1 << (state >> 8) % 17;
}

static int run(MPI_Comm comm, exchange_mode_t mode, int (*count)(int, int, int), int seed)
{
    const exchange_t call = {.kind = EXCHANGE_ALLTOALLV,
                             .mode = mode,
                             .comm = comm,
                             .send_type = MPI_INT,
                             .receive_type = MPI_INT,
                             .ratio = 1,
                             .count = count,
                             .seed = seed};

    return exchange_run(&call);
}

static long resident_kib(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long size = 0, resident = 0;

    if (file != NULL) {
        if (fscanf(file, "%ld %ld", &size, &resident) != 2) {
            resident = 0;
        }
        (void)fclose(file);
    }
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static int open_files(void)
{
    DIR *directory = opendir("/proc/self/fd");
    int n = 0;

    while (directory != NULL && readdir(directory) != NULL) {
        n++;
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
    return n;
}

/* What this component does not serve, or never has to: alone, between groups, without a call. */
static int live_unserved(int seed)
{
    MPI_Comm group, comm;
    int n_wrong = 0;

    if (seed % 3 == 0) {
        (void)MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    } else {
        int alone = seed % 3 == 1;

        (void)MPI_Comm_split(MPI_COMM_WORLD, alone ? world_rank : world_rank % 2, 0, &group);
        if (alone) {
            n_wrong = run(group, EXCHANGE_BLOCKING, some, seed);
            (void)MPI_Comm_free(&group);
            return n_wrong;
        }
        (void)MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, 1 - world_rank % 2, 7, &comm);
        (void)MPI_Comm_free(&group);
    }
    (void)MPI_Comm_free(&comm);
    return n_wrong;
}

/* dup, idup and split, one call on each, free. */
static int live_once(int seed)
{
    exchange_mode_t mode = seed % 4 == 3 ? EXCHANGE_NONBLOCKING : EXCHANGE_BLOCKING;
    MPI_Request request;
    MPI_Comm comm;
    int n_wrong;

    if (seed % 3 == 0) {
        (void)MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    } else if (seed % 3 == 1) {
        (void)MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
        (void)MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        (void)MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &comm);
    }
    n_wrong = run(comm, mode, some, seed);
    (void)MPI_Comm_free(&comm);
    return n_wrong;
}

/* After the first tenth neither memory nor descriptors grow. */
static int storm(int n)
{
    long resident = 0;
    int files = 0, i, n_wrong = 0;

    for (i = 0; i < n; i++) {
        if (i == n / 10) {
            resident = resident_kib();
            files = open_files();
        }
        n_wrong += i % 4 == 2 ? live_unserved(i / 4) : live_once(i);
    }
    resident = resident_kib() - resident;
    files = open_files() - files;
    if (world_rank == 0) {
        (void)printf("%d communicators: %ld KiB and %d descriptors more\n", n - n / 10, resident,
                     files);
    }
    n_wrong += check_equal(files, 0, "growth in descriptors");
    return n_wrong + check_equal(resident > 2048 + n / 4, 0, "memory grew");
}

/* A child that runs another program, and one that only exits; then life goes on. */
static int forks(void)
{
    int i, n_wrong = run(MPI_COMM_WORLD, EXCHANGE_BLOCKING, some, 1);

    for (i = 0; i < 2; i++) {
        pid_t child = fork();
        int status = -1;

        if (child == 0) {
            if (i == 0) {
                (void)execl("/bin/true", "true", (char *)NULL);
            }
            _exit(0);
        }
        (void)waitpid(child, &status, 0);
        n_wrong += check_equal(status, 0, "the status of a child");
    }
    for (i = 0; i < 100; i++) {
        n_wrong +=
            run(MPI_COMM_WORLD, i % 2 == 0 ? EXCHANGE_BLOCKING : EXCHANGE_NONBLOCKING, experts, i);
    }
    return n_wrong;
}

static int changing(int n)
{
    int i, n_wrong = 0;

    for (i = 0; i < n; i++) {
        n_wrong += run(MPI_COMM_WORLD, i % 5 == 4 ? EXCHANGE_NONBLOCKING : EXCHANGE_BLOCKING,
                       experts, i % 2 == 0 ? i : n - i);
    }
    return n_wrong;
}

/* Called when MPI_Finalize deletes the attributes of MPI_COMM_SELF: MPI still works then. */
static int at_finalize(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)extra;
    *(int *)value += run(MPI_COMM_WORLD, EXCHANGE_BLOCKING, some, 2);
    return MPI_SUCCESS;
}

/* Ten communicators stay open, and a call is made while MPI is being finalized. */
static int finalize(int *late_wrong)
{
    int keyval, i, n_wrong = 0;

    for (i = 0; i < 10; i++) {
        MPI_Comm comm;

        (void)MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        n_wrong += run(comm, i % 2 == 0 ? EXCHANGE_BLOCKING : EXCHANGE_NONBLOCKING, some, i);
    }
    (void)MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &keyval, NULL);
    (void)MPI_Comm_set_attr(MPI_COMM_SELF, keyval, late_wrong);
    return n_wrong;
}

int main(int argc, char **argv)
{
    static int late_wrong;
    const char *what = argc > 1 ? argv[1] : "";
    int n_wrong = 1, sum;

    (void)MPI_Init(&argc, &argv);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (strcmp(what, "storm") == 0) {
        n_wrong = storm(argc > 2 ? atoi(argv[2]) : 100);
    } else if (strcmp(what, "fork") == 0) {
        n_wrong = forks();
    } else if (strcmp(what, "changing") == 0) {
        n_wrong = changing(argc > 2 ? atoi(argv[2]) : 100);
    } else if (strcmp(what, "finalize") == 0) {
        n_wrong = finalize(&late_wrong);
    }
    (void)MPI_Allreduce(&n_wrong, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (world_rank == 0) {
        (void)printf("%s: %d wrong\n", what, sum);
    }
    (void)MPI_Finalize();
    return sum != 0 || late_wrong != 0;
}
