/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/mca/exchange.h"

#include "test/mca/cases.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One side: a buffer with room before and behind, and where its blocks lie. */
typedef struct side {
    char *memory;
    size_t n_bytes;
    char *origin; /* the buffer argument; for other memory than the host's its image in `memory` */
    const exchange_memory_t *other;
    char *other_memory;
    int *counts;
    int *displs; /* in elements, for MPI_Alltoallw in bytes */
    MPI_Datatype *types;
    MPI_Datatype type;
} side_t;

struct exchange_state {
    exchange_t call;
    int rank;
    int n_ranks;
    side_t send;
    side_t receive;
    char *expected; /* the receive memory as it must be afterwards */
    MPI_Request request;
    int code;
};

static void *zeros(size_t n_bytes)
{
    void *memory = calloc(n_bytes > 0 ? n_bytes : 1, 1);

    if (memory == NULL) {
        (void)MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return memory;
}

static int count_of(const exchange_t *call, int source, int destination)
{
    if (call->kind == EXCHANGE_ALLTOALL) {
        return call->count(0, 0, call->seed);
    }
    if (call->in_place && source > destination) {
        return call->count(destination, source, call->seed);
    }
    return call->count(source, destination, call->seed);
}

/* Bytes of data differ with pair, position and call. */
static void fill_payload(const exchange_t *call, char *payload, int n_bytes, int source,
                         int destination)
{
    uint32_t state = (uint32_t)source * 7919 + (uint32_t)destination * 104729 +
                     (uint32_t)call->seed * 1299709 + 1;
    int i;

    for (i = 0; i < n_bytes; i++) {
        state = state * 1664525u + 1013904223u;
        payload[i] = (char)(state >> 24);
    }
}

static char *block_address(const exchange_state_t *state, const side_t *side, int peer)
{
    MPI_Aint lower_bound, extent = 1;

    if (state->call.kind != EXCHANGE_ALLTOALLW) {
        (void)MPI_Type_get_extent(side->type, &lower_bound, &extent);
    }
    return side->origin + side->displs[peer] * extent;
}

/* Writes the data of the pair as if it had been sent to where the block lies in `memory`. */
static void write_block(const exchange_state_t *state, const side_t *side, char *memory, int peer,
                        int source, int destination)
{
    char *address = memory + (block_address(state, side, peer) - side->memory);
    int size, n_bytes, position = 0;
    char *payload;

    (void)MPI_Type_size(side->type, &size);
    n_bytes = size * side->counts[peer];
    if (n_bytes == 0) {
        return;
    }
    payload = zeros((size_t)n_bytes);
    fill_payload(&state->call, payload, n_bytes, source, destination);
    (void)MPI_Unpack(payload, n_bytes, &position, address, side->counts[peer], side->type,
                     state->call.comm);
    free(payload);
}

/* Elements of extent at least their true one, blocks after each other, in either order. */
static void lay_out(exchange_state_t *state, side_t *side, MPI_Datatype type, int ratio, int sends)
{
    const exchange_t *call = &state->call;
    MPI_Aint lower_bound, extent, true_lower_bound, true_extent;
    int uniform = call->kind == EXCHANGE_ALLTOALL;
    int k, next = 0;
    size_t margin;

    side->type = type;
    side->counts = zeros((size_t)state->n_ranks * sizeof(int));
    side->displs = zeros((size_t)state->n_ranks * sizeof(int));
    side->types = zeros((size_t)state->n_ranks * sizeof(MPI_Datatype));
    (void)MPI_Type_get_extent(type, &lower_bound, &extent);
    (void)MPI_Type_get_true_extent(type, &true_lower_bound, &true_extent);
    for (k = 0; k < state->n_ranks; k++) {
        int peer = call->descending && !uniform ? state->n_ranks - 1 - k : k;

        side->counts[peer] =
            ratio * (sends ? count_of(call, state->rank, peer) : count_of(call, peer, state->rank));
        side->displs[peer] = next * (call->kind == EXCHANGE_ALLTOALLW ? (int)extent : 1);
        side->types[peer] = type;
        next += side->counts[peer] + (uniform ? 0 : call->gap);
    }
    margin = (size_t)(labs(true_lower_bound) + labs(true_extent) + labs(extent));
    side->n_bytes = (size_t)next * (size_t)extent + 2 * margin;
    side->memory = zeros(side->n_bytes);
    memset(side->memory, 0x5a, side->n_bytes);
    side->origin = side->memory + margin;
}

/* The buffer argument. */
static char *argument(const side_t *side)
{
    return side->other == NULL ? side->origin : side->other_memory + (side->origin - side->memory);
}

static void move_out(side_t *side, const exchange_memory_t *other)
{
    if (other == NULL) {
        return;
    }
    side->other = other;
    side->other_memory = other->allocate(side->n_bytes);
    other->write(side->other_memory, side->memory, side->n_bytes);
}

static void write_data(exchange_state_t *state)
{
    int peer;

    for (peer = 0; peer < state->n_ranks; peer++) {
        write_block(state, &state->send, state->send.memory, peer, state->rank, peer);
    }
    if (state->call.in_place) {
        memcpy(state->receive.memory, state->send.memory, state->receive.n_bytes);
    }
    state->expected = zeros(state->receive.n_bytes);
    memcpy(state->expected, state->receive.memory, state->receive.n_bytes);
    for (peer = 0; peer < state->n_ranks; peer++) {
        write_block(state, &state->receive, state->expected, peer, peer, state->rank);
    }
    if (!state->call.in_place) {
        move_out(&state->send, state->call.send_memory);
    }
    move_out(&state->receive, state->call.receive_memory);
}

static exchange_state_t *prepare(const exchange_t *call)
{
    exchange_state_t *state = zeros(sizeof(*state));

    state->call = *call;
    state->request = MPI_REQUEST_NULL;
    (void)MPI_Comm_rank(call->comm, &state->rank);
    (void)MPI_Comm_size(call->comm, &state->n_ranks);
    if (call->in_place) {
        lay_out(state, &state->send, call->receive_type, 1, 1);
        lay_out(state, &state->receive, call->receive_type, 1, 0);
    } else {
        lay_out(state, &state->send, call->send_type, 1, 1);
        lay_out(state, &state->receive, call->receive_type, call->ratio, 0);
    }
    write_data(state);
    return state;
}

/* The arguments of an in-place call that are not significant are wrong on purpose. */
static void call_blocking(exchange_state_t *state)
{
    const side_t *send = &state->send, *receive = &state->receive;
    int in_place = state->call.in_place;
    void *from = in_place ? MPI_IN_PLACE : argument(send), *to = argument(receive);
    const int *counts = in_place ? NULL : send->counts, *displs = in_place ? NULL : send->displs;

    switch (state->call.kind) {
    case EXCHANGE_ALLTOALL:
        state->code = MPI_Alltoall(from, in_place ? -1 : send->counts[0],
                                   in_place ? MPI_DATATYPE_NULL : send->type, to,
                                   receive->counts[0], receive->type, state->call.comm);
        break;
    case EXCHANGE_ALLTOALLV:
        state->code =
            MPI_Alltoallv(from, counts, displs, in_place ? MPI_DATATYPE_NULL : send->type, to,
                          receive->counts, receive->displs, receive->type, state->call.comm);
        break;
    case EXCHANGE_ALLTOALLW:
        state->code =
            MPI_Alltoallw(from, counts, displs, in_place ? NULL : send->types, to, receive->counts,
                          receive->displs, receive->types, state->call.comm);
        break;
    }
}

static void call_nonblocking(exchange_state_t *state)
{
    const side_t *send = &state->send, *receive = &state->receive;
    int in_place = state->call.in_place;
    void *from = in_place ? MPI_IN_PLACE : argument(send), *to = argument(receive);
    const int *counts = in_place ? NULL : send->counts, *displs = in_place ? NULL : send->displs;

    switch (state->call.kind) {
    case EXCHANGE_ALLTOALL:
        state->code = MPI_Ialltoall(
            from, in_place ? -1 : send->counts[0], in_place ? MPI_DATATYPE_NULL : send->type, to,
            receive->counts[0], receive->type, state->call.comm, &state->request);
        break;
    case EXCHANGE_ALLTOALLV:
        state->code = MPI_Ialltoallv(
            from, counts, displs, in_place ? MPI_DATATYPE_NULL : send->type, to, receive->counts,
            receive->displs, receive->type, state->call.comm, &state->request);
        break;
    case EXCHANGE_ALLTOALLW:
        state->code =
            MPI_Ialltoallw(from, counts, displs, in_place ? NULL : send->types, to, receive->counts,
                           receive->displs, receive->types, state->call.comm, &state->request);
        break;
    }
}

static void side_free(side_t *side)
{
    if (side->other != NULL) {
        side->other->release(side->other_memory);
    }
    free(side->memory);
    free(side->counts);
    free(side->displs);
    free(side->types);
}

/* The first wrong byte is told. */
static int compare(const exchange_state_t *state)
{
    const side_t *receive = &state->receive;
    size_t i;

    if (state->code != MPI_SUCCESS) {
        (void)fprintf(stderr, "rank %d: the call returned %d\n", state->rank, state->code);
        return 1;
    }
    if (receive->other != NULL) {
        receive->other->read(receive->memory, receive->other_memory, receive->n_bytes);
    }
    for (i = 0; i < state->receive.n_bytes; i++) {
        if (state->receive.memory[i] != state->expected[i]) {
            (void)fprintf(stderr, "rank %d: byte %zu of %zu is %d, expected %d (seed %d)\n",
                          state->rank, i, state->receive.n_bytes, state->receive.memory[i],
                          state->expected[i], state->call.seed);
            return 1;
        }
    }
    return 0;
}

exchange_state_t *exchange_start(const exchange_t *exchange)
{
    exchange_state_t *state = prepare(exchange);

    call_nonblocking(state);
    return state;
}

int exchange_test(exchange_state_t *state)
{
    int done = 0;

    state->code = MPI_Test(&state->request, &done, MPI_STATUS_IGNORE);
    return done;
}

static void wait_for(exchange_state_t *state)
{
    if (state->request != MPI_REQUEST_NULL) {
        state->code = MPI_Wait(&state->request, MPI_STATUS_IGNORE);
    }
}

static void state_free(exchange_state_t *state)
{
    side_free(&state->send);
    side_free(&state->receive);
    free(state->expected);
    free(state);
}

int exchange_finish(exchange_state_t *state)
{
    int n_wrong;

    wait_for(state);
    n_wrong = compare(state);
    state_free(state);
    return n_wrong;
}

int exchange_try(const exchange_t *exchange, int *code_p)
{
    exchange_state_t *state = prepare(exchange);
    int n_wrong;

    if (exchange->mode == EXCHANGE_BLOCKING) {
        call_blocking(state);
    } else {
        call_nonblocking(state);
        wait_for(state);
    }
    *code_p = state->code;
    n_wrong = state->code == MPI_SUCCESS ? compare(state) : 0;
    state_free(state);
    return n_wrong;
}

int exchange_run(const exchange_t *exchange)
{
    int code, n_wrong = exchange_try(exchange, &code);

    return n_wrong + check_equal(code, MPI_SUCCESS, "the code of the call");
}
