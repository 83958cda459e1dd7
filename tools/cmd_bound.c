/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/json_write.h"
#include "vp_config.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "catalog/topology.h"
#include "scheduler/alignment.h"
#include "scheduler/schedule.h"
#include "tools/command.h"
#include "tools/demand_file.h"
#include "tools/exact.h"
#include "tools/terminal.h"

typedef struct bound_options {
    const char *topology;
    const char *demand;
    bool has_alpha;
    uint64_t alpha_ns;
    bool is_exact;
    bool is_json;
} bound_options_t;

/* What one run of the command finds out. */
typedef struct bounds {
    uint64_t alpha_ns;
    uint64_t fluid_ns;
    vp_bound_t exclusive;
    uint64_t alignment_ns;
    uint64_t list_ns;
    bool has_exact;
    vp_exact_t exact;
} bounds_t;

static const vp_option_t known_options[] = {
    {.name = "topology",
     .value = "TOPOLOGY",
     .help = "the machine; see variopath topology",
     VP_FIELD(bound_options_t, topology),
     .kind = VP_OPTION_TEXT,
     .offer = VP_OFFER_TOPOLOGIES},
    {.name = "demand",
     .value = "CSV",
     .help = "N rows of N byte counts, row = source; - is standard input",
     VP_FIELD(bound_options_t, demand),
     .kind = VP_OPTION_TEXT,
     .offer = VP_OFFER_FILES},
    {.name = "alpha-ns",
     .value = "A",
     .help = "overhead of one activation",
     .unless_given = "the topology's",
     VP_FIELD(bound_options_t, alpha_ns),
     VP_GIVEN(bound_options_t, has_alpha),
     .kind = VP_OPTION_NUMBER,
     .most = VP_MAX_ALPHA_NS},
    {.name = "exact",
     .help = "also solve the linear programs (needs Python with highspy)",
     VP_FIELD(bound_options_t, is_exact)},
    {.name = "json", .help = "print one JSON object", VP_FIELD(bound_options_t, is_json)},
    {.name = NULL},
};

static int check_options(const bound_options_t *options)
{
    if (options->topology == NULL) {
        return vp_command_usage("bound", "give --topology");
    }
    if (options->demand == NULL) {
        return vp_command_usage("bound", "give --demand");
    }
    return VP_EXIT_OK;
}

static vp_status_t find_bounds(const bound_options_t *options, bounds_t *bounds, vp_error_t *error)
{
    vp_model_t *model = NULL;
    uint64_t *demand_bytes = NULL;
    vp_status_t status = vp_topology_resolve(options->topology, &model, error);

    if (status == VP_OK) {
        bounds->alpha_ns = options->has_alpha ? options->alpha_ns : model->alpha_ns;
        status = vp_demand_read(options->demand, model, &demand_bytes, error);
    }
    if (status == VP_OK) {
        status = vp_fluid_bound(model, demand_bytes, &bounds->fluid_ns, error);
    }
    if (status == VP_OK) {
        status = vp_bound(model, demand_bytes, bounds->alpha_ns, &bounds->exclusive, error);
    }
    if (status == VP_OK) {
        status = vp_alignment_bound(model, demand_bytes, bounds->alpha_ns, &bounds->exclusive,
                                    &bounds->alignment_ns, error);
    }
    if (status == VP_OK) {
        status = vp_list_bound(model, demand_bytes, bounds->alpha_ns, &bounds->list_ns, error);
    }
    if (status == VP_OK && options->is_exact) {
        bounds->has_exact = true;
        status = vp_exact_bounds(options->topology, options->demand, &bounds->exact, error);
    }
    free(demand_bytes);
    vp_model_destroy(model);
    return status;
}

static bool add_exact(json_t *root, const bounds_t *bounds)
{
    return json_object_set_new(root, "exact",
                               json_pack("{s:I, s:I, s:I}", "fluid_ns",
                                         (json_int_t)bounds->exact.fluid_ns, "lp_ns",
                                         (json_int_t)bounds->exact.lp_ns, "kmin",
                                         (json_int_t)bounds->exact.kmin)) == 0;
}

