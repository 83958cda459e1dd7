/*
 * What a call exchanges before its first byte: as little as it can, and never less
 * than it must.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine_rank.h"
#include "lanes_fake.h"
#include "planner_fake.h"

enum { N_RANKS = 4, N_PLANS = 3, N_TRAFFICS = 5, CHANGED = 2 };

/* Collectives of a call: all of it, without rows, without all that is known. */
enum { OPENING = 1, ROWS = 1, PAIRS = 1, KEYS = 2 };

static void run(void (*body)(uint32_t, void *), uint32_t cache_plans, uint64_t min_bytes)
{
    cluster_t cluster;

    cluster_make(&cluster, N_RANKS);
    cluster.options.cache_plans = cache_plans;
    cluster.options.min_bytes = min_bytes;
    cluster.options.sync = VP_SYNC_DEPS;
    cluster_run(&cluster, body);
}

/* Every rank sends to every other one, so that all have windows. */
static void fill_traffic(traffic_t *traffic, uint32_t which)
{
    uint32_t i, j;

    for (i = 0; i < N_RANKS; i++) {
        for (j = 0; j < N_RANKS; j++) {
            traffic->send[i][j] = 100 + 10 * i + j + 1000 * which;
            traffic->room[i][j] = traffic->send[i][j];
        }
    }
}

/* Carries a call and returns how many collectives below it took. */
static unsigned carry(engine_rank_t *self, buffers_t *buffers, unsigned turn)
{
    unsigned before = self->members[0].n_collectives;

    engine_rank_carry(self, self->engine, buffers, turn);
    return self->members[0].n_collectives - before;
}

static void body_repeated(uint32_t rank, void *argument)
{
    static traffic_t traffics[2];
    engine_rank_t self;
    buffers_t first, second, elsewhere;
    unsigned turn;

    engine_rank_start(&self, rank, argument, true);
    fill_traffic(&traffics[0], 0);
    fill_traffic(&traffics[1], 0);
    /* One count of one rank, which three of the ranks know nothing of. */
    traffics[1].send[CHANGED][0] = traffics[1].room[CHANGED][0] = 777;
    buffers_make(&self, &traffics[0], &first);
    buffers_make(&self, &traffics[1], &second);
    buffers_make(&self, &traffics[0], &elsewhere);
    (void)carry(&self, &first, 1);
    for (turn = 2; turn < 5; turn++) {
        RANKS_EQUAL(carry(&self, &first, turn), OPENING);
    }
    RANKS_EQUAL(self.counters.n_cache_hits, 3);
    RANKS_EQUAL(carry(&self, &second, 5), OPENING + ROWS + PAIRS + KEYS);
    RANKS_EQUAL(self.counters.n_cache_hits, 3);
    /* Counts as before at other places: keys and places, but no counts. */
    RANKS_EQUAL(carry(&self, &elsewhere, 6), OPENING + PAIRS + KEYS);
    RANKS_EQUAL(carry(&self, rank == 1 ? &first : &elsewhere, 7), OPENING + PAIRS + KEYS);
    RANKS_EQUAL(carry(&self, rank == 1 ? &first : &elsewhere, 8), OPENING);
    RANKS_EQUAL(self.counters.n_cache_hits, 6);
    engine_rank_stop(&self);
}

START_TEST(what_came_before_is_not_exchanged_again)
{
    run(body_repeated, N_PLANS, 0);
}
END_TEST

/* Traffics in turn, one more than there are places: the one not used for longest goes. */
static void body_evicted(uint32_t rank, void *argument)
{
    static const unsigned order[] = {0, 1, 2, 0, 3, 0, 2, 1, 3};
    static const unsigned hits[] = {0, 0, 0, 1, 1, 2, 3, 3, 3};
    static traffic_t traffics[N_TRAFFICS];
    buffers_t buffers[N_TRAFFICS];
    engine_rank_t self;
    unsigned i;

    engine_rank_start(&self, rank, argument, true);
    for (i = 0; i < N_TRAFFICS; i++) {
        fill_traffic(&traffics[i], i);
        buffers_make(&self, &traffics[i], &buffers[i]);
    }
    for (i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        (void)carry(&self, &buffers[order[i]], i);
        RANKS_EQUAL(self.counters.n_cache_hits, hits[i]);
    }
    engine_rank_stop(&self);
}

