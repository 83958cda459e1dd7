/*
 * Lanes over real UCX transports: shared memory and TCP on the loopback.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "coll_variopath/lanes.h"
#include "ranks.h"

enum { N_CLASSES = 3, SHM = 0, TCP = 1, CLOSED = 2, ADDRESS_BYTES = 512, KEYS_BYTES = 1024 };

static const vp_path_class_t classes[N_CLASSES] = {
    {(char *)"shm", (char *)RANKS_SHM_TLS, (char *)""},
    {(char *)"nic0", (char *)"tcp", (char *)"lo"},
    {(char *)"unused", (char *)"tcp", (char *)"lo"},
};
static const bool wanted[N_CLASSES] = {true, true, false};

/* What ranks tell each other through shared memory. */
typedef struct bulletin {
    size_t address_bytes[RANKS_MAX][N_CLASSES];
    unsigned char address[RANKS_MAX][N_CLASSES][ADDRESS_BYTES];
    size_t keys_bytes[RANKS_MAX];
    unsigned char keys[RANKS_MAX][KEYS_BYTES];
    uint64_t buffer[RANKS_MAX];
} bulletin_t;

typedef struct rank_state {
    vp_lanes_t *lanes;
    bulletin_t *bulletin;
    ranks_member_t member;
    uint32_t rank;
} rank_state_t;

typedef struct setting {
    ranks_comm_t *comm;
    bulletin_t *bulletin;
    bool threads;
    bool tolerant;
    uint32_t source_class;
    uint32_t destination_class;
    size_t n_bytes;
} setting_t;

static const setting_t plain;

static void progress(void *context)
{
    (void)vp_lanes_progress(((rank_state_t *)context)->lanes);
}

static uint64_t key_of(uint32_t rank)
{
    return 1000 + rank;
}

static vp_status_t create(const vp_path_class_t *list, uint32_t n_classes, const bool *open,
                          const setting_t *setting, vp_lanes_t **lanes_p, vp_error_t *error)
{
    vp_lanes_config_t config = {.classes = list,
                                .n_classes = n_classes,
                                .wanted = open,
                                .estimated_peers = 2,
                                .threads = setting->threads,
                                .tolerant = setting->tolerant};

    return vp_lanes_create(&config, lanes_p, error);
}

static void start(rank_state_t *state, uint32_t rank, const setting_t *setting)
{
    vp_error_t error;
    uint32_t i;

    memset(state, 0, sizeof(*state));
    RANKS_CHECK(create(classes, N_CLASSES, wanted, setting, &state->lanes, &error) == VP_OK, "%s",
                error.text);
    state->rank = rank;
    state->bulletin = setting->bulletin;
    state->member = (ranks_member_t){
        .comm = setting->comm, .rank = rank, .progress = progress, .progress_context = state};
    for (i = 0; i < N_CLASSES; i++) {
        const void *address;
        size_t n_bytes;

        if (!wanted[i]) {
            continue;
        }
        RANKS_CHECK(vp_lanes_address(state->lanes, i, &address, &n_bytes, &error) == VP_OK, "%s",
                    error.text);
        RANKS_CHECK(n_bytes <= ADDRESS_BYTES, "address of %zu bytes", n_bytes);
        memcpy(state->bulletin->address[rank][i], address, n_bytes);
        state->bulletin->address_bytes[rank][i] = n_bytes;
    }
    ranks_barrier(&state->member);
}

static void stop(rank_state_t *state)
{
    ranks_barrier(&state->member);
    vp_lanes_close(state->lanes);
    ranks_barrier(&state->member);
    vp_lanes_destroy(state->lanes);
}

static vp_status_t reach(rank_state_t *state, uint32_t peer, uint32_t source_class,
                         uint32_t destination_class, vp_error_t *error)
{
    return vp_lanes_connect(state->lanes, key_of(peer), source_class, destination_class,
                            state->bulletin->address[peer][destination_class],
                            state->bulletin->address_bytes[peer][destination_class], 10000, NULL,
                            NULL, error);
}

