/* SPDX-License-Identifier: BSD-3-Clause */
#include "vp_config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/command.h"
#include "tools/doctor/doctor.h"
#include "tools/terminal.h"

enum { MAX_TIMEOUT_MS = 600000 };

typedef struct doctor_options {
    const char *mpirun;
    const char *root;
    const char *bundle;
    const char *trace;
    uint32_t timeout_ms;
    bool is_json;
} doctor_options_t;

static const vp_option_t known_options[] = {
    {.name = "mpirun",
     .value = "PROGRAM",
     .help = "look at the Open MPI that this belongs to",
     .unless_given = "mpirun",
     VP_FIELD(doctor_options_t, mpirun),
     .kind = VP_OPTION_TEXT,
     .offer = VP_OFFER_FILES},
    {.name = "bundle",
     .value = "FILE",
     .help = "also write an archive (.tar.gz) to attach to a report: findings, versions, "
             "parameters, topology, catalog, trace; without names of hosts and users",
     VP_FIELD(doctor_options_t, bundle),
     .kind = VP_OPTION_TEXT,
     .offer = VP_OFFER_FILES},
    {.name = "trace",
     .value = "FILE",
     .help = "the trace that goes into the bundle",
     .unless_given = "rank 0's of coll_variopath_trace",
     VP_FIELD(doctor_options_t, trace),
     .kind = VP_OPTION_TEXT,
     .offer = VP_OFFER_FILES},
    {.name = "timeout-ms",
     .value = "T",
     .help = "how long a program or a driver may take to answer",
     .unless_given = "10000",
     VP_FIELD(doctor_options_t, timeout_ms),
     .kind = VP_OPTION_NUMBER,
     .least = 1,
     .most = MAX_TIMEOUT_MS},
    {.name = "root",
     .value = "FOLDER",
     .help = "read /sys, /proc and /dev/shm below this folder, a copy of another machine's",
     VP_FIELD(doctor_options_t, root),
     .kind = VP_OPTION_TEXT,
     .offer = VP_OFFER_FILES},
    {.name = "json", .help = "print one JSON object", VP_FIELD(doctor_options_t, is_json)},
    {.name = NULL},
};

static void look(vp_doctor_t *doctor)
{
    static void (*const parts[])(vp_doctor_t *) = {
        vp_doctor_look_at_ompi,     vp_doctor_look_at_ucx,   vp_doctor_look_at_gpus,
        vp_doctor_look_at_topology, vp_doctor_look_at_bus,   vp_doctor_look_at_limits,
        vp_doctor_look_at_slurm,    vp_doctor_look_at_calls,
    };
    size_t i;

    for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        parts[i](doctor);
    }
}

static vp_status_t print_json(const vp_doctor_t *doctor, vp_error_t *error)
{
    json_t *root = vp_doctor_pack(doctor);
    bool is_printed = root != NULL && json_dumpf(root, stdout, JSON_INDENT(2)) == 0;

    json_decref(root);
    if (!is_printed) {
        return vp_error_set(error, VP_ERR_IO,
                            "cannot write the findings as JSON; check the disk and the memory");
    }
    (void)printf("\n");
    return VP_OK;
}

static void print_finding(const vp_finding_t *finding)
{
    static const vp_style_t styles[] = {VP_STYLE_GREEN, VP_STYLE_CYAN, VP_STYLE_YELLOW,
                                        VP_STYLE_RED};

    (void)printf("  %s%-7s%s  %s\n", vp_style(stdout, styles[finding->level]),
                 vp_level_text(finding->level), vp_style(stdout, VP_STYLE_NONE), finding->what);
    if (finding->level != VP_LEVEL_OK && finding->remedy[0] != '\0') {
        (void)printf("           %s\n           see %s\n", finding->remedy, finding->document);
    }
}

