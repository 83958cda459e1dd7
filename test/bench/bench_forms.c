/*
 * Plans in other forms than activations of exclusive lanes, against the bound
 * that holds for each: lists run by dependencies, lanes that share links, and
 * plans that begin before they are complete. What is simulated is the very
 * plan, on links that share without loss. `make bench-quality` writes the
 * tables to stdout behind those of activations; BENCH_NODES is the largest
 * number of nodes of lists, 8 unless set.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "scheduler/bound.h"
#include "scheduler/schedule.h"
#include "sim/simulation.h"
#include "test/bench/demands.h"

enum { N_SWEEPS = 256, ALPHA_NS = 10000 };
static const uint64_t bytes_per_source = UINT64_C(1) << 30;

static void must(vp_status_t status, const vp_error_t *error)
{
    if (status != VP_OK) {
        (void)fprintf(stderr, "bench: %s\n", error->text);
        exit(1);
    }
}

static uint64_t simulate(const vp_model_t *model, const vp_plan_t *plan, uint64_t alpha_ns)
{
    const vp_simulation_options_t options = {
        .machine = {.links = "ideal", .seed = 1},
        .execute = {.execution = VP_EXECUTION_DEPS, .alpha_ns = alpha_ns}};
    vp_simulation_t simulation;
    vp_error_t error;
    uint64_t time_ns;

    must(vp_simulate_plan(model, plan, &options, &simulation, &error), &error);
    time_ns = simulation.time_ns;
    vp_simulation_release(&simulation);
    return time_ns;
}

/* Plans, checks, simulates, and prints a row; `bound_ns` holds for the form of the plan. */
static void run(const char *label, const char *planner, const vp_catalog_t *catalog,
                const uint64_t *bytes, const vp_schedule_options_t *options, uint64_t bound_ns)
{
    static const char *const orders[] = {"activations", "list", "concurrent"};
    vp_plan_t *plan = NULL;
    vp_error_t error;
    uint64_t cpu_ns = bench_cpu_ns();
    uint64_t simulated_ns;

    must(vp_schedule_find(planner)(catalog, bytes, options, &plan, &error), &error);
    cpu_ns = bench_cpu_ns() - cpu_ns;
    must(vp_plan_check(plan, catalog->model, bytes, options->alpha_ns, &error), &error);
    simulated_ns = simulate(catalog->model, plan, options->alpha_ns);
    (void)printf("| %s | %s%s, window %" PRIu32 " | %zu | %.4f | %.4f | %.2f ms | %.2f%% |\n",
                 label, orders[plan->form.order],
                 plan->form.shares_ports && plan->form.order == VP_PLAN_ACTIVATIONS ? ", shared"
                                                                                    : "",
                 plan->form.window, plan->n_lanes, (double)bound_ns / (double)plan->time_ns,
                 (double)bound_ns / (double)simulated_ns, (double)cpu_ns / 1e6,
                 100 * (double)cpu_ns / (double)plan->time_ns);
    (void)fflush(stdout);
    vp_plan_destroy(plan);
}

static void print_head(const char *bound)
{
    (void)printf("\n| case | plan | lanes | %s bound over modelled time | over simulated time | "
                 "planning CPU | of modelled time |\n|---|---|---|---|---|---|---|\n",
                 bound);
}

static void lists(uint32_t n_nodes)
{
    char text[64];
    vp_catalog_t *catalog;
    int kind;

    (void)snprintf(text, sizeof(text), "r5080-bf3:nodes=%" PRIu32, n_nodes);
    catalog = bench_catalog(text);
    for (kind = 0; kind < N_BENCH_KINDS; kind++) {
        const vp_schedule_options_t options = {.alpha_ns = ALPHA_NS};
        uint64_t *bytes =
            bench_demand((bench_kind_t)kind, catalog->model->n_ranks, bytes_per_source, 7);
        uint64_t bound_ns = 0;
        vp_error_t error;

        must(vp_list_bound_search(catalog->model, bytes, ALPHA_NS, N_SWEEPS, &bound_ns, &error),
             &error);
        (void)snprintf(text, sizeof(text), "%" PRIu32 " GPUs, %s", catalog->model->n_ranks,
                       bench_kind_text((bench_kind_t)kind));
        run(text, "list", catalog, bytes, &options, bound_ns);
        free(bytes);
    }
    vp_catalog_destroy(catalog);
}

