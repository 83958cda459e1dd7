/*
 * The two exchanges of a mixture-of-experts layer, as expert parallelism makes them.
 *
 * Every rank has tokens and some of the experts. A router sends each token to its
 * top-k experts, some of which are more popular than others: the ranks exchange how
 * many rows go where (MPI_Alltoall), dispatch the rows (MPI_Alltoallv), apply the
 * experts, and bring the results back (MPI_Alltoallv, combine), where each token's k
 * results are added with the router's weights. All values are whole numbers small
 * enough to be exact in float, so every result is compared with what it must be.
 *
 * With --device the rows are in CUDA memory. Packing, experts and sums are kernels
 * in a real program; here they are done by the CPU on copies, outside the times.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <getopt.h>
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
    int tokens;  /* of each rank */
    int hidden;  /* values of a token */
    int experts; /* of each rank */
    int top_k;
    double skew; /* Zipf exponent of the experts' popularity */
    uint64_t seed;
    int repetitions; /* layers */
    bool device;
    bool counters;
} options_t;

/* Rows of floats that one side of an exchange sends or receives, sorted by rank. */
typedef struct rows {
    float *host;   /* for the CPU */
    float *buffer; /* for MPI: the same, or device memory */
    int *counts;   /* floats */
    int *displs;
    size_t n_bytes;
} rows_t;

typedef struct layer {
    const options_t *options;
    int rank;
    int n_ranks;
    int row;         /* floats of a row: the expert, then the token */
    double *weights; /* of each expert, for the router */
    int *chosen;     /* experts of each token, top_k each */
    int *place;      /* row of each choice in `sent` */
    rows_t sent;
    rows_t received;
    double seconds[2]; /* this layer's dispatch and combine */
} layer_t;

static void fail(const char *text)
{
    (void)fprintf(stderr, "moe_dispatch: %s\n", text);
    (void)MPI_Abort(MPI_COMM_WORLD, 2);
}

