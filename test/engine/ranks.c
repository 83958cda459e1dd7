/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOT_BYTES = 1 << 16, MESSAGE_BYTES = 512, MAILBOX_MESSAGES = 4096 };

/* Messages on their way to one rank, in a ring. */
typedef struct mailbox {
    atomic_flag busy;
    unsigned n_written;
    unsigned n_read;
    unsigned char messages[MAILBOX_MESSAGES][VP_MESSAGE_BYTES];
} mailbox_t;

struct ranks_comm {
    uint32_t n_ranks;
    atomic_uint n_arrived;
    atomic_uint generation;
    atomic_bool broken; /* a rank was killed: nobody is waited for any more */
    unsigned char slots[RANKS_MAX][SLOT_BYTES];
    mailbox_t mailboxes[RANKS_MAX];
};

/* Of the running rank; the parent reads what the first failing one wrote. */
static char (*messages)[MESSAGE_BYTES];
static _Thread_local uint32_t own_rank;
static bool leaks_expected;

void *ranks_share(size_t n_bytes)
{
    void *memory = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(memory, MAP_FAILED);
    return memory;
}

void ranks_unshare(void *memory, size_t n_bytes)
{
    ck_assert_int_eq(munmap(memory, n_bytes), 0);
}

ranks_comm_t *ranks_comm_create(uint32_t n_ranks)
{
    ranks_comm_t *comm = ranks_share(sizeof(*comm));

    ck_assert_uint_le(n_ranks, RANKS_MAX);
    comm->n_ranks = n_ranks;
    return comm;
}

void ranks_comm_destroy(ranks_comm_t *comm)
{
    ranks_unshare(comm, sizeof(*comm));
}

/* False: a rank was killed and will not come. */
static bool meet(ranks_member_t *member)
{
    ranks_comm_t *comm = member->comm;
    unsigned generation = atomic_load(&comm->generation);

    if (atomic_load(&comm->broken)) {
        return false; /* and is not counted among those who wait */
    }
    if (atomic_fetch_add(&comm->n_arrived, 1) + 1 == comm->n_ranks) {
        atomic_store(&comm->n_arrived, 0);
        atomic_fetch_add(&comm->generation, 1);
        return true;
    }
    while (atomic_load(&comm->generation) == generation) {
        if (atomic_load(&comm->broken)) {
            return false;
        }
        if (member->progress != NULL) {
            member->progress(member->progress_context);
        }
        (void)sched_yield();
    }
    return true;
}

void ranks_barrier(ranks_member_t *member)
{
    (void)meet(member);
}

static bool injected(ranks_member_t *member)
{
    return ++member->n_collectives == member->fail_at;
}

static vp_status_t allgather(void *context, const void *send, void *receive, size_t n_bytes)
{
    ranks_member_t *member = context;
    uint32_t rank;

    if (injected(member)) {
        return VP_ERR_TRANSPORT;
    }
    RANKS_CHECK(n_bytes <= SLOT_BYTES, "record of %zu bytes is too long for the test", n_bytes);
    memcpy(member->comm->slots[member->rank], send, n_bytes);
    if (!meet(member)) {
        return VP_ERR_TRANSPORT;
    }
    for (rank = 0; rank < member->comm->n_ranks; rank++) {
        memcpy((char *)receive + rank * n_bytes, member->comm->slots[rank], n_bytes);
    }
    return meet(member) ? VP_OK : VP_ERR_TRANSPORT;
}

static vp_status_t alltoall(void *context, const void *send, void *receive, size_t n_bytes)
{
    ranks_member_t *member = context;
    uint32_t rank, n_ranks = member->comm->n_ranks;

    if (injected(member)) {
        return VP_ERR_TRANSPORT;
    }
    RANKS_CHECK(n_bytes * n_ranks <= SLOT_BYTES, "records of %zu bytes are too long", n_bytes);
    memcpy(member->comm->slots[member->rank], send, n_bytes * n_ranks);
    if (!meet(member)) {
        return VP_ERR_TRANSPORT;
    }
    for (rank = 0; rank < n_ranks; rank++) {
        memcpy((char *)receive + rank * n_bytes, member->comm->slots[rank] + member->rank * n_bytes,
               n_bytes);
    }
    return meet(member) ? VP_OK : VP_ERR_TRANSPORT;
}

