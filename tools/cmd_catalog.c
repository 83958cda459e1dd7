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
#include "catalog/diff.h"
#include "catalog/store.h"
#include "catalog/topology.h"
#include "tools/command.h"
#include "tools/terminal.h"

typedef struct catalog_options {
    const char *output;
    bool is_json;
    bool has_shapes;
    vp_build_mode_t mode;
    vp_build_options_t build;
} catalog_options_t;

static const char *mode_text(vp_catalog_mode_t mode)
{
    return mode == VP_CATALOG_EXHAUSTIVE ? "exhaustive" : "generated";
}

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * VP_NS_PER_S + (uint64_t)now.tv_nsec;
}

static json_t *pack_matrix(const vp_catalog_t *catalog, uint32_t shape)
{
    uint32_t n_groups = catalog->model->n_groups;
    const uint16_t *lanes = catalog->shape_lanes + (size_t)shape * n_groups * n_groups;
    json_t *matrix = json_array();
    uint32_t from;
    uint32_t to;

    for (from = 0; from < n_groups; from++) {
        json_t *row = json_array();

        for (to = 0; to < n_groups; to++) {
            (void)json_array_append_new(row, json_integer(*lanes++));
        }
        (void)json_array_append_new(matrix, row);
    }
    return matrix;
}

static json_t *pack_shapes(const vp_catalog_t *catalog)
{
    json_t *shapes = json_array();
    uint32_t i;

    for (i = 0; i < catalog->n_shapes; i++) {
        (void)json_array_append_new(shapes, json_pack("{s:o, s:I}", "matrix",
                                                      pack_matrix(catalog, i), "families",
                                                      (json_int_t)catalog->shapes[i].n_families));
    }
    return shapes;
}

static int fail_json(void)
{
    vp_error_t error;

    (void)vp_error_set(&error, VP_ERR_IO, "cannot write JSON; check the disk and the memory");
    return vp_command_fail(&error);
}

static int print_json(FILE *stream, const vp_catalog_t *catalog, size_t file_bytes, bool has_shapes)
{
    const vp_model_t *model = catalog->model;
    char fingerprint[17];
    json_t *root;
    bool is_printed;

    (void)snprintf(fingerprint, sizeof(fingerprint), "%016" PRIx64, catalog->fingerprint);
    root = json_pack(
        "{s:i, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
        "s:I}",
        "version", VP_CATALOG_VERSION, "fingerprint", fingerprint, "mode", mode_text(catalog->mode),
        "topology", model->name, "rates", model->rates, "transports", model->transport, "nodes",
        (json_int_t)model->n_nodes, "ranks", (json_int_t)model->n_ranks, "groups",
        (json_int_t)model->n_groups, "instances", (json_int_t)model->n_instances, "resources",
        (json_int_t)model->n_resources, "shapes", (json_int_t)catalog->n_shapes, "families",
        (json_int_t)catalog->n_families, "file_bytes", (json_int_t)file_bytes, "build_ns",
        (json_int_t)catalog->build_ns, "build_steps", (json_int_t)catalog->build_steps);
    if (root != NULL && has_shapes) {
        (void)json_object_set_new(root, "shape_list", pack_shapes(catalog));
    }
    /* One number per line would make a list of shapes unreadable, and long. */
    is_printed =
        root != NULL && vp_json_dump(root, stream, has_shapes ? JSON_COMPACT : JSON_INDENT(2));
    json_decref(root);
    if (!is_printed) {
        return fail_json();
    }
    (void)fprintf(stream, "\n");
    return VP_EXIT_OK;
}

static void print_shape(FILE *stream, const vp_catalog_t *catalog, uint32_t shape)
{
    uint32_t n_groups = catalog->model->n_groups;
    const uint16_t *lanes = catalog->shape_lanes + (size_t)shape * n_groups * n_groups;
    uint32_t from;
    uint32_t to;

    (void)fprintf(stream, "  %6" PRIu32 "  [", catalog->shapes[shape].n_families);
    for (from = 0; from < n_groups; from++) {
        (void)fprintf(stream, "%s[", from == 0 ? "" : ",");
        for (to = 0; to < n_groups; to++) {
            (void)fprintf(stream, "%s%u", to == 0 ? "" : ",", (unsigned)*lanes++);
        }
        (void)fprintf(stream, "]");
    }
    (void)fprintf(stream, "]\n");
}

