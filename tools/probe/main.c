/*
 * variopath-probe: measures the links of the machine that a job runs on and
 * writes them into a topology file.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "vp_config.h"

#include <getopt.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/units.h"
#include "catalog/topology.h"
#include "tools/probe/calibrate.h"
#include "tools/probe/job.h"

enum { MAX_REPETITIONS = 1000, N_OVERHEADS = 21, MIN_BYTES = 65536, HALF = 2 };
#define MAX_BYTES ((size_t)256 << 20)

typedef struct probe_options {
    const char *topology;
    const char *output;
    const char *set;
    int repetitions;
    double seconds;
} probe_options_t;

static void print_help(FILE *stream)
{
    (void)fprintf(
        stream,
        "Usage: mpirun -np N variopath-probe --topology TOPOLOGY [OPTION]...\n"
        "Measures every path of a topology alone, and two at a time on every shared link, with\n"
        "puts from host memory to host memory. World rank r is rank r of the topology.\n"
        "\n"
        "  --topology TOPOLOGY  see `variopath topology --help`\n"
        "  -o, --output FILE    write the topology with the measured rates and alpha\n"
        "  --set NAME           name of the new rate set [probed]\n"
        "  --seconds S          how long a measurement should take [0.3]\n"
        "  --repeat N           measurements of each, the median counts [5]\n"
        "  --help               print this\n"
        "Paths slower than half of the file's figure are warned of.\n");
}

/* 0: run; 1: help; 2: bad usage. */
static int parse(int argc, char **argv, probe_options_t *options)
{
    static const struct option known[] = {{"topology", required_argument, NULL, 't'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"set", required_argument, NULL, 's'},
                                          {"seconds", required_argument, NULL, 'd'},
                                          {"repeat", required_argument, NULL, 'r'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    char *end = (char *)"";
    int letter;

    opterr = 0;
    while ((letter = getopt_long(argc, argv, "o:", known, NULL)) != -1 && *end == '\0') {
        switch (letter) {
        case 't':
            options->topology = optarg;
            break;
        case 'o':
            options->output = optarg;
            break;
        case 's':
            options->set = optarg;
            break;
        case 'd':
            options->seconds = strtod(optarg, &end);
            break;
        case 'r':
            options->repetitions = (int)strtol(optarg, &end, 10);
            break;
        case 'h':
            return 1;
        default:
            return 2;
        }
    }
    return *end == '\0' && optind == argc && options->topology != NULL && options->set[0] != '\0' &&
                   options->repetitions >= 1 && options->repetitions <= MAX_REPETITIONS &&
                   options->seconds >= 0.001 && options->seconds <= 60
               ? 0
               : 2;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Bytes of one flow, so that a case takes about `seconds` by the file's figures. */
static size_t bytes_of(const vp_model_t *model, const vp_probe_case_t *it, double seconds)
{
    double bytes = (double)model->instances[it->flows[0].instance].bytes_per_s * seconds;

    bytes = bytes / it->n_flows;
    if (bytes < MIN_BYTES) {
        return MIN_BYTES;
    }
    return bytes > (double)MAX_BYTES ? MAX_BYTES : (size_t)bytes;
}

static vp_status_t measure(vp_probe_job_t *job, const vp_probe_case_t *it, size_t n_bytes,
                           int repetitions, vp_probe_result_t *result_p, vp_error_t *error)
{
    double seconds[MAX_REPETITIONS];
    double total = (double)n_bytes * it->n_flows;
    vp_status_t status;
    int i;

    /* The first put along a path opens its connection's window and is not counted. */
    status = vp_probe_job_run(job, it, n_bytes, &seconds[0], error);
    for (i = 0; status == VP_OK && i < repetitions; i++) {
        status = vp_probe_job_run(job, it, n_bytes, &seconds[i], error);
    }
    if (status == VP_OK) {
        qsort(seconds, (size_t)repetitions, sizeof(*seconds), compare);
        result_p->median = (uint64_t)(total / seconds[repetitions / 2]);
        result_p->most = (uint64_t)(total / seconds[0]);
        result_p->least = (uint64_t)(total / seconds[repetitions - 1]);
    }
    return status;
}

static vp_status_t measure_alpha(vp_probe_job_t *job, const vp_probe_case_t *it, uint64_t *alpha_p,
                                 vp_error_t *error)
{
    double seconds[N_OVERHEADS];
    vp_status_t status = VP_OK;
    int i;

    for (i = 0; status == VP_OK && i < N_OVERHEADS; i++) {
        status = vp_probe_job_overhead(job, it, &seconds[i], error);
    }
    if (status == VP_OK) {
        qsort(seconds, N_OVERHEADS, sizeof(*seconds), compare);
        *alpha_p = (uint64_t)(seconds[N_OVERHEADS / 2] * 1e9);
        *alpha_p = *alpha_p > VP_NS_PER_S ? VP_NS_PER_S : *alpha_p;
    }
    return status;
}

/* What the file says about a case, and what it is called. */
static uint64_t nominal(const vp_model_t *model, const vp_probe_case_t *it, char *name,
                        size_t n_name)
{
    const vp_instance_t *instance = &model->instances[it->flows[0].instance];

    if (it->resource != VP_PROBE_ALONE) {
        uint64_t both =
            vp_add_sat(instance->bytes_per_s, model->instances[it->flows[1].instance].bytes_per_s);

        (void)snprintf(name, n_name, "two paths over %s", model->resources[it->resource].name);
        return both < model->resources[it->resource].bytes_per_s
                   ? both
                   : model->resources[it->resource].bytes_per_s;
    }
    (void)snprintf(name, n_name, "%s %s > %s by %s > %s", vp_path_kind_text(instance->kind),
                   model->groups[instance->from_group].name, model->groups[instance->to_group].name,
                   model->classes[instance->source_class].name,
                   model->classes[instance->destination_class].name);
    return instance->bytes_per_s;
}

static void report(const vp_probe_findings_t *findings)
{
    char name[5 * VP_MAX_NAME_BYTES];
    size_t i;

    (void)printf("%-52s %12s %12s %12s %12s\n", "MB/s", "file", "median", "least", "most");
    for (i = 0; i < findings->n_cases; i++) {
        const vp_probe_result_t *it = &findings->results[i];
        uint64_t expected = nominal(findings->model, &findings->cases[i], name, sizeof(name));

        (void)printf("%-52s %12.3f %12.3f %12.3f %12.3f\n", name, (double)expected / 1e6,
                     (double)it->median / 1e6, (double)it->least / 1e6, (double)it->most / 1e6);
        if (it->median < expected / HALF) {
            (void)fprintf(stderr,
                          "variopath-probe: warning: %s carries less than half of the file's "
                          "figure; usual causes are ACS or an IOMMU that sends peer-to-peer "
                          "traffic through the root, a NIC on another switch, and peer-to-peer "
                          "being off in the driver\n",
                          name);
        }
    }
    (void)printf("alpha, a put of one byte and a barrier of all ranks: %" PRIu64 " ns\n",
                 findings->alpha_ns);
}

static vp_status_t finish(const probe_options_t *options, const vp_probe_findings_t *findings,
                          vp_error_t *error)
{
    char *text = NULL;
    vp_status_t status = VP_OK;

    report(findings);
    if (options->output != NULL) {
        status = vp_probe_calibrate(options->topology, options->set, findings, &text, error);
    }
    if (text != NULL) {
        status = vp_file_write(options->output, text, strlen(text), error);
    }
    free(text);
    return status;
}

static vp_status_t measure_all(const probe_options_t *options, vp_probe_findings_t *findings,
                               vp_probe_result_t *results, vp_error_t *error)
{
    vp_probe_job_t *job = NULL;
    size_t n_buffer = MIN_BYTES;
    vp_status_t status;
    size_t i;

    for (i = 0; i < findings->n_cases; i++) {
        size_t n_bytes = bytes_of(findings->model, &findings->cases[i], options->seconds);

        n_buffer = n_bytes > n_buffer ? n_bytes : n_buffer;
    }
    status = vp_probe_job_create(findings->model, findings->cases, findings->n_cases, n_buffer,
                                 &job, error);
    for (i = 0; status == VP_OK && i < findings->n_cases; i++) {
        status = measure(job, &findings->cases[i],
                         bytes_of(findings->model, &findings->cases[i], options->seconds),
                         options->repetitions, &results[i], error);
    }
    if (status == VP_OK) {
        status = measure_alpha(job, &findings->cases[0], &findings->alpha_ns, error);
    }
    vp_probe_job_destroy(job);
    return status;
}

static vp_status_t check_ranks(const vp_model_t *model, size_t n_cases, vp_error_t *error)
{
    int n_ranks;

    (void)MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if ((uint32_t)n_ranks != model->n_ranks) {
        return vp_error_set(error, VP_ERR_USAGE,
                            "%s has %" PRIu32 " ranks and the job has %d; start as many",
                            model->name, model->n_ranks, n_ranks);
    }
    if (n_cases == 0) {
        return vp_error_set(error, VP_ERR_USAGE, "%s has no path between two ranks to measure",
                            model->name);
    }
    return VP_OK;
}

static vp_status_t run(const probe_options_t *options, int rank, vp_error_t *error)
{
    vp_model_t *model = NULL;
    vp_probe_case_t *cases = NULL;
    vp_probe_result_t *results = NULL;
    vp_probe_findings_t findings = {.how = "variopath-probe, host memory"};
    vp_status_t status = vp_topology_resolve(options->topology, &model, error);

    if (status == VP_OK) {
        status = vp_probe_cases(model, &cases, &findings.n_cases, error);
    }
    if (status == VP_OK) {
        status = check_ranks(model, findings.n_cases, error);
    }
    if (status == VP_OK) {
        results = vp_array_new(findings.n_cases, sizeof(*results));
        status = results == NULL ? vp_error_no_memory(error, "the results") : VP_OK;
    }
    status = vp_probe_agree(status, error);
    if (status == VP_OK) {
        findings.model = model;
        findings.cases = cases;
        findings.results = results;
        status = measure_all(options, &findings, results, error);
    }
    if (status == VP_OK && rank == 0) {
        status = finish(options, &findings, error);
    }
    free(results);
    free(cases);
    vp_model_destroy(model);
    return status;
}

int main(int argc, char **argv)
{
    probe_options_t options = {.set = "probed", .repetitions = 5, .seconds = 0.3};
    int usage = parse(argc, argv, &options);
    vp_error_t error;
    vp_status_t status = VP_OK;
    int rank;

    (void)MPI_Init(&argc, &argv);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (usage == 0) {
        status = run(&options, rank, &error);
    } else if (rank == 0) {
        print_help(usage == 1 ? stdout : stderr);
    }
    if (status != VP_OK && rank == 0) {
        (void)fprintf(stderr, "variopath-probe: %s\n", error.text);
    }
    (void)MPI_Finalize();
    return usage == 2 || status == VP_ERR_USAGE ? 2 : status == VP_OK ? 0 : 3;
}
