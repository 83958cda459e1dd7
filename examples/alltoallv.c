/*
 * A plain MPI program: a skewed MPI_Alltoallv, as token routing makes it.
 *
 * Every rank sends a Zipf-distributed amount to each peer, or what a file says,
 * checks every byte that arrives, and rank 0 prints times and the algorithmic
 * bandwidth (total bytes / (ranks x completion time)). Nothing here knows about
 * VarioPath; the option --counters prints whatever performance variables named
 * coll_variopath_* the MPI library offers through MPI_T.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/counters.h"
#include "examples/device_memory.h"

typedef struct options {
    uint64_t seed;
    double skew;         /* Zipf exponent; 0 is uniform */
    uint64_t mean_bytes; /* per pair */
    int repetitions;     /* timed calls */
    bool counters;
    bool device;              /* buffers in CUDA device memory */
    bool alltoall;            /* MPI_Alltoall: all blocks have mean_bytes */
    const char *saved_demand; /* file to write; NULL: none */
    const char *given_demand; /* file to read instead of drawing; NULL: none */
    int *matrix;              /* its counts, row = source */
} options_t;

typedef struct exchange {
    int rank;
    int n_ranks;
    int *send_counts;
    int *send_displs;
    int *receive_counts;
    int *receive_displs;
    uint8_t *send_buffer; /* what MPI gets: in the host, or in device memory */
    uint8_t *receive_buffer;
    uint8_t *sent; /* the same bytes for the CPU to write and read */
    uint8_t *received;
    bool device;
    uint64_t sent_bytes;
    uint64_t received_bytes;
} exchange_t;

static void fail(const char *text)
{
    (void)fprintf(stderr, "alltoallv: %s\n", text);
    (void)MPI_Abort(MPI_COMM_WORLD, 2);
}

static void *allocate(size_t n_bytes)
{
    void *memory = malloc(n_bytes == 0 ? 1 : n_bytes);

    if (memory == NULL) {
        fail("out of memory; use a smaller --bytes");
    }
    return memory;
}

/* splitmix64: a small generator with the same values on every machine. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Weight of each destination: Zipf ranks 1 .. n in an order that differs from row to row. */
static void zipf_row(const options_t *options, int source, int n_ranks, double *weights)
{
    uint64_t state = options->seed * 1000003 + (uint64_t)source;
    int i;

    for (i = 0; i < n_ranks; i++) {
        weights[i] = pow(1.0 + i, -options->skew);
    }
    for (i = n_ranks - 1; i > 0; i--) {
        int j = (int)(next_random(&state) % (uint64_t)(i + 1));
        double swapped = weights[i];

        weights[i] = weights[j];
        weights[j] = swapped;
    }
}

/* Reads `given_demand`: a line per source, byte counts separated by commas. */
static void read_demand(options_t *options, int n_ranks)
{
    size_t n_counts = (size_t)n_ranks * (size_t)n_ranks;
    FILE *file = fopen(options->given_demand, "r");
    size_t i;

    options->matrix = allocate(n_counts * sizeof(*options->matrix));
    if (file == NULL) {
        fail("cannot read the file of --demand; check the path");
    }
    for (i = 0; i < n_counts; i++) {
        bool is_last = (i + 1) % (size_t)n_ranks == 0;
        char separator = '\0';

        if (fscanf(file, "%d%c", &options->matrix[i], &separator) < 1 || options->matrix[i] < 0 ||
            separator != (is_last ? '\n' : ',')) {
            fail("the file of --demand is not a row per rank of as many byte counts below 2 GiB");
        }
    }
    (void)fclose(file);
}

/* Byte counts of one row of the demand; their mean is close to mean_bytes. */
static void demand_row(const options_t *options, int source, int n_ranks, int *counts)
{
    double *weights;
    double sum = 0;
    int i;

    if (options->matrix != NULL) {
        memcpy(counts, options->matrix + (size_t)source * (size_t)n_ranks,
               (size_t)n_ranks * sizeof(*counts));
        return;
    }
    weights = allocate((size_t)n_ranks * sizeof(*weights));
    zipf_row(options, source, n_ranks, weights);
    for (i = 0; i < n_ranks; i++) {
        sum += weights[i];
    }
    for (i = 0; i < n_ranks; i++) {
        double bytes = weights[i] / sum * (double)options->mean_bytes * n_ranks;

        if (bytes > INT32_MAX) {
            fail("a block would exceed 2 GiB; use a smaller --bytes");
        }
        counts[i] = (int)bytes;
    }
    free(weights);
}

