/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/json_write.h"
#include "vp_config.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/units.h"
#include "tools/command.h"
#include "tools/terminal.h"
#include "tools/trace_report.h"

enum { MAX_FILE_BYTES = 1 << 30, MAX_SLOWEST = 1000 };

typedef struct trace_options {
    const char *svg;
    uint32_t n_slowest;
    bool is_json;
} trace_options_t;

static const vp_option_t known_options[] = {
    {.name = "slowest",
     .value = "N",
     .help = "how many slow lanes to list",
     .unless_given = "10",
     VP_FIELD(trace_options_t, n_slowest),
     .kind = VP_OPTION_NUMBER,
     .most = MAX_SLOWEST},
    {.name = "svg",
     .value = "FILE",
     .help = "also draw what every rank sent over time",
     VP_FIELD(trace_options_t, svg),
     .kind = VP_OPTION_TEXT,
     .offer = VP_OFFER_FILES},
    {.name = "json", .help = "print one JSON object", VP_FIELD(trace_options_t, is_json)},
    {.name = NULL},
};

static uint64_t rate_of(uint64_t n_bytes, uint64_t time_ns)
{
    return time_ns == 0 ? 0 : vp_muldiv_floor(n_bytes, VP_NS_PER_S, time_ns);
}

static json_t *pack_classes(const vp_trace_report_t *report)
{
    json_t *classes = json_array();
    int kind;

    for (kind = 0; kind < VP_N_PATH_KINDS; kind++) {
        const vp_trace_class_t *class = &report->classes[kind];

        if (class->n_lanes > 0) {
            (void)json_array_append_new(
                classes,
                json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "kind",
                          vp_path_kind_text((vp_path_kind_t)kind), "lanes",
                          (json_int_t) class->n_lanes, "bytes", (json_int_t) class->n_bytes,
                          "time_ns", (json_int_t) class->time_ns, "idle_ns",
                          (json_int_t) class->idle_ns, "bytes_per_s",
                          (json_int_t)rate_of(class->n_bytes, class->time_ns)));
        }
    }
    return classes;
}

static json_t *pack_slowest(const vp_trace_report_t *report)
{
    json_t *lanes = json_array();
    size_t i;

    for (i = 0; i < report->n_slowest; i++) {
        const vp_trace_lane_t *lane = &report->trace->lanes[report->slowest[i]];

        (void)json_array_append_new(
            lanes,
            json_pack("{s:I, s:I, s:I, s:I, s:s, s:I, s:I, s:I, s:I}", "source",
                      (json_int_t)lane->rank, "destination", (json_int_t)lane->destination, "call",
                      (json_int_t)report->trace->calls[lane->call].number, "activation",
                      (json_int_t)lane->activation, "kind", vp_path_kind_text(lane->kind), "bytes",
                      (json_int_t)lane->n_bytes, "start_ns", (json_int_t)lane->start_ns, "time_ns",
                      (json_int_t)(lane->end_ns - lane->start_ns), "lost_ns",
                      (json_int_t)vp_trace_lost_ns(report, lane)));
    }
    return lanes;
}

static vp_status_t print_json(const vp_trace_report_t *report, vp_error_t *error)
{
    json_t *root =
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "ranks",
                  (json_int_t)report->trace->n_ranks, "calls", (json_int_t)report->trace->n_calls,
                  "carried", (json_int_t)report->n_calls[VP_TRACE_CARRIED], "staged",
                  (json_int_t)report->n_calls[VP_TRACE_STAGED], "passed_on",
                  (json_int_t)report->n_calls[VP_TRACE_PASSED_ON], "bytes",
                  (json_int_t)report->n_bytes, "span_ns", (json_int_t)report->span_ns, "classes",
                  pack_classes(report), "slowest", pack_slowest(report));
    bool is_printed = root != NULL && vp_json_dump(root, stdout, JSON_INDENT(2));

    json_decref(root);
    if (!is_printed) {
        return vp_error_set(error, VP_ERR_IO,
                            "cannot write the summary as JSON; check the disk and the memory");
    }
    (void)printf("\n");
    return VP_OK;
}

static void print_classes(const vp_trace_report_t *report)
{
    int kind;

    (void)printf("\n%-5s %10s %16s %14s %14s %14s\n", "path", "lanes", "bytes", "time (us)",
                 "idle (us)", "rate");
    for (kind = 0; kind < VP_N_PATH_KINDS; kind++) {
        const vp_trace_class_t *class = &report->classes[kind];
        char rate[VP_RATE_TEXT_BYTES];

        if (class->n_lanes > 0) {
            vp_rate_text(rate_of(class->n_bytes, class->time_ns), rate);
            (void)printf("%-5s %10zu %16" PRIu64 " %14.3f %14.3f %14s\n",
                         vp_path_kind_text((vp_path_kind_t)kind), class->n_lanes, class->n_bytes,
                         (double)class->time_ns / 1e3, (double)class->idle_ns / 1e3, rate);
        }
    }
}

