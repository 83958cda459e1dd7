/* SPDX-License-Identifier: BSD-3-Clause */
#include "catalog/json_write.h"
#include "vp_config.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "sim/demand_gen.h"
#include "tools/command.h"
#include "tools/simulate.h"
#include "tools/terminal.h"

typedef struct demand_command {
    vp_demand_options_t demand;
    const char *output; /* NULL: standard output, or nowhere beside JSON */
    bool is_json;
} demand_command_t;

static const char *const kinds[] = {"uniform", "random", "zipf", "moe", "hotspot", NULL};
static const char *const scales[] = {"pair", "row", NULL};
/* In the order of their enumerations. */
static const char *const overs[] = {"pairs", "destinations", "ranked-pairs", "ranked-rows", NULL};
static const char *const dedups[] = {"none", "rank", "node", NULL};

static bool take_exponent(const char *text, void *options)
{
    demand_command_t *command = options;
    char *end;
    double value;

    errno = 0;
    value = strtod(text, &end);
    command->demand.exponent = value;
    return errno == 0 && end != text && *end == '\0' && value >= 0.0;
}

#define COUNT(field_)                                                                              \
    VP_FIELD(demand_command_t, demand.field_), .kind = VP_OPTION_SIZE, .most = UINT32_MAX

static const vp_option_t known_options[] = {
    {.name = "ranks", .value = "N", .help = "number of ranks", COUNT(n_ranks)},
    {.name = "output",
     .letter = 'o',
     .value = "CSV",
     .help = "file to write; - is standard output",
     .unless_given = "-",
     VP_FIELD(demand_command_t, output),
     .kind = VP_OPTION_TEXT,
     .offer = VP_OFFER_FILES},
    {.name = "seed",
     .value = "S",
     .help = "equal seeds give equal demands",
     .unless_given = "1",
     VP_FIELD(demand_command_t, demand.seed),
     .kind = VP_OPTION_SIZE,
     .most = UINT64_MAX},
    {.name = "bytes-per-rank",
     .value = "B",
     .help = "what a rank sends; K, M, G count in 1024",
     .unless_given = "64M",
     VP_FIELD(demand_command_t, demand.bytes_per_rank),
     .kind = VP_OPTION_SIZE,
     .most = UINT64_MAX},
    {.name = "scale",
     .value = "pair|row",
     .help = "hit the mean over all pairs, or every row's sum",
     .unless_given = "pair",
     VP_FIELD(demand_command_t, demand.scale_rows),
     .kind = VP_OPTION_WORD,
     .words = scales},
    {.name = "element-bytes",
     .value = "B",
     .help = "counts are multiples of it",
     .unless_given = "4; moe: 2",
     COUNT(element_bytes)},
    {.name = "exponent",
     .value = "S",
     .help = "zipf and moe: skew",
     .unless_given = "zipf: 0.8; moe: 0",
     .kind = VP_OPTION_CALL,
     .take = take_exponent},
    {.name = "over",
     .value = "WHAT",
     .help = "zipf: pairs (a draw for each), destinations, ranked-pairs or ranked-rows (weights 1, "
             "2^-S, "
             "3^-S, ... once each)",
     .unless_given = "pairs",
     VP_FIELD(demand_command_t, demand.over),
     .kind = VP_OPTION_WORD,
     .words = overs},
    {.name = "hot",
     .value = "N",
     .help = "number of hot destinations",
     .unless_given = "1",
     COUNT(n_hot)},
    {.name = "hot-factor",
     .value = "F",
     .help = "uniform, random, zipf: they get F times the bytes",
     .unless_given = "1",
     COUNT(hot_factor)},
    {.name = "hot-ppm",
     .value = "P",
     .help = "hotspot: their share of all bytes",
     .unless_given = "500000",
     COUNT(hot_ppm)},
    {.name = "tokens",
     .value = "M",
     .help = "moe: tokens per rank",
     .unless_given = "128",
     COUNT(tokens)},
    {.name = "experts",
     .value = "E",
     .help = "moe: experts, expert e on rank e mod N",
     .unless_given = "N",
     COUNT(experts)},
    {.name = "top-k",
     .value = "K",
     .help = "moe: experts per token",
     .unless_given = "8, or all",
     COUNT(top_k)},
    {.name = "hidden",
     .value = "H",
     .help = "moe: elements per token",
     .unless_given = "7168",
     COUNT(hidden)},
    {.name = "dedup",
     .value = "none|rank|node",
     .help = "moe: a token travels per expert, rank or node",
     .unless_given = "none",
     VP_FIELD(demand_command_t, demand.dedup),
     .kind = VP_OPTION_WORD,
     .words = dedups},
    {.name = "ranks-per-node",
     .value = "R",
     .help = "moe: for --dedup node",
     .unless_given = "8",
     COUNT(ranks_per_node)},
    {.name = "json",
     .help = "print one JSON object with the matrix; a CSV is then written only with -o",
     VP_FIELD(demand_command_t, is_json)},
    {.name = NULL},
};

static int check_arguments(char **arguments, int n, demand_command_t *command)
{
    const char *nearest;

    if (n != 1) {
        return vp_command_usage("demand", "give one kind of demand");
    }
    if (!vp_demand_kind_parse(arguments[0], &command->demand.kind)) {
        nearest = vp_nearest_word(arguments[0], kinds);
        return vp_command_usage("demand", "unknown kind \"%s\"%s%s%s", arguments[0],
                                nearest == NULL ? "" : "; is ", nearest == NULL ? "" : nearest,
                                nearest == NULL ? "" : " meant?");
    }
    if (command->is_json && command->output != NULL && strcmp(command->output, "-") == 0) {
        return vp_command_usage("demand", "-o - and --json both go to standard output");
    }
    return VP_EXIT_OK;
}