START_TEST(the_plan_not_used_for_longest_goes)
{
    run(body_evicted, N_PLANS, 0);
}
END_TEST

static void body_uncached(uint32_t rank, void *argument)
{
    static traffic_t traffic;
    engine_rank_t self;
    buffers_t buffers;

    engine_rank_start(&self, rank, argument, true);
    fill_traffic(&traffic, 0);
    buffers_make(&self, &traffic, &buffers);
    (void)carry(&self, &buffers, 1);
    RANKS_EQUAL(carry(&self, &buffers, 2), OPENING + ROWS + PAIRS);
    RANKS_EQUAL(self.counters.n_cache_hits, 0);
    engine_rank_stop(&self);
}

START_TEST(without_places_every_call_is_planned)
{
    run(body_uncached, 0, 0);
}
END_TEST

/* A hopeless plan is kept as such. */
static void body_hopeless(uint32_t rank, void *argument)
{
    cluster_t cluster = *(cluster_t *)argument;
    static traffic_t traffic;
    engine_rank_t self;
    buffers_t buffers;
    unsigned before;

    cluster.options.min_gain_percent = 50;
    planner_pairwise_ns = 1;
    engine_rank_start(&self, rank, &cluster, true);
    fill_traffic(&traffic, 0);
    buffers_make(&self, &traffic, &buffers);
    engine_rank_pass(&self, self.engine, &buffers, 0, "gains less than 50%");
    before = self.members[0].n_collectives;
    engine_rank_pass(&self, self.engine, &buffers, 0, "gains less than 50%");
    RANKS_EQUAL(self.members[0].n_collectives - before, OPENING);
    engine_rank_stop(&self);
}

START_TEST(a_hopeless_call_that_comes_again_costs_one_small_record)
{
    run(body_hopeless, N_PLANS, 0);
}
END_TEST

/* The bytes between ranks in traffic 0; the threshold is exact. */
static uint64_t bytes_between(const traffic_t *traffic)
{
    uint64_t sum = 0;
    uint32_t i, j;

    for (i = 0; i < N_RANKS; i++) {
        for (j = 0; j < N_RANKS; j++) {
            sum += i == j ? 0 : traffic->send[i][j];
        }
    }
    return sum;
}

static void body_small(uint32_t rank, void *argument)
{
    cluster_t cluster = *(cluster_t *)argument;
    static traffic_t traffics[2];
    engine_rank_t self;
    buffers_t large, small;
    unsigned before;

    fill_traffic(&traffics[0], 0);
    fill_traffic(&traffics[1], 0);
    traffics[1].send[3][1]--;
    traffics[1].room[3][1]--;
    cluster.options.min_bytes = bytes_between(&traffics[0]);
    engine_rank_start(&self, rank, &cluster, true);
    buffers_make(&self, &traffics[0], &large);
    buffers_make(&self, &traffics[1], &small);
    engine_rank_carry(&self, self.engine, &large, 1);
    before = self.members[0].n_collectives;
    engine_rank_pass(&self, self.engine, &small, 0, "fewer than coll_variopath_min_bytes");
    RANKS_EQUAL(self.members[0].n_collectives - before, OPENING);
    RANKS_CHECK(vp_engine_pass_small(self.engine, cluster.options.min_bytes - 1) &&
                    !vp_engine_pass_small(self.engine, cluster.options.min_bytes),
                "the local answer is another one");
    engine_rank_stop(&self);
}

START_TEST(a_small_call_is_passed_on)
{
    run(body_small, N_PLANS, 0);
}
END_TEST

