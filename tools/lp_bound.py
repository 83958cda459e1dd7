#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lower bounds on the time of a demand on a machine, by linear programming.

lp:    exclusive lanes. Minimise T: the bytes of every pair over its path
       instances are its demand; for every way out of and into a rank and every
       shared resource the sum of bytes over the instances' rates is at most T.
fluid: any sharing. The same with the rates of the links in place of those of
       the instances, so that lanes may share a GPU link.

HiGHS solves in floating point. What is reported is the dual: prices of the
links, made non-negative rationals that sum up to 1, bound the time by
sum of demand(i, j) * (cheapest path of i, j), computed exactly. A bound is so
valid whatever HiGHS did; `gap` says how far below the primal value it is.
"""
import argparse
import fractions
import json
import os
import subprocess
import sys


class Machine:
    """What `variopath topology show --json` says."""

    def __init__(self, topology, variopath="./variopath"):
        text = subprocess.run(
            [variopath, "topology", "show", topology, "--json"], check=True, capture_output=True
        ).stdout
        shown = json.loads(text)
        self.name = shown["name"]
        self.n_ranks = shown["ranks"]
        self.alpha_ns = shown["alpha_ns"]
        self.put_overhead_ns = shown["put_overhead_ns"]
        self.gpu_bytes_per_s = shown["gpu_link"]["bytes_per_s"]
        self.resources = [r["bytes_per_s"] for r in shown["resources"]]
        self.instances = shown["instances"]
        self.group = [0] * self.n_ranks
        for index, ranks in enumerate(shown["groups"]):
            for rank in ranks:
                self.group[rank] = index
        self.paths_of_groups = {}
        for index, instance in enumerate(self.instances):
            pair = (instance["from_group"], instance["to_group"])
            self.paths_of_groups.setdefault(pair, []).append(index)

    def paths(self, source, destination):
        """Indices of the instances between two ranks."""
        return self.paths_of_groups.get((self.group[source], self.group[destination]), [])

    def links(self, source, destination, instance):
        """The links of a lane: ways out, ways in, then resources."""
        n = self.n_ranks
        return [source, n + destination] + [
            2 * n + r for r in self.instances[instance]["resources"]
        ]

    def link_rate(self, link):
        """Bytes per second of a link."""
        if link < 2 * self.n_ranks:
            return self.gpu_bytes_per_s
        return self.resources[link - 2 * self.n_ranks]


def read_demand(path):
    """Rows of byte counts; the diagonal counts as 0."""
    with open(path, encoding="utf-8") as file:
        rows = [[int(cell) for cell in line.split(",")] for line in file if line[0] not in "#\n"]
    for rank, row in enumerate(rows):
        row[rank] = 0
    return rows


def pairs_of(demand):
    """All (source, destination) with bytes."""
    return [(i, j) for i, row in enumerate(demand) for j, cell in enumerate(row) if cell > 0]


def new_solver():
    """(highspy, a silent solver). HiGHS greets on standard output, which is for data."""
    sys.stdout.flush()
    saved = os.dup(1)
    os.dup2(2, 1)
    try:
        import highspy

        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("threads", 1)
    finally:
        os.dup2(saved, 1)
        os.close(saved)
    return highspy, solver


class Program:
    """A linear or mixed-integer program for HiGHS, built row by row."""

    def __init__(self):
        self.cost, self.lower, self.upper, self.integer = [], [], [], []
        self.row_lower, self.row_upper, self.start = [], [], [0]
        self.index, self.value = [], []

    def column(self, cost=0.0, lower=0.0, upper=float("inf"), integer=False):
        """A new variable's index."""
        self.cost.append(cost)
        self.lower.append(lower)
        self.upper.append(upper)
        self.integer.append(integer)
        return len(self.cost) - 1

    def row(self, entries, lower=-float("inf"), upper=float("inf")):
        """lower <= sum of value * column <= upper; a column may come twice."""
        merged = {}
        for column, value in entries:
            merged[column] = merged.get(column, 0.0) + value
        for column, value in merged.items():
            self.index.append(column)
            self.value.append(value)
        self.start.append(len(self.index))
        self.row_lower.append(lower)
        self.row_upper.append(upper)
        return len(self.row_lower) - 1

    def solve(self, time_limit=None, start=None, gap=None):
        """Returns (values, duals, objective, best bound, status text)."""
        highspy, solver = new_solver()
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = len(self.cost), len(self.row_lower)
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = self.cost, self.lower, self.upper
        lp.row_lower_, lp.row_upper_ = self.row_lower, self.row_upper
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_, lp.a_matrix_.index_ = self.start, self.index
        lp.a_matrix_.value_ = self.value
        if any(self.integer):
            kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
            lp.integrality_ = [kinds[flag] for flag in self.integer]
        if time_limit is not None:
            solver.setOptionValue("time_limit", float(time_limit))
        if gap is not None:
            solver.setOptionValue("mip_rel_gap", float(gap))
        if solver.passModel(lp) == highspy.HighsStatus.kError:
            raise SystemExit("HiGHS refused the program; this is a bug in the script")
        if start is not None:
            solution = highspy.HighsSolution()
            solution.col_value = start
            solver.setSolution(solution)
        solver.run()
        info = solver.getInfo()
        solution = solver.getSolution()
        return (
            list(solution.col_value),
            list(solution.row_dual),
            info.objective_function_value,
            info.mip_dual_bound if any(self.integer) else info.objective_function_value,
            solver.modelStatusToString(solver.getModelStatus()),
        )


