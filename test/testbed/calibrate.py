#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Does variopath-probe find the rates that links really have, and does a plan gain by it?

The testbed has the rates of one set, the job is told those of the nominal one.
"""

import argparse
import json
import os
import subprocess
import sys

from bed import Bed
from job import OURS, Jobs
from machine import Machine, Refused
from system import exit_on_signals, obstacle

STOCK_BELOW = [
    "--mca",
    "coll",
    "^variopath",
    "--mca",
    "pml",
    "ob1",
    "--mca",
    "btl",
    "tcp,self",
    "--mca",
    "btl_tcp_if_include",
    "ctl0",
]


class Calibration:
    def __init__(self, options):
        self.options = options
        self.n_checks = self.n_failures = 0

    def check(self, what, is_right):
        self.n_checks += 1
        self.n_failures += not is_right
        print(f"{'ok' if is_right else 'FAILED'}: {what}", flush=True)

    def tool(self, *arguments):
        return subprocess.run(
            [self.options.variopath, *arguments], check=True, text=True, capture_output=True
        ).stdout

    def probe(self, jobs):
        """Runs the probe with the nominal figures; the file that it wrote."""
        path = jobs.path("probed.json")
        code, output = jobs.mpirun(
            [
                *STOCK_BELOW,
                os.path.join(self.options.build, "variopath-probe"),
                "--topology",
                f"{self.options.topology}:transports=testbed",
                "--seconds",
                str(self.options.seconds),
                "--repeat",
                str(self.options.repeat),
                "-o",
                path,
            ],
            jobs.component_environment(),
            self.options.limit,
        )
        print(output, end="")
        self.check("the probe ends well", code == 0)
        return path

    def rates(self, path):
        with open(path, encoding="utf-8") as file:
            sets = json.load(file)["rates"]
        for name, it in sets["probed"].items():
            real = sets[self.options.rates][name]["bytes_per_s"]
            error = it["bytes_per_s"] / real - 1
            self.check(
                f"{name}: {it['bytes_per_s']} bytes/s of {real}, off by {100 * error:+.1f}%",
                abs(error) <= self.options.tolerance / 100,
            )

    def seconds_of(self, jobs, demand, topology):
        """(measured, predicted by the simulator) with a plan after the given figures."""
        self.tool("catalog", "build", topology, "-o", jobs.path("catalog"))
        result = jobs.run(
            OURS
            + [
                "--mca",
                "coll_variopath_catalog",
                jobs.path("catalog"),
                "--mca",
                "coll_variopath_sync",
                "barrier",
            ],
            ["--demand", demand, "--repeat", str(self.options.repeat)],
            self.options.limit,
        )
        text = self.tool(
            "simulate",
            "--topology",
            topology,
            "--demand",
            demand,
            "--algorithms",
            "auto",
            "--execution",
            "barrier",
            "--json",
        )
        return (result.median if result.is_right else None), json.loads(text)[0]["time_ns"] / 1e9

    def gain(self, jobs, path, n_ranks):
        demand = jobs.path("demand.csv")
        self.tool(
            "demand",
            "zipf",
            "--exponent",
            "0.6",
            "--ranks",
            str(n_ranks),
            "--bytes-per-rank",
            str(self.options.bytes),
            "-o",
            demand,
        )
        before, _ = self.seconds_of(jobs, demand, f"{path}:transports=testbed")
        after, predicted = self.seconds_of(jobs, demand, f"{path}:rates=probed:transports=testbed")
        if before is None or after is None:
            self.check("the jobs end well", False)
            return
        told = f"{1e3 * before:.0f} ms with the file's figures, "
        told += f"{1e3 * after:.0f} with the measured ones"
        self.check(
            f"{told}, predicted {1e3 * predicted:.0f}",
            abs(after / predicted - 1) <= self.options.margin / 100,
        )
        if self.options.must_gain:
            self.check("measured figures make it faster", after < before)


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variopath", default="./variopath")
    parser.add_argument("--build", default=".", type=os.path.abspath)
    parser.add_argument("--source", default=os.environ.get("srcdir", "."), type=os.path.abspath)
    parser.add_argument("--topology", required=True, help="file, without :rates= and :transports=")
    parser.add_argument("--rates", default="worn", help="rate set of the testbed [worn]")
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--bytes", type=int, default=4_000_000, help="that a rank sends")
    parser.add_argument("--tolerance", type=float, default=5, help="of the rates, percent")
    parser.add_argument("--margin", type=float, default=10, help="of the prediction, percent")
    parser.add_argument(
        "--must-gain", action="store_true", help="the measured figures must make it faster"
    )
    parser.add_argument("--limit", type=int, default=300, help="seconds a job may take")
    return parser.parse_args()


def main():
    options = parse()
    exit_on_signals()
    reason = obstacle()
    if reason:
        print(reason)
        return 77
    machine = Machine(
        options.variopath, f"{options.topology}:rates={options.rates}:transports=testbed"
    )
    it = Calibration(options)
    with Bed(machine) as bed, Jobs(bed, options.build, options.source) as jobs:
        path = it.probe(jobs)
        if os.path.exists(path):
            it.rates(path)
            it.gain(jobs, path, len(machine.ranks))
    print(
        f"{100 * (it.n_checks - it.n_failures) // it.n_checks}%: Checks: {it.n_checks}, "
        f"Failures: {it.n_failures}, Errors: 0"
    )
    return 1 if it.n_failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as error:
        sys.exit(f"testbed: {error}")
