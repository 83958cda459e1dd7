/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/demand_gen.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/units.h"
#include "catalog/model.h"
#include "sim/demand_moe.h"
#include "sim/random.h"

enum { WEIGHT_MAX = 1024, PPM = 1000000, MAX_HOT_FACTOR = 1000000 };
#define MAX_BYTES_PER_RANK (UINT64_C(1) << 50)

bool vp_demand_kind_parse(const char *text, vp_demand_kind_t *kind_p)
{
    static const char *const texts[] = {"uniform", "random", "zipf", "moe", "hotspot"};
    int i;

    for (i = 0; i < 5; i++) {
        if (strcmp(texts[i], text) == 0) {
            *kind_p = (vp_demand_kind_t)i;
            return true;
        }
    }
    return false;
}

static vp_status_t check_options(const vp_demand_options_t *options, vp_error_t *error)
{
    if (options->n_ranks < 2 || options->n_ranks > VP_MAX_RANKS) {
        return vp_error_set(error, VP_ERR_USAGE,
                            "a demand needs 2 to %d ranks, not %" PRIu32 "; give --ranks",
                            VP_MAX_RANKS, options->n_ranks);
    }
    if (options->element_bytes == 0 || options->bytes_per_rank > MAX_BYTES_PER_RANK) {
        return vp_error_set(error, VP_ERR_USAGE,
                            "elements of %" PRIu32 " bytes and %" PRIu64 " bytes per rank are "
                            "outside the range: at least 1, at most %" PRIu64,
                            options->element_bytes, options->bytes_per_rank, MAX_BYTES_PER_RANK);
    }
    if (!(options->exponent >= 0.0 && options->exponent <= 10.0)) {
        return vp_error_set(error, VP_ERR_USAGE, "the Zipf exponent is 0 to 10, not %g",
                            options->exponent);
    }
    if (options->hot_factor == 0 || options->hot_factor > MAX_HOT_FACTOR) {
        return vp_error_set(error, VP_ERR_USAGE,
                            "a hot destination gets 1 to %d times the bytes of others, not %" PRIu32
                            "; give --hot-factor in that range",
                            MAX_HOT_FACTOR, options->hot_factor);
    }
    if ((options->kind == VP_DEMAND_HOTSPOT || options->hot_factor > 1) &&
        (options->n_hot == 0 || options->n_hot >= options->n_ranks || options->hot_ppm > PPM)) {
        return vp_error_set(error, VP_ERR_USAGE,
                            "there are 1 to %" PRIu32 " hot ranks, not %" PRIu32 ", that draw "
                            "at most all of the bytes",
                            options->n_ranks - 1, options->n_hot);
    }
    return VP_OK;
}

vp_status_t vp_random_permutation(uint32_t n, uint64_t *state, uint32_t **permutation_p,
                                  vp_error_t *error)
{
    uint32_t *permutation = vp_array_new(n, sizeof(uint32_t));
    uint32_t i;

    if (permutation == NULL) {
        return vp_error_no_memory(error, "a random order");
    }
    for (i = 0; i < n; i++) {
        uint32_t at = (uint32_t)vp_random_below(state, (uint64_t)i + 1);

        permutation[i] = permutation[at];
        permutation[at] = i;
    }
    *permutation_p = permutation;
    return VP_OK;
}

static double zipf_draw(double exponent, uint64_t *state)
{
    double u = vp_random_unit(state);
    double power = 1.0 - exponent;

    if (fabs(power) < 1e-9) {
        return pow(WEIGHT_MAX, u);
    }
    return pow((pow(WEIGHT_MAX, power) - 1.0) * u + 1.0, 1.0 / power);
}

static void weigh_pairs(const vp_demand_options_t *options, uint64_t *state, double *weights)
{
    uint32_t n = options->n_ranks;
    uint32_t i;
    uint32_t j;

    for (i = 0; i < n; i++) {
        for (j = 0; j < n; j++) {
            double *weight = &weights[(size_t)i * n + j];

            if (i == j) {
                *weight = 0.0;
            } else if (options->kind == VP_DEMAND_UNIFORM) {
                *weight = 1.0;
            } else if (options->kind == VP_DEMAND_RANDOM) {
                *weight = (double)vp_random_below(state, WEIGHT_MAX);
            } else {
                *weight = zipf_draw(options->exponent, state);
            }
        }
    }
}

/* Place k of the order is the k-th hottest destination. */
static void weigh_destinations(const vp_demand_options_t *options, const uint32_t *order,
                               double *weights)
{
    uint32_t n = options->n_ranks;
    double hot = (double)options->hot_ppm / PPM;
    uint32_t i;
    uint32_t k;

    for (i = 0; i < n; i++) {
        for (k = 0; k < n; k++) {
            double *weight = &weights[(size_t)i * n + order[k]];

            if (i == order[k]) {
                *weight = 0.0;
            } else if (options->kind == VP_DEMAND_ZIPF) {
                *weight = pow((double)k + 1.0, -options->exponent);
            } else if (k < options->n_hot) {
                *weight = hot / options->n_hot;
            } else {
                *weight = (1.0 - hot) / (n - options->n_hot);
            }
        }
    }
}

