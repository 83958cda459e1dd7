/*
 * Every allocation of one rank's engine fails once, in calls of four ranks: all
 * ranks reach the same verdict, bytes arrive whole or not at all, and all memory
 * is given back. Over lanes_fake.c, and over UCX, whose own memory is left alone.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "engine_rank.h"
#include "failing.h"
#include "planner.h"
#include "sweep.h"

enum { N_RANKS = 4, N_CALLS = 5, N_FAILING_CALLS = 3, MAX_NUMBERS = 4096, MAX_BYTES = 3000 };

/* What the ranks tell each other and the test, in memory that they share. */
typedef struct shared {
    uint32_t victim;
    size_t fail_at; /* 0: list the victim's allocations */
    size_t n_allocations;
    size_t n_sites;
    size_t n_numbers;
    size_t numbers[MAX_NUMBERS];
    bool is_error[N_CALLS][N_RANKS];
    vp_verdict_t verdict[N_CALLS][N_RANKS];
} shared_t;

static void begin(const shared_t *shared)
{
    if (shared->fail_at == 0) {
        failing_start_listing();
    } else {
        failing_start(shared->fail_at);
    }
}

static void end(shared_t *shared)
{
    const size_t *numbers;

    shared->n_allocations = failing_stop();
    if (shared->fail_at == 0) {
        shared->n_sites = failing_n_sites();
        numbers = failing_choose(sweep_is_whole(), &shared->n_numbers);
        RANKS_CHECK(shared->n_numbers <= MAX_NUMBERS, "%zu allocations", shared->n_numbers);
        memcpy(shared->numbers, numbers, shared->n_numbers * sizeof(*numbers));
    }
}

/* One call, whatever comes of it: what came of it is the same everywhere, and true. */
static void call_once(engine_rank_t *self, shared_t *shared, buffers_t *buffers, unsigned number)
{
    vp_call_t call = {.send = buffers->send, .receive = buffers->receive};
    vp_outcome_t outcome = {.verdict = VP_STAGED};
    vp_error_t error = {.text = ""};
    vp_status_t status;
    uint32_t rank;

    buffers_fill(self, buffers, number + 1);
    status = vp_engine_alltoallv(self->engine, &call, &outcome, &error);
    RANKS_CHECK(status == VP_OK || error.text[0] != '\0', "no message");
    RANKS_CHECK(status != VP_ERR_TIMEOUT, "%s", error.text);
    shared->is_error[number][self->rank] = status != VP_OK;
    shared->verdict[number][self->rank] = outcome.verdict;
    ranks_barrier(&self->members[0]);
    for (rank = 0; rank < N_RANKS; rank++) {
        RANKS_CHECK(shared->is_error[number][rank] == (status != VP_OK),
                    "call %u, allocation %zu: rank %u has %s, this one \"%s\"", number,
                    shared->fail_at, rank, status == VP_OK ? "an error" : "none", error.text);
        RANKS_CHECK(status != VP_OK || shared->verdict[number][rank] == outcome.verdict,
                    "call %u, allocation %zu: %s, on rank %u %s", number, shared->fail_at,
                    vp_verdict_text(outcome.verdict), rank,
                    vp_verdict_text(shared->verdict[number][rank]));
    }
    if (status == VP_OK && outcome.verdict == VP_CARRIED) {
        buffers_check_arrived(self, buffers);
    } else if (status == VP_OK) {
        RANKS_CHECK(outcome.reason[0] != '\0', "no reason");
        buffers_check_blank(self, buffers);
    }
}

/* A worker with a put under way is kept, with one block: UCX does not survive its end. */
static void check_live(const shared_t *shared, uint32_t rank)
{
    size_t allowed = 0;
    unsigned i;

    for (i = 0; i < N_CALLS; i++) {
        allowed = shared->is_error[i][rank] ? SMALL_CLASSES : allowed;
    }
    if (failing_n_live() > allowed) {
        failing_report(stdout);
        (void)fflush(stdout);
        RANKS_CHECK(false, "allocation %zu: %zu blocks are not given back", shared->fail_at,
                    failing_n_live());
    }
}

