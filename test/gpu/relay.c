/*
 * relay SEND RECEIVE COMMUNICATOR: all nine calls of the alltoall family with buffers of given
 * kinds of memory (gpu.h; rank r takes letter r, modulo the length) on a communicator that is
 * not served: world (whatever refuses it), self, split (halves) or inter (between the halves).
 * Every byte is verified, also those that must stay as they were; persistent requests are
 * started twice. Where a rank's buffers are on a device, its calls must count as staged.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/gpu/gpu.h"
#include "test/mca/cases.h"

/* Persistent collectives are an extension before Open MPI 5. */
#if OMPI_MAJOR_VERSION >= 5
#define ALLTOALL_INIT MPI_Alltoall_init
#define ALLTOALLV_INIT MPI_Alltoallv_init
#define ALLTOALLW_INIT MPI_Alltoallw_init
#else
#include <mpi-ext.h>
#define ALLTOALL_INIT MPIX_Alltoall_init
#define ALLTOALLV_INIT MPIX_Alltoallv_init
#define ALLTOALLW_INIT MPIX_Alltoallw_init
#endif

enum { MAX_PEERS = 64, BLANK = 0xee, UNIFORM = 300, GAP = 5 };

typedef enum form { UNIFORM_FORM, ELEMENTS_FORM, BYTES_FORM } form_t;
typedef enum mode { BLOCKING, NONBLOCKING, PERSISTENT } call_mode_t;

static MPI_Comm comm;
static int world_rank, me, n_peers, is_inter;
static char send_kind, receive_kind;

/* One side; block i is counts[i] bytes at displs[i], gaps between them unless uniform. */
typedef struct side {
    int counts[MAX_PEERS];
    int displs[MAX_PEERS];
    MPI_Datatype types[MAX_PEERS];
    int n_bytes;
    gpu_buffer_t buffer;
} side_t;

static int pair_bytes(form_t form, int from, int to)
{
    return form == UNIFORM_FORM ? UNIFORM : (from * 7 + to * 3 + 1) % 5 * 113;
}

/* Ranks of an inter-communicator's two groups have the same numbers: who sends where still shows.
 */
static unsigned char pattern(int from, int to, int k, int turn)
{
    return (unsigned char)(from * 31 + to * 17 + k * 3 + turn * 101);
}

static void make_side(side_t *side, form_t form, int receiving, char kind)
{
    int gap = form == UNIFORM_FORM ? 0 : GAP, i;

    side->n_bytes = gap;
    for (i = 0; i < n_peers; i++) {
        side->counts[i] = pair_bytes(form, receiving ? i : me, receiving ? me : i);
        side->displs[i] = side->n_bytes;
        side->types[i] = MPI_BYTE;
        side->n_bytes += side->counts[i] + gap;
    }
    gpu_alloc(&side->buffer, kind, (size_t)side->n_bytes);
}

/* What the side holds before a call, or a received one after it. */
static unsigned char *contents(const side_t *side, int receiving, int arrived, int turn)
{
    unsigned char *bytes = malloc((size_t)side->n_bytes);
    int i, k;

    memset(bytes, BLANK, (size_t)side->n_bytes);
    for (i = 0; i < n_peers && (!receiving || arrived); i++) {
        for (k = 0; k < side->counts[i]; k++) {
            bytes[side->displs[i] + k] = pattern(receiving ? i : me, receiving ? me : i, k, turn);
        }
    }
    return bytes;
}

static void put_contents(const side_t *side, int receiving, int turn)
{
    unsigned char *bytes = contents(side, receiving, 0, turn);

    gpu_put(&side->buffer, bytes);
    free(bytes);
}

static int count_wrong(const side_t *side, int turn)
{
    unsigned char *expected = contents(side, 1, 1, turn);
    unsigned char *bytes = malloc((size_t)side->n_bytes);
    int k, wrong = 0;

    gpu_get(&side->buffer, bytes);
    for (k = 0; k < side->n_bytes; k++) {
        wrong += bytes[k] != expected[k];
    }
    free(expected);
    free(bytes);
    return wrong;
}

