/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/simulate_options.h"

#include <stdio.h>
#include <string.h>

#include "tools/command.h"

#define MAX_NS UINT64_C(1000000000000)
#define MAX_SIZE (UINT64_C(1) << 50)
enum { MAX_RATE_ERROR_PPM = 900000, MAX_TIMED_PLANS = 1000 };

static bool take_sizes(const char *text, void *given)
{
    vp_simulate_options_t *options = given;
    char word[32];

    options->n_sizes = 0;
    for (;;) {
        size_t length = strcspn(text, ",");

        (void)snprintf(word, sizeof(word), "%.*s", length < sizeof(word) ? (int)length : 0, text);
        if (options->n_sizes == VP_SIMULATE_MAX_SIZES ||
            !vp_number_parse(word, true, 1, MAX_SIZE, &options->sizes[options->n_sizes])) {
            return false;
        }
        options->n_sizes++;
        if (text[length] == '\0') {
            return true;
        }
        text += length + 1;
    }
}

static bool take_json(const char *text, void *options)
{
    (void)text;
    ((vp_simulate_options_t *)options)->format = VP_REPORT_JSON;
    return true;
}

static bool take_csv(const char *text, void *options)
{
    (void)text;
    ((vp_simulate_options_t *)options)->format = VP_REPORT_CSV;
    return true;
}

/* In the order of their enumeration. */
static const char *const executions[] = {"barrier", "free", "deps", NULL};
static const char *const sharings[] = {"off", "on", "auto", NULL};

#define TEXT(field_) VP_FIELD(vp_simulate_options_t, field_), .kind = VP_OPTION_TEXT
#define TIME(field_)                                                                               \
    VP_FIELD(vp_simulate_options_t, field_), .kind = VP_OPTION_NUMBER, .most = MAX_NS

const vp_option_t vp_simulate_known_options[] = {
    {.name = "topology",
     .value = "TOPOLOGY",
     .help = "see variopath topology",
     TEXT(topology),
     .offer = VP_OFFER_TOPOLOGIES},
    {.name = "demand",
     .value = "CSV",
     .help = "N rows of N byte counts, row = source; - is standard input",
     TEXT(demand),
     .offer = VP_OFFER_FILES},
    {.name = "algorithms",
     .value = "A,B,...",
     .help = "any of the systems and planners below",
     TEXT(algorithms),
     .offer = VP_OFFER_ALGORITHMS},
    {.name = "schedule",
     .value = "FILE,...",
     .help = "schedules that other programs made",
     TEXT(schedules),
     .offer = VP_OFFER_FILES},
    {.name = "links",
     .value = "P,...",
     .help = "ideal, or contention profiles of the topology; all",
     .unless_given = "ideal",
     TEXT(links)},
    {.name = "execution",
     .value = "MODE",
     .help = "plans: barrier, free or deps",
     .unless_given = "deps",
     VP_FIELD(vp_simulate_options_t, execution),
     .kind = VP_OPTION_WORD,
     .words = executions},
    {.name = "alpha-ns",
     .value = "A",
     .help = "plans: overhead of a lane",
     .unless_given = "the topology's",
     TIME(alpha_ns),
     VP_GIVEN(vp_simulate_options_t, has_alpha)},
    {.name = "post-ns",
     .value = "P",
     .help = "plans: overhead of a lane that waits for no other rank",
     .unless_given = "A",
     TIME(post_ns),
     VP_GIVEN(vp_simulate_options_t, has_post)},
    {.name = "planning-ns",
     .value = "T",
     .help = "plans: charge this before the first lane",
     .unless_given = "0",
     TIME(planning_ns)},
    {.name = "exchange-ns",
     .value = "T",
     .help = "plans: charge this for the exchange of counts",
     .unless_given = "0",
     TIME(exchange_ns)},
    {.name = "port-sharing",
     .value = "HOW",
     .help = "plans: off (exclusive lanes), on (a pair may use two paths at once), or auto (also "
             "concurrent lanes, whichever is fastest)",
     .unless_given = "auto",
     VP_FIELD(vp_simulate_options_t, sharing),
     .kind = VP_OPTION_WORD,
     .words = sharings},
    {.name = "plan-links",
     .value = "P",
     .help = "plans are made for this profile",
     .unless_given = "the one that they run on",
     TEXT(plan_links)},
    {.name = "time-planning",
     .value = "N",
     .help = "make each plan N times; planning_cpu_ns is the fastest",
     .unless_given = "0",
     VP_FIELD(vp_simulate_options_t, n_timed_plans),
     .kind = VP_OPTION_NUMBER,
     .most = MAX_TIMED_PLANS},
    {.name = "fail",
     .value = "LINK",
     .help = "without this shared link, its paths and its NIC",
     TEXT(fail)},
    {.name = "unaware",
     .help = "plans are made as if nothing had failed",
     VP_FIELD(vp_simulate_options_t, is_unaware)},
    {.name = "rate-error",
     .value = "PPM",
     .help = "links run at their rate +- up to PPM; plans do not know",
     .unless_given = "0",
     VP_FIELD(vp_simulate_options_t, rate_error_ppm),
     .kind = VP_OPTION_NUMBER,
     .most = MAX_RATE_ERROR_PPM},
    {.name = "seed",
     .value = "S",
     .help = "of the rate errors",
     .unless_given = "1",
     VP_FIELD(vp_simulate_options_t, seed),
     .kind = VP_OPTION_NUMBER,
     .most = UINT64_MAX},
    {.name = "sweep",
     .value = "B,B,...",
     .help = "with the demand scaled to B bytes per rank; K, M, G",
     .kind = VP_OPTION_CALL,
     .take = take_sizes},
    {.name = "exact",
     .help = "share links anew at every event, however many flows",
     VP_FIELD(vp_simulate_options_t, exact)},
    {.name = "json",
     .help = "print JSON instead of a table",
     .kind = VP_OPTION_CALL,
     .take = take_json,
     VP_GIVEN(vp_simulate_options_t, is_json)},
    {.name = "csv",
     .help = "print CSV instead of a table",
     .kind = VP_OPTION_CALL,
     .take = take_csv,
     VP_GIVEN(vp_simulate_options_t, is_csv)},
    {.name = "svg",
     .value = "FILE",
     .help = "also draw rates, lanes and the use of links over time",
     TEXT(svg),
     .offer = VP_OFFER_FILES},
    {.name = NULL},
};

int vp_simulate_options_check(const vp_simulate_options_t *options)
{
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
    if (options->is_json && options->is_csv) {
        return vp_command_usage("simulate", "give one of --json and --csv");
    }
    return VP_EXIT_OK;
}
