#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What happens when the planner's picture of the machine is wrong."""

import json
import os

import runner as run
from figures import Section, here, main
from tables import geometric_mean, table, us

TOPOLOGIES = (("r5080-bf3", 1, 8), ("r5080-bf3:nodes=2", 2, 16), ("r5090-bf3:nodes=2", 2, 32))
DEMAND = "zipf --over ranked-rows --exponent 0.6 --bytes-per-rank 67108864"
SHOWN = ("nccl", "nccl-host", "fast", "deepep-nic", "nimble", "nearest")


def half_uplink(runner, topology):
    """The topology file with the first link between switches (or uplink) at half its rate."""
    name, _, nodes = topology.partition(":")
    with open(here("..", "..", "catalog", "topologies", name + ".json"), encoding="utf-8") as file:
        it = json.load(file)
    link = it["links"][0]
    for rates in it["rates"].values():
        half = dict(rates[link["rate"]])
        half["bytes_per_s"] //= 2
        rates["half"] = half
    link["rate"] = "half"
    for path in it["paths"]:
        if link["name"] in path["links"]:
            path["rate"] = "half"
    path = os.path.join(runner.folder, f"{name}-half.json")
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(it, file, indent=1)
    os.replace(path + ".part", path)
    return path + (":" + nodes if nodes else "")


def cases(runner, topology):
    """(name, topology, options, profiles) of all that goes wrong."""
    half = half_uplink(runner, topology)
    failed = ("--fail", "node0/nic0:tx")
    return (
        ("nothing", topology, (), run.PROFILES),
        ("every rate wrong by up to 20%", topology, ("--rate-error", "200000"), run.PROFILES),
        ("one NIC failed, known", topology, failed, run.PROFILES),
        ("one NIC failed, plan does not know", topology, (*failed, "--unaware"), run.PROFILES),
        ("one uplink at half rate, known", half, (), run.PROFILES),
        (
            "plan for ideal links, links collapse",
            topology,
            ("--plan-links", "ideal"),
            ("collapses",),
        ),
        (
            "plan for collapsing links, links ideal",
            topology,
            ("--plan-links", "collapses"),
            ("ideal",),
        ),
    )


def make(runner, fast):
    """The section."""
    section = Section("Robustness")
    cells, rows = [], []
    for topology, _, ranks in TOPOLOGIES[:1] if fast else TOPOLOGIES:
        demand = runner.demand(ranks, DEMAND)
        items = [
            (runner, f"{topology}, {name}", where, demand, "nominal", profiles, options)
            for name, where, options, profiles in cases(runner, topology)
        ]
        for part in runner.map(run.compare, items):
            rows += part
    for row in rows:
        time_ns, name = row.best
        cells.append(
            [row.label, row.links, us(row.charged_ns)]
            + [f"{row.times[it] / row.charged_ns:.2f}" for it in SHOWN]
            + [f"{name} {time_ns / row.charged_ns:.3f}"]
        )
    over_nccl = geometric_mean(row.times["nccl"] / row.charged_ns for row in rows)
    ahead = sum(row.times["nccl"] >= row.charged_ns for row in rows)
    heads = ["machine, what is wrong", "links", "ours, charged, us", *SHOWN, "best baseline"]
    section.add(
        "Zipf 0.6 over each row, 64 MiB per rank, nominal rates; times of baselines over ours. "
        "With "
        "wrong rates each link runs at its rate plus or minus up to 20%, and neither planner nor "
        "baselines know. A failed NIC is out with its paths; a plan that does not know loses the "
        "lanes' paths and takes the nearest that are left, where lanes of one activation may meet. "
        "Simulated.",
        "",
        *table(heads, cells),
        "",
        f"Ahead of `nccl` in {ahead} of {len(rows)} rows, geometric mean {over_nccl:.2f}.",
    )
    section.rows = rows
    return section


if __name__ == "__main__":
    main(make, __doc__)
