#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Is the testbed to be trusted on this machine? Bulk flows against their fair shares."""

import argparse
import os
import sys

import flows
from bed import Bed
from fluid import max_min
from machine import Machine, Refused
from system import exit_on_signals, obstacle


def ends(machine, instance, index=0):
    """A flow over a path instance: the index-th rank of one group to that of the other."""
    groups = machine.model["groups"]
    source, destination = groups[instance["from_group"]], groups[instance["to_group"]]
    shift = 1 if instance["from_group"] == instance["to_group"] else 0
    if index >= len(source) or index + shift >= len(destination):
        return None
    return (
        source[index],
        instance["source_class"],
        destination[index + shift],
        instance["destination_class"],
    )


def kind_of(machine, instance):
    """What makes two paths alike in a test: kind, same or other rail, inside a node or not."""
    rail = instance["source_class"] == instance["destination_class"]
    node = machine.group_node[instance["from_group"]] == machine.group_node[instance["to_group"]]
    inside = instance["from_group"] == instance["to_group"]
    return (instance["kind"], rail, node, inside)


def describe(machine, instance):
    kind, rail, node, inside = kind_of(machine, instance)
    if kind != "NIC":
        return kind
    where = "back into its switch" if inside else "inside a node" if node else "between nodes"
    return f"NIC {where}" + ("" if rail else ", to another rail")


def alone(machine):
    seen = {}
    for it in machine.model["instances"]:
        seen.setdefault(kind_of(machine, it), it)
    return [(f"alone: {describe(machine, it)}", [ends(machine, it)]) for it in seen.values()]


def shared(machine):
    """Two flows over one resource of each kind."""
    seen = {}
    for it in machine.model["instances"]:
        both = [ends(machine, it, 0), ends(machine, it, 1)]
        if it["from_group"] != it["to_group"] and None not in both:
            for resource in it["resources"]:
                kind = machine.resources[resource]["kind"]
                seen.setdefault(
                    kind, (f"two share the {kind} {machine.resources[resource]['name']}", both)
                )
    return list(seen.values())


def disjoint(machine):
    """As many flows at once as go without sharing a link, one out of and one into each rank."""
    used, chosen = set(), []
    by_spread = sorted(
        machine.model["instances"],
        key=lambda it: (it["from_group"] == it["to_group"], it["kind"] == "NIC"),
    )
    for it in by_spread:
        for index in range(len(machine.model["groups"][it["from_group"]])):
            flow = ends(machine, it, index)
            links = flow and machine.links_of(*flow)
            if flow and not used & set(links):
                used |= set(links)
                chosen.append(flow)
    return [(f"{len(chosen)} disjoint flows at once", chosen)]


class Check:
    def __init__(self, bed, options):
        self.bed, self.options, self.n_failures, self.worst = bed, options, 0, 0.0

    def case(self, name, wanted):
        """Measures up to `tries` times: other work on the machine disturbs a measurement."""
        expected = max_min(
            [self.bed.machine.links_of(*flow) for flow in wanted], self.bed.machine.rates()
        )
        for _ in range(self.options.tries):
            got = flows.measure(self.bed, wanted, self.options.seconds)
            error = max((abs(g / e - 1) for g, e in zip(got, expected)))
            is_right = error <= self.options.tolerance / 100
            shown = ", ".join(f"{8e-6 * g:.1f} of {8e-6 * e:.1f}" for g, e in zip(got, expected))
            print(
                f"{'ok' if is_right else 'off'}: {name}: {shown} Mbit/s, off by {100 * error:.1f}%",
                flush=True,
            )
            if is_right:
                break
        self.worst = max(self.worst, error)
        self.n_failures += not is_right


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variopath", default="./variopath")
    parser.add_argument("--topology", required=True)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--tolerance", type=float, default=5, help="percent")
    parser.add_argument("--tries", type=int, default=3)
    return parser.parse_args()


def main():
    options = parse()
    exit_on_signals()
    reason = obstacle()
    if reason:
        print(reason)
        return 77
    machine = Machine(options.variopath, options.topology)
    with Bed(machine) as bed:
        check = Check(bed, options)
        cases = alone(machine) + shared(machine) + disjoint(machine)
        for name, wanted in cases:
            check.case(name, wanted)
        dropped = sum(bed.drops().values())
    print(
        f"{dropped} packets dropped; load {os.getloadavg()[0]:.1f}; worst {100 * check.worst:.1f}%"
    )
    n_failures = check.n_failures + (dropped != 0)
    n_checks = len(cases) + 1
    print(
        f"{100 * (n_checks - n_failures) // n_checks}%: Checks: {n_checks}, "
        f"Failures: {n_failures}, Errors: 0"
    )
    return 1 if n_failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as error:
        sys.exit(f"testbed: {error}")
