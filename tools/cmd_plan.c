/* SPDX-License-Identifier: BSD-3-Clause */
#include "vp_config.h"

#include <errno.h>
#include <getopt.h>
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
    bool is_help;
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

static void print_help(void)
{
    (void)printf(
        "Usage: variopath plan --topology TOPOLOGY --demand CSV [OPTION]...\n"
        "       variopath plan --catalog FILE --demand CSV [OPTION]...\n"
        "Decomposes a demand into activations, checks the plan, and shows what it takes.\n"
        "TOPOLOGY is as for `variopath topology`, see `variopath topology --help`.\n"
        "\n"
        "  --topology TOPOLOGY   plan over the catalog of all channel families of a topology,\n"
        "                        or over path instances where there are too many families\n"
        "  --catalog FILE        plan over a catalog that was built before\n"
        "  --demand CSV          N rows of N byte counts, row = source; - is standard input\n"
        "  --scheduler NAME      one of: %s [auto]\n"
        "  --fix WHAT            for comparison: peers (only rank i to i + k together), paths\n"
        "                        (only the nearest path of each pair), or both\n"
        "  --alpha-ns A          overhead of one activation [the topology's]\n"
        "  --effort HOW          call (cheap beside the transfer) or thorough [call]\n"
        "  --execution MODE      barrier (activations follow each other) or deps (lanes wait for\n"
        "                        their ports only: auto tries lists too) [barrier]\n"
        "  --port-sharing HOW    off (exclusive lanes), on (a pair may use two paths at once), or\n"
        "                        auto (also concurrent lanes, whichever is fastest) [off]\n"
        "  --links PROFILE       what shared links lose: ideal, or a contention profile of the\n"
        "                        topology [ideal]\n"
        "  --chunk BYTES         blocks are cut at multiples of this power of two [%d]\n"
        "  --lanes               list every lane of every activation\n"
        "  --json                print one JSON object\n"
        "  --help                print this\n"
        "\n"
        "The ratio is that of a lower bound to the time of the plan: of the bound for exclusive\n"
        "lanes in activations, for lists, or for lanes that share links, by the plan's order.\n",
        vp_schedule_names(), VP_CHUNK_BYTES);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * VP_NS_PER_S + (uint64_t)now.tv_nsec;
}

static bool parse_fix(const char *text, vp_fix_t *fix_p)
{
    static const struct {
        const char *text;
        vp_fix_t fix;
    } known[] = {{"peers", VP_FIX_PEERS}, {"paths", VP_FIX_PATHS}, {"both", VP_FIX_BOTH}};
    size_t i;

    for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(text, known[i].text) == 0) {
            *fix_p = known[i].fix;
            return true;
        }
    }
    return false;
}

/* Place of a word in a list that ends with NULL; false: it is not there. */
static bool find_word(const char *text, const char *const *words, int *place_p)
{
    int i;

    for (i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], text) == 0) {
            *place_p = i;
            return true;
        }
    }
    return false;
}

/* The options that choose among plans; their words stand in the order of the values. */
static int parse_choice(const char *option, const char *text, plan_options_t *options)
{
    static const char *const efforts[] = {"call", "thorough", NULL};
    static const char *const executions[] = {"barrier", "deps", NULL};
    static const char *const sharings[] = {"off", "on", "auto", NULL};
    int place;

    if (strcmp(option, "effort") == 0 && find_word(text, efforts, &place)) {
        options->effort = (vp_effort_t)place;
    } else if (strcmp(option, "execution") == 0 && find_word(text, executions, &place)) {
        options->by_dependencies = place == 1;
    } else if (strcmp(option, "port-sharing") == 0 && find_word(text, sharings, &place)) {
        options->sharing = (vp_sharing_t)place;
    } else {
        return vp_command_usage("plan", "--%s does not take \"%s\", see variopath plan --help",
                                option, text);
    }
    return VP_EXIT_OK;
}

static bool parse_chunk(const char *text, uint64_t *chunk_bytes_p)
{
    char *end;

    errno = 0;
    *chunk_bytes_p = strtoull(text, &end, 10);
    return text[0] >= '1' && text[0] <= '9' && *end == '\0' && errno == 0 &&
           *chunk_bytes_p <= VP_MAX_CHUNK_BYTES;
}

