/* SPDX-License-Identifier: BSD-3-Clause */
#include "vp_config.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/units.h"
#include "catalog/build.h"
#include "catalog/topology.h"
#include "scheduler/schedule.h"
#include "sim/fail.h"
#include "tools/command.h"
#include "tools/demand_file.h"
#include "tools/schedule_file.h"
#include "tools/simulate.h"
#include "tools/simulate_options.h"
#include "tools/terminal.h"

enum { MAX_WORDS = 64 };

/* What one run of the command holds. */
typedef struct run {
    const vp_simulate_options_t *options;
    vp_model_t *model;
    vp_catalog_t *catalog;  /* NULL until a plan is asked for */
    uint64_t *given_bytes;  /* the demand as it was given */
    uint64_t *demand_bytes; /* scaled to one of the sizes */
    vp_schedule_file_t files[MAX_WORDS];
    size_t n_files;
    vp_report_t report;
} run_t;

static vp_status_t open_model(const vp_simulate_options_t *options, bool is_failed,
                              vp_model_t **model_p, vp_error_t *error)
{
    vp_model_t *model = NULL;
    vp_status_t status = vp_topology_resolve(options->topology, &model, error);

    if (status == VP_OK && is_failed) {
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
    const vp_simulate_options_t *options = run->options;
    vp_model_t *model = NULL;
    vp_status_t status;

    if (run->catalog != NULL) {
        return VP_OK;
    }
    status = open_model(options, options->fail != NULL && !options->is_unaware, &model, error);
    if (status == VP_OK) {
        status = vp_catalog_make(&model, VP_BUILD_AUTO, NULL, NULL, &run->catalog, error);
    }
    vp_model_destroy(model);
    return status;
}

static uint64_t cpu_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * VP_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Plans once, or as often as planning is to be timed; *cpu_ns_p is the fastest, 0 if not timed. */
static vp_status_t plan_timed(const run_t *run, const char *name,
                              const vp_schedule_options_t *schedule, vp_plan_t **plan_p,
                              uint64_t *cpu_ns_p, vp_error_t *error)
{
    uint64_t n_times = run->options->n_timed_plans;
    uint64_t fastest_ns = n_times > 0 ? UINT64_MAX : 0;
    vp_status_t status;
    uint64_t i = 0;

    do {
        uint64_t taken_ns = cpu_ns();

        vp_plan_destroy(*plan_p);
        *plan_p = NULL;
        status = vp_schedule_find(name)(run->catalog, run->demand_bytes, schedule, plan_p, error);
        taken_ns = cpu_ns() - taken_ns;
        fastest_ns = taken_ns < fastest_ns ? taken_ns : fastest_ns;
    } while (status == VP_OK && ++i < n_times);
    *cpu_ns_p = fastest_ns;
    return status;
}

/* For the links that the plan will run on, or those that it is told of. */
static vp_status_t make_plan(run_t *run, const char *name, const vp_simulation_options_t *options,
                             vp_plan_t **plan_p, uint64_t *cpu_ns_p, vp_error_t *error)
{
    const char *told = run->options->plan_links;
    uint64_t alpha_ns = options->execute.alpha_ns;
    vp_schedule_options_t schedule = {.alpha_ns = alpha_ns,
                                      .sharing = run->options->sharing,
                                      .links = told != NULL ? told : options->machine.links,
                                      .by_dependencies =
                                          options->execute.execution == VP_EXECUTION_DEPS};
    vp_standing_t *standing = NULL;
    vp_plan_t *plan = NULL;
    vp_status_t status = open_catalog(run, error);

    if (status == VP_OK) {
        status = vp_standing_create(run->catalog->model, schedule.links, &standing, error);
        schedule.standing = standing;
    }
    if (status == VP_OK) {
        status = plan_timed(run, name, &schedule, &plan, cpu_ns_p, error);
    }
    vp_standing_destroy(standing);
    if (status == VP_OK) {
        status = vp_plan_check(plan, run->catalog->model, run->demand_bytes, alpha_ns, error);
    }
    if (status == VP_OK && run->options->is_unaware) {
        status = vp_plan_reroute(plan, run->catalog->model, run->model, error);
    }
    if (status != VP_OK) {
        vp_plan_destroy(plan);
        return status;
    }
    *plan_p = plan;
    return VP_OK;
}

static const char *concurrency_of(const vp_plan_t *plan)
{
    if (plan->form.order == VP_PLAN_CONCURRENT) {
        return "lanes of a plan through a window per source";
    }
    return plan->form.shares_ports ? "lanes of a plan that share GPU links"
                                   : "exclusive lanes of a plan";
}

static vp_status_t simulate_plan(run_t *run, const char *name,
                                 const vp_simulation_options_t *options, vp_result_t *result,
                                 vp_error_t *error)
{
    vp_plan_t *plan;
    vp_status_t status = make_plan(run, name, options, &plan, &result->planning_cpu_ns, error);

    if (status != VP_OK) {
        return status;
    }
    result->is_plan = true;
    result->planning_model_ns = plan->planning_ns;
    result->execution = vp_execution_text(vp_execution_of(plan, options->execute.execution));
    result->concurrency = concurrency_of(plan);
    status = vp_simulate_plan(run->options->is_unaware ? run->model : run->catalog->model, plan,
                              options, &result->simulation, error);
    vp_plan_destroy(plan);
    return status;
}

static vp_execute_options_t execute_options(const run_t *run)
{
    const vp_simulate_options_t *options = run->options;
    uint64_t alpha_ns = options->has_alpha ? options->alpha_ns : run->model->alpha_ns;
    uint64_t post_ns =
        options->has_post && options->post_ns < alpha_ns ? options->post_ns : alpha_ns;

    return (vp_execute_options_t){options->execution, alpha_ns,
                                  options->planning_ns + options->exchange_ns, alpha_ns - post_ns};
}

static void show_progress(void *progress, size_t n_done, size_t n_flows)
{
    vp_progress_tell(progress, "%zu of %zu messages", n_done, n_flows);
}

static vp_status_t simulate_one(run_t *run, const char *name, const vp_schedule_file_t *file,
                                const char *links, vp_error_t *error)
{
    const vp_simulate_options_t *options = run->options;
    const vp_baseline_t *baseline = vp_baseline_find(name);
    vp_result_t result = {.algorithm = name, .links = links};
    vp_progress_t progress;
    vp_simulation_options_t simulation = {
        .machine = {links, options->rate_error_ppm, options->seed, options->exact},
        .execute = execute_options(run),
        .keep_flows = options->svg != NULL,
        .progress = show_progress,
        .progress_context = &progress};
    vp_status_t status;

    vp_progress_begin(&progress, "%.20s on %.20s links", name, links);
    if (file != NULL) {
        result.execution = vp_execution_text(file->steps.execution);
        result.concurrency = "steps of a given schedule";
        result.synthesis_ms = file->synthesis_ms;
        status =
            vp_simulate_steps(run->model, &file->steps, &simulation, &result.simulation, error);
    } else if (baseline != NULL) {
        result.execution = "own";
        result.concurrency = baseline->concurrency;
        status = vp_simulate_baseline(run->model, run->demand_bytes, baseline, &simulation,
                                      &result.simulation, error);
    } else {
        status = simulate_plan(run, name, &simulation, &result, error);
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

static vp_status_t read_schedules(run_t *run, char *text, vp_error_t *error)
{
    const char *paths[MAX_WORDS];
    size_t n = split_list(text, paths, MAX_WORDS);
    vp_status_t status = VP_OK;
    size_t i;

    for (i = 0; status == VP_OK && i < n; i++) {
        status = vp_schedule_file_read(paths[i], &run->files[i], error);
        if (status == VP_OK) {
            run->n_files++;
            status = vp_steps_check(&run->files[i].steps, run->model, run->demand_bytes, error);
        }
    }
    return status;
}

/* The demand so that its ranks send bytes_per_rank on average; each cell rounded up. */
static void scale_demand(run_t *run, uint64_t bytes_per_rank)
{
    uint32_t n = run->model->n_ranks;
    uint64_t total = vp_demand_total(run->given_bytes, n);
    size_t i;

    for (i = 0; i < (size_t)n * n; i++) {
        run->demand_bytes[i] =
            total == 0 ? 0
                       : vp_muldiv_ceil(run->given_bytes[i], vp_mul_sat(bytes_per_rank, n), total);
    }
}

static vp_status_t simulate_size(run_t *run, const char *const *algorithms, size_t n_algorithms,
                                 const char *const *links, size_t n_links, vp_error_t *error)
{
    vp_status_t status = VP_OK;
    size_t i;
    size_t k;

    vp_report_set_demand(&run->report, run->demand_bytes);
    for (k = 0; k < n_links; k++) {
        for (i = 0; status == VP_OK && i < n_algorithms; i++) {
            status = simulate_one(run, algorithms[i], NULL, links[k], error);
        }
        for (i = 0; status == VP_OK && i < run->n_files; i++) {
            status = simulate_one(run, run->files[i].algorithm, &run->files[i], links[k], error);
        }
    }
    return status;
}

static vp_status_t simulate_lists(run_t *run, char *algorithm_text, char *links_text,
                                  vp_error_t *error)
{
    const char *algorithms[MAX_WORDS];
    const char *links[MAX_WORDS];
    size_t n_algorithms = split_list(algorithm_text, algorithms, MAX_WORDS);
    size_t n_links = list_links(run, links_text, links);
    size_t n_sizes = run->options->n_sizes;
    vp_status_t status = VP_OK;
    size_t i;

    for (i = 0; status == VP_OK && i < n_algorithms; i++) {
        status = check_algorithm(algorithms[i], error);
    }
    for (i = 0; status == VP_OK && i < (n_sizes == 0 ? 1 : n_sizes); i++) {
        if (n_sizes > 0) {
            scale_demand(run, run->options->sizes[i]);
        }
        status = simulate_size(run, algorithms, n_algorithms, links, n_links, error);
    }
    if (status == VP_OK) {
        status = vp_report_print(&run->report, run->options->format, error);
    }
    if (status == VP_OK && run->options->svg != NULL) {
        status = vp_report_draw(&run->report, run->options->svg, error);
    }
    return status;
}

static vp_status_t read_demand(run_t *run, vp_error_t *error)
{
    size_t n = (size_t)run->model->n_ranks * run->model->n_ranks;
    vp_status_t status = vp_demand_read(run->options->demand, run->model, &run->given_bytes, error);

    if (status != VP_OK) {
        return status;
    }
    run->demand_bytes = vp_array_new(n, sizeof(uint64_t));
    if (run->demand_bytes == NULL) {
        return vp_error_no_memory(error, "a demand");
    }
    memcpy(run->demand_bytes, run->given_bytes, n * sizeof(uint64_t));
    return VP_OK;
}

static vp_status_t simulate(run_t *run, vp_error_t *error)
{
    const vp_simulate_options_t *options = run->options;
    char *algorithms = vp_string_copy(options->algorithms == NULL ? "" : options->algorithms);
    char *schedules = vp_string_copy(options->schedules == NULL ? "" : options->schedules);
    char *links = vp_string_copy(options->links);
    vp_status_t status;

    if (algorithms == NULL || schedules == NULL || links == NULL) {
        status = vp_error_no_memory(error, "the names of algorithms");
        goto out;
    }
    status = open_model(options, options->fail != NULL, &run->model, error);
    if (status == VP_OK) {
        vp_report_begin(&run->report, run->model);
        status = read_demand(run, error);
    }
    if (status == VP_OK) {
        status = read_schedules(run, schedules, error);
    }
    if (status == VP_OK) {
        status = simulate_lists(run, algorithms, links, error);
    }
out:
    free(links);
    free(schedules);
    free(algorithms);
    return status;
}

static int run_command(int argc, char **argv)
{
    vp_simulate_options_t options = {.links = "ideal",
                                     .execution = VP_EXECUTION_DEPS,
                                     .sharing = VP_SHARING_AUTO,
                                     .seed = 1,
                                     .format = VP_REPORT_TABLE};
    run_t run = {.options = &options};
    vp_error_t error = {VP_OK, ""};
    vp_status_t status;
    size_t i;
    int code;

    if (!vp_options_parse_all(&vp_command_simulate, argc, argv, &options, &code)) {
        return code;
    }
    code = vp_simulate_options_check(&options);
    if (code != VP_EXIT_OK) {
        return code;
    }
    if (options.rate_error_ppm > 0) {
        (void)fprintf(stderr, "variopath simulate: seed %" PRIu64 "\n", options.seed);
    }
    status = simulate(&run, &error);
    vp_report_release(&run.report);
    for (i = 0; i < run.n_files; i++) {
        vp_schedule_file_release(&run.files[i]);
    }
    free(run.demand_bytes);
    free(run.given_bytes);
    vp_catalog_destroy(run.catalog);
    vp_model_destroy(run.model);
    return status == VP_OK ? VP_EXIT_OK : vp_command_fail(&error);
}

/* "Systems: ... Own planners: ..." */
static const char *algorithm_names(void)
{
    static char text[1024];

    (void)snprintf(text, sizeof(text), "Systems: %s. Own planners: %s.", vp_baseline_names(),
                   vp_schedule_names());
    return text;
}

const vp_command_t vp_command_simulate = {
    .name = "simulate",
    .summary = "play algorithms on the modelled links",
    .forms =
        (const char *const[]){
            "simulate --topology TOPOLOGY --demand CSV --algorithms A,B,... [OPTION]...",
            "simulate --topology TOPOLOGY --demand CSV --schedule FILE,... [OPTION]...", NULL},
    .paragraphs =
        (const char *const[]){"Plays all-to-all algorithms on the modelled links of a machine.",
                              "%s", NULL},
    .insert = algorithm_names,
    .options = vp_simulate_known_options,
    .examples =
        (const vp_example_t[]){
            {"variopath simulate --topology l20-cx7:nodes=4 --demand D.csv --algorithms auto,nccl",
             "what four nodes would gain over NCCL's way"},
            {NULL, NULL}},
    .run = run_command,
};