/* Two NICs for two GPUs, where exclusive lanes leave part of a GPU's link idle. */
static void shared(uint32_t n_nodes)
{
    static const bench_kind_t kinds[] = {BENCH_UNIFORM, BENCH_RANDOM, BENCH_ZIPF08, BENCH_HOT_MOE};
    char text[64];
    vp_catalog_t *catalog;
    size_t i;

    (void)snprintf(text, sizeof(text), "r5080-cx8:nodes=%" PRIu32, n_nodes);
    catalog = bench_catalog(text);
    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const vp_schedule_options_t options = {.sharing = VP_SHARING_AUTO};
        uint64_t *bytes = bench_demand(kinds[i], catalog->model->n_ranks, bytes_per_source, 7);
        uint64_t bound_ns = 0;
        vp_error_t error;

        must(vp_fluid_bound(catalog->model, bytes, &bound_ns, &error), &error);
        (void)snprintf(text, sizeof(text), "%" PRIu32 " nodes, %s", n_nodes,
                       bench_kind_text(kinds[i]));
        run(text, "auto", catalog, bytes, &options, bound_ns);
        free(bytes);
    }
    vp_catalog_destroy(catalog);
}

static int compare(const void *a_p, const void *b_p)
{
    uint64_t a = *(const uint64_t *)a_p;
    uint64_t b = *(const uint64_t *)b_p;

    return a < b ? -1 : a > b;
}

/* The prefix, and the median of the CPU times to find it. */
static vp_plan_t *find_prefix(const vp_model_t *model, const uint64_t *bytes,
                              const vp_schedule_options_t *options, uint64_t *cpu_ns_p)
{
    enum { N_REPEATS = 21 };
    uint64_t cpu_ns[N_REPEATS];
    vp_plan_t *prefix = NULL;
    vp_error_t error;
    int i;

    for (i = 0; i < N_REPEATS; i++) {
        vp_plan_destroy(prefix);
        cpu_ns[i] = bench_cpu_ns();
        must(vp_schedule_prefix(model, bytes, options, &prefix, &error), &error);
        cpu_ns[i] = bench_cpu_ns() - cpu_ns[i];
    }
    qsort(cpu_ns, N_REPEATS, sizeof(cpu_ns[0]), compare);
    *cpu_ns_p = cpu_ns[N_REPEATS / 2];
    return prefix;
}

static void prefixes(uint32_t n_nodes)
{
    char text[64];
    vp_catalog_t *catalog;
    int kind;

    (void)snprintf(text, sizeof(text), "r5080-bf3:nodes=%" PRIu32, n_nodes);
    catalog = bench_catalog(text);
    for (kind = 0; kind < N_BENCH_KINDS; kind++) {
        const vp_schedule_options_t options = {.alpha_ns = ALPHA_NS};
        uint64_t *bytes =
            bench_demand((bench_kind_t)kind, catalog->model->n_ranks, bytes_per_source, 7);
        uint64_t cpu_ns = 0;
        vp_plan_t *prefix = find_prefix(catalog->model, bytes, &options, &cpu_ns);
        vp_plan_t *with = NULL;
        vp_plan_t *without = NULL;
        vp_error_t error;

        must(vp_schedule_after(prefix, vp_schedule_auto, catalog, bytes, &options, &with, &error),
             &error);
        must(vp_schedule_auto(catalog, bytes, &options, &without, &error), &error);
        (void)printf("| %" PRIu32 " GPUs, %s | %zu | %.0f us | %+.2f%% |\n",
                     catalog->model->n_ranks, bench_kind_text((bench_kind_t)kind), prefix->n_lanes,
                     (double)cpu_ns / 1e3,
                     100 * ((double)with->time_ns / (double)without->time_ns - 1));
        (void)fflush(stdout);
        vp_plan_destroy(without);
        vp_plan_destroy(with);
        vp_plan_destroy(prefix);
        free(bytes);
    }
    vp_catalog_destroy(catalog);
}

int main(void)
{
    const char *text = getenv("BENCH_NODES");
    uint32_t largest = text == NULL ? 8 : (uint32_t)strtoul(text, NULL, 10);
    uint32_t n_nodes;

    print_head("list");
    for (n_nodes = 2; n_nodes <= largest; n_nodes *= 2) {
        lists(n_nodes);
    }
    print_head("fluid");
    shared(2);
    shared(4);
    (void)printf("\n| case | lanes of the prefix | CPU until they are known | plan's time with a "
                 "prefix |\n|---|---|---|---|\n");
    prefixes(8);
    prefixes(32);
    return 0;
}
