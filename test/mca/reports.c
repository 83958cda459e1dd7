/*
 * Calls that broke other libraries, as far as the other programs here do not make
 * them. Usage: reports carried|passed|any [PART OF A CASE'S NAME].
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "test/mca/cases.h"
#include "test/mca/exchange.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int world_rank;
static int world_size;

static exchange_t bytes(MPI_Comm comm, int (*count)(int, int, int), int seed)
{
    return (exchange_t){.kind = EXCHANGE_ALLTOALLV,
                        .comm = comm,
                        .send_type = MPI_BYTE,
                        .receive_type = MPI_BYTE,
                        .ratio = 1,
                        .count = count,
                        .seed = seed};
}

static int mebibyte(int source, int destination, int seed)
{
    (void)seed;
    return source == destination ? 0 : 1 << 20;
}

static int one(int source, int destination, int seed)
{
    (void)source;
    (void)destination;
    (void)seed;
    return 1;
}

/* The communicator's first call is its largest. */
static int case_shrinking(void)
{
    exchange_t call = bytes(MPI_COMM_WORLD, mebibyte, 1);
    int n_wrong;

    (void)MPI_Comm_dup(MPI_COMM_WORLD, &call.comm);
    n_wrong = exchange_run(&call);
    call.count = one;
    n_wrong += exchange_run(&call);
    (void)MPI_Comm_free(&call.comm);
    return n_wrong;
}

/* Four of five pairs have nothing for each other. */
static int rare(int source, int destination, int seed)
{
    unsigned n =
        (unsigned)(source * 131 + destination * 17 + seed * 7919) * 2654435761u >> 7 & 0xffff;

    return n % 5 != 0 ? 0 : (int)(n >> 4);
}

/* Ranks that skip what is empty must not fall out of step with those that do not. */
static int case_rare(void)
{
    int round, n_wrong = 0;

    for (round = 0; round < 6; round++) {
        exchange_t call = bytes(MPI_COMM_WORLD, rare, round);
        int value = world_rank + round, sum = 0;

        n_wrong += exchange_run(&call);
        if (round % 2 == 1) {
            (void)MPI_Barrier(MPI_COMM_WORLD);
            (void)MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            n_wrong += check_equal(sum, world_size * (world_size - 1) / 2 + round * world_size,
                                   "the sum after a call");
        }
    }
    return n_wrong;
}

/* What a rank of the first group sends to one of the second, or the other way round. */
static int between(int sender, int receiver)
{
    return (sender * 5 + receiver * 3) % 7;
}

/* Groups of three and of all others; counts depend on both ranks. */
static int case_unequal_groups(void)
{
    enum { FIRST = 3, LARGEST = 6, MAX_REMOTE = 64 };
    int counts[4][MAX_REMOTE] = {{0}}, sent[MAX_REMOTE * LARGEST], received[MAX_REMOTE * LARGEST];
    int first = world_rank < FIRST, rank, n_remote, i, k, n_wrong = 0;
    MPI_Comm group, inter;

    (void)MPI_Comm_split(MPI_COMM_WORLD, first, world_rank, &group);
    (void)MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, first ? FIRST : 0, 9, &inter);
    (void)MPI_Comm_rank(inter, &rank);
    (void)MPI_Comm_remote_size(inter, &n_remote);
    for (i = 0; i < n_remote && i < MAX_REMOTE; i++) {
        counts[0][i] = between(rank, i);
        counts[1][i] = i * LARGEST;
        counts[2][i] = between(i, rank);
        counts[3][i] = i * LARGEST;
        for (k = 0; k < LARGEST; k++) {
            sent[i * LARGEST + k] = first * 100000 + rank * 1000 + i * 10 + k;
            received[i * LARGEST + k] = -1;
        }
    }
    n_wrong += check_equal(MPI_Alltoallv(sent, counts[0], counts[1], MPI_INT, received, counts[2],
                                         counts[3], MPI_INT, inter),
                           MPI_SUCCESS, "the code between two groups");
    for (i = 0; i < n_remote && i < MAX_REMOTE; i++) {
        for (k = 0; k < LARGEST; k++) {
            n_wrong +=
                check_equal(received[i * LARGEST + k],
                            k < counts[2][i] ? !first * 100000 + i * 1000 + rank * 10 + k : -1,
                            "an int of the other group");
        }
    }
    (void)MPI_Comm_free(&inter);
    (void)MPI_Comm_free(&group);
    return n_wrong;
}

/* 1 byte to 256 KiB, another skew for each thread. */
static int wide(int source, int destination, int seed)
{
    unsigned n = (unsigned)(source * 31 + destination * 17 + seed * 7) * 2654435761u >> 8;

    return 1 << (n >> 8) % (n % 4 == 0 ? 19 : 12);
}

typedef struct worker {
    pthread_t thread;
    MPI_Comm comm;
    int n_calls;
    int first;
    int n_wrong;
} worker_t;

static void *call_often(void *argument)
{
    worker_t *worker = argument;
    int i;

    for (i = 0; i < worker->n_calls; i++) {
        exchange_t call = bytes(worker->comm, wide, worker->first + i);

        worker->n_wrong += exchange_run(&call);
    }
    return NULL;
}

