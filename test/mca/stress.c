/*
 * Random calls: stress SEED CALLS [device]. Two threads per rank make calls of the
 * MPI_Alltoall family, blocking or several at once, on communicators of random
 * members that come and go, with random counts, layouts, in place or not, each
 * against computed data. Everything is drawn from the seed alike on all ranks.
 * CALLS counts each call once, however many ranks take part. `device`: half of
 * the buffers are in device memory.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "examples/device_memory.h"
#include "test/mca/cases.h"
#include "test/mca/exchange.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_THREADS = 2, N_COMMS = 5, N_LAYOUTS = 7, MAX_PENDING = 4, CALLS_PER_ROUND = 100 };

static int world_rank, world_size;
static int with_devices;

/* SplitMix64: the same numbers wherever it starts from the same state. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int below(uint64_t *state, int n)
{
    return (int)(draw(state) % (uint64_t)n);
}

static unsigned mix(int source, int destination, int seed)
{
    uint64_t state = ((uint64_t)(unsigned)seed << 20) ^ ((uint64_t)(unsigned)source << 10) ^
                     (unsigned)destination;

    return (unsigned)draw(&state);
}

static int few(int source, int destination, int seed)
{
    return (int)(mix(source, destination, seed) % 6);
}

static int sparse(int source, int destination, int seed)
{
    unsigned n = mix(source, destination, seed);

    return n % 10 < 7 ? 0 : (int)(n >> 8) % 700;
}

static int one_sender(int source, int destination, int seed)
{
    return source == seed % 3 ? few(source, destination, seed) : 0;
}

static int one_receiver(int source, int destination, int seed)
{
    return destination == seed % 3 ? sparse(source, destination, seed) : 0;
}

static int nothing(int source, int destination, int seed)
{
    (void)source;
    (void)destination;
    (void)seed;
    return 0;
}

/* Sizes around a power of two, up to 192 KiB. */
static int skewed(int source, int destination, int seed)
{
    unsigned n = mix(source, destination, seed);

    return n % 4 == 0 ? (1 << n / 4 % 15) - 1 + (int)(n >> 10 & 1) : 0;
}

static int (*const demands[])(int, int, int) = {few,          few,     few,    sparse, one_sender,
                                                one_receiver, nothing, skewed, sparse};
enum { N_DEMANDS = sizeof(demands) / sizeof(demands[0]) };

static MPI_Datatype committed(MPI_Datatype type, MPI_Aint lower_bound, MPI_Aint extent)
{
    MPI_Datatype result;

    (void)MPI_Type_create_resized(type, lower_bound, extent, &result);
    (void)MPI_Type_commit(&result);
    if (type != MPI_SHORT) {
        (void)MPI_Type_free(&type);
    }
    return result;
}

/* Six shorts, except the last one: one. */
static void make_layouts(MPI_Datatype *layouts)
{
    const int lengths[3] = {2, 2, 2}, falling[3] = {8, 4, 0}, parts[2] = {2, 4};
    const MPI_Aint displs[2] = {4, 12};
    const MPI_Datatype shorts[2] = {MPI_SHORT, MPI_SHORT};
    MPI_Datatype type;

    (void)MPI_Type_contiguous(6, MPI_SHORT, &type);
    layouts[0] = committed(type, 0, 12);
    (void)MPI_Type_vector(3, 2, 4, MPI_SHORT, &type);
    layouts[1] = committed(type, 0, 24);
    (void)MPI_Type_indexed(3, lengths, falling, MPI_SHORT, &type);
    layouts[2] = committed(type, 0, 20);
    (void)MPI_Type_contiguous(6, MPI_SHORT, &type);
    layouts[3] = committed(type, -16, 40);
    (void)MPI_Type_contiguous(6, MPI_SHORT, &type);
    layouts[4] = committed(type, 0, 32);
    (void)MPI_Type_create_struct(2, parts, displs, shorts, &type);
    layouts[5] = committed(type, -4, 28);
    layouts[6] = committed(MPI_SHORT, 0, 2);
}

static const exchange_memory_t device = {
    .allocate = device_allocate,
    .release = device_free,
    .write = device_write,
    .read = device_read,
};

/* What differs between ranks on purpose: the memory, and with `mixed` the layout. */
static void draw_own(exchange_t *call, uint64_t *numbers, const MPI_Datatype *layouts)
{
    int memories = below(numbers, 16), mixed = below(numbers, 4) == 0;
    int send = below(numbers, N_LAYOUTS - 1), receive = below(numbers, N_LAYOUTS);
    int shift = mixed ? world_rank : 0;

    call->send_type = layouts[(send + shift) % (N_LAYOUTS - 1)];
    call->receive_type = layouts[receive];
    call->ratio = receive == N_LAYOUTS - 1 ? 6 : 1;
    if (receive < N_LAYOUTS - 1) {
        call->receive_type = layouts[(receive + shift) % (N_LAYOUTS - 1)];
    }
    if (with_devices) {
        int turned = memories >> (world_rank & 1) * 2;

        call->send_memory = (turned & 1) != 0 ? &device : NULL;
        call->receive_memory = (turned & 2) != 0 ? &device : NULL;
    }
}

static exchange_t draw_call(uint64_t *numbers, MPI_Comm comm, const MPI_Datatype *layouts)
{
    exchange_t call = {.comm = comm,
                       .kind = (exchange_kind_t)below(numbers, 3),
                       .in_place = below(numbers, 4) == 0,
                       .descending = below(numbers, 2),
                       .gap = below(numbers, 3),
                       .count = demands[below(numbers, N_DEMANDS)],
                       .seed = below(numbers, 1 << 20)};

    draw_own(&call, numbers, layouts);
    return call;
}

