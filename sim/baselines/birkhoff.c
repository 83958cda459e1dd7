/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/baselines/birkhoff.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/units.h"

#define NOBODY UINT32_MAX

typedef struct stage_order {
    uint64_t weight;
    size_t stage;
} stage_order_t;

typedef struct birkhoff {
    uint32_t n;
    uint64_t *real;    /* [n][n] bytes left */
    uint64_t *left;    /* [n][n] with padding */
    uint32_t *match;   /* [n] column of each row */
    uint32_t *matched; /* [n] row of each column */
    uint32_t *seen;    /* [n] columns that this search has seen */
    uint32_t search;
    size_t capacity[3];
    vp_stages_t stages;
} birkhoff_t;

/* Walks rows, then columns, and adds what both sums lack of the largest. */
static void pad(birkhoff_t *b, uint64_t *row_sums, uint64_t *column_sums)
{
    uint64_t most = 0;
    uint32_t i;
    uint32_t j;

    for (i = 0; i < b->n; i++) {
        for (j = 0; j < b->n; j++) {
            row_sums[i] += b->left[(size_t)i * b->n + j];
            column_sums[j] += b->left[(size_t)i * b->n + j];
        }
    }
    for (i = 0; i < b->n; i++) {
        most = row_sums[i] > most ? row_sums[i] : most;
        most = column_sums[i] > most ? column_sums[i] : most;
    }
    for (i = 0; i < b->n; i++) {
        for (j = 0; j < b->n && row_sums[i] < most; j++) {
            uint64_t add = most - (row_sums[i] > column_sums[j] ? row_sums[i] : column_sums[j]);

            b->left[(size_t)i * b->n + j] += add;
            row_sums[i] += add;
            column_sums[j] += add;
        }
    }
}

/* Finds a column for `row`, moving matched rows along an augmenting path. */
static bool augment(birkhoff_t *b, uint32_t row)
{
    uint32_t column;

    for (column = 0; column < b->n; column++) {
        if (b->left[(size_t)row * b->n + column] == 0 || b->seen[column] == b->search) {
            continue;
        }
        b->seen[column] = b->search;
        if (b->matched[column] == NOBODY || augment(b, b->matched[column])) {
            b->match[row] = column;
            b->matched[column] = row;
            return true;
        }
    }
    return false;
}

/* False: nothing is left. Equal sums guarantee a perfect matching otherwise. */
static bool match_all(birkhoff_t *b)
{
    uint32_t row;

    for (row = 0; row < b->n; row++) {
        if (b->match[row] == NOBODY) {
            b->search++;
            if (!augment(b, row)) {
                return false;
            }
        }
    }
    return true;
}

static vp_status_t add_stage(birkhoff_t *b, vp_error_t *error)
{
    vp_stages_t *stages = &b->stages;
    size_t at = stages->n_stages * b->n;
    uint64_t weight = UINT64_MAX;
    uint32_t row;

    if (!vp_array_reserve(&stages->matches, &b->capacity[0], at + b->n, sizeof(uint32_t)) ||
        !vp_array_reserve(&stages->bytes, &b->capacity[1], at + b->n, sizeof(uint64_t)) ||
        !vp_array_reserve(&stages->weights, &b->capacity[2], stages->n_stages + 1,
                          sizeof(uint64_t))) {
        return vp_error_no_memory(error, "the stages of FAST");
    }
    for (row = 0; row < b->n; row++) {
        uint64_t left = b->left[(size_t)row * b->n + b->match[row]];

        weight = left < weight ? left : weight;
    }
    for (row = 0; row < b->n; row++) {
        uint32_t column = b->match[row];
        uint64_t *real = &b->real[(size_t)row * b->n + column];
        uint64_t take = *real < weight ? *real : weight;

        stages->matches[at + row] = column;
        stages->bytes[at + row] = take;
        *real -= take;
        b->left[(size_t)row * b->n + column] -= weight;
        if (b->left[(size_t)row * b->n + column] == 0) {
            b->match[row] = NOBODY;
            b->matched[column] = NOBODY;
        }
    }
    stages->weights[stages->n_stages++] = weight;
    return VP_OK;
}

