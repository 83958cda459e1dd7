/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/bench/measure.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "scheduler/alignment.h"
#include "scheduler/bound.h"
#include "test/bench/demands.h"

enum { MAX_REPEATS = 64, N_SWEEPS = 512 };

static void must(vp_status_t status, const vp_error_t *error)
{
    if (status != VP_OK) {
        (void)fprintf(stderr, "bench: %s\n", error->text);
        exit(1);
    }
}

static int compare(const void *a_p, const void *b_p)
{
    uint64_t a = *(const uint64_t *)a_p;
    uint64_t b = *(const uint64_t *)b_p;

    return a < b ? -1 : a > b;
}

static void add(measure_t *measure, const vp_plan_t *plan, const vp_bound_t *bound, uint64_t cpu_ns)
{
    double time_ns = (double)plan->time_ns;
    double ratio = (double)bound->bound_ns / time_ns;
    double share = (double)cpu_ns / time_ns;

    measure->least_ratio =
        measure->n == 0 || ratio < measure->least_ratio ? ratio : measure->least_ratio;
    measure->largest_share = share > measure->largest_share ? share : measure->largest_share;
    measure->n++;
    measure->ratio += ratio;
    measure->activations += plan->n_activations;
    measure->kmin += bound->kmin;
    measure->us_per_activation += (double)cpu_ns / 1e3 / plan->n_activations;
    measure->ns_per_lane += (double)cpu_ns / (double)plan->n_lanes;
    measure->share += share;
}

void measure_plan(const char *planner, const vp_catalog_t *catalog, const uint64_t *demand_bytes,
                  const vp_schedule_options_t *options, const vp_bound_t *bound, uint32_t n_repeats,
                  measure_t *measure)
{
    vp_schedule_fn_t plan_demand = vp_schedule_find(planner);
    vp_schedule_options_t kept = *options;
    uint64_t cpu_ns[MAX_REPEATS];
    vp_plan_t *plan = NULL;
    vp_error_t error;
    uint32_t i;

    kept.pool = vp_pool_create();
    for (i = 0; i < n_repeats; i++) {
        uint64_t start_ns;

        vp_plan_destroy(plan);
        plan = NULL;
        start_ns = bench_cpu_ns();
        must(plan_demand(catalog, demand_bytes, &kept, &plan, &error), &error);
        cpu_ns[i] = bench_cpu_ns() - start_ns;
    }
    must(vp_plan_check(plan, catalog->model, demand_bytes, options->alpha_ns, &error), &error);
    if (plan->time_ns < bound->bound_ns) {
        (void)fprintf(stderr, "bench: %s took %" PRIu64 " ns, below the bound of %" PRIu64 "\n",
                      planner, plan->time_ns, bound->bound_ns);
        exit(1);
    }
    qsort(cpu_ns, n_repeats, sizeof(cpu_ns[0]), compare);
    add(measure, plan, bound, cpu_ns[n_repeats / 2]);
    vp_plan_destroy(plan);
    vp_pool_destroy(kept.pool);
}

vp_bound_t measure_bound(const vp_model_t *model, const uint64_t *demand_bytes, uint64_t alpha_ns)
{
    vp_bound_t bound;
    vp_error_t error;

    must(vp_bound_search(model, demand_bytes, alpha_ns, N_SWEEPS, &bound, &error), &error);
    must(vp_alignment_bound(model, demand_bytes, alpha_ns, &bound, &bound.bound_ns, &error),
         &error);
    return bound;
}

void measure_print_head(void)
{
    (void)printf("| case | ratio mean | ratio min | K / Kmin | CPU us per activation | CPU ns per "
                 "lane | planning / communication, mean | largest |\n"
                 "|---|---|---|---|---|---|---|---|\n");
}

void measure_print_row(const char *label, const measure_t *measure)
{
    double n = measure->n;

    (void)printf("| %s | %.4f | %.4f | %.1f / %.1f | %.1f | %.0f | %.2f%% | %.2f%% |\n", label,
                 measure->ratio / n, measure->least_ratio, measure->activations / n,
                 measure->kmin / n, measure->us_per_activation / n, measure->ns_per_lane / n,
                 100 * measure->share / n, 100 * measure->largest_share);
    (void)fflush(stdout);
}
