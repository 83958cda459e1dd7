/* SPDX-License-Identifier: BSD-3-Clause */
#include "vp_config.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "sim/demand_gen.h"
#include "tools/command.h"

typedef struct demand_command {
    vp_demand_options_t demand;
    const char *output;
    bool is_help;
} demand_command_t;

static void print_help(void)
{
    (void)printf(
        "Usage: variopath demand uniform|random|zipf|moe|hotspot --ranks N [OPTION]...\n"
        "Makes a demand: N rows of N byte counts, row = source, diagonal 0.\n"
        "\n"
        "  --ranks N               number of ranks\n"
        "  -o, --output CSV        file to write; - is standard output [-]\n"
        "  --seed S                equal seeds give equal demands [1]\n"
        "  --bytes-per-rank B      what a rank sends; K, M, G count in 1024 [64M]\n"
        "  --scale pair|row        hit the mean over all pairs, or every row's sum [pair]\n"
        "  --element-bytes B       counts are multiples of it [4; moe: 2]\n"
        "  --exponent S            zipf and moe: skew [zipf: 0.8; moe: 0]\n"
        "  --over WHAT             zipf: pairs (a draw for each), destinations, ranked-pairs or\n"
        "                          ranked-rows (weights 1, 2^-S, 3^-S, ... once each) [pairs]\n"
        "  --hot N                 number of hot destinations [1]\n"
        "  --hot-factor F          uniform, random, zipf: they get F times the bytes [1]\n"
        "  --hot-ppm P             hotspot: their share of all bytes [500000]\n"
        "  --tokens M              moe: tokens per rank [128]\n"
        "  --experts E             moe: experts, expert e on rank e mod N [N]\n"
        "  --top-k K               moe: experts per token [8, or all]\n"
        "  --hidden H              moe: elements per token [7168]\n"
        "  --dedup none|rank|node  moe: a token travels per expert, rank or node [none]\n"
        "  --ranks-per-node R      moe: for --dedup node [8]\n"
        "  --help                  print this\n");
}

/* Decimal with an optional K, M or G. */
static bool parse_u64(const char *text, uint64_t max, uint64_t *value_p)
{
    unsigned long long value;
    unsigned shift = 0;
    char *end;

    if (!isdigit((unsigned char)*text)) {
        return false;
    }
    errno = 0;
    value = strtoull(text, &end, 10);
    if (*end == 'K' || *end == 'M' || *end == 'G') {
        shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 30;
        end++;
    }
    if (errno != 0 || *end != '\0' || value > max >> shift) {
        return false;
    }
    *value_p = (uint64_t)value << shift;
    return true;
}

static bool parse_u32(const char *text, uint32_t *value_p)
{
    uint64_t value;

    if (!parse_u64(text, UINT32_MAX, &value)) {
        return false;
    }
    *value_p = (uint32_t)value;
    return true;
}

static bool parse_exponent(const char *text, double *value_p)
{
    char *end;

    errno = 0;
    *value_p = strtod(text, &end);
    return errno == 0 && end != text && *end == '\0' && *value_p >= 0.0;
}

/* Position of text in words, -1 when it is none of them. */
static int find_word(const char *text, const char *const *words)
{
    int i;

    for (i = 0; words[i] != NULL; i++) {
        if (strcmp(text, words[i]) == 0) {
            return i;
        }
    }
    return -1;
}

static bool parse_word(const char *text, const char *const *words, int *value_p)
{
    *value_p = find_word(text, words);
    return *value_p >= 0;
}

enum {
    RANKS = 256,
    SEED,
    BYTES,
    SCALE,
    ELEMENT,
    EXPONENT,
    OVER,
    HOT,
    HOT_PPM,
    HOT_FACTOR,
    TOKENS,
    EXPERTS,
    TOP_K,
    HIDDEN,
    DEDUP,
    PER_NODE,
    HELP
};

static const struct option known_options[] = {{"ranks", required_argument, NULL, RANKS},
                                              {"output", required_argument, NULL, 'o'},
                                              {"seed", required_argument, NULL, SEED},
                                              {"bytes-per-rank", required_argument, NULL, BYTES},
                                              {"scale", required_argument, NULL, SCALE},
                                              {"element-bytes", required_argument, NULL, ELEMENT},
                                              {"exponent", required_argument, NULL, EXPONENT},
                                              {"over", required_argument, NULL, OVER},
                                              {"hot", required_argument, NULL, HOT},
                                              {"hot-ppm", required_argument, NULL, HOT_PPM},
                                              {"hot-factor", required_argument, NULL, HOT_FACTOR},
                                              {"tokens", required_argument, NULL, TOKENS},
                                              {"experts", required_argument, NULL, EXPERTS},
                                              {"top-k", required_argument, NULL, TOP_K},
                                              {"hidden", required_argument, NULL, HIDDEN},
                                              {"dedup", required_argument, NULL, DEDUP},
                                              {"ranks-per-node", required_argument, NULL, PER_NODE},
                                              {"help", no_argument, NULL, HELP},
                                              {NULL, 0, NULL, 0}};