/* Free lanes need the messages of one meeting only, waiting ones more. */
static void body_auto(uint32_t rank, void *argument)
{
    enum { MEETING_OF_FOUR = 2, LONG = 1000000 };
    cluster_t cluster = *(cluster_t *)argument;
    static traffic_t traffics[2];
    engine_rank_t self;
    buffers_t shorts, longs;
    unsigned before;
    uint32_t i, j;

    cluster.options.sync = VP_SYNC_AUTO;
    fill_traffic(&traffics[0], 0);
    for (i = 0; i < N_RANKS; i++) {
        for (j = 0; j < N_RANKS; j++) {
            traffics[1].send[i][j] = traffics[1].room[i][j] = i == j ? 0 : LONG + i;
        }
    }
    engine_rank_start(&self, rank, &cluster, true);
    buffers_make(&self, &traffics[0], &shorts);
    buffers_make(&self, &traffics[1], &longs);
    (void)carry(&self, &shorts, 1);
    RANKS_EQUAL(self.members[0].n_messages, MEETING_OF_FOUR);
    before = self.members[0].n_messages;
    (void)carry(&self, &longs, 2);
    RANKS_CHECK(self.members[0].n_messages - before > MEETING_OF_FOUR, "long lanes run free");
    engine_rank_stop(&self);
}

START_TEST(long_lanes_wait_and_short_ones_do_not)
{
    run(body_auto, N_PLANS, 0);
}
END_TEST

/* Where lanes wait for each other, no put keeps the word of another one's end for long. */
static void body_chunks(uint32_t rank, void *argument)
{
    enum { ALPHA_NS = 500, LONG = 1000000, FASTEST_BYTES_PER_US = 64000 };
    cluster_t cluster = *(cluster_t *)argument;
    const vp_sync_t *sync = cluster.extra;
    static traffic_t traffic;
    engine_rank_t self;
    buffers_t buffers;
    uint32_t i, j;

    cluster.options.sync = *sync;
    cluster.options.alpha_ns = ALPHA_NS;
    for (i = 0; i < N_RANKS; i++) {
        for (j = 0; j < N_RANKS; j++) {
            traffic.send[i][j] = traffic.room[i][j] = i == j ? 0 : LONG;
        }
    }
    engine_rank_start(&self, rank, &cluster, true);
    buffers_make(&self, &traffic, &buffers);
    (void)carry(&self, &buffers, 1);
    RANKS_CHECK((lanes_fake.longest_put <= 2 * ALPHA_NS * FASTEST_BYTES_PER_US / 1000) ==
                    (*sync == VP_SYNC_DEPS),
                "the longest put has %llu bytes", (unsigned long long)lanes_fake.longest_put);
    engine_rank_stop(&self);
}

START_TEST(lanes_that_wait_go_in_chunks)
{
    static const vp_sync_t syncs[] = {VP_SYNC_DEPS, VP_SYNC_BARRIER, VP_SYNC_FREE};
    cluster_t cluster;

    cluster_make(&cluster, N_RANKS);
    cluster.extra = &syncs[_i];
    cluster_run(&cluster, body_chunks);
}
END_TEST

static Suite *exchange_suite(void)
{
    Suite *suite = suite_create("engine exchange");
    TCase *tcase = tcase_create("records");

    tcase_set_timeout(tcase, 2 * RANKS_SECONDS);
    tcase_add_test(tcase, what_came_before_is_not_exchanged_again);
    tcase_add_test(tcase, the_plan_not_used_for_longest_goes);
    tcase_add_test(tcase, without_places_every_call_is_planned);
    tcase_add_test(tcase, a_hopeless_call_that_comes_again_costs_one_small_record);
    tcase_add_test(tcase, a_small_call_is_passed_on);
    tcase_add_test(tcase, long_lanes_wait_and_short_ones_do_not);
    tcase_add_loop_test(tcase, lanes_that_wait_go_in_chunks, 0, 3);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(exchange_suite());
    int n_failed;

    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
