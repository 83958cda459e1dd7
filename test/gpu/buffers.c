/*
 * buffers SEND RECEIVE [staged|carried|bytes|any|fault|repeat|again] [own]
 *
 * Alltoallv and alltoall with buffers of given kinds of memory (gpu.h): rank r
 * takes letter r, modulo the length, of SEND and RECEIVE. Every byte is verified,
 * also those that must stay as they were.
 *   staged  (default) every call must count as staged
 *   carried calls must be carried by lanes, but those whose layout lanes do not take
 *   bytes   only the bytes count
 *   any     the same, and driver queries are counted
 *   fault   calls may fail: then with an error, on every rank that has not the right bytes
 *   repeat  allocate, call, free, 500 times: the process must not grow
 *   again   calls on the same buffers: from the second on no keys travel, nothing is registered
 * own: a context of its own instead of the device's primary one.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/gpu/gpu.h"
#include "test/mca/cases.h"

enum { MAX_RANKS = 64, BLANK = 0xee, GAP = 7, N_REPEAT = 500 };

static int rank, n_ranks;
static char send_kind, receive_kind;

/* One call's layout: block i of `counts[i]` bytes at displs[i], gaps between them. */
typedef struct layout {
    int counts[MAX_RANKS];
    int displs[MAX_RANKS];
    int n_bytes;
} layout_t;

/* Sizes differ by pair and are zero for some. */
static int pair_bytes(int from, int to, int turn)
{
    int n = (from * 7 + to * 13 + turn * 5) % 11;

    return n < 2 ? 0 : n * n * 37 + 1;
}

static unsigned char pattern(int from, int to, int k, int turn)
{
    return (unsigned char)(from * 31 + to * 17 + k * 3 + (k >> 8) + turn * 101);
}

/* A side without a buffer has no bytes. */
static int has_bytes(int of, const char *kinds)
{
    return kinds[of % (int)strlen(kinds)] != 'n';
}

static const char *send_kinds, *receive_kinds;

static void make_layout(layout_t *layout, int receiving, int turn)
{
    int i;

    layout->n_bytes = GAP;
    for (i = 0; i < n_ranks; i++) {
        int from = receiving ? i : rank, to = receiving ? rank : i;
        int carries = has_bytes(from, send_kinds) && has_bytes(to, receive_kinds);

        layout->counts[i] = carries ? pair_bytes(from, to, turn) : 0;
        layout->displs[i] = layout->n_bytes;
        layout->n_bytes += layout->counts[i] + (i % 2 == 0 ? GAP : 0);
    }
    layout->n_bytes += GAP;
}

static void fill_send(const gpu_buffer_t *buffer, const layout_t *layout, int turn)
{
    unsigned char *bytes = malloc((size_t)layout->n_bytes);
    int i, k;

    memset(bytes, BLANK, (size_t)layout->n_bytes);
    for (i = 0; i < n_ranks; i++) {
        for (k = 0; k < layout->counts[i]; k++) {
            bytes[layout->displs[i] + k] = pattern(rank, i, k, turn);
        }
    }
    gpu_put(buffer, bytes);
    free(bytes);
}

static void blank(const gpu_buffer_t *buffer)
{
    unsigned char *bytes = malloc(buffer->n_bytes);

    memset(bytes, BLANK, buffer->n_bytes);
    gpu_put(buffer, bytes);
    free(bytes);
}

/* Bytes that differ from what they should be: blocks arrived, the rest is untouched. */
static int count_wrong(const gpu_buffer_t *buffer, const layout_t *layout, int turn)
{
    unsigned char *bytes = malloc((size_t)layout->n_bytes);
    unsigned char *expected = malloc((size_t)layout->n_bytes);
    int i, k, wrong = 0;

    if (buffer->kind != 'n') {
        memset(expected, BLANK, (size_t)layout->n_bytes);
        for (i = 0; i < n_ranks; i++) {
            for (k = 0; k < layout->counts[i]; k++) {
                expected[layout->displs[i] + k] = pattern(i, rank, k, turn);
            }
        }
        gpu_get(buffer, bytes);
        for (k = 0; k < layout->n_bytes; k++) {
            wrong += bytes[k] != expected[k];
        }
    }
    free(bytes);
    free(expected);
    return wrong;
}

