/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/json_write.h"
#include "vp_config.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "catalog/build.h"
#include "catalog/store.h"
#include "catalog/topology.h"
#include "scheduler/schedule.h"
#include "tools/command.h"
#include "tools/demand_file.h"
#include "tools/plan_svg.h"
#include "tools/terminal.h"

typedef struct plan_options {
    const char *topology;
    const char *catalog;
    const char *demand;
    const char *scheduler;
    bool has_alpha;
    uint64_t alpha_ns;
    vp_fix_t fix;
    vp_effort_t effort;
    vp_sharing_t sharing;
    bool by_dependencies;
    const char *links;
    uint64_t chunk_bytes;
    bool has_lanes;
    bool is_json;
    const char *svg;
} plan_options_t;

/* What one run of the command holds. */
typedef struct run {
    vp_catalog_t *catalog;
    uint64_t *demand_bytes;
    vp_plan_t *plan;
    uint64_t bound_ns;
    const char *bound; /* which one: that of the plan's form */
    uint64_t planning_ns;
    uint64_t alpha_ns;
} run_t;

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * VP_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* In the order of their enumerations. */
static const char *const fixes[] = {"none", "peers", "paths", "both", NULL};
static const char *const efforts[] = {"call", "thorough", NULL};
static const char *const executions[] = {"barrier", "deps", NULL};
static const char *const sharings[] = {"off", "on", "auto", NULL};

static const vp_option_t known_options[] = {
    {.name = "topology",
     .value = "TOPOLOGY",
     .help = "plan over the catalog of all channel families of a topology, or over path instances "
             "where "
             "there are too many families",
     VP_FIELD(plan_options_t, topology),
     .kind = VP_OPTION_TEXT,
     .offer = VP_OFFER_TOPOLOGIES},
    {.name = "catalog",
     .value = "FILE",
     .help = "plan over a catalog that was built before",
     VP_FIELD(plan_options_t, catalog),
     .kind = VP_OPTION_TEXT,
     .offer = VP_OFFER_FILES},
    {.name = "demand",
     .value = "CSV",
     .help = "N rows of N byte counts, row = source; - is standard input",
     VP_FIELD(plan_options_t, demand),
     .kind = VP_OPTION_TEXT,
     .offer = VP_OFFER_FILES},
    {.name = "scheduler",
     .value = "NAME",
     .help = "one of: %s",
     .insert = vp_schedule_names,
     .unless_given = "auto",
     VP_FIELD(plan_options_t, scheduler),
     .kind = VP_OPTION_TEXT,
     .offer = VP_OFFER_PLANNERS},
    {.name = "fix",
     .value = "WHAT",
     .help = "for comparison: peers (only rank i to i + k together), paths (only the nearest path "
             "of each "
             "pair), both, or none",
     .unless_given = "none",
     VP_FIELD(plan_options_t, fix),
     .kind = VP_OPTION_WORD,
     .words = fixes},
    {.name = "alpha-ns",
     .value = "A",
     .help = "overhead of one activation",
     .unless_given = "the topology's",
     VP_FIELD(plan_options_t, alpha_ns),
     VP_GIVEN(plan_options_t, has_alpha),
     .kind = VP_OPTION_NUMBER,
     .most = VP_MAX_ALPHA_NS},
    {.name = "effort",
     .value = "HOW",
     .help = "call (cheap beside the transfer) or thorough",
     .unless_given = "call",
     VP_FIELD(plan_options_t, effort),
     .kind = VP_OPTION_WORD,
     .words = efforts},
    {.name = "execution",
     .value = "MODE",
     .help = "barrier (activations follow each other) or deps (lanes wait for their ports only: "
             "auto tries "
             "lists too)",
     .unless_given = "barrier",
     VP_FIELD(plan_options_t, by_dependencies),
     .kind = VP_OPTION_WORD,
     .words = executions},
    {.name = "port-sharing",
     .value = "HOW",
     .help =
         "off (exclusive lanes), on (a pair may use two paths at once), or auto (also concurrent "
         "lanes, whichever is fastest)",
     .unless_given = "off",
     VP_FIELD(plan_options_t, sharing),
     .kind = VP_OPTION_WORD,
     .words = sharings},
    {.name = "links",
     .value = "PROFILE",
     .help = "what shared links lose: ideal, or a contention profile of the topology",
     .unless_given = "ideal",
     VP_FIELD(plan_options_t, links),
     .kind = VP_OPTION_TEXT},
    {.name = "chunk",
     .value = "BYTES",
     .help = "blocks are cut at multiples of this power of two",
     .unless_given = "4096",
     VP_FIELD(plan_options_t, chunk_bytes),
     .kind = VP_OPTION_SIZE,
     .least = 1,
     .most = VP_MAX_CHUNK_BYTES},
    {.name = "lanes",
     .help = "list every lane of every activation",
     VP_FIELD(plan_options_t, has_lanes)},
    {.name = "svg",
     .value = "FILE",
     .help = "also draw what ranks send, what shared links carry and how busy links are over time, "
             "as simulated, with the bound as a line",
     VP_FIELD(plan_options_t, svg),
     .kind = VP_OPTION_TEXT,
     .offer = VP_OFFER_FILES},
    {.name = "json", .help = "print one JSON object", VP_FIELD(plan_options_t, is_json)},
    {.name = NULL},
};

