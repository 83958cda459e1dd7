/*
 * A distributed FFT: the transpose of a matrix that lies in slabs over the ranks.
 *
 * Each rank holds some rows of an n x n matrix (as equal as n allows). A transform
 * in two dimensions is one of the rows, a transpose through MPI_Alltoallv, and one
 * of what were the columns. The input is a sum of plane waves, whose spectrum is
 * known: zero but for one peak each. The transform and its inverse are compared
 * with that and with the input. The transform of a row is a plain radix-2 one; a
 * real program would call FFTW.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <complex.h>
#include <getopt.h>
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/counters.h"

typedef double complex number_t;

static const double pi = 3.14159265358979323846;

/* The waves of the input: row and column frequencies, modulo n, and amplitudes. */
static const struct wave {
    int row;
    int column;
    double amplitude;
} waves[] = {{1, 2, 1.0}, {3, -1, 0.5}, {-2, 0, 0.25}};

enum { N_WAVES = sizeof(waves) / sizeof(waves[0]) };

typedef struct options {
    int n;
    int repetitions;
    bool counters;
} options_t;

typedef struct slab {
    int n;
    int rank;
    int n_ranks;
    int first; /* of this rank's rows */
    int n_rows;
    number_t *values; /* rows x n */
    number_t *sent;
    number_t *received;
    int *send_counts; /* in doubles, as MPI gets them */
    int *send_displs;
    int *receive_counts;
    int *receive_displs;
    double transposing; /* seconds */
} slab_t;

static void fail(const char *text)
{
    (void)fprintf(stderr, "fft_transpose: %s\n", text);
    (void)MPI_Abort(MPI_COMM_WORLD, 2);
}

static void *allocate(size_t n, size_t size)
{
    void *memory = calloc(n == 0 ? 1 : n, size);

    if (memory == NULL) {
        fail("out of memory; use a smaller --size");
    }
    return memory;
}

/* First row of a rank; that of the rank after the last is n. */
static int first_row(const slab_t *slab, int rank)
{
    return (int)((int64_t)slab->n * rank / slab->n_ranks);
}

static void open_slab(slab_t *slab, int n)
{
    size_t n_values;
    int i;

    slab->n = n;
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &slab->rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &slab->n_ranks);
    slab->first = first_row(slab, slab->rank);
    slab->n_rows = first_row(slab, slab->rank + 1) - slab->first;
    n_values = (size_t)slab->n_rows * (size_t)n;
    if (n_values > INT32_MAX / 2) {
        fail("a slab exceeds 16 GiB; use more ranks");
    }
    slab->values = allocate(n_values, sizeof(number_t));
    slab->sent = allocate(n_values, sizeof(number_t));
    slab->received = allocate(n_values, sizeof(number_t));
    slab->send_counts = allocate(4 * (size_t)slab->n_ranks, sizeof(int));
    slab->send_displs = slab->send_counts + slab->n_ranks;
    slab->receive_counts = slab->send_displs + slab->n_ranks;
    slab->receive_displs = slab->receive_counts + slab->n_ranks;
    /* My rows of the peer's columns go out, and as many values of my columns come in. */
    for (i = 0; i < slab->n_ranks; i++) {
        int rows = first_row(slab, i + 1) - first_row(slab, i);

        slab->send_counts[i] = 2 * slab->n_rows * rows;
        slab->send_displs[i] = 2 * slab->n_rows * first_row(slab, i);
        slab->receive_counts[i] = slab->send_counts[i];
        slab->receive_displs[i] = slab->send_displs[i];
    }
}

static void close_slab(slab_t *slab)
{
    free(slab->values);
    free(slab->sent);
    free(slab->received);
    free(slab->send_counts);
}

/* Row `row` of the matrix becomes column `row`. */
static void transpose(slab_t *slab)
{
    number_t *next = slab->sent;
    const number_t *block = slab->received;
    double begin;
    int peer;
    int row;
    int column;

    /* A block is sent transposed already: a row of it per column. */
    for (column = 0; column < slab->n; column++) {
        for (row = 0; row < slab->n_rows; row++) {
            *next++ = slab->values[(ptrdiff_t)row * slab->n + column];
        }
    }
    (void)MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    (void)MPI_Alltoallv(slab->sent, slab->send_counts, slab->send_displs, MPI_DOUBLE,
                        slab->received, slab->receive_counts, slab->receive_displs, MPI_DOUBLE,
                        MPI_COMM_WORLD);
    slab->transposing += MPI_Wtime() - begin;
    for (peer = 0; peer < slab->n_ranks; peer++) {
        for (row = 0; row < slab->n_rows; row++) {
            for (column = first_row(slab, peer); column < first_row(slab, peer + 1); column++) {
                slab->values[(ptrdiff_t)row * slab->n + column] = *block++;
            }
        }
    }
}

/* In place, n a power of two; sign -1 is forward, 1 the inverse times n. */
static void transform_row(number_t *row, int n, int sign)
{
    int half;
    int i;
    int j = 0;
    int k;

    for (i = 1; i < n; i++) {
        int bit = n >> 1;

        for (; (j & bit) != 0; bit >>= 1) {
            j ^= bit;
        }
        j ^= bit;
        if (i < j) {
            number_t swapped = row[i];

            row[i] = row[j];
            row[j] = swapped;
        }
    }
    for (half = 1; half < n; half *= 2) {
        for (k = 0; k < half; k++) {
            number_t turn = cexp(I * (sign * pi * k / half));

            for (i = k; i < n; i += 2 * half) {
                number_t odd = turn * row[i + half];

                row[i + half] = row[i] - odd;
                row[i] += odd;
            }
        }
    }
}

