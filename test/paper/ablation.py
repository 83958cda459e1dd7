#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Table 3: peers fixed, paths fixed, both; planner `paper`, every other part unchanged.

Bounds of the restricted problems say whether a dimension can cost anything at all: with
fixed paths every pair has its nearest path, so the busiest port or resource bounds the time;
with fixed peers the rotations follow each other, so their LP bounds add up; with both, the
busiest port or resource of each rotation.
"""

import os

from figures import Section, here, main
from rows import LANE_NS, NEAR_NICS, PROFILES, compare
from runner import read_demand
from tables import FULL_NAMES, geometric_mean, table, us

PROTOCOL = here("..", "bench", "protocol50")
CASES = (("r5080-bf3:nodes=2", "g16"), ("r5080-bf3", "g8"))
FIXES = ("peers", "paths", "both")
ROTATION = "openmpi-pairwise"
PAPER = {"peers": "about 2", "paths": "about 2", "both": "2.84"}


class Machine:
    """Paths between ranks, from `topology show`."""

    def __init__(self, runner, topology):
        shown = runner.ask("topology", "show", topology)
        self.n = shown["ranks"]
        self.group = {}
        for index, ranks in enumerate(shown["groups"]):
            for rank in ranks:
                self.group[rank] = index
        self.nearest = {}
        for it in shown["instances"]:
            pair = (it["from_group"], it["to_group"])
            key = (-it["bytes_per_s"], len(it["resources"]))
            if pair not in self.nearest or key < self.nearest[pair][0]:
                self.nearest[pair] = (key, it["resources"])

    def busiest_ns(self, demand, rotations):
        """Largest load of a port or resource over nearest paths; the sum over the rotations."""
        total = 0.0
        for shifts in rotations:
            load = {}
            for i in range(self.n):
                for shift in shifts:
                    j = (i + shift) % self.n
                    key, resources = self.nearest[(self.group[i], self.group[j])]
                    time_ns = demand[i][j] * 1e9 / -key[0]
                    for port in [("out", i), ("in", j), *resources]:
                        load[port] = load.get(port, 0.0) + time_ns
            total += max(load.values())
        return total


def rotation_bound(runner, topology, name, demand):
    """The sum of the LP bounds of the rotations."""
    n = len(demand)
    total = 0
    for k in range(1, n):
        rows = [[demand[i][j] if (j - i) % n == k else 0 for j in range(n)] for i in range(n)]
        path = runner.write_demand(f"ablation-{name}-{k}", rows)
        total += runner.ask("bound", "--topology", topology, "--demand", path)["lp_ns"]
    return total


def measure(runner, machine, topology, name):
    """Times of the full planner and of the three ablations, and the bounds of all four."""
    path = os.path.join(PROTOCOL, name + ".csv")
    demand = read_demand(path)
    words = ["plan", "--topology", topology, "--demand", path, "--scheduler", "paper"]
    times = [runner.ask(*words)["time_ns"]]
    times += [runner.ask(*words, "--fix", fix)["time_ns"] for fix in FIXES]
    shifts = range(1, machine.n)
    bounds = [runner.ask("bound", "--topology", topology, "--demand", path)["lp_ns"]]
    bounds.append(rotation_bound(runner, topology, name, demand))
    bounds.append(machine.busiest_ns(demand, [shifts]))
    bounds.append(machine.busiest_ns(demand, [[k] for k in shifts]))
    return times, bounds


def lossy_rows(runner, topology, name):
    """Ours and the rotation on nearest paths that share links, under all profiles."""
    path = os.path.join(PROTOCOL, name + ".csv")
    return compare(runner, name, topology, path, baselines=(ROTATION, "nearest"), nics=NEAR_NICS)


def lossy_lines(runner, items):
    """What a rotation on nearest paths costs where flows may meet on a link; a sentence on it."""
    cells, found = [], []
    for topology in dict.fromkeys(item[2] for item in items):
        names = [(runner, topology, item[3]) for item in items if item[2] == topology]
        rows = [row for part in runner.map(lossy_rows, names) for row in part]
        for links in PROFILES:
            part = [row for row in rows if row.links == links]
            means = [
                f"{geometric_mean(row.times[name] / row.transfer_ns for row in part):.2f}"
                for name in (ROTATION, "nearest")
            ]
            cells.append([topology, FULL_NAMES[links], *means])
        found.append(f"{topology} {means[0]}")
    heads = ["machine", "links", "rotation on nearest paths", "all at once on nearest paths"]
    sentence = (
        "played as a rotation on nearest paths over links that collapse, both fixed takes "
        + ", ".join(found)
    )
    return sentence, [
        "The ablation keeps lanes exclusive. Where fixed peers on fixed paths run as they come and "
        "meet on links (`openmpi-pairwise`, peers and paths fixed; `nearest`, paths fixed), times "
        f"over the transfer of `auto`, lanes of {LANE_NS / 1e3:.0f} us, geometric means of the "
        "five demands:",
        "",
        *table(heads, cells),
    ]


def make(runner, fast):
    """The section."""
    section = Section("Table 3: peers and paths fixed")
    cells, all_items, sums = [], [], []
    for topology, prefix in CASES[-1:] if fast else CASES:
        machine = Machine(runner, topology)
        items = [
            (runner, machine, topology, f"{prefix}-64MiB-{k}") for k in range(2 if fast else 5)
        ]
        ratios = []
        for (_, _, _, name), (times, bounds) in zip(items, runner.map(measure, items)):
            ratios.append(
                [it / times[0] for it in times[1:]] + [it / bounds[0] for it in bounds[1:]]
            )
            cells.append([topology, name, us(times[0])] + [f"{it:.2f}" for it in ratios[-1]])
        means = [f"{geometric_mean(column):.2f}" for column in zip(*ratios)]
        cells.append([topology, "**geometric mean**", ""] + [f"**{mean}**" for mean in means])
        sums.append(
            f"{topology}: peers {means[0]} (bound {means[3]}), paths {means[1]} (bound "
            f"{means[4]}), both {means[2]} (bound {means[5]})"
        )
        all_items += items
    cells.append(["the paper, measured", "s = 0.6", ""] + [PAPER[fix] for fix in FIXES] + [""] * 3)
    sentence, lossy = lossy_lines(runner, all_items)
    section.headline = (
        "Ablation, completion time over nothing fixed: "
        + "; ".join(sums)
        + f"; the paper: about 2, about 2, 2.84. The bounds explain each; {sentence}."
    )
    heads = ["machine", "demand", "nothing fixed, us", "peers", "paths", "both"]
    heads += ["bound: peers", "bound: paths", "bound: both"]
    section.add(
        "Modelled times of planner `paper` over those with nothing fixed, alpha 10 us, every other "
        "part unchanged; then the lower bounds of the restricted problems (no alpha) over the LP "
        "bound. Five dense demands, each row a permuted Zipf law with exponent 0.6.",
        "",
        *table(heads, cells),
        "",
        "Between two nodes of r5080-bf3 a group pair has one path, and the NIC is the bottleneck: "
        "the bound of fixed paths is that of free ones, so fixing paths cannot cost anything "
        "there, whatever the planner. Fixed peers leave NICs idle while a rotation's largest pair "
        "ends, and their bound says so. Inside a node fixing paths costs, because the link "
        "between the "
        "switches is the nearest path of half the pairs and the NICs beside it stay idle. What "
        "the paper reports for paths on two nodes needs links that lose throughput when they are "
        "shared, which exclusive lanes never do.",
        "",
        *lossy,
    )
    return section


if __name__ == "__main__":
    main(make, __doc__)