static void print_text(FILE *stream, const vp_catalog_t *catalog, size_t file_bytes,
                       bool has_shapes)
{
    const vp_model_t *model = catalog->model;
    uint32_t i;

    (void)fprintf(stream,
                  "catalog of %s: %" PRIu32 " node%s, %" PRIu32 " ranks in %" PRIu32
                  " groups; %s rates, %s transports\n",
                  model->name, model->n_nodes, model->n_nodes == 1 ? "" : "s", model->n_ranks,
                  model->n_groups, model->rates, model->transport);
    (void)fprintf(stream,
                  "%s, version %d, fingerprint %016" PRIx64 "\n"
                  "%" PRIu32 " path instances over %" PRIu32 " shared resources\n",
                  mode_text(catalog->mode), VP_CATALOG_VERSION, catalog->fingerprint,
                  model->n_instances, model->n_resources);
    if (catalog->mode == VP_CATALOG_GENERATED) {
        (void)fprintf(stream, "channels are made when they are needed, ");
    } else {
        (void)fprintf(stream, "%" PRIu32 " shapes, %" PRIu32 " families, ", catalog->n_shapes,
                      catalog->n_families);
    }
    (void)fprintf(stream, "%zu bytes\nbuilt in %.3f ms, %" PRIu64 " steps\n", file_bytes,
                  (double)catalog->build_ns / 1e6, catalog->build_steps);
    if (has_shapes) {
        (void)fprintf(stream, "\nfamilies  shape (lanes, row = source group)\n");
        for (i = 0; i < catalog->n_shapes; i++) {
            print_shape(stream, catalog, i);
        }
    }
}

static int print_catalog(FILE *stream, const vp_catalog_t *catalog, size_t file_bytes,
                         const catalog_options_t *options)
{
    if (options->is_json) {
        return print_json(stream, catalog, file_bytes, options->has_shapes);
    }
    print_text(stream, catalog, file_bytes, options->has_shapes);
    return VP_EXIT_OK;
}

static void tell_progress(void *context, uint64_t n_steps, size_t n_families)
{
    vp_progress_tell(context, "%" PRIu64 " steps, %zu families", n_steps, n_families);
}

/* Builds a catalog of that mode and seals it. */
static vp_status_t make_catalog(const char *topology, vp_build_mode_t mode,
                                const vp_build_options_t *options, vp_catalog_t **catalog_p,
                                vp_error_t *error)
{
    uint64_t begin_ns = now_ns();
    vp_progress_t progress;
    vp_build_watch_t watch = {.tell = tell_progress, .context = &progress};
    vp_model_t *model = NULL;
    vp_catalog_t *catalog = NULL;
    vp_status_t status = vp_topology_resolve(topology, &model, error);

    if (status != VP_OK) {
        return status;
    }
    vp_progress_begin(&progress, "building the catalog");
    status = vp_catalog_make(&model, mode, options, progress.is_running ? &watch : NULL, &catalog,
                             error);
    vp_progress_end(&progress);
    vp_model_destroy(model);
    if (status != VP_OK) {
        return status;
    }
    catalog->build_ns = now_ns() - begin_ns;
    status = vp_catalog_seal(catalog, error);
    if (status != VP_OK) {
        vp_catalog_destroy(catalog);
        return status;
    }
    *catalog_p = catalog;
    return VP_OK;
}

static int build(char **arguments, const void *given)
{
    const catalog_options_t *options = given;
    vp_error_t error;
    vp_catalog_t *catalog = NULL;
    size_t file_bytes = 0;
    int code;

    if (options->output == NULL) {
        return vp_command_usage("catalog", "say where to write the catalog: -o FILE");
    }
    if (make_catalog(arguments[0], options->mode, &options->build, &catalog, &error) != VP_OK) {
        return vp_command_fail(&error);
    }
    if (vp_catalog_store(catalog, options->output, &file_bytes, &error) != VP_OK) {
        vp_catalog_destroy(catalog);
        return vp_command_fail(&error);
    }
    /* When the catalog itself is the data on stdout, its facts are log. */
    code = print_catalog(strcmp(options->output, "-") == 0 ? stderr : stdout, catalog, file_bytes,
                         options);
    vp_catalog_destroy(catalog);
    return code;
}