static int block(form_t form, const side_t *s, const side_t *r)
{
    switch (form) {
    case UNIFORM_FORM:
        return MPI_Alltoall(s->buffer.address, UNIFORM, MPI_BYTE, r->buffer.address, UNIFORM,
                            MPI_BYTE, comm);
    case ELEMENTS_FORM:
        return MPI_Alltoallv(s->buffer.address, s->counts, s->displs, MPI_BYTE, r->buffer.address,
                             r->counts, r->displs, MPI_BYTE, comm);
    default:
        return MPI_Alltoallw(s->buffer.address, s->counts, s->displs, s->types, r->buffer.address,
                             r->counts, r->displs, r->types, comm);
    }
}

static int start(form_t form, const side_t *s, const side_t *r, MPI_Request *request)
{
    switch (form) {
    case UNIFORM_FORM:
        return MPI_Ialltoall(s->buffer.address, UNIFORM, MPI_BYTE, r->buffer.address, UNIFORM,
                             MPI_BYTE, comm, request);
    case ELEMENTS_FORM:
        return MPI_Ialltoallv(s->buffer.address, s->counts, s->displs, MPI_BYTE, r->buffer.address,
                              r->counts, r->displs, MPI_BYTE, comm, request);
    default:
        return MPI_Ialltoallw(s->buffer.address, s->counts, s->displs, s->types, r->buffer.address,
                              r->counts, r->displs, r->types, comm, request);
    }
}

static int create(form_t form, const side_t *s, const side_t *r, MPI_Request *request)
{
    switch (form) {
    case UNIFORM_FORM:
        return ALLTOALL_INIT(s->buffer.address, UNIFORM, MPI_BYTE, r->buffer.address, UNIFORM,
                             MPI_BYTE, comm, MPI_INFO_NULL, request);
    case ELEMENTS_FORM:
        return ALLTOALLV_INIT(s->buffer.address, s->counts, s->displs, MPI_BYTE, r->buffer.address,
                              r->counts, r->displs, MPI_BYTE, comm, MPI_INFO_NULL, request);
    default:
        return ALLTOALLW_INIT(s->buffer.address, s->counts, s->displs, s->types, r->buffer.address,
                              r->counts, r->displs, r->types, comm, MPI_INFO_NULL, request);
    }
}

static int run(form_t form, call_mode_t mode, int turn, const side_t *s, const side_t *r,
               MPI_Request *request)
{
    int code = MPI_SUCCESS;

    put_contents(s, 0, turn);
    put_contents(r, 1, turn);
    switch (mode) {
    case BLOCKING:
        return block(form, s, r);
    case NONBLOCKING:
        code = start(form, s, r, request);
        break;
    default:
        code = *request == MPI_REQUEST_NULL ? create(form, s, r, request) : MPI_SUCCESS;
        if (code == MPI_SUCCESS) {
            code = MPI_Start(request);
        }
    }
    return code == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : code;
}

static int check_calls(form_t form, call_mode_t mode)
{
    int touches = strchr("dam", send_kind) != NULL || strchr("dam", receive_kind) != NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    counter_t staged;
    int turn, touching, bad = 0;
    side_t s, r;

    counter_open(&staged, "coll_variopath_staged");
    make_side(&s, form, 0, send_kind);
    make_side(&r, form, 1, receive_kind);
    for (turn = 0; turn < 2; turn++) {
        bad += check_equal(run(form, mode, turn, &s, &r, &request), MPI_SUCCESS, "the code");
        bad += check_equal(count_wrong(&r, turn), 0, "wrong bytes");
    }
    if (request != MPI_REQUEST_NULL) {
        bad += check_equal(MPI_Request_free(&request), MPI_SUCCESS, "freeing the request");
    }
    gpu_free(&s.buffer);
    gpu_free(&r.buffer);
    (void)MPI_Allreduce(&touches, &touching, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    bad += check_equal(counter_sum(&staged) > 0, touching > 0, "calls were staged");
    return bad;
}

/* On blocks that come and go in the same memory. */
static int in_place(void)
{
    unsigned char *bytes, *expected;
    int n_bytes = n_peers * UNIFORM, i, k, bad;
    gpu_buffer_t buffer;

    if (is_inter) {
        return 0; /* not allowed there */
    }
    bytes = malloc((size_t)n_bytes);
    expected = malloc((size_t)n_bytes);
    for (i = 0; i < n_peers; i++) {
        for (k = 0; k < UNIFORM; k++) {
            bytes[i * UNIFORM + k] = pattern(me, i, k, 7);
            expected[i * UNIFORM + k] = pattern(i, me, k, 7);
        }
    }
    gpu_alloc(&buffer, receive_kind, (size_t)n_bytes);
    gpu_put(&buffer, bytes);
    bad = check_equal(
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer.address, UNIFORM, MPI_BYTE, comm),
        MPI_SUCCESS, "the code in place");
    gpu_get(&buffer, bytes);
    bad += check_equal(memcmp(bytes, expected, (size_t)n_bytes) == 0, 1, "bytes in place");
    gpu_free(&buffer);
    free(bytes);
    free(expected);
    return bad;
}