static unsigned char pattern(uint32_t rank, size_t i)
{
    return (unsigned char)(i * 7 + (i >> 8) + rank * 31 + 1);
}

static void put_and_wait(rank_state_t *state, vp_window_t *window, const void *local,
                         uint64_t remote, size_t n_bytes)
{
    vp_operation_t *operation = NULL;
    vp_error_t error;
    bool done = false;

    RANKS_CHECK(vp_lanes_put(state->lanes, window, local, false, remote, n_bytes, &operation,
                             &error) == VP_OK,
                "%s", error.text);
    while (!done) {
        RANKS_CHECK(vp_lanes_test(state->lanes, &operation, &done, &error) == VP_OK, "%s",
                    error.text);
        (void)vp_lanes_progress(state->lanes);
    }
    RANKS_CHECK(operation == NULL, "the operation is not freed");
}

static void tell_keys(rank_state_t *state, const vp_region_t *region)
{
    size_t n_bytes;
    const void *keys = vp_region_keys(region, &n_bytes);

    RANKS_CHECK(n_bytes <= KEYS_BYTES, "keys of %zu bytes", n_bytes);
    memcpy(state->bulletin->keys[state->rank], keys, n_bytes);
    state->bulletin->keys_bytes[state->rank] = n_bytes;
}

static void open_to_1(rank_state_t *state, uint32_t path, vp_window_t **window_p)
{
    vp_error_t error;

    RANKS_CHECK(vp_lanes_open_window(state->lanes, key_of(1), path, path, state->bulletin->keys[1],
                                     state->bulletin->keys_bytes[1], window_p, &error) == VP_OK,
                "%s", error.text);
}

/* Rank 0 writes the middle of rank 1's buffer. */
static void body_put(uint32_t rank, void *argument)
{
    const setting_t *setting = argument;
    size_t n = setting->n_bytes, i;
    unsigned char *buffer = malloc(n + 32);
    rank_state_t state;
    vp_region_t *region = NULL;
    vp_window_t *window = NULL;
    vp_error_t error;

    start(&state, rank, setting);
    memset(buffer, 0xee, n + 32);
    RANKS_CHECK(vp_lanes_register(state.lanes, buffer, n + 32, false, &region, &error) == VP_OK,
                "%s", error.text);
    tell_keys(&state, region);
    state.bulletin->buffer[rank] = (uintptr_t)buffer;
    ranks_barrier(&state.member);
    if (rank == 0) {
        for (i = 0; i < n; i++) {
            buffer[16 + i] = pattern(0, i);
        }
        RANKS_CHECK(!vp_lanes_connected(state.lanes, key_of(1), setting->source_class,
                                        setting->destination_class),
                    "connected too early");
        RANKS_CHECK(reach(&state, 1, setting->source_class, setting->destination_class, &error) ==
                        VP_OK,
                    "%s", error.text);
        RANKS_CHECK(vp_lanes_connected(state.lanes, key_of(1), setting->source_class,
                                       setting->destination_class),
                    "not connected");
        RANKS_CHECK(vp_lanes_open_window(state.lanes, key_of(1), setting->source_class,
                                         setting->destination_class, state.bulletin->keys[1],
                                         state.bulletin->keys_bytes[1], &window, &error) == VP_OK,
                    "%s", error.text);
        put_and_wait(&state, window, buffer + 16, state.bulletin->buffer[1] + 16, n);
        vp_lanes_close_window(state.lanes, window);
    }
    ranks_barrier(&state.member);
    if (rank == 1) {
        for (i = 0; i < n + 32; i++) {
            unsigned char expected = i < 16 || i >= n + 16 ? 0xee : pattern(0, i - 16);

            RANKS_CHECK(buffer[i] == expected, "byte %zu is %u, expected %u", i, buffer[i],
                        expected);
        }
    }
    vp_lanes_unregister(state.lanes, region);
    stop(&state);
    free(buffer);
}

