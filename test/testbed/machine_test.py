#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the testbed would build of a topology, and what it refuses; needs no root."""

import json
import os
import sys
import tempfile

from fluid import max_min
from machine import Machine, Refused

VARIOPATH, SOURCE = sys.argv[1], os.path.dirname(os.path.abspath(__file__))
counts = {"checks": 0, "failures": 0}


def equal(what, got, expected):
    counts["checks"] += 1
    if got != expected:
        counts["failures"] += 1
        print(f"FAILED: {what}: got {got}, expected {expected}")


def load(name, options=":transports=testbed"):
    return Machine(VARIOPATH, os.path.join(SOURCE, name) + options)


def refused(what, name, options, change, part):
    """A changed copy of a shipped topology is refused with a sentence that has `part`."""
    with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
        topology = json.load(file)
    change(topology)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(topology, file)
        file.flush()
        try:
            Machine(VARIOPATH, file.name + options)
            told = "accepted"
        except Refused as error:
            told = str(error)
    equal(f"{what} ({told})", part in told, True)


def eight():
    machine = load("eight.json")
    equal("places", machine.places(), [f"r{i}" for i in range(8)] + ["s0", "s1", "s2", "s3", "fab"])
    equal("links", len(machine.links), 8 + 4 + 2)
    equal("named directions", len(machine.rates()), 2 * 14)
    equal(
        "hops", machine.hops, {"s0": {1: "s1"}, "s1": {0: "s0"}, "s2": {3: "s3"}, "s3": {2: "s2"}}
    )
    equal(
        "classes of rank 6",
        [machine.device(i) for i in machine.ranks[6].classes],
        ["pcie0", "nic1"],
    )
    equal(
        "nic0 of rank 0 reaches",
        [machine.device(i) for i in machine.reached_by(machine.ranks[0], 1)],
        ["nic0", "nic1"],
    )
    equal(
        "rank 0 to 6 by NIC",
        machine.links_of(0, "nic0", 6, "nic1"),
        ["rank0:out", "node0/nic0:tx", "node1/nic1:rx", "rank6:in"],
    )
    equal(
        "rank 5 to 7 by PCIe",
        machine.links_of(5, "pcie", 7, "pcie"),
        ["rank5:out", "node1/sw0>sw1", "rank7:in"],
    )
    equal(
        "rate of the slow NIC",
        load("eight.json", ":rates=slow-nic:transports=testbed").rates()["node1/nic1:rx"],
        3125000,
    )
    equal("ranks of sixteen.json", len(load("sixteen.json").ranks), 16)


def tree():
    machine = load("tree.json")
    bridges = {machine.hops[f"s{i}"][1 - i if i < 2 else 5 - i] for i in range(4)}
    equal("host bridges", bridges, {"h0", "h1"})
    near, far = machine.hops["s0"][1], machine.hops["s2"][3]
    equal("sockets are apart", near != far, True)
    equal("a downlink's end", machine.hops[near][1], "s1")
    equal("to the other socket", (machine.hops[near][2], machine.hops[far][2]), (far, "s2"))
    equal("no fabric", "fab" in machine.places(), False)
    equal(
        "rank 0 to 6",
        machine.links_of(0, "pcie", 6, "pcie"),
        ["rank0:out", "node0/sw0:up", "node0/sw3:down", "node0/socket0>socket1", "rank6:in"],
    )


def refusals():
    ours = ":transports=testbed"
    refused(
        "two classes on a device",
        "eight.json",
        ":transports=astray",
        lambda it: None,
        "share a device",
    )
    refused(
        "no tcp",
        "eight.json",
        ours,
        lambda it: it["transports"]["testbed"]["pcie"].update(tls="posix"),
        "choose such a set",
    )
    refused(
        "a taken device name",
        "eight.json",
        ours,
        lambda it: it["transports"]["testbed"]["pcie"].update(devices="def0"),
        "taken by the testbed",
    )
    refused(
        "too fast",
        "eight.json",
        ours,
        lambda it: it["rates"]["nominal"]["gpu"].update(bytes_per_s=64000000000),
        "choose a slower set",
    )
    refused("slower than its links", "eight.json", ours, slow_path, "make the rates agree")
    refused(
        "a host path",
        "eight.json",
        ours,
        lambda it: it["paths"][2].update(kind="HOST"),
        "cannot be built",
    )
    refused("two NICs of one class", "eight.json", ours, second_nic, "share the path class")


def slow_path(topology):
    for rates in topology["rates"].values():
        rates["slow"] = {"bytes_per_s": 1000000, "origin": "test"}
    topology["paths"][2]["rate"] = "slow"


def second_nic(topology):
    topology["nics"].append({"name": "nic2", "switch": "sw0", "rate": "nic0", "class": "nic0"})


def fluid():
    rates = {"a": 6.0, "b": 10.0, "c": 100.0}
    equal("one link shared", max_min([["a"], ["a"]], rates), [3.0, 3.0])
    equal("two hops", max_min([["a", "b"], ["a"], ["b"]], rates), [3.0, 3.0, 7.0])
    equal("nothing shared", max_min([["a"], ["b"], ["c"]], rates), [6.0, 10.0, 100.0])


for test in (eight, tree, refusals, fluid):
    test()
n, failed = counts["checks"], counts["failures"]
print(f"{100 * (n - failed) // n}%: Checks: {n}, Failures: {failed}, Errors: 0")
sys.exit(1 if failed else 0)
