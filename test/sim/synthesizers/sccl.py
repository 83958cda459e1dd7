#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""SCCL's idea: chunks, steps and rounds.

A schedule has S steps; step s lasts r_s rounds; in a round a link carries one
chunk at the fastest path's rate. Every chunk goes from its origin to its final
rank over hops in ascending steps (direct, or over a rank that shares a switch
with one of its ends); in a step, what a link carries fits into r_s rounds. SCCL
asks an SMT solver whether (S, R = sum of r_s) is possible and walks along the
Pareto front; here a MILP finds the least R for each S, and the S with the least
S * overhead + R * round is taken. SCCL knows chunks of one size only: routes
and steps are chosen as if every pair had the bytes of the largest, and played with
the real ones, which is in its favour. A barrier separates steps.
"""
import itertools
import time

from common import Program, open_case, pairs_of, parser_of, routes, whole, write_schedule


def placements(route, n_steps):
    """All ascending steps for the hops of a route."""
    return itertools.combinations(range(n_steps), len(route))


def solve(machine, pairs, n_chunks, n_steps, time_limit):
    """(rounds, {(pair, chunk): [(step, hop)]}), or None."""
    program = Program()
    rounds = [program.column(cost=1.0, integer=True) for _ in range(n_steps)]
    fastest = max(instance["bytes_per_s"] for instance in machine.instances)
    loads, choices = {}, {}
    for pair in pairs:
        for chunk in range(n_chunks):
            options = []
            for route in routes(machine, *pair, n_steps):
                for steps in placements(route, n_steps):
                    column = program.column(cost=1e-6 * len(route), upper=1.0, integer=True)
                    options.append((column, list(zip(steps, route))))
                    for step, hop in zip(steps, route):
                        weight = fastest / machine.instances[hop[2]]["bytes_per_s"]
                        for link in machine.links(*hop):
                            loads.setdefault((link, step), []).append((column, weight))
            program.row([(column, 1.0) for column, _ in options], 1.0, 1.0)
            choices[pair, chunk] = options
    for (_, step), load in loads.items():
        program.row(load + [(rounds[step], -1.0)], upper=0.0)
    values, _, _, _, status = program.solve(time_limit=time_limit)
    if status not in ("Optimal", "Time limit reached") or not any(
        values[c] > 0.5 for options in choices.values() for c, _ in options
    ):
        return None
    chosen = {
        key: max(options, key=lambda option: values[option[0]])[1]
        for key, options in choices.items()
    }
    return sum(round(values[column]) for column in rounds), chosen


def main():
    """Synthesizes one schedule."""
    parser = parser_of(__doc__)
    parser.add_argument("--chunks", type=int, default=1, help="chunks of each pair")
    parser.add_argument("--max-steps", type=int, default=2)
    arguments = parser.parse_args()
    machine, demand = open_case(arguments)
    started = time.monotonic()
    pairs = pairs_of(demand)
    fastest = max(instance["bytes_per_s"] for instance in machine.instances)
    largest = max((demand[i][j] for i, j in pairs), default=0)
    round_ns = largest / arguments.chunks * 1e9 / fastest
    best = None
    for n_steps in range(1, arguments.max_steps + 1):
        found = solve(machine, pairs, arguments.chunks, n_steps, arguments.time_limit)
        if found is not None:
            cost = n_steps * machine.put_overhead_ns + found[0] * round_ns
            if best is None or cost < best[0]:
                best = (cost, found[1])
    if best is None:
        raise SystemExit("HiGHS found no schedule within the time limit; give a longer one")
    rows = []
    for i, j in pairs:
        sizes = whole(demand[i][j], [1.0] * arguments.chunks)
        for chunk, size in enumerate(sizes):
            for step, hop in best[1][(i, j), chunk]:
                rows.append([step, *hop, i, j, size])
    write_schedule(arguments, machine, "sccl", "barrier", started, rows)


if __name__ == "__main__":
    main()
