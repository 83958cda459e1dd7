/*
 * Legal (and one illegal) calls of MPI_Alltoallv and MPI_Alltoall, each against
 * computed data. Usage: cases carried|passed|any [PART OF A CASE'S NAME]. The
 * truncation case is run only when calls are carried: Open MPI 4.1.4's own
 * exchange hangs in it.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "test/mca/cases.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int world_rank;
static int world_size;
static int threads_provided;
static int truncation_runs;

/* Arguments of one call on one communicator, in elements of `ints` ints each. */
typedef struct call {
    MPI_Comm comm;
    int rank;
    int n_ranks;
    int *send_counts;
    int *send_displs;
    int *receive_counts;
    int *receive_displs;
} call_t;

static int *zeros(int n)
{
    int *array = calloc((size_t)(n > 0 ? n : 1), sizeof(*array));

    if (array == NULL) {
        (void)MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return array;
}

static void call_init(call_t *call, MPI_Comm comm)
{
    call->comm = comm;
    (void)MPI_Comm_rank(comm, &call->rank);
    (void)MPI_Comm_size(comm, &call->n_ranks);
    call->send_counts = zeros(call->n_ranks);
    call->send_displs = zeros(call->n_ranks);
    call->receive_counts = zeros(call->n_ranks);
    call->receive_displs = zeros(call->n_ranks);
}

static void call_clear(call_t *call)
{
    free(call->send_counts);
    free(call->send_displs);
    free(call->receive_counts);
    free(call->receive_displs);
}

static int value(int source, int destination, int k)
{
    return source * 10000 + destination * 100 + k;
}

/* Displacements back to back; returns the elements in all. */
static int pack(int n_ranks, const int *counts, int *displs)
{
    int total = 0;
    int i;

    for (i = 0; i < n_ranks; i++) {
        displs[i] = total;
        total += counts[i];
    }
    return total;
}

static int check_received(const call_t *call, const int *buffer, int ints)
{
    int n_wrong = 0;
    int i;
    int k;

    for (i = 0; i < call->n_ranks; i++) {
        for (k = 0; k < call->receive_counts[i] * ints; k++) {
            n_wrong += buffer[call->receive_displs[i] * ints + k] != value(i, call->rank, k);
        }
    }
    return n_wrong;
}

static void fill_sent(const call_t *call, const int *counts, const int *displs, int *buffer,
                      int ints)
{
    int i;
    int k;

    for (i = 0; i < call->n_ranks; i++) {
        for (k = 0; k < counts[i] * ints; k++) {
            buffer[displs[i] * ints + k] = value(call->rank, i, k);
        }
    }
}

/* Skewed counts that both ends compute: 0 .. 4 elements, another matrix for each round. */
static int skewed_count(int source, int destination, int round)
{
    return (source * 7 + destination * 3 + round) % 5;
}

static int skewed_call(MPI_Comm comm, int round, int scale, MPI_Datatype send_type,
                       MPI_Datatype receive_type, int ints)
{
    call_t call;
    int *sent;
    int *received;
    int n_sent;
    int n_received;
    int n_wrong;
    int i;

    call_init(&call, comm);
    for (i = 0; i < call.n_ranks; i++) {
        call.send_counts[i] = scale * skewed_count(call.rank, i, round);
        call.receive_counts[i] = scale * skewed_count(i, call.rank, round);
    }
    n_sent = pack(call.n_ranks, call.send_counts, call.send_displs);
    n_received = pack(call.n_ranks, call.receive_counts, call.receive_displs);
    sent = zeros(n_sent * ints);
    received = zeros(n_received * ints);
    fill_sent(&call, call.send_counts, call.send_displs, sent, ints);
    n_wrong =
        MPI_Alltoallv(sent, call.send_counts, call.send_displs, send_type, received,
                      call.receive_counts, call.receive_displs, receive_type, comm) != MPI_SUCCESS;
    n_wrong += check_received(&call, received, ints);
    free(sent);
    free(received);
    call_clear(&call);
    return n_wrong;
}

static int case_first_large(void)
{
    return skewed_call(MPI_COMM_WORLD, 3, 65536, MPI_INT, MPI_INT, 1);
}

static int case_ints(void)
{
    int n_wrong = 0;
    int round;

    for (round = 0; round < 20; round++) {
        n_wrong += skewed_call(MPI_COMM_WORLD, round, 1 + 100 * (round % 3), MPI_INT, MPI_INT, 1);
    }
    return n_wrong;
}

static int case_in_place(void)
{
    call_t call;
    int *buffer;
    int n_wrong;
    int i;

    call_init(&call, MPI_COMM_WORLD);
    for (i = 0; i < call.n_ranks; i++) {
        call.receive_counts[i] = (call.rank + i) * 3 % 5;
    }
    buffer = zeros(pack(call.n_ranks, call.receive_counts, call.receive_displs));
    fill_sent(&call, call.receive_counts, call.receive_displs, buffer, 1);
    /* The send arguments are not significant. */
    n_wrong =
        MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, buffer, call.receive_counts,
                      call.receive_displs, MPI_INT, MPI_COMM_WORLD) != MPI_SUCCESS;
    n_wrong += check_received(&call, buffer, 1);
    free(buffer);
    call_clear(&call);
    return n_wrong;
}

