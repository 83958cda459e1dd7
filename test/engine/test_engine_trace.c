/*
 * The trace file of the engine.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine_rank.h"

enum { SEED = 60, N_RANKS = 4 };

static void run(void (*body)(uint32_t, void *), const char *path)
{
    cluster_t cluster;

    cluster_make(&cluster, N_RANKS);
    cluster.extra = path;
    cluster_run(&cluster, body);
}

static void check_trace(const char *path, uint32_t rank, uint32_t n_ranks)
{
    char line[8192];
    FILE *file = fopen(path, "r");
    json_t *call, *lanes;
    uint64_t n_bytes = 0;
    size_t i;

    RANKS_CHECK(file != NULL, "no trace at %s", path);
    RANKS_CHECK(fgets(line, sizeof(line), file) != NULL, "no line in %s", path);
    call = json_loads(line, 0, NULL);
    RANKS_CHECK(call != NULL, "not JSON: %s", line);
    RANKS_CHECK(strcmp(json_string_value(json_object_get(call, "verdict")), "carried") == 0, "%s",
                line);
    lanes = json_object_get(call, "lanes");
    RANKS_CHECK(json_array_size(lanes) > 0, "no lanes: %s", line);
    for (i = 0; i < json_array_size(lanes); i++) {
        const json_t *lane = json_array_get(lanes, i);

        RANKS_EQUAL(json_integer_value(json_object_get(lane, "source")), rank);
        RANKS_CHECK(json_integer_value(json_object_get(lane, "destination")) < (int)n_ranks, "%s",
                    line);
        RANKS_CHECK(json_integer_value(json_object_get(lane, "start_ns")) <=
                        json_integer_value(json_object_get(lane, "end_ns")),
                    "%s", line);
        RANKS_CHECK(json_string_value(json_object_get(lane, "kind")) != NULL &&
                        json_string_value(json_object_get(lane, "source_class")) != NULL,
                    "%s", line);
        n_bytes += (uint64_t)json_integer_value(json_object_get(lane, "bytes"));
    }
    RANKS_EQUAL(n_bytes, json_integer_value(json_object_get(call, "bytes")));
    json_decref(call);
    RANKS_CHECK(fgets(line, sizeof(line), file) != NULL, "no second line");
    call = json_loads(line, 0, NULL);
    RANKS_CHECK(call != NULL, "not JSON: %s", line);
    RANKS_CHECK(strstr(json_string_value(json_object_get(call, "reason")), "in-place") != NULL,
                "%s", line);
    json_decref(call);
    RANKS_CHECK(fgets(line, sizeof(line), file) == NULL, "a third line: %s", line);
    (void)fclose(file);
}

static void body_trace(uint32_t rank, void *argument)
{
    cluster_t cluster = *(cluster_t *)argument;
    char path[64];
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;
    uint32_t i;

    (void)snprintf(path, sizeof(path), "%s.%u", (const char *)cluster.extra, rank);
    cluster.options.trace = path;
    cluster.options.name = "world \"1\"";
    engine_rank_start(&self, rank, &cluster, true);
    traffic_random(&traffic, cluster.n_ranks, SEED, 3000);
    for (i = 0; i < N_RANKS; i++) {
        traffic.send[i][(i + 1) % N_RANKS] = traffic.room[i][(i + 1) % N_RANKS] = 50;
    }
    buffers_make(&self, &traffic, &buffers);
    engine_rank_carry(&self, self.engine, &buffers, 1);
    engine_rank_pass(&self, self.engine, &buffers, VP_OBSTACLE_IN_PLACE, "in-place");
    check_trace(path, rank, cluster.n_ranks);
    RANKS_EQUAL(unlink(path), 0);
    engine_rank_stop(&self);
}

START_TEST(calls_are_traced)
{
    char directory[] = "/tmp/vp-trace-XXXXXX", path[40];

    ck_assert_ptr_nonnull(mkdtemp(directory));
    (void)snprintf(path, sizeof(path), "%s/trace", directory);
    run(body_trace, path);
    ck_assert_int_eq(rmdir(directory), 0);
}
END_TEST

/* All files, one behind the other, as one array; where the array ends is left to the reader. */
static json_t *load_events(const char *prefix, uint32_t n_ranks)
{
    static char text[1 << 18];
    size_t used = 0;
    json_t *events;
    uint32_t rank;

    for (rank = 0; rank < n_ranks; rank++) {
        char path[80];
        FILE *file;

        (void)snprintf(path, sizeof(path), "%s.%u", prefix, rank);
        file = fopen(path, "r");
        ck_assert_ptr_nonnull(file);
        used += fread(text + used, 1, sizeof(text) - used - 2, file);
        (void)fclose(file);
        ck_assert_int_eq(unlink(path), 0);
    }
    ck_assert_uint_gt(used, 2);
    ck_assert_mem_eq(text + used - 2, ",\n", 2);
    (void)snprintf(text + used - 2, 3, "]");
    events = json_loads(text, 0, NULL);
    ck_assert_msg(events != NULL, "not JSON: %s", text);
    return events;
}

