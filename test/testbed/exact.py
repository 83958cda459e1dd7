#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Do the bytes of a call go where its plan says, and nowhere else?

Runs alltoallv through the component and compares the counters of every link and of every device of
every rank with the plan: at least its bytes, at most its bytes and their framing.
"""

import argparse
import glob
import json
import os
import subprocess
import sys

from bed import Bed
from job import OURS, Jobs
from machine import DEFAULT_DEVICE, Machine, Refused
from system import exit_on_signals, obstacle

# What may come on top of the plan's bytes: headers (a put's own, TCP, IP, Ethernet) and the
# acknowledgements of the bytes that go the other way, and connections, keys and flushes.
HEADERS, BACKWARD, SET_UP_BYTES = 0.02, 0.01, 60_000
N_CALLS = 3  # two timed ones and the first


def demand_of(n_ranks, entries):
    rows = [[0] * n_ranks for _ in range(n_ranks)]
    for (source, destination), n_bytes in entries.items():
        rows[source][destination] = n_bytes
    return rows


def demands(machine, n_bytes):
    """Single pairs of every distance, then patterns: [(name, matrix)]."""
    ranks, n = machine.ranks, len(machine.ranks)
    found, seen = [], set()
    for there in ranks[1:]:
        distance = (there.node, there.group == ranks[0].group)
        if distance not in seen:
            seen.add(distance)
            found.append(
                (f"only rank 0 to rank {there.number}", demand_of(n, {(0, there.number): n_bytes}))
            )
    across = {
        (a.number, b.number): n_bytes // 4
        for a in ranks
        for b in ranks
        if a.node == b.node and a.group != b.group
    }
    uneven = {
        (a, b): n_bytes // 32 * (1 + (3 * a + 5 * b) % 7)
        for a in range(n)
        for b in range(n)
        if a != b
    }
    return found + [
        ("across switches", demand_of(n, across)),
        ("all pairs, unevenly", demand_of(n, uneven)),
    ]


class Exactness:
    def __init__(self, bed, jobs, options):
        self.bed, self.jobs, self.options = bed, jobs, options
        self.n_checks = self.n_failures = 0

    def check(self, name, problems):
        self.n_checks += 1
        self.n_failures += bool(problems)
        print(f"{'FAILED' if problems else 'ok'}: {name}", *problems[:8], sep="\n    ", flush=True)

    def tool(self, *arguments):
        return subprocess.run(
            [self.options.variopath, *arguments], check=True, text=True, capture_output=True
        ).stdout

    def write_demand(self, matrix):
        path = self.jobs.path("demand.csv")
        with open(path, "w", encoding="ascii") as file:
            file.writelines(",".join(map(str, row)) + "\n" for row in matrix)
        return path

    def run(self, catalog, demand, *more):
        """A job and what the counters gained by it: (result, links, devices)."""
        links, devices = self.bed.bytes_sent(), self.bed.device_bytes()
        result = self.jobs.run(
            OURS + ["--mca", "coll_variopath_catalog", catalog, *more],
            ["--demand", demand, "--repeat", str(N_CALLS - 1), "--counters"],
            self.options.limit,
        )
        links = {name: after - links[name] for name, after in self.bed.bytes_sent().items()}
        devices = {
            key: tuple(after[i] - devices[key][i] for i in (0, 1))
            for key, after in self.bed.device_bytes().items()
        }
        return result, links, devices

    def carried(self, name, matrix, catalog):
        demand, trace = self.write_demand(matrix), self.jobs.path("trace")
        plan = self.tool(
            "simulate",
            "--topology",
            self.options.topology,
            "--demand",
            demand,
            "--algorithms",
            "auto",
            "--port-sharing",
            "off",
            "--json",
        )
        planned = json.loads(plan)[0]["link_bytes"]
        result, links, devices = self.run(catalog, demand, "--mca", "coll_variopath_trace", trace)
        problems = (
            []
            if result.is_right
            else [f"the job ended with {result.code}:\n{result.output[-2000:]}"]
        )
        if result.counters.get("coll_variopath_carried", 0) != N_CALLS * len(
            self.bed.machine.ranks
        ):
            problems.append(f"not every call was carried: {result.counters}")
        self.check(f"{name}: every byte right, every call carried", problems)
        if not problems:
            total = sum(map(sum, matrix))
            self.check(f"{name}: {total} bytes, links", self.wrong_links(planned, links))
            self.check(
                f"{name}: devices of ranks", self.wrong_devices(N_CALLS * total, trace, devices)
            )

    def wrong_links(self, planned, counted):
        names = {
            name: other
            for link in self.bed.machine.links.values()
            for name, other in (link.names, link.names[::-1])
        }
        problems = []
        for name, n_bytes in counted.items():
            forth = N_CALLS * planned.get(name, 0)
            back = N_CALLS * planned.get(names[name], 0)
            problems += outside(name, n_bytes, forth, back)
        return problems

    def lanes(self, trace):
        """What all ranks wrote about their lanes in this job."""
        found = []
        for path in glob.glob(trace + "*"):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    found += json.loads(line)["lanes"]
            os.remove(path)
        return found

    def wrong_devices(self, total, trace, counted):
        machine, lanes = self.bed.machine, self.lanes(trace)
        planned = {key: [0, 0] for key in counted}
        traced = sum(it["bytes"] for it in lanes)
        if traced != total:
            return [f"the traces have lanes of {traced} bytes instead of {total}"]
        for it in lanes:
            for end, rank, name in (
                (0, "source", "source_class"),
                (1, "destination", "destination_class"),
            ):
                planned[(it[rank], machine.device(machine.class_index[it[name]]))][end] += it[
                    "bytes"
                ]
        problems = []
        for (rank, device), (out, into) in counted.items():
            forth, back = planned[(rank, device)]
            problems += outside(f"rank {rank} {device} out", out, forth, back)
            problems += outside(f"rank {rank} {device} in", into, back, forth)
            if device == DEFAULT_DEVICE and out + into > 0:
                problems.append(
                    f"rank {rank} {device}: {out + into} bytes, but nothing of ours runs there"
                )
        return problems

    def astray(self, catalog, matrix):
        """Devices that do not reach each other: passed on with a reason, before any byte."""
        result, links, _ = self.run(
            catalog, self.write_demand(matrix), "--mca", "coll_variopath_verbose", "1"
        )
        problems = (
            []
            if result.is_right
            else [f"the job ended with {result.code}:\n{result.output[-2000:]}"]
        )
        calls = N_CALLS * len(self.bed.machine.ranks)
        if result.counters.get("coll_variopath_carried") or (
            result.counters.get("coll_variopath_passed_on") != calls
        ):
            problems.append(f"{calls} calls should be passed on: {result.counters}")
        told = [
            line
            for line in result.output.splitlines()
            if "passed on: a path cannot be connected" in line
        ]
        if not told or "Destination is unreachable" not in result.output:
            problems.append(f"no reason that says so:\n{result.output[:2000]}")
        problems += [
            f"{name}: {n_bytes} bytes" for name, n_bytes in links.items() if n_bytes > SET_UP_BYTES
        ]
        self.check("devices without a way between them: passed on before any byte", problems)
        for line in told[:1]:
            print(f"    {line}")


def outside(name, counted, forth, back):
    most = forth * (1 + HEADERS) + back * BACKWARD + SET_UP_BYTES
    if forth <= counted <= most:
        return []
    return [f"{name}: {counted} bytes counted, {forth} planned, at most {int(most)} with framing"]


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variopath", default="./variopath")
    parser.add_argument("--build", default=".")
    parser.add_argument("--source", default=os.environ.get("srcdir", "."))
    parser.add_argument("--topology", required=True, help="file, without :transports=")
    parser.add_argument("--bytes", type=int, default=4_000_000, help="of one pair alone")
    parser.add_argument("--limit", type=int, default=120, help="seconds a job may take")
    return parser.parse_args()


def main():
    options = parse()
    options.build, options.source = os.path.abspath(options.build), os.path.abspath(options.source)
    exit_on_signals()
    reason = obstacle()
    if reason:
        print(reason)
        return 77
    base = options.topology
    options.topology = f"{base}:transports=testbed"
    machine = Machine(options.variopath, options.topology)
    with Bed(machine) as bed, Jobs(bed, options.build, options.source) as jobs:
        it = Exactness(bed, jobs, options)
        for transports in ("testbed", "astray"):
            it.tool(
                "catalog", "build", f"{base}:transports={transports}", "-o", jobs.path(transports)
            )
        for name, matrix in demands(machine, options.bytes):
            it.carried(name, matrix, jobs.path("testbed"))
        it.astray(jobs.path("astray"), matrix)
        dropped = sum(bed.drops().values())
        it.check("no packet dropped", [f"{dropped} packets"] if dropped else [])
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
