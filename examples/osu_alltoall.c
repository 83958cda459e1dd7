/*
 * The options and the table of the OSU micro-benchmarks osu_alltoall, osu_alltoallv,
 * osu_alltoallw and their nonblocking forms, for machines that have no copy of them:
 *
 *   osu_alltoall NAME [-m MIN:MAX] [-i CALLS] [-x WARMUP] [-c] [-d cuda|none] [-f]
 *
 * NAME is alltoall, alltoallv, alltoallw, or one of these with an i in front; sizes are
 * bytes per pair. -c checks every byte of the last call of a size, -f prints the least
 * and the largest time of all ranks and the calls beside the average, -d cuda takes
 * buffers of device memory. Nonblocking calls: the time of call and wait together.
 * Times are in microseconds, of this machine now.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "examples/device_memory.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE_BYTES = 8192, LARGE_FACTOR = 10 }; /* larger ones are called less often */

typedef struct options {
    const char *name;
    size_t least_bytes;
    size_t most_bytes;
    int n_calls;
    int n_warmup;
    int validates;
    int full;
    int on_device;
} options_t;

typedef struct setting {
    options_t options;
    int rank;
    int n_ranks;
    unsigned char *send; /* the buffers of the calls */
    unsigned char *receive;
    unsigned char *host; /* to fill and to look at them */
    int *counts;
    int *displs; /* equal to those in bytes: elements are bytes */
    MPI_Datatype *types;
} setting_t;

static int usage(void)
{
    (void)fprintf(stderr, "osu_alltoall NAME [-m MIN:MAX] [-i CALLS] [-x WARMUP] [-c] "
                          "[-d cuda|none] [-f]\n"
                          "NAME: alltoall alltoallv alltoallw ialltoall ialltoallv ialltoallw\n");
    return 0;
}

static int parse_sizes(const char *text, options_t *options)
{
    char *end;

    options->least_bytes = strtoull(text, &end, 10);
    if (*end != ':') { /* a single number is the largest size */
        options->most_bytes = options->least_bytes;
        options->least_bytes = 1;
    } else {
        options->most_bytes = strtoull(end + 1, &end, 10);
    }
    return *end == '\0' && options->least_bytes <= options->most_bytes &&
           options->most_bytes <= (size_t)1 << 22; /* displacements are ints */
}

static int parse_option(int option, options_t *options)
{
    switch (option) {
    case 'm':
        return parse_sizes(optarg, options);
    case 'i':
        options->n_calls = atoi(optarg);
        return options->n_calls > 0;
    case 'x':
        options->n_warmup = atoi(optarg);
        return options->n_warmup >= 0;
    case 'c':
        options->validates = 1;
        return 1;
    case 'd':
        options->on_device = strcmp(optarg, "cuda") == 0;
        return options->on_device || strcmp(optarg, "none") == 0;
    case 'f':
        options->full = 1;
        return 1;
    default:
        return 0;
    }
}

static int parse(int argc, char **argv, options_t *options)
{
    static const char *const names[] = {"alltoall",  "alltoallv",  "alltoallw",
                                        "ialltoall", "ialltoallv", "ialltoallw"};
    size_t i;
    int option;

    *options = (options_t){
        .least_bytes = 1, .most_bytes = (size_t)1 << 20, .n_calls = 100, .n_warmup = 10};
    while ((option = getopt(argc, argv, "m:i:x:cd:f")) != -1) {
        if (!parse_option(option, options)) {
            return usage();
        }
    }
    options->name = optind < argc ? argv[optind] : "";
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], options->name) == 0) {
            return 1;
        }
    }
    return usage();
}

