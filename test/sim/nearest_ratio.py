#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Everything at once on nearest paths against the channel LP: makes nearest_ratio.csv.

Seven machines, six demands, `ideal` links. Time without the overhead of the
one put, so that the ratios are those of transfers alone. One row per case:
the options of `variopath demand`, the bounds of HiGHS and the ratios of seed 1,
the ratio of a reference table (one draw of unstated options),
and the range of our ratio over seeds 1 .. N.

usage: nearest_ratio.py [--seeds N] [--variopath PATH] > data/nearest_ratio.csv
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

from lp_bound import Machine, bound, read_demand

HERE = os.path.dirname(os.path.abspath(__file__))
FOUR = "four-switches.json"

# Ranks, and the reference's ratios in the order of DEMANDS; None where
# the table gives a range only.
MACHINES = (
    ("r5080-bf3", 8, (1.78, 1.78, 1.00, 1.78, 1.05, 1.40)),
    ("r5080-bf3:nodes=2", 16, None),
    ("r5080-bf3:nodes=4", 32, None),
    ("r5090-bf3:nodes=2", 32, None),
    (FOUR, 8, (1.58, 1.64, 1.15, 1.64, 1.00, 1.34)),
    (FOUR + ":nodes=2", 16, (0.87, 0.89, 0.90, 0.86, 0.90, 0.87)),
    (FOUR + ":nodes=4", 32, (0.82, 0.83, 1.04, 0.91, 0.83, 0.82)),
)
DEMANDS = (
    ("uniform", "uniform"),
    ("random", "random"),
    ("zipf-pairs", "zipf --exponent 0.8 --over ranked-pairs"),
    ("zipf-rows", "zipf --exponent 0.8 --over ranked-rows"),
    ("hot-destination", "zipf --exponent 0.8 --over ranked-rows --hot-factor 6"),
    ("hot-moe", "moe --tokens 256 --experts 64 --top-k 8 --exponent 0.8"),
)


def measure(variopath, machine, topology, options, ranks, seed):
    """(time, lp, fluid) in ns of one draw."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "demand.csv")
        subprocess.run(
            [variopath, "demand", *options.split(), "--ranks", str(ranks), "--seed", str(seed)]
            + ["-o", path],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        demand = read_demand(path)
        shown = subprocess.run(
            [variopath, "simulate", "--topology", topology, "--demand", path]
            + ["--algorithms", "nearest", "--exact", "--json"],
            check=True,
            capture_output=True,
        ).stdout
    time = json.loads(shown)[0]["time_ns"] - machine.put_overhead_ns
    return time, bound(machine, demand, False)[0], bound(machine, demand, True)[0]


def main():
    """Prints the table as CSV."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--variopath", default=os.environ.get("VARIOPATH", "./variopath"))
    arguments = parser.parse_args()
    print("topology,ranks,demand,options,lp_ns,fluid_ns,ratio,fluid_ratio,reference,least,most")
    for name, ranks, reference in MACHINES:
        topology = name.replace(FOUR, os.path.join(HERE, "data", FOUR))
        machine = Machine(topology, arguments.variopath)
        for index, (demand, options) in enumerate(DEMANDS):
            n_seeds = 1 if demand == "uniform" else arguments.seeds
            draws = [
                measure(arguments.variopath, machine, topology, options, ranks, seed)
                for seed in range(1, n_seeds + 1)
            ]
            ratios = [time / lp for time, lp, _ in draws]
            time, lp, fluid = draws[0]
            print(
                f"{name},{ranks},{demand},{options},{lp:.1f},{fluid:.1f},{time / lp:.4f},"
                f"{fluid / lp:.4f},{reference[index] if reference else ''},"
                f"{min(ratios):.4f},{max(ratios):.4f}"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