static void run(uint32_t n_ranks, void (*body)(uint32_t, void *), setting_t setting)
{
    setting.comm = ranks_comm_create(n_ranks);
    setting.bulletin = ranks_share(sizeof(*setting.bulletin));
    ranks_run(n_ranks, body, &setting);
    ranks_comm_destroy(setting.comm);
    ranks_unshare(setting.bulletin, sizeof(*setting.bulletin));
}

START_TEST(puts_arrive_over_shared_memory)
{
    run(2, body_put, (setting_t){.source_class = SHM, .destination_class = SHM, .n_bytes = 1});
    run(2, body_put,
        (setting_t){.source_class = SHM, .destination_class = SHM, .n_bytes = 3000001});
}
END_TEST

START_TEST(puts_arrive_over_tcp)
{
    run(2, body_put, (setting_t){.source_class = TCP, .destination_class = TCP, .n_bytes = 1});
    run(2, body_put,
        (setting_t){.source_class = TCP, .destination_class = TCP, .n_bytes = 3000001});
}
END_TEST

START_TEST(puts_arrive_with_threads)
{
    run(2, body_put,
        (setting_t){
            .threads = true, .source_class = TCP, .destination_class = TCP, .n_bytes = 300001});
    run(2, body_put,
        (setting_t){
            .threads = true, .source_class = SHM, .destination_class = SHM, .n_bytes = 300001});
}
END_TEST

/* shm cannot talk to a TCP address and the other way round. */
static void body_unreachable(uint32_t rank, void *argument)
{
    rank_state_t state;
    vp_error_t error;

    start(&state, rank, argument);
    if (rank == 0) {
        RANKS_EQUAL(reach(&state, 1, SHM, TCP, &error), VP_ERR_TRANSPORT);
        RANKS_CHECK(strstr(error.text, "\"shm\"") != NULL && strstr(error.text, "\"nic0\"") != NULL,
                    "%s", error.text);
        RANKS_EQUAL(reach(&state, 1, TCP, SHM, &error), VP_ERR_TRANSPORT);
        RANKS_EQUAL(reach(&state, 1, CLOSED, TCP, &error), VP_ERR_TRANSPORT);
        RANKS_CHECK(strstr(error.text, "not open") != NULL, "%s", error.text);
        RANKS_CHECK(!vp_lanes_connected(state.lanes, key_of(1), SHM, TCP), "connected");
        RANKS_EQUAL(reach(&state, 1, TCP, TCP, &error), VP_OK);
    }
    stop(&state);
}

START_TEST(a_pair_that_cannot_reach_fails)
{
    run(2, body_unreachable, (setting_t){.threads = false});
}
END_TEST

static unsigned count_files(void)
{
    DIR *directory = opendir("/proc/self/fd");
    unsigned n_files = 0;

    RANKS_CHECK(directory != NULL, "no /proc");
    while (readdir(directory) != NULL) {
        n_files++;
    }
    (void)closedir(directory);
    return n_files;
}

/* Each TCP endpoint has a socket. */
static void body_repeated(uint32_t rank, void *argument)
{
    const setting_t *setting = argument;
    rank_state_t state;
    vp_error_t error;
    unsigned n_files = 0;
    int i;

    start(&state, rank, setting);
    if (rank == 0) {
        for (i = 0; i < 50; i++) {
            RANKS_CHECK(reach(&state, 1, SHM, SHM, &error) == VP_OK, "%s", error.text);
            RANKS_CHECK(reach(&state, 1, TCP, TCP, &error) == VP_OK, "%s", error.text);
            n_files = i == 0 ? count_files() : n_files;
        }
        RANKS_EQUAL(count_files(), n_files);
    }
    stop(&state);
    vp_lanes_destroy(NULL);
}

