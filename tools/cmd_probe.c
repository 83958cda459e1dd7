/* SPDX-License-Identifier: BSD-3-Clause */
#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "catalog/import/import.h"
#include "catalog/import/model_report.h"
#include "catalog/import/native.h"
#include "catalog/topology.h"
#include "tools/command.h"
#include "tools/probe/local.h"

enum { MAX_REPEATS = 1000 };
#define LARGEST_COPY ((size_t)64 << 20)

typedef struct request {
    bool is_local;
    const char *topology; /* NULL: this machine, discovered */
    const char *output;
    const char *set;
    vp_probe_effort_t effort;
} request_t;

static void print_help(void)
{
    (void)printf(
        "Usage: variopath probe --local [OPTION]...\n"
        "Measures the GPUs of this machine through the CUDA driver, in one process: every pair,\n"
        "peer to peer and through host memory, written and read, and every shared link with one\n"
        "to four sources at once. Prints a report and the contention table of a topology file.\n"
        "\n"
        "  --topology TOPOLOGY  what this machine is [discovered by hwloc]; GPUs are found by PCI\n"
        "                       address where it has them, else in the driver's order\n"
        "  -o, --output FILE    write the topology with the measured rates and contention\n"
        "  --set NAME           name of the new rate set and contention profile [probed]\n"
        "  --seconds S          how long a measurement should take [0.02]\n"
        "  --repeat N           measurements of each, the median counts [5]\n"
        "  --help               print this\n"
        "Links of NICs and what an activation costs are measured in a job, by variopath-probe.\n");
}

static bool set_number(const char *text, double least, double most, double *value_p)
{
    char *end;
    double value = strtod(text, &end);

    *value_p = value;
    return *text != '\0' && *end == '\0' && value >= least && value <= most;
}

/* 0: run; 1: help; 2: bad usage. */
static int parse(int argc, char **argv, request_t *request)
{
    static const struct option known[] = {
        {"local", no_argument, NULL, 'l'},         {"topology", required_argument, NULL, 't'},
        {"output", required_argument, NULL, 'o'},  {"set", required_argument, NULL, 's'},
        {"seconds", required_argument, NULL, 'd'}, {"repeat", required_argument, NULL, 'r'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
    double number = request->effort.n_repeats;
    bool is_good = true;
    int letter;

    opterr = 0;
    while (is_good && (letter = getopt_long(argc, argv, "o:", known, NULL)) != -1) {
        switch (letter) {
        case 'l':
            request->is_local = true;
            break;
        case 't':
            request->topology = optarg;
            break;
        case 'o':
            request->output = optarg;
            break;
        case 's':
            request->set = optarg;
            break;
        case 'd':
            is_good = set_number(optarg, 0.0001, 10, &request->effort.seconds);
            break;
        case 'r':
            is_good = set_number(optarg, 1, MAX_REPEATS, &number);
            break;
        case 'h':
            return 1;
        default:
            return 2;
        }
    }
    request->effort.n_repeats = (uint32_t)number;
    return is_good && request->is_local && optind == argc && request->set[0] != '\0' ? 0 : 2;
}

/* The topology of this machine, and its model. */
static vp_status_t discover(char **text_p, vp_model_t **model_p, vp_error_t *error)
{
    vp_hardware_t *machine = NULL;
    json_t *native = NULL;
    vp_status_t status = vp_import_live(false, &machine, error);

    if (status == VP_OK) {
        status = vp_hardware_topology(machine, "live", &native, error);
    }
    vp_hardware_destroy(machine);
    if (status != VP_OK) {
        return status;
    }
    *text_p = json_dumps(native, JSON_INDENT(2));
    json_decref(native);
    return *text_p == NULL
               ? vp_error_no_memory(error, "the topology of this machine")
               : vp_import_model("this machine", *text_p, strlen(*text_p), model_p, error);
}

static vp_status_t measure(const request_t *request, const char *native, const vp_model_t *model,
                           vp_error_t *error)
{
    vp_probe_local_t local;
    char *text = NULL;
    vp_status_t status = vp_probe_local(model, &request->effort, &local, error);

    if (status != VP_OK) {
        return status;
    }
    if (request->output != NULL) {
        status =
            vp_probe_local_topology(&local, request->topology, native, request->set, &text, error);
    }
    if (text != NULL) {
        status = vp_file_write(request->output, text, strlen(text), error);
    }
    if (status == VP_OK) {
        vp_probe_local_print(&local, stdout);
    }
    free(text);
    vp_probe_local_clear(&local);
    return status;
}

int vp_command_probe(int argc, char **argv)
{
    request_t request = {.set = "probed",
                         .effort = {.seconds = 0.02, .n_repeats = 5, .n_bytes = LARGEST_COPY}};
    vp_model_t *model = NULL;
    char *native = NULL;
    vp_status_t status;
    vp_error_t error;

    switch (parse(argc, argv, &request)) {
    case 1:
        print_help();
        return VP_EXIT_OK;
    case 2:
        return vp_command_usage("probe", "--local is needed, or an option is wrong");
    default:
        break;
    }
    status = request.topology == NULL ? discover(&native, &model, &error)
                                      : vp_topology_resolve(request.topology, &model, &error);
    if (status == VP_OK) {
        status = measure(&request, native, model, &error);
    }
    vp_model_destroy(model);
    free(native);
    return status == VP_OK ? VP_EXIT_OK : vp_command_fail(&error);
}
