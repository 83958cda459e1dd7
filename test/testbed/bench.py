#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures alltoallv of the component against Open MPI's own algorithms on the testbed.

Every row stands beside what `variopath simulate` predicts for the same links and beside the LP
bound. The table (Markdown) goes to --output, raw results to --json; progress goes to stderr.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time

from bed import Bed
from job import OB1, OURS, UCX, Jobs, tuned
from machine import Machine, Refused
from system import exit_on_signals, obstacle

PATTERNS = (
    {  # name: (rate set, arguments of `variopath demand`, or None for the cross-switch pattern)
        "cross-switch": ("nominal", None),
        "uniform": ("nominal", ["uniform"]),
        "Zipf 0.4": ("nominal", ["zipf", "--exponent", "0.4"]),
        "Zipf 0.6": ("nominal", ["zipf", "--exponent", "0.6"]),
        "Zipf 0.8": ("nominal", ["zipf", "--exponent", "0.8"]),
        "MoE": ("nominal", ["moe", "--experts", "32", "--top-k", "4", "--exponent", "0.6"]),
        "hot destination": ("nominal", ["hotspot", "--hot-ppm", "300000"]),
        "slow NIC, Zipf 0.6": ("slow-nic", ["zipf", "--exponent", "0.6"]),
        "wide GPU links, Zipf 0.6": ("wide", ["zipf", "--exponent", "0.6"]),
    }
)
MOE_TOKEN_BYTES = 7168 * 2 * 4  # hidden size, bytes of an element, experts per token


