/*
 * What catalogs cost at 8 to 1,024 GPUs: time to build one from the topology's
 * name until its bytes are ready, peak memory of the process that does it,
 * length of the file, time to load it; beside it Algorithm 1 in full, where it
 * ends within its budgets. Prints a Markdown table. Each case has a process of
 * its own, so that peaks do not mix.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "catalog/build.h"
#include "catalog/store.h"
#include "catalog/topology.h"

enum { MAX_EXHAUSTIVE_GPUS = 32 };
static const vp_build_options_t budgets = {UINT64_C(1000000000), 1200000};

typedef struct result {
    vp_status_t status;
    vp_catalog_mode_t mode;
    uint64_t build_ns;
    uint64_t load_ns;
    uint64_t n_steps;
    size_t file_bytes;
    uint32_t n_shapes;
    uint32_t n_families;
    uint32_t n_instances;
} result_t;

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * VP_NS_PER_S + (uint64_t)now.tv_nsec;
}

static vp_status_t measure(const char *topology, vp_build_mode_t mode, result_t *result)
{
    vp_model_t *model = NULL;
    vp_catalog_t *catalog = NULL;
    vp_catalog_t *loaded = NULL;
    uint8_t *data = NULL;
    uint64_t begin_ns = now_ns();
    vp_status_t status = vp_topology_resolve(topology, &model, NULL);

    if (status == VP_OK) {
        status = vp_catalog_make(&model, mode, mode == VP_BUILD_EXHAUSTIVE ? &budgets : NULL, NULL,
                                 &catalog, NULL);
    }
    if (status == VP_OK) {
        status = vp_catalog_seal(catalog, NULL);
    }
    if (status == VP_OK) {
        status = vp_catalog_encode(catalog, &data, &result->file_bytes, NULL);
    }
    result->build_ns = now_ns() - begin_ns;
    if (status != VP_OK) {
        return status;
    }
    result->mode = catalog->mode;
    result->n_steps = catalog->build_steps;
    result->n_shapes = catalog->n_shapes;
    result->n_families = catalog->n_families;
    result->n_instances = catalog->model->n_instances;
    vp_catalog_destroy(catalog);
    begin_ns = now_ns();
    status = vp_catalog_decode(data, result->file_bytes, topology, &loaded, NULL);
    result->load_ns = now_ns() - begin_ns;
    vp_catalog_destroy(loaded);
    free(data);
    return status;
}

/* Measures in a child; false: it did not come back. *peak_kib_p is the child's. */
static bool run(const char *topology, vp_build_mode_t mode, result_t *result, long *peak_kib_p)
{
    struct rusage usage = {0};
    int ends[2];
    int state = 0;
    pid_t child;
    bool is_read;

    memset(result, 0, sizeof(*result));
    if (pipe(ends) != 0) {
        return false;
    }
    (void)fflush(stdout);
    child = fork();
    if (child == 0) {
        result->status = measure(topology, mode, result);
        _exit(write(ends[1], result, sizeof(*result)) == (ssize_t)sizeof(*result) ? 0 : 1);
    }
    (void)close(ends[1]);
    is_read = child > 0 && read(ends[0], result, sizeof(*result)) == (ssize_t)sizeof(*result);
    (void)close(ends[0]);
    if (child < 0 || wait4(child, &state, 0, &usage) != child) {
        return false;
    }
    *peak_kib_p = usage.ru_maxrss;
    return is_read && state == 0;
}

static void print_size(size_t n_bytes)
{
    if (n_bytes < 1024 * 1024) {
        (void)printf("%.1f KiB", (double)n_bytes / 1024);
    } else {
        (void)printf("%.1f MiB", (double)n_bytes / 1048576);
    }
}

static void print_exhaustive(const char *topology, uint32_t n_gpus)
{
    result_t result;
    long peak_kib = 0;

    if (n_gpus > MAX_EXHAUSTIVE_GPUS) {
        (void)printf(" not tried |");
        return;
    }
    if (!run(topology, VP_BUILD_EXHAUSTIVE, &result, &peak_kib)) {
        (void)printf(" failed |");
        return;
    }
    if (result.status != VP_OK) {
        (void)printf(" no end within %" PRIu32 " families: %.1f s, %ld MiB |", budgets.max_families,
                     (double)result.build_ns / 1e9, peak_kib / 1024);
        return;
    }
    (void)printf(" %.1f ms, %ld MiB, ", (double)result.build_ns / 1e6, peak_kib / 1024);
    print_size(result.file_bytes);
    (void)printf("; %" PRIu32 " shapes, %" PRIu32 " families |", result.n_shapes,
                 result.n_families);
}

static bool print_row(const char *machine, uint32_t gpus_per_node, uint32_t n_gpus)
{
    result_t result;
    long peak_kib = 0;
    char topology[64];

    (void)snprintf(topology, sizeof(topology), "%s:nodes=%" PRIu32, machine,
                   n_gpus / gpus_per_node);
    if (!run(topology, VP_BUILD_AUTO, &result, &peak_kib) || result.status != VP_OK) {
        (void)fprintf(stderr, "bench-catalog: %s failed\n", topology);
        return false;
    }
    (void)printf("| %s | %" PRIu32 " | %" PRIu32 " | %s | %.1f ms | %.1f MiB | ", machine, n_gpus,
                 result.n_instances,
                 result.mode == VP_CATALOG_EXHAUSTIVE ? "exhaustive" : "generated",
                 (double)result.build_ns / 1e6, (double)peak_kib / 1024);
    print_size(result.file_bytes);
    (void)printf(" | %.1f ms |", (double)result.load_ns / 1e6);
    print_exhaustive(topology, n_gpus);
    (void)printf("\n");
    return true;
}

int main(void)
{
    static const struct {
        const char *machine;
        uint32_t gpus_per_node;
    } machines[] = {{"r5080-bf3", 8}, {"r5090-bf3", 16}, {"l20-cx7", 8}, {"r5080-cx8", 8}};
    static const uint32_t sizes[] = {8, 16, 24, 32, 256, 1024};
    bool is_complete = true;
    size_t i;
    size_t k;

    (void)printf("| machine | GPUs | path instances | mode (auto) | build | peak memory | file | "
                 "load | Algorithm 1 in full |\n"
                 "|---|---|---|---|---|---|---|---|---|\n");
    for (i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
        for (k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
            if (sizes[k] % machines[i].gpus_per_node == 0) {
                is_complete = print_row(machines[i].machine, machines[i].gpus_per_node, sizes[k]) &&
                              is_complete;
            }
        }
    }
    return is_complete ? EXIT_SUCCESS : EXIT_FAILURE;
}
