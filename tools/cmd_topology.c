/* SPDX-License-Identifier: BSD-3-Clause */
#include "vp_config.h"

#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/units.h"
#include "catalog/advice.h"
#include "catalog/draw.h"
#include "catalog/topology.h"
#include "tools/cmd_import.h"
#include "tools/command.h"
#include "tools/model_json.h"

typedef struct topology_options {
    bool is_json;
    const char *svg;
} topology_options_t;

static void print_help(void)
{
    const char *const *names = vp_topology_shipped_names();
    size_t i;

    (void)printf(
        "Usage: variopath topology show TOPOLOGY [--json] [--svg FILE]\n"
        "       variopath topology check TOPOLOGY [--json]\n"
        "       variopath topology import FILE [OPTION]... (see `topology import --help`)\n");
    (void)printf(
        "Shows a topology: its rank groups, NICs, shared resources and path instances; or\n"
        "checks one: exit code 0 without findings, 1 with warnings, 2 if it is invalid.\n"
        "\n"
        "TOPOLOGY is NAME_OR_FILE[:nodes=N][:rates=SET][:transports=SET]: a shipped name\n"
        "or a JSON file, with the number of nodes (the file's by default), the rate set\n"
        "(\"nominal\") and the transport set (\"hardware\"). Shipped:");
    for (i = 0; names[i] != NULL; i++) {
        (void)printf(" %s", names[i]);
    }
    (void)printf(".\n"
                 "In place of a name, synthetic:KEY=VALUE,... makes a machine up. Keys: nodes,\n"
                 "switches (of a node), gpus and nics (of a switch); pix, pxb, nic, gpu, host,\n"
                 "memory (GB/s); alpha_us, put_us; links=direct|uplinks, pairs=rail|any,\n"
                 "p2p=on|off, gdr=on|off.\n"
                 "\n"
                 "      --json      print one JSON object\n"
                 "      --svg FILE  draw the topology there instead; - is standard output\n"
                 "  -h, --help      print this\n");
}

static int print_json(const vp_model_t *model)
{
    json_t *root = vp_model_to_json(model);
    bool is_printed = root != NULL && json_dumpf(root, stdout, JSON_INDENT(2)) == 0;

    json_decref(root);
    if (!is_printed) {
        vp_error_t error;

        (void)vp_error_set(&error, VP_ERR_IO,
                           "cannot write the topology as JSON; check the disk and the memory");
        return vp_command_fail(&error);
    }
    (void)printf("\n");
    return VP_EXIT_OK;
}

static void print_instances(const vp_model_t *model)
{
    uint32_t i;
    uint32_t k;

    (void)printf("\n%" PRIu32 " path instances\n", model->n_instances);
    for (i = 0; i < model->n_instances; i++) {
        const vp_instance_t *it = &model->instances[i];
        char rate[VP_RATE_TEXT_BYTES];

        vp_rate_text(it->bytes_per_s, rate);
        (void)printf("  %-4s  %s -> %s  %s", vp_path_kind_text(it->kind),
                     model->groups[it->from_group].name, model->groups[it->to_group].name, rate);
        if (it->n_resources == 0) {
            (void)printf("  nothing shared, %" PRIu32 " at once", it->n_copies);
        }
        for (k = 0; k < it->n_resources; k++) {
            (void)printf("%s%s", k == 0 ? "  over " : ", ",
                         model->resources[it->resources[k]].name);
        }
        (void)printf("\n");
    }
}

static void print_text(const vp_model_t *model)
{
    char rate[VP_RATE_TEXT_BYTES];
    uint32_t i;

    (void)printf("%s: %" PRIu32 " node%s, %" PRIu32 " ranks in %" PRIu32 " groups; %s rates, %s "
                 "transports\n",
                 model->name, model->n_nodes, model->n_nodes == 1 ? "" : "s", model->n_ranks,
                 model->n_groups, model->rates, model->transport);
    vp_rate_text(model->gpu_link_bytes_per_s, rate);
    (void)printf("GPU link %s (%s), %" PRIu64 " ns per activation\n", rate, model->gpu_link_origin,
                 model->alpha_ns);
    (void)printf("\n%" PRIu32 " rank groups\n", model->n_groups);
    for (i = 0; i < model->n_groups; i++) {
        const vp_group_t *group = &model->groups[i];

        (void)printf("  %s  ranks %" PRIu32 "-%" PRIu32 "\n", group->name, group->first_rank,
                     group->first_rank + group->n_ranks - 1);
    }
    (void)printf("\n%" PRIu32 " NICs\n", model->n_nics);
    for (i = 0; i < model->n_nics; i++) {
        vp_rate_text(model->nics[i].bytes_per_s, rate);
        (void)printf("  %s  of %s  %s\n", model->nics[i].name,
                     model->groups[model->nics[i].group].name, rate);
    }
    (void)printf("\n%" PRIu32 " shared resources\n", model->n_resources);
    for (i = 0; i < model->n_resources; i++) {
        const vp_resource_t *it = &model->resources[i];

        vp_rate_text(it->bytes_per_s, rate);
        (void)printf("  %-12s  %s  %s (%s)\n", vp_resource_kind_text(it->kind), it->name, rate,
                     it->origin);
    }
    print_instances(model);
}

