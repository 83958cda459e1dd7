/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/local.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"

static const char how[] = "variopath probe --local, device memory";

static const char *const way_text[] = {"write", "read", "write", "read"};
static const char *const table_text[] = {"gpu", "uplink", "nic", "-"};

/* Emulated and slow links need the digits, fast ones do not. */
static void print_rate(FILE *stream, uint64_t bytes_per_s)
{
    if (bytes_per_s == 0) {
        (void)fprintf(stream, " %8s", "-");
    } else {
        (void)fprintf(stream, " %8.3f", (double)bytes_per_s / 1e9);
    }
}

static void print_gpus(const vp_probe_local_t *local, FILE *stream)
{
    const vp_model_t *model = local->model;
    uint32_t rank, i;

    for (rank = 0; rank < local->n_ranks; rank++) {
        (void)fprintf(stream, "GPU %-3u %s  %-16s %s\n", rank,
                      vp_probe_gpu_pci(local->gpus, local->gpu[rank]),
                      model->groups[model->rank_group[rank]].name,
                      vp_probe_gpu_name(local->gpus, local->gpu[rank]));
    }
    for (i = 0; i < model->n_nics; i++) {
        if (model->nics[i].node == 0) {
            (void)fprintf(stream,
                          "NIC %s at %s: not measured, a NIC is out of the driver's reach; "
                          "variopath-probe measures it in a job\n",
                          model->nics[i].name, model->groups[model->nics[i].group].name);
        }
    }
}

static void print_matrix(const vp_probe_local_t *local, const char *title, const uint64_t *rates,
                         FILE *stream)
{
    uint32_t a, b;

    (void)fprintf(stream, "\n%s, GB/s, row: source\n       ", title);
    for (b = 0; b < local->n_ranks; b++) {
        (void)fprintf(stream, " %8u", b);
    }
    for (a = 0; a < local->n_ranks; a++) {
        (void)fprintf(stream, "\n%7u", a);
        for (b = 0; b < local->n_ranks; b++) {
            print_rate(stream, rates[(size_t)a * local->n_ranks + b]);
        }
    }
    (void)fprintf(stream, "\n");
}

static void print_host(const vp_probe_local_t *local, FILE *stream)
{
    uint32_t i;

    (void)fprintf(stream, "\nPinned host memory, GB/s\n       ");
    for (i = 0; i < local->n_ranks; i++) {
        (void)fprintf(stream, " %8u", i);
    }
    (void)fprintf(stream, "\n     to");
    for (i = 0; i < local->n_ranks; i++) {
        print_rate(stream, local->to_host[i]);
    }
    (void)fprintf(stream, "\n   from");
    for (i = 0; i < local->n_ranks; i++) {
        print_rate(stream, local->from_host[i]);
    }
    (void)fprintf(stream, "\n");
}

static void print_shared(const vp_probe_local_t *local, FILE *stream)
{
    size_t i;
    uint32_t k;

    (void)fprintf(stream, "\nShared links, GB/s of all sources together\n%-34s %-6s %-6s", "link",
                  "table", "by");
    for (k = 1; k <= VP_PROBE_MAX_SOURCES; k++) {
        (void)fprintf(stream, " %8u", k);
    }
    (void)fprintf(stream, "\n");
    for (i = 0; i < local->n_shared; i++) {
        const vp_probe_shared_t *it = &local->shared[i];

        (void)fprintf(stream, "%-34s %-6s %-6s", it->name, table_text[it->table],
                      way_text[it->way]);
        for (k = 0; k < VP_PROBE_MAX_SOURCES; k++) {
            print_rate(stream, it->bytes_per_s[k]);
        }
        (void)fprintf(stream, "\n");
    }
}

static void print_contention(const vp_probe_local_t *local, FILE *stream)
{
    const char *before = "";
    uint32_t table, k;

    (void)fprintf(stream, "\nContention, for a topology file (medians over links)\n"
                          "\"contention\": {\"probed\": {");
    for (table = 0; table < VP_N_CONTENTION_TABLES; table++) {
        if (local->contention.n_entries[table] < 2) {
            continue;
        }
        (void)fprintf(stream, "%s\n  \"%s\": {\"share_ppm\": [", before, table_text[table]);
        for (k = 0; k < local->contention.n_entries[table]; k++) {
            (void)fprintf(stream, "%s%" PRIu32, k == 0 ? "" : ", ",
                          local->contention.share_ppm[table][k]);
        }
        (void)fprintf(stream, "], \"origin\": \"measured: %s\"}", how);
        before = ",";
    }
    (void)fprintf(stream, "}}\n");
}