/* Returns the MPI code; *wrong_p: wrong bytes after a call that claims success. */
static int call_once(int turn, int *wrong_p)
{
    layout_t out, in;
    gpu_buffer_t send, receive;
    int code;

    make_layout(&out, 0, turn);
    make_layout(&in, 1, turn);
    gpu_alloc(&send, send_kind, (size_t)out.n_bytes);
    gpu_alloc(&receive, receive_kind, (size_t)in.n_bytes);
    fill_send(&send, &out, turn);
    blank(&receive);
    code = MPI_Alltoallv(send.address, out.counts, out.displs, MPI_BYTE, receive.address, in.counts,
                         in.displs, MPI_BYTE, MPI_COMM_WORLD);
    *wrong_p = code == MPI_SUCCESS ? count_wrong(&receive, &in, turn) : 0;
    if (code == MPI_SUCCESS) {
        gpu_free(&send);
        gpu_free(&receive);
    }
    return code;
}

static int alltoallv_case(void)
{
    int turn, wrong, bad = 0;

    for (turn = 0; turn < 4; turn++) {
        bad += check_equal(call_once(turn, &wrong), MPI_SUCCESS, "the code of alltoallv");
        bad += check_equal(wrong, 0, "wrong bytes");
    }
    return bad;
}

static int alltoall_case(void)
{
    enum { COUNT = 1000 };
    int everywhere = NULL == strchr(send_kinds, 'n') && NULL == strchr(receive_kinds, 'n');
    layout_t layout = {.n_bytes = n_ranks * COUNT};
    gpu_buffer_t send, receive;
    int i, bad;

    if (!everywhere) {
        return 0; /* all ranks have the same count here */
    }
    for (i = 0; i < n_ranks; i++) {
        layout.counts[i] = COUNT;
        layout.displs[i] = i * COUNT;
    }
    gpu_alloc(&send, send_kind, (size_t)layout.n_bytes);
    gpu_alloc(&receive, receive_kind, (size_t)layout.n_bytes);
    fill_send(&send, &layout, 9);
    blank(&receive);
    bad = check_equal(MPI_Alltoall(send.address, COUNT, MPI_BYTE, receive.address, COUNT, MPI_BYTE,
                                   MPI_COMM_WORLD),
                      MPI_SUCCESS, "the code of alltoall");
    bad += check_equal(count_wrong(&receive, &layout, 9), 0, "wrong bytes");
    gpu_free(&send);
    gpu_free(&receive);
    return bad;
}

/* In place, what goes to a rank lies where what comes from it will be. */
static int in_place_case(void)
{
    enum { COUNT = 700 };
    layout_t layout = {.n_bytes = GAP};
    gpu_buffer_t buffer;
    int i, bad;

    for (i = 0; i < n_ranks; i++) {
        layout.counts[i] =
            has_bytes(rank, receive_kinds) && has_bytes(i, receive_kinds) ? COUNT : 0;
        layout.displs[i] = layout.n_bytes;
        layout.n_bytes += COUNT + GAP;
    }
    gpu_alloc(&buffer, receive_kind, (size_t)layout.n_bytes);
    fill_send(&buffer, &layout, 5);
    bad = check_equal(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, buffer.address,
                                    layout.counts, layout.displs, MPI_BYTE, MPI_COMM_WORLD),
                      MPI_SUCCESS, "the code of an in-place alltoallv");
    bad += check_equal(count_wrong(&buffer, &layout, 5), 0, "wrong bytes");
    gpu_free(&buffer);
    return bad;
}

/* Elements of three pairs of bytes, each followed by three that must stay. */
static int gaps_case(void)
{
    enum {
        COUNT = 50,
        BLOCKS = 3,
        LENGTH = 2,
        STRIDE = 5,
        EXTENT = (BLOCKS - 1) * STRIDE + LENGTH
    };
    int everywhere = NULL == strchr(send_kinds, 'n') && NULL == strchr(receive_kinds, 'n');
    size_t n_bytes = (size_t)n_ranks * COUNT * EXTENT;
    unsigned char *bytes = malloc(n_bytes);
    gpu_buffer_t send, receive;
    MPI_Datatype type;
    size_t k;
    int bad, wrong = 0;

    if (!everywhere) {
        free(bytes);
        return 0;
    }
    (void)MPI_Type_vector(BLOCKS, LENGTH, STRIDE, MPI_BYTE, &type);
    (void)MPI_Type_commit(&type);
    gpu_alloc(&send, send_kind, n_bytes);
    gpu_alloc(&receive, receive_kind, n_bytes);
    for (k = 0; k < n_bytes; k++) {
        int to = (int)(k / (COUNT * EXTENT));

        bytes[k] = pattern(rank, to, (int)(k % (COUNT * EXTENT)), 3);
    }
    gpu_put(&send, bytes);
    blank(&receive);
    bad = check_equal(
        MPI_Alltoall(send.address, COUNT, type, receive.address, COUNT, type, MPI_COMM_WORLD),
        MPI_SUCCESS, "the code of alltoall with gaps");
    gpu_get(&receive, bytes);
    for (k = 0; k < n_bytes; k++) {
        int from = (int)(k / (COUNT * EXTENT)), at = (int)(k % (COUNT * EXTENT));
        int inside = at % EXTENT % STRIDE < LENGTH;

        wrong += bytes[k] != (inside ? pattern(from, rank, at, 3) : BLANK);
    }
    bad += check_equal(wrong, 0, "wrong bytes");
    gpu_free(&send);
    gpu_free(&receive);
    (void)MPI_Type_free(&type);
    free(bytes);
    return bad;
}

