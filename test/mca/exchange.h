/*
 * One call of the MPI_Alltoall family with any datatypes, against computed
 * data: every byte of the receive buffer is compared, gaps included.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_MCA_EXCHANGE_H
#define VP_TEST_MCA_EXCHANGE_H

#include <mpi.h>
#include <stddef.h>

typedef enum exchange_kind {
    EXCHANGE_ALLTOALL,
    EXCHANGE_ALLTOALLV,
    EXCHANGE_ALLTOALLW
} exchange_kind_t;

/* How the call is made. */
typedef enum exchange_mode { EXCHANGE_BLOCKING, EXCHANGE_NONBLOCKING } exchange_mode_t;

/*
 * Memory that the CPU may not touch, for a buffer of a call; each function ends
 * the program when it cannot do its work.
 */
typedef struct exchange_memory {
    void *(*allocate)(size_t n_bytes);
    void (*release)(void *memory);
    void (*write)(void *memory, const void *host, size_t n_bytes);
    void (*read)(void *host, const void *memory, size_t n_bytes);
} exchange_memory_t;

/*
 * Counts are in send elements; `ratio` receive elements hold as much as one
 * send element. Both ends compute them: count(source, destination, seed). For
 * MPI_Alltoall the count of (0, 0) is every pair's, in place the one of
 * (smaller, larger) rank is both ways'.
 */
typedef struct exchange {
    exchange_kind_t kind;
    exchange_mode_t mode;
    MPI_Comm comm;
    int in_place; /* send_type is not used */
    MPI_Datatype send_type;
    MPI_Datatype receive_type;
    int ratio;
    int descending; /* blocks lie in the order of falling ranks */
    int gap;        /* unused elements between blocks */
    int (*count)(int source, int destination, int seed);
    int seed;
    const exchange_memory_t *send_memory; /* NULL: the host's. In place: not used */
    const exchange_memory_t *receive_memory;
} exchange_t;

/* Returns the number of things that are wrong on this rank. */
int exchange_run(const exchange_t *exchange);

/* A call that may fail: its code, and what is wrong in the data of one that did not. */
int exchange_try(const exchange_t *exchange, int *code_p);

/* A nonblocking call in two halves: exchange_finish waits, compares and frees it. */
typedef struct exchange_state exchange_state_t;
exchange_state_t *exchange_start(const exchange_t *exchange);
/* MPI_Test: is it complete? */
int exchange_test(exchange_state_t *state);
int exchange_finish(exchange_state_t *state);

#endif
