#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A machine of limited links: network namespaces and token buckets after a topology file.

show TOPOLOGY                what would be built; needs no root
mpirun TOPOLOGY ARGUMENT...  builds it, runs mpirun in it, prints bytes per link, removes it
sweep                        removes what crashed testbeds left
"""

import argparse
import os
import sys

from bed import Bed
from job import Jobs
from machine import Machine, Refused
from system import exit_on_signals, obstacle, sweep


def show(machine):
    for link in machine.links.values():
        for name, rate, ends in zip(link.names, link.rates, ((link.a, link.b), (link.b, link.a))):
            if name:
                print(f"{name:20}  {ends[0]} > {ends[1]}  {8e-6 * rate:.1f} Mbit/s")
    for rank in machine.ranks:
        names = ", ".join(machine.device(i) for i in rank.classes)
        print(
            f"rank {rank.number}: node {rank.node}, "
            f"switch {machine.place_of_group(rank.group)}, devices {names}"
        )
    return 0


def mpirun(machine, options):
    reason = obstacle()
    if reason:
        print(reason, file=sys.stderr)
        return 77
    with Bed(machine) as bed, Jobs(bed, options.build, options.source) as jobs:
        code, output = jobs.mpirun(options.arguments, jobs.component_environment(), options.limit)
        print(output, end="")
        for name, n_bytes in bed.bytes_sent().items():
            print(f"{name:20}  {n_bytes} bytes", file=sys.stderr)
        print(f"{sum(bed.drops().values())} packets dropped", file=sys.stderr)
    return code


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--variopath", default="./variopath")
    parser.add_argument("--build", default=".", type=os.path.abspath)
    parser.add_argument("--source", default=os.environ.get("srcdir", "."), type=os.path.abspath)
    parser.add_argument("--limit", type=int, default=600, help="seconds that mpirun may take [600]")
    parser.add_argument("action", choices=["show", "mpirun", "sweep"])
    parser.add_argument("topology", nargs="?")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if (options.topology is None) != (options.action == "sweep"):
        parser.error(f"\"{options.action}\" takes {'no' if options.topology else 'a'} topology")
    return options


def main():
    options = parse()
    exit_on_signals()
    if options.action == "sweep":
        for prefix in sweep():
            print(f"removed {prefix}")
        return 0
    machine = Machine(options.variopath, options.topology)
    return show(machine) if options.action == "show" else mpirun(machine, options)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as error:
        sys.exit(f"testbed: {error}")