#define CASE(form, mode)                                                                           \
    static int form##_##mode(void)                                                                 \
    {                                                                                              \
        return check_calls(form##_FORM, mode);                                                     \
    }
CASE(UNIFORM, BLOCKING)
CASE(ELEMENTS, BLOCKING)
CASE(BYTES, BLOCKING)
CASE(UNIFORM, NONBLOCKING)
CASE(ELEMENTS, NONBLOCKING)
CASE(BYTES, NONBLOCKING)
CASE(UNIFORM, PERSISTENT)
CASE(ELEMENTS, PERSISTENT)
CASE(BYTES, PERSISTENT)

/* False: there is no communicator of that name. */
static int make_comm(const char *name)
{
    int n_ranks;
    MPI_Comm half;

    (void)MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    (void)MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &half);
    if (strcmp(name, "world") == 0) {
        comm = MPI_COMM_WORLD;
    } else if (strcmp(name, "self") == 0) {
        comm = MPI_COMM_SELF;
    } else if (strcmp(name, "split") == 0) {
        comm = half;
    } else if (strcmp(name, "inter") == 0) {
        (void)MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - world_rank % 2, 5, &comm);
    } else {
        return 0;
    }
    (void)MPI_Comm_rank(comm, &me);
    (void)MPI_Comm_test_inter(comm, &is_inter);
    (void)(is_inter ? MPI_Comm_remote_size(comm, &n_peers) : MPI_Comm_size(comm, &n_peers));
    return n_peers <= MAX_PEERS;
}

int main(int argc, char **argv)
{
    static const mpi_case_t cases[] = {
        {"alltoall", UNIFORM_BLOCKING},        {"alltoallv", ELEMENTS_BLOCKING},
        {"alltoallw", BYTES_BLOCKING},         {"ialltoall", UNIFORM_NONBLOCKING},
        {"ialltoallv", ELEMENTS_NONBLOCKING},  {"ialltoallw", BYTES_NONBLOCKING},
        {"alltoall_init", UNIFORM_PERSISTENT}, {"alltoallv_init", ELEMENTS_PERSISTENT},
        {"alltoallw_init", BYTES_PERSISTENT},  {"alltoall in place", in_place}};
    const char *why;
    int code, provided;

    (void)MPI_Init(&argc, &argv);
    (void)MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    if (argc < 4 || !make_comm(argv[3])) {
        (void)fprintf(stderr, "usage: relay SEND RECEIVE world|self|split|inter\n");
        (void)MPI_Abort(MPI_COMM_WORLD, 2);
    }
    send_kind = argv[1][world_rank % (int)strlen(argv[1])];
    receive_kind = argv[2][world_rank % (int)strlen(argv[2])];
    why = gpu_open(world_rank, 0);
    if (why != NULL) {
        (void)fprintf(stderr, "rank %d: %s\n", world_rank, why);
        (void)MPI_Abort(MPI_COMM_WORLD, 77);
    }
    code = run_cases(cases, (int)(sizeof(cases) / sizeof(cases[0])), 0, NULL);
    (void)MPI_T_finalize();
    (void)MPI_Finalize();
    return code;
}