/* Fills options; VP_EXIT_OK, or a code after a message. */
static int parse_options(int argc, char **argv, plan_options_t *options)
{
    enum {
        TOPOLOGY = 256,
        CATALOG,
        DEMAND,
        SCHEDULER,
        FIX,
        ALPHA,
        CHOICE,
        LINKS,
        CHUNK,
        LANES,
        JSON,
        HELP
    };
    static const struct option known[] = {{"topology", required_argument, NULL, TOPOLOGY},
                                          {"catalog", required_argument, NULL, CATALOG},
                                          {"demand", required_argument, NULL, DEMAND},
                                          {"scheduler", required_argument, NULL, SCHEDULER},
                                          {"fix", required_argument, NULL, FIX},
                                          {"alpha-ns", required_argument, NULL, ALPHA},
                                          {"effort", required_argument, NULL, CHOICE},
                                          {"execution", required_argument, NULL, CHOICE},
                                          {"port-sharing", required_argument, NULL, CHOICE},
                                          {"links", required_argument, NULL, LINKS},
                                          {"chunk", required_argument, NULL, CHUNK},
                                          {"lanes", no_argument, NULL, LANES},
                                          {"json", no_argument, NULL, JSON},
                                          {"help", no_argument, NULL, HELP},
                                          {NULL, 0, NULL, 0}};
    int option;
    int place;
    int code;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":", known, &place)) != -1) {
        switch (option) {
        case TOPOLOGY:
            options->topology = optarg;
            break;
        case CATALOG:
            options->catalog = optarg;
            break;
        case DEMAND:
            options->demand = optarg;
            break;
        case SCHEDULER:
            options->scheduler = optarg;
            break;
        case FIX:
            if (!parse_fix(optarg, &options->fix)) {
                return vp_command_usage("plan", "--fix takes peers, paths or both, not \"%s\"",
                                        optarg);
            }
            break;
        case ALPHA:
            options->has_alpha = true;
            if (!vp_alpha_parse(optarg, &options->alpha_ns)) {
                return vp_command_usage("plan", "--alpha-ns takes 0 to %" PRIu64 ", not \"%s\"",
                                        VP_MAX_ALPHA_NS, optarg);
            }
            break;
        case CHOICE:
            code = parse_choice(known[place].name, optarg, options);
            if (code != VP_EXIT_OK) {
                return code;
            }
            break;
        case LINKS:
            options->links = optarg;
            break;
        case CHUNK:
            if (!parse_chunk(optarg, &options->chunk_bytes)) {
                return vp_command_usage("plan", "--chunk takes 1 to %" PRIu64 ", not \"%s\"",
                                        VP_MAX_CHUNK_BYTES, optarg);
            }
            break;
        case LANES:
            options->has_lanes = true;
            break;
        case JSON:
            options->is_json = true;
            break;
        case HELP:
            options->is_help = true;
            return VP_EXIT_OK;
        case ':':
            return vp_command_usage("plan", "option \"%s\" needs a value", argv[optind - 1]);
        default:
            return vp_command_usage("plan", "unknown option \"%s\"", argv[optind - 1]);
        }
    }
    return VP_EXIT_OK;
}

static int check_options(int argc, char **argv, const plan_options_t *options)
{
    if (optind < argc) {
        return vp_command_usage("plan", "unexpected argument \"%s\"", argv[optind]);
    }
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
        "{s:I, s:I, s:s, s:s, s:s, s:I, s:b, s:I, s:I, s:I, s:s, s:f, s:I, s:I}", "ranks",
        (json_int_t)plan->n_ranks, "total_bytes", (json_int_t)plan->total_bytes, "scheduler",
        plan->scheduler, "catalog", catalog_text(run), "order", order_text(run), "window",
        (json_int_t)plan->form.window, "shares_ports", plan->form.shares_ports, "activations",
        (json_int_t)plan->n_activations, "time_ns", (json_int_t)plan->time_ns, "bound_ns",
        (json_int_t)run->bound_ns, "bound", run->bound, "ratio", ratio(run), "planning_ns",
        (json_int_t)run->planning_ns, "alpha_ns", (json_int_t)run->alpha_ns);
    bool is_printed = root != NULL;

    if (is_printed && has_lanes) {
        is_printed = json_object_set_new(root, "lane_list", pack_lanes(run)) == 0;
    }
    is_printed = is_printed && json_dumpf(root, stdout, JSON_INDENT(2)) == 0;
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

int vp_command_plan(int argc, char **argv)
{
    plan_options_t options = {.scheduler = "auto"};
    run_t run = {0};
    vp_error_t error = {VP_OK, ""};
    vp_status_t status;
    int code;

    code = parse_options(argc, argv, &options);
    if (options.is_help) {
        print_help();
        return VP_EXIT_OK;
    }
    if (code == VP_EXIT_OK) {
        code = check_options(argc, argv, &options);
    }
    if (code != VP_EXIT_OK) {
        return code;
    }
    status = make_plan(&options, &run, &error);
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
