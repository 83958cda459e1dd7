#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Some points of figures 7 to 10 again, against the page as it is in the sources.

usage: regression.py [--docs FOLDER] [--work FOLDER] [--variopath PATH]

Times of all other systems must be equal, bounds to a thousandth; no verdict on ours may be worse
than the page's: not slower where it was not, strictly faster where it was. Planning counts as
modelled, so that no verdict depends on the clock. Ends with 1 if a row fails.
"""

import os
import sys

import sweeps
from figures import argument_parser
from moe import OPTIONS as MOE
from moe import TOPOLOGY as MOE_MACHINE
from rows import BASELINES, PROFILES, committed, compare, read_csv, severity
from runner import Runner
from skew import OPTIONS as SKEW
from tables import MIB

# File of the page, machine, ranks, demand, sizes.
SIZES = (
    ("random", "r5080-bf3:nodes=4", 32, "random", (1, 64)),
    ("random", "r5090-bf3:nodes=2", 32, "random", (16,)),
    ("uniform", "r5080-bf3:nodes=1", 8, "uniform", (1, 16, 512)),
    ("uniform", "r5080-bf3:nodes=2", 16, "uniform", (1, 64)),
    ("uniform", "r5090-bf3:nodes=1", 16, "uniform", (8,)),
    ("uniform", "l20-cx7:nodes=1", 8, "uniform", (4, 256)),
    ("uniform", "r5080-cx8:nodes=1", 8, "uniform", (1, 64)),
    ("uniform", "r5080-cx8:nodes=2", 16, "uniform", (32,)),
)
SKEWS = (("r5080-bf3:nodes=2", 16, "0.8"), ("r5080-cx8:nodes=2", 16, "0.4"))
TOKENS = (1,)
BOUND_TOLERANCE = 1e-3


def points(runner):
    """(file, label, topology, demand) of all points."""
    found = []
    for name, topology, ranks, kind, sizes in SIZES:
        for mib in sizes:
            demand = runner.demand(ranks, f"{kind} --bytes-per-rank {mib * MIB}")
            found.append((name, sweeps.size_label(topology, mib * MIB), topology, demand))
    for topology, ranks, skew in SKEWS:
        found.append(("skew", f"{topology} {skew}", topology, runner.demand(ranks, SKEW + skew)))
    for m in TOKENS:
        found.append(("moe", f"M={m}", MOE_MACHINE, runner.demand(256, MOE + str(m))))
    return found


def faults(row, old):
    """What is wrong with a row beside the page's."""
    found = []
    for name in BASELINES:
        if row.times[name] != old.times.get(name):
            found.append(f"{name} takes {row.times[name]} ns, on the page {old.times.get(name)}")
    for name in ("fluid_ns", "lp_ns"):
        new, was = getattr(row, name), getattr(old, name)
        if abs(new - was) > BOUND_TOLERANCE * was:
            found.append(f"{name} is {new}, on the page {was}")
    new, was = row.cause(timed=False), old.cause(timed=False)
    if severity(new) > severity(was):
        found.append(f"ours is slower ({new}), on the page {was or 'it is not'}")
    for kind in ("transfer_ns", "exchanged_ns", "modelled_ns"):
        if old.has_room() and getattr(old, kind) < old.best[0] <= getattr(row, kind):
            found.append(f"ours ({kind}) is no longer strictly faster than {old.best[1]}")
    return found


def main():
    """Exit code of the comparison."""
    parser = argument_parser(__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--docs", default=os.path.dirname(committed("")), help="evaluation/")
    arguments = parser.parse_args()
    runner = Runner(arguments.variopath, arguments.work, arguments.workers)
    pages, n_faults, n_rows = {}, 0, 0
    found = points(runner)
    for name in {point[0] for point in found}:
        pages[name] = read_csv(os.path.join(arguments.docs, name + ".csv"))
    items = [(runner, *point[1:], "nominal", PROFILES, (), BASELINES, 1) for point in found]
    for (name, label, _, _), rows in zip(found, runner.map(compare, items)):
        for row in rows:
            old = pages[name].get(row.key)
            if old is None:
                raise SystemExit(f"{name}.csv has no row {', '.join(row.key)}")
            row_faults = faults(row, old)
            n_rows += 1
            n_faults += bool(row_faults)
            for fault in row_faults:
                print(f"{label}, {row.links}: {fault}")
    print(f"{n_rows} rows, {n_faults} of them wrong")
    sys.exit(1 if n_faults else 0)


if __name__ == "__main__":
    main()
