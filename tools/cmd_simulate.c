/* SPDX-License-Identifier: BSD-3-Clause */
#include "vp_config.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/units.h"
#include "catalog/build.h"
#include "catalog/topology.h"
#include "scheduler/demand.h"
#include "scheduler/schedule.h"
#include "tools/command.h"
#include "tools/simulate.h"

#define MAX_DEMAND_TEXT_BYTES ((size_t)384 << 20)
#define MAX_NS UINT64_C(1000000000000)
enum { MAX_RATE_ERROR_PPM = 900000 };

typedef struct simulate_options {
    const char *topology;
    const char *demand;
    const char *algorithms;
    const char *links;
    const char *fail;
    vp_execution_t execution;
    bool has_alpha;
    uint64_t alpha_ns;
    uint64_t planning_ns;
    uint64_t exchange_ns;
    uint64_t rate_error_ppm;
    uint64_t seed;
    bool exact;
    bool is_json;
    bool is_csv;
    const char *svg;
    bool is_help;
} simulate_options_t;

/* What one run of the command holds. */
typedef struct run {
    const simulate_options_t *options;
    vp_model_t *model;
    vp_catalog_t *catalog; /* NULL until a plan is asked for */
    uint64_t *demand_bytes;
    vp_report_t report;
} run_t;

static void print_help(void)
{
    (void)printf(
        "Usage: variopath simulate --topology TOPOLOGY --demand CSV --algorithms A,B,... "
        "[OPTION]...\n"
        "Plays all-to-all algorithms on the modelled links of a machine.\n"
        "Systems: %s.\n"
        "Own planners: %s.\n"
        "\n"
        "  --topology TOPOLOGY    see `variopath topology --help`\n"
        "  --demand CSV           N rows of N byte counts, row = source; - is standard input\n"
        "  --algorithms A,B,...   any of the above\n"
        "  --links P,...          ideal, or contention profiles of the topology; all [ideal]\n"
        "  --execution MODE       plans: barrier, free or deps [deps]\n"
        "  --alpha-ns A           plans: overhead of a lane [the topology's]\n"
        "  --planning-ns T        plans: charge this before the first lane [0]\n"
        "  --exchange-ns T        plans: charge this for the exchange of counts [0]\n"
        "  --fail LINK            without this shared link, its paths and its NIC\n"
        "  --rate-error PPM       links run at their rate +- up to PPM; plans do not know [0]\n"
        "  --seed S               of the rate errors [1]\n"
        "  --exact                share links anew at every event, however many flows\n"
        "  --json | --csv         instead of a table\n"
        "  --svg FILE             also draw times and the use of links\n"
        "  --help                 print this\n",
        vp_baseline_names(), vp_schedule_names());
}

static bool parse_u64(const char *text, uint64_t max, uint64_t *value_p)
{
    unsigned long long value;
    char *end;

    if (!isdigit((unsigned char)*text)) {
        return false;
    }
    errno = 0;
    value = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || value > max) {
        return false;
    }
    *value_p = value;
    return true;
}

enum {
    TOPOLOGY = 256,
    DEMAND,
    ALGORITHMS,
    LINKS,
    EXECUTION,
    ALPHA,
    PLANNING,
    EXCHANGE,
    FAIL,
    RATE_ERROR,
    SEED,
    EXACT,
    JSON,
    CSV,
    SVG,
    HELP
};

static const struct option known_options[] = {{"topology", required_argument, NULL, TOPOLOGY},
                                              {"demand", required_argument, NULL, DEMAND},
                                              {"algorithms", required_argument, NULL, ALGORITHMS},
                                              {"links", required_argument, NULL, LINKS},
                                              {"execution", required_argument, NULL, EXECUTION},
                                              {"alpha-ns", required_argument, NULL, ALPHA},
                                              {"planning-ns", required_argument, NULL, PLANNING},
                                              {"exchange-ns", required_argument, NULL, EXCHANGE},
                                              {"fail", required_argument, NULL, FAIL},
                                              {"rate-error", required_argument, NULL, RATE_ERROR},
                                              {"seed", required_argument, NULL, SEED},
                                              {"exact", no_argument, NULL, EXACT},
                                              {"json", no_argument, NULL, JSON},
                                              {"csv", no_argument, NULL, CSV},
                                              {"svg", required_argument, NULL, SVG},
                                              {"help", no_argument, NULL, HELP},
                                              {NULL, 0, NULL, 0}};

static bool take_text(int option, const char *value, simulate_options_t *options)
{
    const char **const texts[] = {&options->topology, &options->demand, &options->algorithms,
                                  &options->links};

    if (option == FAIL) {
        options->fail = value;
    } else if (option == SVG) {
        options->svg = value;
    } else {
        *texts[option - TOPOLOGY] = value;
    }
    return true;
}

