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
    const meter_shape_t shape = {N_NODES, N_PER_NODE, (meter_counts_t)_i};
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
    const meter_shape_t shape = {N_NODES, N_PER_NODE, METER_WIDEST};
    meter_call_t calls[METER_CALLS];
    const meter_call_t *call = &calls[METER_SAME_COUNTS];

    meter_run(&shape, calls);
    ck_assert_uint_eq(call->n_entries, 1);
    ck_assert_uint_le(call->total[0].record_bytes, SAME_BYTES_PER_RANK);
    ck_assert_uint_le(call->most[0].sent_bytes, (uint64_t)SAME_BYTES_PER_RANK * N_RANKS);
    ck_assert_uint_eq(call->most[0].n_steps, STEPS);
}
END_TEST

static Suite *wire_suite(void)
{
    Suite *suite = suite_create("engine wire");
    TCase *tcase = tcase_create("bytes");

    tcase_set_timeout(tcase, 4 * RANKS_SECONDS);
    tcase_add_loop_test(tcase, counts_take_four_bytes_a_pair, 0, METER_N_COUNTS);
    tcase_add_test(tcase, equal_counts_take_sixteen_bytes_a_rank);
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
