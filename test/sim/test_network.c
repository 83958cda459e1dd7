/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/network.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "sim/random.h"

#define GB UINT64_C(1000000000)

static vp_network_t *network;
static vp_error_t error;

static void setup(void)
{
    ck_assert_int_eq(vp_network_create(64, &network, &error), VP_OK);
}

static void teardown(void)
{
    vp_network_destroy(network);
}

static uint32_t link_of(uint64_t bytes_per_s)
{
    vp_link_t link = {bytes_per_s, 0, 0, NULL};
    uint32_t index;

    ck_assert_int_eq(vp_network_add_link(network, &link, &index, &error), VP_OK);
    return index;
}

static uint32_t flow_over(uint32_t source, uint64_t n_bytes, uint32_t n_links,
                          const uint32_t *links)
{
    vp_flow_t flow = {source, n_links, links, n_bytes, 0, 0, VP_NO_GATE, VP_NO_QUEUE, 0};
    uint32_t index;

    ck_assert_int_eq(vp_network_add_flow(network, &flow, &index, &error), VP_OK);
    return index;
}

static uint64_t run(void)
{
    vp_network_result_t result;

    ck_assert_msg(vp_network_run(network, &result, &error) == VP_OK, "%s", error.text);
    ck_assert_uint_eq(result.max_idle_ns, 0);
    return result.time_ns;
}

/* n flows of b bytes on a link of c bytes/s end together after n b / c. */
START_TEST(equal_flows_share_one_link)
{
    static const uint32_t counts[] = {1, 2, 3, 7, 48};
    uint32_t n = counts[_i];
    uint32_t link = link_of(64 * GB);
    uint32_t i;

    for (i = 0; i < n; i++) {
        (void)flow_over(i, 64 * GB, 1, &link);
    }
    ck_assert_uint_eq(run(), n * GB);
    for (i = 0; i < n; i++) {
        ck_assert_uint_eq(vp_network_flow_done_ns(network, i), n * GB);
    }
    ck_assert_uint_eq(vp_network_link_bytes(network, link), n * 64 * GB);
    ck_assert_uint_eq(vp_network_link_busy_ns(network, link), n * GB);
}
END_TEST

/* Sizes 1, 2, 3 GB at 6 GB/s: ends at 0.5, (0.5 + 1/3), 1 s. */
START_TEST(unequal_flows_share_one_link)
{
    uint32_t link = link_of(6 * GB);

    (void)flow_over(0, 1 * GB, 1, &link);
    (void)flow_over(1, 2 * GB, 1, &link);
    (void)flow_over(2, 3 * GB, 1, &link);
    ck_assert_uint_eq(run(), GB);
    ck_assert_uint_eq(vp_network_flow_done_ns(network, 0), 500000000);
    ck_assert_uint_eq(vp_network_flow_done_ns(network, 1), 833333333);
    ck_assert_uint_eq(vp_network_flow_done_ns(network, 2), 1000000000);
}
END_TEST

START_TEST(disjoint_flows_do_not_meet)
{
    uint32_t slow = link_of(1 * GB);
    uint32_t fast = link_of(10 * GB);

    (void)flow_over(0, 5 * GB, 1, &slow);
    (void)flow_over(1, 5 * GB, 1, &fast);
    ck_assert_uint_eq(run(), 5 * GB);
    ck_assert_uint_eq(vp_network_flow_done_ns(network, 1), GB / 2);
}
END_TEST

/*
 * The textbook line: one long flow over A (4 GB/s) and B (2 GB/s), one more on
 * each. B gives 1 + 1, A the rest: 3. With 1, 3 and 1 GB all end at 1 s.
 */
START_TEST(two_hops_are_max_min_fair)
{
    uint32_t links[2] = {link_of(4 * GB), link_of(2 * GB)};

    (void)flow_over(0, 1 * GB, 2, links);
    (void)flow_over(1, 3 * GB, 1, &links[0]);
    (void)flow_over(2, 1 * GB, 1, &links[1]);
    ck_assert_uint_eq(run(), GB);
    ck_assert_uint_eq(vp_network_flow_done_ns(network, 0), GB);
    ck_assert_uint_eq(vp_network_flow_done_ns(network, 1), GB);
}
END_TEST

/* When the long flow ends, both others speed up: the change crosses hops. */
START_TEST(freed_shares_spread_over_hops)
{
    uint32_t links[2] = {link_of(4 * GB), link_of(2 * GB)};

    (void)flow_over(0, 1 * GB, 2, links);     /* 1 GB/s until 1 s */
    (void)flow_over(1, 7 * GB, 1, &links[0]); /* 3 until 1 s, then 4: 2 s */
    (void)flow_over(2, 5 * GB, 1, &links[1]); /* 1 until 1 s, then 2: 3 s */
    ck_assert_uint_eq(run(), 3 * GB);
    ck_assert_uint_eq(vp_network_flow_done_ns(network, 1), 2 * GB);
}
END_TEST

