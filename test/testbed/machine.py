# SPDX-License-Identifier: BSD-3-Clause
"""A machine as `variopath topology show --json` describes it, as places and links.

A place is a network namespace to be: a rank ("r0"), a PCIe switch ("s0", one per rank group), a
host bridge ("h0") or the fabric between the NICs ("fab"). A link joins two places and has a name
and a rate in each direction; those names are the ones that `variopath simulate` uses as well.

Nothing here touches the system.
"""

import json
import subprocess

PCIE_KINDS = ("PIX", "PXB", "PHB", "NODE", "SYS")
MAX_BYTES_PER_S = 125_000_000  # a link faster than 1 Gbit/s is beyond kernel flows on a few cores
DEFAULT_DEVICE = "def0"
FABRIC = "fab"


class Refused(Exception):
    """The testbed cannot or must not do this; the text says why and what to do."""


class Link:
    """A full-duplex link; forward is from `a` to `b`. Rate None: a direction without limit."""

    def __init__(self, a, b):
        self.a, self.b = a, b
        self.names = [None, None]
        self.rates = [None, None]

    def set_direction(self, index, name, bytes_per_s):
        self.names[index], self.rates[index] = name, bytes_per_s


class Rank:
    def __init__(self, number, node, local, group):
        self.number, self.node, self.local, self.group = number, node, local, group
        self.place = f"r{number}"
        self.classes = []  # indices of path classes, those of its group