static int compare_stages(const void *a, const void *b)
{
    const stage_order_t *left = a;
    const stage_order_t *right = b;

    if (left->weight != right->weight) {
        return left->weight < right->weight ? -1 : 1;
    }
    return (left->stage > right->stage) - (left->stage < right->stage);
}

static vp_status_t sort_stages(vp_stages_t *stages, vp_error_t *error)
{
    size_t n = stages->n_servers;
    stage_order_t *order = vp_array_new(stages->n_stages, sizeof(*order));
    uint32_t *matches = vp_array_new(stages->n_stages * n, sizeof(uint32_t));
    uint64_t *bytes = vp_array_new(stages->n_stages * n, sizeof(uint64_t));
    vp_status_t status = VP_OK;
    size_t i;

    if (order == NULL || matches == NULL || bytes == NULL) {
        status = vp_error_no_memory(error, "the order of FAST's stages");
        goto out;
    }
    for (i = 0; i < stages->n_stages; i++) {
        order[i] = (stage_order_t){stages->weights[i], i};
    }
    qsort(order, stages->n_stages, sizeof(*order), compare_stages);
    for (i = 0; i < stages->n_stages; i++) {
        stages->weights[i] = order[i].weight;
        memcpy(matches + i * n, stages->matches + order[i].stage * n, n * sizeof(uint32_t));
        memcpy(bytes + i * n, stages->bytes + order[i].stage * n, n * sizeof(uint64_t));
    }
    free(stages->matches);
    free(stages->bytes);
    stages->matches = matches;
    stages->bytes = bytes;
    matches = NULL;
    bytes = NULL;
out:
    free(bytes);
    free(matches);
    free(order);
    return status;
}

static vp_status_t prepare(birkhoff_t *b, const uint64_t *matrix, vp_error_t *error)
{
    size_t n = b->n;
    uint64_t *sums = vp_array_new(2 * n, sizeof(uint64_t));

    b->real = vp_array_new(n * n, sizeof(uint64_t));
    b->left = vp_array_new(n * n, sizeof(uint64_t));
    b->match = vp_array_new(n, sizeof(uint32_t));
    b->matched = vp_array_new(n, sizeof(uint32_t));
    b->seen = vp_array_new(n, sizeof(uint32_t));
    if (sums == NULL || b->real == NULL || b->left == NULL || b->match == NULL ||
        b->matched == NULL || b->seen == NULL) {
        free(sums);
        return vp_error_no_memory(error, "the server matrix of FAST");
    }
    memcpy(b->real, matrix, n * n * sizeof(uint64_t));
    memcpy(b->left, matrix, n * n * sizeof(uint64_t));
    memset(b->match, 0xff, n * sizeof(uint32_t));
    memset(b->matched, 0xff, n * sizeof(uint32_t));
    pad(b, sums, sums + n);
    free(sums);
    return VP_OK;
}

vp_status_t vp_birkhoff(const uint64_t *matrix, uint32_t n_servers, vp_stages_t *stages_p,
                        vp_error_t *error)
{
    birkhoff_t b = {.n = n_servers, .stages = {.n_servers = n_servers}};
    vp_status_t status = prepare(&b, matrix, error);

    while (status == VP_OK && match_all(&b)) {
        status = add_stage(&b, error);
    }
    if (status == VP_OK) {
        status = sort_stages(&b.stages, error);
    }
    free(b.seen);
    free(b.matched);
    free(b.match);
    free(b.left);
    free(b.real);
    if (status != VP_OK) {
        vp_stages_release(&b.stages);
        return status;
    }
    *stages_p = b.stages;
    return VP_OK;
}

void vp_stages_release(vp_stages_t *stages)
{
    free(stages->matches);
    free(stages->bytes);
    free(stages->weights);
    *stages = (vp_stages_t){0};
}