static void *allocate(size_t n_bytes)
{
    void *memory = calloc(n_bytes == 0 ? 1 : n_bytes, 1);

    if (memory == NULL) {
        (void)fprintf(stderr, "no memory for %zu bytes\n", n_bytes);
        (void)MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return memory;
}

static void open_buffers(setting_t *setting)
{
    size_t n = (size_t)setting->n_ranks, n_bytes = n * setting->options.most_bytes, i;
    const char *why = setting->options.on_device ? device_open(setting->rank) : NULL;

    if (why != NULL) {
        (void)fprintf(stderr, "%s\n", why);
        (void)MPI_Abort(MPI_COMM_WORLD, 2);
    }
    setting->host = allocate(n_bytes);
    setting->send = setting->options.on_device ? device_allocate(n_bytes) : allocate(n_bytes);
    setting->receive = setting->options.on_device ? device_allocate(n_bytes) : allocate(n_bytes);
    setting->counts = allocate(n * sizeof(int));
    setting->displs = allocate(n * sizeof(int));
    setting->types = allocate(n * sizeof(MPI_Datatype));
    for (i = 0; i < n; i++) {
        setting->types[i] = MPI_BYTE;
    }
}

static void close_buffers(setting_t *setting)
{
    void (*release)(void *) = setting->options.on_device ? device_free : free;

    release(setting->send);
    release(setting->receive);
    free(setting->host);
    free(setting->counts);
    free(setting->displs);
    free(setting->types);
}

static unsigned char pattern(int from, int to, size_t k, size_t n_bytes)
{
    return (unsigned char)((size_t)from * 31 + (size_t)to * 17 + k * 7 + (k >> 8) + n_bytes);
}

static void move(const setting_t *setting, unsigned char *to, const unsigned char *from,
                 size_t n_bytes)
{
    if (!setting->options.on_device) {
        memcpy(to, from, n_bytes);
    } else if (from == setting->host) {
        device_write(to, from, n_bytes);
    } else {
        device_read(to, from, n_bytes);
    }
}

/* Blocks that this rank sends; what it receives is blank. */
static void fill(const setting_t *setting, size_t n_bytes)
{
    size_t n = (size_t)setting->n_ranks, i, k;

    memset(setting->host, 0x5a, n * n_bytes);
    move(setting, setting->receive, setting->host, n * n_bytes);
    for (i = 0; i < n; i++) {
        setting->counts[i] = (int)n_bytes;
        setting->displs[i] = (int)(i * n_bytes);
        for (k = 0; k < n_bytes; k++) {
            setting->host[i * n_bytes + k] = pattern(setting->rank, (int)i, k, n_bytes);
        }
    }
    move(setting, setting->send, setting->host, n * n_bytes);
}

/* Returns whether all bytes of all ranks are right. */
static int validate(const setting_t *setting, size_t n_bytes)
{
    size_t n = (size_t)setting->n_ranks, i, k;
    int right = 1, all;

    move(setting, setting->host, setting->receive, n * n_bytes);
    for (i = 0; i < n; i++) {
        for (k = 0; k < n_bytes; k++) {
            right &= setting->host[i * n_bytes + k] == pattern((int)i, setting->rank, k, n_bytes);
        }
    }
    (void)MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

static void call_blocking(const setting_t *s, int n_bytes, char form)
{
    if (form == 'v') {
        (void)MPI_Alltoallv(s->send, s->counts, s->displs, MPI_BYTE, s->receive, s->counts,
                            s->displs, MPI_BYTE, MPI_COMM_WORLD);
    } else if (form == 'w') {
        (void)MPI_Alltoallw(s->send, s->counts, s->displs, s->types, s->receive, s->counts,
                            s->displs, s->types, MPI_COMM_WORLD);
    } else {
        (void)MPI_Alltoall(s->send, n_bytes, MPI_BYTE, s->receive, n_bytes, MPI_BYTE,
                           MPI_COMM_WORLD);
    }
}

static void call_nonblocking(const setting_t *s, int n_bytes, char form)
{
    MPI_Request request;

    if (form == 'v') {
        (void)MPI_Ialltoallv(s->send, s->counts, s->displs, MPI_BYTE, s->receive, s->counts,
                             s->displs, MPI_BYTE, MPI_COMM_WORLD, &request);
    } else if (form == 'w') {
        (void)MPI_Ialltoallw(s->send, s->counts, s->displs, s->types, s->receive, s->counts,
                             s->displs, s->types, MPI_COMM_WORLD, &request);
    } else {
        (void)MPI_Ialltoall(s->send, n_bytes, MPI_BYTE, s->receive, n_bytes, MPI_BYTE,
                            MPI_COMM_WORLD, &request);
    }
    (void)MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The average time of a call, in microseconds. */
static double measure(const setting_t *setting, size_t n_bytes, int n_calls)
{
    const char *name = setting->options.name;
    char form = name[strlen(name) - 1];
    double seconds = 0;
    int i;

    for (i = -setting->options.n_warmup; i < n_calls; i++) {
        double start = MPI_Wtime();

        if (name[0] == 'i') {
            call_nonblocking(setting, (int)n_bytes, form);
        } else {
            call_blocking(setting, (int)n_bytes, form);
        }
        seconds += i >= 0 ? MPI_Wtime() - start : 0;
        (void)MPI_Barrier(MPI_COMM_WORLD);
    }
    return seconds * 1e6 / n_calls;
}

static void print_head(const options_t *options)
{
    (void)printf("\n# OSU-like MPI%s All-to-All Personalized Exchange Latency Test: %s\n",
                 options->on_device ? "-CUDA" : "", options->name);
    (void)printf("%-10s%18s", "# Size", "Avg Latency(us)");
    if (options->full) {
        (void)printf("%18s%18s%12s", "Min Latency(us)", "Max Latency(us)", "Iterations");
    }
    (void)printf("%s\n", options->validates ? "        Validation" : "");
}

/* One line; returns whether its bytes were right. */
static int run_size(const setting_t *setting, size_t n_bytes)
{
    const options_t *options = &setting->options;
    int n_calls = options->n_calls, right = 1;
    double mine, least, most, sum;

    if (n_bytes > LARGE_BYTES && n_calls > LARGE_FACTOR) {
        n_calls /= LARGE_FACTOR;
    }
    fill(setting, n_bytes);
    mine = measure(setting, n_bytes, n_calls);
    (void)MPI_Reduce(&mine, &least, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    (void)MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    (void)MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (options->validates) {
        right = validate(setting, n_bytes);
    }
    if (setting->rank == 0) {
        (void)printf("%-10zu%18.2f", n_bytes, sum / setting->n_ranks);
        if (options->full) {
            (void)printf("%18.2f%18.2f%12d", least, most, n_calls);
        }
        (void)printf("%s\n", !options->validates ? ""
                             : right             ? "              Pass"
                                                 : "              Fail");
        (void)fflush(stdout);
    }
    return right;
}

int main(int argc, char **argv)
{
    setting_t setting = {.rank = 0};
    size_t n_bytes;
    int right = 1;

    if (!parse(argc, argv, &setting.options)) {
        return 2;
    }
    (void)MPI_Init(&argc, &argv);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &setting.rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &setting.n_ranks);
    open_buffers(&setting);
    if (setting.rank == 0) {
        print_head(&setting.options);
    }
    for (n_bytes = setting.options.least_bytes; n_bytes <= setting.options.most_bytes;
         n_bytes = n_bytes == 0 ? 1 : 2 * n_bytes) {
        right &= run_size(&setting, n_bytes);
    }
    close_buffers(&setting);
    (void)MPI_Finalize();
    return right ? 0 : 1;
}