class Bench:
    def __init__(self, options):
        self.options = options
        self.rows = []
        self.topology = None

    def tool(self, *arguments):
        done = subprocess.run(
            [self.options.variopath, *arguments], text=True, capture_output=True, check=False
        )
        if done.returncode != 0:
            raise Refused(done.stderr.strip())
        return done.stdout

    def demand(self, jobs, name, machine):
        """A file with the demand of a pattern."""
        path, (_, arguments), ranks = jobs.path("demand.csv"), PATTERNS[name], machine.ranks
        per_rank = int(self.options.megabytes * 1e6)
        if arguments is None:
            n_peers = sum(1 for b in ranks if b.node == 0 and b.group != ranks[0].group)
            with open(path, "w", encoding="ascii") as file:
                for a in ranks:
                    row = [
                        per_rank // n_peers if a.node == b.node and a.group != b.group else 0
                        for b in ranks
                    ]
                    file.write(",".join(map(str, row)) + "\n")
            return path
        size = ["--bytes-per-rank", str(per_rank), "--scale", "pair"]
        if arguments[0] == "moe":
            size = ["--tokens", str(max(1, per_rank // MOE_TOKEN_BYTES))]
        self.tool("demand", *arguments, "--ranks", str(len(ranks)), *size, "-o", path)
        return path

    def predict(self, demand, algorithm, execution=None):
        """Seconds by the simulator."""
        more = ["--execution", execution] if execution else []
        text = self.tool(
            "simulate",
            "--topology",
            self.topology,
            "--demand",
            demand,
            "--algorithms",
            algorithm,
            "--json",
            *more,
        )
        return json.loads(text)[0]["time_ns"] / 1e9

    def bound(self, demand):
        text = self.tool("bound", "--topology", self.topology, "--demand", demand, "--json")
        return json.loads(text)["lp_ns"] / 1e9

    def contenders(self, jobs, pattern, demand):
        """[(name, arguments of mpirun, arguments of the program, prediction in s or None)]"""
        given = ["--demand", demand]
        ours = OURS + ["--mca", "coll_variopath_catalog", jobs.path("catalog")]
        found = []
        for mode in self.options.modes:
            # The simulator knows the modes by the same names, and "auto" as its default.
            execution = None if mode == "auto" else mode
            found.append(
                (
                    f"VarioPath {mode}",
                    ours + ["--mca", "coll_variopath_sync", mode],
                    given,
                    self.predict(demand, "auto", execution),
                )
            )
        pairwise, linear = (
            self.predict(demand, f"openmpi-{name}") for name in ("pairwise", "linear")
        )
        found.append(("tuned pairwise, ob1/tcp", tuned(OB1, 2), given, pairwise))
        found.append(("tuned linear, ob1/tcp", tuned(OB1, 1), given, linear))
        if pattern == "uniform":  # Open MPI has linear-sync for MPI_Alltoall only
            with open(demand, encoding="ascii") as file:
                block = file.readline().split(",")[1].strip()
            found.append(
                (
                    "tuned linear-sync, ob1/tcp (MPI_Alltoall)",
                    tuned(OB1, 4, "alltoall"),
                    ["--alltoall", "--bytes", block],
                    linear,
                )
            )
        if has_pml_ucx(jobs):
            found.append(("tuned pairwise, pml ucx", tuned(UCX, 2), given, pairwise))
            found.append(("tuned linear, pml ucx", tuned(UCX, 1), given, linear))
        return [
            it for it in found if not self.options.contenders or it[0] in self.options.contenders
        ]

    def pattern(self, bed, jobs, name):
        demand = self.demand(jobs, name, bed.machine)
        bound = self.bound(demand)
        for contender, mpi, program, prediction in self.contenders(jobs, name, demand):
            result = jobs.run(
                mpi, program + ["--repeat", str(self.options.repeat)], self.options.limit
            )
            load = os.getloadavg()[0]
            row = {
                "pattern": name,
                "contender": contender,
                "bound": bound,
                "prediction": prediction,
                "median": result.median if result.is_right else None,
                "fastest": result.fastest,
                "slowest": result.slowest,
                "load": load,
            }
            self.rows.append(row)
            print(
                f"{name}; {contender}: {milliseconds(row['median'])} ms, load {load:.1f}",
                file=sys.stderr,
                flush=True,
            )
            if not result.is_right:
                print(result.output[-1500:], file=sys.stderr, flush=True)

    def run(self):
        """The patterns, a testbed per rate set."""
        chosen = [
            name for name in PATTERNS if not self.options.patterns or name in self.options.patterns
        ]
        for rates in dict.fromkeys(PATTERNS[name][0] for name in chosen):
            self.topology = f"{self.options.topology}:rates={rates}:transports=testbed"
            with Bed(Machine(self.options.variopath, self.topology)) as bed, Jobs(
                bed, self.options.build, self.options.source
            ) as jobs:
                self.tool("catalog", "build", self.topology, "-o", jobs.path("catalog"))
                self.options.modes = self.options.modes or modes(jobs, self.options.limit)
                for name in chosen:
                    if PATTERNS[name][0] == rates:
                        self.pattern(bed, jobs, name)
                dropped = sum(bed.drops().values())
            if dropped:
                raise Refused(
                    f"{dropped} packets were dropped, so the links did not behave as lossless "
                    "ones; the results are void"
                )


def has_pml_ucx(jobs):
    done = subprocess.run(
        [os.environ.get("VP_OMPI_INFO", "ompi_info")],
        text=True,
        capture_output=True,
        env=jobs.environment,
        check=False,
    )
    return "MCA pml: ucx" in done.stdout


def modes(jobs, limit):
    """Every synchronisation mode: the component names them where it is asked for another one."""
    asked = OURS + ["--mca", "coll_variopath_sync", "?"]
    output = jobs.run(asked, ["--bytes", "1", "--repeat", "1"], limit).output
    match = re.search(r"Parameter: *coll_variopath_sync\n.*\n.*Known: *(.*)", output)
    if not match:
        raise Refused(f"the component does not tell its modes; name them with --modes:\n{output}")
    return match.group(1).split(", ")


def milliseconds(seconds):
    return "failed" if seconds is None else f"{1e3 * seconds:.0f}"


def ratio(row, other):
    return "-" if row["median"] is None or not row[other] else f"{row['median'] / row[other]:.2f}"


def table(rows):
    lines = [
        "| pattern | algorithm | median ms | fastest - slowest | fluid ms | measured / fluid "
        "| LP bound ms | measured / bound | load |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    before = None
    for row in rows:
        name = row["pattern"] if row["pattern"] != before else ""
        before = row["pattern"]
        spread = (
            "-"
            if row["fastest"] is None
            else (f"{milliseconds(row['fastest'])} - {milliseconds(row['slowest'])}")
        )
        lines.append(
            f"| {name} | {row['contender']} | {milliseconds(row['median'])} | {spread} "
            f"| {milliseconds(row['prediction'])} | {ratio(row, 'prediction')} "
            f"| {milliseconds(row['bound'])} | {ratio(row, 'bound')} | {row['load']:.0f} |"
        )
    return "\n".join(lines) + "\n"


def summary(rows):
    """Per pattern: the component's default and its best mode against the best of Open MPI."""
    lines = [
        "| pattern | VarioPath auto ms | its best mode ms | best of Open MPI ms | auto gains "
        "| best mode gains |",
        "|---|---|---|---|---|---|",
    ]
    for pattern in dict.fromkeys(row["pattern"] for row in rows):
        times = {
            row["contender"]: row["median"]
            for row in rows
            if row["pattern"] == pattern and row["median"] is not None
        }
        ours = {name: it for name, it in times.items() if name.startswith("VarioPath")}
        stock = {name: it for name, it in times.items() if name not in ours}
        if "VarioPath auto" not in ours or not stock:
            continue
        default, best, other = (
            ours["VarioPath auto"],
            min(ours, key=ours.get),
            min(stock, key=stock.get),
        )
        mode = best.removeprefix("VarioPath ")
        lines.append(
            f"| {pattern} | {milliseconds(default)} | {milliseconds(ours[best])} ({mode}) "
            f"| {milliseconds(stock[other])} ({other}) | {stock[other] / default:.2f} "
            f"| {stock[other] / ours[best]:.2f} |"
        )
    return "\n".join(lines) + "\n"


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variopath", default="./variopath")
    parser.add_argument("--build", default=".")
    parser.add_argument("--source", default=os.environ.get("srcdir", "."))
    parser.add_argument("--topology", required=True, help="file, without :rates= and :transports=")
    parser.add_argument(
        "--megabytes", type=float, default=4, help="bytes that a rank sends, in 10^6 [4]"
    )
    parser.add_argument("--repeat", type=int, default=5, help="timed calls of a job [5]")
    parser.add_argument("--limit", type=int, default=300, help="seconds a job may take [300]")
    parser.add_argument("--patterns", type=lambda text: text.split(";"), help="A;B;... [all]")
    parser.add_argument(
        "--modes",
        type=lambda text: text.split(","),
        help="values of coll_variopath_sync [all that the component tells of]",
    )
    parser.add_argument("--contenders", type=lambda text: text.split(";"), help="A;B;... [all]")
    parser.add_argument("--output", default="-")
    parser.add_argument("--json")
    options = parser.parse_args()
    options.build, options.source = os.path.abspath(options.build), os.path.abspath(options.source)
    unknown = set(options.patterns or []) - set(PATTERNS)
    if unknown:
        parser.error(f"unknown pattern {sorted(unknown)[0]}; there are {'; '.join(PATTERNS)}")
    return options


def write(path, text):
    if path == "-":
        print(text, end="")
    else:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def main():
    options = parse()
    exit_on_signals()
    reason = obstacle()
    if reason:
        print(reason, file=sys.stderr)
        return 77
    bench = Bench(options)
    begin = time.monotonic()
    bench.run()
    write(options.output, table(bench.rows) + "\n" + summary(bench.rows))
    if options.json:
        write(options.json, json.dumps(bench.rows, indent=1) + "\n")
    print(f"{len(bench.rows)} jobs in {time.monotonic() - begin:.0f} s", file=sys.stderr)
    return 0 if all(row["median"] is not None for row in bench.rows) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as error:
        sys.exit(f"testbed: {error}")
