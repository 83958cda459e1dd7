/* SPDX-License-Identifier: BSD-3-Clause */
#include "vp_config.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "catalog/build.h"
#include "catalog/diff.h"
#include "catalog/store.h"
#include "catalog/topology.h"
#include "tools/command.h"

typedef struct catalog_options {
    const char *output;
    bool is_json;
    bool has_shapes;
    vp_build_mode_t mode;
    vp_build_options_t build;
} catalog_options_t;

static void print_help(void)
{
    (void)printf(
        "Usage: variopath catalog build TOPOLOGY -o FILE [OPTION]...\n"
        "       variopath catalog show FILE [--json] [--shapes]\n"
        "       variopath catalog verify FILE [TOPOLOGY] [--json]\n"
        "       variopath catalog diff FILE FILE [--json]\n"
        "Builds the catalog of a topology; shows one; verifies that one is sound, and made from\n"
        "that topology; or names the facts in which two differ. Exit code 1: not sound, or not\n"
        "equal. TOPOLOGY is as for `variopath topology`, see `variopath topology --help`; FILE "
        "may\n"
        "be -, standard input.\n"
        "\n"
        "  -o, --output FILE      write the catalog there; - is standard output\n"
        "      --json             print one JSON object\n"
        "      --mode MODE        exhaustive: every channel family, within the budgets;\n"
        "                         generated: channels are made when they are needed;\n"
        "                         auto (default): exhaustive if possible, else generated\n"
        "      --max-steps N      budget of search steps [%" PRIu64 "]\n"
        "      --max-families N   budget of families [%" PRIu32 "]\n"
        "      --shapes           list every shape with its number of families\n"
        "  -h, --help             print this\n",
        VP_BUILD_MAX_STEPS, VP_BUILD_MAX_FAMILIES);
}

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
        root != NULL && json_dumpf(root, stream, has_shapes ? JSON_COMPACT : JSON_INDENT(2)) == 0;
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

/* A line on the terminal for builds that take long. */
typedef struct progress {
    uint64_t begin_ns;
    uint64_t next_ns;
    bool is_shown;
} progress_t;

static void tell_progress(void *context, uint64_t n_steps, size_t n_families)
{
    progress_t *progress = context;
    uint64_t now = now_ns();

    if (now >= progress->next_ns) {
        (void)fprintf(stderr, "\r%" PRIu64 " steps, %zu families, %" PRIu64 " s ", n_steps,
                      n_families, (now - progress->begin_ns) / VP_NS_PER_S);
        progress->next_ns = now + VP_NS_PER_S / 5;
        progress->is_shown = true;
    }
}

/* Builds a catalog of that mode and seals it. */
static vp_status_t make_catalog(const char *topology, vp_build_mode_t mode,
                                const vp_build_options_t *options, vp_catalog_t **catalog_p,
                                vp_error_t *error)
{
    progress_t progress = {.begin_ns = now_ns()};
    vp_build_watch_t watch = {.tell = tell_progress, .context = &progress};
    vp_model_t *model = NULL;
    vp_catalog_t *catalog = NULL;
    vp_status_t status = vp_topology_resolve(topology, &model, error);

    if (status != VP_OK) {
        return status;
    }
    progress.next_ns = progress.begin_ns + VP_NS_PER_S;
    status = vp_catalog_make(&model, mode, options, isatty(STDERR_FILENO) ? &watch : NULL, &catalog,
                             error);
    vp_model_destroy(model);
    if (progress.is_shown) {
        (void)fprintf(stderr, "\r%60s\r", "");
    }
    if (status != VP_OK) {
        return status;
    }
    catalog->build_ns = now_ns() - progress.begin_ns;
    status = vp_catalog_seal(catalog, error);
    if (status != VP_OK) {
        vp_catalog_destroy(catalog);
        return status;
    }
    *catalog_p = catalog;
    return VP_OK;
}

static int build(char **arguments, const catalog_options_t *options)
{
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

static int show(char **arguments, const catalog_options_t *options)
{
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
        is_printed = root != NULL && json_dumpf(root, stdout, JSON_INDENT(2)) == 0;
        (void)printf("\n");
    }
    json_decref(root);
    if (!is_printed) {
        return fail_json();
    }
    return diff->n_facts == 0 ? VP_EXIT_OK : VP_EXIT_NO;
}