static void print_text(const vp_doctor_t *doctor)
{
    const char *section = "";
    size_t n_errors = vp_doctor_count(doctor, VP_LEVEL_ERROR);
    size_t n_warnings = vp_doctor_count(doctor, VP_LEVEL_WARNING);
    size_t i;

    for (i = 0; i < doctor->n_findings; i++) {
        if (strcmp(section, doctor->findings[i].section) != 0) {
            section = doctor->findings[i].section;
            (void)printf("%s%s%s%s\n", i == 0 ? "" : "\n", vp_style(stdout, VP_STYLE_BOLD), section,
                         vp_style(stdout, VP_STYLE_NONE));
        }
        print_finding(&doctor->findings[i]);
    }
    if (n_errors + n_warnings == 0) {
        (void)printf("\nNothing is in the way.\n");
    } else {
        (void)printf("\n%zu error%s, %zu warning%s.\n", n_errors, n_errors == 1 ? "" : "s",
                     n_warnings, n_warnings == 1 ? "" : "s");
    }
}

/* The trace of rank 0 that the parameters name, if it is there; else NULL. */
static const char *find_trace(const vp_doctor_t *doctor, char *path, size_t n_bytes)
{
    const char *trace = vp_doctor_parameter(doctor, "trace");

    if (trace == NULL || trace[0] == '\0') {
        return NULL;
    }
    (void)snprintf(path, n_bytes, "%s.0", trace);
    return access(path, R_OK) == 0 ? path : NULL;
}

static vp_status_t examine(const doctor_options_t *options, vp_doctor_t *doctor, vp_error_t *error)
{
    vp_progress_t progress;
    vp_status_t status = VP_OK;
    char path[1200];

    vp_progress_begin(&progress, "asking Open MPI, UCX and the driver");
    look(doctor);
    if (doctor->is_incomplete) {
        status = vp_error_no_memory(error, "the findings");
    }
    if (status == VP_OK && options->bundle != NULL) {
        status = vp_doctor_bundle(doctor,
                                  options->trace != NULL ? options->trace
                                                         : find_trace(doctor, path, sizeof(path)),
                                  options->bundle, error);
    }
    vp_progress_end(&progress);
    if (status == VP_OK && options->is_json) {
        status = print_json(doctor, error);
    } else if (status == VP_OK) {
        print_text(doctor);
    }
    return status;
}

static int run(int argc, char **argv)
{
    doctor_options_t options = {.mpirun = "mpirun", .root = "", .timeout_ms = 10000};
    vp_doctor_t doctor = {0};
    vp_error_t error = {VP_OK, ""};
    vp_status_t status;
    int code;

    if (!vp_options_parse_all(&vp_command_doctor, argc, argv, &options, &code)) {
        return code;
    }
    if (options.trace != NULL && options.bundle == NULL) {
        return vp_command_usage("doctor", "--trace goes with --bundle");
    }
    doctor.mpirun = options.mpirun;
    doctor.root = options.root;
    doctor.timeout_ms = (int)options.timeout_ms;
    status = examine(&options, &doctor, &error);
    code = vp_doctor_count(&doctor, VP_LEVEL_ERROR) > 0 ? VP_EXIT_NO : VP_EXIT_OK;
    vp_doctor_release(&doctor);
    return status == VP_OK ? code : vp_command_fail(&error);
}

const vp_command_t vp_command_doctor = {
    .name = "doctor",
    .summary = "say what this machine and this Open MPI offer, and what is in the way",
    .forms = (const char *const[]){"doctor [OPTION]...", NULL},
    .paragraphs =
        (const char *const[]){
            "Looks at Open MPI and the component, at the UCX that a job gets, the CUDA driver and "
            "who may use whose memory, NICs and the GPUs they are near, ACS and the IOMMU, limits "
            "of containers and shells, and how Slurm hands out GPUs; and says what a communicator "
            "would do with its calls. Each finding is ok, a note, a warning or an error, with what "
            "to do and where to read on. What does not answer is given up after a time.",
            NULL},
    .options = known_options,
    .no = "there is an error among the findings",
    .notes = (const char *const[]){"Run it where a job's processes run, in the same environment: "
                                   "on a compute node, inside "
                                   "the container, within the batch job.",
                                   NULL},
    .examples =
        (const vp_example_t[]){
            {"srun -N1 -n1 variopath doctor", "a node of a cluster, as a job sees it"},
            {"variopath doctor --bundle report.tar.gz", "all of it in one file, for a report"},
            {NULL, NULL}},
    .run = run,
};
