#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Figure 10: MoE top-8 routing on 256 GPUs of r5080-cx8, 1 to 128 tokens per rank."""

import sweeps
from figures import Section, main
from plot import plot_rows
from rows import PROFILES, RATES, TIMED, compare
from tables import FULL_NAMES, select, table

TOPOLOGY = "r5080-cx8:nodes=32"
TOKENS = (1, 2, 4, 8, 16, 32, 64, 128)
OPTIONS = "moe --top-k 8 --experts 256 --hidden 7168 --element-bytes 2 --tokens "
PAPER = {"nccl": "1.64 at 128", "deepep-rail": "1.10 at 128", "deepep-nic": "1.10 at 128"}


def rates_table(rows):
    """GB/s per rank at every M, ideal links."""
    cells = []
    for row in select(rows, "nominal", "ideal"):
        names = ("nccl", "deepep-rail", "deepep-nic", "nimble")
        cells.append(
            [row.label, f"{row.rate(row.fluid_ns):.2f}", f"{row.rate(row.transfer_ns):.2f}"]
            + [f"{row.rate(row.exchanged_ns):.2f}", f"{row.rate(row.modelled_ns):.2f}"]
            + [f"{row.rate(row.charged_ns):.2f}"]
            + [f"{row.rate(row.times[name]):.2f}" for name in names]
        )
    cells.append(["the paper, M = 128", "", *["30.91"] * 4, "18.85"])
    cells[-1] += ["28.11", "28.11", ""]
    heads = ["M", "fluid bound", "ours, transfer", "with exchange"]
    heads += ["with modelled planning", "charged" + TIMED, "nccl"]
    return table([*heads, "deepep-rail", "deepep-nic", "nimble"], cells)


def make(runner, fast):
    """The section."""
    section = Section("Figure 10: MoE routing on 256 GPUs")
    tokens = (1, 8) if fast else TOKENS
    topology, ranks = ("r5080-cx8:nodes=4", 32) if fast else (TOPOLOGY, 256)
    points = [(f"M={m}", topology, runner.demand(ranks, OPTIONS + str(m))) for m in tokens]
    # The longest first, a set of links each, so that no worker ends up with all the work.
    items = [
        (runner, *point, rates, (links,))
        for point in reversed(points)
        for rates in RATES
        for links in PROFILES
    ]
    rows = [row for part in runner.map(compare, items) for row in part]
    rows.sort(key=lambda it: (RATES.index(it.rates), PROFILES.index(it.links), it.total_bytes))
    section.add(
        "32 nodes of r5080-cx8; every rank routes M tokens of 7,168 two-byte values to 8 of 256 "
        "experts, one on each rank, all equally popular, without deduplication. A rank sends "
        "112 KiB at M = 1 and 14 MiB at 128. More than 4,096 messages are under way, so shares are "
        "handed out in batches, which makes results up to 0.7% later (docs/simulator.md). "
        "Simulated.",
        "",
    )
    sweeps.show(section, "moe", rows, PAPER)
    section.add("", "GB/s per rank, ideal links, nominal rates:", "", *rates_table(rows))
    names = ("nccl", "nccl-host", "deepep-rail", "deepep-nic", "nimble", "nearest")
    for links in ("ideal", "collapses"):
        title = f"{topology}, MoE top-8: {FULL_NAMES[links]} links, nominal rates (simulated)"
        part = select(rows, "nominal", links)
        labels = [row.label.removeprefix("M=") for row in part]
        svg = plot_rows(title, "tokens per rank", part, labels, names)
        section.picture("moe" if links == "ideal" else "moe-collapses", svg, title)
    sweeps.details(section, rows, "All points")
    return section


if __name__ == "__main__":
    main(make, __doc__)
