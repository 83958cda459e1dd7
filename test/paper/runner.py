# SPDX-License-Identifier: BSD-3-Clause
"""Runs `variopath` for the tables of the evaluation and keeps what it said.

Results lie in one folder, one file per question, so that an interrupted run goes on where
it stopped. A folder that does not exist yet makes everything anew. Nothing here
depends on time or order: equal questions give equal answers.
"""

import concurrent.futures
import hashlib
import json
import os
import subprocess
import threading

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

# What a call of ours pays before its first lane (docs/evaluation.md states both rules).
EXCHANGE_STEP_NS = 2000
COUNT_BYTES = 8
# What the same operations cost a baseline: a lane is a put, put_overhead_ns of the shipped
# topologies, and where lanes of other ranks wait for it the signal that starts them.
LANE_NS = 2000
POST_NS = 1000
OVERHEADS = ("--alpha-ns", str(LANE_NS), "--post-ns", str(POST_NS))
# Rates of the NIC over which counts travel, bytes per nanosecond.
EXCHANGE_BYTES_PER_NS = 47


def read_planning():
    """[(ranks, ns per pair)] of planning.csv, which `planning.py --calibrate` measured."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "planning.csv")
    with open(path, encoding="utf-8") as file:
        cells = [line.strip().split(",") for line in file][1:]
    return sorted((int(ranks), int(ns)) for ranks, ns in cells)


def pair_planning_ns(n_ranks):
    """Of the smallest measured machine that has as many ranks, or of the largest."""
    table = read_planning()
    return next((ns for ranks, ns in table if ranks >= n_ranks), table[-1][1])


def write_file(path, text):
    """Whole or not at all, also when several write the same."""
    part = f"{path}.{os.getpid()}.{threading.get_ident()}"
    with open(part, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(part, path)


def exchange_ns(n_ranks):
    """Recursive doubling of all counts: a message per step, then the bytes over one NIC."""
    steps = (n_ranks - 1).bit_length()
    n_bytes = COUNT_BYTES * n_ranks * (n_ranks - 1)
    return steps * EXCHANGE_STEP_NS + -(-n_bytes // EXCHANGE_BYTES_PER_NS)


class Runner:
    """Asks `variopath`, at most `workers` questions at a time."""

    def __init__(self, variopath, folder, workers=2):
        self.variopath = os.path.abspath(variopath)
        self.folder = os.path.abspath(folder)
        self.pool = concurrent.futures.ThreadPoolExecutor(workers)
        for part in ("answers", "demands"):
            os.makedirs(os.path.join(self.folder, part), exist_ok=True)

    def call(self, *words):
        """Standard output of one command, not kept."""
        done = subprocess.run([self.variopath, *words], capture_output=True, check=False)
        if done.returncode != 0:
            raise SystemExit(
                f"variopath {' '.join(words)}\nended with {done.returncode}: {done.stderr.decode()}"
            )
        return done.stdout.decode()

    def ask(self, *words):
        """The JSON that a command answers with; kept by the command and its files."""
        digest = hashlib.sha256()
        for word in words:
            digest.update(word.encode() + b"\0")
            if os.path.isfile(word):
                with open(word, "rb") as file:
                    digest.update(file.read())
        own = any(word.startswith(OURS) or word == "plan" for word in words)
        path = os.path.join(
            self.folder, "answers", ("own-" if own else "") + digest.hexdigest()[:24] + ".json"
        )
        if not os.path.exists(path):
            write_file(path, self.call(*words, "--json"))
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    def demand(self, ranks, options, seed=1):
        """A CSV file made by `variopath demand`."""
        words = ["demand", *options.split(), "--ranks", str(ranks), "--seed", str(seed)]
        name = hashlib.sha256(" ".join(words).encode()).hexdigest()[:24] + ".csv"
        path = os.path.join(self.folder, "demands", name)
        if not os.path.exists(path):
            write_file(path, self.call(*words))
        return path

    def write_demand(self, name, rows):
        """A CSV file with these rows."""
        path = os.path.join(self.folder, "demands", name + ".csv")
        write_file(path, "".join(",".join(str(cell) for cell in row) + "\n" for row in rows))
        return path

    def map(self, function, items):
        """function(*item) of all items, several at a time, in order."""
        return list(self.pool.map(lambda item: function(*item), items))


def read_demand(path):
    """Rows of a CSV file of bytes."""
    with open(path, encoding="utf-8") as file:
        return [[int(cell) for cell in line.split(",")] for line in file if line.strip()]


class Row:
    """One machine, demand and set of links: times of all algorithms, ours charged."""

    def __init__(self, label, rates, links, ranks, total_bytes):
        self.label, self.rates, self.links = label, rates, links
        self.ranks, self.total_bytes = ranks, total_bytes
        self.times = {}
        self.fluid_ns = self.lp_ns = 0
        self.pairs = self.lanes = 0
        self.execution = ""

    @property
    def transfer_ns(self):
        """Ours without planning and exchange."""
        return self.times[OURS]

    @property
    def charged_ns(self):
        """Ours with planning and exchange."""
        return self.times[OURS] + self.planning_ns + exchange_ns(self.ranks)

    @property
    def planning_ns(self):
        """Charged by pair with bytes, so that equal runs give equal pages."""
        return self.pairs * pair_planning_ns(self.ranks)

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

    def is_beaten(self):
        """Slower than the best baseline by more than 2% and more than one exchange."""
        return self.charged_ns > self.limit_ns

    def is_transfer_beaten(self):
        """The same without planning and exchange."""
        return self.transfer_ns > self.limit_ns

    @property
    def limit_ns(self):
        """Longest that ours may take."""
        best = self.best[0]
        return max(best * 1.02, best + exchange_ns(self.ranks))

    def has_room(self):
        """The best baseline is more than 5% above the fluid bound."""
        return self.best[0] > 1.05 * self.fluid_ns


def compare(
    runner,
    label,
    topology,
    demand,
    rates="nominal",
    profiles=PROFILES,
    options=(),
    baselines=BASELINES,
):
    """One row per profile."""
    where = ["--topology", topology + ":rates=" + rates, "--demand", demand]
    bound = runner.ask("bound", *where)
    common = ["simulate", *where, "--links", ",".join(profiles), *options]
    others = runner.ask(*common, "--algorithms", ",".join(baselines))
    ours = runner.ask(*common, "--algorithms", OURS, *OVERHEADS)
    rows = []
    cells = read_demand(demand)
    n_ranks = len(cells)
    pairs = sum(cells[i][j] > 0 for i in range(n_ranks) for j in range(n_ranks) if i != j)
    for profile in profiles:
        row = Row(label, rates, profile, n_ranks, ours[0]["total_bytes"])
        row.fluid_ns, row.lp_ns = bound["fluid_ns"], bound["lp_ns"]
        row.pairs = pairs
        for answer in others:
            if answer["links"] == profile:
                row.times[answer["algorithm"]] = answer["time_ns"]
        for answer in ours:
            if answer["links"] == profile:
                row.times[OURS] = answer["time_ns"]
                row.lanes = answer["flows"]
                row.execution = answer["execution"]
        rows.append(row)
    return rows
