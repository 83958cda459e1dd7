/*
 * Reading recorded traces, and what their summary says.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trace_report.h"

#define CALL(pid, number, verdict, ts, dur)                                                        \
    "{\"name\":\"alltoallv " number ": " verdict "\",\"cat\":\"call\",\"ph\":\"X\",\"ts\":" ts     \
    ",\"dur\":" dur ",\"pid\":" pid ",\"tid\":0,\"args\":{\"bytes\":300}},\n"
#define LANE(pid, tid, to, ts, dur, bytes, kind)                                                   \
    "{\"name\":\"to " to "\",\"cat\":\"lane\",\"ph\":\"X\",\"ts\":" ts ",\"dur\":" dur             \
    ",\"pid\":" pid ",\"tid\":" tid ",\"args\":{\"activation\":0,\"bytes\":" bytes                 \
    ",\"kind\":\"" kind "\"}},\n"

/* Rank 0: PIX 10 .. 30 and 25 .. 45, NIC 20 .. 50 of a call of 10 .. 60. Rank 1: PIX 0 .. 10. */
static const char first[] =
    "[\n"
    "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":0,\"tid\":0,\"args\":{"
    "\"name\":\"0\"}},\n" CALL("0", "0", "carried", "1788000000000010.000", "50.000")
        LANE("0", "1", "1", "1788000000000010.000", "20.000", "100", "PIX")
            LANE("0", "2", "1", "1788000000000025.000", "20.000", "100", "PIX")
                LANE("0", "1", "2", "1788000000000020.000", "30.000", "100", "NIC")
                    CALL("0", "1", "passed on", "1788000000000070.000", "5.000");
static const char second[] = CALL("1", "0", "carried", "1788000000000000.000", "40.000")
    LANE("1", "1", "0", "1788000000000000.000", "10.000", "100", "PIX")
        CALL("1", "1", "passed on", "1788000000000070.000", "5.000");

static const char lines[] =
    "{\"communicator\":\"w\",\"call\":0,\"rank\":0,\"ranks\":2,\"verdict\":\"carried\",\"bytes\":7,"
    "\"lanes\":[{\"activation\":0,\"source\":0,\"destination\":1,\"kind\":\"PIX\",\"bytes\":7,"
    "\"start_ns\":100,\"end_ns\":300}]}\n"
    "{\"communicator\":\"w\",\"call\":1,\"rank\":0,\"ranks\":2,\"verdict\":\"carried\",\"bytes\":7,"
    "\"lanes\":[{\"activation\":0,\"source\":0,\"destination\":1,\"kind\":\"PIX\",\"bytes\":7,"
    "\"start_ns\":100,\"end_ns\":400}]}\n";

static vp_status_t read_text(vp_trace_t *trace, const char *text, vp_error_t *error)
{
    return vp_trace_read(trace, "t", text, strlen(text), error);
}

START_TEST(summary_of_two_ranks)
{
    vp_trace_t trace = {0};
    vp_trace_report_t report;
    vp_error_t error;

    ck_assert_int_eq(read_text(&trace, first, &error), VP_OK);
    ck_assert_int_eq(read_text(&trace, second, &error), VP_OK);
    ck_assert_int_eq(vp_trace_report_make(&trace, 2, &report, &error), VP_OK);
    ck_assert_uint_eq(trace.n_ranks, 3);
    ck_assert(!trace.is_relative);
    ck_assert_uint_eq(report.n_calls[VP_TRACE_CARRIED], 2);
    ck_assert_uint_eq(report.n_calls[VP_TRACE_PASSED_ON], 2);
    ck_assert_uint_eq(report.n_bytes, 1200);
    ck_assert_uint_eq(report.span_ns, 75000);
    ck_assert_uint_eq(report.classes[VP_PATH_PIX].n_lanes, 3);
    ck_assert_uint_eq(report.classes[VP_PATH_PIX].n_bytes, 300);
    ck_assert_uint_eq(report.classes[VP_PATH_PIX].lane_ns, 50000);
    ck_assert_uint_eq(report.classes[VP_PATH_PIX].time_ns, 35000 + 10000);
    ck_assert_uint_eq(report.classes[VP_PATH_PIX].idle_ns, 15000 + 30000);
    ck_assert_uint_eq(report.classes[VP_PATH_NIC].time_ns, 30000);
    ck_assert_uint_eq(report.classes[VP_PATH_NIC].idle_ns, 20000);
    /* PIX runs at 100 bytes in 16667 ns: two lanes lost 3333 ns each, the third nothing. */
    ck_assert_uint_eq(report.n_slowest, 2);
    ck_assert_uint_eq(trace.lanes[report.slowest[0]].start_ns, 10000);
    ck_assert_uint_eq(trace.lanes[report.slowest[1]].start_ns, 25000);
    ck_assert_uint_eq(vp_trace_lost_ns(&report, &trace.lanes[report.slowest[0]]), 3333);
    vp_trace_report_release(&report);
    vp_trace_release(&trace);
}
END_TEST

