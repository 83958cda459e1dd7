/*
 * Every shape of buffer that MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw may
 * be given: datatypes with and without gaps on either side, in place, zero
 * sizes, displacements beyond 4 GiB. Usage: layouts all|carried|passed|any [PART OF
 * A CASE'S NAME].
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "test/mca/cases.h"
#include "test/mca/exchange.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int world_rank;
static int world_size;
static int all_carried;

static int some(int source, int destination, int seed)
{
    return (source * 7 + destination * 3 + seed) % 5;
}

static int symmetric_mod3(int source, int destination, int seed)
{
    return (source + destination + seed) % 3;
}

/* Nothing for two of the ranks, a great deal for the others. */
static int skewed(int source, int destination, int seed)
{
    return destination < 2 ? 0 : seed + source;
}

/* A rank that neither sends nor receives, in every second call. */
static int idle_rank(int source, int destination, int seed)
{
    int idle = seed % 2 == 0 && (source == 3 || destination == 3);

    return idle ? 0 : 1 + (source + destination) % 3;
}

/* One rank has nothing at all, another one nothing for itself only. */
static int nothing_for_some(int source, int destination, int seed)
{
    int idle = seed % 4, selfless = (seed + 1) % 4;

    if (source == idle || destination == idle || (source == selfless && destination == selfless)) {
        return 0;
    }
    return 1 + (source + destination) % 4 * 100;
}

static MPI_Datatype committed(MPI_Datatype type)
{
    (void)MPI_Type_commit(&type);
    return type;
}

static MPI_Datatype resized(MPI_Datatype type, MPI_Aint lower_bound, MPI_Aint extent)
{
    MPI_Datatype result;

    (void)MPI_Type_create_resized(type, lower_bound, extent, &result);
    (void)MPI_Type_free(&type);
    return committed(result);
}

static MPI_Datatype make_contiguous(void)
{
    MPI_Datatype type;

    (void)MPI_Type_contiguous(6, MPI_SHORT, &type);
    return committed(type);
}

/* 12 bytes of data in 24. */
static MPI_Datatype make_vector(void)
{
    MPI_Datatype type;

    (void)MPI_Type_vector(3, 2, 4, MPI_SHORT, &type);
    return resized(type, 0, 24);
}

/* The same payload, falling in memory. */
static MPI_Datatype make_descending(void)
{
    const int lengths[3] = {2, 2, 2};
    const int displs[3] = {8, 4, 0};
    MPI_Datatype type;

    (void)MPI_Type_indexed(3, lengths, displs, MPI_SHORT, &type);
    return committed(type);
}

static MPI_Datatype make_negative(void)
{
    MPI_Datatype type;

    (void)MPI_Type_contiguous(6, MPI_SHORT, &type);
    return resized(type, -16, 40);
}

/* Contiguous data that is smaller than its extent: only a single one has no gap. */
static MPI_Datatype make_padded(void)
{
    MPI_Datatype type;

    (void)MPI_Type_contiguous(6, MPI_SHORT, &type);
    return resized(type, 0, 32);
}

/* Elements that interleave with each other: the extent is smaller than the data's span. */
static MPI_Datatype make_interleaved(void)
{
    MPI_Datatype type;

    (void)MPI_Type_vector(6, 1, 8, MPI_SHORT, &type);
    return resized(type, 0, 2);
}

static MPI_Datatype (*const makers[])(void) = {make_contiguous, make_vector, make_descending,
                                               make_negative, make_padded};
enum { N_MAKERS = sizeof(makers) / sizeof(makers[0]) };