START_TEST(connecting_again_changes_nothing)
{
    run(2, body_repeated, (setting_t){.threads = false});
}
END_TEST

static void body_keys(uint32_t rank, void *argument)
{
    static char buffer[4096];
    rank_state_t state;
    vp_region_t *region;
    vp_window_t *window = NULL;
    vp_error_t error;
    unsigned char copy[KEYS_BYTES];
    const unsigned char *keys;
    size_t n_bytes, length;

    start(&state, rank, argument);
    RANKS_CHECK(vp_lanes_register(state.lanes, buffer, sizeof(buffer), false, &region, &error) ==
                    VP_OK,
                "%s", error.text);
    keys = vp_region_keys(region, &n_bytes);
    memcpy(copy, keys, n_bytes);
    if (rank == 0) {
        RANKS_EQUAL(
            vp_lanes_open_window(state.lanes, key_of(1), SHM, SHM, keys, n_bytes, &window, &error),
            VP_ERR_TRANSPORT);
        RANKS_CHECK(strstr(error.text, "no endpoint") != NULL, "%s", error.text);
        RANKS_CHECK(reach(&state, 1, SHM, SHM, &error) == VP_OK, "%s", error.text);
        RANKS_EQUAL(
            vp_lanes_open_window(state.lanes, key_of(1), SHM, SHM, keys, 0, &window, &error),
            VP_ERR_TRANSPORT);
        for (length = 1; length < n_bytes; length++) {
            vp_status_t status = vp_lanes_open_window(state.lanes, key_of(1), SHM, CLOSED, keys,
                                                      length, &window, &error);
            size_t first = 8 + keys[4];

            RANKS_EQUAL(status, length == first ? VP_ERR_TRANSPORT : VP_ERR_BAD_INPUT);
        }
        copy[4] = 0xff;
        copy[7] = 0xff;
        RANKS_EQUAL(
            vp_lanes_open_window(state.lanes, key_of(1), SHM, SHM, copy, n_bytes, &window, &error),
            VP_ERR_BAD_INPUT);
        RANKS_CHECK(window == NULL, "a window in spite of the error");
    }
    vp_lanes_unregister(state.lanes, region);
    stop(&state);
}

START_TEST(keys_that_do_not_parse_are_refused)
{
    run(2, body_keys, (setting_t){.threads = false});
}
END_TEST

/* A large put of rank 0 that cannot end; cancelled, its endpoint and window are gone. */
static void put_and_cancel(rank_state_t *state, uint32_t path, const void *buffer, size_t n)
{
    vp_window_t *window;
    vp_operation_t *operation;
    vp_error_t error;
    bool done = false;
    int turn;

    open_to_1(state, path, &window);
    RANKS_CHECK(vp_lanes_put(state->lanes, window, buffer, false, state->bulletin->buffer[1], n,
                             &operation, &error) == VP_OK,
                "%s", error.text);
    for (turn = 0; turn < 1000; turn++) {
        (void)vp_lanes_progress(state->lanes);
        RANKS_CHECK(vp_lanes_test(state->lanes, &operation, &done, &error) == VP_OK && !done,
                    "the put ended");
    }
    vp_lanes_cancel(state->lanes, operation);
    RANKS_CHECK(!vp_lanes_connected(state->lanes, key_of(1), path, path), "still connected");
    RANKS_EQUAL(vp_lanes_put(state->lanes, window, buffer, false, state->bulletin->buffer[1], 1,
                             &operation, &error),
                VP_ERR_TRANSPORT);
    vp_lanes_close_window(state->lanes, window);
}

static void connect_and_put(rank_state_t *state, uint32_t path, unsigned char *buffer, size_t n)
{
    vp_window_t *window;
    vp_error_t error;
    size_t i;

    for (i = 0; i < n; i++) {
        buffer[i] = pattern(0, i);
    }
    RANKS_CHECK(reach(state, 1, path, path, &error) == VP_OK, "%s", error.text);
    open_to_1(state, path, &window);
    put_and_wait(state, window, buffer, state->bulletin->buffer[1], n);
    vp_lanes_close_window(state->lanes, window);
}

