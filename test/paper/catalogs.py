#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Table 4, left: sizes and build times of catalogs."""

import os

from figures import Section, main
from rows import TIMED
from tables import table

CASES = (
    ("r5080-bf3", 8),
    ("r5080-bf3:nodes=2", 16),
    ("r5080-bf3:nodes=4", 32),
    ("r5080-bf3:nodes=8", 64),
    ("r5090-bf3", 16),
    ("r5090-bf3:nodes=2", 32),
    ("r5090-bf3:nodes=4", 64),
    ("l20-cx7:nodes=2", 16),
    ("l20-cx7:nodes=4", 32),
    ("r5080-cx8", 8),
    ("r5080-cx8:nodes=32", 256),
    ("r5080-cx8:nodes=128", 1024),
)
PAPER = "3-1,616 shapes, 6-2,140 families, 1.7 KiB-168.6 MiB, 0.8 s-94.6 min"


def build(runner, topology):
    """`catalog show` of a fresh catalog, and the CPU seconds that it took to make."""
    path = os.path.join(runner.folder, "catalog-" + topology.replace(":", "-") + ".vpcat")
    _, seconds = runner.call("catalog", "build", topology, "-o", path)
    return runner.ask("catalog", "show", path), seconds


def make(runner, fast):
    """The section."""
    section = Section("Table 4: catalogs")
    cells = []
    for topology, ranks in CASES[:2] if fast else CASES:
        shown, seconds = build(runner, topology)
        cells.append(
            [topology, ranks, shown["mode"], shown["instances"], shown["shapes"] or ""]
            + [shown["families"] or "", shown["file_bytes"], f"{seconds:.3f}"]
        )
    cells.append(["the paper", "8-256", PAPER, "", "", "", "", ""])
    heads = ["topology", "ranks", "mode", "path instances", "shapes", "families", "bytes"]
    heads.append("CPU s, program and all" + TIMED)
    section.add(
        *table(heads, cells),
        "",
        "An *exhaustive* catalog lists every family; a *generated* one holds path instances, from "
        "which the planner makes the family it needs, because complete lists explode (622,641 "
        "shapes at four nodes of r5080-bf3). The paper's counts for up to 256 GPUs cannot be "
        "complete lists for such machines.",
    )
    return section


if __name__ == "__main__":
    main(make, __doc__)