/* Each weight k^-s once over all pairs, k = 1 .. n (n - 1), in random order. */
static vp_status_t weigh_ranked_pairs(const vp_demand_options_t *options, uint64_t *state,
                                      double *weights, vp_error_t *error)
{
    uint32_t n = options->n_ranks;
    uint32_t *order;
    vp_status_t status = vp_random_permutation(n * (n - 1), state, &order, error);
    uint32_t pair = 0;
    uint32_t i;
    uint32_t j;

    if (status != VP_OK) {
        return status;
    }
    for (i = 0; i < n; i++) {
        for (j = 0; j < n; j++) {
            if (i != j) {
                weights[(size_t)i * n + j] = pow((double)order[pair++] + 1.0, -options->exponent);
            }
        }
    }
    free(order);
    return VP_OK;
}

/* The same for every row. */
static vp_status_t weigh_ranked_rows(const vp_demand_options_t *options, uint64_t *state,
                                     double *weights, vp_error_t *error)
{
    uint32_t n = options->n_ranks;
    uint32_t *order;
    vp_status_t status = VP_OK;
    uint32_t i;
    uint32_t k;

    for (i = 0; i < n; i++) {
        double *row = weights + (size_t)i * n;

        status = vp_random_permutation(n - 1, state, &order, error);
        if (status != VP_OK) {
            return status;
        }
        for (k = 0; k + 1 < n; k++) {
            row[k + (k >= i)] = pow((double)order[k] + 1.0, -options->exponent);
        }
        free(order);
    }
    return VP_OK;
}

/* Weights become bytes: multiples of the element, to the nearest. */
static void scale(const vp_demand_options_t *options, const double *weights, uint64_t *demand_bytes)
{
    size_t n = options->n_ranks;
    size_t rows = options->scale_rows ? 1 : n;
    size_t first;
    size_t i;

    for (first = 0; first < n; first += rows) {
        double sum = 0.0;
        double elements = (double)options->bytes_per_rank * (double)rows / options->element_bytes;

        for (i = first * n; i < (first + rows) * n; i++) {
            sum += weights[i];
        }
        for (i = first * n; i < (first + rows) * n; i++) {
            demand_bytes[i] = sum > 0.0 ? (uint64_t)floor(weights[i] / sum * elements + 0.5) *
                                              options->element_bytes
                                        : 0;
        }
    }
}

/* Fills weights[n_ranks][n_ranks], which is all 0. */
static vp_status_t weigh(const vp_demand_options_t *options, uint64_t *state, double *weights,
                         vp_error_t *error)
{
    bool is_zipf = options->kind == VP_DEMAND_ZIPF;
    uint32_t *order;
    vp_status_t status;

    if (options->kind == VP_DEMAND_HOTSPOT || (is_zipf && options->over == VP_ZIPF_DESTINATIONS)) {
        status = vp_random_permutation(options->n_ranks, state, &order, error);
        if (status == VP_OK) {
            weigh_destinations(options, order, weights);
            free(order);
        }
        return status;
    }
    if (is_zipf && options->over == VP_ZIPF_RANKED_PAIRS) {
        return weigh_ranked_pairs(options, state, weights, error);
    }
    if (is_zipf && options->over == VP_ZIPF_RANKED_ROWS) {
        return weigh_ranked_rows(options, state, weights, error);
    }
    weigh_pairs(options, state, weights);
    return VP_OK;
}

static vp_status_t heat_destinations(const vp_demand_options_t *options, uint64_t *state,
                                     uint64_t *demand_bytes, vp_error_t *error)
{
    uint32_t n = options->n_ranks;
    uint32_t *order;
    vp_status_t status;
    uint32_t i;
    uint32_t k;

    if (options->kind == VP_DEMAND_HOTSPOT || options->hot_factor == 1) {
        return VP_OK;
    }
    status = vp_random_permutation(n, state, &order, error);
    if (status != VP_OK) {
        return status;
    }
    for (i = 0; i < n; i++) {
        for (k = 0; k < options->n_hot; k++) {
            demand_bytes[(size_t)i * n + order[k]] *= options->hot_factor;
        }
    }
    free(order);
    return VP_OK;
}

static vp_status_t generate_weighted(const vp_demand_options_t *options, uint64_t *demand_bytes,
                                     vp_error_t *error)
{
    uint64_t state = options->seed;
    double *weights = vp_array_new((size_t)options->n_ranks * options->n_ranks, sizeof(double));
    vp_status_t status;

    if (weights == NULL) {
        return vp_error_no_memory(error, "the weights of a demand");
    }
    status = weigh(options, &state, weights, error);
    if (status == VP_OK) {
        scale(options, weights, demand_bytes);
        status = heat_destinations(options, &state, demand_bytes, error);
    }
    free(weights);
    return status;
}

vp_status_t vp_demand_generate(const vp_demand_options_t *options, uint64_t **demand_bytes_p,
                               vp_error_t *error)
{
    vp_status_t status = check_options(options, error);
    uint64_t *demand_bytes;

    if (status != VP_OK) {
        return status;
    }
    demand_bytes = vp_array_new((size_t)options->n_ranks * options->n_ranks, sizeof(uint64_t));
    if (demand_bytes == NULL) {
        return vp_error_no_memory(error, "a demand");
    }
    status = options->kind == VP_DEMAND_MOE ? vp_demand_moe(options, demand_bytes, error)
                                            : generate_weighted(options, demand_bytes, error);
    if (status != VP_OK) {
        free(demand_bytes);
        return status;
    }
    *demand_bytes_p = demand_bytes;
    return VP_OK;
}