/* Another thread of an application may have no context, or another one. */
static int no_context_case(void)
{
    void *context = gpu_context();
    layout_t out, in;
    gpu_buffer_t send, receive;
    int bad;

    make_layout(&out, 0, 2);
    make_layout(&in, 1, 2);
    gpu_alloc(&send, send_kind, (size_t)out.n_bytes);
    gpu_alloc(&receive, receive_kind, (size_t)in.n_bytes);
    fill_send(&send, &out, 2);
    blank(&receive);
    gpu_set_context(NULL);
    bad = check_equal(MPI_Alltoallv(send.address, out.counts, out.displs, MPI_BYTE, receive.address,
                                    in.counts, in.displs, MPI_BYTE, MPI_COMM_WORLD),
                      MPI_SUCCESS, "the code without a current context");
    bad += check_equal(gpu_context() == NULL, 1, "no current context afterwards");
    gpu_set_context(context);
    bad += check_equal(count_wrong(&receive, &in, 2), 0, "wrong bytes");
    gpu_free(&send);
    gpu_free(&receive);
    return bad;
}

static int queries_case(void)
{
    long long before = gpu_calls("cuPointerGetAttributes"), single;
    int wrong, bad;

    single = gpu_calls("cuPointerGetAttribute");
    bad = check_equal(call_once(6, &wrong), MPI_SUCCESS, "the code of alltoallv");
    if (before < 0) {
        return bad;
    }
    before = gpu_calls("cuPointerGetAttributes") - before;
    bad += check_equal(before <= 2, 1, "at most two queries of the driver");
    return bad + check_equal(gpu_calls("cuPointerGetAttribute") - single, 0, "single queries");
}