class Machine:
    def __init__(self, variopath, topology):
        self.topology = topology
        self.model = show(variopath, topology)
        self.classes = self.model["classes"]
        self.class_index = {it["name"]: i for i, it in enumerate(self.classes)}
        self.resources = {it["id"]: it for it in self.model["resources"]}
        self.links = {}  # (place, place) -> Link, or (place, "fab", nic) for NICs
        self.nics_of = [[] for _ in self.model["groups"]]
        self.nic_classes = set()
        self._check_devices()
        self._make_ranks()
        self._make_gpu_links()
        self._make_nics()
        self._make_tree()
        self._give_classes()

    # --- what drivers ask for

    def device(self, class_index):
        return self.classes[class_index]["devices"]

    def place_of_group(self, group):
        return f"s{group}"

    def places(self):
        bridges = sorted(
            {
                place
                for link in self.links.values()
                for place in (link.a, link.b)
                if place.startswith("h")
            }
        )
        nics = [FABRIC] if self.nic_classes else []
        return (
            [rank.place for rank in self.ranks]
            + [self.place_of_group(i) for i in range(len(self.nics_of))]
            + bridges
            + nics
        )

    def near_nic(self, rank):
        """The NIC that an unaware library uses: one of the rank's own switch, dealt out in turn."""
        own = self.nics_of[rank.group]
        return own[rank.local % len(own)] if own else None

    def reached_by(self, rank, class_index):
        """Path classes that this class of this rank has a path to."""
        return sorted(
            {
                self.class_index[it["destination_class"]]
                for it in self.model["instances"]
                if it["from_group"] == rank.group
                and self.class_index[it["source_class"]] == class_index
            }
        )

    def instance(self, source, source_class, destination, destination_class):
        """The path of a lane between two ranks; None if there is none."""
        for it in self.model["instances"]:
            if (it["from_group"], it["source_class"], it["to_group"], it["destination_class"]) == (
                self.ranks[source].group,
                source_class,
                self.ranks[destination].group,
                destination_class,
            ):
                return it
        return None

    def links_of(self, source, source_class, destination, destination_class):
        """Names of the links that a lane goes over."""
        it = self.instance(source, source_class, destination, destination_class)
        return [
            f"rank{source}:out",
            *(self.resources[i]["name"] for i in it["resources"]),
            f"rank{destination}:in",
        ]

    def rates(self):
        """{link name: bytes/s}"""
        return {
            name: rate
            for link in self.links.values()
            for name, rate in zip(link.names, link.rates)
            if name is not None
        }

    # --- construction

    def _check_devices(self):
        devices = [it["devices"] for it in self.classes]
        for it in self.classes:
            if it["tls"] != "tcp" or not it["devices"] or "," in it["devices"]:
                raise Refused(
                    f"{self.topology}: path class \"{it['name']}\" runs over "
                    f"\"{it['tls']}\" on \"{it['devices']}\", but the testbed carries tcp on "
                    "one device per class; choose such a set with :transports="
                )
            if len(it["devices"]) > 15 or it["devices"] in (DEFAULT_DEVICE, "ctl0", "x16", "lo"):
                raise Refused(
                    f"{self.topology}: device name \"{it['devices']}\" is taken by the "
                    "testbed itself or longer than 15 bytes; rename it in the topology file"
                )
        if len(set(devices)) != len(devices):
            raise Refused(
                f"{self.topology}: two path classes share a device, so their bytes could not "
                "be told apart; give each its own"
            )

    def _make_ranks(self):
        groups = self.model["groups"]
        per_node = len(groups) // self.model["nodes"]
        self.ranks = []
        self.group_node = [i // per_node for i in range(len(groups))]
        for group, members in enumerate(groups):
            node = self.group_node[group]
            first = groups[node * per_node][0]
            for number in members:
                self.ranks.append(Rank(number, node, number - first, group))
        if self.model["nodes"] > 250 or max(rank.local for rank in self.ranks) > 250:
            raise Refused(
                f"{self.topology}: more than 250 nodes or ranks of a node do not fit the "
                "testbed's addresses; use fewer"
            )

    def _rate(self, bytes_per_s, name):
        if bytes_per_s > MAX_BYTES_PER_S:
            raise Refused(
                f"{self.topology}: {name} has {bytes_per_s} bytes/s, and kernel flows can be "
                f"held to at most {MAX_BYTES_PER_S}; choose a slower set with :rates="
            )
        return bytes_per_s

    def _make_gpu_links(self):
        rate = self._rate(self.model["gpu_link"]["bytes_per_s"], "a GPU's link")
        for rank in self.ranks:
            link = Link(rank.place, self.place_of_group(rank.group))
            link.set_direction(0, f"rank{rank.number}:out", rate)
            link.set_direction(1, f"rank{rank.number}:in", rate)
            self.links[(link.a, link.b)] = link

    def _make_nics(self):
        by_name = {it["name"]: it for it in self.resources.values()}
        for index, nic in enumerate(self.model["nics"]):
            link = Link(self.place_of_group(nic["group"]), FABRIC)
            for direction, end in enumerate(("tx", "rx")):
                it = by_name[f"{nic['name']}:{end}"]
                link.set_direction(direction, it["name"], self._rate(it["bytes_per_s"], it["name"]))
            self.links[(link.a, link.b, index)] = link
            self.nic_classes.add(self.class_index[nic["class"]])
            if any(
                self.model["nics"][i]["class"] == nic["class"] for i in self.nics_of[nic["group"]]
            ):
                raise Refused(
                    f"{self.topology}: two NICs of {nic['name']}'s switch share the path class "
                    f"\"{nic['class']}\", so addresses cannot choose between them; give each "
                    "its own"
                )
            self.nics_of[nic["group"]].append(index)

    def _make_tree(self):
        """Routes of the PCIe tree: hops[place][group] = next place."""
        self.hops = {}
        bridges = Bridges(self)
        for it in self.model["instances"]:
            if it["kind"] == "NIC":
                continue
            if it["kind"] not in PCIE_KINDS:
                raise Refused(
                    f"{self.topology}: a path of kind {it['kind']} cannot be built out of "
                    "links; leave such paths out of the file for the testbed"
                )
            if self.class_index[it["source_class"]] in self.nic_classes:
                raise Refused(
                    f"{self.topology}: path class \"{it['source_class']}\" serves a NIC and a "
                    "PCIe path, so its addresses would not name a path; give each its own"
                )
            self._add_route(it, bridges.chain(it) if it["from_group"] != it["to_group"] else [])

    def _add_route(self, instance, chain):
        """chain: [(resource, from place, to place), ...]"""
        slowest = min(
            [self.model["gpu_link"]["bytes_per_s"]]
            + [resource["bytes_per_s"] for resource, _, _ in chain]
        )
        if instance["bytes_per_s"] < slowest:
            raise Refused(
                f"{self.topology}: a {instance['kind']} path of {instance['bytes_per_s']} "
                f"bytes/s over links of {slowest} and more: the testbed limits links, not "
                "paths; make the rates agree"
            )
        for resource, a, b in chain:
            rate = self._rate(resource["bytes_per_s"], resource["name"])
            forward = (b, a) not in self.links
            link = self.links.setdefault((a, b), Link(a, b)) if forward else self.links[(b, a)]
            link.set_direction(0 if forward else 1, resource["name"], rate)
            hop = self.hops.setdefault(a, {}).setdefault(instance["to_group"], b)
            if hop != b:
                raise Refused(
                    f"{self.topology}: packets at {a} for group {instance['to_group']} have two "
                    "ways to go, and a PCIe path class cannot say which; keep one path"
                )

    def _give_classes(self):
        for rank in self.ranks:
            named = set()
            for it in self.model["instances"]:
                if it["from_group"] == rank.group:
                    named.add(self.class_index[it["source_class"]])
                if it["to_group"] == rank.group:
                    named.add(self.class_index[it["destination_class"]])
            rank.classes = sorted(named)


class Bridges:
    """Host bridges are not named in a topology; they are where an uplink meets a downlink or a
    socket link. Ends that meet are joined until each set of them is one bridge."""

    def __init__(self, machine):
        self.machine = machine
        self.parent = {}
        for it in machine.model["instances"]:
            if it["kind"] != "NIC":
                ends = self._ends(it)
                for one, other in zip(ends[0::2], ends[1::2]):
                    self.parent[self._root(one)] = self._root(other)
        roots = sorted({self._root(end) for end in self.parent})
        self.place = {root: f"h{i}" for i, root in enumerate(roots)}

    def _root(self, end):
        self.parent.setdefault(end, end)
        while self.parent[end] != end:
            end = self.parent[end]
        return end

    def _ordered(self, instance):
        order = {"uplink": 0, "socket": 1, "downlink": 2, "inter-switch": 3}
        chain = sorted(
            (self.machine.resources[i] for i in instance["resources"]),
            key=lambda it: order[it["kind"]],
        )
        kinds = [it["kind"] for it in chain]
        if kinds not in (
            ["inter-switch"],
            ["uplink", "downlink"],
            ["uplink", "socket", "downlink"],
        ):
            raise Refused(
                f"{self.machine.topology}: a {instance['kind']} path over the links {kinds}: the "
                "testbed builds one inter-switch link, or uplink, at most one socket link and "
                "downlink"
            )
        return chain

    def _ends(self, instance):
        """Ends of links that meet in a host bridge, in pairs."""
        if instance["from_group"] == instance["to_group"]:
            return []
        chain = self._ordered(instance)
        ends = []
        for one, other in zip(chain, chain[1:]):
            ends += [(one["id"], "out"), (other["id"], "in")]
        return ends

    def chain(self, instance):
        """The path as [(resource, from place, to place), ...]."""
        resources = self._ordered(instance)
        places = [self.machine.place_of_group(instance["from_group"])]
        places += [self.place[self._root((it["id"], "out"))] for it in resources[:-1]]
        places.append(self.machine.place_of_group(instance["to_group"]))
        return list(zip(resources, places, places[1:]))


def show(variopath, topology):
    done = subprocess.run(
        [variopath, "topology", "show", topology, "--json"],
        text=True,
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        raise Refused(done.stderr.strip())
    return json.loads(done.stdout)
