#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Figure 1: peers and paths on two switches of three GPUs.

Stage A, rank i to i + 3 with every flow between the switches: `nearest`. Stage B, the same
peers with one flow per direction over the NIC, and stage C, the joint choice, are plans;
stage B's is played as a schedule, stage C's is made by the planner.
"""

import json
import os

from figures import Section, main
from tables import table

GB = 10**9
PAPER = {"A": 128, "B": 228, "C": 356}


def rotation(amounts):
    """Rank i sends amounts[i] to i + 3."""
    return [[amounts[i] if j == (i + 3) % 6 else 0 for j in range(6)] for i in range(6)]


def instance(runner, kind, source_group, target_group):
    """Index of an instance of Figure 1's machine."""
    shown = runner.ask("topology", "show", "fig1-6")
    for index, it in enumerate(shown["instances"]):
        if (it["kind"], it["from_group"], it["to_group"]) == (kind, source_group, target_group):
            return index
    raise SystemExit(f"figure 1's machine has no {kind} from {source_group} to {target_group}")


def stage_b(runner):
    """Bytes per second of the peers of stage A with one NIC lane per direction."""
    kinds = ["NIC", "PXB", "PXB", "NIC", "PXB", "PXB"]
    amounts = [50 * GB if kind == "NIC" else 32 * GB for kind in kinds]
    demand = runner.write_demand("figure1-b", rotation(amounts))
    transfers = [
        [
            0,
            i,
            (i + 3) % 6,
            instance(runner, kinds[i], i // 3, 1 - i // 3),
            i,
            (i + 3) % 6,
            amounts[i],
        ]
        for i in range(6)
    ]
    path = os.path.join(runner.folder, "demands", "figure1-b.json")
    schedule = {"format": "variopath-schedule", "version": 1, "algorithm": "stage-b"}
    schedule |= {"topology": "fig1-6", "ranks": 6, "synthesis_ms": 0, "execution": "deps"}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(schedule | {"transfers": transfers}, file)
    words = ["simulate", "--topology", "fig1-6", "--demand", demand, "--schedule", path]
    answer = runner.ask(*words)[0]
    return answer["total_bytes"], answer["time_ns"] - overhead(runner, True)


def overhead(runner, is_proxy):
    """What one operation costs: simulated times contain it, Figure 1 does not."""
    put = runner.ask("topology", "show", "fig1-6")["put_overhead_ns"]
    return 2 * put if is_proxy else put


def stage_c(runner):
    """One PIX, one PXB and one NIC lane out of each switch, planned by us."""
    cells = {(0, 1): 64, (1, 3): 64, (2, 4): 50, (3, 5): 64, (4, 0): 64, (5, 2): 50}
    rows = [[cells.get((i, j), 0) * GB for j in range(6)] for i in range(6)]
    demand = runner.write_demand("figure1-c", rows)
    words = ["simulate", "--topology", "fig1-6", "--demand", demand, "--alpha-ns", "0"]
    answer = runner.ask(*words, "--algorithms", "paper")[0]
    return answer["total_bytes"], answer["time_ns"]


def stage_a(runner):
    """Everything between the switches."""
    demand = runner.write_demand("figure1-a", rotation([64 * GB] * 6))
    words = ["simulate", "--topology", "fig1-6", "--demand", demand, "--algorithms", "nearest"]
    answer = runner.ask(*words)[0]
    return answer["total_bytes"], answer["time_ns"] - overhead(runner, False)


def make(runner, fast):
    """The section."""
    del fast
    section = Section("Figure 1: peers, paths and both")
    stages = {"A": stage_a(runner), "B": stage_b(runner), "C": stage_c(runner)}
    rates = {name: n_bytes / time_ns for name, (n_bytes, time_ns) in stages.items()}
    for name, rate in rates.items():
        if abs(rate - PAPER[name]) > 1e-6:
            raise SystemExit(f"figure 1, stage {name}: {rate} GB/s instead of {PAPER[name]}")
    names = {
        "A": "peers i to i + 3, all between the switches",
        "B": "the same peers, one flow per direction over the NIC",
        "C": "peers and paths together (planner `paper`)",
    }
    cells = [[name, names[name], f"{rates[name]:.0f}", PAPER[name]] for name in "ABC"]
    section.add(*table(["stage", "what", "simulated GB/s", "paper, modelled"], cells))
    section.add("", "Without the overhead of an operation, as in the paper.")
    return section


if __name__ == "__main__":
    main(make, __doc__)
