#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Figure 9: skewed all-to-all-v, Zipf 0.4 to 0.8 on four two-node deployments."""

import sweeps
from figures import Section, main
from tables import table

MACHINES = (
    ("r5080-bf3:nodes=2", 16),
    ("r5090-bf3:nodes=2", 32),
    ("l20-cx7:nodes=2", 16),
    ("r5080-cx8:nodes=2", 16),
)
SKEWS = ("0.4", "0.6", "0.8")
OPTIONS = "zipf --over pairs --bytes-per-rank 67108864 --exponent "
PAPER = {"fast": "2.16 (1.99-2.39)"}


def drops(rows):
    """How much bandwidth the step from 0.4 to 0.8 costs, per machine; percent."""
    cells = []
    for topology, _ in MACHINES:
        part = {
            row.label.split()[-1]: row
            for row in rows
            if row.label.startswith(topology + " ")
            and (row.rates, row.links) == ("nominal", "ideal")
        }
        if len(part) < 2:
            continue
        low, high = part["0.4"], part["0.8"]
        loss = [1 - low.transfer_ns / high.transfer_ns]
        loss += [1 - low.times[name] / high.times[name] for name in ("nccl", "fast")]
        loss += [1 - low.fluid_ns / high.fluid_ns]
        cells.append([topology] + [f"{100 * part:.1f}%" for part in loss])
    cells.append(["the paper", "9.4-12.3%", "15.2-27.0%", "2.0-6.0%", ""])
    heads = ["bandwidth lost from 0.4 to 0.8", "ours, transfer", "nccl", "fast", "fluid bound"]
    return table(heads, cells)


def make(runner, fast):
    """The section."""
    section = Section("Figure 9: skewed all-to-all-v (12 configurations)")
    machines = MACHINES[:1] if fast else MACHINES
    points = []
    for topology, ranks in machines:
        for skew in SKEWS:
            demand = runner.demand(ranks, OPTIONS + skew)
            points.append((f"{topology} {skew}", topology, demand))
    rows = sweeps.sweep(runner, points)
    section.add(
        "A draw per ordered pair by the inverse CDF of Zipf on [1, 1024] (FAST's demand), 64 MiB "
        "per "
        "rank on average. Simulated.",
        "",
    )
    sweeps.show(section, "skew", rows, PAPER)
    section.add("", "Ideal links, nominal rates:", "", *drops(rows))
    names = ("nccl", "nccl-host", "msccl", "fast", "deepep-rail", "deepep-nic", "nimble", "nearest")
    keys = [(topology, topology.replace(":nodes=", "-")) for topology, _ in machines]
    sweeps.pictures(section, "skew", rows, keys, "Zipf", ("exponent", list(SKEWS)), names)
    sweeps.details(section, rows, "All 12 configurations")
    return section


if __name__ == "__main__":
    main(make, __doc__)