/* Kilobytes of the process's status, "VmRSS:" and the like; number of its mappings for NULL. */
static long status_of(const char *name)
{
    FILE *file = fopen(name == NULL ? "/proc/self/maps" : "/proc/self/status", "r");
    char line[512];
    long value = 0;

    while (file != NULL && fgets(line, (int)sizeof(line), file) != NULL) {
        if (name == NULL) {
            value++;
        } else if (strncmp(line, name, strlen(name)) == 0) {
            value = atol(line + strlen(name));
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return value;
}

/* The first calls fill caches; from then on nothing may grow. */
static int repeat_case(void)
{
    static const char *const names[] = {"VmRSS:", "VmSize:", NULL};
    static const long limits[] = {2 << 10, 8 << 10, 24};
    long before[3] = {0};
    int turn, wrong, i, bad = 0;

    for (turn = 0; turn < N_REPEAT && bad == 0; turn++) {
        bad += check_equal(call_once(turn, &wrong), MPI_SUCCESS, "the code of alltoallv");
        bad += check_equal(wrong, 0, "wrong bytes");
        for (i = 0; i < 3 && turn == N_REPEAT / 5; i++) {
            before[i] = status_of(names[i]);
        }
    }
    for (i = 0; i < 3; i++) {
        long grown = status_of(names[i]) - before[i];

        if (grown >= limits[i]) {
            (void)fprintf(stderr, "rank %d: %s grew by %ld\n", rank,
                          names[i] == NULL ? "number of mappings" : names[i], grown);
        }
        bad += grown >= limits[i];
    }
    return bad;
}

/* Driver queries so far, without the one that UCX's CUDA IPC makes for each copy. */
static long long count_queries(void)
{
    static const char *const queries[] = {"cuPointerGetAttributes", "cuPointerGetAttribute",
                                          "cuMemGetAddressRange_v2", "cuIpcGetMemHandle"};
    long long n = -gpu_calls("cuMemcpyDtoDAsync_v2");
    size_t i;

    for (i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
        n += gpu_calls(queries[i]);
    }
    return n;
}

/* What calls on the same buffers cost beside the bytes, from the second one on. */
static int again_case(void)
{
    enum { CALLS = 6 };
    counter_t keys = {0}, registrations = {0};
    layout_t out, in;
    gpu_buffer_t send, receive;
    long long asked = 0;
    int turn, bad = 0;

    make_layout(&out, 0, 4);
    make_layout(&in, 1, 4);
    gpu_alloc(&send, send_kind, (size_t)out.n_bytes);
    gpu_alloc(&receive, receive_kind, (size_t)in.n_bytes);
    fill_send(&send, &out, 4);
    for (turn = 0; turn < CALLS; turn++) {
        blank(&receive);
        if (turn == 1) {
            counter_open(&keys, "coll_variopath_key_exchanges");
            counter_open(&registrations, "coll_variopath_registrations");
            asked = -count_queries();
        }
        bad += check_equal(MPI_Alltoallv(send.address, out.counts, out.displs, MPI_BYTE,
                                         receive.address, in.counts, in.displs, MPI_BYTE,
                                         MPI_COMM_WORLD),
                           MPI_SUCCESS, "the code of alltoallv");
        asked += turn == CALLS - 1 ? count_queries() : 0;
        bad += check_equal(count_wrong(&receive, &in, 4), 0, "wrong bytes");
    }
    bad += check_equal(counter_sum(&keys), 0, "key exchanges");
    bad += check_equal(counter_sum(&registrations), 0, "registrations");
    bad += check_equal(asked <= 2LL * (CALLS - 1), 1, "at most two driver queries in a call");
    gpu_free(&send);
    gpu_free(&receive);
    return bad;
}

/* A rank that claims success has the right bytes. After a failure the device may be of no use. */
static int fault_case(void)
{
    int turn, wrong, failed, bad = 0, sum = 0;

    (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (turn = 0; turn < 3 && sum == 0; turn++) {
        failed = call_once(turn, &wrong) != MPI_SUCCESS;
        bad += check_equal(wrong, 0, "wrong bytes after success");
        (void)MPI_Allreduce(&failed, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        (void)printf("calls that failed, summed over ranks: %d\n", sum);
    }
    return bad;
}

static int run_counted(const mpi_case_t *cases, int n_cases, int carried_expected, int must_stage)
{
    counter_t staged;
    long long sum;
    int failed;

    counter_open(&staged, "coll_variopath_staged");
    failed = run_cases(cases, n_cases, carried_expected, NULL);
    sum = counter_sum(&staged);
    if (rank == 0) {
        (void)printf("calls staged, summed over ranks: %lld\n", sum);
    }
    return failed || (must_stage && check_equal(sum > 0, 1, "calls were staged"));
}

int main(int argc, char **argv)
{
    static const mpi_case_t all[] = {
        {"alltoallv, blocks with gaps between them", alltoallv_case},
        {"alltoall", alltoall_case},
        {"alltoallv in place", in_place_case},
        {"a datatype with gaps", gaps_case},
        {"no current context", no_context_case},
        {"at most two driver queries in a call", queries_case},
    };
    static const mpi_case_t repeat[] = {{"allocate, call, free", repeat_case}};
    static const mpi_case_t again[] = {{"calls on the same buffers", again_case}};
    static const mpi_case_t fault[] = {{"right bytes or an error", fault_case}};
    const char *mode = argc > 3 ? argv[3] : "staged";
    const char *why;
    int code, provided;

    (void)MPI_Init(&argc, &argv);
    (void)MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (argc < 3 || n_ranks > MAX_RANKS) {
        (void)fprintf(stderr, "usage: buffers SEND RECEIVE MODE [own]\n");
        (void)MPI_Abort(MPI_COMM_WORLD, 2);
    }
    send_kinds = argv[1];
    receive_kinds = argv[2];
    send_kind = send_kinds[rank % (int)strlen(send_kinds)];
    receive_kind = receive_kinds[rank % (int)strlen(receive_kinds)];
    why = gpu_open(rank, argc > 4);
    if (why != NULL) {
        (void)fprintf(stderr, "rank %d: %s\n", rank, why);
        (void)MPI_Abort(MPI_COMM_WORLD, 77);
    }
    if (strcmp(mode, "repeat") == 0) {
        code = run_cases(repeat, 1, -1, NULL);
    } else if (strcmp(mode, "again") == 0) {
        code = run_cases(again, 1, 2, NULL);
    } else if (strcmp(mode, "fault") == 0) {
        code = run_cases(fault, 1, -1, NULL);
    } else if (strcmp(mode, "carried") == 0 || strcmp(mode, "bytes") == 0) {
        /* Without the last one: UCX asks the driver too, when it registers memory. */
        code =
            run_counted(all, (int)(sizeof(all) / sizeof(all[0])) - 1, mode[0] == 'c' ? 1 : -1, 0);
    } else if (strcmp(mode, "any") == 0) {
        code = run_cases(all, (int)(sizeof(all) / sizeof(all[0])), -1, NULL);
    } else {
        code = run_counted(all, (int)(sizeof(all) / sizeof(all[0])), 0, 1);
    }
    (void)MPI_T_finalize();
    (void)MPI_Finalize();
    return code;
}