static uint64_t displacements(int n_ranks, const int *counts, int *displs)
{
    uint64_t total = 0;
    int i;

    for (i = 0; i < n_ranks; i++) {
        if (total > INT32_MAX) {
            fail("a buffer would exceed 2 GiB; use a smaller --bytes");
        }
        displs[i] = (int)total;
        total += (uint64_t)counts[i];
    }
    return total;
}

/* Byte k of the block from source to destination in a round. */
static uint8_t pattern(int source, int destination, int round, uint64_t k)
{
    return (uint8_t)(k * 31 + (uint64_t)source * 7 + (uint64_t)destination * 13 + (uint64_t)round);
}

static void prepare(exchange_t *exchange, const options_t *options)
{
    size_t n_ranks = (size_t)exchange->n_ranks;
    int *row = allocate(n_ranks * sizeof(*row));
    int i;

    exchange->send_counts = allocate(n_ranks * sizeof(int));
    exchange->send_displs = allocate(n_ranks * sizeof(int));
    exchange->receive_counts = allocate(n_ranks * sizeof(int));
    exchange->receive_displs = allocate(n_ranks * sizeof(int));
    demand_row(options, exchange->rank, exchange->n_ranks, exchange->send_counts);
    for (i = 0; i < exchange->n_ranks; i++) {
        demand_row(options, i, exchange->n_ranks, row);
        exchange->receive_counts[i] = row[exchange->rank];
    }
    exchange->sent_bytes =
        displacements(exchange->n_ranks, exchange->send_counts, exchange->send_displs);
    exchange->received_bytes =
        displacements(exchange->n_ranks, exchange->receive_counts, exchange->receive_displs);
    exchange->sent = allocate(exchange->sent_bytes);
    exchange->received = allocate(exchange->received_bytes);
    exchange->device = options->device;
    exchange->send_buffer =
        options->device ? device_allocate(exchange->sent_bytes) : exchange->sent;
    exchange->receive_buffer =
        options->device ? device_allocate(exchange->received_bytes) : exchange->received;
    free(row);
}

/* The demand as CSV, row = source, the way `variopath plan --demand` reads it. */
static void save_demand(const exchange_t *exchange, const options_t *options)
{
    int *row = allocate((size_t)exchange->n_ranks * sizeof(*row));
    FILE *file = fopen(options->saved_demand, "w");
    int i;
    int j;

    if (file == NULL) {
        fail("cannot write the file of --save-demand; check the path");
    }
    for (i = 0; i < exchange->n_ranks; i++) {
        demand_row(options, i, exchange->n_ranks, row);
        for (j = 0; j < exchange->n_ranks; j++) {
            (void)fprintf(file, "%d%c", row[j], j + 1 < exchange->n_ranks ? ',' : '\n');
        }
    }
    if (fclose(file) != 0) {
        fail("cannot write the file of --save-demand; is the disk full?");
    }
    free(row);
}

static void release(exchange_t *exchange)
{
    free(exchange->send_counts);
    free(exchange->send_displs);
    free(exchange->receive_counts);
    free(exchange->receive_displs);
    if (exchange->device) {
        device_free(exchange->send_buffer);
        device_free(exchange->receive_buffer);
    }
    free(exchange->sent);
    free(exchange->received);
}

static void fill(const exchange_t *exchange, int round)
{
    int i;
    int k;

    for (i = 0; i < exchange->n_ranks; i++) {
        uint8_t *block = exchange->sent + exchange->send_displs[i];

        for (k = 0; k < exchange->send_counts[i]; k++) {
            block[k] = pattern(exchange->rank, i, round, (uint64_t)k);
        }
    }
    memset(exchange->received, 0xee, exchange->received_bytes);
    if (exchange->device) {
        device_write(exchange->send_buffer, exchange->sent, exchange->sent_bytes);
        device_write(exchange->receive_buffer, exchange->received, exchange->received_bytes);
    }
}

