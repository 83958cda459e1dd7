#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Figure 10: MoE top-8 routing on 256 GPUs of r5080-cx8, 1 to 128 tokens per rank."""

import runner as run
import sweeps
from figures import Section, main
from tables import table

TOPOLOGY = "r5080-cx8:nodes=32"
TOKENS = (1, 2, 4, 8, 16, 32, 64, 128)
# Contended links and measured rates are shown here only: they cost most of the time.
FEW_TOKENS = (1, 8)
OPTIONS = "moe --top-k 8 --experts 256 --hidden 7168 --element-bytes 2 --tokens "
PAPER = {"nccl": "1.64 at 128", "deepep-rail": "1.10 at 128", "deepep-nic": "1.10 at 128"}


def rates_table(rows):
    """GB/s per rank at every M, ideal links."""
    part = [row for row in rows if (row.rates, row.links) == ("nominal", "ideal")]
    cells = []
    for row in part:
        names = ("nccl", "deepep-rail", "deepep-nic", "nimble")
        cells.append(
            [row.label, f"{row.rate(row.fluid_ns):.2f}", f"{row.rate(row.times[run.OURS]):.2f}"]
            + [f"{row.rate(row.charged_ns):.2f}"]
            + [f"{row.rate(row.times[name]):.2f}" for name in names]
        )
    cells.append(["the paper, M = 128", "", "", "30.91", "18.85", "28.11", "28.11", ""])
    heads = ["M", "fluid bound", "ours, transfer only", "ours, charged", "nccl", "deepep-rail"]
    return table([*heads, "deepep-nic", "nimble"], cells)


def make(runner, fast):
    """The section."""
    section = Section("Figure 10: MoE routing on 256 GPUs")
    tokens = (1, 8) if fast else TOKENS
    topology, ranks = ("r5080-cx8:nodes=4", 32) if fast else (TOPOLOGY, 256)
    points = [(f"M={m}", topology, runner.demand(ranks, OPTIONS + str(m))) for m in tokens]
    few = [point for m, point in zip(tokens, points) if m in FEW_TOKENS]
    items = [(runner, *point, "nominal", ("ideal",)) for point in reversed(points)]
    items += [(runner, *point, "nominal", run.PROFILES[1:]) for point in few]
    items += [(runner, *point, "measured", ("ideal",)) for point in few]
    rows = [row for part in runner.map(run.compare, items) for row in part]
    rows.sort(
        key=lambda row: (row.rates != "nominal", run.PROFILES.index(row.links), row.total_bytes)
    )
    section.add(
        "32 nodes of r5080-cx8; every rank routes M tokens of 7,168 two-byte values to 8 of 256 "
        "experts, one on each rank, all equally popular, without deduplication. A rank sends "
        "112 KiB at M = 1 and 14 MiB at 128. Contended links and measured rates at M = 1 and 8 "
        "only. "
        "More than 4,096 messages are under way, so shares are handed out in batches, which makes "
        "results up to 0.7% later (docs/simulator.md). Simulated.",
        "",
    )
    sweeps.show(section, "moe", rows, PAPER)
    section.add("", "GB/s per rank, ideal links, nominal rates:", "", *rates_table(rows))
    names = ("nccl", "nccl-host", "deepep-rail", "deepep-nic", "nimble", "nearest")
    part = [row for row in rows if (row.rates, row.links) == ("nominal", "ideal")]
    title = f"{topology}, MoE top-8: ideal links, nominal rates (simulated)"
    labels = [str(m) for m in tokens]
    svg = sweeps.plot_rows(title, "tokens per rank", part, labels, names, run.OURS)
    section.picture("moe", svg, title)
    sweeps.details(section, rows, "All points at nominal rates")
    return section


if __name__ == "__main__":
    main(make, __doc__)