static int show(char **arguments, const void *given)
{
    const catalog_options_t *options = given;
    vp_error_t error;
    vp_catalog_t *catalog = NULL;
    size_t file_bytes = 0;
    int code;

    if (vp_catalog_load(arguments[0], &catalog, &file_bytes, &error) != VP_OK) {
        return vp_command_fail(&error);
    }
    code = print_catalog(stdout, catalog, file_bytes, options);
    vp_catalog_destroy(catalog);
    return code;
}

/* Says in what two catalogs differ, and returns the exit code. */
static int print_diff(const vp_diff_t *diff, bool is_json)
{
    json_t *facts = json_array();
    json_t *root;
    uint32_t i;
    bool is_printed = true;

    for (i = 0; i < diff->n_facts; i++) {
        (void)json_array_append_new(facts, json_string(diff->facts[i]));
        if (!is_json) {
            (void)printf("%s\n", diff->facts[i]);
        }
    }
    if (!is_json && diff->n_more > 0) {
        (void)printf("and %" PRIu32 " more\n", diff->n_more);
    }
    root = json_pack("{s:b, s:o, s:I}", "equal", diff->n_facts == 0, "facts", facts, "more",
                     (json_int_t)diff->n_more);
    if (is_json) {
        is_printed = root != NULL && vp_json_dump(root, stdout, JSON_INDENT(2));
        (void)printf("\n");
    }
    json_decref(root);
    if (!is_printed) {
        return fail_json();
    }
    return diff->n_facts == 0 ? VP_EXIT_OK : VP_EXIT_NO;
}

static int diff(char **paths, const void *given)
{
    const catalog_options_t *options = given;
    vp_error_t error;
    vp_diff_t found;
    vp_catalog_t *a = NULL;
    vp_catalog_t *b = NULL;
    int code;

    if (vp_catalog_load(paths[0], &a, NULL, &error) != VP_OK ||
        vp_catalog_load(paths[1], &b, NULL, &error) != VP_OK) {
        vp_catalog_destroy(a);
        return vp_command_fail(&error);
    }
    if (!vp_catalog_diff(a, b, &found) && !options->is_json) {
        (void)printf("%s has fingerprint %016" PRIx64 ", %s has %016" PRIx64 ":\n", paths[0],
                     a->fingerprint, paths[1], b->fingerprint);
    }
    code = print_diff(&found, options->is_json);
    vp_catalog_destroy(a);
    vp_catalog_destroy(b);
    return code;
}

/* Builds the catalog that the file should hold, in its mode, and compares. */
static int verify_topology(const vp_catalog_t *catalog, const char *path, const char *topology,
                           const catalog_options_t *options)
{
    vp_error_t error;
    vp_diff_t found;
    vp_catalog_t *wanted = NULL;
    int code;

    if (make_catalog(topology,
                     catalog->mode == VP_CATALOG_EXHAUSTIVE ? VP_BUILD_EXHAUSTIVE
                                                            : VP_BUILD_GENERATED,
                     &options->build, &wanted, &error) != VP_OK) {
        return vp_command_fail(&error);
    }
    if (!vp_catalog_diff(catalog, wanted, &found) && !options->is_json) {
        (void)printf("%s has fingerprint %016" PRIx64 ", the catalog of %s has %016" PRIx64 ":\n",
                     path, catalog->fingerprint, topology, wanted->fingerprint);
    }
    code = print_diff(&found, options->is_json);
    vp_catalog_destroy(wanted);
    return code;
}

static int verify(char **arguments, const void *given)
{
    const catalog_options_t *options = given;
    const char *path = arguments[0];
    const char *topology = arguments[1]; /* NULL where there is no second argument */
    vp_error_t error;
    vp_catalog_t *catalog = NULL;
    vp_diff_t none = {0};
    vp_status_t status = vp_catalog_load(path, &catalog, NULL, &error);
    int code = VP_EXIT_OK;

    if (status != VP_OK) {
        code = vp_command_fail(&error);
        return code == VP_EXIT_BAD_INPUT ? VP_EXIT_NO : code;
    }
    if (topology != NULL) {
        code = verify_topology(catalog, path, topology, options);
    } else if (options->is_json) {
        code = print_diff(&none, true);
    }
    if (code == VP_EXIT_OK && !options->is_json) {
        (void)printf("%s: sound%s%s; %s, fingerprint %016" PRIx64 "\n", path,
                     topology == NULL ? "" : " and made from ", topology == NULL ? "" : topology,
                     mode_text(catalog->mode), catalog->fingerprint);
    }
    vp_catalog_destroy(catalog);
    return code;
}