/* All pairs of layouts for all three collectives; with `shift` ranks differ in theirs. */
static int all_pairs(exchange_mode_t mode, int in_place, int shift)
{
    MPI_Datatype types[N_MAKERS];
    int n_wrong = 0;
    int i, k, kind;

    for (i = 0; i < N_MAKERS; i++) {
        types[i] = makers[i]();
    }
    for (i = 0; i < N_MAKERS * N_MAKERS; i++) {
        for (kind = EXCHANGE_ALLTOALL; kind <= EXCHANGE_ALLTOALLW; kind++) {
            const exchange_t call = {
                .kind = (exchange_kind_t)kind,
                .mode = mode,
                .comm = MPI_COMM_WORLD,
                .in_place = in_place,
                .send_type = types[(i + shift * world_rank) % N_MAKERS],
                .receive_type = types[(i / N_MAKERS + shift * world_rank) % N_MAKERS],
                .ratio = 1,
                .descending = i % 2,
                .gap = i % 3,
                .count = some,
                .seed = i,
            };

            n_wrong += exchange_run(&call);
        }
    }
    for (k = 0; k < N_MAKERS; k++) {
        (void)MPI_Type_free(&types[k]);
    }
    return n_wrong;
}

static int case_pairs(void)
{
    return all_pairs(EXCHANGE_BLOCKING, 0, 0);
}

static int case_pairs_differ(void)
{
    return all_pairs(EXCHANGE_BLOCKING, 0, 1);
}

static int case_in_place(void)
{
    return all_pairs(EXCHANGE_BLOCKING, 1, 0);
}

static int case_in_place_differ(void)
{
    return all_pairs(EXCHANGE_BLOCKING, 1, 1);
}

static int case_nonblocking(void)
{
    return all_pairs(EXCHANGE_NONBLOCKING, 0, 0);
}

static int case_nonblocking_differ(void)
{
    return all_pairs(EXCHANGE_NONBLOCKING, 0, 1);
}

static int case_nonblocking_in_place(void)
{
    return all_pairs(EXCHANGE_NONBLOCKING, 1, 1);
}

static int case_interleaved(void)
{
    MPI_Datatype type = make_interleaved();
    exchange_t call = {.kind = EXCHANGE_ALLTOALLV,
                       .comm = MPI_COMM_WORLD,
                       .send_type = type,
                       .receive_type = MPI_SHORT,
                       .ratio = 6,
                       .gap = 48,
                       .count = some};
    int n_wrong = exchange_run(&call);

    (void)MPI_Type_free(&type);
    return n_wrong;
}

/* struct {int; char} with a negative lower bound, sent as it is, received as bytes. */
static int case_struct_to_bytes(void)
{
    const int lengths[2] = {1, 1};
    const MPI_Aint displs[2] = {0, sizeof(int)};
    const MPI_Datatype members[2] = {MPI_INT, MPI_CHAR};
    const int sizes[] = {1, 4096 / 5 + 1, 2 * (4096 / 5) - 1, 65536 / 5 + 1};
    MPI_Datatype type;
    int n_wrong = 0;
    size_t i;

    (void)MPI_Type_create_struct(2, lengths, displs, members, &type);
    type = resized(type, -16, 32);
    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        exchange_t call = {.kind = EXCHANGE_ALLTOALLV,
                           .comm = MPI_COMM_WORLD,
                           .send_type = type,
                           .receive_type = MPI_BYTE,
                           .ratio = 5,
                           .count = skewed,
                           .seed = sizes[i]};

        n_wrong += exchange_run(&call);
        call.in_place = 1;
        call.receive_type = type;
        n_wrong += exchange_run(&call);
    }
    (void)MPI_Type_free(&type);
    return n_wrong;
}

/* Extent 24, size 8, descending displacements with gaps of one element. */
static int case_in_place_descending(void)
{
    MPI_Datatype type;
    int n_wrong = 0;
    int seed;

    (void)MPI_Type_contiguous(2, MPI_INT, &type);
    type = resized(type, 0, 24);
    for (seed = 0; seed < 3; seed++) {
        const exchange_t call = {.kind = EXCHANGE_ALLTOALLV,
                                 .comm = MPI_COMM_WORLD,
                                 .in_place = 1,
                                 .receive_type = type,
                                 .descending = 1,
                                 .gap = 1,
                                 .count = symmetric_mod3,
                                 .seed = seed};

        n_wrong += exchange_run(&call);
    }
    (void)MPI_Type_free(&type);
    return n_wrong;
}