static void body_chrome(uint32_t rank, void *argument)
{
    cluster_t cluster = *(cluster_t *)argument;
    char path[64];
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;

    (void)snprintf(path, sizeof(path), "%s.%u", (const char *)cluster.extra, rank);
    cluster.options.trace = path;
    cluster.options.trace_chrome = true;
    cluster.options.trace_process = rank;
    cluster.options.name = "world \"1\"";
    engine_rank_start(&self, rank, &cluster, true);
    traffic_random(&traffic, cluster.n_ranks, SEED, 3000);
    buffers_make(&self, &traffic, &buffers);
    engine_rank_carry(&self, self.engine, &buffers, 1);
    engine_rank_pass(&self, self.engine, &buffers, VP_OBSTACLE_IN_PLACE, "in-place");
    engine_rank_stop(&self);
}

START_TEST(chrome_events_of_all_ranks_are_one_array)
{
    char directory[] = "/tmp/vp-trace-XXXXXX", path[40];
    unsigned n_calls[N_RANKS] = {0}, n_names = 0, n_lanes = 0;
    double first = 0, last = 0;
    json_t *events;
    size_t i;

    ck_assert_ptr_nonnull(mkdtemp(directory));
    (void)snprintf(path, sizeof(path), "%s/trace", directory);
    run(body_chrome, path);
    events = load_events(path, N_RANKS);
    ck_assert_int_eq(rmdir(directory), 0);
    for (i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        json_int_t process = json_integer_value(json_object_get(event, "pid"));
        double start = json_number_value(json_object_get(event, "ts"));

        ck_assert_int_lt(process, N_RANKS);
        if (json_object_get(event, "cat") == NULL) {
            n_names++;
            continue;
        }
        if (strcmp(json_string_value(json_object_get(event, "cat")), "call") == 0) {
            n_calls[process]++;
        } else {
            n_lanes++;
            ck_assert_int_gt(json_integer_value(json_object_get(event, "tid")), 0);
        }
        ck_assert(json_number_value(json_object_get(event, "dur")) >= 0);
        first = first == 0 || start < first ? start : first;
        last = start > last ? start : last;
    }
    ck_assert_uint_eq(n_names, N_RANKS);
    ck_assert_uint_gt(n_lanes, N_RANKS);
    for (i = 0; i < N_RANKS; i++) {
        ck_assert_uint_eq(n_calls[i], 2);
    }
    /* One axis: all of it lies within the time that the test was given. */
    ck_assert(last - first < 1e6 * RANKS_SECONDS);
    json_decref(events);
}
END_TEST

static void body_bad_trace(uint32_t rank, void *argument)
{
    cluster_t cluster = *(cluster_t *)argument;
    engine_rank_t self;
    traffic_t traffic;
    buffers_t buffers;
    uint32_t i;

    cluster.options.trace = "/nonexistent/trace";
    engine_rank_start(&self, rank, &cluster, true);
    traffic_random(&traffic, cluster.n_ranks, SEED, 3000);
    for (i = 0; i < N_RANKS; i++) {
        traffic.send[i][(i + 1) % N_RANKS] = traffic.room[i][(i + 1) % N_RANKS] = 50;
    }
    buffers_make(&self, &traffic, &buffers);
    engine_rank_carry(&self, self.engine, &buffers, 1);
    RANKS_CHECK(strstr(self.last_line, "cannot write the trace to /nonexistent/trace") != NULL,
                "%s", self.last_line);
    engine_rank_carry(&self, self.engine, &buffers, 2);
    RANKS_CHECK(strstr(self.last_line, "carried") != NULL, "%s", self.last_line);
    engine_rank_stop(&self);
}

START_TEST(a_trace_that_cannot_be_written_stops_nothing)
{
    run(body_bad_trace, NULL);
}
END_TEST

static Suite *trace_suite(void)
{
    Suite *suite = suite_create("engine trace");
    TCase *tcase = tcase_create("file");

    (void)printf("seed %d\n", SEED);
    tcase_set_timeout(tcase, 2 * RANKS_SECONDS);
    tcase_add_test(tcase, calls_are_traced);
    tcase_add_test(tcase, chrome_events_of_all_ranks_are_one_array);
    tcase_add_test(tcase, a_trace_that_cannot_be_written_stops_nothing);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(trace_suite());
    int n_failed;

    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