enum { BUILD = 1, SHOW = 2, VERIFY = 4 }; /* bits of the actions */

/* In the order of their enumeration. */
static const char *const modes[] = {"auto", "exhaustive", "generated", NULL};

static const vp_option_t known_options[] = {
    {.name = "output",
     .letter = 'o',
     .value = "FILE",
     .help = "build: write the catalog there; - is standard output",
     VP_FIELD(catalog_options_t, output),
     .kind = VP_OPTION_TEXT,
     .offer = VP_OFFER_FILES,
     .actions = BUILD},
    {.name = "json", .help = "print one JSON object", VP_FIELD(catalog_options_t, is_json)},
    {.name = "mode",
     .value = "MODE",
     .help = "build: exhaustive (every channel family, within the budgets), generated (channels "
             "are made "
             "when they are needed), or auto (exhaustive if possible, else generated)",
     .unless_given = "auto",
     VP_FIELD(catalog_options_t, mode),
     .kind = VP_OPTION_WORD,
     .words = modes,
     .actions = BUILD},
    {.name = "max-steps",
     .value = "N",
     .help = "build and verify: budget of search steps",
     .unless_given = "4000000",
     VP_FIELD(catalog_options_t, build.max_steps),
     .kind = VP_OPTION_NUMBER,
     .least = 1,
     .most = UINT64_MAX,
     .actions = BUILD | VERIFY},
    {.name = "max-families",
     .value = "N",
     .help = "build and verify: budget of families",
     .unless_given = "16384",
     VP_FIELD(catalog_options_t, build.max_families),
     .kind = VP_OPTION_NUMBER,
     .least = 1,
     .most = UINT32_MAX,
     .actions = BUILD | VERIFY},
    {.name = "shapes",
     .help = "build and show: list every shape with its number of families",
     VP_FIELD(catalog_options_t, has_shapes),
     .actions = BUILD | SHOW},
    {.name = NULL},
};

_Static_assert(VP_BUILD_MAX_STEPS == 4000000 && VP_BUILD_MAX_FAMILIES == 16384,
               "the texts of the options say so");

static int run(int argc, char **argv)
{
    catalog_options_t options = {0};

    return vp_options_run_action(&vp_command_catalog, argc, argv, &options);
}

const vp_command_t vp_command_catalog = {
    .name = "catalog",
    .summary = "build a channel catalog; show, verify or compare some",
    .forms = (const char *const[]){"catalog build TOPOLOGY -o FILE [OPTION]...",
                                   "catalog show FILE [--json] [--shapes]",
                                   "catalog verify FILE [TOPOLOGY] [--json]",
                                   "catalog diff FILE FILE [--json]", NULL},
    .paragraphs =
        (const char *const[]){
            "Builds the catalog of a topology; shows one; verifies that one is sound, and made "
            "from "
            "that topology; or names the facts in which two differ. TOPOLOGY is as for variopath "
            "topology; FILE may be -, standard input.",
            NULL},
    .options = known_options,
    .no = "the catalog is not sound, or two are not equal",
    .examples =
        (const vp_example_t[]){{"variopath catalog build my.json:nodes=4 -o my.vpcat",
                                "the catalog of four such nodes, for coll_variopath_catalog"},
                               {"variopath catalog verify my.vpcat my.json:nodes=4",
                                "is it still that of this topology?"},
                               {NULL, NULL}},
    .actions = (const vp_action_t[]){{"build", "one TOPOLOGY", 1, 1, build},
                                     {"show", "one FILE", 1, 1, show},
                                     {"verify", "one FILE and perhaps a TOPOLOGY", 1, 2, verify},
                                     {"diff", "two FILEs", 2, 2, diff},
                                     {NULL, NULL, 0, 0, NULL}},
    .offer = VP_OFFER_FILES,
    .run = run,
};