static uint64_t count_wrong_bytes(const exchange_t *exchange, int round)
{
    uint64_t n_wrong = 0;
    int i;
    int k;

    if (exchange->device) {
        device_read(exchange->received, exchange->receive_buffer, exchange->received_bytes);
    }
    for (i = 0; i < exchange->n_ranks; i++) {
        const uint8_t *block = exchange->received + exchange->receive_displs[i];

        for (k = 0; k < exchange->receive_counts[i]; k++) {
            n_wrong += block[k] != pattern(i, exchange->rank, round, (uint64_t)k);
        }
    }
    return n_wrong;
}

/* One verified call; returns its time in seconds, the slowest rank's. */
static double one_call(const exchange_t *exchange, const options_t *options, int round,
                       uint64_t *n_wrong)
{
    double begin;
    double seconds;

    fill(exchange, round);
    (void)MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    if (options->alltoall) {
        (void)MPI_Alltoall(exchange->send_buffer, exchange->send_counts[0], MPI_BYTE,
                           exchange->receive_buffer, exchange->receive_counts[0], MPI_BYTE,
                           MPI_COMM_WORLD);
    } else {
        (void)MPI_Alltoallv(exchange->send_buffer, exchange->send_counts, exchange->send_displs,
                            MPI_BYTE, exchange->receive_buffer, exchange->receive_counts,
                            exchange->receive_displs, MPI_BYTE, MPI_COMM_WORLD);
    }
    seconds = MPI_Wtime() - begin;
    *n_wrong += count_wrong_bytes(exchange, round);
    (void)MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static void report(const exchange_t *exchange, const options_t *options, double *seconds,
                   uint64_t n_wrong)
{
    uint64_t sums[2] = {exchange->sent_bytes, n_wrong};
    double median;

    (void)MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (exchange->rank != 0) {
        return;
    }
    qsort(seconds, (size_t)options->repetitions, sizeof(*seconds), compare_doubles);
    median = seconds[options->repetitions / 2];
    if (options->given_demand != NULL) {
        (void)printf("ranks %d, demand %s, %" PRIu64 " bytes in all\n", exchange->n_ranks,
                     options->given_demand, sums[0]);
    } else {
        (void)printf("ranks %d, seed %" PRIu64 ", Zipf exponent %.2f, %" PRIu64 " bytes in all\n",
                     exchange->n_ranks, options->seed, options->skew, sums[0]);
    }
    (void)printf("time: median %.3f ms of %d calls (fastest %.3f, slowest %.3f)\n", median * 1e3,
                 options->repetitions, seconds[0] * 1e3, seconds[options->repetitions - 1] * 1e3);
    (void)printf("algorithmic bandwidth: %.3f GB/s per rank\n",
                 (double)sums[0] / exchange->n_ranks / median * 1e-9);
    if (sums[1] == 0) {
        (void)printf("verified: every byte of every call is right\n");
    } else {
        (void)printf("WRONG: %" PRIu64 " bytes differ from what was sent\n", sums[1]);
    }
    (void)fflush(stdout);
}

static void print_usage(FILE *stream)
{
    (void)fprintf(stream, "Usage: mpirun -np N alltoallv [OPTION]...\n"
                          "  --seed N        seed of the demand (default 1)\n"
                          "  --skew S        Zipf exponent, 0 is uniform (default 0.8)\n"
                          "  --bytes N       mean bytes per pair (default 262144)\n"
                          "  --repeat N      timed calls (default 5)\n"
                          "  --demand F      take the demand from this file (CSV, bytes) instead\n"
                          "  --alltoall      call MPI_Alltoall, with --bytes for every pair\n"
                          "  --save-demand F write the demand matrix (CSV, bytes) to this file\n"
                          "  --device        buffers in CUDA device memory\n"
                          "  --counters      print the library's coll_variopath_* counters\n");
}

/* 0: run; 1: stop, all is well; 2: bad usage. */
static int parse(int argc, char **argv, options_t *options)
{
    static const struct option known[] = {
        {"seed", required_argument, NULL, 's'},
        {"skew", required_argument, NULL, 'z'},
        {"bytes", required_argument, NULL, 'b'},
        {"repeat", required_argument, NULL, 'r'},
        {"counters", no_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},
        {"save-demand", required_argument, NULL, 'd'},
        {"demand", required_argument, NULL, 'f'},
        {"alltoall", no_argument, NULL, 'a'},
        {"device", no_argument, NULL, 'g'},
        {NULL, 0, NULL, 0},
    };
    int letter;

    opterr = 0;
    while ((letter = getopt_long(argc, argv, "", known, NULL)) != -1) {
        char *end = "";

        switch (letter) {
        case 's':
            options->seed = strtoull(optarg, &end, 10);
            break;
        case 'z':
            options->skew = strtod(optarg, &end);
            break;
        case 'b':
            options->mean_bytes = strtoull(optarg, &end, 10);
            break;
        case 'r':
            options->repetitions = (int)strtol(optarg, &end, 10);
            break;
        case 'c':
            options->counters = true;
            break;
        case 'd':
            options->saved_demand = optarg;
            break;
        case 'f':
            options->given_demand = optarg;
            break;
        case 'g':
            options->device = true;
            break;
        case 'a':
            options->alltoall = true;
            options->skew = 0;
            break;
        case 'h':
            return 1;
        default:
            return 2;
        }
        if (*end != '\0') {
            return 2;
        }
    }
    return optind == argc && options->repetitions >= 1 && options->repetitions <= 10000 &&
                   options->skew >= 0 && !(options->alltoall && options->given_demand != NULL)
               ? 0
               : 2;
}

/* The device of this rank: the node's ranks take its devices in turn. */
static void open_device(int rank)
{
    const char *why;
    MPI_Comm node;
    int local_rank;

    (void)MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    (void)MPI_Comm_rank(node, &local_rank);
    (void)MPI_Comm_free(&node);
    why = device_open(local_rank);
    if (why != NULL) {
        fail(why);
    }
    if (rank == 0) {
        (void)printf("buffers in device memory: \"%s\" and its like\n", device_name());
    }
}

static uint64_t run(options_t *options)
{
    exchange_t exchange = {0};
    double *seconds = allocate((size_t)options->repetitions * sizeof(*seconds));
    counters_t counters;
    uint64_t n_wrong = 0;
    int round;

    open_counters(&counters);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &exchange.rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &exchange.n_ranks);
    if (options->device) {
        open_device(exchange.rank);
    }
    if (options->given_demand != NULL) {
        read_demand(options, exchange.n_ranks);
    }
    prepare(&exchange, options);
    if (options->saved_demand != NULL && exchange.rank == 0) {
        save_demand(&exchange, options);
    }
    (void)one_call(&exchange, options, 0, &n_wrong); /* connections are set up in the first call */
    for (round = 1; round <= options->repetitions; round++) {
        seconds[round - 1] = one_call(&exchange, options, round, &n_wrong);
    }
    report(&exchange, options, seconds, n_wrong);
    if (options->counters) {
        print_counters(&counters, exchange.rank);
    }
    release(&exchange);
    free(options->matrix);
    free(seconds);
    (void)MPI_Allreduce(MPI_IN_PLACE, &n_wrong, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return n_wrong;
}

int main(int argc, char **argv)
{
    options_t options = {.seed = 1, .skew = 0.8, .mean_bytes = 262144, .repetitions = 5};
    int usage = parse(argc, argv, &options);
    uint64_t n_wrong = 0;
    int provided;
    int rank;

    (void)MPI_Init(&argc, &argv);
    (void)MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (usage == 0) {
        n_wrong = run(&options);
    } else if (rank == 0) {
        print_usage(usage == 1 ? stdout : stderr);
    }
    (void)MPI_T_finalize();
    (void)MPI_Finalize();
    return usage == 2 ? 2 : n_wrong != 0;
}
