/*
 * What 256 ranks exchange before the bytes of a call move: records, messages, steps,
 * for a first call, for new counts, and for counts that come again. The engine is the
 * real one, its ranks are threads, the network counts and takes no time.
 *
 *   bench_exchange [n_nodes n_per_node]
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "meter.h"

enum { N_NODES = 32, N_PER_NODE = 8, BYTES_PER_PAIR = 4, BYTES_PER_RANK = 64, SAME_BYTES = 16 };

static const char *const count_names[METER_N_COUNTS] = {
    [METER_WIDEST] = "counts up to 2^31 - 1 bytes without a common divisor",
    [METER_TOKENS] = "counts up to 200 tokens of 4096 bytes",
};

/* What the collectives of a call are, in their order: docs/engine.md. */
static const char *const steps_of[METER_CALLS][10] = {
    {"facts", "addresses", "connected", "connected", "openings", "rows", "pairs", "keys", "opened"},
    {"openings", "rows", "pairs", "keys", "opened"},
    {"openings"},
};
static const char *const call_names[METER_CALLS] = {"first call", "new counts", "same counts"};

/* Every record once: what a rank needs to know of all. */
static uint64_t known_bytes(const wire_entry_t *entry, uint32_t n_ranks)
{
    return (uint64_t)entry->record_bytes * n_ranks;
}

static void print_entry(unsigned call, unsigned i, const meter_call_t *measured, uint32_t n_ranks)
{
    const wire_entry_t *total = &measured->total[i], *most = &measured->most[i];
    const char *name = i < 10 && steps_of[call][i] != NULL ? steps_of[call][i] : "?";

    (void)printf("%-11s %-10s %-9s %7zu %11" PRIu64 " %5" PRIu64 " %8" PRIu64 " %10" PRIu64
                 " %12" PRIu64 " %12" PRIu64 "\n",
                 call_names[call], name, total->what, total->record_bytes,
                 known_bytes(total, n_ranks), most->n_steps, most->n_messages, most->sent_bytes,
                 total->sent_bytes, total->between_bytes);
}

/* False: over the limit. */
static bool judge(const char *what, uint64_t n_bytes, uint64_t limit)
{
    (void)printf("%s: %" PRIu64 " bytes, limit %" PRIu64 ": %s\n", what, n_bytes, limit,
                 n_bytes <= limit ? "kept" : "NOT KEPT");
    return n_bytes <= limit;
}

/* Rows once more, by way of the nodes' leaders. */
static void compare_leaders(const meter_shape_t *shape, const wire_entry_t *plain,
                            const wire_entry_t *plain_most)
{
    meter_shape_t by_leaders = *shape;
    meter_call_t calls[METER_CALLS];
    const wire_entry_t *rows = &calls[METER_NEW_COUNTS].total[1];
    const wire_entry_t *most = &calls[METER_NEW_COUNTS].most[1];

    by_leaders.leaders = true;
    meter_run(&by_leaders, calls);
    (void)printf("rows from node to node: %" PRIu64 " bytes, %" PRIu64
                 " steps; by way of the leaders: %" PRIu64 " bytes, %" PRIu64 " steps,\n%" PRIu64
                 " bytes inside nodes, %" PRIu64 " sent by a leader\n",
                 plain->between_bytes, plain_most->n_steps, rows->between_bytes, most->n_steps,
                 rows->sent_bytes - rows->between_bytes, most->sent_bytes);
}

static bool measure(const meter_shape_t *shape)
{
    const uint64_t n = (uint64_t)shape->n_nodes * shape->n_per_node;
    const uint64_t limit = BYTES_PER_PAIR * n * (n - 1) + BYTES_PER_RANK * n;
    meter_call_t calls[METER_CALLS];
    const meter_call_t *counts = &calls[METER_NEW_COUNTS], *same = &calls[METER_SAME_COUNTS];
    unsigned call, i;
    bool good;

    meter_run(shape, calls);
    (void)printf("\n%" PRIu64 " ranks on %u nodes, %s\n", n, shape->n_nodes,
                 count_names[shape->counts]);
    (void)printf("%-11s %-10s %-9s %7s %11s %5s %8s %10s %12s %12s\n", "call", "records", "by",
                 "bytes", "known", "steps", "messages", "sent", "on the wire", "between");
    for (call = 0; call < METER_CALLS; call++) {
        for (i = 0; i < calls[call].n_entries; i++) {
            print_entry(call, i, &calls[call], (uint32_t)n);
        }
        (void)printf("%-11s signals: %" PRIu64 " messages of all ranks, %" PRIu64 " bytes\n",
                     call_names[call], calls[call].signals.n_messages,
                     calls[call].signals.sent_bytes);
    }
    if (shape->n_nodes > 1 && shape->n_per_node > 1) {
        compare_leaders(shape, &counts->total[1], &counts->most[1]);
    }
    good = judge("all counts, known to every rank",
                 known_bytes(&counts->total[0], (uint32_t)n) +
                     known_bytes(&counts->total[1], (uint32_t)n),
                 limit);
    good = judge("all counts, sent by the busiest rank",
                 counts->most[0].sent_bytes + counts->most[1].sent_bytes, limit) &&
           good;
    good = judge("same counts, known to every rank", known_bytes(&same->total[0], (uint32_t)n),
                 SAME_BYTES * n) &&
           good;
    return judge("same counts, sent by the busiest rank", same->most[0].sent_bytes,
                 SAME_BYTES * n) &&
           same->n_entries == 1 && good;
}

int main(int argc, char **argv)
{
    meter_shape_t shape = {.n_nodes = N_NODES, .n_per_node = N_PER_NODE};
    bool good = true;
    unsigned kind;

    if (argc == 3) {
        shape.n_nodes = (uint32_t)strtoul(argv[1], NULL, 10);
        shape.n_per_node = (uint32_t)strtoul(argv[2], NULL, 10);
    }
    if ((argc != 1 && argc != 3) || shape.n_nodes == 0 || shape.n_per_node == 0 ||
        shape.n_nodes > 1024 || shape.n_per_node > 1024) {
        (void)fprintf(stderr, "usage: bench_exchange [n_nodes n_per_node]\n");
        return 2;
    }
    (void)printf(
        "simulated network, real engine. bytes: of one record. known: every record once, what "
        "each rank holds afterwards.\nsteps: messages that had to go one after the other. "
        "messages, sent: of the busiest rank, records that it hands on for others\nincluded. "
        "on the wire: of all ranks together. between: of these, from node to node.\n");
    for (kind = 0; kind < METER_N_COUNTS; kind++) {
        shape.counts = (meter_counts_t)kind;
        good = measure(&shape) && good;
    }
    return good ? 0 : 1;
}