/* A rank that was killed inside leaves it closed for ever. */
static void enter(ranks_comm_t *comm, mailbox_t *mailbox)
{
    while (atomic_flag_test_and_set(&mailbox->busy) && !atomic_load(&comm->broken)) {
        (void)sched_yield();
    }
}

static vp_status_t send_message(void *context, uint32_t peer, const void *message)
{
    ranks_member_t *member = context;
    mailbox_t *mailbox = &member->comm->mailboxes[peer];

    if (++member->n_messages == member->fail_message) {
        return VP_ERR_TRANSPORT;
    }
    if (member->n_messages == member->lose_message) {
        return VP_OK;
    }
    enter(member->comm, mailbox);
    RANKS_CHECK(mailbox->n_written - mailbox->n_read < MAILBOX_MESSAGES, "a mailbox is full");
    memcpy(mailbox->messages[mailbox->n_written++ % MAILBOX_MESSAGES], message, VP_MESSAGE_BYTES);
    atomic_flag_clear(&mailbox->busy);
    return VP_OK;
}

static vp_status_t receive_message(void *context, void *message, bool *arrived_p)
{
    ranks_member_t *member = context;
    mailbox_t *mailbox = &member->comm->mailboxes[member->rank];

    enter(member->comm, mailbox);
    *arrived_p = mailbox->n_read != mailbox->n_written;
    if (*arrived_p) {
        memcpy(message, mailbox->messages[mailbox->n_read++ % MAILBOX_MESSAGES], VP_MESSAGE_BYTES);
    }
    atomic_flag_clear(&mailbox->busy);
    return VP_OK;
}

static void abandon_messages(void *context)
{
    ((ranks_member_t *)context)->abandoned = true;
}

static void host_progress(void *context)
{
    ranks_member_t *member = context;

    if (member->progress != NULL) {
        member->progress(member->progress_context);
    }
}

vp_surroundings_t ranks_surroundings(ranks_member_t *member)
{
    vp_surroundings_t around = {.context = member,
                                .rank = member->rank,
                                .n_ranks = member->comm->n_ranks,
                                .allgather = allgather,
                                .alltoall = alltoall,
                                .send = send_message,
                                .receive = receive_message,
                                .abandon = abandon_messages,
                                .progress = host_progress};

    return around;
}

void ranks_fail(const char *file, int line, const char *format, ...)
{
    char text[MESSAGE_BYTES];
    char *message = messages != NULL ? messages[own_rank] : text;
    int length = snprintf(message, MESSAGE_BYTES, "rank %u, %s:%d: ", own_rank, file, line);
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(message + length, MESSAGE_BYTES - (size_t)length, format, arguments);
    va_end(arguments);
    if (message == text) {
        (void)fprintf(stderr, "%s\n", text); /* a thread: nobody reads messages */
    }
    _exit(1);
}

/* There with the leak sanitizer only; a rank ends without running its exit handlers. */
extern int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

void ranks_expect_leaks(void)
{
    leaks_expected = true;
}

static pid_t start_rank(uint32_t rank, void (*body)(uint32_t rank, void *argument), void *argument)
{
    pid_t pid;

    (void)fflush(NULL);
    pid = fork();
    if (pid != 0) {
        return pid;
    }
    own_rank = rank;
    (void)alarm(RANKS_SECONDS);
    body(rank, argument);
    (void)fflush(NULL);
    if (!leaks_expected && __lsan_do_recoverable_leak_check != NULL &&
        __lsan_do_recoverable_leak_check() != 0) {
        ranks_fail(__FILE__, __LINE__, "memory leaked");
    }
    _exit(0);
}

/* Waits for one rank; true when all went well. A failure ends the others. */
static bool reap_one(pid_t *pids, uint32_t n_ranks, int *signal_p)
{
    int state;
    pid_t pid = waitpid(-1, &state, 0);
    bool good = WIFEXITED(state) && WEXITSTATUS(state) == 0;
    uint32_t rank;

    for (rank = 0; rank < n_ranks; rank++) {
        if (pids[rank] == pid) {
            pids[rank] = -1;
        } else if (!good && pids[rank] > 0) {
            (void)kill(pids[rank], SIGKILL);
        }
    }
    if (WIFSIGNALED(state)) {
        *signal_p = WTERMSIG(state);
    }
    return good;
}