static void close_after_cancel(rank_state_t *state)
{
    ranks_barrier(&state->member);
    vp_lanes_close(state->lanes);
    ranks_barrier(&state->member);
    if (state->rank == 1 && strncmp(vp_lanes_runtime_version(), "1.13.", 5) == 0) {
        _exit(0); /* its worker stays, for the reason that vp_lanes_close has; no leak to report */
    }
    vp_lanes_destroy(state->lanes);
}

static void body_cancel(uint32_t rank, void *argument)
{
    const setting_t *setting = argument;
    uint32_t path = setting->source_class;
    size_t n = setting->n_bytes, i;
    unsigned char *buffer = malloc(n);
    rank_state_t state;
    vp_region_t *region;
    vp_error_t error;

    ranks_expect_leaks(); /* the worker that is given up, deep inside UCX */
    start(&state, rank, setting);
    RANKS_CHECK(vp_lanes_register(state.lanes, buffer, n, false, &region, &error) == VP_OK, "%s",
                error.text);
    tell_keys(&state, region);
    state.bulletin->buffer[rank] = (uintptr_t)buffer;
    ranks_barrier(&state.member);
    if (rank == 0) {
        RANKS_CHECK(reach(&state, 1, path, path, &error) == VP_OK, "%s", error.text);
    }
    ranks_barrier(&state.member);
    state.member.progress = rank == 1 ? NULL : progress; /* rank 1 does not take part for a while */
    if (rank == 0) {
        put_and_cancel(&state, path, buffer, n);
    }
    ranks_barrier(&state.member);
    state.member.progress = progress;
    ranks_barrier(&state.member);
    if (rank == 0) {
        connect_and_put(&state, path, buffer, n);
    }
    ranks_barrier(&state.member);
    for (i = 0; i < n && rank == 1; i++) {
        RANKS_CHECK(buffer[i] == pattern(0, i), "byte %zu is %u", i, buffer[i]);
    }
    vp_lanes_unregister(state.lanes, region);
    free(buffer);
    close_after_cancel(&state);
}

START_TEST(a_cancelled_put_can_be_tried_again)
{
    run(2, body_cancel,
        (setting_t){.threads = true, .source_class = TCP, .n_bytes = (size_t)20 << 20});
}
END_TEST

/*
 * What UCX sends by. A peer that dies between its bytes' arrival and their answer cannot be had
 * at will; that its socket is closed by then, can.
 */
static atomic_bool all_are_gone;
static int n_refused;

__attribute__((visibility("default"))) ssize_t send(int file, const void *bytes_p, size_t n_bytes,
                                                    int flags)
{
    if (atomic_load(&all_are_gone)) {
        n_refused++;
        errno = ECONNRESET;
        return -1;
    }
    return sendto(file, bytes_p, n_bytes, flags, NULL, 0);
}

/* Both have an endpoint to the other, and nothing of that is left to be said. */
static void connect_both(rank_state_t *state, uint32_t path)
{
    vp_error_t error;
    uint32_t turn;

    for (turn = 0; turn < 2; turn++) {
        if (state->rank == turn) {
            RANKS_CHECK(reach(state, 1 - turn, path, path, &error) == VP_OK, "%s", error.text);
        }
        ranks_barrier(&state->member);
    }
}

static void put_often(rank_state_t *state, vp_window_t *window, const void *buffer, size_t n_bytes)
{
    enum { N_PUTS = 8 };
    vp_error_t error;
    int i;

    for (i = 0; i < N_PUTS; i++) {
        vp_operation_t *operation = NULL; /* never ends: rank 1 does not answer */

        RANKS_CHECK(vp_lanes_put(state->lanes, window, buffer, false, state->bulletin->buffer[1],
                                 n_bytes, &operation, &error) == VP_OK,
                    "%s", error.text);
    }
}