/* False: the value is not one that the option takes. */
static bool take_option(int option, const char *value, simulate_options_t *options)
{
    switch (option) {
    case EXECUTION:
        return vp_execution_parse(value, &options->execution);
    case ALPHA:
        options->has_alpha = true;
        return parse_u64(value, MAX_NS, &options->alpha_ns);
    case PLANNING:
        return parse_u64(value, MAX_NS, &options->planning_ns);
    case EXCHANGE:
        return parse_u64(value, MAX_NS, &options->exchange_ns);
    case RATE_ERROR:
        return parse_u64(value, MAX_RATE_ERROR_PPM, &options->rate_error_ppm);
    case SEED:
        return parse_u64(value, UINT64_MAX, &options->seed);
    case EXACT:
        options->exact = true;
        return true;
    case JSON:
        options->is_json = true;
        return true;
    case CSV:
        options->is_csv = true;
        return true;
    default:
        return take_text(option, value, options);
    }
}

static int parse_options(int argc, char **argv, simulate_options_t *options)
{
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":", known_options, NULL)) != -1) {
        if (option == HELP) {
            options->is_help = true;
            return VP_EXIT_OK;
        }
        if (option == ':') {
            return vp_command_usage("simulate", "option \"%s\" needs a value", argv[optind - 1]);
        }
        if (option == '?') {
            return vp_command_usage("simulate", "unknown option \"%s\"", argv[optind - 1]);
        }
        if (!take_option(option, optarg, options)) {
            return vp_command_usage("simulate", "an option does not take the value \"%s\"", optarg);
        }
    }
    if (optind < argc) {
        return vp_command_usage("simulate", "unexpected argument \"%s\"", argv[optind]);
    }
    if (options->topology == NULL || options->demand == NULL || options->algorithms == NULL) {
        return vp_command_usage("simulate", "give --topology, --demand and --algorithms");
    }
    if (options->is_json && options->is_csv) {
        return vp_command_usage("simulate", "give one of --json and --csv");
    }
    return VP_EXIT_OK;
}

static vp_status_t read_demand(const char *argument, const vp_model_t *model,
                               uint64_t **demand_bytes_p, vp_error_t *error)
{
    bool is_stdin = strcmp(argument, "-") == 0;
    const char *where = is_stdin ? "standard input" : argument;
    char *text = NULL;
    size_t n_bytes = 0;
    uint32_t n_ranks = 0;
    vp_status_t status = vp_file_read(is_stdin ? "/dev/stdin" : argument, MAX_DEMAND_TEXT_BYTES,
                                      &text, &n_bytes, error);

    if (status == VP_OK) {
        status = vp_demand_parse(text, where, demand_bytes_p, &n_ranks, error);
    }
    free(text);
    if (status == VP_OK && n_ranks != model->n_ranks) {
        status = vp_error_set(error, VP_ERR_BAD_INPUT,
                              "%s: the demand has %" PRIu32 " ranks, the topology \"%s\" has "
                              "%" PRIu32 "; nothing was simulated, give one row and column for "
                              "each rank or another number of nodes",
                              where, n_ranks, model->name, model->n_ranks);
    }
    return status;
}

static vp_status_t open_model(const simulate_options_t *options, vp_model_t **model_p,
                              vp_error_t *error)
{
    vp_model_t *model = NULL;
    vp_status_t status = vp_topology_resolve(options->topology, &model, error);

    if (status == VP_OK && options->fail != NULL) {
        status = vp_model_fail_link(model, options->fail, error);
    }
    if (status != VP_OK) {
        vp_model_destroy(model);
        return status;
    }
    *model_p = model;
    return VP_OK;
}

/* Plans run over the catalog's own copy of the model, which has fewer paths. */
static vp_status_t open_catalog(run_t *run, vp_error_t *error)
{
    vp_model_t *model = NULL;
    vp_status_t status;

    if (run->catalog != NULL) {
        return VP_OK;
    }
    status = open_model(run->options, &model, error);
    if (status == VP_OK) {
        status = vp_catalog_make(&model, VP_BUILD_AUTO, NULL, NULL, &run->catalog, error);
    }
    vp_model_destroy(model);
    return status;
}

static vp_status_t simulate_plan(run_t *run, const char *name,
                                 const vp_simulation_options_t *options,
                                 vp_simulation_t *simulation_p, vp_error_t *error)
{
    vp_schedule_options_t schedule = {.alpha_ns = options->execute.alpha_ns};
    vp_plan_t *plan = NULL;
    vp_status_t status = open_catalog(run, error);

    if (status != VP_OK) {
        return status;
    }
    status = vp_schedule_find(name)(run->catalog, run->demand_bytes, &schedule, &plan, error);
    if (status == VP_OK) {
        status = vp_plan_check(plan, run->catalog->model, run->demand_bytes,
                               options->execute.alpha_ns, error);
    }
    if (status == VP_OK) {
        status = vp_simulate_plan(run->catalog->model, plan, options, simulation_p, error);
    }
    vp_plan_destroy(plan);
    return status;
}

