/* SPDX-License-Identifier: BSD-3-Clause */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "catalog/import/import.h"
#include "catalog/import/model_report.h"
#include "catalog/import/native.h"
#include "catalog/json_write.h"
#include "catalog/topology.h"
#include "tools/command.h"
#include "tools/probe/local.h"
#include "tools/terminal.h"

enum { MAX_REPEATS = 1000 };
#define LARGEST_COPY ((size_t)64 << 20)

typedef struct request {
    bool is_local;
    const char *topology; /* NULL: this machine, discovered */
    const char *output;
    const char *set;
    bool is_json;
    vp_probe_effort_t effort;
} request_t;

static bool take_seconds(const char *text, void *options)
{
    request_t *request = options;
    char *end;
    double value = strtod(text, &end);

    request->effort.seconds = value;
    return *text != '\0' && *end == '\0' && value >= 0.0001 && value <= 10.0;
}

static const vp_option_t known_options[] = {
    {.name = "local", .help = "measure this machine; needed", VP_FIELD(request_t, is_local)},
    {.name = "topology",
     .value = "TOPOLOGY",
     .help = "what this machine is; GPUs are found by PCI address where it has them, else in the "
             "driver's "
             "order",
     .unless_given = "discovered by hwloc",
     VP_FIELD(request_t, topology),
     .kind = VP_OPTION_TEXT,
     .offer = VP_OFFER_TOPOLOGIES},
    {.name = "output",
     .letter = 'o',
     .value = "FILE",
     .help = "write the topology with the measured rates and contention",
     VP_FIELD(request_t, output),
     .kind = VP_OPTION_TEXT,
     .offer = VP_OFFER_FILES},
    {.name = "set",
     .value = "NAME",
     .help = "name of the new rate set and contention profile",
     .unless_given = "probed",
     VP_FIELD(request_t, set),
     .kind = VP_OPTION_TEXT},
    {.name = "seconds",
     .value = "S",
     .help = "how long a measurement should take",
     .unless_given = "0.02",
     .kind = VP_OPTION_CALL,
     .take = take_seconds},
    {.name = "repeat",
     .value = "N",
     .help = "measurements of each, the median counts",
     .unless_given = "5",
     VP_FIELD(request_t, effort.n_repeats),
     .kind = VP_OPTION_NUMBER,
     .least = 1,
     .most = MAX_REPEATS},
    {.name = "json",
     .help = "print one JSON object instead of the report",
     VP_FIELD(request_t, is_json)},
    {.name = NULL},
};

static int check_options(const request_t *request)
{
    if (!request->is_local) {
        return vp_command_usage("probe", "give --local; jobs are measured by variopath-probe");
    }
    if (request->set[0] == '\0') {
        return vp_command_usage("probe", "--set takes a name, not \"\"");
    }
    if (request->is_json && request->output != NULL && strcmp(request->output, "-") == 0) {
        return vp_command_usage("probe", "-o - and --json both go to standard output");
    }
    return VP_EXIT_OK;
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
    *text_p = vp_json_print(native, JSON_INDENT(2));
    json_decref(native);
    return *text_p == NULL
               ? vp_error_no_memory(error, "the topology of this machine")
               : vp_import_model("this machine", *text_p, strlen(*text_p), model_p, error);
}

static vp_status_t measure(const request_t *request, const char *native, const vp_model_t *model,
                           vp_error_t *error)
{
    vp_probe_local_t local;
    vp_progress_t progress;
    char *text = NULL;
    vp_status_t status;

    vp_progress_begin(&progress, "measuring");
    status = vp_probe_local(model, &request->effort, &local, error);
    vp_progress_end(&progress);
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
    if (status == VP_OK && request->is_json) {
        status = vp_probe_local_print_json(&local, stdout, error);
    } else if (status == VP_OK) {
        vp_probe_local_print(&local, stdout);
    }
    free(text);
    vp_probe_local_clear(&local);
    return status;
}

static int run(int argc, char **argv)
{
    request_t request = {.set = "probed",
                         .effort = {.seconds = 0.02, .n_repeats = 5, .n_bytes = LARGEST_COPY}};
    vp_model_t *model = NULL;
    char *native = NULL;
    vp_status_t status;
    vp_error_t error;
    int code;

    if (!vp_options_parse_all(&vp_command_probe, argc, argv, &request, &code)) {
        return code;
    }
    code = check_options(&request);
    if (code != VP_EXIT_OK) {
        return code;
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

const vp_command_t vp_command_probe = {
    .name = "probe",
    .summary = "measure the GPUs of this machine and the links they share",
    .forms = (const char *const[]){"probe --local [OPTION]...", NULL},
    .paragraphs =
        (const char *const[]){
            "Measures the GPUs of this machine through the CUDA driver, in one process: every "
            "pair, "
            "peer to peer and through host memory, written and read, and every shared link with "
            "one "
            "to four sources at once. Prints a report and the contention table of a topology file.",
            NULL},
    .options = known_options,
    .notes =
        (const char *const[]){
            "Links of NICs and what an activation costs are measured in a job, by variopath-probe.",
            NULL},
    .examples =
        (const vp_example_t[]){
            {"variopath probe --local -o measured.json",
             "a topology file with the rates of this machine, to build a catalog from"},
            {NULL, NULL}},
    .run = run,
};
