#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""TACCL's idea: routing, then ordering, then contiguity.

1. Routing, a MILP with relaxed bandwidth: every chunk takes one route (direct,
   or over a rank that shares a switch with one of its ends: the sketch); the
   time that the most loaded link needs is least, then the sum of all loads.
2. Ordering, a heuristic: a link carries one transfer at a time; of those that
   can start first, the chunk with the longest way left goes first, then the
   largest, then the first.
3. Contiguity, a MILP: with the order of every link fixed, neighbours on the same
   path may be sent as one, which saves an overhead but waits for both; the end
   is as early as possible.

Played as steps by dependencies in the order of the starts.
"""
import time

from common import Program, open_case, pairs_of, parser_of, routes, whole, write_schedule


def cut(demand, n_chunks):
    """Chunks (origin, final, bytes)."""
    return [
        (i, j, part)
        for i, j in pairs_of(demand)
        for part in whole(demand[i][j], [1.0] * min(n_chunks, demand[i][j]))
    ]


def duration_us(machine, hop, n_bytes):
    """Time of a hop without its overhead."""
    return n_bytes * 1e6 / machine.instances[hop[2]]["bytes_per_s"]


def choose_routes(machine, chunks, time_limit):
    """A route for each chunk."""
    program = Program()
    most = program.column(cost=1.0)
    loads, choices = {}, []
    for i, j, n_bytes in chunks:
        options = []
        for route in routes(machine, i, j, 2):
            total = sum(duration_us(machine, hop, n_bytes) for hop in route)
            column = program.column(cost=1e-6 * total, upper=1.0, integer=True)
            for hop in route:
                for link in machine.links(*hop):
                    loads.setdefault(link, []).append((column, duration_us(machine, hop, n_bytes)))
            options.append((column, route))
        program.row([(column, 1.0) for column, _ in options], 1.0, 1.0)
        choices.append(options)
    for load in loads.values():
        program.row(load + [(most, -1.0)], upper=0.0)
    values, _, _, _, status = program.solve(time_limit=time_limit, gap=1e-3)
    if len(values) == 0 or status == "Infeasible":
        raise SystemExit(f'HiGHS ended with "{status}": no schedule was made')
    return [max(options, key=lambda option: values[option[0]])[1] for options in choices]


def order_hops(machine, chunks, chosen, alpha_us):
    """[(chunk, hop index)] in the order of their starts."""
    free, ready, placed = {}, [0.0] * len(chunks), [0] * len(chunks)
    order = []
    while True:
        best = None
        for chunk, route in enumerate(chosen):
            if placed[chunk] == len(route):
                continue
            hop = route[placed[chunk]]
            links = machine.links(*hop)
            start = max([ready[chunk]] + [free.get(link, 0.0) for link in links])
            key = (start, placed[chunk] - len(route), -chunks[chunk][2], chunk)
            if best is None or key < best[0]:
                best = (key, chunk, hop, links)
        if best is None:
            return order
        (start, *_), chunk, hop, links = best
        end = start + alpha_us + duration_us(machine, hop, chunks[chunk][2])
        ready[chunk] = end
        for link in links:
            free[link] = end
        order.append((chunk, placed[chunk]))
        placed[chunk] += 1


def merge_candidates(machine, chosen, order):
    """Pairs of places in `order` that follow each other on all of their links on one path."""
    last, found = {}, []
    for place, (chunk, hop) in enumerate(order):
        path = chosen[chunk][hop]
        before = {last.get(link) for link in machine.links(*path)}
        if len(before) == 1 and None not in before:
            (other,) = before
            if chosen[order[other][0]][order[other][1]] == path:
                found.append((other, place))
        for link in machine.links(*path):
            last[link] = place
    return found


def time_hops(machine, chunks, chosen, order, alpha_us, time_limit):
    """Starts of all hops, and the merged pairs of places."""
    program = Program()
    end = program.column(cost=1.0)
    starts = [program.column() for _ in order]
    durations = [
        alpha_us + duration_us(machine, chosen[chunk][hop], chunks[chunk][2])
        for chunk, hop in order
    ]
    merges = {pair: None for pair in merge_candidates(machine, chosen, order)}
    for pair in merges:
        merges[pair] = program.column(upper=1.0, integer=True)
    last, arrival = {}, {}
    for place, (chunk, hop) in enumerate(order):
        for other in {last.get(link) for link in machine.links(*chosen[chunk][hop])} - {None}:
            saved = merges.get((other, place))
            entries = [(starts[place], 1.0), (starts[other], -1.0)]
            if saved is not None:
                entries.append((saved, alpha_us))
            program.row(entries, lower=durations[other])
        if hop > 0:
            program.row(
                [(starts[place], 1.0), (starts[arrival[chunk]], -1.0)],
                lower=durations[arrival[chunk]],
            )
        arrival[chunk] = place
        for link in machine.links(*chosen[chunk][hop]):
            last[link] = place
        program.row([(end, 1.0), (starts[place], -1.0)], lower=durations[place])
    # Sent as one, the second chunk must be there when the first starts.
    horizon = sum(durations)
    for (first, second), column in merges.items():
        chunk, hop = order[second]
        if hop > 0:
            before = order.index((chunk, hop - 1))
            program.row(
                [(starts[first], 1.0), (starts[before], -1.0), (column, -horizon)],
                lower=durations[before] - horizon,
            )
    values = program.solve(time_limit=time_limit)[0]
    joined = [pair for pair, column in merges.items() if values[column] > 0.5]
    return [values[column] for column in starts], joined


def join_steps(order, starts, joined):
    """Starts of all hops, where hops that are sent as one start together.

    In a chain of joined hops the last must be there when the first starts; the
    program knows neighbours only, so that such a chain is cut here.
    """
    steps = list(starts)
    for first, second in sorted(joined):
        chunk, hop = order[second]
        if hop == 0 or steps[order.index((chunk, hop - 1))] < steps[first] - 1e-9:
            steps[second] = steps[first]
    return steps


def main():
    """Synthesizes one schedule."""
    parser = parser_of(__doc__)
    parser.add_argument("--chunks", type=int, default=1, help="chunks of each pair")
    arguments = parser.parse_args()
    machine, demand = open_case(arguments)
    started = time.monotonic()
    alpha_us = machine.put_overhead_ns / 1e3
    chunks = cut(demand, arguments.chunks)
    chosen = choose_routes(machine, chunks, arguments.time_limit)
    order = order_hops(machine, chunks, chosen, alpha_us)
    starts, joined = time_hops(machine, chunks, chosen, order, alpha_us, arguments.time_limit)
    steps = join_steps(order, starts, joined)
    ranked = {start: step for step, start in enumerate(sorted(set(steps)))}
    rows = {}
    for (chunk, hop), start in zip(order, steps):
        origin, final, n_bytes = chunks[chunk]
        key = (ranked[start], *chosen[chunk][hop], origin, final)
        rows[key] = rows.get(key, 0) + n_bytes
    transfers = [[*key, n_bytes] for key, n_bytes in rows.items()]
    write_schedule(arguments, machine, "taccl", "deps", started, transfers)


if __name__ == "__main__":
    main()
