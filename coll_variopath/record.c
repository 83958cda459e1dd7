/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll_variopath/record.h"

#include <string.h>

/* Sizes are fixed and buffers are made for them, so nothing here can run over or out of memory. */
static uint8_t *put_integer(uint8_t *wire, uint64_t value, unsigned n_bytes)
{
    unsigned i;

    for (i = 0; i < n_bytes; i++) {
        wire[i] = (uint8_t)(value >> (8 * i));
    }
    return wire + n_bytes;
}

static uint64_t get_integer(const uint8_t **wire_p, unsigned n_bytes)
{
    uint64_t value = 0;
    unsigned i;

    for (i = 0; i < n_bytes; i++) {
        value |= (uint64_t)(*wire_p)[i] << (8 * i);
    }
    *wire_p += n_bytes;
    return value;
}

static uint32_t get_u32(const uint8_t **wire_p)
{
    return (uint32_t)get_integer(wire_p, 4);
}

static uint64_t get_u64(const uint8_t **wire_p)
{
    return get_integer(wire_p, 8);
}

void vp_facts_encode(const vp_facts_t *facts, uint8_t *wire)
{
    memset(wire, 0, VP_FACTS_BYTES);
    wire = put_integer(wire, facts->version, 4);
    wire = put_integer(wire, facts->able, 4);
    wire = put_integer(wire, facts->fit, 4);
    wire = put_integer(wire, facts->carry_host, 4);
    wire = put_integer(wire, facts->catalog_ranks, 4);
    wire = put_integer(wire, facts->fingerprint, 8);
    wire = put_integer(wire, facts->order_hash, 8);
    wire = put_integer(wire, facts->scheduler_hash, 8);
    wire = put_integer(wire, facts->alpha_ns, 8);
    wire = put_integer(wire, facts->sync, 4);
    wire = put_integer(wire, facts->min_gain_percent, 4);
    wire = put_integer(wire, facts->address_bytes, 8);
    wire = put_integer(wire, facts->devices, 4);
    wire = put_integer(wire, facts->carry_devices, 4);
    wire = put_integer(wire, facts->min_bytes, 8);
    wire = put_integer(wire, facts->cache_plans, 4);
    (void)put_integer(wire, facts->leaders, 4);
}

void vp_facts_decode(const uint8_t *wire, vp_facts_t *facts)
{
    facts->version = get_u32(&wire);
    facts->able = get_u32(&wire);
    facts->fit = get_u32(&wire);
    facts->carry_host = get_u32(&wire);
    facts->catalog_ranks = get_u32(&wire);
    facts->fingerprint = get_u64(&wire);
    facts->order_hash = get_u64(&wire);
    facts->scheduler_hash = get_u64(&wire);
    facts->alpha_ns = get_u64(&wire);
    facts->sync = get_u32(&wire);
    facts->min_gain_percent = get_u32(&wire);
    facts->address_bytes = get_u64(&wire);
    facts->devices = get_u32(&wire);
    facts->carry_devices = get_u32(&wire);
    facts->min_bytes = get_u64(&wire);
    facts->cache_plans = get_u32(&wire);
    facts->leaders = get_u32(&wire);
}

void vp_opening_encode(const vp_opening_t *opening, uint8_t *wire)
{
    wire = put_integer(wire, opening->obstacles, 4);
    wire = put_integer(wire, opening->matches, 4);
    wire = put_integer(wire, opening->keys_bytes, 2);
    wire = put_integer(wire, opening->row_bytes, 2);
    (void)put_integer(wire, opening->sent_bytes, 4);
}

