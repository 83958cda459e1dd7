# SPDX-License-Identifier: BSD-3-Clause
"""Rows: one machine, demand and set of links, with the times of ours and of all others.

Ours plans over all NICs of a node (`:nics=all`), as baselines may that leave by a far NIC;
bounds are those of the same paths. Baselines get the topology as it is. Beside it stands what
ours takes over near NICs only, the paper's model.

Ours is shown four ways: the transfer alone, with the exchange of counts, with planning as the
planner's own model counts it (scheduler/cost.h), and *charged*, which adds planning as measured
instead: CPU time of the very plan, when the page is made. What contains a measured time is marked
(TIMED on the page, TIMED_SUFFIX in CSV files) and is all that differs between two runs.
"""

import csv
import os

from runner import read_demand

BASELINES = (
    "nccl",
    "nccl-host",
    "msccl",
    "fast",
    "deepep-rail",
    "deepep-nic",
    "nimble",
    "rails",
    "flexlink",
    "nearest",
    "openmpi-linear",
    "openmpi-pairwise",
    "mpich-scattered",
    "ucc",
)
PROFILES = ("ideal", "shares-well", "collapses")
RATES = ("nominal", "measured")
OURS = "auto"
# Which NICs ours may use.
ALL_NICS, NEAR_NICS = "all", "near"
TIMED = " †"
TIMED_SUFFIX = "_timed"
# What a time of ours contains, and the attribute of a row that holds it.
KINDS = (
    ("transfer", "transfer_ns"),
    ("with exchange", "exchanged_ns"),
    ("with modelled planning", "modelled_ns"),
    ("charged" + TIMED, "charged_ns"),
)

# What a call of ours pays before its first lane (the page states both rules).
EXCHANGE_STEP_NS = 2000
COUNT_BYTES = 8
# Rate of the NIC over which counts travel, bytes per nanosecond.
EXCHANGE_BYTES_PER_NS = 47
# What the same operations cost a baseline: a lane is a put, put_overhead_ns of the shipped
# topologies, and where lanes of other ranks wait for it the signal that starts them.
LANE_NS = 2000
POST_NS = 1000
OVERHEADS = ("--alpha-ns", str(LANE_NS), "--post-ns", str(POST_NS))
# How often a plan is made for its fastest time.
MANY_PLANS, FEW_PLANS, MANY_PLANS_RANKS = 9, 3, 64


