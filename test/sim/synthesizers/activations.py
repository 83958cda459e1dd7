#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The planner's own problem as a MILP: activations of exclusive lanes.

At most K activations; an activation takes alpha and as long as its slowest lane;
in an activation a rank has one lane out and one in, a shared resource one lane.
Starts from a plan of ours, where one is no longer than K. Reports

bound_ns      LP bound + alpha * kmin, which holds for every K
dual_bound_ns what HiGHS proved for at most K activations, in floating point
incumbent_ns  the best plan found within the time limit
gap           1 - bound / incumbent

Nothing here is called an optimum: the gap stays open at 8 ranks, and 16 ranks are
out of reach.
"""
import argparse
import json
import os
import subprocess
import sys
import time

from common import Machine, Program, bound, kmin, pairs_of, read_demand

MEGA = 1e6


def plan_lanes(machine, arguments):
    """[(activation, source, destination, instance, bytes)] of our planner, and its time."""
    command = [arguments.variopath, "plan", "--topology", arguments.topology]
    command += ["--demand", arguments.demand, "--alpha-ns", str(arguments.alpha_ns)]
    command += ["--scheduler", arguments.scheduler, "--json", "--lanes"]
    plan = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    lanes = []
    for lane in plan["lane_list"]:
        source, destination = lane["source"], lane["destination"]
        for p in machine.paths(source, destination):
            if machine.instances[p]["kind"] == lane["kind"]:
                lanes.append((lane["activation"], source, destination, p, lane["bytes"]))
                break
    return lanes, plan["time_ns"]


class Activations:
    """The MILP for one demand and at most n activations."""

    def __init__(self, machine, demand, n, alpha_us, lp_ns, least):
        self.machine, self.n = machine, n
        program = self.program = Program()
        self.used = [program.column(cost=alpha_us, upper=1.0, integer=True) for _ in range(n)]
        self.length = [program.column(cost=1.0) for _ in range(n)]
        self.lanes = {}  # (activation, source, destination, instance) -> (chosen, megabytes)
        links = {}
        for i, j in pairs_of(demand):
            amount = demand[i][j] / MEGA
            parts = []
            for k in range(n):
                for p in machine.paths(i, j):
                    chosen = program.column(upper=1.0, integer=True)
                    moved = program.column(upper=amount)
                    self.lanes[k, i, j, p] = (chosen, moved)
                    parts.append((moved, 1.0))
                    slow = MEGA * 1e6 / machine.instances[p]["bytes_per_s"]
                    program.row([(moved, 1.0), (chosen, -amount)], upper=0.0)
                    program.row([(moved, slow), (self.length[k], -1.0)], upper=0.0)
                    for link in machine.links(i, j, p):
                        links.setdefault((k, link), []).append((chosen, 1.0))
            program.row(parts, amount, amount)
        for (k, _), lanes in links.items():
            program.row(lanes + [(self.used[k], -1.0)], upper=0.0)
        program.row([(column, 1.0) for column in self.length], lower=lp_ns / 1e3 * (1 - 1e-9))
        program.row([(column, 1.0) for column in self.used], lower=least)
        for k in range(1, n):  # longest first: no two orders of the same activations
            program.row([(self.length[k - 1], 1.0), (self.length[k], -1.0)], lower=0.0)

    def start_from(self, lanes):
        """Column values of a plan's lanes; None: it has too many activations."""
        values = [0.0] * len(self.program.cost)
        lengths = {}
        for k, _, _, p, n_bytes in lanes:
            length = n_bytes * 1e6 / self.machine.instances[p]["bytes_per_s"]
            lengths[k] = max(lengths.get(k, 0.0), length)
        order = sorted(lengths, key=lambda k: -lengths[k])
        if len(order) > self.n:
            return None
        for place, k in enumerate(order):
            values[self.used[place]] = 1.0
            values[self.length[place]] = lengths[k]
        for k, i, j, p, n_bytes in lanes:
            chosen, moved = self.lanes[order.index(k), i, j, p]
            values[chosen] = 1.0
            values[moved] += n_bytes / MEGA
        return values


def main():
    """Prints one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("topology")
    parser.add_argument("demand")
    parser.add_argument("--alpha-ns", type=int, default=10000)
    parser.add_argument("--activations", type=int, help="K [as many as our plan has]")
    parser.add_argument("--scheduler", default="auto")
    parser.add_argument("--time-limit", type=float, default=60)
    parser.add_argument("--variopath", default=os.environ.get("VARIOPATH", "./variopath"))
    arguments = parser.parse_args()
    machine = Machine(arguments.topology, arguments.variopath)
    demand = read_demand(arguments.demand)
    if machine.n_ranks > 8:
        raise SystemExit("the MILP is hopeless above 8 ranks; lp_bound.py bounds any demand")
    lanes, plan_ns = plan_lanes(machine, arguments)
    least = kmin(machine, demand)
    lp_ns = bound(machine, demand, False)[0]
    n = arguments.activations or max(lane[0] for lane in lanes) + 1
    started = time.monotonic()
    model = Activations(machine, demand, n, arguments.alpha_ns / 1e3, lp_ns, least)
    start = model.start_from(lanes)
    _, _, objective, dual, status = model.program.solve(time_limit=arguments.time_limit, start=start)
    found_ns = objective * 1e3 if objective < 1e15 else None
    candidates = [value for value in (found_ns, plan_ns) if value is not None]
    bound_ns = lp_ns + arguments.alpha_ns * least
    json.dump(
        {
            "demand": os.path.basename(arguments.demand),
            "alpha_ns": arguments.alpha_ns,
            "activations": n,
            "kmin": least,
            "lp_ns": lp_ns,
            "bound_ns": bound_ns,
            "dual_bound_ns": dual * 1e3,
            "plan_ns": plan_ns,
            "incumbent_ns": min(candidates),
            "gap": 1.0 - bound_ns / min(candidates),
            "status": status,
            "seconds": round(time.monotonic() - started, 1),
        },
        sys.stdout,
        indent=2,
    )
    print()


if __name__ == "__main__":
    main()
