/*
 * Quality of plans against certified bounds: the 50 instances of the quality
 * protocol at four overheads, and the machines where ranks and links are tight
 * together. `make bench-quality` writes the table to stdout.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "catalog/build.h"
#include "scheduler/demand.h"
#include "test/bench/demands.h"
#include "test/bench/measure.h"

enum { N_SIZES = 5, N_DEMANDS = 5 };

static void give_up(const vp_error_t *error)
{
    (void)fprintf(stderr, "bench: %s\n", error->text);
    exit(1);
}

/* The catalog with shapes and families that `paper` needs. */
static vp_catalog_t *full_catalog(const char *topology)
{
    vp_catalog_t *bare = bench_catalog(topology);
    const vp_build_options_t options = {0};
    vp_catalog_t *catalog = NULL;
    vp_error_t error;

    if (vp_catalog_build(&bare->model, &options, &catalog, &error) != VP_OK) {
        give_up(&error);
    }
    vp_catalog_destroy(bare);
    return catalog;
}

static uint64_t *read_instance(uint32_t n_ranks, uint32_t mib, uint32_t number)
{
    char path[1024];
    char *text = NULL;
    size_t n_bytes = 0;
    uint64_t *bytes = NULL;
    uint32_t n_read = 0;
    vp_error_t error;

    (void)snprintf(path, sizeof(path), "%s/protocol50/g%u-%uMiB-%u.csv", VP_BENCH_DATA, n_ranks,
                   mib, number);
    if (vp_file_read(path, 1 << 20, &text, &n_bytes, &error) != VP_OK ||
        vp_demand_parse(text, path, &bytes, &n_read, &error) != VP_OK) {
        give_up(&error);
    }
    free(text);
    return bytes;
}

static void protocol(const vp_catalog_t *catalog, uint64_t alpha_ns)
{
    static const struct {
        const char *planner;
        const char *name;
        vp_effort_t effort;
        uint32_t n_repeats;
    } ways[] = {{"auto", "call", VP_EFFORT_CALL, 9},
                {"auto", "thorough", VP_EFFORT_THOROUGH, 1},
                {"paper", "paper", VP_EFFORT_CALL, 3}};
    measure_t measures[3] = {{0}};
    measure_t by_size[N_SIZES] = {{0}}; /* in a call */
    char label[64];
    uint32_t size;
    uint32_t number;
    uint32_t way;

    for (size = 0; size < N_SIZES; size++) {
        for (number = 0; number < N_DEMANDS; number++) {
            uint64_t *bytes = read_instance(catalog->model->n_ranks, 8U << size, number);
            vp_bound_t bound = measure_bound(catalog->model, bytes, alpha_ns);

            for (way = 0; way < 3; way++) {
                const vp_schedule_options_t options = {.alpha_ns = alpha_ns,
                                                       .effort = ways[way].effort};

                measure_plan(ways[way].planner, catalog, bytes, &options, &bound,
                             ways[way].n_repeats, &measures[way]);
                if (way == 0) {
                    measure_plan(ways[way].planner, catalog, bytes, &options, &bound,
                                 ways[way].n_repeats, &by_size[size]);
                }
            }
            free(bytes);
        }
    }
    for (way = 0; way < 3; way++) {
        (void)snprintf(label, sizeof(label), "%u GPUs, 25 instances, alpha %u us, %s",
                       catalog->model->n_ranks, (unsigned)(alpha_ns / 1000), ways[way].name);
        measure_print_row(label, &measures[way]);
    }
    for (size = 0; size < N_SIZES; size++) {
        (void)snprintf(label, sizeof(label), "%u GPUs, the 5 of %u MiB, alpha %u us, call",
                       catalog->model->n_ranks, 8U << size, (unsigned)(alpha_ns / 1000));
        measure_print_row(label, &by_size[size]);
    }
}

static void tight_machine(const char *topology, const char *name)
{
    static const bench_kind_t kinds[] = {BENCH_UNIFORM, BENCH_ZIPF06, BENCH_HOT_MOE};
    vp_catalog_t *catalog = bench_catalog(topology);
    size_t i;

    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        uint64_t *bytes = bench_demand(kinds[i], catalog->model->n_ranks, UINT64_C(1) << 30, 7);
        vp_schedule_options_t options = {.alpha_ns = 10000};
        vp_bound_t bound = measure_bound(catalog->model, bytes, options.alpha_ns);
        measure_t call = {0};
        measure_t thorough = {0};
        char label[96];

        measure_plan("auto", catalog, bytes, &options, &bound, 5, &call);
        options.effort = VP_EFFORT_THOROUGH;
        measure_plan("auto", catalog, bytes, &options, &bound, 1, &thorough);
        (void)snprintf(label, sizeof(label), "%s, %s, call", name, bench_kind_text(kinds[i]));
        measure_print_row(label, &call);
        (void)snprintf(label, sizeof(label), "%s, %s, thorough", name, bench_kind_text(kinds[i]));
        measure_print_row(label, &thorough);
        free(bytes);
    }
    vp_catalog_destroy(catalog);
}

int main(void)
{
    static const uint64_t alphas_ns[] = {10000, 5000, 1000, 0};
    vp_catalog_t *catalogs[2] = {full_catalog("r5080-bf3:nodes=1"),
                                 full_catalog("r5080-bf3:nodes=2")};
    uint32_t a;
    uint32_t c;

    measure_print_head();
    for (a = 0; a < 4; a++) {
        for (c = 0; c < 2; c++) {
            protocol(catalogs[c], alphas_ns[a]);
        }
    }
    vp_catalog_destroy(catalogs[1]);
    vp_catalog_destroy(catalogs[0]);
    tight_machine(VP_BENCH_DATA "/two-nics.json:nodes=4", "two NICs a group, 4 nodes");
    tight_machine(VP_BENCH_DATA "/two-nics.json:nodes=8", "two NICs a group, 8 nodes");
    tight_machine(VP_BENCH_DATA "/four-groups.json", "one node, four groups of four");
    return 0;
}