static vp_status_t simulate_one(run_t *run, const char *name, const char *links, vp_error_t *error)
{
    const simulate_options_t *options = run->options;
    const vp_baseline_t *baseline = vp_baseline_find(name);
    vp_result_t result = {.algorithm = name, .links = links};
    vp_progress_t progress;
    vp_simulation_options_t simulation = {
        .machine = {links, options->rate_error_ppm, options->seed, options->exact},
        .execute = {options->execution,
                    options->has_alpha ? options->alpha_ns : run->model->alpha_ns,
                    options->planning_ns + options->exchange_ns},
        .progress = vp_progress_show,
        .progress_context = &progress};
    vp_status_t status;

    vp_progress_begin(&progress, name, links);
    if (baseline != NULL) {
        result.execution = "own";
        result.concurrency = baseline->concurrency;
        status = vp_simulate_baseline(run->model, run->demand_bytes, baseline, &simulation,
                                      &result.simulation, error);
    } else {
        result.execution = vp_execution_text(options->execution);
        result.concurrency = "exclusive lanes of a plan";
        status = simulate_plan(run, name, &simulation, &result.simulation, error);
    }
    vp_progress_end(&progress);
    return status != VP_OK ? status : vp_report_add(&run->report, &result, error);
}

/* Splits a list in place; returns the number of words, which point into it. */
static size_t split_list(char *text, const char **words, size_t max)
{
    char *rest = NULL;
    char *word;
    size_t n = 0;

    for (word = strtok_r(text, ",", &rest); word != NULL && n < max;
         word = strtok_r(NULL, ",", &rest)) {
        words[n++] = word;
    }
    return n;
}

enum { MAX_WORDS = 64 };

static size_t list_links(const run_t *run, char *text, const char **words)
{
    size_t n = 1;
    uint32_t i;

    if (strcmp(text, "all") != 0) {
        return split_list(text, words, MAX_WORDS);
    }
    words[0] = "ideal";
    for (i = 0; i < run->model->n_contention && n < MAX_WORDS; i++) {
        if (strcmp(run->model->contention[i].name, "ideal") != 0) {
            words[n++] = run->model->contention[i].name;
        }
    }
    return n;
}

static vp_status_t check_algorithm(const char *name, vp_error_t *error)
{
    if (vp_baseline_find(name) != NULL || vp_schedule_find(name) != NULL) {
        return VP_OK;
    }
    return vp_error_set(error, VP_ERR_USAGE,
                        "unknown algorithm \"%.100s\"; systems are %s, planners are %s", name,
                        vp_baseline_names(), vp_schedule_names());
}

static vp_status_t simulate_lists(run_t *run, char *algorithm_text, char *links_text,
                                  vp_error_t *error)
{
    const char *algorithms[MAX_WORDS];
    const char *links[MAX_WORDS];
    size_t n_algorithms = split_list(algorithm_text, algorithms, MAX_WORDS);
    size_t n_links = list_links(run, links_text, links);
    vp_status_t status = VP_OK;
    size_t i;
    size_t k;

    for (i = 0; status == VP_OK && i < n_algorithms; i++) {
        status = check_algorithm(algorithms[i], error);
    }
    for (k = 0; k < n_links; k++) {
        for (i = 0; status == VP_OK && i < n_algorithms; i++) {
            status = simulate_one(run, algorithms[i], links[k], error);
        }
    }
    if (status != VP_OK) {
        return status;
    }
    status = vp_report_print(&run->report,
                             run->options->is_json  ? VP_REPORT_JSON
                             : run->options->is_csv ? VP_REPORT_CSV
                                                    : VP_REPORT_TABLE,
                             error);
    if (status == VP_OK && run->options->svg != NULL) {
        status = vp_report_draw(&run->report, run->options->svg, error);
    }
    return status;
}

static vp_status_t simulate(run_t *run, vp_error_t *error)
{
    const simulate_options_t *options = run->options;
    char *algorithms = vp_string_copy(options->algorithms);
    char *links = vp_string_copy(options->links);
    vp_status_t status;

    if (algorithms == NULL || links == NULL) {
        status = vp_error_no_memory(error, "the names of algorithms");
        goto out;
    }
    status = open_model(options, &run->model, error);
    if (status == VP_OK) {
        status = read_demand(options->demand, run->model, &run->demand_bytes, error);
    }
    if (status == VP_OK) {
        vp_report_begin(&run->report, run->model, run->demand_bytes);
        status = simulate_lists(run, algorithms, links, error);
    }
out:
    free(links);
    free(algorithms);
    return status;
}

int vp_command_simulate(int argc, char **argv)
{
    simulate_options_t options = {.links = "ideal", .execution = VP_EXECUTION_DEPS, .seed = 1};
    run_t run = {.options = &options};
    vp_error_t error = {VP_OK, ""};
    vp_status_t status;
    int code = parse_options(argc, argv, &options);

    if (options.is_help) {
        print_help();
        return VP_EXIT_OK;
    }
    if (code != VP_EXIT_OK) {
        return code;
    }
    if (options.rate_error_ppm > 0) {
        (void)fprintf(stderr, "variopath simulate: seed %" PRIu64 "\n", options.seed);
    }
    status = simulate(&run, &error);
    vp_report_release(&run.report);
    free(run.demand_bytes);
    vp_catalog_destroy(run.catalog);
    vp_model_destroy(run.model);
    return status == VP_OK ? VP_EXIT_OK : vp_command_fail(&error);
}