/* Rank 0 puts; rank 1 takes in what comes and cannot answer it. */
static void body_answer_the_dead(uint32_t rank, void *argument)
{
    const setting_t *setting = argument;
    size_t n = setting->n_bytes;
    unsigned char *buffer = calloc(1, n);
    vp_window_t *window = NULL;
    rank_state_t state;
    vp_region_t *region;
    vp_error_t error;
    int i;

    ranks_expect_leaks();
    start(&state, rank, setting);
    RANKS_CHECK(vp_lanes_register(state.lanes, buffer, n, 0, &region, &error) == VP_OK, "%s",
                error.text);
    tell_keys(&state, region);
    state.bulletin->buffer[rank] = (uintptr_t)buffer;
    connect_both(&state, setting->source_class);
    if (rank == 0) {
        open_to_1(&state, setting->source_class, &window);
        put_and_wait(&state, window, buffer, state.bulletin->buffer[1], n);
        buffer[n - 1] = 7;
    }
    ranks_barrier(&state.member);
    state.member.progress = NULL;
    ranks_barrier(&state.member);
    if (rank == 0) {
        put_often(&state, window, buffer, n);
    }
    ranks_barrier(&state.member);
    atomic_store(&all_are_gone, rank == 1);
    for (i = 0; i < 200; i++) {
        (void)vp_lanes_progress(state.lanes);
        (void)usleep(1000);
    }
    RANKS_CHECK(rank == 0 || (buffer[n - 1] == 7 && n_refused > 0),
                "nothing came that had to be answered");
    ranks_barrier(&state.member);
}

START_TEST(who_answers_the_dead_lives_on)
{
    static const size_t sizes[] = {1, 100, 3000, 20000};
    size_t i;

    if (strncmp(vp_lanes_runtime_version(), "1.13.", 5) == 0) {
        return; /* emulates every put in any case */
    }
    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        run(2, body_answer_the_dead,
            (setting_t){.tolerant = true, .source_class = TCP, .n_bytes = sizes[i]});
    }
}
END_TEST

static void body_bad_class(uint32_t rank, void *argument)
{
    static vp_path_class_t bad[2] = {
        {(char *)"good", (char *)"tcp", (char *)"lo"},
        {(char *)"strange", (char *)"bogus", (char *)"dev7"},
    };
    static const bool open[2] = {true, true};
    vp_lanes_t *lanes = NULL;
    vp_error_t error;

    (void)rank;
    (void)argument;
    RANKS_EQUAL(create(bad, 2, open, &plain, &lanes, &error), VP_ERR_TRANSPORT);
    RANKS_CHECK(lanes == NULL, "lanes in spite of the error");
    RANKS_CHECK(strstr(error.text, "\"strange\"") != NULL &&
                    strstr(error.text, "\"bogus\"") != NULL && strstr(error.text, "dev7") != NULL,
                "%s", error.text);
    bad[1].tls = (char *)"tcp"; /* a good transport on a device that is not there */
    RANKS_EQUAL(create(bad, 2, open, &plain, &lanes, &error), VP_ERR_TRANSPORT);
    RANKS_CHECK(strstr(error.text, "dev7") != NULL, "%s", error.text);
}

START_TEST(a_class_that_ucx_refuses_is_named)
{
    ranks_run(1, body_bad_class, NULL);
}
END_TEST

static void body_environment(uint32_t rank, void *argument)
{
    vp_lanes_t *lanes = NULL;
    vp_error_t error;

    (void)rank;
    (void)argument;
    RANKS_EQUAL(setenv("VARIOPATH_UCX_TLS", "bogus", 1), 0);
    RANKS_EQUAL(setenv("UCX_TLS", "bogus", 1), 0);
    RANKS_EQUAL(setenv("VARIOPATH_UCX_NET_DEVICES", "dev7", 1), 0);
    RANKS_EQUAL(setenv("UCX_NET_DEVICES", "dev7", 1), 0);
    RANKS_CHECK(create(classes, N_CLASSES, wanted, &plain, &lanes, &error) == VP_OK, "%s",
                error.text);
    vp_lanes_destroy(lanes);
}

