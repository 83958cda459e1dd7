/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/simulate_options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/schedule.h"
#include "tools/command.h"

#define MAX_NS UINT64_C(1000000000000)
#define MAX_SIZE (UINT64_C(1) << 50)
enum { MAX_RATE_ERROR_PPM = 900000, MAX_TIMED_PLANS = 1000 };

void vp_simulate_options_help(void)
{
    (void)printf(
        "Usage: variopath simulate --topology TOPOLOGY --demand CSV --algorithms A,B,... "
        "[OPTION]...\n"
        "       variopath simulate --topology TOPOLOGY --demand CSV --schedule FILE,... "
        "[OPTION]...\n"
        "Plays all-to-all algorithms on the modelled links of a machine.\n"
        "Systems: %s.\n"
        "Own planners: %s.\n"
        "\n"
        "  --topology TOPOLOGY    see `variopath topology --help`\n"
        "  --demand CSV           N rows of N byte counts, row = source; - is standard input\n"
        "  --algorithms A,B,...   any of the above\n"
        "  --schedule FILE,...    schedules that other programs made\n"
        "  --links P,...          ideal, or contention profiles of the topology; all [ideal]\n"
        "  --execution MODE       plans: barrier, free or deps [deps]\n"
        "  --alpha-ns A           plans: overhead of a lane [the topology's]\n"
        "  --post-ns P            plans: overhead of a lane that waits for no other rank [A]\n"
        "  --planning-ns T        plans: charge this before the first lane [0]\n"
        "  --exchange-ns T        plans: charge this for the exchange of counts [0]\n"
        "  --plan-links P         plans are made for this profile [the one that they run on]\n"
        "  --time-planning N      make each plan N times; planning_cpu_ns is the fastest [0]\n"
        "  --fail LINK            without this shared link, its paths and its NIC\n"
        "  --unaware              plans are made as if nothing had failed\n"
        "  --rate-error PPM       links run at their rate +- up to PPM; plans do not know [0]\n"
        "  --seed S               of the rate errors [1]\n"
        "  --sweep B,B,...        with the demand scaled to B bytes per rank; K, M, G\n"
        "  --exact                share links anew at every event, however many flows\n"
        "  --json | --csv         instead of a table\n"
        "  --svg FILE             also draw rates, lanes and the use of links over time\n"
        "  --help                 print this\n",
        vp_baseline_names(), vp_schedule_names());
}

/* Decimal with an optional K, M or G. */
static bool parse_size(const char *text, size_t length, uint64_t *value_p)
{
    static const char units[] = "KMG";
    const char *unit = length > 0 ? strchr(units, text[length - 1]) : NULL;
    unsigned shift = 0;
    uint64_t value = 0;
    size_t i;

    if (unit != NULL && *unit != '\0') {
        shift = 10 * (unsigned)(unit - units + 1);
        length--;
    }
    for (i = 0; i < length; i++) {
        if (!isdigit((unsigned char)text[i])) {
            return false;
        }
        value = value * 10 + (uint64_t)(text[i] - '0');
        if (value > MAX_SIZE) {
            return false;
        }
    }
    *value_p = value << shift;
    return length > 0 && value > 0 && value <= MAX_SIZE >> shift;
}

static bool parse_sizes(const char *text, vp_simulate_options_t *options)
{
    options->n_sizes = 0;
    for (;;) {
        size_t length = strcspn(text, ",");

        if (options->n_sizes == VP_SIMULATE_MAX_SIZES ||
            !parse_size(text, length, &options->sizes[options->n_sizes])) {
            return false;
        }
        options->n_sizes++;
        if (text[length] == '\0') {
            return true;
        }
        text += length + 1;
    }
}

static bool parse_u64(const char *text, uint64_t max, uint64_t *value_p)
{
    unsigned long long value;
    char *end;

    if (!isdigit((unsigned char)*text)) {
        return false;
    }
    errno = 0;
    value = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || value > max) {
        return false;
    }
    *value_p = value;
    return true;
}

enum {
    TOPOLOGY = 256,
    DEMAND,
    ALGORITHMS,
    SCHEDULE,
    LINKS,
    EXECUTION,
    ALPHA,
    POST,
    PLANNING,
    EXCHANGE,
    PLAN_LINKS,
    TIME_PLANNING,
    FAIL,
    UNAWARE,
    RATE_ERROR,
    SEED,
    SWEEP,
    EXACT,
    JSON,
    CSV,
    SVG,
    HELP
};

