#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Table 4, right: the cost of planning, 1 GiB per source."""

import json
import os
import subprocess
import sys
import time

import runner as run
from figures import Section, argument_parser, here, main
from runner import Runner
from tables import table

CASES = (
    ("r5080-bf3", 8),
    ("r5080-bf3:nodes=2", 16),
    ("r5080-bf3:nodes=4", 32),
    ("r5080-bf3:nodes=8", 64),
    ("r5080-bf3:nodes=16", 128),
)
DEMANDS = ("uniform", "zipf --over ranked-rows --exponent 0.6")
FEW_REPEATS, MANY_REPEATS = 3, 25
HOW = ("--execution", "deps", "--port-sharing", "auto")


def planning_cpu_ns(command):
    """Planning time without the time that others had the core.

    The program does nothing but compute, so its planning took the share of the wall time
    that the whole process had of it.
    """
    started = time.monotonic_ns()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        planning_ns = json.loads(process.stdout.read())["planning_ns"]
        _, _, usage = os.wait4(process.pid, 0)
        elapsed_ns = time.monotonic_ns() - started
        process.returncode = 0
    return int(planning_ns * min(1.0, (usage.ru_utime + usage.ru_stime) * 1e9 / elapsed_ns))


def measure(runner, topology, demand, links="ideal", repeats=FEW_REPEATS):
    """(lanes, time of the plan, fastest planning time) of `auto`."""
    words = ["--topology", topology, "--demand", demand, "--links", links]
    plan = [runner.variopath, "plan", *words, "--scheduler", run.OURS, *HOW, "--json"]
    plan += ["--alpha-ns", str(run.LANE_NS)]
    planning_ns = min(planning_cpu_ns(plan) for _ in range(repeats))
    played = runner.ask("simulate", *words, "--algorithms", run.OURS, *run.OVERHEADS)[0]
    return played["flows"], played["time_ns"], planning_ns


def calibrate(runner):
    """Lines of planning.csv: the dearer of ideal and collapsing links, ns per pair."""
    lines = ["ranks,ns_per_pair"]
    for topology, ranks in CASES:
        demand = runner.demand(ranks, "random --bytes-per-rank 67108864")
        costs = []
        for links in ("ideal", "collapses"):
            _, _, planning_ns = measure(
                runner, topology, demand, links, FEW_REPEATS if ranks > 32 else MANY_REPEATS
            )
            costs.append(planning_ns // (ranks * (ranks - 1)))
        lines.append(f"{ranks},{max(costs)}")
        print(lines[-1], flush=True)
    with open(here("planning.csv"), "w", encoding="utf-8") as file:
        file.write("\n".join([*lines, ""]))


def make(runner, fast):
    """The section."""
    section = Section("Table 4: planning")
    cells, times = [], []
    for topology, ranks in CASES[:2] if fast else CASES:
        for options in DEMANDS:
            demand = runner.demand(ranks, options + f" --bytes-per-rank {1 << 30}")
            lanes, time_ns, planning_ns = measure(runner, topology, demand)
            charged = ranks * (ranks - 1) * run.pair_planning_ns(ranks)
            kind = options.split(" ", maxsplit=1)[0]
            cells.append(
                [topology, ranks, kind, lanes, f"{time_ns / 1e6:.3f}", f"{charged / 1e6:.3f}"]
                + [f"{100 * charged / time_ns:.2f}%"]
            )
            times.append(
                [topology, ranks, kind, lanes, f"{planning_ns / 1e6:.3f}"]
                + [
                    f"{planning_ns / (ranks * (ranks - 1)):.0f}",
                    f"{100 * planning_ns / time_ns:.2f}%",
                ]
            )
    cells.append(["the paper", "8-256", "", "", "", "3.2-78.12 us per activation", "0.07-4.12%"])
    heads = ["topology", "ranks", "demand", "lanes", "communication ms"]
    charges = ", ".join(f"{ns} ({ranks} ranks)" for ranks, ns in run.read_planning())
    section.add(
        "1 GiB per source. So that equal runs give equal pages, planning is charged throughout "
        f"this page by the pair, at {charges} ns: CPU time of the fastest of {MANY_REPEATS} (above "
        f"32 "
        f"ranks {FEW_REPEATS}) plans of `auto` for a random demand of 64 MiB per rank, on one of "
        f"two "
        "shared cores, kept in `test/paper/planning.csv` (`planning.py --calibrate`); larger "
        "machines pay as the largest there. What it takes when the page is made is on the page of "
        "timings.",
        "",
        *table([*heads, "planning charged ms", "share"], cells),
    )
    section.timings = [
        "## Planning times",
        "",
        f"CPU time of planner `auto`, fastest of {FEW_REPEATS} runs, one thread.",
        "",
        *table([*heads[:4], "planning ms", "ns per pair", "share of communication"], times),
        "",
    ]
    return section


if __name__ == "__main__":
    if "--calibrate" in sys.argv:
        sys.argv.remove("--calibrate")
        GIVEN = argument_parser(__doc__).parse_args()
        calibrate(Runner(GIVEN.variopath, GIVEN.work, GIVEN.workers))
    else:
        main(make, __doc__)
