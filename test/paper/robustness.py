#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What happens when the planner's picture of the machine is wrong."""

import json
import os

from figures import Section, here, main
from rows import PROFILES, TIMED, compare, csv_lines
from tables import FULL_NAMES, geometric_mean, table, us

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
        ("nothing", topology, (), PROFILES),
        ("every rate wrong by up to 20%", topology, ("--rate-error", "200000"), PROFILES),
        ("one NIC failed, known", topology, failed, PROFILES),
        ("one NIC failed, plan does not know", topology, (*failed, "--unaware"), PROFILES),
        ("one uplink at half rate, known", half, (), PROFILES),
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


def row_cells(row):
    """A line of the table."""
    time_ns, name = row.best
    return (
        [row.label, FULL_NAMES[row.links], us(row.fluid_ns), us(row.modelled_ns)]
        + [f"{row.times[it] / row.modelled_ns:.2f}" for it in SHOWN]
        + [f"`{name}` {time_ns / row.modelled_ns:.3f}", f"{time_ns / row.charged_ns:.3f}"]
    )


def summary(rows):
    """How often ours is ahead, by what is wrong."""
    cells = []
    for what in dict.fromkeys(row.label.split(", ", 1)[1] for row in rows):
        part = [row for row in rows if row.label.split(", ", 1)[1] == what]
        slower = [row for row in part if row.is_slower("modelled_ns")]
        over = [geometric_mean(row.times[it] / row.modelled_ns for row in part) for it in SHOWN]
        best = geometric_mean(row.best[0] / row.modelled_ns for row in part)
        names = ", ".join(sorted({f"`{row.best[1]}`" for row in slower}))
        cells.append(
            [what, len(part), f"{len(slower)} ({names})" if slower else "0"]
            + [f"{it:.2f}" for it in [*over, best]]
        )
    heads = ["what is wrong", "rows", "slower than the best baseline", *SHOWN, "best baseline"]
    return table(heads, cells)


def make(runner, fast):
    """The section."""
    section = Section("Robustness")
    items = []
    for topology, _, ranks in TOPOLOGIES[:1] if fast else TOPOLOGIES:
        demand = runner.demand(ranks, DEMAND)
        items += [
            (runner, f"{topology}, {name}", where, demand, "nominal", profiles, options)
            for name, where, options, profiles in cases(runner, topology)
        ]
    rows = [row for part in runner.map(compare, items) for row in part]
    heads = [
        "machine, what is wrong",
        "links",
        "fluid bound us",
        "ours with modelled planning us",
        *SHOWN,
    ]
    section.add(
        "Zipf 0.6 over each row, 64 MiB per rank, nominal rates; times of baselines over ours with "
        "exchange and modelled planning, geometric means over three machines and their profiles. "
        "With wrong rates "
        "each link runs at its rate plus or minus up to 20%, and neither planner nor baselines "
        "know. A failed NIC is out with its paths; a plan that does not know loses the lanes' "
        "paths and takes the nearest that are left, where lanes of one activation may meet. Bounds "
        "are those of the machine without fault. Simulated.",
        "",
        *summary(rows),
        "",
        "Every row:",
        "",
        *table([*heads, "best baseline", "best baseline, charged" + TIMED], map(row_cells, rows)),
        "",
        "All times: [robustness.csv](evaluation/robustness.csv).",
    )
    section.files["robustness.csv"] = "\n".join([*csv_lines(rows), ""])
    return section


if __name__ == "__main__":
    main(make, __doc__)