static int case_contiguous_type(void)
{
    MPI_Datatype triple;
    int n_wrong;

    (void)MPI_Type_contiguous(3, MPI_INT, &triple);
    (void)MPI_Type_commit(&triple);
    n_wrong = skewed_call(MPI_COMM_WORLD, 2, 1, triple, triple, 3);
    (void)MPI_Type_free(&triple);
    return n_wrong;
}

static int case_dense_indexed_type(void)
{
    const int lengths[3] = {1, 1, 1};
    const int displs[3] = {0, 1, 2};
    MPI_Datatype triple;
    MPI_Datatype indexed;
    int n_wrong;

    (void)MPI_Type_contiguous(3, MPI_INT, &triple);
    (void)MPI_Type_commit(&triple);
    (void)MPI_Type_indexed(3, lengths, displs, MPI_INT, &indexed);
    (void)MPI_Type_commit(&indexed);
    n_wrong = skewed_call(MPI_COMM_WORLD, 3, 1, indexed, triple, 3);
    (void)MPI_Type_free(&indexed);
    (void)MPI_Type_free(&triple);
    return n_wrong;
}

/* Lower bound -8, extent 4: every element lies 0 bytes behind where it is addressed. */
static int case_negative_lower_bound(void)
{
    MPI_Datatype resized;
    int n_wrong;

    (void)MPI_Type_create_resized(MPI_INT, -8, 4, &resized);
    (void)MPI_Type_commit(&resized);
    n_wrong = skewed_call(MPI_COMM_WORLD, 4, 1, resized, resized, 1);
    (void)MPI_Type_free(&resized);
    return n_wrong;
}