START_TEST(own_limit_leaves_the_rest)
{
    uint32_t link = link_of(10 * GB);
    vp_flow_t slow = {0, 1, &link, 2 * GB, 2 * GB, 0, VP_NO_GATE, VP_NO_QUEUE, 0};

    ck_assert_int_eq(vp_network_add_flow(network, &slow, NULL, &error), VP_OK);
    (void)flow_over(1, 8 * GB, 1, &link);
    ck_assert_uint_eq(run(), GB);
}
END_TEST

/* A route that crosses a link twice takes it twice. */
START_TEST(a_link_may_appear_twice)
{
    uint32_t link = link_of(4 * GB);
    uint32_t twice[2] = {link, link};

    (void)flow_over(0, 2 * GB, 2, twice);
    ck_assert_uint_eq(run(), GB);
    ck_assert_uint_eq(vp_network_link_bytes(network, link), 4 * GB);
}
END_TEST

/* Two sources on a link leave 3/4 of it, several flows of one source all of it. */
START_TEST(contention_counts_sources)
{
    static const uint32_t shares[] = {1000000, 750000};
    vp_link_t shared = {8 * GB, 0, 2, shares};
    uint32_t one;
    uint32_t two;

    ck_assert_int_eq(vp_network_add_link(network, &shared, &one, &error), VP_OK);
    ck_assert_int_eq(vp_network_add_link(network, &shared, &two, &error), VP_OK);
    (void)flow_over(5, 4 * GB, 1, &one);
    (void)flow_over(5, 4 * GB, 1, &one);
    (void)flow_over(5, 3 * GB, 1, &two);
    (void)flow_over(6, 7 * GB, 1, &two); /* 3 GB/s until 1 s, then 8: 1.5 s */
    ck_assert_uint_eq(run(), 3 * GB / 2);
    ck_assert_uint_eq(vp_network_flow_done_ns(network, 1), GB);
    ck_assert_uint_eq(vp_network_flow_done_ns(network, 2), GB);
}
END_TEST

START_TEST(queues_keep_order_and_width)
{
    uint32_t link = link_of(1 * GB);
    uint32_t queue;
    vp_flow_t flow = {0, 1, &link, 1 * GB, 0, 0, VP_NO_GATE, 0, 0};
    uint32_t i;

    ck_assert_int_eq(vp_network_add_queue(network, 2, &queue, &error), VP_OK);
    flow.queue = queue;
    for (i = 0; i < 4; i++) {
        flow.n_bytes = (i + 1) * GB;
        ck_assert_int_eq(vp_network_add_flow(network, &flow, NULL, &error), VP_OK);
    }
    /* 1 and 2 GB share: 1 ends at 2 s; 2 has 1 left, ends at 4; 3 then shares with 4. */
    ck_assert_uint_eq(run(), 10 * GB);
    ck_assert_uint_eq(vp_network_flow_start_ns(network, 1), 0);
    ck_assert_uint_eq(vp_network_flow_done_ns(network, 0), 2 * GB);
    ck_assert_uint_eq(vp_network_flow_start_ns(network, 2), 2 * GB);
    ck_assert_uint_eq(vp_network_flow_done_ns(network, 1), 4 * GB);
    ck_assert_uint_eq(vp_network_flow_start_ns(network, 3), 4 * GB);
}
END_TEST

START_TEST(gates_wait_for_all_and_overheads_and_latencies_count)
{
    vp_link_t link = {1 * GB, 7, 0, NULL};
    uint32_t index;
    uint32_t gate;
    vp_flow_t flow = {0, 1, &index, 1000, 0, 5, VP_NO_GATE, VP_NO_QUEUE, 0};
    uint32_t i;

    ck_assert_int_eq(vp_network_add_link(network, &link, &index, &error), VP_OK);
    ck_assert_int_eq(vp_network_add_gate(network, &gate, &error), VP_OK);
    for (i = 0; i < 2; i++) {
        ck_assert_int_eq(vp_network_add_flow(network, &flow, NULL, &error), VP_OK);
        ck_assert_int_eq(vp_network_wait(network, gate, i, &error), VP_OK);
    }
    flow.gate = gate;
    ck_assert_int_eq(vp_network_add_flow(network, &flow, NULL, &error), VP_OK);
    flow.n_bytes = 0; /* a pure delay: no link, no latency */
    ck_assert_int_eq(vp_network_add_flow(network, &flow, NULL, &error), VP_OK);
    ck_assert_uint_eq(run(), 5 + 2000 + 7 + 5 + 1000 + 7);
    ck_assert_uint_eq(vp_network_flow_start_ns(network, 2), 2012);
    ck_assert_uint_eq(vp_network_flow_done_ns(network, 3), 2017);
}
END_TEST

