/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/scheduler/demands.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/file.h"
#include "scheduler/demand.h"

/*
 * The bounds come from a solver that shares no code with this project. kmin is
 * the largest of: pairs of a rank, pairs that need a NIC, half of the pairs that
 * need a NIC or the PXB link beside it.
 */
const demand_fixture_t demand_fixtures[] = {
    {"fig1-6", "zipf06", 746502, 5, 746502},
    {"fig1-6", "sparse70", 273852, 3, 273852},
    {"fig1-6", "hot", 1359657, 5, 1359657},
    {"fig1-6", "uniform", 262543, 5, 248346},
    {"r5080-bf3-1", "zipf06", 858519, 8, 858519},
    {"r5080-bf3-1", "sparse70", 350645, 4, 350645},
    {"r5080-bf3-1", "hot", 1478973, 8, 1478973},
    {"r5080-bf3-1", "uniform", 441505, 8, 441505},
    {"r5080-bf3-2", "zipf06", 1795141, 32, 1795141},
    {"r5080-bf3-2", "sparse70", 960215, 13, 960215},
    {"r5080-bf3-2", "hot", 1692378, 32, 1495516},
    {"r5080-bf3-2", "uniform", 2013265, 32, 2013265},
};
const uint32_t n_demand_fixtures = sizeof(demand_fixtures) / sizeof(demand_fixtures[0]);

static _Noreturn void give_up(const char *what)
{
    (void)fprintf(stderr, "test demand: %s\n", what);
    exit(99);
}

const char *demand_kind_text(demand_kind_t kind)
{
    static const char *const texts[N_DEMAND_KINDS] = {"dense", "zipf", "sparse", "hot",  "single",
                                                      "few",   "zero", "huge",   "bytes"};

    return texts[kind];
}

uint64_t demand_random(uint64_t *state_p)
{
    uint64_t z = *state_p += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t draw(demand_kind_t kind, uint32_t n_ranks, uint32_t destination, uint64_t *state_p)
{
    uint64_t bytes = 1 + demand_random(state_p) % (UINT64_C(1) << 22);

    switch (kind) {
    case DEMAND_ZIPF:
        return (UINT64_C(1) << 22) / (1 + demand_random(state_p) % n_ranks);
    case DEMAND_SPARSE:
        return demand_random(state_p) % 10 < 7 ? 0 : bytes;
    case DEMAND_HOT:
        return destination == n_ranks / 2 ? 8 * bytes : bytes;
    case DEMAND_HUGE:
        return demand_random(state_p) % (UINT64_C(1) << 40);
    case DEMAND_BYTES:
        return 1;
    case DEMAND_SINGLE:
    case DEMAND_FEW:
    case DEMAND_ZERO:
        return 0;
    default:
        return bytes;
    }
}

uint64_t *demand_make(demand_kind_t kind, uint32_t n_ranks, uint64_t seed)
{
    size_t n_pairs = (size_t)n_ranks * n_ranks;
    uint64_t *bytes = vp_array_new(n_pairs, sizeof(*bytes));
    uint64_t state = seed;
    uint32_t n_pieces = kind == DEMAND_SINGLE ? 1 : kind == DEMAND_FEW ? n_ranks : 0;
    size_t pair;
    uint32_t i;

    if (bytes == NULL) {
        give_up("out of memory");
    }
    for (pair = 0; pair < n_pairs; pair++) {
        bytes[pair] = draw(kind, n_ranks, (uint32_t)(pair % n_ranks), &state);
    }
    for (i = 0; i < n_pieces; i++) {
        uint64_t source = demand_random(&state) % n_ranks;
        uint64_t step = n_ranks > 1 ? 1 + demand_random(&state) % (n_ranks - 1) : 0;

        bytes[source * n_ranks + (source + step) % n_ranks] =
            1 + demand_random(&state) % (UINT64_C(1) << 24);
    }
    for (i = 0; i < n_ranks; i++) {
        bytes[(size_t)i * n_ranks + i] = demand_random(&state);
    }
    return bytes;
}

uint64_t *demand_fixture_read(const demand_fixture_t *fixture, uint32_t n_ranks)
{
    char path[4096];
    char *text = NULL;
    size_t n_bytes = 0;
    uint64_t *demand_bytes = NULL;
    uint32_t n_read = 0;
    vp_error_t error;

    (void)snprintf(path, sizeof(path), "%s/%s-%s.csv", VP_TEST_SCHEDULER_DATA, fixture->machine,
                   fixture->kind);
    if (vp_file_read(path, 1 << 20, &text, &n_bytes, &error) != VP_OK ||
        vp_demand_parse(text, path, &demand_bytes, &n_read, &error) != VP_OK) {
        give_up(error.text);
    }
    if (n_read != n_ranks) {
        give_up("a fixture does not fit its machine");
    }
    free(text);
    return demand_bytes;
}
