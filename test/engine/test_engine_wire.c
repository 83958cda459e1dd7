/*
 * Bytes and steps of the exchange before a call: the limits of docs/engine.md, held
 * by the engine's own code on a simulated network.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <stdlib.h>

#include "coll_variopath/record.h"
#include "meter.h"
#include "ranks.h"

enum {
    N_NODES = 6,
    N_PER_NODE = 8,
    N_RANKS = N_NODES * N_PER_NODE,
    STEPS = 6, /* log2, rounded up */
    BYTES_PER_PAIR = 4,
    BYTES_PER_RANK = 64,
    SAME_BYTES_PER_RANK = 16
};

/* Whatever the counts are, if an MPI call can have them. */
START_TEST(counts_take_four_bytes_a_pair)
{
    const meter_shape_t shape = {
        .n_nodes = N_NODES, .n_per_node = N_PER_NODE, .counts = (meter_counts_t)_i};
    const uint64_t limit =
        BYTES_PER_PAIR * N_RANKS * (N_RANKS - 1) + (uint64_t)BYTES_PER_RANK * N_RANKS;
    meter_call_t calls[METER_CALLS];
    const meter_call_t *call = &calls[METER_NEW_COUNTS];

    meter_run(&shape, calls);
    /* Openings, rows; then addresses, and keys, which no count needs. */
    ck_assert_uint_ge(call->n_entries, 3);
    ck_assert_str_eq(call->total[0].what, "allgather");
    ck_assert_str_eq(call->total[1].what, "allgather");
    ck_assert_str_eq(call->total[2].what, "alltoall");
    ck_assert_uint_eq(call->total[2].record_bytes, VP_PAIR_BYTES);
    /* Every record once. */
    ck_assert_uint_le((call->total[0].record_bytes + call->total[1].record_bytes) * N_RANKS, limit);
    /* And what goes out of a rank, others' records that it hands on included. */
    ck_assert_uint_le(call->most[0].sent_bytes + call->most[1].sent_bytes, limit);
    ck_assert_uint_eq(call->most[0].n_steps, STEPS);
    ck_assert_uint_eq(call->most[1].n_steps, STEPS);
}
END_TEST

START_TEST(equal_counts_take_sixteen_bytes_a_rank)
{
    const meter_shape_t shape = {.n_nodes = N_NODES, .n_per_node = N_PER_NODE};
    meter_call_t calls[METER_CALLS];
    const meter_call_t *call = &calls[METER_SAME_COUNTS];

    meter_run(&shape, calls);
    ck_assert_uint_eq(call->n_entries, 1);
    ck_assert_uint_le(call->total[0].record_bytes, SAME_BYTES_PER_RANK);
    ck_assert_uint_le(call->most[0].sent_bytes, (uint64_t)SAME_BYTES_PER_RANK * N_RANKS);
    ck_assert_uint_eq(call->most[0].n_steps, STEPS);
}
END_TEST

/* The same counts with and without leaders: each node hears of the others once. */
START_TEST(leaders_bring_counts_into_a_node_once)
{
    meter_shape_t shape = {.n_nodes = N_NODES, .n_per_node = N_PER_NODE, .shuffled = _i != 0};
    const uint64_t n_others = N_RANKS - N_PER_NODE;
    meter_call_t calls[METER_CALLS], plain[METER_CALLS];
    const wire_entry_t *rows = &calls[METER_NEW_COUNTS].total[1];
    const wire_entry_t *plain_rows = &plain[METER_NEW_COUNTS].total[1];

    meter_run(&shape, plain);
    shape.leaders = true;
    meter_run(&shape, calls);
    ck_assert_uint_eq(calls[METER_NEW_COUNTS].n_entries, plain[METER_NEW_COUNTS].n_entries);
    ck_assert_str_eq(rows->what, "swaps");
    /* A byte per record says that it is there. */
    ck_assert_uint_eq(rows->between_bytes, N_NODES * n_others * (plain_rows->record_bytes + 1));
    ck_assert_uint_ge(plain_rows->between_bytes, N_RANKS * n_others * plain_rows->record_bytes / 2);
    /* As many steps between nodes as there are for nodes, and in the nodes up and down. */
    ck_assert_uint_eq(calls[METER_NEW_COUNTS].most[1].n_steps, 3 + 3 + 3);
    ck_assert_uint_eq(calls[METER_SAME_COUNTS].n_entries, 1);
}
END_TEST

/* A rank's first swap, either way: the call is passed on by all, carried without from then on. */
START_TEST(a_lost_swap_passes_on_on_all_ranks)
{
    meter_shape_t shape = {.n_nodes = 3, .n_per_node = 4, .leaders = true, .shuffled = true};
    const unsigned n_ranks = shape.n_nodes * shape.n_per_node;
    meter_call_t calls[METER_CALLS];
    unsigned way;

    shape.loser = (uint32_t)_i % n_ranks;
    meter_run(&shape, calls);
    ck_assert_str_eq(calls[METER_NEW_COUNTS].total[1].what, "swaps");
    for (way = 0; way < 2; way++) {
        shape.lose_gotten = way == 0 ? 1 : 0;
        shape.lose_sent = way == 1 ? 1 : 0;
        meter_run(&shape, calls);
        ck_assert_str_eq(calls[METER_NEW_COUNTS].total[1].what, "allgather");
    }
}
END_TEST

START_TEST(one_rank_that_will_not_is_enough)
{
    const meter_shape_t shape = {
        .n_nodes = 2, .n_per_node = 2, .leaders = true, .unwilling = true, .loser = 3};
    meter_call_t calls[METER_CALLS];

    meter_run(&shape, calls);
    ck_assert_str_eq(calls[METER_NEW_COUNTS].total[1].what, "allgather");
}
END_TEST

static Suite *wire_suite(void)
{
    Suite *suite = suite_create("engine wire");
    TCase *tcase = tcase_create("bytes");

    tcase_set_timeout(tcase, 4 * RANKS_SECONDS);
    tcase_add_loop_test(tcase, counts_take_four_bytes_a_pair, 0, METER_N_COUNTS);
    tcase_add_test(tcase, equal_counts_take_sixteen_bytes_a_rank);
    tcase_add_loop_test(tcase, leaders_bring_counts_into_a_node_once, 0, 2);
    tcase_add_loop_test(tcase, a_lost_swap_passes_on_on_all_ranks, 0, 12);
    tcase_add_test(tcase, one_rank_that_will_not_is_enough);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(wire_suite());
    int n_failed;

    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
