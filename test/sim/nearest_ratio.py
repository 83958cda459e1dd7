#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Everything at once on nearest paths against the channel LP: makes nearest_ratio.csv.

Seven machines, six demands (data/reference/, see reference_demands.py), `ideal` links. Time
without the overhead of the one put, so that the ratios are those of transfers alone. One row
per case: the bounds of HiGHS, our ratios, and what the reference table says of the time and
of the fluid bound, over the LP bound: a figure, or a range least-most.

usage: nearest_ratio.py [--variopath PATH] > data/nearest_ratio.csv
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../tools"))
# pylint: disable=wrong-import-position
from lp_bound import Machine, bound, read_demand  # noqa: E402

FOUR = "four-switches.json"
DEMANDS = ("uniform", "random", "zipf-pairs", "zipf-rows", "hot-destination", "hot-moe")
ONE = ["1.00"] * 6
HOT = ["1.00"] * 4 + ["0.88-1.00", "0.99-1.00"]
RANGE = ["1.00-1.05"] * 4

# Ranks, then the table's times and fluid bounds in the order of DEMANDS.
MACHINES = (
    ("r5080-bf3", 8, ["1.78", "1.78", "1.00", "1.78", "1.05", "1.40"], ONE),
    ("r5080-bf3:nodes=2", 16, [*RANGE, "0.93", "1.00-1.05"], HOT),
    ("r5080-bf3:nodes=4", 32, [*RANGE, "0.93-1.05", "1.00-1.05"], HOT),
    ("r5090-bf3:nodes=2", 32, [*RANGE, "0.93-1.05", "1.01"], HOT),
    (FOUR, 8, ["1.58", "1.64", "1.15", "1.64", "1.00", "1.34"], ["0.92-1.00"] * 6),
    (FOUR + ":nodes=2", 16, ["0.87", "0.89", "0.90", "0.86", "0.90", "0.87"], ["0.81-0.90"] * 6),
    (FOUR + ":nodes=4", 32, ["0.82", "0.83", "1.04", "0.91", "0.83", "0.82"], ["0.80-0.83"] * 6),
)


def demand_file(variopath, folder, demand, ranks):
    """The CSV file of a demand."""
    if demand != "uniform":
        return os.path.join(HERE, "data", "reference", f"{demand}-{ranks}.csv")
    path = os.path.join(folder, "uniform.csv")
    command = [variopath, "demand", "uniform", "--ranks", str(ranks), "-o", path]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return path


def measure(variopath, machine, topology, path):
    """(time, lp, fluid) in ns."""
    demand = read_demand(path)
    command = [variopath, "simulate", "--topology", topology, "--demand", path]
    command += ["--algorithms", "nearest", "--exact", "--json"]
    shown = subprocess.run(command, check=True, capture_output=True).stdout
    time = json.loads(shown)[0]["time_ns"] - machine.put_overhead_ns
    return time, bound(machine, demand, False)[0], bound(machine, demand, True)[0]


def main():
    """Prints the table as CSV."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--variopath", default=os.environ.get("VARIOPATH", "./variopath"))
    arguments = parser.parse_args()
    print("topology,ranks,demand,lp_ns,fluid_ns,ratio,fluid_ratio,reference,fluid_reference")
    with tempfile.TemporaryDirectory() as folder:
        for name, ranks, times, fluids in MACHINES:
            topology = name.replace(FOUR, os.path.join(HERE, "data", FOUR))
            machine = Machine(topology, arguments.variopath)
            for index, demand in enumerate(DEMANDS):
                path = demand_file(arguments.variopath, folder, demand, ranks)
                time, lp, fluid = measure(arguments.variopath, machine, topology, path)
                print(
                    f"{name},{ranks},{demand},{lp:.1f},{fluid:.1f},{time / lp:.4f},"
                    f"{fluid / lp:.4f},{times[index]},{fluids[index]}"
                )
                sys.stdout.flush()


if __name__ == "__main__":
    main()