MEGA = 1e6  # bytes per unit of flow; time is in microseconds


def price_bound(machine, demand, prices, is_fluid):
    """The exact bound in ns (a Fraction) that non-negative prices of links give."""
    exact = {link: fractions.Fraction(price) for link, price in prices.items() if price > 0}
    total = sum(exact.values())
    bound = fractions.Fraction(0)
    for i, j in pairs_of(demand):
        costs = []
        for instance in machine.paths(i, j):
            rate = machine.instances[instance]["bytes_per_s"]
            costs.append(
                sum(
                    exact.get(link, 0) / (machine.link_rate(link) if is_fluid else rate)
                    for link in machine.links(i, j, instance)
                )
            )
        bound += demand[i][j] * min(costs)
    return bound * 10**9 / total


def bound(machine, demand, is_fluid):
    """(certified bound in ns, primal value in ns, flows {(i, j, instance): bytes})."""
    program = Program()
    loads = {}
    columns = {}
    pairs = pairs_of(demand)
    if not pairs:
        return 0.0, 0.0, {}
    for i, j in pairs:
        for instance in machine.paths(i, j):
            column = columns[i, j, instance] = program.column()
            rate = machine.instances[instance]["bytes_per_s"]
            for link in machine.links(i, j, instance):
                used = machine.link_rate(link) if is_fluid else rate
                loads.setdefault(link, []).append((column, MEGA * 1e6 / used))
    time = program.column(cost=1.0)
    rows = {link: program.row(load + [(time, -1.0)], upper=0.0) for link, load in loads.items()}
    for i, j in pairs:
        paths = [(columns[i, j, p], 1.0) for p in machine.paths(i, j)]
        if not paths:
            raise SystemExit(f"rank {i} has no path to rank {j}: nothing to bound")
        program.row(paths, demand[i][j] / MEGA, demand[i][j] / MEGA)
    values, duals, objective, _, status = program.solve()
    if status != "Optimal":
        raise SystemExit(f"HiGHS ended with \"{status}\" instead of an optimum")
    prices = {link: max(0.0, -duals[row]) for link, row in rows.items()}
    certified = price_bound(machine, demand, prices, is_fluid)
    flows = {key: values[column] * MEGA for key, column in columns.items()}
    return float(certified), objective * 1e3, flows


def kmin(machine, demand):
    """Least number of activations: every pair takes a lane at its ends and resources."""
    program = Program()
    counts = {}
    time = program.column(cost=1.0)
    for i, j in pairs_of(demand):
        lanes = []
        for instance in machine.paths(i, j):
            lanes.append((program.column(), 1.0))
            for link in machine.links(i, j, instance):
                counts.setdefault(link, []).append(lanes[-1])
        program.row(lanes, 1.0, 1.0)
    for count in counts.values():
        program.row(count + [(time, -1.0)], upper=0.0)
    objective = program.solve()[2]
    return int(-(-(objective - 1e-6) // 1))


def main():
    """Prints the bounds of one demand."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("topology")
    parser.add_argument("demand")
    parser.add_argument("--variopath", default=os.environ.get("VARIOPATH", "./variopath"))
    arguments = parser.parse_args()
    machine = Machine(arguments.topology, arguments.variopath)
    demand = read_demand(arguments.demand)
    result = {"topology": machine.name, "kmin": kmin(machine, demand)}
    for name, is_fluid in (("lp", False), ("fluid", True)):
        certified, primal, _ = bound(machine, demand, is_fluid)
        result[name + "_ns"] = certified
        result[name + "_gap"] = (primal - certified) / primal if primal > 0 else 0.0
    json.dump(result, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