static vp_status_t print_json(const bounds_t *bounds, vp_error_t *error)
{
    json_t *root = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "fluid_ns", (json_int_t)bounds->fluid_ns, "lp_ns",
        (json_int_t)bounds->exclusive.lp_ns, "kmin", (json_int_t)bounds->exclusive.kmin,
        "alignment_ns", (json_int_t)bounds->alignment_ns, "bound_ns",
        (json_int_t)bounds->exclusive.bound_ns, "list_ns", (json_int_t)bounds->list_ns, "alpha_ns",
        (json_int_t)bounds->alpha_ns);
    bool is_printed = root != NULL && (!bounds->has_exact || add_exact(root, bounds)) &&
                      vp_json_dump(root, stdout, JSON_INDENT(2));

    json_decref(root);
    if (!is_printed) {
        return vp_error_set(error, VP_ERR_IO,
                            "cannot write the bounds as JSON; check the disk and the memory");
    }
    (void)printf("\n");
    return VP_OK;
}

static void print_text(const bounds_t *bounds)
{
    (void)printf("lanes that share links   %.3f us\n", (double)bounds->fluid_ns / 1e3);
    (void)printf("exclusive lanes          %.3f us\n", (double)bounds->exclusive.lp_ns / 1e3);
    (void)printf("with %" PRIu64 " ns for each of %" PRIu32 " activations or more  %.3f us\n",
                 bounds->alpha_ns, bounds->exclusive.kmin,
                 (double)bounds->exclusive.bound_ns / 1e3);
    (void)printf("and waiting for each other  %.3f us\n", (double)bounds->alignment_ns / 1e3);
    (void)printf("waiting for ports only      %.3f us\n", (double)bounds->list_ns / 1e3);
    if (bounds->has_exact) {
        (void)printf("exactly: shared %.3f us, exclusive %.3f us, %" PRIu32 " activations\n",
                     (double)bounds->exact.fluid_ns / 1e3, (double)bounds->exact.lp_ns / 1e3,
                     bounds->exact.kmin);
    }
}

static int run(int argc, char **argv)
{
    bound_options_t options = {0};
    bounds_t bounds = {0};
    vp_progress_t progress;
    vp_error_t error = {VP_OK, ""};
    vp_status_t status;
    int code;

    if (!vp_options_parse_all(&vp_command_bound, argc, argv, &options, &code)) {
        return code;
    }
    code = check_options(&options);
    if (code != VP_EXIT_OK) {
        return code;
    }
    vp_progress_begin(&progress, "bounding");
    status = find_bounds(&options, &bounds, &error);
    vp_progress_end(&progress);
    if (status == VP_OK && options.is_json) {
        status = print_json(&bounds, &error);
    } else if (status == VP_OK) {
        print_text(&bounds);
    }
    return status == VP_OK ? VP_EXIT_OK : vp_command_fail(&error);
}

const vp_command_t vp_command_bound = {
    .name = "bound",
    .summary = "show times that no schedule of a demand beats",
    .forms = (const char *const[]){"bound --topology TOPOLOGY --demand CSV [OPTION]...", NULL},
    .paragraphs = (const char *const[]){"Shows times that no schedule of a demand beats.", NULL},
    .options = known_options,
    .notes =
        (const char *const[]){
            "fluid_ns holds for every schedule, also when lanes share links. lp_ns and kmin, a "
            "time and a number of activations, hold when lanes have their links for themselves, "
            "and bound_ns = lp_ns + A * kmin when activations follow one another. alignment_ns is "
            "that bound raised by what lanes of an activation wait for each other. list_ns holds "
            "when exclusive lanes wait for their ports only.",
            NULL},
    .examples =
        (const vp_example_t[]){{"variopath bound --topology r5080-bf3:nodes=2 --demand D.csv",
                                "what no schedule of this demand beats on two nodes"},
                               {NULL, NULL}},
    .run = run,
};
