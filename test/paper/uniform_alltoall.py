#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Figure 8: uniform all-to-all, 80 configurations: eight deployments, ten sizes."""

import sweeps
from figures import Section, main
from tables import size_text

MACHINES = (
    ("r5080-bf3:nodes=1", 8),
    ("r5080-bf3:nodes=2", 16),
    ("r5090-bf3:nodes=1", 16),
    ("r5090-bf3:nodes=2", 32),
    ("l20-cx7:nodes=1", 8),
    ("l20-cx7:nodes=2", 16),
    ("r5080-cx8:nodes=1", 8),
    ("r5080-cx8:nodes=2", 16),
)
PAPER = {"nccl": "1.82", "msccl": "1.99"}


def make(runner, fast):
    """The section."""
    section = Section("Figure 8: uniform all-to-all (80 configurations)")
    machines = MACHINES[:1] if fast else MACHINES
    n_sizes = 2 if fast else 10
    points = []
    for topology, ranks in machines:
        for n_bytes in sweeps.sizes(1, n_sizes):
            demand = runner.demand(ranks, f"uniform --bytes-per-rank {n_bytes}")
            points.append((sweeps.size_label(topology, n_bytes), topology, demand))
    rows = sweeps.sweep(runner, points)
    section.add(
        "Equal blocks, 1 to 512 MiB per rank. The paper's 80 configurations are not listed; these "
        "are its four machines with one and two nodes. Simulated.",
        "",
    )
    sweeps.show(section, "uniform", rows, PAPER)
    names = ("nccl", "nccl-host", "msccl", "fast", "deepep-nic", "nimble", "nearest")
    places = ("bytes per rank", [size_text(n) for n in sweeps.sizes(1, 10)])
    keys = [(topology, topology.replace(":nodes=", "-")) for topology, _ in machines]
    sweeps.pictures(section, "uniform", rows, keys, "uniform all-to-all", places, names)
    sweeps.details(section, rows, "All 80 configurations")
    return section


if __name__ == "__main__":
    main(make, __doc__)