/* What the kind of demand decides, where no option did. */
static void fill_defaults(vp_demand_options_t *demand)
{
    bool is_moe = demand->kind == VP_DEMAND_MOE;

    if (demand->element_bytes == 0) {
        demand->element_bytes = is_moe ? 2 : 4;
    }
    if (demand->exponent < 0.0) {
        demand->exponent = is_moe ? 0.0 : 0.8;
    }
    if (demand->experts == 0) {
        demand->experts = demand->n_ranks;
    }
    if (demand->top_k == 0) {
        demand->top_k = demand->experts < 8 ? demand->experts : 8;
    }
}

static vp_status_t write_csv(const uint64_t *demand_bytes, uint32_t n_ranks, const char *path,
                             vp_error_t *error)
{
    vp_writer_t text = VP_WRITER_INIT;
    vp_status_t status;
    char cell[32];
    uint32_t i;
    uint32_t j;

    for (i = 0; i < n_ranks; i++) {
        for (j = 0; j < n_ranks; j++) {
            int length =
                snprintf(cell, sizeof(cell), "%" PRIu64 "%c", demand_bytes[(size_t)i * n_ranks + j],
                         j + 1 == n_ranks ? '\n' : ',');

            vp_write_bytes(&text, cell, (size_t)length);
        }
    }
    status = text.failed ? vp_error_no_memory(error, "the text of a demand")
                         : vp_file_write(path, text.data, text.n_bytes, error);
    vp_writer_clear(&text);
    return status;
}

static json_t *pack_rows(const uint64_t *demand_bytes, uint32_t n_ranks)
{
    json_t *rows = json_array();
    uint32_t i;
    uint32_t j;

    for (i = 0; i < n_ranks; i++) {
        json_t *row = json_array();

        for (j = 0; j < n_ranks; j++) {
            (void)json_array_append_new(row, json_integer((json_int_t)*demand_bytes++));
        }
        (void)json_array_append_new(rows, row);
    }
    return rows;
}

static vp_status_t print_json(const demand_command_t *command, const char *kind,
                              const uint64_t *demand_bytes, vp_error_t *error)
{
    uint32_t n = command->demand.n_ranks;
    json_t *root = json_pack("{s:s, s:I, s:I, s:I, s:o}", "kind", kind, "ranks", (json_int_t)n,
                             "seed", (json_int_t)command->demand.seed, "total_bytes",
                             (json_int_t)vp_demand_total(demand_bytes, n), "demand_bytes",
                             pack_rows(demand_bytes, n));
    bool is_printed = root != NULL && vp_json_dump(root, stdout, JSON_COMPACT);

    json_decref(root);
    if (!is_printed) {
        return vp_error_set(error, VP_ERR_IO,
                            "cannot write the demand as JSON; check the disk and the memory");
    }
    (void)printf("\n");
    return VP_OK;
}

static vp_status_t make(demand_command_t *command, const char *kind, vp_error_t *error)
{
    uint64_t *demand_bytes = NULL;
    vp_progress_t progress;
    vp_status_t status;

    fill_defaults(&command->demand);
    (void)fprintf(stderr, "variopath demand: seed %" PRIu64 "\n", command->demand.seed);
    vp_progress_begin(&progress, "drawing a demand");
    status = vp_demand_generate(&command->demand, &demand_bytes, error);
    vp_progress_end(&progress);
    if (status == VP_OK && (command->output != NULL || !command->is_json)) {
        status = write_csv(demand_bytes, command->demand.n_ranks,
                           command->output == NULL ? "-" : command->output, error);
    }
    if (status == VP_OK && command->is_json) {
        status = print_json(command, kind, demand_bytes, error);
    }
    free(demand_bytes);
    return status;
}

static int run(int argc, char **argv)
{
    demand_command_t command = {.demand = {.seed = 1,
                                           .bytes_per_rank = UINT64_C(64) << 20,
                                           .exponent = -1.0,
                                           .tokens = 128,
                                           .hidden = 7168,
                                           .ranks_per_node = 8,
                                           .n_hot = 1,
                                           .hot_ppm = 500000,
                                           .hot_factor = 1}};
    vp_error_t error = {VP_OK, ""};
    char **arguments;
    int n;
    int code;

    if (!vp_options_parse(&vp_command_demand, argc, argv, &command, &arguments, &n, &code)) {
        return code;
    }
    code = check_arguments(arguments, n, &command);
    if (code != VP_EXIT_OK) {
        return code;
    }
    return make(&command, arguments[0], &error) == VP_OK ? VP_EXIT_OK : vp_command_fail(&error);
}

const vp_command_t vp_command_demand = {
    .name = "demand",
    .summary = "make a demand: uniform, random, zipf, moe, hotspot",
    .forms =
        (const char *const[]){"demand uniform|random|zipf|moe|hotspot --ranks N [OPTION]...", NULL},
    .paragraphs =
        (const char *const[]){"Makes a demand: N rows of N byte counts, row = source, diagonal 0.",
                              NULL},
    .options = known_options,
    .examples =
        (const vp_example_t[]){{"variopath demand moe --ranks 16 --tokens 4096 -o D.csv",
                                "what sixteen ranks of a mixture of experts send each other"},
                               {NULL, NULL}},
    .words = kinds,
    .run = run,
};