START_TEST(all_forms_of_a_file)
{
    char whole[4096];
    vp_trace_t trace = {0};
    vp_error_t error;
    int n_events = (int)strlen(first) - 2; /* without the last comma */

    /* The files of both ranks in one; a closed array; an object around it; lines. */
    (void)snprintf(whole, sizeof(whole), "%s%s", first, second);
    ck_assert_int_eq(read_text(&trace, whole, &error), VP_OK);
    ck_assert_uint_eq(trace.n_lanes, 4);
    (void)snprintf(whole, sizeof(whole), "%.*s]\n", n_events, first);
    ck_assert_int_eq(read_text(&trace, whole, &error), VP_OK);
    ck_assert_uint_eq(trace.n_lanes, 7);
    (void)snprintf(whole, sizeof(whole), "{\"traceEvents\": %.*s]}\n", n_events, first);
    ck_assert_int_eq(read_text(&trace, whole, &error), VP_OK);
    ck_assert_uint_eq(trace.n_lanes, 10);
    vp_trace_release(&trace);
    trace = (vp_trace_t){0};
    ck_assert_int_eq(read_text(&trace, lines, &error), VP_OK);
    ck_assert(trace.is_relative);
    ck_assert_uint_eq(trace.n_calls, 2);
    ck_assert_uint_eq(trace.lanes[1].start_ns, 400); /* behind the first call */
    ck_assert_uint_eq(trace.lanes[1].end_ns, 700);
    ck_assert_uint_eq(trace.calls[1].end_ns, 700);
    vp_trace_release(&trace);
}
END_TEST

static const struct {
    const char *text;
    const char *message;
} bad[] = {
    {"", "t: holds no call"},
    {"[]\n", "t: holds no call"},
    {"a,b\n", "t:1: "},
    {"[\n" CALL("0", "0", "carried", "1", "1") "{\"name\":\"to", "t:3: "},
    {"[\n{\"ph\":\"X\"}\n5", "t:3: "},
    {"{\"name\":\"x\"}", "t:1: an object is no event"},
    {CALL("0", "0", "lost", "1", "1"), "\"name\" of an event"},
    {CALL("0", "x", "carried", "1", "1"), "\"name\" of an event"},
    {CALL("-1", "0", "carried", "1", "1"), "\"pid\" of an event"},
    {CALL("4294967295", "0", "carried", "1", "1"), "\"pid\" of an event"},
    {CALL("0", "0", "carried", "-1", "1"), "\"ts\" of an event"},
    {CALL("0", "0", "carried", "1e300", "1"), "\"ts\" of an event"},
    {CALL("0", "0", "carried", "1", "\"1\""), "\"dur\" of an event"},
    {LANE("0", "1", "1", "1", "1", "1", "PIX"), "before the first call"},
    {CALL("0", "0", "carried", "1", "1") LANE("0", "1", "1", "1", "1", "-1", "PIX"),
     "t:2: \"bytes\""},
    {CALL("0", "0", "carried", "1", "1") LANE("0", "1", "1", "1", "1", "1", "WIRE"),
     "t:2: \"kind\""},
    {CALL("0", "0", "carried", "1", "1") LANE("0", "1", "9999999", "1", "1", "1", "PIX"),
     "t:2: \"name\""},
    {CALL("0", "0", "carried", "1", "1") LANE("0", "70000", "1", "1", "1", "1", "PIX"),
     "t:2: \"tid\""},
    {"{\"lanes\":[],\"verdict\":\"carried\",\"rank\":0,\"call\":0}", "\"bytes\""},
    {"{\"lanes\":[],\"verdict\":1,\"rank\":0,\"call\":0,\"bytes\":0}", "\"verdict\""},
    {"{\"lanes\":[1],\"verdict\":\"carried\",\"rank\":0,\"call\":0,\"bytes\":0}", "\"source\""},
    {"{\"lanes\":[{\"source\":0,\"destination\":1,\"activation\":0,\"bytes\":1,\"kind\":\"PIX\","
     "\"start_ns\":2,\"end_ns\":1}],\"verdict\":\"carried\",\"rank\":0,\"call\":0,\"bytes\":0}",
     "\"end_ns\""},
};

START_TEST(bad_traces_are_refused)
{
    vp_trace_t trace = {0};
    vp_error_t error;

    ck_assert_int_eq(read_text(&trace, bad[_i].text, &error), VP_ERR_BAD_INPUT);
    ck_assert_msg(strstr(error.text, bad[_i].message) != NULL, "%s", error.text);
    vp_trace_release(&trace);
}
END_TEST

START_TEST(a_cut_inside_an_event_is_refused)
{
    size_t n;

    for (n = 0; n < sizeof(first); n++) {
        vp_trace_t trace = {0};
        vp_error_t error;
        char *part = malloc(n + 1);

        ck_assert_ptr_nonnull(part);
        memcpy(part, first, n);
        if (vp_trace_read(&trace, "t", part, n, &error) == VP_OK) {
            ck_assert(n > 0 && strchr("}\n,", first[n - 1]) != NULL);
        }
        free(part);
        vp_trace_release(&trace);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trace");
    TCase *cases = tcase_create("trace");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_add_test(cases, summary_of_two_ranks);
    tcase_add_test(cases, all_forms_of_a_file);
    tcase_add_loop_test(cases, bad_traces_are_refused, 0, (int)(sizeof(bad) / sizeof(bad[0])));
    tcase_add_test(cases, a_cut_inside_an_event_is_refused);
    suite_add_tcase(suite, cases);
    srunner_run_all(runner, CK_ENV);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