void vp_opening_decode(const uint8_t *wire, vp_opening_t *opening)
{
    opening->obstacles = get_u32(&wire);
    opening->matches = get_u32(&wire);
    opening->keys_bytes = (uint32_t)get_integer(&wire, 2);
    opening->row_bytes = (uint32_t)get_integer(&wire, 2);
    opening->sent_bytes = get_u32(&wire);
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Unit of a row, 0: it is empty; and the bytes that its largest multiple needs. */
static uint64_t row_unit(const uint64_t *row, uint32_t n_ranks, unsigned *width_p)
{
    uint64_t unit = 0, largest = 0;
    unsigned width = 0;
    uint32_t i;

    for (i = 0; i < n_ranks; i++) {
        unit = greatest_common_divisor(unit, row[i]);
        largest = row[i] > largest ? row[i] : largest;
    }
    for (largest = unit == 0 ? 0 : largest / unit; largest != 0; largest >>= 8) {
        width++;
    }
    *width_p = width;
    return unit;
}

size_t vp_row_bytes(const uint64_t *row, uint32_t n_ranks)
{
    unsigned width;

    (void)row_unit(row, n_ranks, &width);
    return VP_ROW_HEAD_BYTES + (size_t)width * n_ranks;
}

void vp_row_encode(const uint64_t *row, uint32_t n_ranks, uint8_t *wire)
{
    unsigned width;
    uint64_t unit = row_unit(row, n_ranks, &width);
    uint32_t i;

    wire = put_integer(wire, unit, 8);
    wire = put_integer(wire, width, 1);
    for (i = 0; i < n_ranks; i++) {
        wire = put_integer(wire, unit == 0 ? 0 : row[i] / unit, width);
    }
}

bool vp_row_decode(const uint8_t *wire, size_t n_bytes, uint32_t n_ranks, uint64_t *row)
{
    uint64_t unit, width;
    uint32_t i;

    if (n_bytes < VP_ROW_HEAD_BYTES) {
        return false;
    }
    unit = get_u64(&wire);
    width = get_integer(&wire, 1);
    if (width > 8 || n_bytes != VP_ROW_HEAD_BYTES + width * n_ranks) {
        return false;
    }
    for (i = 0; i < n_ranks; i++) {
        if (__builtin_mul_overflow(get_integer(&wire, (unsigned)width), unit, &row[i])) {
            return false;
        }
    }
    return true;
}

void vp_notice_encode(uint32_t value, uint8_t *wire)
{
    wire = put_integer(wire, value, 4);
    (void)put_integer(wire, 0, 4);
}

uint32_t vp_notice_decode(const uint8_t *wire)
{
    return get_u32(&wire);
}

void vp_pair_encode(const vp_pair_t *pair, uint8_t *wire)
{
    wire = put_integer(wire, pair->receive_address, 8);
    wire = put_integer(wire, pair->room, 8);
    wire = put_integer(wire, pair->plan_hash, 8);
    wire = put_integer(wire, (uint32_t)pair->status, 4);
    (void)put_integer(wire, 0, 4);
}

void vp_pair_decode(const uint8_t *wire, vp_pair_t *pair)
{
    pair->receive_address = get_u64(&wire);
    pair->room = get_u64(&wire);
    pair->plan_hash = get_u64(&wire);
    pair->status = (int32_t)get_u32(&wire);
}

void vp_report_encode(const vp_report_t *report, uint8_t *wire)
{
    wire = put_integer(wire, (uint32_t)report->status, 4);
    wire = put_integer(wire, report->peer, 4);
    wire = put_integer(wire, report->source_class, 4);
    (void)put_integer(wire, report->destination_class, 4);
}

void vp_report_decode(const uint8_t *wire, vp_report_t *report)
{
    report->status = (int32_t)get_u32(&wire);
    report->peer = get_u32(&wire);
    report->source_class = get_u32(&wire);
    report->destination_class = get_u32(&wire);
}

void vp_signal_encode(const vp_signal_t *signal, uint8_t *wire)
{
    memset(wire, 0, VP_SIGNAL_BYTES);
    wire = put_integer(wire, signal->call, 4);
    wire = put_integer(wire, signal->kind, 4);
    wire = put_integer(wire, signal->number, 4);
    wire = put_integer(wire, signal->round, 4);
    wire = put_integer(wire, signal->trouble.cause, 4);
    wire = put_integer(wire, (uint32_t)signal->trouble.status, 4);
    wire = put_integer(wire, signal->trouble.lane, 4);
    wire = put_integer(wire, signal->trouble.rank, 4);
    wire = put_integer(wire, signal->trouble.peer, 4);
    (void)put_integer(wire, signal->is_unsure, 4);
}

void vp_signal_decode(const uint8_t *wire, vp_signal_t *signal)
{
    signal->call = get_u32(&wire);
    signal->kind = get_u32(&wire);
    signal->number = get_u32(&wire);
    signal->round = get_u32(&wire);
    signal->trouble.cause = get_u32(&wire);
    signal->trouble.status = (int32_t)get_u32(&wire);
    signal->trouble.lane = get_u32(&wire);
    signal->trouble.rank = get_u32(&wire);
    signal->trouble.peer = get_u32(&wire);
    signal->is_unsure = get_u32(&wire) != 0;
}
