/*
 * Records on the wire: what is written is read back, and the layout is that of
 * docs/engine.md.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "coll_variopath/record.h"

enum { GUARD = 0xa5 };

START_TEST(facts_keep_their_place)
{
    const vp_facts_t facts = {.version = 1,
                              .able = 2,
                              .fit = 10,
                              .carry_host = 11,
                              .catalog_ranks = 12,
                              .fingerprint = UINT64_C(0x0807060504030201),
                              .order_hash = 4,
                              .scheduler_hash = 5,
                              .alpha_ns = 6,
                              .sync = 7,
                              .min_gain_percent = 8,
                              .address_bytes = 9,
                              .devices = 0x0d0c0b0a,
                              .carry_devices = 14,
                              .min_bytes = UINT64_C(0x1716151413121110),
                              .cache_plans = 24};
    uint8_t wire[VP_FACTS_BYTES + 1];
    vp_facts_t back;
    unsigned i;

    memset(wire, GUARD, sizeof(wire));
    vp_facts_encode(&facts, wire);
    ck_assert_uint_eq(wire[VP_FACTS_BYTES], GUARD);
    ck_assert_uint_eq(wire[0], 1);
    ck_assert_uint_eq(wire[4], 2);
    for (i = 0; i < 8; i++) {
        ck_assert_uint_eq(wire[20 + i], i + 1);
    }
    ck_assert_uint_eq(wire[VP_FACTS_BYTES - 1], 0);
    vp_facts_decode(wire, &back);
    ck_assert_uint_eq(back.version, facts.version);
    ck_assert_uint_eq(back.able, facts.able);
    ck_assert_uint_eq(back.fit, facts.fit);
    ck_assert_uint_eq(back.carry_host, facts.carry_host);
    ck_assert_uint_eq(back.catalog_ranks, facts.catalog_ranks);
    ck_assert_uint_eq(back.fingerprint, facts.fingerprint);
    ck_assert_uint_eq(back.order_hash, facts.order_hash);
    ck_assert_uint_eq(back.scheduler_hash, facts.scheduler_hash);
    ck_assert_uint_eq(back.alpha_ns, facts.alpha_ns);
    ck_assert_uint_eq(back.sync, facts.sync);
    ck_assert_uint_eq(back.min_gain_percent, facts.min_gain_percent);
    ck_assert_uint_eq(back.address_bytes, facts.address_bytes);
    ck_assert_uint_eq(back.devices, facts.devices);
    ck_assert_uint_eq(back.carry_devices, facts.carry_devices);
    ck_assert_uint_eq(back.min_bytes, facts.min_bytes);
    ck_assert_uint_eq(back.cache_plans, facts.cache_plans);
}
END_TEST

START_TEST(notices_keep_their_value)
{
    uint8_t wire[VP_NOTICE_BYTES + 1];

    memset(wire, GUARD, sizeof(wire));
    vp_notice_encode(0xfffffffe, wire);
    ck_assert_uint_eq(wire[0], 0xfe);
    ck_assert_uint_eq(wire[VP_NOTICE_BYTES - 1], 0);
    ck_assert_uint_eq(wire[VP_NOTICE_BYTES], GUARD);
    ck_assert_uint_eq(vp_notice_decode(wire), 0xfffffffe);
}
END_TEST

START_TEST(openings_keep_their_place)
{
    const vp_opening_t opening = {.obstacles = 0x80000021,
                                  .matches = 0xa0000001,
                                  .keys_bytes = 0x1234,
                                  .row_bytes = 0xfedc,
                                  .sent_bytes = 0xfffffffe};
    uint8_t wire[VP_OPENING_BYTES + 1];
    vp_opening_t back;

    memset(wire, GUARD, sizeof(wire));
    vp_opening_encode(&opening, wire);
    ck_assert_uint_eq(wire[VP_OPENING_BYTES], GUARD);
    ck_assert_uint_eq(wire[0], 0x21);
    ck_assert_uint_eq(wire[8], 0x34);
    ck_assert_uint_eq(wire[10], 0xdc);
    vp_opening_decode(wire, &back);
    ck_assert_uint_eq(back.obstacles, opening.obstacles);
    ck_assert_uint_eq(back.matches, opening.matches);
    ck_assert_uint_eq(back.keys_bytes, opening.keys_bytes);
    ck_assert_uint_eq(back.row_bytes, opening.row_bytes);
    ck_assert_uint_eq(back.sent_bytes, opening.sent_bytes);
}
END_TEST

static size_t check_row(const uint64_t *row, uint32_t n_ranks)
{
    enum { MOST = 256 };
    uint8_t wire[VP_ROW_HEAD_BYTES + 8 * MOST + 1];
    uint64_t back[MOST];
    size_t n_bytes = vp_row_bytes(row, n_ranks);

    ck_assert_uint_le(n_ranks, MOST);
    ck_assert_uint_le(n_bytes, VP_ROW_HEAD_BYTES + 8 * (size_t)n_ranks);
    memset(wire, GUARD, sizeof(wire));
    vp_row_encode(row, n_ranks, wire);
    ck_assert_uint_eq(wire[n_bytes], GUARD);
    ck_assert(vp_row_decode(wire, n_bytes, n_ranks, back));
    ck_assert_mem_eq(back, row, n_ranks * sizeof(*row));
    ck_assert(!vp_row_decode(wire, n_bytes - 1, n_ranks, back));
    ck_assert(!vp_row_decode(wire, n_bytes + 1, n_ranks, back));
    return n_bytes;
}

START_TEST(rows_are_exact_and_short)
{
    const uint64_t empty[3] = {0}, equal[3] = {0, UINT64_C(1) << 40, UINT64_C(1) << 40};
    const uint64_t odd[3] = {UINT64_MAX, UINT64_MAX - 1, 1};
    const uint64_t floats[3] = {4 * UINT64_C(0x7fffffff), 4, 0};
    uint64_t many[256];
    uint32_t i;

    ck_assert_uint_eq(check_row(empty, 3), VP_ROW_HEAD_BYTES);
    ck_assert_uint_eq(check_row(equal, 3), VP_ROW_HEAD_BYTES + 3);
    ck_assert_uint_eq(check_row(odd, 3), VP_ROW_HEAD_BYTES + 24);
    ck_assert_uint_eq(check_row(floats, 3), VP_ROW_HEAD_BYTES + 12);
    for (i = 0; i < 256; i++) {
        many[i] = 8 * (UINT64_C(0x7fffffff) - 3 * i);
    }
    /* All counts that MPI knows: at most 4 bytes for a pair and 64 for a rank. */
    ck_assert_uint_le(check_row(many, 256) + VP_OPENING_BYTES, 4 * 256 + 64);
    (void)printf("256 ranks: %zu bytes of counts and opening per rank, in 2 steps; %d with counts "
                 "that came before, in 1\n",
                 check_row(many, 256) + VP_OPENING_BYTES, VP_OPENING_BYTES);
}
END_TEST