static void start_all(pid_t *pids, uint32_t n_ranks, void (*body)(uint32_t rank, void *argument),
                      void *argument)
{
    uint32_t rank;

    messages = ranks_share(RANKS_MAX * sizeof(*messages));
    for (rank = 0; rank < n_ranks; rank++) {
        pids[rank] = start_rank(rank, body, argument);
        ck_assert_int_gt(pids[rank], 0);
    }
}

/* The first message of a failed rank fails the test. */
static void check_messages(uint32_t n_ranks)
{
    uint32_t rank;

    for (rank = 0; rank < n_ranks; rank++) {
        if (messages[rank][0] != '\0') {
            ck_abort_msg("%s", messages[rank]);
        }
    }
}

void ranks_run(uint32_t n_ranks, void (*body)(uint32_t rank, void *argument), void *argument)
{
    pid_t pids[RANKS_MAX];
    uint32_t rank, n_good = 0;
    int first_signal = 0;

    start_all(pids, n_ranks, body, argument);
    for (rank = 0; rank < n_ranks; rank++) {
        int ended_by = 0;

        n_good += reap_one(pids, n_ranks, &ended_by);
        if (first_signal == 0 && n_good < rank + 1) {
            first_signal = ended_by == 0 ? -1 : ended_by;
        }
    }
    check_messages(n_ranks);
    ck_assert_msg(n_good == n_ranks, "a rank was ended by signal %d (%s)", first_signal,
                  first_signal == SIGALRM ? "it hung" : "it crashed");
    ranks_unshare(messages, RANKS_MAX * sizeof(*messages));
}

typedef struct rank_thread {
    pthread_t thread;
    uint32_t rank;
    void (*body)(uint32_t rank, void *argument);
    void *argument;
} rank_thread_t;

static void *run_thread(void *argument)
{
    rank_thread_t *self = argument;

    own_rank = self->rank;
    self->body(self->rank, self->argument);
    return NULL;
}

void ranks_run_threads(uint32_t n_ranks, void (*body)(uint32_t rank, void *argument),
                       void *argument)
{
    rank_thread_t *threads = calloc(n_ranks, sizeof(*threads));
    uint32_t rank;

    RANKS_CHECK(threads != NULL, "no memory");
    for (rank = 0; rank < n_ranks; rank++) {
        threads[rank] = (rank_thread_t){.rank = rank, .body = body, .argument = argument};
        RANKS_EQUAL(pthread_create(&threads[rank].thread, NULL, run_thread, &threads[rank]), 0);
    }
    for (rank = 0; rank < n_ranks; rank++) {
        RANKS_EQUAL(pthread_join(threads[rank].thread, NULL), 0);
    }
    free(threads);
}

void ranks_run_killing(uint32_t n_ranks, void (*body)(uint32_t rank, void *argument),
                       void *argument, ranks_comm_t *comm, uint32_t victim, unsigned delay_us)
{
    pid_t pids[RANKS_MAX];
    uint32_t rank;
    int state = 0;

    start_all(pids, n_ranks, body, argument);
    (void)usleep(delay_us);
    ck_assert_int_eq(kill(pids[victim], SIGKILL), 0);
    ck_assert_int_eq(waitpid(pids[victim], &state, 0), pids[victim]);
    atomic_store(&comm->broken, true);
    for (rank = 0; rank < n_ranks; rank++) {
        if (rank != victim) {
            ck_assert_int_eq(waitpid(pids[rank], &state, 0), pids[rank]);
            check_messages(n_ranks);
            ck_assert_msg(WIFEXITED(state), "survivor %u was ended by signal %d (%s)", rank,
                          WTERMSIG(state), WTERMSIG(state) == SIGALRM ? "it hung" : "it crashed");
        }
    }
    ranks_unshare(messages, RANKS_MAX * sizeof(*messages));
}