/* Several calls of the kinds that return at once, completed in another order. */
static int run_pending(uint64_t *numbers, const MPI_Comm *comms, const MPI_Datatype *layouts, int n)
{
    exchange_state_t *states[MAX_PENDING];
    int i, n_wrong = 0;

    for (i = 0; i < n; i++) {
        MPI_Comm comm = comms[below(numbers, N_COMMS)];
        exchange_t call = draw_call(numbers, comm, layouts);

        call.mode = EXCHANGE_NONBLOCKING;
        states[i] = comm == MPI_COMM_NULL ? NULL : exchange_start(&call);
    }
    for (i = n; i-- > 0;) {
        n_wrong += states[i] == NULL ? 0 : exchange_finish(states[i]);
    }
    return n_wrong;
}

typedef struct worker {
    pthread_t thread;
    uint64_t numbers;
    int n_calls;
    MPI_Comm comms[N_COMMS];
    const MPI_Datatype *layouts;
    int n_wrong;
} worker_t;

static void use_device(void)
{
    const char *why = with_devices ? device_open(world_rank) : NULL;

    if (why != NULL) {
        (void)fprintf(stderr, "%s\n", why);
        (void)MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

static void *work(void *argument)
{
    worker_t *worker = argument;
    int left = worker->n_calls;

    use_device();
    while (left > 0) {
        int n = below(&worker->numbers, 4) == 0 ? 1 + below(&worker->numbers, MAX_PENDING) : 1;

        if (n > 1 && n <= left) {
            worker->n_wrong += run_pending(&worker->numbers, worker->comms, worker->layouts, n);
            left -= n;
        } else {
            MPI_Comm comm = worker->comms[below(&worker->numbers, N_COMMS)];
            exchange_t call = draw_call(&worker->numbers, comm, worker->layouts);

            worker->n_wrong += comm == MPI_COMM_NULL ? 0 : exchange_run(&call);
            left--;
        }
    }
    return NULL;
}

/* All ranks, all in falling order, a part each for odd and even ones, some, some others. */
static void make_comms(worker_t *worker)
{
    int some = (int)(draw(&worker->numbers) >> 32 & 0xffff);
    int chosen = some >> world_rank % 16 & 1;

    (void)MPI_Comm_dup(MPI_COMM_WORLD, &worker->comms[0]);
    (void)MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &worker->comms[1]);
    (void)MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &worker->comms[2]);
    (void)MPI_Comm_split(MPI_COMM_WORLD, chosen ? 0 : MPI_UNDEFINED, 0, &worker->comms[3]);
    (void)MPI_Comm_split(MPI_COMM_WORLD, chosen ? MPI_UNDEFINED : 1, 0, &worker->comms[4]);
}

static int run_round(uint64_t *numbers, const MPI_Datatype *layouts, int n_calls)
{
    worker_t workers[N_THREADS];
    int i, k, n_wrong = 0;

    for (i = 0; i < N_THREADS; i++) {
        workers[i] = (worker_t){
            .numbers = draw(numbers), .n_calls = (n_calls + i) / N_THREADS, .layouts = layouts};
        make_comms(&workers[i]);
    }
    for (i = 0; i < N_THREADS; i++) {
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            (void)MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
    for (i = 0; i < N_THREADS; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        n_wrong += workers[i].n_wrong;
        for (k = 0; k < N_COMMS; k++) {
            if (workers[i].comms[k] != MPI_COMM_NULL) {
                (void)MPI_Comm_free(&workers[i].comms[k]);
            }
        }
    }
    return n_wrong;
}

/* A component that was unloaded could not be named in a report of leaks. */
static void keep_component(void)
{
    const char *file = getenv("VP_COMPONENT");

    if (file != NULL && dlopen(file, RTLD_LAZY | RTLD_NODELETE) == NULL) {
        (void)fprintf(stderr, "%s\n", dlerror());
    }
}

static int run_all(uint64_t seed, int n_calls)
{
    MPI_Datatype layouts[N_LAYOUTS];
    int done, i, n_wrong = 0, sum = 0;

    make_layouts(layouts);
    for (done = 0; done < n_calls && sum == 0; done += CALLS_PER_ROUND) {
        int n = n_calls - done < CALLS_PER_ROUND ? n_calls - done : CALLS_PER_ROUND;

        n_wrong += run_round(&seed, layouts, n);
        (void)MPI_Allreduce(&n_wrong, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    for (i = 0; i < N_LAYOUTS; i++) {
        (void)MPI_Type_free(&layouts[i]);
    }
    return sum;
}

static void tell(const char *what, counter_t *counter)
{
    long long sum = counter_sum(counter);

    if (world_rank == 0) {
        (void)printf("%s, summed over ranks: %lld\n", what, sum);
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int n_calls = argc > 2 ? atoi(argv[2]) : 1000;
    counter_t carried, staged, passed;
    int provided, n_wrong;

    (void)MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    (void)MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    with_devices = argc > 3 && strcmp(argv[3], "device") == 0;
    keep_component();
    use_device();
    counter_open(&carried, "coll_variopath_carried");
    counter_open(&staged, "coll_variopath_staged");
    counter_open(&passed, "coll_variopath_passed_on");
    n_wrong = run_all(seed, n_calls);
    tell("carried", &carried);
    tell("staged", &staged);
    tell("passed on", &passed);
    if (world_rank == 0) {
        (void)printf("seed %llu: %d calls, %d wrong\n", (unsigned long long)seed, n_calls, n_wrong);
    }
    (void)MPI_T_finalize();
    (void)MPI_Finalize();
    return n_wrong != 0;
}
