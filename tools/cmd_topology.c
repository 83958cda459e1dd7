/* SPDX-License-Identifier: BSD-3-Clause */
#include "vp_config.h"

#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "catalog/topology.h"
#include "tools/cmd_import.h"
#include "tools/command.h"
#include "tools/model_json.h"

static void print_help(void)
{
    const char *const *names = vp_topology_shipped_names();
    size_t i;

    (void)printf(
        "Usage: variopath topology show TOPOLOGY [--json]\n"
        "       variopath topology import FILE [OPTION]... (see `topology import --help`)\n"
        "Shows a topology: its rank groups, NICs, shared resources and path instances.\n"
        "\n"
        "TOPOLOGY is NAME_OR_FILE[:nodes=N][:rates=SET][:transports=SET]: a shipped name\n"
        "or a JSON file, with the number of nodes (the file's by default), the rate set\n"
        "(\"nominal\") and the transport set (\"hardware\"). Shipped:");
    for (i = 0; names[i] != NULL; i++) {
        (void)printf(" %s", names[i]);
    }
    (void)printf(".\n\n"
                 "  --json   print one JSON object\n"
                 "  --help   print this\n");
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

static double gigabytes(uint64_t bytes_per_s)
{
    return (double)bytes_per_s / 1e9;
}

static void print_instances(const vp_model_t *model)
{
    uint32_t i;
    uint32_t k;

    (void)printf("\n%" PRIu32 " path instances\n", model->n_instances);
    for (i = 0; i < model->n_instances; i++) {
        const vp_instance_t *it = &model->instances[i];

        (void)printf("  %-4s  %s -> %s  %.1f GB/s", vp_path_kind_text(it->kind),
                     model->groups[it->from_group].name, model->groups[it->to_group].name,
                     gigabytes(it->bytes_per_s));
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
    uint32_t i;

    (void)printf("%s: %" PRIu32 " node%s, %" PRIu32 " ranks in %" PRIu32 " groups; %s rates, %s "
                 "transports\n",
                 model->name, model->n_nodes, model->n_nodes == 1 ? "" : "s", model->n_ranks,
                 model->n_groups, model->rates, model->transport);
    (void)printf("GPU link %.1f GB/s (%s), %" PRIu64 " ns per activation\n",
                 gigabytes(model->gpu_link_bytes_per_s), model->gpu_link_origin, model->alpha_ns);
    (void)printf("\n%" PRIu32 " rank groups\n", model->n_groups);
    for (i = 0; i < model->n_groups; i++) {
        const vp_group_t *group = &model->groups[i];

        (void)printf("  %s  ranks %" PRIu32 "-%" PRIu32 "\n", group->name, group->first_rank,
                     group->first_rank + group->n_ranks - 1);
    }
    (void)printf("\n%" PRIu32 " NICs\n", model->n_nics);
    for (i = 0; i < model->n_nics; i++) {
        (void)printf("  %s  of %s  %.1f GB/s\n", model->nics[i].name,
                     model->groups[model->nics[i].group].name,
                     gigabytes(model->nics[i].bytes_per_s));
    }
    (void)printf("\n%" PRIu32 " shared resources\n", model->n_resources);
    for (i = 0; i < model->n_resources; i++) {
        const vp_resource_t *it = &model->resources[i];

        (void)printf("  %-12s  %s  %.1f GB/s (%s)\n", vp_resource_kind_text(it->kind), it->name,
                     gigabytes(it->bytes_per_s), it->origin);
    }
    print_instances(model);
}

static int show(const char *topology, bool is_json)
{
    vp_error_t error;
    vp_model_t *model = NULL;
    int code = VP_EXIT_OK;

    if (vp_topology_resolve(topology, &model, &error) != VP_OK) {
        return vp_command_fail(&error);
    }
    if (is_json) {
        code = print_json(model);
    } else {
        print_text(model);
    }
    vp_model_destroy(model);
    return code;
}

int vp_command_topology(int argc, char **argv)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    bool is_json = false;
    int option;

    if (argc > 1 && strcmp(argv[1], "import") == 0) {
        return vp_command_topology_import(argc - 1, argv + 1);
    }
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        switch (option) {
        case 'j':
            is_json = true;
            break;
        case 'h':
            print_help();
            return VP_EXIT_OK;
        default:
            return vp_command_usage("topology", "unknown option \"%s\"", argv[optind - 1]);
        }
    }
    if (optind == argc) {
        return vp_command_usage("topology", "say what to do: show TOPOLOGY");
    }
    if (strcmp(argv[optind], "show") != 0) {
        return vp_command_usage("topology", "unknown action \"%s\"; there is \"show\"",
                                argv[optind]);
    }
    if (argc - optind != 2) {
        return vp_command_usage("topology", "\"show\" takes one TOPOLOGY");
    }
    return show(argv[optind + 1], is_json);
}