START_TEST(a_queue_waits_at_the_gate_of_its_first)
{
    uint32_t link = link_of(1 * GB);
    uint32_t queue;
    uint32_t gate;
    uint32_t blocker = flow_over(1, 1 * GB, 1, &link);
    vp_flow_t flow = {0, 0, NULL, 0, 0, 10, VP_NO_GATE, 0, 0};

    ck_assert_int_eq(vp_network_add_queue(network, 1, &queue, &error), VP_OK);
    ck_assert_int_eq(vp_network_add_gate(network, &gate, &error), VP_OK);
    ck_assert_int_eq(vp_network_wait(network, gate, blocker, &error), VP_OK);
    flow.queue = queue;
    flow.gate = gate;
    ck_assert_int_eq(vp_network_add_flow(network, &flow, NULL, &error), VP_OK);
    flow.gate = VP_NO_GATE;
    ck_assert_int_eq(vp_network_add_flow(network, &flow, NULL, &error), VP_OK);
    ck_assert_uint_eq(run(), GB + 20);
    ck_assert_uint_eq(vp_network_flow_start_ns(network, 1), GB);
}
END_TEST

START_TEST(cycles_are_reported)
{
    uint32_t gate;
    vp_flow_t flow = {0, 0, NULL, 0, 0, 1, 0, VP_NO_QUEUE, 0};
    vp_network_result_t result;

    ck_assert_int_eq(vp_network_add_gate(network, &gate, &error), VP_OK);
    ck_assert_int_eq(vp_network_add_flow(network, &flow, NULL, &error), VP_OK);
    ck_assert_int_eq(vp_network_wait(network, gate, 0, &error), VP_OK);
    ck_assert_int_eq(vp_network_run(network, &result, &error), VP_ERR_INTERNAL);
    ck_assert_ptr_nonnull(strstr(error.text, "never started"));
}
END_TEST

START_TEST(impossible_links_and_flows_are_refused)
{
    vp_link_t link = {0, 0, 0, NULL};
    vp_flow_t flow = {0, 0, NULL, 1, 0, 0, VP_NO_GATE, VP_NO_QUEUE, 0};

    ck_assert_int_eq(vp_network_add_link(network, &link, NULL, &error), VP_ERR_LIMIT);
    link.bytes_per_s = VP_NETWORK_MAX_BYTES_PER_S + 1;
    ck_assert_int_eq(vp_network_add_link(network, &link, NULL, &error), VP_ERR_LIMIT);
    ck_assert_int_eq(vp_network_add_flow(network, &flow, NULL, &error), VP_ERR_INTERNAL);
}
END_TEST

enum { RANKS = 80, PER_NIC = 4 };

/* Ports of 64, NICs of 50 GB/s for four ranks each, all pairs at once, skewed sizes. */
static void add_dense(uint64_t seed, uint32_t n_ranks, uint64_t *bytes_in)
{
    uint32_t i;
    uint32_t j;

    for (i = 0; i < 2 * n_ranks; i++) {
        (void)link_of(64 * GB);
    }
    for (i = 0; i < 2 * n_ranks / PER_NIC; i++) {
        (void)link_of(50 * GB);
    }
    for (i = 0; i < n_ranks; i++) {
        for (j = 0; j < n_ranks; j++) {
            uint32_t links[4] = {i, n_ranks + j, 2 * n_ranks + i / PER_NIC,
                                 2 * n_ranks + n_ranks / PER_NIC + j / PER_NIC};
            uint64_t n_bytes = 1 + vp_random_below(&seed, 1 << 20);

            if (i != j) {
                (void)flow_over(0, n_bytes, 4, links);
                bytes_in[j] += n_bytes;
            }
        }
    }
}

