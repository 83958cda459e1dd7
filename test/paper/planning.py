#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Table 4, right: the cost of planning, 1 GiB per source."""

from figures import Section, main
from rows import FEW_PLANS, MANY_PLANS, MANY_PLANS_RANKS, OURS, OVERHEADS, TIMED
from tables import table

CASES = (
    ("r5080-bf3", 8),
    ("r5090-bf3", 16),
    ("r5080-bf3:nodes=2", 16),
    ("r5080-bf3:nodes=4", 32),
    ("r5080-bf3:nodes=8", 64),
    ("r5080-bf3:nodes=16", 128),
    ("r5080-cx8:nodes=32", 256),
)
DEMANDS = ("uniform", "random", "zipf --over ranked-rows --exponent 0.6")
LINKS = "ideal,collapses"


def measure(runner, topology, ranks, options):
    """Answers of `simulate` under all LINKS, planning timed."""
    demand = runner.demand(ranks, options + f" --bytes-per-rank {1 << 30}")
    n_plans = MANY_PLANS if ranks <= MANY_PLANS_RANKS else FEW_PLANS
    words = ["simulate", "--topology", topology, "--demand", demand, "--links", LINKS]
    return runner.ask(*words, "--algorithms", OURS, *OVERHEADS, "--time-planning", str(n_plans))


def make(runner, fast):
    """The section."""
    section = Section("Table 4: planning")
    items = [
        (runner, topology, ranks, options)
        for topology, ranks in (CASES[:2] if fast else CASES)
        for options in DEMANDS
    ]
    cells = []
    for (_, topology, ranks, options), answers in zip(items, runner.map(measure, items)):
        for it in answers:
            planning_ns, lanes = it["planning_cpu_ns"], it["flows"]
            cells.append(
                [topology, ranks, options.split(" ")[0], it["links"], lanes, it["execution"]]
                + [f"{it['time_ns'] / 1e6:.3f}", f"{it['planning_model_ns'] / 1e6:.3f}"]
                + [f"{planning_ns / 1e6:.3f}"]
                + [f"{planning_ns / (ranks * (ranks - 1)):.0f}"]
                + [f"{planning_ns * ranks / lanes / 1e3:.2f}"]
                + [f"{100 * planning_ns / it['time_ns']:.3f}%"]
            )
    cells.append(
        ["the paper", "8-256", "skewed", "", "", "", "", "", "", "", "3.2-78.12", "0.07-4.12%"]
    )
    heads = ["topology", "ranks", "demand", "links", "lanes", "runs as", "communication ms"]
    heads.append("modelled planning ms")
    heads += [head + TIMED for head in ("planning ms", "ns per pair", "us per activation", "share")]
    section.add(
        f"1 GiB per source, planner `auto`: CPU time of one thread, the fastest of {MANY_PLANS} "
        f"plans (above {MANY_PLANS_RANKS} ranks {FEW_PLANS}). Every rank plans the same by itself. "
        "As many lanes as ranks count as an activation. Each row of the figures above has its own "
        "planning time, measured alike. The paper: means of 100 demands.",
        "",
        *table(heads, cells),
    )
    return section


if __name__ == "__main__":
    main(make, __doc__)
