/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/json_write.h"
#include "vp_config.h"

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
    bool is_live;
    const char *svg;
    const char *output;
    vp_import_format_t format;
} topology_options_t;

static int print_json(const vp_model_t *model)
{
    json_t *root = vp_model_to_json(model);
    bool is_printed = root != NULL && vp_json_dump(root, stdout, JSON_INDENT(2));

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
    if (root == NULL || !vp_json_dump(root, stdout, JSON_INDENT(2))) {
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

static int run_show(char **arguments, const void *options)
{
    return show(arguments[0], options);
}

static int run_check(char **arguments, const void *options)
{
    return check(arguments[0], options);
}

static int run_import(char **arguments, const void *options)
{
    const topology_options_t *given = options;
    vp_import_request_t request = {.file = arguments[0],
                                   .format = given->format,
                                   .output = given->output,
                                   .is_json = given->is_json};

    if (given->is_live == (arguments[0] != NULL)) {
        return vp_command_usage("topology", "give \"import\" one FILE, or --live and none");
    }
    if (given->output != NULL && strcmp(given->output, "-") == 0 && given->is_json) {
        return vp_command_usage("topology", "-o - and --json both go to standard output");
    }
    return vp_topology_import(&request);
}

enum { SHOW = 1, IMPORT = 4 }; /* bits of the actions */

/* In the order of their enumeration. */
static const char *const formats[] = {"auto", "hwloc", "nccl", "nvidia-smi", "json", NULL};

static const vp_option_t known_options[] = {
    {.name = "json", .help = "print one JSON object", VP_FIELD(topology_options_t, is_json)},
    {.name = "svg",
     .value = "FILE",
     .help = "show: draw the topology there instead; - is standard output",
     VP_FIELD(topology_options_t, svg),
     .kind = VP_OPTION_TEXT,
     .offer = VP_OFFER_FILES,
     .actions = SHOW},
    {.name = "format",
     .value = "FORMAT",
     .help = "import: what FILE is: hwloc (XML of lstopo), nccl (XML of NCCL_TOPO_DUMP_FILE), "
             "nvidia-smi "
             "(text of `nvidia-smi topo -m`), json (a topology file), or auto",
     .unless_given = "auto",
     VP_FIELD(topology_options_t, format),
     .kind = VP_OPTION_WORD,
     .words = formats,
     .actions = IMPORT},
    {.name = "live",
     .help = "import: discover this machine with hwloc",
     VP_FIELD(topology_options_t, is_live),
     .actions = IMPORT},
    {.name = "output",
     .letter = 'o',
     .value = "OUT",
     .help = "import: write the topology file, which every other command takes",
     VP_FIELD(topology_options_t, output),
     .kind = VP_OPTION_TEXT,
     .offer = VP_OFFER_FILES,
     .actions = IMPORT},
    {.name = NULL},
};

static int run(int argc, char **argv)
{
    topology_options_t options = {.format = VP_IMPORT_AUTO};

    return vp_options_run_action(&vp_command_topology, argc, argv, &options);
}

/* "fig1-6, r5080-bf3" */
static const char *shipped_names(void)
{
    static char text[256];
    const char *const *names = vp_topology_shipped_names();
    size_t used = 0;
    size_t i;

    for (i = 0; names[i] != NULL && used < sizeof(text); i++) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i == 0 ? "" : ", ",
                                 names[i]);
    }
    return text;
}

const vp_command_t vp_command_topology = {
    .name = "topology",
    .summary = "show a topology: groups, NICs, shared resources, paths; or import one",
    .forms = (const char *const[]){"topology show TOPOLOGY [--json] [--svg FILE]",
                                   "topology check TOPOLOGY [--json]",
                                   "topology import FILE [--format FORMAT] [-o OUT] [--json]",
                                   "topology import --live [-o OUT] [--json]", NULL},
    .paragraphs =
        (const char *const[]){
            "show: the rank groups, NICs, shared resources and path instances of a topology. "
            "check: "
            "exit code 0 without findings, 1 with warnings, 2 if it is invalid. import: reads a "
            "description of one node and shows its GPUs, rank groups, pair classes and nearest "
            "NICs, "
            "and what was not used and why; FILE may be -, standard input.",
            "TOPOLOGY is NAME_OR_FILE[:nodes=N][:rates=SET][:transports=SET][:nics=near|all]: a "
            "shipped name or a JSON file, with the number of nodes (the file's by default), the "
            "rate set (\"nominal\"), the transport set (\"hardware\") and the NICs that GPUs use: "
            "those of their own switch, or all of their node. Shipped: %s.",
            "In place of a name, synthetic:KEY=VALUE,... makes a machine up. Keys: nodes, switches "
            "(of "
            "a node), gpus and nics (of a switch); pix, pxb, nic, gpu, host, memory (GB/s); "
            "alpha_us, "
            "put_us; links=direct|uplinks, pairs=rail|any, p2p=on|off, gdr=on|off.",
            NULL},
    .insert = shipped_names,
    .options = known_options,
    .no = "check has warnings",
    .examples =
        (const vp_example_t[]){
            {"variopath topology show r5080-bf3:nodes=2 --svg tree.svg", "a picture of two nodes"},
            {"nvidia-smi topo -m | variopath topology import - -o my.json",
             "a topology file of this machine"},
            {NULL, NULL}},
    .actions = (const vp_action_t[]){{"show", "one TOPOLOGY", 1, 1, run_show},
                                     {"check", "one TOPOLOGY", 1, 1, run_check},
                                     {"import", "one FILE, or --live", 0, 1, run_import},
                                     {NULL, NULL, 0, 0, NULL}},
    .offer = VP_OFFER_TOPOLOGIES,
    .run = run,
};
