/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/demand_moe.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/units.h"
#include "sim/random.h"

enum { MAX_EXPERTS = 65536, MAX_TOKENS = 1 << 24, MAX_HIDDEN = 1 << 24, MAX_REDRAWS = 64 };

typedef struct router {
    const vp_demand_options_t *options;
    double *cumulative; /* [experts] popularity up to and with this place */
    uint32_t *order;    /* [experts] expert at each place of popularity */
    uint32_t *chosen;   /* [top_k] places of one token */
    uint32_t *taken;    /* [experts] token that chose it last, plus one */
    uint32_t *reached;  /* [n_ranks] token that reached the rank or node last, plus one */
    uint64_t random;
    uint32_t token;
} router_t;

static vp_status_t check_options(const vp_demand_options_t *options, vp_error_t *error)
{
    if (options->experts == 0 || options->experts > MAX_EXPERTS || options->top_k == 0 ||
        options->top_k > options->experts || options->tokens == 0 ||
        options->tokens > MAX_TOKENS / options->n_ranks || options->hidden == 0 ||
        options->hidden > MAX_HIDDEN) {
        return vp_error_set(error, VP_ERR_USAGE,
                            "%" PRIu32 " tokens of %" PRIu32 " elements to %" PRIu32 " of %" PRIu32
                            " experts are outside the range: 1 to %d experts, at most %d tokens in "
                            "all, a top-k of 1 to the experts",
                            options->tokens, options->hidden, options->top_k, options->experts,
                            MAX_EXPERTS, MAX_TOKENS);
    }
    if (options->dedup == VP_DEDUP_NODE && options->ranks_per_node == 0) {
        return vp_error_set(error, VP_ERR_USAGE,
                            "deduplication per node needs --ranks-per-node of at least 1");
    }
    return VP_OK;
}

/* First place whose cumulative popularity exceeds u. */
static uint32_t find_place(const router_t *router, double u)
{
    uint32_t low = 0;
    uint32_t high = router->options->experts - 1;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (router->cumulative[middle] > u) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* A popular place that the token has not taken; after many redraws the next free one. */
static uint32_t draw_place(router_t *router)
{
    uint32_t experts = router->options->experts;
    double total = router->cumulative[experts - 1];
    uint32_t place = 0;
    int i;

    for (i = 0; i < MAX_REDRAWS; i++) {
        place = find_place(router, vp_random_unit(&router->random) * total);
        if (router->taken[place] != router->token) {
            return place;
        }
    }
    while (router->taken[place] == router->token) {
        place = (place + 1) % experts;
    }
    return place;
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a;
    uint32_t right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

static void route_token(router_t *router, uint32_t source, uint64_t *row)
{
    const vp_demand_options_t *options = router->options;
    uint64_t bytes = (uint64_t)options->hidden * options->element_bytes;
    uint32_t unit = options->dedup == VP_DEDUP_NODE ? options->ranks_per_node : 1;
    uint32_t k;

    router->token++;
    for (k = 0; k < options->top_k; k++) {
        uint32_t place = draw_place(router);

        router->taken[place] = router->token;
        router->chosen[k] = router->order[place] % options->n_ranks;
    }
    qsort(router->chosen, options->top_k, sizeof(uint32_t), compare_u32);
    for (k = 0; k < options->top_k; k++) {
        uint32_t rank = router->chosen[k];

        if (options->dedup != VP_DEDUP_NONE) {
            if (router->reached[rank / unit] == router->token) {
                continue;
            }
            router->reached[rank / unit] = router->token;
        }
        if (rank != source) {
            row[rank] += bytes;
        }
    }
}

static vp_status_t open_router(router_t *router, vp_error_t *error)
{
    const vp_demand_options_t *options = router->options;
    double sum = 0.0;
    uint32_t i;

    router->cumulative = vp_array_new(options->experts, sizeof(double));
    router->taken = vp_array_new(options->experts, sizeof(uint32_t));
    router->chosen = vp_array_new(options->top_k, sizeof(uint32_t));
    router->reached = vp_array_new(options->n_ranks, sizeof(uint32_t));
    if (router->cumulative == NULL || router->taken == NULL || router->chosen == NULL ||
        router->reached == NULL) {
        return vp_error_no_memory(error, "the routing of tokens");
    }
    for (i = 0; i < options->experts; i++) {
        sum += pow((double)i + 1.0, -options->exponent);
        router->cumulative[i] = sum;
    }
    return vp_random_permutation(options->experts, &router->random, &router->order, error);
}

vp_status_t vp_demand_moe(const vp_demand_options_t *options, uint64_t *demand_bytes,
                          vp_error_t *error)
{
    router_t router = {.options = options, .random = options->seed};
    vp_status_t status = check_options(options, error);
    uint32_t source;
    uint32_t token;

    if (status == VP_OK) {
        status = open_router(&router, error);
    }
    for (source = 0; status == VP_OK && source < options->n_ranks; source++) {
        for (token = 0; token < options->tokens; token++) {
            route_token(&router, source, &demand_bytes[(size_t)source * options->n_ranks]);
        }
    }
    free(router.order);
    free(router.reached);
    free(router.chosen);
    free(router.taken);
    free(router.cumulative);
    return status;
}