/* False: the value is not one that the option takes. */
static bool take_option(int option, const char *value, demand_command_t *command)
{
    static const char *const scales[] = {"pair", "row", NULL};
    static const char *const overs[] = {"pairs", "destinations", "ranked-pairs", "ranked-rows",
                                        NULL};
    static const char *const dedups[] = {"none", "rank", "node", NULL};
    vp_demand_options_t *demand = &command->demand;
    uint32_t *const numbers[] = {[RANKS - RANKS] = &demand->n_ranks,
                                 [ELEMENT - RANKS] = &demand->element_bytes,
                                 [HOT - RANKS] = &demand->n_hot,
                                 [HOT_PPM - RANKS] = &demand->hot_ppm,
                                 [HOT_FACTOR - RANKS] = &demand->hot_factor,
                                 [TOKENS - RANKS] = &demand->tokens,
                                 [EXPERTS - RANKS] = &demand->experts,
                                 [TOP_K - RANKS] = &demand->top_k,
                                 [HIDDEN - RANKS] = &demand->hidden,
                                 [PER_NODE - RANKS] = &demand->ranks_per_node};
    int word = 0;
    bool ok;

    switch (option) {
    case 'o':
        command->output = value;
        return true;
    case SEED:
        return parse_u64(value, UINT64_MAX, &demand->seed);
    case BYTES:
        return parse_u64(value, UINT64_MAX, &demand->bytes_per_rank);
    case EXPONENT:
        return parse_exponent(value, &demand->exponent);
    case SCALE:
        ok = parse_word(value, scales, &word);
        demand->scale_rows = word == 1;
        return ok;
    case OVER:
        ok = parse_word(value, overs, &word);
        demand->over = word < 0 ? VP_ZIPF_PAIRS : (vp_zipf_over_t)word;
        return ok;
    case DEDUP:
        ok = parse_word(value, dedups, &word);
        demand->dedup = word < 0 ? VP_DEDUP_NONE : (vp_dedup_t)word;
        return ok;
    default:
        return parse_u32(value, numbers[option - RANKS]);
    }
}

static int parse_options(int argc, char **argv, demand_command_t *command)
{
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":o:", known_options, NULL)) != -1) {
        if (option == HELP) {
            command->is_help = true;
            return VP_EXIT_OK;
        }
        if (option == ':') {
            return vp_command_usage("demand", "option \"%s\" needs a value", argv[optind - 1]);
        }
        if (option == '?') {
            return vp_command_usage("demand", "unknown option \"%s\"", argv[optind - 1]);
        }
        if (!take_option(option, optarg, command)) {
            return vp_command_usage("demand", "an option does not take the value \"%s\"", optarg);
        }
    }
    if (optind + 1 != argc) {
        return vp_command_usage("demand", "give one kind of demand");
    }
    if (!vp_demand_kind_parse(argv[optind], &command->demand.kind)) {
        return vp_command_usage("demand", "unknown kind \"%s\"", argv[optind]);
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

int vp_command_demand(int argc, char **argv)
{
    demand_command_t command = {.demand = {.seed = 1,
                                           .bytes_per_rank = UINT64_C(64) << 20,
                                           .exponent = -1.0,
                                           .tokens = 128,
                                           .hidden = 7168,
                                           .ranks_per_node = 8,
                                           .n_hot = 1,
                                           .hot_ppm = 500000,
                                           .hot_factor = 1},
                                .output = "-"};
    uint64_t *demand_bytes = NULL;
    vp_error_t error = {VP_OK, ""};
    vp_status_t status;
    int code = parse_options(argc, argv, &command);

    if (command.is_help) {
        print_help();
        return VP_EXIT_OK;
    }
    if (code != VP_EXIT_OK) {
        return code;
    }
    fill_defaults(&command.demand);
    (void)fprintf(stderr, "variopath demand: seed %" PRIu64 "\n", command.demand.seed);
    status = vp_demand_generate(&command.demand, &demand_bytes, &error);
    if (status == VP_OK) {
        status = write_csv(demand_bytes, command.demand.n_ranks, command.output, &error);
    }
    free(demand_bytes);
    return status == VP_OK ? VP_EXIT_OK : vp_command_fail(&error);
}