static int diff(char **paths, const catalog_options_t *options)
{
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

static int verify(char **arguments, const catalog_options_t *options)
{
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

/* A decimal number of 1 .. max. */
static bool parse_number(const char *text, uint64_t max, uint64_t *number_p)
{
    char *end;
    unsigned long long number;

    if (!isdigit((unsigned char)text[0])) {
        return false;
    }
    errno = 0;
    number = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || number < 1 || number > max) {
        return false;
    }
    *number_p = number;
    return true;
}

static int parse_budget(const char *name, uint64_t max, uint64_t *number_p)
{
    if (!parse_number(optarg, max, number_p)) {
        return vp_command_usage("catalog", "--%s \"%s\": give a number from 1 to %" PRIu64, name,
                                optarg, max);
    }
    return VP_EXIT_OK;
}

static int parse_mode(const char *text, vp_build_mode_t *mode_p)
{
    static const char *const texts[] = {
        [VP_BUILD_AUTO] = "auto",
        [VP_BUILD_EXHAUSTIVE] = "exhaustive",
        [VP_BUILD_GENERATED] = "generated",
    };
    size_t i;

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (strcmp(text, texts[i]) == 0) {
            *mode_p = (vp_build_mode_t)i;
            return VP_EXIT_OK;
        }
    }
    return vp_command_usage("catalog",
                            "unknown mode \"%s\"; there are auto, exhaustive and generated", text);
}

/* One option other than --help; VP_EXIT_OK or the code of a usage error. */
static int parse_option(int option, char **argv, catalog_options_t *options)
{
    uint64_t families = 0;
    int code = VP_EXIT_OK;

    switch (option) {
    case 'o':
        options->output = optarg;
        return VP_EXIT_OK;
    case 'j':
        options->is_json = true;
        return VP_EXIT_OK;
    case 'S':
        options->has_shapes = true;
        return VP_EXIT_OK;
    case 'm':
        return parse_mode(optarg, &options->mode);
    case 's':
        return parse_budget("max-steps", UINT64_MAX, &options->build.max_steps);
    case 'f':
        code = parse_budget("max-families", UINT32_MAX - 1, &families);
        options->build.max_families = (uint32_t)families;
        return code;
    case ':':
        return vp_command_usage("catalog", "option \"%s\" needs a value", argv[optind - 1]);
    default:
        return vp_command_usage("catalog", "unknown option \"%s\"", argv[optind - 1]);
    }
}

static int run_action(int argc, char **argv, const catalog_options_t *options)
{
    static const struct {
        const char *name;
        int n_least;
        int n_most;
        const char *takes;
        int (*run)(char **arguments, const catalog_options_t *options);
    } actions[] = {
        {"build", 1, 1, "one TOPOLOGY", build},
        {"show", 1, 1, "one FILE", show},
        {"verify", 1, 2, "one FILE and perhaps a TOPOLOGY", verify},
        {"diff", 2, 2, "two FILEs", diff},
    };
    size_t i;

    if (argc == 0) {
        return vp_command_usage("catalog", "say what to do: build TOPOLOGY, show FILE, verify FILE "
                                           "or diff FILE FILE");
    }
    for (i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        if (strcmp(argv[0], actions[i].name) != 0) {
            continue;
        }
        if (argc - 1 < actions[i].n_least || argc - 1 > actions[i].n_most) {
            return vp_command_usage("catalog", "\"%s\" takes %s", argv[0], actions[i].takes);
        }
        return actions[i].run(argv + 1, options);
    }
    return vp_command_usage(
        "catalog", "unknown action \"%s\"; there are build, show, verify and diff", argv[0]);
}

int vp_command_catalog(int argc, char **argv)
{
    static const struct option long_options[] = {{"output", required_argument, NULL, 'o'},
                                                 {"json", no_argument, NULL, 'j'},
                                                 {"mode", required_argument, NULL, 'm'},
                                                 {"max-steps", required_argument, NULL, 's'},
                                                 {"max-families", required_argument, NULL, 'f'},
                                                 {"shapes", no_argument, NULL, 'S'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    catalog_options_t options = {0};
    vp_command_seen_t seen = {false};
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":ho:", long_options, NULL)) != -1) {
        int code;

        if (vp_command_is_repeated(option, seen)) {
            return vp_command_usage("catalog", "option \"%s\" stands there twice; give it once",
                                    vp_command_option_text(argv));
        }
        if (option == 'h') {
            print_help();
            return VP_EXIT_OK;
        }
        code = parse_option(option, argv, &options);
        if (code != VP_EXIT_OK) {
            return code;
        }
    }
    return run_action(argc - optind, argv + optind, &options);
}