/* Both dimensions; the result lies transposed. */
static void transform(slab_t *slab, int sign)
{
    int pass;
    int row;

    for (pass = 0; pass < 2; pass++) {
        for (row = 0; row < slab->n_rows; row++) {
            transform_row(slab->values + (ptrdiff_t)row * slab->n, slab->n, sign);
        }
        if (pass == 0) {
            transpose(slab);
        }
    }
}

static number_t input(int n, int row, int column)
{
    number_t sum = 0;
    int w;

    for (w = 0; w < N_WAVES; w++) {
        /* Modulo n in whole numbers: exact phases, however large the matrix. */
        int64_t phase = ((int64_t)waves[w].row * row + (int64_t)waves[w].column * column) % n;

        sum += waves[w].amplitude * cexp(I * (2 * pi * (double)phase / n));
    }
    return sum;
}

/* Where the spectrum lies transposed: rows of it are column frequencies. */
static number_t spectrum(int n, int column, int row)
{
    number_t sum = 0;
    int w;

    for (w = 0; w < N_WAVES; w++) {
        if ((waves[w].row + n) % n == row && (waves[w].column + n) % n == column) {
            sum += waves[w].amplitude * (double)n * n;
        }
    }
    return sum;
}

/* Largest distance of any rank's values, divided by `scale`, from what they must be. */
static double distance(const slab_t *slab, double scale, number_t (*expected)(int, int, int))
{
    double most = 0;
    int row;
    int column;

    for (row = 0; row < slab->n_rows; row++) {
        for (column = 0; column < slab->n; column++) {
            number_t is = slab->values[(ptrdiff_t)row * slab->n + column] / scale;

            most = fmax(most, cabs(is - expected(slab->n, slab->first + row, column)));
        }
    }
    (void)MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

/* The times of all repetitions, and whether both transforms are right. */
static bool run(const options_t *options)
{
    slab_t slab = {0};
    counters_t counters;
    double n_values = (double)options->n * options->n;
    double error = 0;
    double seconds;
    int repetition;
    int i;

    open_counters(&counters);
    open_slab(&slab, options->n);
    for (i = 0; i < slab.n_rows * slab.n; i++) {
        slab.values[i] = input(slab.n, slab.first + i / slab.n, i % slab.n);
    }
    seconds = -MPI_Wtime();
    for (repetition = 0; repetition < options->repetitions; repetition++) {
        transform(&slab, -1);
        /* Peaks are as large as there are values. */
        error = fmax(error, distance(&slab, 1, spectrum) / n_values);
        transform(&slab, 1);
        error = fmax(error, distance(&slab, n_values, input));
        for (i = 0; i < slab.n_rows * slab.n; i++) {
            slab.values[i] /= n_values;
        }
    }
    seconds += MPI_Wtime();
    (void)MPI_Allreduce(MPI_IN_PLACE, &slab.transposing, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (slab.rank == 0) {
        (void)printf("%d ranks, %d x %d complex numbers, %d transforms and inverses\n",
                     slab.n_ranks, slab.n, slab.n, options->repetitions);
        (void)printf("time: %.3f ms, of it %.3f ms in MPI_Alltoallv\n", seconds * 1e3,
                     slab.transposing * 1e3);
        (void)printf(error < 1e-9 ? "verified: largest error %.1e\n" : "WRONG: error %.1e\n",
                     error);
        (void)fflush(stdout);
    }
    if (options->counters) {
        print_counters(&counters, slab.rank);
    }
    close_slab(&slab);
    return error < 1e-9;
}

/* 0: run; 1: stop, all is well; 2: bad usage. */
static int parse(int argc, char **argv, options_t *options)
{
    static const struct option known[] = {
        {"size", required_argument, NULL, 'n'},
        {"repeat", required_argument, NULL, 'r'},
        {"counters", no_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int letter;

    opterr = 0;
    while ((letter = getopt_long(argc, argv, "", known, NULL)) != -1) {
        char *end = "";

        if (letter == 'h') {
            return 1;
        }
        if (letter == 'n') {
            options->n = (int)strtol(optarg, &end, 10);
        } else if (letter == 'r') {
            options->repetitions = (int)strtol(optarg, &end, 10);
        } else if (letter == 'c') {
            options->counters = true;
        } else {
            return 2;
        }
        if (*end != '\0') {
            return 2;
        }
    }
    return optind == argc && options->repetitions >= 1 && options->repetitions <= 10000 &&
                   options->n >= 8 && options->n <= 65536 && (options->n & (options->n - 1)) == 0
               ? 0
               : 2;
}

int main(int argc, char **argv)
{
    options_t options = {.n = 512, .repetitions = 3};
    int usage = parse(argc, argv, &options);
    bool right = true;
    int provided;
    int rank;

    (void)MPI_Init(&argc, &argv);
    (void)MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (usage == 0) {
        right = run(&options);
    } else if (rank == 0) {
        (void)fprintf(usage == 1 ? stdout : stderr,
                      "Usage: mpirun -np N fft_transpose [OPTION]...\n"
                      "  --size N    rows and columns, a power of two from 8 (default 512)\n"
                      "  --repeat N  transforms and their inverses (default 3)\n"
                      "  --counters  print the library's coll_variopath_* counters\n");
    }
    (void)MPI_T_finalize();
    (void)MPI_Finalize();
    return usage == 2 ? 2 : !right;
}
