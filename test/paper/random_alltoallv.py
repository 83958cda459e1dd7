#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Figure 7: random all-to-all-v, 42 points on four deployments of 32 and 64 GPUs."""

import sweeps
from figures import Section, main
from tables import size_text

MACHINES = (
    ("r5080-bf3:nodes=4", 32, 11),
    ("r5080-bf3:nodes=8", 64, 10),
    ("r5090-bf3:nodes=2", 32, 11),
    ("r5090-bf3:nodes=4", 64, 10),
)
PAPER = {
    "nccl": "3.73-10.61",
    "fast": "3.49-9.41",
    "deepep-rail": "1.55-2.00",
    "deepep-nic": "1.55-2.00",
}


def make(runner, fast):
    """The section."""
    section = Section("Figure 7: random all-to-all-v (42 points)")
    machines = [("r5080-bf3:nodes=4", 32, 2)] if fast else MACHINES
    points = []
    for topology, ranks, n_sizes in machines:
        for n_bytes in sweeps.sizes(1, n_sizes):
            demand = runner.demand(ranks, f"random --bytes-per-rank {n_bytes}")
            points.append((sweeps.size_label(topology, n_bytes), topology, demand))
    rows = sweeps.sweep(runner, points)
    section.add(
        "Uniform integers below 1,024 per ordered pair, scaled to 1 MiB to 1 GiB (64 ranks: 512 "
        "MiB) per rank. The paper varies the payload on the same four deployments; its sizes are "
        "not given. Simulated.",
        "",
    )
    sweeps.show(section, "random", rows, PAPER)
    names = ("nccl", "nccl-host", "msccl", "fast", "deepep-rail", "deepep-nic", "nimble", "nearest")
    places = ("bytes per rank", [size_text(n) for n in sweeps.sizes(1, 11)])
    keys = [(topology, topology.replace(":nodes=", "-")) for topology, _, _ in machines]
    sweeps.pictures(section, "random", rows, keys, "random all-to-all-v", places, names)
    sweeps.details(section, rows, "All 42 points")
    return section


if __name__ == "__main__":
    main(make, __doc__)