/* More flows than are shared exactly: late by a little, never early, no byte lost. */
START_TEST(batching_is_late_by_little)
{
    uint64_t bytes_in[RANKS] = {0};
    uint64_t exact_ns[RANKS * (RANKS - 1)];
    vp_network_result_t exact;
    vp_network_result_t batched;
    uint32_t i;

    vp_network_set_exact(network, true);
    add_dense(1, RANKS, bytes_in);
    ck_assert_int_eq(vp_network_run(network, &exact, &error), VP_OK);
    ck_assert_uint_eq(exact.max_idle_ns, 0);
    for (i = 0; i < RANKS; i++) {
        ck_assert_uint_eq(vp_network_link_bytes(network, RANKS + i), bytes_in[i]);
        bytes_in[i] = 0;
    }
    for (i = 0; i < RANKS * (RANKS - 1); i++) {
        exact_ns[i] = vp_network_flow_done_ns(network, i);
    }
    teardown();
    setup();
    add_dense(1, RANKS, bytes_in);
    ck_assert_int_eq(vp_network_run(network, &batched, &error), VP_OK);
    ck_assert_uint_gt(batched.max_idle_ns, 0);
    ck_assert_uint_lt(batched.n_reshares, exact.n_reshares);
    ck_assert_uint_ge(batched.time_ns, exact.time_ns);
    ck_assert_uint_le(batched.time_ns, exact.time_ns + exact.time_ns / 100);
    for (i = 0; i < RANKS * (RANKS - 1); i++) {
        uint64_t done_ns = vp_network_flow_done_ns(network, i);

        ck_assert_uint_le(done_ns, exact_ns[i] + exact.time_ns / 100);
    }
}
END_TEST

/* The same network twice: every end at the same nanosecond. */
START_TEST(runs_repeat)
{
    enum { SMALL = 16 };
    uint64_t bytes_in[SMALL] = {0};
    uint64_t first_ns[SMALL * (SMALL - 1)];
    uint32_t i;

    add_dense(7, SMALL, bytes_in);
    (void)run();
    for (i = 0; i < SMALL * (SMALL - 1); i++) {
        first_ns[i] = vp_network_flow_done_ns(network, i);
    }
    teardown();
    setup();
    add_dense(7, SMALL, bytes_in);
    (void)run();
    for (i = 0; i < SMALL * (SMALL - 1); i++) {
        ck_assert_uint_eq(vp_network_flow_done_ns(network, i), first_ns[i]);
    }
}
END_TEST

/*
 * 40 bytes per ns. The first flow would end in ns 10; two more that join in ns 9
 * delay it to 11, but one of them ends in ns 10 and leaves it so fast that its end
 * comes back to 10, whose event was thrown away by then.
 */
START_TEST(an_end_may_come_back)
{
    uint32_t link = link_of(40 * GB);
    vp_flow_t late = {1, 1, &link, 10, 0, 9, VP_NO_GATE, VP_NO_QUEUE, 0};

    (void)flow_over(0, 382, 1, &link);
    ck_assert_int_eq(vp_network_add_flow(network, &late, NULL, &error), VP_OK);
    late.n_bytes = 400;
    ck_assert_int_eq(vp_network_add_flow(network, &late, NULL, &error), VP_OK);
    ck_assert_uint_eq(run(), 20);
    ck_assert_uint_eq(vp_network_flow_done_ns(network, 0), 10);
    ck_assert_uint_eq(vp_network_flow_done_ns(network, 1), 10);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("network");
    TCase *sharing = tcase_create("sharing");
    TCase *conditions = tcase_create("conditions");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    tcase_add_checked_fixture(sharing, setup, teardown);
    tcase_add_loop_test(sharing, equal_flows_share_one_link, 0, 5);
    tcase_add_test(sharing, unequal_flows_share_one_link);
    tcase_add_test(sharing, disjoint_flows_do_not_meet);
    tcase_add_test(sharing, two_hops_are_max_min_fair);
    tcase_add_test(sharing, freed_shares_spread_over_hops);
    tcase_add_test(sharing, own_limit_leaves_the_rest);
    tcase_add_test(sharing, a_link_may_appear_twice);
    tcase_add_test(sharing, contention_counts_sources);
    tcase_add_test(sharing, batching_is_late_by_little);
    tcase_add_test(sharing, runs_repeat);
    tcase_add_test(sharing, an_end_may_come_back);
    tcase_set_timeout(sharing, 60);
    tcase_add_checked_fixture(conditions, setup, teardown);
    tcase_add_test(conditions, queues_keep_order_and_width);
    tcase_add_test(conditions, gates_wait_for_all_and_overheads_and_latencies_count);
    tcase_add_test(conditions, a_queue_waits_at_the_gate_of_its_first);
    tcase_add_test(conditions, cycles_are_reported);
    tcase_add_test(conditions, impossible_links_and_flows_are_refused);
    suite_add_tcase(suite, sharing);
    suite_add_tcase(suite, conditions);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
