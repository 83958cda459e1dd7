/*
 * What planning costs inside a call: 1 GiB per source on 32 GPUs and more,
 * every candidate counted, beside the quality of the very plans.
 * `make bench-planning` writes the table to stdout; BENCH_NODES is the largest
 * number of nodes, 32 unless set.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>

#include "test/bench/demands.h"
#include "test/bench/measure.h"

/* Algorithm 2 of the paper on the same demand, over generated channels. */
static void run_paper(uint32_t n_nodes, bench_kind_t kind)
{
    char text[64];
    vp_catalog_t *catalog;
    uint64_t *bytes;
    const vp_schedule_options_t options = {.alpha_ns = 10000};
    vp_bound_t bound;
    measure_t measure = {0};

    (void)snprintf(text, sizeof(text), "r5080-bf3:nodes=%u", n_nodes);
    catalog = bench_generated_catalog(text);
    bytes = bench_demand(kind, catalog->model->n_ranks, UINT64_C(1) << 30, 7);
    bound = measure_bound(catalog->model, bytes, options.alpha_ns);
    measure_plan("paper", catalog, bytes, &options, &bound, n_nodes > 8 ? 1 : 3, &measure);
    (void)snprintf(text, sizeof(text), "%u GPUs, %s, paper", catalog->model->n_ranks,
                   bench_kind_text(kind));
    measure_print_row(text, &measure);
    free(bytes);
    vp_catalog_destroy(catalog);
}

static void run(uint32_t n_nodes, bench_kind_t kind)
{
    char text[64];
    vp_catalog_t *catalog;
    uint64_t *bytes;
    const vp_schedule_options_t options = {.alpha_ns = 10000};
    vp_bound_t bound;
    measure_t measure = {0};

    (void)snprintf(text, sizeof(text), "r5080-bf3:nodes=%u", n_nodes);
    catalog = bench_catalog(text);
    bytes = bench_demand(kind, catalog->model->n_ranks, UINT64_C(1) << 30, 7);
    bound = measure_bound(catalog->model, bytes, options.alpha_ns);
    measure_plan("auto", catalog, bytes, &options, &bound, n_nodes > 32 ? 3 : 11, &measure);
    (void)snprintf(text, sizeof(text), "%u GPUs, %s", catalog->model->n_ranks,
                   bench_kind_text(kind));
    measure_print_row(text, &measure);
    free(bytes);
    vp_catalog_destroy(catalog);
}

int main(void)
{
    const char *text = getenv("BENCH_NODES");
    long largest = text == NULL ? 32 : strtol(text, NULL, 10);
    uint32_t n_nodes;
    int kind;

    measure_print_head();
    for (n_nodes = 4; (long)n_nodes <= largest; n_nodes *= 2) {
        for (kind = 0; kind < N_BENCH_KINDS; kind++) {
            run(n_nodes, (bench_kind_t)kind);
        }
        run_paper(n_nodes, BENCH_ZIPF06);
    }
    return 0;
}
