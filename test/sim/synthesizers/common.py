# SPDX-License-Identifier: BSD-3-Clause
"""What the synthesizers share: arguments, routes, whole bytes, and the schedule file."""
import argparse
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tools"))
# pylint: disable=wrong-import-position,unused-import
from lp_bound import Machine, Program, bound, kmin, pairs_of, read_demand  # noqa: E402

MAX_RANKS = 16


def parser_of(text):
    """Arguments of every synthesizer."""
    parser = argparse.ArgumentParser(description=text.split("\n", maxsplit=1)[0])
    parser.add_argument("topology")
    parser.add_argument("demand", help="CSV file")
    parser.add_argument("-o", "--output", default="-", help="schedule file; - is standard output")
    parser.add_argument("--time-limit", type=float, default=120, help="seconds for each program")
    parser.add_argument("--variopath", default=os.environ.get("VARIOPATH", "./variopath"))
    return parser


def open_case(arguments):
    """(machine, demand); refuses what synthesizers are not made for."""
    machine = Machine(arguments.topology, arguments.variopath)
    demand = read_demand(arguments.demand)
    if len(demand) != machine.n_ranks:
        raise SystemExit(
            f"{arguments.demand} has {len(demand)} ranks, {machine.name} has {machine.n_ranks}: "
            "no schedule was made"
        )
    if machine.n_ranks > MAX_RANKS:
        raise SystemExit(
            f"{machine.name} has {machine.n_ranks} ranks, synthesizers take up to {MAX_RANKS}: "
            "no schedule was made"
        )
    return machine, demand


def relays(machine, source, destination):
    """Ranks that may pass on bytes: those that share a switch with one of the two ends."""
    groups = (machine.group[source], machine.group[destination])
    return [
        rank
        for rank in range(machine.n_ranks)
        if rank not in (source, destination) and machine.group[rank] in groups
    ]


def routes(machine, source, destination, max_hops):
    """Lists of hops (from, to, instance): every direct path, then those over one relay."""
    found = [[(source, destination, p)] for p in machine.paths(source, destination)]
    if max_hops >= 2:
        for relay in relays(machine, source, destination):
            for first in machine.paths(source, relay):
                for second in machine.paths(relay, destination):
                    found.append([(source, relay, first), (relay, destination, second)])
    return found


def whole(total, parts):
    """Integers in the proportions of `parts` that sum up to `total`: largest remainders."""
    scale = total / sum(parts)
    floors = [int(part * scale) for part in parts]
    order = sorted(range(len(parts)), key=lambda k: (floors[k] - parts[k] * scale, k))
    missing = total - sum(floors)
    for k in range(abs(missing)):
        index = order[k % len(order)]
        floors[index] += 1 if missing > 0 else -1
    return floors


def write_schedule(arguments, machine, algorithm, execution, started, transfers):
    """transfers: [step, from, to, instance, origin, final, bytes]; those without bytes go."""
    taken_ms = int((time.monotonic() - started) * 1000)
    rows = sorted(row for row in transfers if row[-1] > 0)
    text = json.dumps(
        {
            "format": "variopath-schedule",
            "version": 1,
            "algorithm": algorithm,
            "topology": machine.name,
            "ranks": machine.n_ranks,
            "synthesis_ms": taken_ms,
            "execution": execution,
            "transfers": rows,
        }
    )
    print(f"{algorithm}: synthesis took {taken_ms} ms", file=sys.stderr)
    if arguments.output == "-":
        print(text)
    else:
        with open(arguments.output, "w", encoding="utf-8") as file:
            file.write(text + "\n")
