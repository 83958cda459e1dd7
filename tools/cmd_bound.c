/* SPDX-License-Identifier: BSD-3-Clause */
#include "vp_config.h"

#include <getopt.h>
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

typedef struct bound_options {
    const char *topology;
    const char *demand;
    bool has_alpha;
    uint64_t alpha_ns;
    bool is_exact;
    bool is_json;
    bool is_help;
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

static void print_help(void)
{
    (void)printf(
        "Usage: variopath bound --topology TOPOLOGY --demand CSV [OPTION]...\n"
        "Shows times that no schedule of a demand beats.\n"
        "TOPOLOGY is as for `variopath topology`, see `variopath topology --help`.\n"
        "\n"
        "  --topology TOPOLOGY   the machine\n"
        "  --demand CSV          N rows of N byte counts, row = source; - is standard input\n"
        "  --alpha-ns A          overhead of one activation [the topology's]\n"
        "  --exact               also solve the linear programs (needs Python with highspy)\n"
        "  --json                print one JSON object\n"
        "  --help                print this\n"
        "\n"
        "fluid_ns holds for every schedule, also when lanes share links. lp_ns and kmin, a time\n"
        "and a number of activations, hold when lanes have their links for themselves, and\n"
        "bound_ns = lp_ns + A * kmin when activations follow one another. alignment_ns is that\n"
        "bound raised by what lanes of an activation wait for each other. list_ns holds when\n"
        "exclusive lanes wait for their ports only.\n");
}

/* Fills options; VP_EXIT_OK, or a code after a message. */
static int parse_options(int argc, char **argv, bound_options_t *options)
{
    enum { TOPOLOGY = 256, DEMAND, ALPHA, EXACT, JSON, HELP };
    static const struct option known[] = {{"topology", required_argument, NULL, TOPOLOGY},
                                          {"demand", required_argument, NULL, DEMAND},
                                          {"alpha-ns", required_argument, NULL, ALPHA},
                                          {"exact", no_argument, NULL, EXACT},
                                          {"json", no_argument, NULL, JSON},
                                          {"help", no_argument, NULL, HELP},
                                          {NULL, 0, NULL, 0}};
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":", known, NULL)) != -1) {
        switch (option) {
        case TOPOLOGY:
            options->topology = optarg;
            break;
        case DEMAND:
            options->demand = optarg;
            break;
        case ALPHA:
            options->has_alpha = true;
            if (!vp_alpha_parse(optarg, &options->alpha_ns)) {
                return vp_command_usage("bound", "--alpha-ns takes 0 to %" PRIu64 ", not \"%s\"",
                                        VP_MAX_ALPHA_NS, optarg);
            }
            break;
        case EXACT:
            options->is_exact = true;
            break;
        case JSON:
            options->is_json = true;
            break;
        case HELP:
            options->is_help = true;
            return VP_EXIT_OK;
        case ':':
            return vp_command_usage("bound", "option \"%s\" needs a value", argv[optind - 1]);
        default:
            return vp_command_usage("bound", "unknown option \"%s\"", argv[optind - 1]);
        }
    }
    return VP_EXIT_OK;
}

static int check_options(int argc, char **argv, const bound_options_t *options)
{
    if (optind < argc) {
        return vp_command_usage("bound", "unexpected argument \"%s\"", argv[optind]);
    }
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
                      json_dumpf(root, stdout, JSON_INDENT(2)) == 0;

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

int vp_command_bound(int argc, char **argv)
{
    bound_options_t options = {0};
    bounds_t bounds = {0};
    vp_error_t error = {VP_OK, ""};
    vp_status_t status;
    int code = parse_options(argc, argv, &options);

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
    status = find_bounds(&options, &bounds, &error);
    if (status == VP_OK && options.is_json) {
        status = print_json(&bounds, &error);
    } else if (status == VP_OK) {
        print_text(&bounds);
    }
    return status == VP_OK ? VP_EXIT_OK : vp_command_fail(&error);
}