static void body(uint32_t rank, void *argument)
{
    cluster_t cluster = *(cluster_t *)argument;
    shared_t *shared = *(shared_t *const *)cluster.extra;
    static traffic_t traffics[2];
    buffers_t buffers[2];
    engine_rank_t self;
    unsigned i;

    engine_rank_start(&self, rank, &cluster, true);
    for (i = 0; i < 2; i++) {
        traffic_random(&traffics[i], N_RANKS, 7 + i, MAX_BYTES);
        buffers_make(&self, &traffics[i], &buffers[i]);
    }
    if (rank == shared->victim) {
        begin(shared);
    }
    for (i = 0; i < N_CALLS; i++) {
        if (rank == shared->victim && i == N_FAILING_CALLS) {
            end(shared);
        }
        call_once(&self, shared, &buffers[i % 2], i);
    }
    if (shared->fail_at == 0) {
        RANKS_EQUAL(self.counters.n_carried, N_CALLS);
    }
    engine_rank_stop(&self);
    check_live(shared, rank);
}

static void run(shared_t *shared, uint32_t victim, size_t fail_at)
{
    cluster_t cluster;

    shared->victim = victim;
    shared->fail_at = fail_at;
    cluster_make(&cluster, N_RANKS);
    cluster.options.sync = VP_SYNC_DEPS;
    cluster.extra = &shared;
    cluster_run(&cluster, body);
}

/* Without meeting anybody. */
static vp_status_t run_create(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    const cluster_t *cluster = argument;
    ranks_member_t member = {.comm = cluster->comms[0]};
    vp_surroundings_t around = ranks_surroundings(&member);
    uint64_t keys[N_RANKS] = {1, 2, 3, 4};
    vp_counters_t counters = {0};
    vp_engine_t *engine = NULL;
    vp_status_t status = vp_engine_create(cluster->catalog, NULL, &around, cluster->order, keys,
                                          &cluster->options, &counters, &engine, error);

    *digest_p = 1;
    vp_engine_destroy(engine);
    return status;
}

START_TEST(an_engine_is_made)
{
    cluster_t cluster;

    cluster_make(&cluster, N_RANKS);
    sweep("engine", run_create, &cluster);
    cluster_destroy(&cluster);
}
END_TEST

/* Of classes that are open. */
static uint64_t count_addresses(vp_lanes_t *lanes)
{
    const void *address;
    size_t n_bytes;
    uint64_t n = 0;
    uint32_t i;

    for (i = 0; i < SMALL_CLASSES; i++) {
        n += vp_lanes_address(lanes, i, &address, &n_bytes, NULL) == VP_OK;
    }
    return n;
}

static vp_status_t run_lanes(const void *argument, uint64_t *digest_p, vp_error_t *error)
{
    static const bool wanted[SMALL_CLASSES] = {true, true, true};
    const vp_model_t *model = argument;
    vp_lanes_config_t config = {.classes = model->classes,
                                .n_classes = model->n_classes,
                                .wanted = wanted,
                                .estimated_peers = model->n_ranks};
    vp_lanes_t *lanes = NULL;
    vp_status_t status = vp_lanes_create(&config, &lanes, error);

    *digest_p = 0;
    if (status == VP_OK) {
        *digest_p = count_addresses(lanes);
        vp_lanes_close(lanes);
        vp_lanes_destroy(lanes);
    }
    return status;
}

START_TEST(lanes_are_opened)
{
    vp_model_t *model = small_model(N_RANKS);

    sweep("lanes", run_lanes, model);
    vp_model_destroy(model);
}
END_TEST

START_TEST(one_rank_is_out_of_memory)
{
    shared_t *shared = ranks_share(sizeof(*shared));
    uint32_t victim = (uint32_t)_i;
    size_t i;

    run(shared, victim, 0);
    for (i = 0; i < shared->n_numbers; i++) {
        (void)printf(" %zu", shared->numbers[i]); /* the last one is where it went wrong */
        (void)fflush(stdout);
        run(shared, victim, shared->numbers[i]);
    }
    (void)printf("\nswept rank %u: %zu allocations from %zu places, %zu failed\n", victim,
                 shared->n_allocations, shared->n_sites, shared->n_numbers);
    ranks_unshare(shared, sizeof(*shared));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("allocations of the engine");
    TCase *tcase = tcase_create("sweep");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(tcase, sweep_is_whole() ? 1200 : 240);
    tcase_add_test(tcase, an_engine_is_made);
    if (VP_TEST_OVER_UCX) {
        tcase_add_test(tcase, lanes_are_opened);
    }
    if (sweep_is_whole() || !VP_TEST_OVER_UCX) { /* over UCX it takes minutes */
        tcase_add_loop_test(tcase, one_rank_is_out_of_memory, 0, N_RANKS);
    }
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