static void print_slowest(const vp_trace_report_t *report)
{
    size_t i;

    for (i = 0; i < report->n_slowest; i++) {
        const vp_trace_lane_t *lane = &report->trace->lanes[report->slowest[i]];

        (void)printf("%s  call %" PRIu64 ": %" PRIu32 " -> %" PRIu32 " %-4s %" PRIu64
                     " bytes in %.3f us, %.3f us more\n",
                     i == 0 ? "\nlanes that lost most against the mean rate of their kind\n" : "",
                     report->trace->calls[lane->call].number, lane->rank, lane->destination,
                     vp_path_kind_text(lane->kind), lane->n_bytes,
                     (double)(lane->end_ns - lane->start_ns) / 1e3,
                     (double)vp_trace_lost_ns(report, lane) / 1e3);
    }
}

static void print_text(const vp_trace_report_t *report)
{
    (void)printf(
        "%zu calls of %" PRIu32 " ranks: %zu carried, %zu staged, %zu passed on; %" PRIu64 " bytes",
        report->trace->n_calls, report->trace->n_ranks, report->n_calls[VP_TRACE_CARRIED],
        report->n_calls[VP_TRACE_STAGED], report->n_calls[VP_TRACE_PASSED_ON], report->n_bytes);
    if (report->trace->is_relative) {
        (void)printf("; the ranks' clocks are not related, see coll_variopath_trace_format\n");
    } else {
        (void)printf(" in %.3f us\n", (double)report->span_ns / 1e3);
    }
    if (report->trace->n_lanes == 0) {
        (void)printf("no lane: nothing was carried between ranks\n");
        return;
    }
    print_classes(report);
    print_slowest(report);
}

static vp_status_t read_files(char **paths, int n, vp_trace_t *trace, vp_error_t *error)
{
    vp_status_t status = VP_OK;
    int i;

    for (i = 0; status == VP_OK && i < n; i++) {
        char *text = NULL;
        size_t n_bytes = 0;

        status = vp_file_read(paths[i], MAX_FILE_BYTES, &text, &n_bytes, error);
        if (status == VP_OK) {
            status = vp_trace_read(trace, paths[i], text, n_bytes, error);
        }
        free(text);
    }
    return status;
}

static vp_status_t summarize(char **paths, int n, const trace_options_t *options, vp_error_t *error)
{
    vp_trace_t trace = {0};
    vp_trace_report_t report = {0};
    vp_progress_t progress;
    vp_status_t status;

    vp_progress_begin(&progress, "reading");
    status = read_files(paths, n, &trace, error);
    if (status == VP_OK) {
        status = vp_trace_report_make(&trace, options->n_slowest, &report, error);
    }
    vp_progress_end(&progress);
    if (status == VP_OK && options->svg != NULL) {
        status = vp_trace_draw(&trace, options->svg, error);
    }
    if (status == VP_OK && options->is_json) {
        status = print_json(&report, error);
    } else if (status == VP_OK) {
        print_text(&report);
    }
    vp_trace_report_release(&report);
    vp_trace_release(&trace);
    return status;
}

static int run(int argc, char **argv)
{
    trace_options_t options = {.n_slowest = 10};
    vp_error_t error = {VP_OK, ""};
    char **paths;
    int n;
    int code;

    if (!vp_options_parse(&vp_command_trace, argc, argv, &options, &paths, &n, &code)) {
        return code;
    }
    if (n == 0) {
        return vp_command_usage("trace", "give a FILE that coll_variopath_trace wrote");
    }
    return summarize(paths, n, &options, &error) == VP_OK ? VP_EXIT_OK : vp_command_fail(&error);
}

const vp_command_t vp_command_trace = {
    .name = "trace",
    .summary = "summarize what a job recorded: bytes and idle times per kind of path, slow lanes",
    .forms = (const char *const[]){"trace FILE... [OPTION]...", NULL},
    .paragraphs =
        (const char *const[]){
            "Reads the files that coll_variopath_trace wrote, of one rank or of several, in either "
            "format of coll_variopath_trace_format; - is standard input. With the format chrome "
            "the ranks share one axis of time, and the files, one behind the other, open in "
            "Perfetto.",
            NULL},
    .options = known_options,
    .notes =
        (const char *const[]){
            "time_ns of a kind of path is how long one of its lanes or more were under way, summed "
            "over the ranks that sent over it; idle_ns is the rest of those ranks' calls. lost_ns "
            "of a lane is what it took beyond its bytes at the mean rate of its kind.",
            NULL},
    .examples =
        (const vp_example_t[]){
            {"mpirun --mca coll_variopath_trace t --mca coll_variopath_trace_format chrome ...",
             "a job that records into t.0, t.1, ..."},
            {"variopath trace t.* --svg t.svg", "what took its time, and a picture of it"},
            {NULL, NULL}},
    .offer = VP_OFFER_FILES,
    .run = run,
};