/* Who has nothing to do must not leave before the others have met him: 4.1.4's own exchange hangs.
 */
static int case_in_place_idle(void)
{
    int n_wrong = 0;
    int seed, kind;

    if (!all_carried) {
        return 0;
    }
    for (seed = 0; seed < 8; seed++) {
        for (kind = EXCHANGE_ALLTOALLV; kind <= EXCHANGE_ALLTOALLW; kind++) {
            const exchange_t call = {.kind = (exchange_kind_t)kind,
                                     .mode =
                                         seed / 4 == 0 ? EXCHANGE_BLOCKING : EXCHANGE_NONBLOCKING,
                                     .comm = MPI_COMM_WORLD,
                                     .in_place = 1,
                                     .receive_type = MPI_INT,
                                     .count = nothing_for_some,
                                     .seed = seed};

            n_wrong += exchange_run(&call);
        }
        (void)MPI_Barrier(MPI_COMM_WORLD);
    }
    return n_wrong;
}

/* Sub-communicators of every size, in place and not. */
static int case_sizes(void)
{
    int n_wrong = 0;
    int n;

    for (n = 1; n <= world_size; n++) {
        exchange_t call = {.send_type = MPI_INT, .receive_type = MPI_INT, .ratio = 1, .seed = n};
        int kind;

        (void)MPI_Comm_split(MPI_COMM_WORLD, world_rank < n ? 0 : MPI_UNDEFINED, 0, &call.comm);
        if (call.comm == MPI_COMM_NULL) {
            continue;
        }
        for (kind = EXCHANGE_ALLTOALL; kind <= EXCHANGE_ALLTOALLW; kind++) {
            call.kind = (exchange_kind_t)kind;
            call.count = some;
            n_wrong += exchange_run(&call);
            call.in_place = 1;
            n_wrong += exchange_run(&call);
            call.in_place = 0;
        }
        (void)MPI_Comm_free(&call.comm);
    }
    return n_wrong;
}

/* Ranks 0 and 1 count three elements of no size, the others no element of MPI_INT. */
static int case_zero_size(void)
{
    int *counts = calloc((size_t)world_size, sizeof(*counts));
    int *displs = calloc((size_t)world_size, sizeof(*displs));
    MPI_Datatype nothing;
    char byte = 'x', got = 0;
    int i, code;

    (void)MPI_Type_contiguous(0, MPI_INT, &nothing);
    (void)MPI_Type_commit(&nothing);
    for (i = 0; i < world_size; i++) {
        counts[i] = world_rank < 2 ? 3 : 0;
    }
    code = MPI_Alltoallv(NULL, counts, displs, world_rank < 2 ? nothing : MPI_INT, NULL, counts,
                         displs, world_rank < 2 ? nothing : MPI_INT, MPI_COMM_WORLD);
    memset(counts, 0, (size_t)world_size * sizeof(*counts));
    counts[world_rank == 0 ? 1 : 0] = world_rank < 2;
    if (code == MPI_SUCCESS && world_rank == 0) {
        code = MPI_Alltoallv(&byte, counts, displs, MPI_BYTE, NULL, displs, displs, MPI_BYTE,
                             MPI_COMM_WORLD);
        got = 'x';
    } else if (code == MPI_SUCCESS) {
        code = MPI_Alltoallv(NULL, displs, displs, MPI_BYTE, &got, counts, displs, MPI_BYTE,
                             MPI_COMM_WORLD);
        got = world_rank == 1 ? got : 'x';
    }
    (void)MPI_Type_free(&nothing);
    free(counts);
    free(displs);
    return (code != MPI_SUCCESS) + check_equal(got, 'x', "the one byte");
}