_Static_assert(VP_CHUNK_BYTES == 4096, "the text of --chunk says so");

static int check_options(const plan_options_t *options)
{
    if ((options->topology == NULL) == (options->catalog == NULL)) {
        return vp_command_usage("plan", "give either --topology or --catalog");
    }
    if (options->demand == NULL) {
        return vp_command_usage("plan", "give --demand");
    }
    if (vp_schedule_find(options->scheduler) == NULL) {
        return vp_command_usage("plan", "unknown scheduler \"%s\"; there are %s",
                                options->scheduler, vp_schedule_names());
    }
    return VP_EXIT_OK;
}

static vp_status_t open_catalog(const plan_options_t *options, vp_catalog_t **catalog_p,
                                vp_error_t *error)
{
    vp_model_t *model = NULL;
    vp_status_t status;

    if (options->catalog != NULL) {
        return vp_catalog_load(options->catalog, catalog_p, NULL, error);
    }
    status = vp_topology_resolve(options->topology, &model, error);
    if (status == VP_OK) {
        status = vp_catalog_make(&model, VP_BUILD_AUTO, NULL, NULL, catalog_p, error);
    }
    vp_model_destroy(model);
    return status;
}

/* The highest bound that holds for the form of the plan. */
static vp_status_t find_bound(run_t *run, vp_error_t *error)
{
    const vp_model_t *model = run->catalog->model;
    vp_bound_t bound = {0};
    vp_status_t status;

    if (run->plan->form.shares_ports) {
        run->bound = "fluid";
        status = vp_fluid_bound(model, run->demand_bytes, &bound.bound_ns, error);
    } else if (run->plan->form.order == VP_PLAN_LIST) {
        run->bound = "list";
        status = vp_list_bound(model, run->demand_bytes, run->alpha_ns, &bound.bound_ns, error);
    } else {
        run->bound = "exclusive";
        status = vp_bound(model, run->demand_bytes, run->alpha_ns, &bound, error);
    }
    run->bound_ns = bound.bound_ns;
    return status;
}

/* Plans, checks and bounds. */
static vp_status_t make_plan(const plan_options_t *options, run_t *run, vp_error_t *error)
{
    vp_schedule_options_t schedule = {.fix = options->fix,
                                      .effort = options->effort,
                                      .sharing = options->sharing,
                                      .links = options->links,
                                      .chunk_bytes = options->chunk_bytes,
                                      .by_dependencies = options->by_dependencies};
    vp_status_t status = open_catalog(options, &run->catalog, error);
    uint64_t start_ns;

    if (status != VP_OK) {
        return status;
    }
    run->alpha_ns = options->has_alpha ? options->alpha_ns : run->catalog->model->alpha_ns;
    schedule.alpha_ns = run->alpha_ns;
    status = vp_demand_read(options->demand, run->catalog->model, &run->demand_bytes, error);
    if (status != VP_OK) {
        return status;
    }
    start_ns = now_ns();
    status = vp_schedule_find(options->scheduler)(run->catalog, run->demand_bytes, &schedule,
                                                  &run->plan, error);
    run->planning_ns = now_ns() - start_ns;
    if (status == VP_OK) {
        status =
            vp_plan_check(run->plan, run->catalog->model, run->demand_bytes, run->alpha_ns, error);
    }
    return status == VP_OK ? find_bound(run, error) : status;
}