/* Rank 0 sends with gaps, everybody else without; all receive without. */
static int case_mixed_layouts(void)
{
    MPI_Datatype triple;
    MPI_Datatype vector;
    MPI_Datatype gaps;
    call_t call;
    int stride = world_rank == 0 ? 6 : 3;
    int step = world_rank == 0 ? 2 : 1;
    int *sent = zeros(world_size * 6);
    int *received = zeros(world_size * 3);
    int n_wrong;
    int i;
    int k;

    (void)MPI_Type_contiguous(3, MPI_INT, &triple);
    (void)MPI_Type_commit(&triple);
    (void)MPI_Type_vector(3, 1, 2, MPI_INT, &vector);
    (void)MPI_Type_create_resized(vector, 0, 6 * (MPI_Aint)sizeof(int), &gaps);
    (void)MPI_Type_commit(&gaps);
    call_init(&call, MPI_COMM_WORLD);
    for (i = 0; i < world_size; i++) {
        call.send_counts[i] = call.receive_counts[i] = 1;
        call.send_displs[i] = call.receive_displs[i] = i;
        for (k = 0; k < 3; k++) {
            sent[i * stride + k * step] = value(world_rank, i, k);
        }
    }
    n_wrong = MPI_Alltoallv(sent, call.send_counts, call.send_displs,
                            world_rank == 0 ? gaps : triple, received, call.receive_counts,
                            call.receive_displs, triple, MPI_COMM_WORLD) != MPI_SUCCESS;
    n_wrong += check_received(&call, received, 3);
    call_clear(&call);
    free(sent);
    free(received);
    (void)MPI_Type_free(&gaps);
    (void)MPI_Type_free(&vector);
    (void)MPI_Type_free(&triple);
    return n_wrong;
}

static int case_all_zero(void)
{
    int *nothing = zeros(world_size);
    int code = MPI_Alltoallv(NULL, nothing, nothing, MPI_INT, NULL, nothing, nothing, MPI_INT,
                             MPI_COMM_WORLD);

    free(nothing);
    return code != MPI_SUCCESS;
}

/* Rank 0 sends one int to the last rank; everybody else has NULL buffers. */
static int case_one_sender(void)
{
    call_t call;
    int sent = 42;
    int received = 0;
    int last = world_rank == world_size - 1;
    int code;

    call_init(&call, MPI_COMM_WORLD);
    if (world_rank == 0) {
        call.send_counts[world_size - 1] = 1;
    }
    if (last) {
        call.receive_counts[0] = 1;
    }
    code = MPI_Alltoallv(world_rank == 0 ? &sent : NULL, call.send_counts, call.send_displs,
                         MPI_INT, last ? &received : NULL, call.receive_counts, call.receive_displs,
                         MPI_INT, MPI_COMM_WORLD);
    call_clear(&call);
    return (code != MPI_SUCCESS) + check_equal(received, last ? 42 : 0, "the one int");
}

static int case_sparse_sequence(void)
{
    int n_wrong = 0;
    int round;

    for (round = 0; round < 30; round++) {
        /* Rounds 5, 15 and 25 have data for nobody but the first ranks. */
        n_wrong +=
            skewed_call(MPI_COMM_WORLD, round, round % 10 == 5 ? 0 : round, MPI_INT, MPI_INT, 1);
        (void)MPI_Barrier(MPI_COMM_WORLD);
    }
    return n_wrong;
}

static int case_uniform(void)
{
    const int ints = 1000;
    call_t call;
    int *sent = zeros(world_size * ints);
    int *received = zeros(world_size * ints);
    int n_wrong;
    int i;

    call_init(&call, MPI_COMM_WORLD);
    for (i = 0; i < world_size; i++) {
        call.send_counts[i] = call.receive_counts[i] = ints;
        call.send_displs[i] = call.receive_displs[i] = i * ints;
    }
    fill_sent(&call, call.send_counts, call.send_displs, sent, 1);
    n_wrong =
        MPI_Alltoall(sent, ints, MPI_INT, received, ints, MPI_INT, MPI_COMM_WORLD) != MPI_SUCCESS;
    n_wrong += check_received(&call, received, 1);
    call_clear(&call);
    free(sent);
    free(received);
    return n_wrong;
}

static int case_communicators(void)
{
    int n_wrong = 0;
    int round;

    for (round = 0; round < 50; round++) {
        MPI_Comm copy;
        MPI_Comm half;

        (void)MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        n_wrong += skewed_call(copy, round, 1, MPI_INT, MPI_INT, 1);
        (void)MPI_Comm_split(copy, world_rank % 2, world_rank, &half);
        n_wrong += skewed_call(half, round, 1, MPI_INT, MPI_INT, 1);
        (void)MPI_Comm_free(&half);
        (void)MPI_Comm_free(&copy);
    }
    return n_wrong;
}