static void *allocate(size_t n, size_t size)
{
    void *memory = calloc(n == 0 ? 1 : n, size);

    if (memory == NULL) {
        fail("out of memory; use fewer --tokens");
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

static int n_experts(const layer_t *layer)
{
    return layer->options->experts * layer->n_ranks;
}

/* The popular experts are the same for all ranks, and lie anywhere. */
static void draw_popularity(layer_t *layer)
{
    uint64_t state = layer->options->seed;
    int n = n_experts(layer);
    int i;

    layer->weights = allocate((size_t)n, sizeof(double));
    for (i = 0; i < n; i++) {
        layer->weights[i] = pow(1.0 + i, -layer->options->skew);
    }
    for (i = n - 1; i > 0; i--) {
        int j = (int)(next_random(&state) % (uint64_t)(i + 1));
        double swapped = layer->weights[i];

        layer->weights[i] = layer->weights[j];
        layer->weights[j] = swapped;
    }
}

/* One expert by its weight, other than the first `n_before` of `before`. */
static int draw_expert(const layer_t *layer, uint64_t *state, const int *before, int n_before)
{
    int n = n_experts(layer);
    double left = 0;
    int last = -1;
    int pass;
    int i;
    int k;

    /* First the sum of the weights, then the expert at which a random part of it is reached. */
    for (pass = 0; pass < 2; pass++) {
        left *= (double)(next_random(state) >> 11) * 0x1p-53;
        for (i = 0; i < n; i++) {
            for (k = 0; k < n_before && before[k] != i; k++) {
            }
            if (k < n_before) {
                continue;
            }
            left += pass == 0 ? layer->weights[i] : -layer->weights[i];
            last = i;
            if (pass == 1 && left < 0) {
                return i;
            }
        }
    }
    return last;
}

static void route(layer_t *layer, int round)
{
    uint64_t state =
        layer->options->seed * 1000003 + (uint64_t)layer->rank * 1009 + (uint64_t)round;
    int token;
    int k;

    for (token = 0; token < layer->options->tokens; token++) {
        int *chosen = layer->chosen + (ptrdiff_t)token * layer->options->top_k;

        for (k = 0; k < layer->options->top_k; k++) {
            chosen[k] = draw_expert(layer, &state, chosen, k);
        }
    }
}

/* Value i of a token: a small whole number. */
static float value(int rank, int round, int token, int i)
{
    return (float)((rank * 5 + round * 3 + token * 7 + i) % 16);
}

static void displacements(const layer_t *layer, rows_t *rows)
{
    int64_t total = 0;
    int i;

    for (i = 0; i < layer->n_ranks; i++) {
        rows->displs[i] = (int)total;
        total += rows->counts[i];
        if (total > INT32_MAX) {
            fail("a rank's rows exceed 8 GiB; use fewer --tokens");
        }
    }
    rows->n_bytes = (size_t)total * sizeof(float);
    rows->host = allocate((size_t)total, sizeof(float));
    rows->buffer = layer->options->device ? device_allocate(rows->n_bytes) : rows->host;
}

static void release_rows(const layer_t *layer, rows_t *rows)
{
    if (layer->options->device) {
        device_free(rows->buffer);
    }
    free(rows->host);
}

/* How many rows go where; then the rows themselves, sorted by rank. */
static void pack(layer_t *layer, int round)
{
    int n_choices = layer->options->tokens * layer->options->top_k;
    int *next = allocate((size_t)layer->n_ranks, sizeof(int));
    int c;
    int i;

    memset(layer->sent.counts, 0, (size_t)layer->n_ranks * sizeof(int));
    for (c = 0; c < n_choices; c++) {
        layer->sent.counts[layer->chosen[c] / layer->options->experts] += layer->row;
    }
    (void)MPI_Alltoall(layer->sent.counts, 1, MPI_INT, layer->received.counts, 1, MPI_INT,
                       MPI_COMM_WORLD);
    displacements(layer, &layer->sent);
    displacements(layer, &layer->received);
    memcpy(next, layer->sent.displs, (size_t)layer->n_ranks * sizeof(int));
    for (c = 0; c < n_choices; c++) {
        int peer = layer->chosen[c] / layer->options->experts;
        float *row = layer->sent.host + next[peer];

        layer->place[c] = next[peer];
        next[peer] += layer->row;
        row[0] = (float)(layer->chosen[c] % layer->options->experts);
        for (i = 1; i < layer->row; i++) {
            row[i] = value(layer->rank, round, c / layer->options->top_k, i);
        }
    }
    free(next);
}

/* One MPI_Alltoallv; from and to are rows for the CPU before and after. */
static double exchange(const layer_t *layer, rows_t *from, rows_t *to)
{
    double begin;
    double seconds;

    memset(to->host, 0xff, to->n_bytes);
    if (layer->options->device) {
        device_write(from->buffer, from->host, from->n_bytes);
        device_write(to->buffer, to->host, to->n_bytes);
    }
    (void)MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    (void)MPI_Alltoallv(from->buffer, from->counts, from->displs, MPI_FLOAT, to->buffer, to->counts,
                        to->displs, MPI_FLOAT, MPI_COMM_WORLD);
    seconds = MPI_Wtime() - begin;
    if (layer->options->device) {
        device_read(to->host, to->buffer, to->n_bytes);
    }
    return seconds;
}

/* Expert e multiplies by e + 1, counted over all ranks. */
static void apply_experts(layer_t *layer)
{
    float *row = layer->received.host;
    float *end = row + layer->received.n_bytes / sizeof(float);
    int i;

    for (; row < end; row += layer->row) {
        float factor = (float)(layer->rank * layer->options->experts + 1) + row[0];

        for (i = 1; i < layer->row; i++) {
            row[i] *= factor;
        }
    }
}

/* The router's weight of choice k is k + 1. Returns how many sums are not what they must be. */
static int64_t count_wrong(const layer_t *layer, int round)
{
    int top_k = layer->options->top_k;
    int64_t n_wrong = 0;
    int token;
    int i;
    int k;

    for (token = 0; token < layer->options->tokens; token++) {
        const int *chosen = layer->chosen + (ptrdiff_t)token * top_k;
        const int *place = layer->place + (ptrdiff_t)token * top_k;

        for (i = 1; i < layer->row; i++) {
            float sum = 0;
            float factor = 0;

            for (k = 0; k < top_k; k++) {
                sum += (float)(k + 1) * layer->sent.host[place[k] + i];
                factor += (float)(k + 1) * (float)(chosen[k] + 1);
            }
            n_wrong += sum != factor * value(layer->rank, round, token, i);
        }
    }
    return n_wrong;
}

/* One layer; returns the wrong results of this rank and adds the bytes that it dispatched. */
static int64_t run_layer(layer_t *layer, int round, double *n_bytes)
{
    int64_t n_wrong;

    route(layer, round);
    pack(layer, round);
    layer->seconds[0] = exchange(layer, &layer->sent, &layer->received);
    apply_experts(layer);
    layer->seconds[1] = exchange(layer, &layer->received, &layer->sent);
    n_wrong = count_wrong(layer, round);
    *n_bytes += (double)layer->sent.n_bytes;
    release_rows(layer, &layer->sent);
    release_rows(layer, &layer->received);
    (void)MPI_Allreduce(MPI_IN_PLACE, layer->seconds, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return n_wrong;
}

static void report(const layer_t *layer, const double *seconds, double n_bytes, int64_t n_wrong)
{
    const options_t *options = layer->options;

    (void)printf("%d ranks, %d tokens of %d values each, %d experts, top %d, Zipf exponent %.2f\n",
                 layer->n_ranks, options->tokens, options->hidden, n_experts(layer), options->top_k,
                 options->skew);
    (void)printf("dispatch: %.3f ms, combine: %.3f ms (means of %d layers, the slowest rank's)\n",
                 seconds[0] * 1e3 / options->repetitions, seconds[1] * 1e3 / options->repetitions,
                 options->repetitions);
    (void)printf("algorithmic bandwidth: %.3f GB/s per rank\n",
                 2 * n_bytes / layer->n_ranks / (seconds[0] + seconds[1]) * 1e-9);
    if (n_wrong == 0) {
        (void)printf("verified: every token came back right\n");
    } else {
        (void)printf("WRONG: %lld values are not what they must be\n", (long long)n_wrong);
    }
    (void)fflush(stdout);
}

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
}

static void open_layer(layer_t *layer)
{
    size_t n_choices = (size_t)layer->options->tokens * (size_t)layer->options->top_k;
    size_t n_ranks;

    (void)MPI_Comm_rank(MPI_COMM_WORLD, &layer->rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &layer->n_ranks);
    n_ranks = (size_t)layer->n_ranks;
    layer->row = layer->options->hidden + 1;
    if (n_experts(layer) < layer->options->top_k || n_experts(layer) > 4096) {
        fail("there have to be at least --top-k experts in all, and at most 4096");
    }
    if (layer->options->device) {
        open_device(layer->rank);
    }
    draw_popularity(layer);
    layer->chosen = allocate(n_choices, sizeof(int));
    layer->place = allocate(n_choices, sizeof(int));
    layer->sent.counts = allocate(n_ranks, sizeof(int));
    layer->sent.displs = allocate(n_ranks, sizeof(int));
    layer->received.counts = allocate(n_ranks, sizeof(int));
    layer->received.displs = allocate(n_ranks, sizeof(int));
}

static void close_layer(layer_t *layer)
{
    free(layer->weights);
    free(layer->chosen);
    free(layer->place);
    free(layer->sent.counts);
    free(layer->sent.displs);
    free(layer->received.counts);
    free(layer->received.displs);
}

static int64_t run(const options_t *options)
{
    layer_t layer = {.options = options};
    double seconds[2] = {0, 0};
    double n_bytes = 0;
    double warm_up = 0;
    int64_t n_wrong;
    counters_t counters;
    int round;

    open_counters(&counters);
    open_layer(&layer);
    n_wrong = run_layer(&layer, 0, &warm_up); /* connections are set up in the first call */
    for (round = 1; round <= options->repetitions; round++) {
        n_wrong += run_layer(&layer, round, &n_bytes);
        seconds[0] += layer.seconds[0];
        seconds[1] += layer.seconds[1];
    }
    (void)MPI_Allreduce(MPI_IN_PLACE, &n_wrong, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    (void)MPI_Allreduce(MPI_IN_PLACE, &n_bytes, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (layer.rank == 0) {
        report(&layer, seconds, n_bytes, n_wrong);
    }
    if (options->counters) {
        print_counters(&counters, layer.rank);
    }
    close_layer(&layer);
    return n_wrong;
}

static void print_usage(FILE *stream)
{
    (void)fprintf(stream, "Usage: mpirun -np N moe_dispatch [OPTION]...\n"
                          "  --tokens N    tokens of each rank (default 512)\n"
                          "  --hidden N    float values of a token (default 1024)\n"
                          "  --experts N   experts of each rank (default 2)\n"
                          "  --top-k N     experts of each token, up to 8 (default 2)\n"
                          "  --skew S      Zipf exponent of their popularity (default 0.8)\n"
                          "  --seed N      seed of the routing (default 1)\n"
                          "  --repeat N    timed layers (default 5)\n"
                          "  --device      rows in CUDA device memory\n"
                          "  --counters    print the library's coll_variopath_* counters\n");
}

/* A whole number from 1 to `most`, or 0. */
static int read_number(const char *text, int most)
{
    char *end;
    long number = strtol(text, &end, 10);

    return *end == '\0' && number >= 1 && number <= most ? (int)number : 0;
}

static bool read_option(options_t *options, int letter)
{
    char *end = "";

    switch (letter) {
    case 't':
        return (options->tokens = read_number(optarg, 1 << 20)) > 0;
    case 'n':
        return (options->hidden = read_number(optarg, 1 << 20)) > 0;
    case 'e':
        return (options->experts = read_number(optarg, 4096)) > 0;
    case 'k':
        return (options->top_k = read_number(optarg, 8)) > 0;
    case 'r':
        return (options->repetitions = read_number(optarg, 10000)) > 0;
    case 'z':
        options->skew = strtod(optarg, &end);
        return *end == '\0' && options->skew >= 0;
    case 's':
        options->seed = strtoull(optarg, &end, 10);
        return *end == '\0';
    case 'g':
        return options->device = true;
    case 'c':
        return options->counters = true;
    default:
        return false;
    }
}

/* 0: run; 1: stop, all is well; 2: bad usage. */
static int parse(int argc, char **argv, options_t *options)
{
    static const struct option known[] = {
        {"tokens", required_argument, NULL, 't'},
        {"hidden", required_argument, NULL, 'n'},
        {"experts", required_argument, NULL, 'e'},
        {"top-k", required_argument, NULL, 'k'},
        {"skew", required_argument, NULL, 'z'},
        {"seed", required_argument, NULL, 's'},
        {"repeat", required_argument, NULL, 'r'},
        {"device", no_argument, NULL, 'g'},
        {"counters", no_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int letter;

    opterr = 0;
    while ((letter = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (letter == 'h') {
            return 1;
        }
        if (!read_option(options, letter)) {
            return 2;
        }
    }
    return optind == argc ? 0 : 2;
}

int main(int argc, char **argv)
{
    options_t options = {.tokens = 512,
                         .hidden = 1024,
                         .experts = 2,
                         .top_k = 2,
                         .skew = 0.8,
                         .seed = 1,
                         .repetitions = 5};
    int usage = parse(argc, argv, &options);
    int64_t n_wrong = 0;
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