/* Copies of a communicator come and go. */
static void *copy_often(void *argument)
{
    worker_t *worker = argument;
    int i;

    for (i = 0; i < worker->n_calls; i++) {
        exchange_t call = bytes(MPI_COMM_NULL, one, i);

        (void)MPI_Comm_dup(worker->comm, &call.comm);
        worker->n_wrong += exchange_run(&call);
        (void)MPI_Comm_free(&call.comm);
    }
    return NULL;
}

/* Messages around a ring. */
static void *send_often(void *argument)
{
    enum { N_BYTES = 100000 };
    worker_t *worker = argument;
    int next = (world_rank + 1) % world_size, last = (world_rank + world_size - 1) % world_size;
    char *sent = malloc(N_BYTES), *received = malloc(N_BYTES);
    int i;

    for (i = 0; i < worker->n_calls && sent != NULL && received != NULL; i++) {
        MPI_Request requests[2];

        memset(sent, world_rank + i, N_BYTES);
        (void)MPI_Irecv(received, N_BYTES, MPI_BYTE, last, i, worker->comm, &requests[0]);
        (void)MPI_Isend(sent, N_BYTES, MPI_BYTE, next, i, worker->comm, &requests[1]);
        (void)MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        worker->n_wrong += received[N_BYTES - 1] != (char)(last + i);
    }
    free(sent);
    free(received);
    return NULL;
}

static int run_threads(void *(*const *mains)(void *), const int *n_calls, int n)
{
    enum { MAX_THREADS = 4 };
    worker_t workers[MAX_THREADS];
    int i, n_wrong = 0;

    for (i = 0; i < n; i++) {
        workers[i] = (worker_t){.n_calls = n_calls[i], .first = i * 5000};
        (void)MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
    }
    for (i = 0; i < n; i++) {
        n_wrong += pthread_create(&workers[i].thread, NULL, mains[i], &workers[i]) != 0;
    }
    for (i = 0; i < n; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        n_wrong += workers[i].n_wrong;
        (void)MPI_Comm_free(&workers[i].comm);
    }
    return n_wrong;
}

static int case_two_threads(void)
{
    static void *(*const mains[])(void *) = {call_often, call_often};
    int n = getenv("VP_LONG") != NULL ? 1000 : 100;
    const int n_calls[] = {n, n};

    return run_threads(mains, n_calls, 2);
}

static int case_other_work(void)
{
    static void *(*const mains[])(void *) = {call_often, copy_often, send_often, call_often};
    static const int n_calls[] = {50, 20, 50, 50};

    return run_threads(mains, n_calls, 4);
}

/* One rank sends more than 2^31 bytes, in two blocks. The last bytes are looked at. */
static int case_two_gibibytes(void)
{
    const int n_mebi = 1100;
    const size_t n_bytes = (size_t)n_mebi << 20;
    int *counts = calloc(4 * (size_t)world_size, sizeof(*counts));
    int sends = world_rank == 0, receives = world_rank == 1 || world_rank == 2, n_wrong;
    MPI_Datatype mebi;
    char *memory;

    if (getenv("VP_LONG") == NULL) {
        free(counts);
        return 0;
    }
    memory = mmap(NULL, 2 * n_bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || counts == NULL) {
        return check_equal(0, 1, "a sparse mapping");
    }
    (void)MPI_Type_contiguous(1 << 20, MPI_BYTE, &mebi);
    (void)MPI_Type_commit(&mebi);
    if (sends) {
        counts[1] = counts[2] = n_mebi;
        counts[world_size + 2] = n_mebi;
        memory[n_bytes - 1] = 1;
        memory[2 * n_bytes - 1] = 2;
    }
    counts[2 * world_size] = receives ? n_mebi : 0;
    n_wrong = check_equal(MPI_Alltoallv(memory, counts, counts + world_size, mebi, memory,
                                        counts + 2 * world_size, counts + 3 * world_size, mebi,
                                        MPI_COMM_WORLD),
                          MPI_SUCCESS, "the code of a call of more than 2 GiB");
    n_wrong += receives ? check_equal(memory[n_bytes - 1], world_rank, "the last byte") : 0;
    (void)MPI_Type_free(&mebi);
    (void)munmap(memory, 2 * n_bytes);
    free(counts);
    return n_wrong;
}

int main(int argc, char **argv)
{
    static const mpi_case_t cases[] = {
        {"the largest call first, then one byte", case_shrinking},
        {"four of five blocks empty, then other collectives", case_rare},
        {"between a group of three and one of the others", case_unequal_groups},
        {"two threads, 1 byte to 256 KiB", case_two_threads},
        {"threads that call, copy communicators and send", case_other_work},
        {"more than 2 GiB from one rank", case_two_gibibytes},
    };
    int provided, code;

    (void)MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    (void)MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    code = run_cases(cases, (int)(sizeof(cases) / sizeof(cases[0])),
                     argc > 1 ? carried_argument(argv[1]) : -1, argc > 2 ? argv[2] : NULL);
    (void)MPI_T_finalize();
    (void)MPI_Finalize();
    return code;
}
