/*
 * Ranks without MPI: processes forked from the test, and communicators of
 * them in shared memory that fill the engine's surroundings.
 *
 * A check that fails in a rank ends that rank with a message; the test then
 * fails with it and the other ranks are ended too. A watchdog ends ranks that
 * hang.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef VP_TEST_RANKS_H
#define VP_TEST_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coll_variopath/surroundings.h"

/*
 * Shared memory transports of a path class. The sanitizers' wrapper of the
 * system call behind CMA accuses valid calls, so CMA is left out with them.
 */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RANKS_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(RANKS_SANITIZED)
#define RANKS_SHM_TLS "posix"
#else
#define RANKS_SHM_TLS "posix,cma"
#endif

enum { RANKS_MAX = 16, RANKS_SECONDS = 20 };

typedef struct ranks_comm ranks_comm_t;

/* Zeroed memory that all ranks share, at the same address; made before they start. */
void *ranks_share(size_t n_bytes);
void ranks_unshare(void *memory, size_t n_bytes);

ranks_comm_t *ranks_comm_create(uint32_t n_ranks);
void ranks_comm_destroy(ranks_comm_t *comm);

/* One rank's end of a communicator. */
typedef struct ranks_member {
    ranks_comm_t *comm;
    uint32_t rank;
    void (*progress)(void *context); /* called while waiting; may be NULL */
    void *progress_context;
    unsigned n_collectives; /* calls so far */
    unsigned fail_at;       /* this call fails; 0: none */
    unsigned n_messages;    /* sent so far */
    unsigned fail_message;  /* this one is not sent and fails; 0: none */
    unsigned lose_message;  /* this one is not sent and nobody is told; 0: none */
    bool abandoned;         /* the engine gave up on messages */
} ranks_member_t;

/* The table of an engine; member outlives it. */
vp_surroundings_t ranks_surroundings(ranks_member_t *member);
void ranks_barrier(ranks_member_t *member);

/* Runs body on n_ranks processes and waits; fails the test when one of them failed. */
void ranks_run(uint32_t n_ranks, void (*body)(uint32_t rank, void *argument), void *argument);

/* The same on threads of this process, as many as one likes; what fails ends it and says so on
 * stderr. */
void ranks_run_threads(uint32_t n_ranks, void (*body)(uint32_t rank, void *argument),
                       void *argument);

/*
 * The same, but one rank is killed after a while, and the others must end well. On
 * that communicator they are told so only by its collectives, as on a real machine.
 */
void ranks_run_killing(uint32_t n_ranks, void (*body)(uint32_t rank, void *argument),
                       void *argument, ranks_comm_t *comm, uint32_t victim, unsigned delay_us);

/* In a rank: ends it with a message unless the condition holds. */
/* This rank gives something up on purpose that a leak checker cannot see any more. */
void ranks_expect_leaks(void);

void ranks_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4), noreturn));
#define RANKS_CHECK(condition, ...)                                                                \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            ranks_fail(__FILE__, __LINE__, __VA_ARGS__);                                           \
        }                                                                                          \
    } while (0)
#define RANKS_EQUAL(actual, expected)                                                              \
    do {                                                                                           \
        long long actual_value = (long long)(actual), expected_value = (long long)(expected);      \
        RANKS_CHECK(actual_value == expected_value, "%s is %lld, expected %s = %lld", #actual,     \
                    actual_value, #expected, expected_value);                                      \
    } while (0)

#endif