static void print_reach(const vp_probe_local_t *local, FILE *stream)
{
    uint32_t n_none = 0;
    uint32_t a, b;

    for (a = 0; a < local->n_ranks; a++) {
        for (b = 0; b < local->n_ranks; b++) {
            vp_probe_reach_t reach = vp_probe_gpus_reach(local->gpus, local->gpu[a], local->gpu[b]);

            n_none += a != b && reach == VP_PROBE_NO_PEER;
            if (a != b && reach == VP_PROBE_WRONG_BYTES) {
                (void)fprintf(stream,
                              "\nWRONG BYTES arrive from GPU %u in GPU %u: peer-to-peer "
                              "must not be used on this machine\n",
                              a, b);
            }
        }
    }
    if (n_none > 0) {
        (void)fprintf(stream, "\n%u of %u ordered pairs cannot reach each other's memory\n", n_none,
                      local->n_ranks * (local->n_ranks - 1));
    }
}

void vp_probe_local_print(const vp_probe_local_t *local, FILE *stream)
{
    int version = vp_probe_driver_version(local->gpus);

    (void)fprintf(stream, "variopath probe --local: %s, CUDA driver %d.%d, GPUs found by %s\n",
                  local->model->name, version / 1000, version % 1000 / 10,
                  local->is_by_address ? "PCI address" : "order");
    print_gpus(local, stream);
    print_reach(local, stream);
    print_matrix(local, "Peer to peer, written by the source", local->write, stream);
    print_matrix(local, "Peer to peer, read by the destination", local->read, stream);
    print_matrix(local, "Through host memory, both halves at once", local->staged, stream);
    print_host(local, stream);
    print_shared(local, stream);
    print_contention(local, stream);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Median over the rank pairs of a path; list: room for n_ranks squared. */
static uint64_t instance_rate(const vp_probe_local_t *local, const vp_instance_t *it,
                              uint64_t *list)
{
    const uint64_t *rates = it->kind == VP_PATH_HOST ? local->staged : local->write;
    const vp_group_t *from = &local->model->groups[it->from_group];
    const vp_group_t *to = &local->model->groups[it->to_group];
    size_t n = 0;
    uint32_t a, b;

    for (a = from->first_rank; a < from->first_rank + from->n_ranks; a++) {
        for (b = to->first_rank; b < to->first_rank + to->n_ranks; b++) {
            uint64_t rate = rates[(size_t)a * local->n_ranks + b];

            if (rate > 0) {
                list[n++] = rate;
            }
        }
    }
    qsort(list, n, sizeof(*list), compare);
    return n == 0 ? 0 : list[n / 2];
}

/* What was measured, as the cases of a calibration; both arrays have room for all of them. */
static size_t make_cases(const vp_probe_local_t *local, uint64_t *list, vp_probe_case_t *cases,
                         vp_probe_result_t *results)
{
    const vp_model_t *model = local->model;
    size_t n = 0;
    size_t i;
    uint32_t k;

    for (k = 0; k < model->n_instances; k++) {
        const vp_instance_t *it = &model->instances[k];

        if (it->kind != VP_PATH_NIC && model->groups[it->from_group].node == 0 &&
            model->groups[it->to_group].node == 0) {
            cases[n] = (vp_probe_case_t){.resource = VP_PROBE_ALONE, .n_flows = 1};
            cases[n].flows[0].instance = k;
            results[n++].median = instance_rate(local, it, list);
        }
    }
    for (i = 0; i < local->n_shared; i++) {
        const vp_probe_shared_t *it = &local->shared[i];

        cases[n] = (vp_probe_case_t){.resource = it->resource, .n_flows = 2};
        for (k = 0; it->resource != UINT32_MAX && k < it->n_sources; k++) {
            results[n].median =
                it->bytes_per_s[k] > results[n].median ? it->bytes_per_s[k] : results[n].median;
        }
        n += it->resource != UINT32_MAX;
    }
    return n;
}

vp_status_t vp_probe_local_topology(const vp_probe_local_t *local, const char *argument,
                                    const char *text, const char *set, char **text_p,
                                    vp_error_t *error)
{
    size_t most = local->model->n_instances + local->n_shared + 1;
    uint64_t *list = vp_array_new((size_t)local->n_ranks * local->n_ranks, sizeof(*list));
    vp_probe_case_t *cases = vp_array_new(most, sizeof(*cases));
    vp_probe_result_t *results = vp_array_new(most, sizeof(*results));
    vp_probe_findings_t findings = {.model = local->model,
                                    .cases = cases,
                                    .results = results,
                                    .alpha_ns = local->model->alpha_ns,
                                    .how = how,
                                    .contention = &local->contention};
    vp_status_t status;

    if (list == NULL || cases == NULL || results == NULL) {
        status = vp_error_no_memory(error, "the calibration");
    } else {
        findings.n_cases = make_cases(local, list, cases, results);
        status = text == NULL ? vp_probe_calibrate(argument, set, &findings, text_p, error)
                              : vp_probe_calibrate_text(text, set, &findings, text_p, error);
    }
    free(list);
    free(cases);
    free(results);
    return status;
}
