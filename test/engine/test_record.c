/*
 * Records on the wire: what is written is read back, and the layout is that of
 * docs/engine.md.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <check.h>
#include <string.h>

#include "coll_variopath/record.h"

enum { N_RANKS = 3, GUARD = 0xa5 };

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
                              .carry_devices = 14};
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

START_TEST(headers_keep_their_place)
{
    uint64_t send[N_RANKS] = {1, UINT64_MAX, 3}, receive[N_RANKS] = {4, 5, 0x60};
    uint64_t send_back[N_RANKS], receive_back[N_RANKS];
    const vp_header_t header = {
        .obstacles = 0x21, .keys_bytes = 0x1234, .send_bytes = send, .receive_bytes = receive};
    vp_header_t back = {.send_bytes = send_back, .receive_bytes = receive_back};
    uint8_t wire[VP_HEADER_BYTES + 16 * N_RANKS + 1];

    ck_assert_uint_eq(vp_header_bytes(N_RANKS), sizeof(wire) - 1);
    memset(wire, GUARD, sizeof(wire));
    vp_header_encode(&header, N_RANKS, wire);
    ck_assert_uint_eq(wire[sizeof(wire) - 1], GUARD);
    ck_assert_uint_eq(wire[4], 0x34);
    ck_assert_uint_eq(wire[5], 0x12);
    ck_assert_uint_eq(wire[VP_HEADER_BYTES], 1);
    ck_assert_uint_eq(wire[sizeof(wire) - 9], 0x60);
    vp_header_decode(wire, N_RANKS, &back);
    ck_assert_uint_eq(back.obstacles, header.obstacles);
    ck_assert_uint_eq(back.keys_bytes, header.keys_bytes);
    ck_assert_mem_eq(send_back, send, sizeof(send));
    ck_assert_mem_eq(receive_back, receive, sizeof(receive));
}
END_TEST

START_TEST(pairs_and_reports_keep_their_place)
{
    const vp_pair_t pair = {.receive_address = UINT64_C(0xfedcba9876543210),
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
    ck_assert_uint_eq(wire[8], 0x88);
    vp_pair_decode(wire, &pair_back);
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
        .trouble = {.cause = 5, .status = -6, .lane = 7, .rank = 8, .peer = UINT32_MAX}};
    uint8_t wire[VP_SIGNAL_BYTES + 1];
    vp_signal_t back;

    memset(wire, GUARD, sizeof(wire));
    vp_signal_encode(&signal, wire);
    ck_assert_uint_eq(wire[VP_SIGNAL_BYTES], GUARD);
    ck_assert_uint_eq(wire[4], VP_SIGNAL_MEET);
    ck_assert_uint_eq(wire[24], 7);
    ck_assert_uint_eq(wire[VP_SIGNAL_BYTES - 1], 0);
    vp_signal_decode(wire, &back);
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
    tcase_add_test(tcase, headers_keep_their_place);
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