def exchange_ns(n_ranks):
    """Recursive doubling of all counts: a message per step, then the bytes over one NIC."""
    steps = (n_ranks - 1).bit_length()
    n_bytes = COUNT_BYTES * n_ranks * (n_ranks - 1)
    return steps * EXCHANGE_STEP_NS + -(-n_bytes // EXCHANGE_BYTES_PER_NS)


# Why ours is slower, from what a planner cannot help to what it can.
CAUSES = ("clock", "planning", "exchange", "ways", "plan")
CAUSE_TEXTS = {
    "clock": "clock: planning as the model counts it is within the limit, as measured it is not",
    "planning": "planning: transfer and exchange are within the limit, modelled planning is not",
    "exchange": "exchange: the transfer is within the limit, the exchange of counts is not",
    "ways": "ways that our paths do not have: the baseline is faster than the fluid bound of the "
    "paths, through relays",
    "plan": "plan: the baseline is faster over the same paths",
}


class Row:
    """One machine, demand and set of links: times of all algorithms, ours charged."""

    def __init__(self, label, rates, links, ranks, total_bytes):
        self.label, self.rates, self.links = label, rates, links
        self.ranks, self.total_bytes = ranks, total_bytes
        self.times = {}
        self.fluid_ns = self.lp_ns = 0
        self.lanes = 0
        self.execution = ""
        self.planning_ns = self.planning_model_ns = 0
        self.near_transfer_ns = self.near_planning_model_ns = 0
        self.figure = ""

    @property
    def key(self):
        """What a row is known by."""
        return self.label, self.rates, self.links

    @property
    def transfer_ns(self):
        """Ours without planning and exchange."""
        return self.times[OURS]

    @property
    def exchanged_ns(self):
        """Ours with the exchange."""
        return self.transfer_ns + exchange_ns(self.ranks)

    @property
    def modelled_ns(self):
        """Ours with exchange and planning as the planner counts it."""
        return self.exchanged_ns + self.planning_model_ns

    @property
    def charged_ns(self):
        """Ours with exchange and planning as measured; timed."""
        return self.exchanged_ns + self.planning_ns

    @property
    def near_ns(self):
        """As modelled_ns, over near NICs only."""
        return self.near_transfer_ns + exchange_ns(self.ranks) + self.near_planning_model_ns

    @property
    def best(self):
        """(time, name) of the best baseline."""
        return min((self.times[name], name) for name in BASELINES if name in self.times)

    def rate(self, time_ns):
        """Algorithmic bandwidth in GB/s."""
        return self.total_bytes / (self.ranks * time_ns) if time_ns > 0 else 0.0

    @property
    def bytes_per_rank(self):
        """Mean over the ranks."""
        return self.total_bytes / self.ranks

    @property
    def limit_ns(self):
        """Longest that ours may take: 2% or one exchange more than the best baseline."""
        best = self.best[0]
        return max(best * 1.02, best + exchange_ns(self.ranks))

    def is_slower(self, kind="charged_ns"):
        """Beyond the limit; `kind` is the attribute with our time."""
        return getattr(self, kind) > self.limit_ns

    def has_room(self):
        """The best baseline is more than 5% above the fluid bound."""
        return self.best[0] > 1.05 * self.fluid_ns

    def cause(self, timed=True):
        """Why ours is slower, one of CAUSES; None: it is not. `timed`: by the clock, too."""
        if self.is_slower("transfer_ns"):
            return "ways" if self.best[0] < self.fluid_ns else "plan"
        if self.is_slower("exchanged_ns"):
            return "exchange"
        if self.is_slower("modelled_ns"):
            return "planning"
        return "clock" if timed and self.is_slower("charged_ns") else None


def severity(cause):
    """Ranks causes: 0 is none."""
    return 0 if cause is None else 1 + CAUSES.index(cause)


def compare(
    runner,
    label,
    topology,
    demand,
    rates="nominal",
    profiles=PROFILES,
    options=(),
    baselines=BASELINES,
    n_plans=None,
    nics=ALL_NICS,
):
    """One row per profile."""
    where = ["--topology", topology + ":rates=" + rates, "--demand", demand]
    n_ranks = len(read_demand(demand))
    n_plans = n_plans or (MANY_PLANS if n_ranks <= MANY_PLANS_RANKS else FEW_PLANS)
    played = ["--links", ",".join(profiles), *options]
    own = ["--algorithms", OURS, *OVERHEADS]
    over = ["--topology", f"{topology}:rates={rates}:nics={nics}", "--demand", demand]
    bound = runner.ask("bound", *over)
    others = runner.ask(
        "simulate", *where, *played, "--algorithms", ",".join(baselines), kind="peer"
    )
    ours = runner.ask("simulate", *over, *played, *own, "--time-planning", str(n_plans))
    near = ours if nics == NEAR_NICS else runner.ask("simulate", *where, *played, *own)
    rows = []
    for profile in profiles:
        row = Row(label, rates, profile, n_ranks, ours[0]["total_bytes"])
        row.fluid_ns, row.lp_ns = bound["fluid_ns"], bound["lp_ns"]
        for answer in others:
            if answer["links"] == profile:
                row.times[answer["algorithm"]] = answer["time_ns"]
        for answer in ours:
            if answer["links"] == profile:
                row.times[OURS] = answer["time_ns"]
                row.lanes = answer["flows"]
                row.execution = answer["execution"]
                row.planning_ns = answer["planning_cpu_ns"]
                row.planning_model_ns = answer["planning_model_ns"]
        for answer in near:
            if answer["links"] == profile:
                row.near_transfer_ns = answer["time_ns"]
                row.near_planning_model_ns = answer["planning_model_ns"]
        rows.append(row)
    return rows


CHARGES = ("execution", "exchange_ns", "planning_model_ns")
NEAR = ("near_transfer_ns", "near_planning_model_ns")
FIELDS = ("point", "rates", "links", "ranks", "total_bytes", "fluid_ns", "lp_ns", "lanes")


def time_column(name):
    """deepep_rail_ns."""
    return name.replace("-", "_") + "_ns"


def csv_lines(rows):
    """All rows with all times; commas in labels become semicolons."""
    names = [OURS, *BASELINES]
    planning = "planning_ns" + TIMED_SUFFIX
    lines = [",".join([*FIELDS, *CHARGES, *NEAR, planning, *map(time_column, names)])]
    for row in rows:
        cells = [row.label.replace(",", ";"), row.rates, row.links, row.ranks, row.total_bytes]
        cells += [row.fluid_ns, row.lp_ns, row.lanes, row.execution, exchange_ns(row.ranks)]
        cells += [row.planning_model_ns, *(getattr(row, name) for name in NEAR), row.planning_ns]
        cells += [row.times.get(name, "") for name in names]
        lines.append(",".join(map(str, cells)))
    return lines


def read_csv(path):
    """The rows that csv_lines wrote, by their keys."""
    rows = {}
    with open(path, encoding="utf-8") as file:
        for cells in csv.DictReader(file):
            row = Row(
                cells["point"],
                cells["rates"],
                cells["links"],
                int(cells["ranks"]),
                int(cells["total_bytes"]),
            )
            row.fluid_ns, row.lp_ns = int(cells["fluid_ns"]), int(cells["lp_ns"])
            row.lanes, row.execution = int(cells["lanes"]), cells["execution"]
            row.planning_model_ns = int(cells["planning_model_ns"])
            row.near_transfer_ns = int(cells["near_transfer_ns"])
            row.near_planning_model_ns = int(cells["near_planning_model_ns"])
            row.planning_ns = int(cells["planning_ns" + TIMED_SUFFIX])
            for name in (OURS, *BASELINES):
                if cells.get(time_column(name)):
                    row.times[name] = int(cells[time_column(name)])
            rows[row.key] = row
    return rows


def committed(name):
    """Path of a file of the page as it is in the sources."""
    here = os.path.dirname(os.path.abspath(__file__))
    return os.path.join(here, "..", "..", "docs", "evaluation", name)