static int draw(const vp_model_t *model, const char *path)
{
    vp_writer_t writer = VP_WRITER_INIT;
    vp_error_t error;
    vp_status_t status;

    vp_model_draw(&writer, model);
    status = writer.failed ? vp_error_no_memory(&error, "the picture of a topology")
                           : vp_file_write(path, writer.data, writer.n_bytes, &error);
    vp_writer_clear(&writer);
    return status == VP_OK ? VP_EXIT_OK : vp_command_fail(&error);
}

static int show(const char *topology, const topology_options_t *options)
{
    vp_error_t error;
    vp_model_t *model = NULL;
    int code = VP_EXIT_OK;

    if (vp_topology_resolve(topology, &model, &error) != VP_OK) {
        return vp_command_fail(&error);
    }
    if (options->svg != NULL) {
        code = draw(model, options->svg);
    } else if (options->is_json) {
        code = print_json(model);
    } else {
        print_text(model);
    }
    vp_model_destroy(model);
    return code;
}

static void print_warning(void *context, const char *text)
{
    (void)context;
    (void)printf("warning: %s\n", text);
}

static void pack_warning(void *context, const char *text)
{
    (void)json_array_append_new(context, json_string(text));
}

static int check_json(const vp_model_t *model, uint32_t *n_warnings_p, vp_error_t *error)
{
    json_t *warnings = json_array();
    json_t *root;
    int code = VP_EXIT_OK;

    if (vp_model_advise(model, pack_warning, warnings, n_warnings_p, error) != VP_OK) {
        json_decref(warnings);
        return vp_command_fail(error);
    }
    root = json_pack("{s:s, s:I, s:o}", "name", model->name, "ranks", (json_int_t)model->n_ranks,
                     "warnings", warnings);
    if (root == NULL || json_dumpf(root, stdout, JSON_INDENT(2)) != 0) {
        (void)vp_error_set(error, VP_ERR_IO,
                           "cannot write the findings as JSON; check the disk and the memory");
        code = vp_command_fail(error);
    }
    (void)printf("\n");
    json_decref(root);
    return code;
}

static int check(const char *topology, const topology_options_t *options)
{
    vp_error_t error;
    vp_model_t *model = NULL;
    uint32_t n_warnings = 0;
    int code = VP_EXIT_OK;

    if (vp_topology_resolve(topology, &model, &error) != VP_OK) {
        return vp_command_fail(&error);
    }
    if (options->is_json) {
        code = check_json(model, &n_warnings, &error);
    } else if (vp_model_advise(model, print_warning, NULL, &n_warnings, &error) != VP_OK) {
        code = vp_command_fail(&error);
    } else {
        (void)printf("%s: %" PRIu32 " ranks in %" PRIu32 " groups, %" PRIu32
                     " path instances; every invariant holds, %" PRIu32 " warning%s\n",
                     model->name, model->n_ranks, model->n_groups, model->n_instances, n_warnings,
                     n_warnings == 1 ? "" : "s");
    }
    vp_model_destroy(model);
    return code == VP_EXIT_OK && n_warnings > 0 ? VP_EXIT_NO : code;
}

static int run_action(int argc, char **argv, const topology_options_t *options)
{
    if (argc == 0) {
        return vp_command_usage("topology",
                                "say what to do: show TOPOLOGY, check TOPOLOGY or import FILE");
    }
    if (strcmp(argv[0], "show") != 0 && strcmp(argv[0], "check") != 0) {
        return vp_command_usage("topology",
                                "unknown action \"%s\"; there are show, check and import", argv[0]);
    }
    if (argc != 2) {
        return vp_command_usage("topology", "\"%s\" takes one TOPOLOGY", argv[0]);
    }
    if (strcmp(argv[0], "show") == 0) {
        return show(argv[1], options);
    }
    if (options->svg != NULL) {
        return vp_command_usage("topology", "\"check\" draws nothing; --svg goes with show");
    }
    return check(argv[1], options);
}

int vp_command_topology(int argc, char **argv)
{
    static const struct option long_options[] = {{"json", no_argument, NULL, 'j'},
                                                 {"svg", required_argument, NULL, 's'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    topology_options_t options = {0};
    vp_command_seen_t seen = {false};
    int option;

    if (argc > 1 && strcmp(argv[1], "import") == 0) {
        return vp_command_topology_import(argc - 1, argv + 1);
    }
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (vp_command_is_repeated(option, seen)) {
            return vp_command_usage("topology", "option \"%s\" stands there twice; give it once",
                                    vp_command_option_text(argv));
        }
        switch (option) {
        case 'j':
            options.is_json = true;
            break;
        case 's':
            options.svg = optarg;
            break;
        case 'h':
            print_help();
            return VP_EXIT_OK;
        case ':':
            return vp_command_usage("topology", "option \"%s\" needs a value", argv[optind - 1]);
        default:
            return vp_command_usage("topology", "unknown option \"%s\"", argv[optind - 1]);
        }
    }
    return run_action(argc - optind, argv + optind, &options);
}