static double ratio(const run_t *run)
{
    return run->plan->time_ns == 0 ? 1.0 : (double)run->bound_ns / (double)run->plan->time_ns;
}

static const char *catalog_text(const run_t *run)
{
    return run->catalog->mode == VP_CATALOG_GENERATED ? "generated" : "exhaustive";
}

static const char *order_text(const run_t *run)
{
    static const char *const texts[] = {"activations", "list", "concurrent"};

    return texts[run->plan->form.order];
}

static json_t *pack_lanes(const run_t *run)
{
    json_t *lanes = json_array();
    size_t i;

    for (i = 0; i < run->plan->n_lanes; i++) {
        const vp_lane_t *lane = &run->plan->lanes[i];
        const vp_instance_t *instance = &run->catalog->model->instances[lane->instance];

        (void)json_array_append_new(
            lanes, json_pack("{s:I, s:I, s:I, s:s, s:I, s:I}", "activation",
                             (json_int_t)lane->activation, "source", (json_int_t)lane->source,
                             "destination", (json_int_t)lane->destination, "kind",
                             vp_path_kind_text(instance->kind), "bytes", (json_int_t)lane->n_bytes,
                             "offset_bytes", (json_int_t)lane->offset_bytes));
    }
    return lanes;
}

static vp_status_t print_json(const run_t *run, bool has_lanes, vp_error_t *error)
{
    const vp_plan_t *plan = run->plan;
    json_t *root = json_pack(
        "{s:I, s:I, s:s, s:s, s:s, s:I, s:b, s:I, s:I, s:I, s:s, s:f, s:I, s:I, s:I}", "ranks",
        (json_int_t)plan->n_ranks, "total_bytes", (json_int_t)plan->total_bytes, "scheduler",
        plan->scheduler, "catalog", catalog_text(run), "order", order_text(run), "window",
        (json_int_t)plan->form.window, "shares_ports", plan->form.shares_ports, "activations",
        (json_int_t)plan->n_activations, "time_ns", (json_int_t)plan->time_ns, "bound_ns",
        (json_int_t)run->bound_ns, "bound", run->bound, "ratio", ratio(run), "planning_ns",
        (json_int_t)run->planning_ns, "planning_model_ns", (json_int_t)plan->planning_ns,
        "alpha_ns", (json_int_t)run->alpha_ns);
    bool is_printed = root != NULL;

    if (is_printed && has_lanes) {
        is_printed = json_object_set_new(root, "lane_list", pack_lanes(run)) == 0;
    }
    is_printed = is_printed && vp_json_dump(root, stdout, JSON_INDENT(2));
    json_decref(root);
    if (!is_printed) {
        return vp_error_set(error, VP_ERR_IO,
                            "cannot write the plan as JSON; check the disk and the memory");
    }
    (void)printf("\n");
    return VP_OK;
}

static void print_kinds(const run_t *run)
{
    uint64_t bytes[VP_N_PATH_KINDS] = {0};
    uint64_t lanes[VP_N_PATH_KINDS] = {0};
    size_t i;

    for (i = 0; i < run->plan->n_lanes; i++) {
        const vp_lane_t *lane = &run->plan->lanes[i];
        vp_path_kind_t kind = run->catalog->model->instances[lane->instance].kind;

        bytes[kind] += lane->n_bytes;
        lanes[kind]++;
    }
    for (i = 0; i < VP_N_PATH_KINDS; i++) {
        if (lanes[i] > 0) {
            (void)printf("  %-4s  %" PRIu64 " bytes in %" PRIu64 " lanes (%.1f%%)\n",
                         vp_path_kind_text((vp_path_kind_t)i), bytes[i], lanes[i],
                         100.0 * (double)bytes[i] / (double)run->plan->total_bytes);
        }
    }
}