START_TEST(what_is_no_row_is_refused)
{
    uint8_t wire[VP_ROW_HEAD_BYTES + 16] = {2, 0, 0, 0, 0, 0, 0, 0, 9};
    uint64_t row[2];

    ck_assert(!vp_row_decode(wire, sizeof(wire), 2, row));
    wire[8] = 8;
    wire[VP_ROW_HEAD_BYTES + 15] = 0x40;
    ck_assert(vp_row_decode(wire, sizeof(wire), 2, row));
    ck_assert_uint_eq(row[1], UINT64_C(1) << 63);
    wire[VP_ROW_HEAD_BYTES + 15] = 0x80;
    ck_assert(!vp_row_decode(wire, sizeof(wire), 2, row));
    ck_assert(!vp_row_decode(wire, VP_ROW_HEAD_BYTES - 1, 2, row));
}
END_TEST

START_TEST(pairs_and_reports_keep_their_place)
{
    const vp_pair_t pair = {.receive_address = UINT64_C(0xfedcba9876543210),
                            .room = UINT64_C(0x1020304050607080),
                            .plan_hash = UINT64_C(0x1122334455667788),
                            .status = -8};
    const vp_report_t report = {.status = -7, .peer = 2, .source_class = 3, .destination_class = 4};
    uint8_t wire[VP_PAIR_BYTES + 1];
    vp_pair_t pair_back;
    vp_report_t report_back;

    memset(wire, GUARD, sizeof(wire));
    vp_pair_encode(&pair, wire);
    ck_assert_uint_eq(wire[VP_PAIR_BYTES], GUARD);
    ck_assert_uint_eq(wire[0], 0x10);
    ck_assert_uint_eq(wire[8], 0x80);
    ck_assert_uint_eq(wire[16], 0x88);
    vp_pair_decode(wire, &pair_back);
    ck_assert_uint_eq(pair_back.room, pair.room);
    ck_assert_uint_eq(pair_back.plan_hash, pair.plan_hash);
    ck_assert_uint_eq(pair_back.receive_address, pair.receive_address);
    ck_assert_int_eq(pair_back.status, pair.status);
    memset(wire, GUARD, sizeof(wire));
    vp_report_encode(&report, wire);
    ck_assert_uint_eq(wire[VP_REPORT_BYTES], GUARD);
    ck_assert_uint_eq(wire[VP_REPORT_BYTES - 4], 4);
    vp_report_decode(wire, &report_back);
    ck_assert_int_eq(report_back.status, report.status);
    ck_assert_uint_eq(report_back.peer, report.peer);
    ck_assert_uint_eq(report_back.source_class, report.source_class);
    ck_assert_uint_eq(report_back.destination_class, report.destination_class);
}
END_TEST

