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