START_TEST(the_environment_cannot_redirect_a_class)
{
    ranks_run(1, body_environment, NULL);
}
END_TEST

START_TEST(versions_are_told)
{
    ck_assert_int_eq(strncmp(vp_lanes_compiled_version(), "1.", 2), 0);
    ck_assert_int_eq(strncmp(vp_lanes_runtime_version(), "1.", 2), 0);
}
END_TEST

/* To itself, so that no peer is needed. */
START_TEST(budgets_are_kept)
{
    static unsigned char bytes[4096];
    const bool open[N_CLASSES] = {[SHM] = true, [TCP] = true};
    vp_lanes_config_t config = {.classes = classes,
                                .n_classes = N_CLASSES,
                                .wanted = open,
                                .estimated_peers = 2,
                                .n_places = 4,
                                .max_endpoints = 1,
                                .inbox_bytes = 2 * 4 * 16384};
    const void *address;
    vp_region_t *region = NULL;
    vp_lanes_t *lanes = NULL;
    vp_error_t error;
    size_t n_bytes;

    ck_assert_msg(vp_lanes_create(&config, &lanes, &error) == VP_OK, "%s", error.text);
    ck_assert(vp_lanes_address(lanes, SHM, &address, &n_bytes, &error) == VP_OK);
    ck_assert_msg(
        vp_lanes_connect(lanes, 1, SHM, SHM, address, n_bytes, 10000, NULL, NULL, &error) == VP_OK,
        "%s", error.text);
    ck_assert_int_eq(
        vp_lanes_connect(lanes, 2, SHM, SHM, address, n_bytes, 10000, NULL, NULL, &error),
        VP_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(error.text, "coll_variopath_max_endpoints"));
    /* The one that is there still serves. */
    ck_assert(vp_lanes_connect(lanes, 1, SHM, SHM, address, n_bytes, 10000, NULL, NULL, &error) ==
              VP_OK);
    ck_assert_int_eq(
        vp_lanes_register(lanes, bytes, sizeof(bytes), VP_REGION_STAGED, &region, &error),
        VP_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(error.text, "coll_variopath_staging_bytes"));
    ck_assert(vp_lanes_register(lanes, bytes, sizeof(bytes), 0, &region, &error) == VP_OK);
    vp_lanes_unregister(lanes, region);
    vp_lanes_close(lanes);
    vp_lanes_destroy(lanes);
}
END_TEST

static Suite *lanes_suite(void)
{
    Suite *suite = suite_create("lanes");
    TCase *tcase = tcase_create("ucx");

    tcase_set_timeout(tcase, 2 * RANKS_SECONDS);
    tcase_add_test(tcase, puts_arrive_over_shared_memory);
    tcase_add_test(tcase, puts_arrive_over_tcp);
    tcase_add_test(tcase, puts_arrive_with_threads);
    tcase_add_test(tcase, a_pair_that_cannot_reach_fails);
    tcase_add_test(tcase, connecting_again_changes_nothing);
    tcase_add_test(tcase, keys_that_do_not_parse_are_refused);
    tcase_add_test(tcase, a_cancelled_put_can_be_tried_again);
    tcase_add_test(tcase, who_answers_the_dead_lives_on);
    tcase_add_test(tcase, a_class_that_ucx_refuses_is_named);
    tcase_add_test(tcase, the_environment_cannot_redirect_a_class);
    tcase_add_test(tcase, versions_are_told);
    tcase_add_test(tcase, budgets_are_kept);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(lanes_suite());
    int n_failed;

    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