static const struct option known_options[] = {
    {"topology", required_argument, NULL, TOPOLOGY},
    {"demand", required_argument, NULL, DEMAND},
    {"algorithms", required_argument, NULL, ALGORITHMS},
    {"schedule", required_argument, NULL, SCHEDULE},
    {"links", required_argument, NULL, LINKS},
    {"execution", required_argument, NULL, EXECUTION},
    {"alpha-ns", required_argument, NULL, ALPHA},
    {"post-ns", required_argument, NULL, POST},
    {"planning-ns", required_argument, NULL, PLANNING},
    {"exchange-ns", required_argument, NULL, EXCHANGE},
    {"plan-links", required_argument, NULL, PLAN_LINKS},
    {"time-planning", required_argument, NULL, TIME_PLANNING},
    {"fail", required_argument, NULL, FAIL},
    {"unaware", no_argument, NULL, UNAWARE},
    {"rate-error", required_argument, NULL, RATE_ERROR},
    {"seed", required_argument, NULL, SEED},
    {"sweep", required_argument, NULL, SWEEP},
    {"exact", no_argument, NULL, EXACT},
    {"json", no_argument, NULL, JSON},
    {"csv", no_argument, NULL, CSV},
    {"svg", required_argument, NULL, SVG},
    {"help", no_argument, NULL, HELP},
    {NULL, 0, NULL, 0}};

static const char **text_of(int option, vp_simulate_options_t *options)
{
    switch (option) {
    case TOPOLOGY:
        return &options->topology;
    case DEMAND:
        return &options->demand;
    case ALGORITHMS:
        return &options->algorithms;
    case SCHEDULE:
        return &options->schedules;
    case LINKS:
        return &options->links;
    case PLAN_LINKS:
        return &options->plan_links;
    case FAIL:
        return &options->fail;
    default:
        return &options->svg;
    }
}

/* Options without a value; false: it is another one. */
static bool take_flag(int option, vp_simulate_options_t *options)
{
    switch (option) {
    case UNAWARE:
        options->is_unaware = true;
        return true;
    case EXACT:
        options->exact = true;
        return true;
    case JSON:
    case CSV:
        options->format = option == JSON ? VP_REPORT_JSON : VP_REPORT_CSV;
        return true;
    default:
        return false;
    }
}

/* False: the value is not one that the option takes. */
static bool take_option(int option, const char *value, vp_simulate_options_t *options)
{
    switch (option) {
    case EXECUTION:
        return vp_execution_parse(value, &options->execution);
    case ALPHA:
        options->has_alpha = true;
        return parse_u64(value, MAX_NS, &options->alpha_ns);
    case POST:
        options->has_post = true;
        return parse_u64(value, MAX_NS, &options->post_ns);
    case PLANNING:
        return parse_u64(value, MAX_NS, &options->planning_ns);
    case EXCHANGE:
        return parse_u64(value, MAX_NS, &options->exchange_ns);
    case TIME_PLANNING:
        return parse_u64(value, MAX_TIMED_PLANS, &options->n_timed_plans);
    case RATE_ERROR:
        return parse_u64(value, MAX_RATE_ERROR_PPM, &options->rate_error_ppm);
    case SEED:
        return parse_u64(value, UINT64_MAX, &options->seed);
    case SWEEP:
        return parse_sizes(value, options);
    default:
        if (!take_flag(option, options)) {
            *text_of(option, options) = value;
        }
        return true;
    }
}

static int check_options(int argc, char **argv, const vp_simulate_options_t *options, int n_formats)
{
    if (optind < argc) {
        return vp_command_usage("simulate", "unexpected argument \"%s\"", argv[optind]);
    }
    if (options->topology == NULL || options->demand == NULL ||
        (options->algorithms == NULL && options->schedules == NULL)) {
        return vp_command_usage("simulate",
                                "give --topology, --demand and --algorithms or --schedule");
    }
    if (options->is_unaware && options->fail == NULL) {
        return vp_command_usage("simulate", "--unaware needs --fail");
    }
    if (options->schedules != NULL && options->n_sizes > 0) {
        return vp_command_usage("simulate",
                                "a schedule is for one demand; give one of --schedule and --sweep");
    }
    if (n_formats > 1) {
        return vp_command_usage("simulate", "give one of --json and --csv");
    }
    return VP_EXIT_OK;
}

int vp_simulate_options_parse(int argc, char **argv, vp_simulate_options_t *options)
{
    int n_formats = 0;
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":", known_options, NULL)) != -1) {
        if (option == HELP) {
            options->is_help = true;
            return VP_EXIT_OK;
        }
        if (option == ':') {
            return vp_command_usage("simulate", "option \"%s\" needs a value", argv[optind - 1]);
        }
        if (option == '?') {
            return vp_command_usage("simulate", "unknown option \"%s\"", argv[optind - 1]);
        }
        if (!take_option(option, optarg, options)) {
            return vp_command_usage("simulate", "an option does not take the value \"%s\"", optarg);
        }
        n_formats += option == JSON || option == CSV;
    }
    return check_options(argc, argv, options, n_formats);
}
