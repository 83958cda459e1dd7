/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/bench/demands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/array.h"
#include "catalog/build.h"
#include "catalog/topology.h"

enum { TOKEN_BYTES = 14336, N_CHOSEN = 8 };

static _Noreturn void give_up(const char *why)
{
    (void)fprintf(stderr, "bench: %s\n", why);
    exit(99);
}

static void *must(void *memory)
{
    if (memory == NULL) {
        give_up("out of memory");
    }
    return memory;
}

const char *bench_kind_text(bench_kind_t kind)
{
    static const char *const texts[] = {"uniform", "Zipf 0.4", "Zipf 0.6", "Zipf 0.8",
                                        "MoE",     "hot MoE",  "random"};

    return texts[kind];
}

/* splitmix64 */
static uint64_t draw(uint64_t *state_p)
{
    uint64_t z = *state_p += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double draw_fraction(uint64_t *state_p)
{
    return (double)(draw(state_p) >> 11) / 9007199254740992.0;
}

static void shuffle(uint32_t *values, uint32_t n, uint64_t *state_p)
{
    for (; n > 1; n--) {
        uint32_t at = (uint32_t)(draw(state_p) % n);
        uint32_t value = values[at];

        values[at] = values[n - 1];
        values[n - 1] = value;
    }
}

static void fill_zipf(uint64_t *bytes, uint32_t n_ranks, uint64_t total, double exponent,
                      uint64_t *state_p)
{
    uint32_t *order = must(vp_array_new(n_ranks, sizeof(*order)));
    double sum = 0;
    uint32_t source;
    uint32_t i;

    for (i = 1; i < n_ranks; i++) {
        sum += pow(i, -exponent);
    }
    for (source = 0; source < n_ranks; source++) {
        for (i = 0; i + 1 < n_ranks; i++) {
            order[i] = i + (i >= source);
        }
        shuffle(order, n_ranks - 1, state_p);
        for (i = 1; i < n_ranks; i++) {
            bytes[(size_t)source * n_ranks + order[i - 1]] =
                (uint64_t)((double)total * pow(i, -exponent) / sum);
        }
    }
    free(order);
}

static void fill_uniform(uint64_t *bytes, uint32_t n_ranks, uint64_t total)
{
    size_t pair;

    for (pair = 0; pair < (size_t)n_ranks * n_ranks; pair++) {
        bytes[pair] = pair / n_ranks == pair % n_ranks ? 0 : total / (n_ranks - 1);
    }
}

static void fill_random(uint64_t *bytes, uint32_t n_ranks, uint64_t total, uint64_t *state_p)
{
    size_t pair;

    for (pair = 0; pair < (size_t)n_ranks * n_ranks; pair++) {
        uint64_t draw_bytes = draw(state_p) % (2 * total / (n_ranks - 1) + 1);

        bytes[pair] = pair / n_ranks == pair % n_ranks ? 0 : draw_bytes;
    }
}

/* Sends each token to N_CHOSEN different experts, one a rank. */
static void fill_moe(uint64_t *bytes, uint32_t n_ranks, uint64_t total, double exponent,
                     uint64_t *state_p)
{
    uint32_t *expert = must(vp_array_new(n_ranks, sizeof(*expert)));
    double *until = must(vp_array_new(n_ranks, sizeof(*until)));
    uint64_t *last = must(vp_array_new(n_ranks, sizeof(*last)));
    uint64_t n_tokens = total / TOKEN_BYTES / N_CHOSEN;
    uint64_t token;
    double sum = 0;
    uint32_t i;

    for (i = 0; i < n_ranks; i++) {
        expert[i] = i;
        sum += pow(i + 1, -exponent);
        until[i] = sum;
    }
    shuffle(expert, n_ranks, state_p);
    for (token = 0; token < n_tokens * n_ranks; token++) {
        uint32_t n_chosen = 0;

        while (n_chosen < N_CHOSEN && n_chosen < n_ranks) {
            double at = draw_fraction(state_p) * sum;
            uint32_t low = 0;
            uint32_t high = n_ranks - 1;

            while (low < high) {
                uint32_t middle = (low + high) / 2;

                if (until[middle] > at) {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            if (last[low] != token + 1) {
                last[low] = token + 1;
                n_chosen++;
                bytes[token / n_tokens * n_ranks + expert[low]] += TOKEN_BYTES;
            }
        }
    }
    free(last);
    free(until);
    free(expert);
}

uint64_t *bench_demand(bench_kind_t kind, uint32_t n_ranks, uint64_t bytes_per_source,
                       uint64_t seed)
{
    uint64_t *bytes = must(vp_array_new((size_t)n_ranks * n_ranks, sizeof(*bytes)));
    uint64_t state = seed;

    switch (kind) {
    case BENCH_UNIFORM:
        fill_uniform(bytes, n_ranks, bytes_per_source);
        break;
    case BENCH_ZIPF04:
    case BENCH_ZIPF06:
    case BENCH_ZIPF08:
        fill_zipf(bytes, n_ranks, bytes_per_source, 0.4 + 0.2 * (kind - BENCH_ZIPF04), &state);
        break;
    case BENCH_RANDOM:
        fill_random(bytes, n_ranks, bytes_per_source, &state);
        break;
    case BENCH_MOE:
        fill_moe(bytes, n_ranks, bytes_per_source, 0, &state);
        break;
    default:
        fill_moe(bytes, n_ranks, bytes_per_source, 0.5, &state);
        break;
    }
    return bytes;
}

vp_catalog_t *bench_catalog(const char *topology)
{
    vp_catalog_t *catalog = must(vp_array_new(1, sizeof(*catalog)));
    vp_error_t error;

    if (vp_topology_resolve(topology, &catalog->model, &error) != VP_OK) {
        give_up(error.text);
    }
    vp_model_prune_paths(catalog->model);
    return catalog;
}

vp_catalog_t *bench_generated_catalog(const char *topology)
{
    vp_model_t *model = NULL;
    vp_catalog_t *catalog = NULL;
    vp_error_t error;

    if (vp_topology_resolve(topology, &model, &error) != VP_OK ||
        vp_catalog_make(&model, VP_BUILD_GENERATED, NULL, NULL, &catalog, &error) != VP_OK) {
        give_up(error.text);
    }
    return catalog;
}

uint64_t bench_cpu_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}