static int case_idle_rank(void)
{
    int n_wrong = 0;
    int round;

    for (round = 0; round < 50; round++) {
        exchange_t call = {.kind = EXCHANGE_ALLTOALLV,
                           .comm = MPI_COMM_WORLD,
                           .send_type = MPI_INT,
                           .receive_type = MPI_INT,
                           .ratio = 1,
                           .count = idle_rank,
                           .seed = round};
        int one = 1, sum = 0;

        n_wrong += exchange_run(&call);
        (void)MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        n_wrong += check_equal(sum, world_size, "the sum");
        call.mode = EXCHANGE_NONBLOCKING;
        n_wrong += exchange_run(&call);
    }
    return n_wrong;
}

/* Blocks a gigabyte apart in a sparse mapping: displacement times extent passes 2^31. */
static int case_far_apart(void)
{
    const size_t mebi = (size_t)1 << 20, span = ((size_t)4096 + 2) * mebi;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char *sent = mmap(NULL, span, PROT_READ | PROT_WRITE, flags, -1, 0);
    char *received = mmap(NULL, span, PROT_READ | PROT_WRITE, flags, -1, 0);
    int next = (world_rank + 1) % world_size, last = (world_rank + world_size - 1) % world_size;
    int *counts = calloc(4 * (size_t)world_size, sizeof(*counts));
    MPI_Datatype block;
    int n_wrong = 0;

    if (sent == MAP_FAILED || received == MAP_FAILED || counts == NULL) {
        return check_equal(0, 1, "a sparse mapping");
    }
    (void)MPI_Type_contiguous((int)mebi, MPI_BYTE, &block);
    (void)MPI_Type_commit(&block);
    counts[next] = counts[2 * world_size + last] = 2;
    counts[world_size + next] = counts[3 * world_size + last] = 4096;
    memset(sent + 4096 * mebi, world_rank + 1, 2 * mebi);
    n_wrong +=
        MPI_Alltoallv(sent, counts, counts + world_size, block, received, counts + 2 * world_size,
                      counts + 3 * world_size, block, MPI_COMM_WORLD) != MPI_SUCCESS;
    n_wrong += check_equal(received[4096 * mebi], last + 1, "the first far byte");
    n_wrong += check_equal(received[4098 * mebi - 1], last + 1, "the last far byte");
    (void)MPI_Type_free(&block);
    (void)munmap(sent, span);
    (void)munmap(received, span);
    free(counts);
    return n_wrong;
}

int main(int argc, char **argv)
{
    static const mpi_case_t cases[] = {
        {"all pairs of layouts", case_pairs},
        {"all pairs of layouts, other ones on each rank", case_pairs_differ},
        {"in place, all layouts", case_in_place},
        {"in place, other layouts on each rank", case_in_place_differ},
        {"nonblocking, all pairs of layouts", case_nonblocking},
        {"nonblocking, other layouts on each rank", case_nonblocking_differ},
        {"nonblocking in place, other layouts on each rank", case_nonblocking_in_place},
        {"elements that interleave", case_interleaved},
        {"struct with lower bound -16, received as bytes", case_struct_to_bytes},
        {"in place, extent 24, size 8, descending", case_in_place_descending},
        {"in place, ranks with nothing to exchange", case_in_place_idle},
        {"communicators of every size", case_sizes},
        {"types without size against counts of zero", case_zero_size},
        {"a rank that is idle in every second call", case_idle_rank},
        {"blocks beyond 4 GiB", case_far_apart},
    };
    int provided, code;

    (void)MPI_Init(&argc, &argv);
    (void)MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    all_carried = argc > 1 && carried_argument(argv[1]) == 2;
    code = run_cases(cases, (int)(sizeof(cases) / sizeof(cases[0])),
                     argc > 1 ? carried_argument(argv[1]) : -1, argc > 2 ? argv[2] : NULL);
    (void)MPI_T_finalize();
    (void)MPI_Finalize();
    return code;
}