START_TEST(signals_keep_their_place)
{
    const vp_signal_t signal = {
        .call = 1,
        .kind = VP_SIGNAL_MEET,
        .number = 3,
        .round = 4,
        .is_unsure = true,
        .trouble = {.cause = 5, .status = -6, .lane = 7, .rank = 8, .peer = UINT32_MAX}};
    uint8_t wire[VP_SIGNAL_BYTES + 1];
    vp_signal_t back;

    memset(wire, GUARD, sizeof(wire));
    vp_signal_encode(&signal, wire);
    ck_assert_uint_eq(wire[VP_SIGNAL_BYTES], GUARD);
    ck_assert_uint_eq(wire[4], VP_SIGNAL_MEET);
    ck_assert_uint_eq(wire[24], 7);
    ck_assert_uint_eq(wire[VP_SIGNAL_BYTES - 4], 1);
    ck_assert_uint_eq(wire[VP_SIGNAL_BYTES - 1], 0);
    vp_signal_decode(wire, &back);
    ck_assert(back.is_unsure);
    ck_assert_uint_eq(back.call, signal.call);
    ck_assert_uint_eq(back.kind, signal.kind);
    ck_assert_uint_eq(back.number, signal.number);
    ck_assert_uint_eq(back.round, signal.round);
    ck_assert_uint_eq(back.trouble.cause, signal.trouble.cause);
    ck_assert_int_eq(back.trouble.status, signal.trouble.status);
    ck_assert_uint_eq(back.trouble.lane, signal.trouble.lane);
    ck_assert_uint_eq(back.trouble.rank, signal.trouble.rank);
    ck_assert_uint_eq(back.trouble.peer, signal.trouble.peer);
}
END_TEST

static Suite *record_suite(void)
{
    Suite *suite = suite_create("records");
    TCase *tcase = tcase_create("wire");

    tcase_add_test(tcase, facts_keep_their_place);
    tcase_add_test(tcase, notices_keep_their_value);
    tcase_add_test(tcase, openings_keep_their_place);
    tcase_add_test(tcase, rows_are_exact_and_short);
    tcase_add_test(tcase, what_is_no_row_is_refused);
    tcase_add_test(tcase, pairs_and_reports_keep_their_place);
    tcase_add_test(tcase, signals_keep_their_place);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(record_suite());
    int n_failed;

    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? 0 : 1;
}
