/*
 * Nonblocking and persistent calls among other traffic: started and completed in
 * different orders, by ranks that are late, with communicators and datatypes freed
 * meanwhile. Usage: nonblocking all|carried|passed|any [PART OF A CASE'S NAME].
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
#include <unistd.h>

#if OMPI_MAJOR_VERSION >= 5
#define ALLTOALLV_INIT MPI_Alltoallv_init
#else
#include <mpi-ext.h>
#define ALLTOALLV_INIT MPIX_Alltoallv_init
#endif

static int world_rank;
static int world_size;

static int some(int source, int destination, int seed)
{
    return (source * 7 + destination * 3 + seed) % 5;
}

static int many(int source, int destination, int seed)
{
    return 10000 + (source * 7 + destination * 3 + seed) % 50 * 1000;
}

static exchange_t ints(MPI_Comm comm, int (*count)(int, int, int), int seed)
{
    return (exchange_t){.kind = EXCHANGE_ALLTOALLV,
                        .mode = EXCHANGE_NONBLOCKING,
                        .comm = comm,
                        .send_type = MPI_INT,
                        .receive_type = MPI_INT,
                        .ratio = 1,
                        .count = count,
                        .seed = seed};
}

/* Rank 0 enters only when all others say that they have left the call again. */
static int case_late_rank(void)
{
    const exchange_t call = ints(MPI_COMM_WORLD, many, 1);
    exchange_state_t *state = NULL;
    int i, token = 0;

    if (world_rank != 0) {
        state = exchange_start(&call);
        (void)MPI_Send(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        return exchange_finish(state);
    }
    for (i = 1; i < world_size; i++) {
        (void)MPI_Recv(&token, 1, MPI_INT, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    state = exchange_start(&call);
    return exchange_finish(state);
}

/* Other nonblocking collectives between ours, whose messages progress sends at other moments. */
static int case_among_others(void)
{
    enum { N_CALLS = 12 };
    exchange_state_t *states[N_CALLS];
    MPI_Request requests[N_CALLS];
    int values[N_CALLS], sums[N_CALLS];
    int i, n_wrong = 0;

    for (i = 0; i < N_CALLS; i++) {
        const exchange_t call = ints(MPI_COMM_WORLD, i % 3 == 0 ? many : some, i);

        states[i] = exchange_start(&call);
        values[i] = i + world_rank;
        (void)MPI_Iallreduce(&values[i], &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                             &requests[i]);
        if (world_rank % 2 == 0 && i % 4 == 1) {
            (void)usleep(2000);
        }
    }
    (void)MPI_Waitall(N_CALLS, requests, MPI_STATUSES_IGNORE);
    for (i = N_CALLS; i-- > 0;) {
        n_wrong += exchange_finish(states[i]);
        n_wrong += check_equal(sums[i], i * world_size + world_size * (world_size - 1) / 2,
                               "a sum of MPI_Iallreduce");
    }
    return n_wrong;
}

/* A blocking call comes after the pending ones of its communicator. */
static int case_blocking_behind(void)
{
    int round, n_wrong = 0;

    for (round = 0; round < 10; round++) {
        exchange_t call = ints(MPI_COMM_WORLD, many, round);
        exchange_state_t *first = exchange_start(&call), *second = exchange_start(&call);

        call.mode = EXCHANGE_BLOCKING;
        call.count = some;
        n_wrong += exchange_run(&call);
        n_wrong += exchange_finish(second);
        n_wrong += exchange_finish(first);
    }
    return n_wrong;
}

/* Started on two communicators in one order by even ranks, in the other by odd ones. */
static int case_crossed_communicators(void)
{
    MPI_Comm comms[2];
    int round, i, n_wrong = 0;

    (void)MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    (void)MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comms[1]);
    for (round = 0; round < 10; round++) {
        exchange_state_t *states[2];

        for (i = 0; i < 2; i++) {
            int which = (i + world_rank) % 2;
            const exchange_t call = ints(comms[which], many, round + which);

            states[which] = exchange_start(&call);
        }
        for (i = 0; i < 2; i++) {
            n_wrong += exchange_finish(states[i]);
        }
    }
    (void)MPI_Comm_free(&comms[0]);
    (void)MPI_Comm_free(&comms[1]);
    return n_wrong;
}

/* The communicator goes away first; the data still arrives. */
static int case_freed_communicator(void)
{
    int round, n_wrong = 0;

    for (round = 0; round < 10; round++) {
        exchange_state_t *state;
        exchange_t call;
        MPI_Comm copy;

        (void)MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        call = ints(copy, many, round);
        state = exchange_start(&call);
        (void)MPI_Comm_free(&copy);
        n_wrong += exchange_finish(state);
    }
    return n_wrong;
}

/* Types that are freed as soon as the call is made; gaps on one side. */
static int case_freed_types(void)
{
    enum { N_INTS = 3 };
    int *counts = calloc(3 * (size_t)world_size, sizeof(int));
    int *sent = calloc((size_t)world_size * 2 * N_INTS, sizeof(int));
    int *received = calloc((size_t)world_size * N_INTS, sizeof(int));
    MPI_Datatype *types = calloc(2 * (size_t)world_size, sizeof(*types));
    MPI_Datatype gaps, triple;
    MPI_Request request;
    int i, n_wrong = 0;

    (void)MPI_Type_vector(N_INTS, 1, 2, MPI_INT, &gaps);
    (void)MPI_Type_commit(&gaps);
    (void)MPI_Type_contiguous(N_INTS, MPI_INT, &triple);
    (void)MPI_Type_commit(&triple);
    for (i = 0; i < world_size; i++) {
        counts[i] = 1;
        counts[world_size + i] = i * 2 * N_INTS * (int)sizeof(int);
        counts[2 * world_size + i] = i * N_INTS * (int)sizeof(int);
        types[i] = gaps;
        types[world_size + i] = triple;
        sent[(i + 1) * 2 * N_INTS - 2] = world_rank * 100 + i;
    }
    (void)MPI_Ialltoallw(sent, counts, counts + world_size, types, received, counts,
                         counts + 2 * world_size, types + world_size, MPI_COMM_WORLD, &request);
    (void)MPI_Type_free(&gaps);
    (void)MPI_Type_free(&triple);
    (void)MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (i = 0; i < world_size; i++) {
        n_wrong += check_equal(received[(i + 1) * N_INTS - 1], i * 100 + world_rank, "an int");
    }
    free(counts);
    free(sent);
    free(received);
    free(types);
    return n_wrong;
}

/* Progress by MPI_Test alone, with work in between. */
static int case_tested(void)
{
    const exchange_t call = ints(MPI_COMM_WORLD, many, 3);
    exchange_state_t *state = exchange_start(&call);

    while (!exchange_test(state)) {
        (void)usleep(100);
    }
    return exchange_finish(state);
}

/*
 * At some moment of the call rank 0 goes away for longer than
 * coll_variopath_timeout_ms, which is of blocking calls: sooner or later in it.
 */
static int case_away(void)
{
    int n_tests, i, n_wrong = 0;

    for (n_tests = 2; n_tests < 500; n_tests *= 2) {
        const exchange_t call = ints(MPI_COMM_WORLD, many, n_tests);
        exchange_state_t *state = exchange_start(&call);

        for (i = 0; i < n_tests && world_rank == 0; i++) {
            (void)exchange_test(state);
            (void)usleep(200);
        }
        if (world_rank == 0) {
            (void)usleep(300000);
        }
        n_wrong += exchange_finish(state);
    }
    return n_wrong;
}

/* Two persistent calls, started in another order on odd ranks, with new data each time. */
static int case_persistent(void)
{
    enum { N_ROUNDS = 10 };
    size_t n = (size_t)world_size;
    int *ones = calloc(2 * n, sizeof(int)), *sent = calloc(2 * n, sizeof(int));
    int *received = calloc(2 * n, sizeof(int));
    MPI_Request requests[2];
    int i, k, round, n_wrong = 0;

    for (i = 0; i < world_size; i++) {
        ones[i] = 1;
        ones[world_size + i] = i;
    }
    for (k = 0; k < 2; k++) {
        n_wrong +=
            ALLTOALLV_INIT(sent + (size_t)k * n, ones, ones + n, MPI_INT, received + (size_t)k * n,
                           ones, ones + n, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[k]);
    }
    for (round = 0; round < N_ROUNDS; round++) {
        for (i = 0; i < 2 * world_size; i++) {
            sent[i] = round * 10000 + world_rank * 100 + i;
            received[i] = -1;
        }
        (void)MPI_Start(&requests[world_rank % 2]);
        (void)MPI_Start(&requests[1 - world_rank % 2]);
        (void)MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (k = 0; k < 2; k++) {
            for (i = 0; i < world_size; i++) {
                n_wrong += check_equal(received[k * world_size + i],
                                       round * 10000 + i * 100 + k * world_size + world_rank,
                                       "an int of a persistent call");
            }
        }
    }
    (void)MPI_Request_free(&requests[0]);
    (void)MPI_Request_free(&requests[1]);
    free(ones);
    free(sent);
    free(received);
    return n_wrong;
}

static void *thread_main(void *argument)
{
    MPI_Comm comm = *(MPI_Comm *)argument;
    intptr_t n_wrong = 0;
    int round;

    for (round = 0; round < 50; round++) {
        const exchange_t call = ints(comm, round % 10 == 0 ? many : some, round);
        exchange_state_t *first = exchange_start(&call), *second = exchange_start(&call);

        n_wrong += exchange_finish(second);
        n_wrong += exchange_finish(first);
    }
    return (void *)n_wrong;
}

static int case_threads(void)
{
    enum { N_THREADS = 3 };
    pthread_t threads[N_THREADS];
    MPI_Comm comms[N_THREADS];
    int i, n_wrong = 0;

    for (i = 0; i < N_THREADS; i++) {
        (void)MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
    for (i = 0; i < N_THREADS; i++) {
        (void)pthread_create(&threads[i], NULL, thread_main, &comms[i]);
    }
    for (i = 0; i < N_THREADS; i++) {
        void *result;

        (void)pthread_join(threads[i], &result);
        n_wrong += (int)(intptr_t)result;
        (void)MPI_Comm_free(&comms[i]);
    }
    return n_wrong;
}

int main(int argc, char **argv)
{
    static const mpi_case_t cases[] = {
        {"a rank that is late", case_late_rank},
        {"among other nonblocking collectives", case_among_others},
        {"a blocking call behind them", case_blocking_behind},
        {"two communicators in crossed order", case_crossed_communicators},
        {"communicator freed meanwhile", case_freed_communicator},
        {"types freed meanwhile", case_freed_types},
        {"progress by MPI_Test", case_tested},
        {"a rank that is away", case_away},
        {"persistent", case_persistent},
        {"three threads", case_threads},
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
