#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""TE-CCL's idea: a time-expanded multi-commodity flow with store and forward.

Time is cut into equal epochs. An all-to-all copies nothing, so the flow is a
linear program (TE-CCL's LP form), one commodity per source: what a rank sends
in an epoch it held when the epoch began; in an epoch a link carries at most
what its rate allows; arrivals are worth the more the earlier they are
(sum of bytes read / (epoch + 1)). Its solution is cut into paths through time,
each with whole bytes. Played as steps by dependencies: on every link, an epoch's
transfers wait for those of the epoch before. Without --epochs, an eighth of the
LP bound is one epoch.
"""
import time

from common import Program, bound, open_case, parser_of, whole, write_schedule

MEGA = 1e6
EPSILON = 1e-7  # megabytes: below this a flow is none


class Flow:
    """The linear program over n_epochs epochs of epoch_us each."""

    def __init__(self, machine, demand, n_epochs, epoch_us):
        self.machine, self.demand, self.n_epochs = machine, demand, n_epochs
        self.program = Program()
        n = machine.n_ranks
        self.edges = [
            (a, b, p) for a in range(n) for b in range(n) if a != b for p in machine.paths(a, b)
        ]
        self.sources = [s for s in range(n) if sum(demand[s]) > 0]
        self.sent = {}  # (source, edge, epoch) -> column
        self.read = {}  # (source, destination, epoch) -> column
        self.loads = {}  # (link, epoch) -> entries
        for source in self.sources:
            self.add_source(source)
        for load in self.loads.values():
            self.program.row(load, upper=epoch_us)

    def add_source(self, source):
        """Commodity of one source: its flows, its reads, its balance at every rank."""
        machine, program, row = self.machine, self.program, self.demand[source]
        n = machine.n_ranks
        leaving = {(v, k): [] for v in range(n) for k in range(self.n_epochs)}
        arriving = {key: [] for key in leaving}
        for index, (a, b, p) in enumerate(self.edges):
            if b == source:
                continue
            rate = machine.instances[p]["bytes_per_s"]
            for k in range(self.n_epochs if a == source else self.n_epochs):
                if a != source and k == 0:
                    continue
                column = self.sent[source, index, k] = program.column()
                leaving[a, k].append((column, 1.0))
                arriving[b, k].append((column, 1.0))
                for link in machine.links(a, b, p):
                    self.loads.setdefault((link, k), []).append((column, MEGA * 1e6 / rate))
        for rank in range(n):
            self.balance(source, rank, leaving, arriving)
        for rank in range(n):
            if row[rank] > 0:
                reads = [(self.read[source, rank, k], 1.0) for k in range(self.n_epochs)]
                program.row(reads, row[rank] / MEGA, row[rank] / MEGA)

    def balance(self, source, rank, leaving, arriving):
        """held(k + 1) = held(k) - sent(k) + arrived(k) - read(k); sent(k) <= held(k)."""
        program = self.program
        given = sum(self.demand[source]) / MEGA if rank == source else 0.0
        held = program.column(lower=given, upper=given)
        for k in range(self.n_epochs):
            program.row(leaving[rank, k] + [(held, -1.0)], upper=0.0)
            entries = [(held, 1.0)]
            entries += [(column, -1.0) for column, _ in leaving[rank, k]] + arriving[rank, k]
            if rank != source and self.demand[source][rank] > 0:
                # Programs minimise: early reads cost less.
                self.read[source, rank, k] = program.column(cost=-1.0 / (k + 1))
                entries.append((self.read[source, rank, k], -1.0))
            held = program.column()
            program.row(entries + [(held, -1.0)], 0.0, 0.0)


def trace(flow, values, source, rank, epoch):
    """One way back through time from what `rank` reads at the end of `epoch`; its hops."""
    hops = []
    while rank != source:
        if epoch < 0:
            return None
        into = None
        for index, (_, b, _) in enumerate(flow.edges):
            column = flow.sent.get((source, index, epoch))
            if b == rank and column is not None and values[column] > EPSILON:
                into = index
                break
        if into is not None:
            hops.append((epoch, into))
            rank = flow.edges[into][0]
        epoch -= 1
    return hops


def paths_of(flow, values, source, rank):
    """[(megabytes, hops)] of one pair; takes them out of `values`."""
    found = []
    for epoch in range(flow.n_epochs):
        column = flow.read[source, rank, epoch]
        while values[column] > EPSILON:
            hops = trace(flow, values, source, rank, epoch)
            if hops is None:
                break
            used = [flow.sent[source, index, k] for k, index in hops]
            amount = min([values[column]] + [values[c] for c in used])
            for entry in used + [column]:
                values[entry] -= amount
            found.append((amount, hops))
    return found


def transfers_of(flow, values):
    """The schedule's rows."""
    rows = []
    for source in flow.sources:
        for rank, n_bytes in enumerate(flow.demand[source]):
            if n_bytes == 0:
                continue
            found = paths_of(flow, values, source, rank)
            if not found:  # too few bytes for the program's precision
                direct = flow.edges.index((source, rank, flow.machine.paths(source, rank)[0]))
                found = [(1.0, [(0, direct)])]
            for (_, hops), part in zip(found, whole(n_bytes, [amount for amount, _ in found])):
                for epoch, index in hops:
                    rows.append([epoch, *flow.edges[index], source, rank, part])
    return rows


def main():
    """Synthesizes one schedule."""
    parser = parser_of(__doc__)
    parser.add_argument("--epochs", type=int, default=8, help="epochs in the LP bound")
    arguments = parser.parse_args()
    machine, demand = open_case(arguments)
    started = time.monotonic()
    lp_ns = bound(machine, demand, False)[0]
    epoch_us = lp_ns / 1e3 / arguments.epochs
    for n_epochs in range(arguments.epochs, 4 * arguments.epochs):
        flow = Flow(machine, demand, n_epochs, epoch_us * (1 + 1e-9))
        values, _, _, _, status = flow.program.solve(time_limit=arguments.time_limit)
        if status == "Optimal":
            break
        if status != "Infeasible":
            raise SystemExit(f'HiGHS ended with "{status}": no schedule was made')
    write_schedule(arguments, machine, "teccl", "deps", started, transfers_of(flow, values))


if __name__ == "__main__":
    main()