static void print_lanes(const run_t *run)
{
    const vp_plan_t *plan = run->plan;
    uint32_t k;
    size_t i;

    for (k = 0; k < plan->n_activations; k++) {
        (void)printf("activation %" PRIu32 ": %" PRIu64 " ns\n", k, plan->activation_ns[k]);
        for (i = plan->activation_begin[k]; i < plan->activation_begin[k + 1]; i++) {
            const vp_lane_t *lane = &plan->lanes[i];

            (void)printf("  %" PRIu32 " -> %" PRIu32 "  %-4s  %" PRIu64 " bytes from %" PRIu64 "\n",
                         lane->source, lane->destination,
                         vp_path_kind_text(run->catalog->model->instances[lane->instance].kind),
                         lane->n_bytes, lane->offset_bytes);
        }
    }
}

static void print_text(const run_t *run, bool has_lanes)
{
    const vp_plan_t *plan = run->plan;

    (void)printf("%s: %" PRIu32 " ranks, %" PRIu64 " bytes\n", run->catalog->model->name,
                 plan->n_ranks, plan->total_bytes);
    if (plan->form.order == VP_PLAN_ACTIVATIONS) {
        (void)printf("%s: %" PRIu32 " activations%s, ", plan->scheduler, plan->n_activations,
                     plan->form.shares_ports ? " that share GPU links" : "");
    } else {
        (void)printf("%s: %zu lanes, window %" PRIu32 ", ", order_text(run), plan->n_lanes,
                     plan->form.window);
    }
    (void)printf("%.3f us; %s bound %.3f us, ratio %.4f\n", (double)plan->time_ns / 1e3, run->bound,
                 (double)run->bound_ns / 1e3, ratio(run));
    (void)printf("%" PRIu64 " ns per activation; %s catalog; planned in %.3f us\n", run->alpha_ns,
                 catalog_text(run), (double)run->planning_ns / 1e3);
    print_kinds(run);
    if (has_lanes) {
        print_lanes(run);
    }
}

static vp_status_t draw(const plan_options_t *options, const run_t *run, vp_error_t *error)
{
    vp_plan_picture_t picture = {.model = run->catalog->model,
                                 .plan = run->plan,
                                 .links = options->links,
                                 .by_dependencies = options->by_dependencies,
                                 .alpha_ns = run->alpha_ns,
                                 .bound_ns = run->bound_ns};

    return vp_plan_draw(&picture, options->svg, error);
}

static int run_command(int argc, char **argv)
{
    plan_options_t options = {.scheduler = "auto"};
    run_t run = {0};
    vp_progress_t progress;
    vp_error_t error = {VP_OK, ""};
    vp_status_t status;
    int code;

    if (!vp_options_parse_all(&vp_command_plan, argc, argv, &options, &code)) {
        return code;
    }
    code = check_options(&options);
    if (code != VP_EXIT_OK) {
        return code;
    }
    vp_progress_begin(&progress, "planning");
    status = make_plan(&options, &run, &error);
    if (status == VP_OK && options.svg != NULL) {
        status = draw(&options, &run, &error);
    }
    vp_progress_end(&progress);
    if (status == VP_OK && options.is_json) {
        status = print_json(&run, options.has_lanes, &error);
    } else if (status == VP_OK) {
        print_text(&run, options.has_lanes);
    }
    vp_plan_destroy(run.plan);
    free(run.demand_bytes);
    vp_catalog_destroy(run.catalog);
    return status == VP_OK ? VP_EXIT_OK : vp_command_fail(&error);
}

const vp_command_t vp_command_plan = {
    .name = "plan",
    .summary = "decompose a demand into activations",
    .forms = (const char *const[]){"plan --topology TOPOLOGY --demand CSV [OPTION]...",
                                   "plan --catalog FILE --demand CSV [OPTION]...", NULL},
    .paragraphs = (const char *const[]){"Decomposes a demand into activations, checks the plan, "
                                        "and shows what it takes. TOPOLOGY "
                                        "is as for variopath topology.",
                                        NULL},
    .options = known_options,
    .notes =
        (const char *const[]){
            "The ratio is that of a lower bound to the time of the plan: of the bound for "
            "exclusive "
            "lanes in activations, for lists, or for lanes that share links, by the plan's order.",
            NULL},
    .examples =
        (const vp_example_t[]){
            {"variopath plan --topology r5080-bf3:nodes=2 --demand D.csv --lanes",
             "the lanes of a plan, activation by activation"},
            {NULL, NULL}},
    .run = run_command,
};