/* All ranks, in reverse order: the communicator's ranks are not the topology's. */
static int case_reversed(void)
{
    MPI_Comm reversed;
    int n_wrong;

    (void)MPI_Comm_split(MPI_COMM_WORLD, 0, world_size - world_rank, &reversed);
    n_wrong = skewed_call(reversed, 7, 1000, MPI_INT, MPI_INT, 1);
    (void)MPI_Comm_free(&reversed);
    return n_wrong;
}

static int case_idup(void)
{
    MPI_Comm copy;
    MPI_Request request;
    int n_wrong;

    (void)MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    (void)MPI_Wait(&request, MPI_STATUS_IGNORE);
    n_wrong = skewed_call(copy, 5, 1, MPI_INT, MPI_INT, 1);
    (void)MPI_Comm_free(&copy);
    return n_wrong;
}

static int case_intercommunicator(void)
{
    MPI_Comm half;
    MPI_Comm inter;
    int n_remote;
    int *ones;
    int *displs;
    int *sent;
    int *received;
    int n_wrong;
    int i;

    (void)MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &half);
    (void)MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - world_rank % 2, 7, &inter);
    (void)MPI_Comm_remote_size(inter, &n_remote);
    ones = zeros(n_remote);
    displs = zeros(n_remote);
    sent = zeros(n_remote);
    received = zeros(n_remote);
    for (i = 0; i < n_remote; i++) {
        ones[i] = 1;
        displs[i] = i;
        sent[i] = world_rank;
    }
    n_wrong = MPI_Alltoallv(sent, ones, displs, MPI_INT, received, ones, displs, MPI_INT, inter) !=
              MPI_SUCCESS;
    for (i = 0; i < n_remote; i++) {
        /* The remote group is every second world rank. */
        n_wrong += check_equal(received[i], 2 * i + 1 - world_rank % 2, "a remote rank");
    }
    free(ones);
    free(displs);
    free(sent);
    free(received);
    (void)MPI_Comm_free(&inter);
    (void)MPI_Comm_free(&half);
    return n_wrong;
}

/* A large message is pending while its sender already waits in the collective. */
static int case_pending_isend(void)
{
    const int n_bytes = 1 << 22;
    char *buffer = malloc((size_t)n_bytes);
    MPI_Request request = MPI_REQUEST_NULL;
    int n_wrong = 0;

    memset(buffer, world_rank == 0 ? 17 : 0, (size_t)n_bytes);
    if (world_rank == 0) {
        (void)MPI_Isend(buffer, n_bytes, MPI_CHAR, world_size - 1, 3, MPI_COMM_WORLD, &request);
    }
    if (world_rank == world_size - 1) {
        (void)MPI_Recv(buffer, n_bytes, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        n_wrong += check_equal(buffer[n_bytes - 1], 17, "the last byte of the message");
    }
    n_wrong += skewed_call(MPI_COMM_WORLD, 6, 1, MPI_INT, MPI_INT, 1);
    (void)MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(buffer);
    return n_wrong;
}

/* Rank 0 sends three ints to rank 1, which expects one; the rest is right. */
static int case_truncation(void)
{
    MPI_Comm comm;
    call_t call;
    int sent[4 * 64] = {0};
    int received[4 * 64];
    int concerned = world_rank <= 1;
    int error_class = MPI_SUCCESS;
    int n_wrong = 0;
    int code;
    int i;

    if (!truncation_runs || world_size > 64) {
        return 0;
    }
    (void)MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    (void)MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    call_init(&call, comm);
    memset(received, 0xff, sizeof(received));
    for (i = 0; i < world_size; i++) {
        call.send_counts[i] = call.receive_counts[i] = 1;
        call.send_displs[i] = call.receive_displs[i] = 4 * i;
        sent[4 * i] = value(world_rank, i, 0);
    }
    if (world_rank == 0) {
        call.send_counts[1] = 3;
    }
    code = MPI_Alltoallv(sent, call.send_counts, call.send_displs, MPI_INT, received,
                         call.receive_counts, call.receive_displs, MPI_INT, comm);
    (void)MPI_Error_class(code, &error_class);
    n_wrong +=
        check_equal(error_class, concerned ? MPI_ERR_TRUNCATE : MPI_SUCCESS, "the error class");
    for (i = 0; i < world_size; i++) {
        /* Nothing is ever written outside a block. */
        n_wrong += check_equal(received[4 * i + 1], -1, "the int behind a block");
        if (!(world_rank == 1 && i == 0)) {
            n_wrong += check_equal(received[4 * i], value(i, world_rank, 0), "a fitting block");
        }
    }
    n_wrong += skewed_call(comm, 8, 1, MPI_INT, MPI_INT, 1);
    call_clear(&call);
    (void)MPI_Comm_free(&comm);
    return n_wrong;
}

static void *thread_main(void *argument)
{
    MPI_Comm comm = *(MPI_Comm *)argument;
    intptr_t n_wrong = 0;
    int round;

    for (round = 0; round < 200; round++) {
        n_wrong += skewed_call(comm, round, 1 + round % 7, MPI_INT, MPI_INT, 1);
    }
    return (void *)n_wrong;
}

static int case_threads(void)
{
    enum { n_threads = 4 };
    pthread_t threads[n_threads];
    MPI_Comm comms[n_threads];
    int n_wrong = 0;
    int i;

    if (threads_provided != MPI_THREAD_MULTIPLE) {
        return check_equal(threads_provided, MPI_THREAD_MULTIPLE, "the thread level");
    }
    for (i = 0; i < n_threads; i++) {
        (void)MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
    for (i = 0; i < n_threads; i++) {
        (void)pthread_create(&threads[i], NULL, thread_main, &comms[i]);
    }
    for (i = 0; i < n_threads; i++) {
        void *result;

        (void)pthread_join(threads[i], &result);
        n_wrong += (int)(intptr_t)result;
    }
    /* The last one stays open: MPI_Finalize has to cope. */
    for (i = 0; i + 1 < n_threads; i++) {
        (void)MPI_Comm_free(&comms[i]);
    }
    return n_wrong;
}

int main(int argc, char **argv)
{
    static const mpi_case_t cases[] = {
        {"first call, large blocks", case_first_large},
        {"ints, 20 different matrices", case_ints},
        {"in place", case_in_place},
        {"contiguous type", case_contiguous_type},
        {"dense indexed type to contiguous type", case_dense_indexed_type},
        {"resized type, lower bound -8", case_negative_lower_bound},
        {"layouts that differ between ranks", case_mixed_layouts},
        {"all zero, NULL buffers", case_all_zero},
        {"one sender only", case_one_sender},
        {"sparse matrices in a row", case_sparse_sequence},
        {"uniform MPI_Alltoall", case_uniform},
        {"50 x dup, split, free", case_communicators},
        {"all ranks in reverse order", case_reversed},
        {"idup", case_idup},
        {"intercommunicator", case_intercommunicator},
        {"large MPI_Isend pending", case_pending_isend},
        {"truncation", case_truncation},
        {"four threads on four communicators", case_threads},
    };
    int expected = -1;
    int code;

    (void)MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &threads_provided);
    (void)MPI_T_init_thread(MPI_THREAD_SINGLE, &code);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (argc > 1) {
        expected = carried_argument(argv[1]);
    }
    truncation_runs = expected == 1;
    code = run_cases(cases, (int)(sizeof(cases) / sizeof(cases[0])), expected,
                     argc > 2 ? argv[2] : NULL);
    (void)MPI_T_finalize();
    (void)MPI_Finalize();
    return code;
}
