# SPDX-License-Identifier: BSD-3-Clause
"""Builds a machine out of network namespaces: routers for switches, host bridges and the fabric,
one namespace per rank, a veth pair with a token bucket at each end per link.

A rank sees one device per path class, each a macvlan on the one limited device "x16", so that all
its traffic shares the GPU's own link. The source address of a packet says through which NIC it
leaves, the destination address through which NIC it enters:

    10.(100 + class).node.(1 + local rank)

Two more devices: def0 is what an unaware library uses (the PCIe tree inside a node, the nearest NIC
outside), ctl0 an unlimited network for mpirun and barriers.
"""

import json
import os

from machine import DEFAULT_DEVICE, FABRIC, Refused
from system import Journal, run, sweep

FRAMING = (
    0.985  # payload per byte that a token bucket counts: headers, and acknowledgements coming back
)
GATEWAY = "169.254.0.1"  # every next hop is called that; neighbours are static, so there is no ARP
MTU = 9000
GSO_BYTES = 65536
QUEUE_BYTES = 64 << 20  # deeper than all windows together: nothing is dropped, as with PCIe credits
DEFAULT_NET = 90
TABLE = 100

ROUTER_SYSCTLS = (
    "net.ipv4.conf.all.rp_filter=0",
    "net.ipv4.conf.default.rp_filter=0",
    "net.ipv6.conf.all.disable_ipv6=1",
    "net.ipv6.conf.default.disable_ipv6=1",
    "net.ipv4.ip_forward=1",
)
# Small fixed windows: the sum of all is less than a queue.
HOST_SYSCTLS = ROUTER_SYSCTLS[:4] + (
    "net.ipv4.tcp_congestion_control=reno",
    "net.ipv4.tcp_slow_start_after_idle=0",
    "net.ipv4.tcp_no_metrics_save=1",
    "net.ipv4.tcp_wmem=4096 262144 262144",
    "net.ipv4.tcp_rmem=4096 524288 524288",
    "net.ipv4.conf.all.arp_ignore=1",
    "net.ipv4.conf.all.arp_announce=2",
)


class Bed:
    """`with Bed(machine) as bed:` builds it and takes it down."""

    def __init__(self, machine):
        self.machine = machine
        self.journal = Journal(f"vp-{os.getpid()}")
        self.shapers = {}  # link name -> (place, device) whose transmit side it is
        self._ip = {}  # place -> commands; "" is outside
        self._tc = {}
        self._n_macs = 0
        self._macs = {}  # (place, device) -> MAC of the device

    def __enter__(self):
        sweep()
        if os.path.exists(self.journal.path):
            raise Refused(f"{self.journal.path} exists: this process has a testbed already")
        try:
            self._build()
        except BaseException:
            self.journal.remove()
            raise
        return self

    def __exit__(self, *_):
        self.journal.remove()

    def namespace(self, place):
        return f"{self.journal.prefix}-{place}"

    # --- what drivers ask for

    def address(self, rank, class_index):
        return f"10.{TABLE + class_index}.{rank.node}.{1 + rank.local}"

    def bytes_sent(self):
        """{link name: bytes that went over it}, headers included."""
        stats = self._device_stats({place for place, _ in self.shapers.values()})
        return {
            name: stats[place][device]["tx"]["bytes"]
            for name, (place, device) in self.shapers.items()
        }

    def device_bytes(self):
        """{(rank, device): (bytes out, bytes in)} of every data device of every rank."""
        stats = self._device_stats([rank.place for rank in self.machine.ranks])
        found = {}
        for rank in self.machine.ranks:
            names = [self.machine.device(i) for i in rank.classes] + [DEFAULT_DEVICE]
            for name in names:
                it = stats[rank.place][name]
                found[(rank.number, name)] = (it["tx"]["bytes"], it["rx"]["bytes"])
        return found

    def drops(self):
        """{link name: packets dropped}; a counter that cannot be read is an exception."""
        found = {}
        for name, (place, device) in self.shapers.items():
            text = run(
                ["tc", "-n", self.namespace(place), "-j", "-s", "qdisc", "show", "dev", device]
            )
            shaper = [it for it in json.loads(text) if it["kind"] == "tbf"]
            found[name] = shaper[0]["drops"]
        stats = self._device_stats({place for place, _ in self.shapers.values()})
        for name, (place, device) in self.shapers.items():
            it = stats[place][device]
            found[name] += it["tx"]["dropped"] + it["rx"]["dropped"]
        return found

    def _device_stats(self, places):
        found = {}
        for place in places:
            text = run(["ip", "-n", self.namespace(place), "-j", "-s", "link", "show"])
            found[place] = {it["ifname"]: it["stats64"] for it in json.loads(text)}
        return found

    # --- construction

    def _build(self):
        places = self.machine.places() + ["head"]
        self._links()
        for rank in self.machine.ranks:
            self._rank(rank)
            self._rank_at_switch(rank)
        self._tree_routes()
        self._nics()
        self._control()
        self.journal.add([self.namespace(place) for place in places])
        for place in places:
            is_host = place == "head" or place in {rank.place for rank in self.machine.ranks}
            run(
                [
                    "ip",
                    "netns",
                    "exec",
                    self.namespace(place),
                    "sysctl",
                    "-q",
                    "-w",
                    *(HOST_SYSCTLS if is_host else ROUTER_SYSCTLS),
                ]
            )
        run(["ip", "-batch", "-"], "\n".join(self._ip.pop("")) + "\n")
        for place in places:
            run(
                ["ip", "-n", self.namespace(place), "-batch", "-"],
                "\n".join(["link set lo up"] + self._ip.get(place, [])) + "\n",
            )
            if place in self._tc:
                run(
                    ["tc", "-n", self.namespace(place), "-batch", "-"],
                    "\n".join(self._tc[place]) + "\n",
                )

    def _add(self, place, command):
        self._ip.setdefault(place, []).append(command)

    def _mac(self):
        self._n_macs += 1
        return f"02:00:5e:00:{self._n_macs >> 8:02x}:{self._n_macs & 255:02x}"

    def _links(self):
        for key, link in self.machine.links.items():
            if link.b == FABRIC:
                ends = ((link.a, f"n{key[2]}"), (FABRIC, f"n{key[2]}"))
            elif link.a.startswith("r"):
                ends = ((link.a, "x16"), (link.b, link.a))
            else:
                ends = ((link.a, link.b), (link.b, link.a))
            for end in ends:
                self._macs[end] = self._mac()
            self._add("", self._veth_command(*ends))
            for end, name, rate in zip(ends, link.names, link.rates):
                self._add(end[0], f"link set {end[1]} up")
                if rate is not None:
                    self._shape(end, rate)
                    self.shapers[name] = end

    def _veth_command(self, one, other):
        parts = []
        for (place, device), word in ((one, "link add"), (other, "type veth peer name")):
            parts.append(
                f"{word} {device} netns {self.namespace(place)} address "
                f"{self._macs[(place, device)]} mtu {MTU} gso_max_size {GSO_BYTES} numtxqueues 1 "
                "numrxqueues 1"
            )
        return " ".join(parts)

    def _shape(self, end, bytes_per_s):
        raw = bytes_per_s / FRAMING
        burst = max(20000, int(raw * 0.002))  # less than 2 ms of it loses bandwidth to timers
        self._tc.setdefault(end[0], []).append(
            f"qdisc add dev {end[1]} root tbf rate {int(raw * 8)}bit burst {burst} "
            f"limit {QUEUE_BYTES}"
        )

    def _hop(self, place, destination, device, mac, table=None):
        suffix = f" table {table}" if table else ""
        self._add(place, f"route replace {destination} via {GATEWAY} dev {device} onlink{suffix}")
        self._add(place, f"neigh replace {GATEWAY} lladdr {mac} dev {device} nud permanent")

    def _net(self, class_index, node):
        """Where addresses of a class are: PCIe classes end at the node."""
        if class_index in self.machine.nic_classes:
            return f"10.{TABLE + class_index}.0.0/16"
        return f"10.{TABLE + class_index}.{node}.0/24"

    def _default_address(self, rank):
        return f"10.{DEFAULT_NET}.{rank.node}.{1 + rank.local}"

    def _rank(self, rank):
        machine, known = self.machine, set()
        for index in rank.classes:
            reached = machine.reached_by(rank, index)
            nets = [self._net(it, rank.node) for it in reached]
            device, address = machine.device(index), self.address(rank, index)
            self._data_device(rank, device, address)
            # A socket that is bound to the device's address may go wherever the class has a
            # path; one that is not bound goes by its destination. Both tables have equal
            # prefixes, because UCX takes a device only if no other has a longer one.
            for net in nets:
                self._rank_route(rank, device, address, net, TABLE + index)
                if net not in known:
                    known.add(net)
                    self._rank_route(rank, device, address, net, None)
            self._own_table(rank, address, TABLE + index)
        address, net = self._default_address(rank), f"10.{DEFAULT_NET}.0.0/16"
        self._data_device(rank, DEFAULT_DEVICE, address)
        for table in (None, DEFAULT_NET):
            self._rank_route(rank, DEFAULT_DEVICE, address, net, table)
        self._own_table(rank, address, DEFAULT_NET)

    def _data_device(self, rank, device, address):
        switch, mac = self.machine.place_of_group(rank.group), self._mac()
        self._add(
            rank.place, f"link add link x16 name {device} address {mac} type macvlan mode private"
        )
        self._add(rank.place, f"link set {device} mtu {MTU} gso_max_size {GSO_BYTES} up")
        self._add(rank.place, f"addr add {address}/32 dev {device}")
        self._add(
            rank.place,
            f"neigh replace {GATEWAY} lladdr {self._macs[(switch, rank.place)]} dev "
            f"{device} nud permanent",
        )
        self._add(switch, f"route add {address} dev {rank.place}")
        self._add(switch, f"neigh replace {address} lladdr {mac} dev {rank.place} nud permanent")

    def _rank_route(self, rank, device, address, net, table):
        suffix = f" table {table}" if table else ""
        self._add(
            rank.place,
            f"route add {net} via {GATEWAY} dev {device} onlink src {address} "
            f"initcwnd 64 initrwnd 64{suffix}",
        )

    def _own_table(self, rank, address, table):
        self._add(rank.place, f"route add unreachable default metric 9999 table {table}")
        self._add(rank.place, f"rule add pref 100 from {address} lookup {table}")

    def _rank_at_switch(self, rank):
        """Which way a packet of a rank goes: out of the NIC that its source address names."""
        machine = self.machine
        switch = machine.place_of_group(rank.group)
        for index in rank.classes:
            if index in machine.nic_classes:
                self._add(
                    switch,
                    f"rule add pref 100 iif {rank.place} from {self.address(rank, index)} "
                    f"lookup {TABLE + index}",
                )
        near = machine.near_nic(rank)
        if near is not None:
            near_class = machine.class_index[machine.model["nics"][near]["class"]]
            self._add(
                switch,
                f"rule add pref 101 iif {rank.place} to 10.{DEFAULT_NET}.{rank.node}.0/24 "
                "lookup main",
            )
            self._add(
                switch,
                f"rule add pref 102 iif {rank.place} to 10.{DEFAULT_NET}.0.0/16 "
                f"lookup {TABLE + near_class}",
            )

    def _tree_routes(self):
        machine = self.machine
        for place, hops in machine.hops.items():
            for group, following in hops.items():
                for rank in machine.ranks:
                    if rank.group != group:
                        continue
                    addresses = [
                        self.address(rank, i) for i in rank.classes if i not in machine.nic_classes
                    ] + [self._default_address(rank)]
                    for address in addresses:
                        self._hop(place, address, following, self._macs[(following, place)])

    def _nics(self):
        machine = self.machine
        for number, nic in enumerate(machine.model["nics"]):
            index = machine.class_index[nic["class"]]
            switch, device = machine.place_of_group(nic["group"]), f"n{number}"
            self._hop(switch, "default", device, self._macs[(FABRIC, device)], TABLE + index)
            for rank in machine.ranks:
                if rank.group == nic["group"]:
                    inward = [self.address(rank, index)]
                    inward += (
                        [self._default_address(rank)] if machine.near_nic(rank) == number else []
                    )
                    for address in inward:
                        self._hop(FABRIC, address, device, self._macs[(switch, device)])

    def _control(self):
        self._add("head", "link add br0 type bridge")
        self._add("head", "link set br0 up")
        self._add("head", "addr add 10.99.0.1/16 dev br0")
        for rank in self.machine.ranks:
            port = f"c{rank.number}"
            self._add(
                "",
                f"link add ctl0 netns {self.namespace(rank.place)} type veth peer name {port} "
                f"netns {self.namespace('head')}",
            )
            self._add(
                rank.place,
                f"addr add 10.99.{1 + rank.number // 200}.{1 + rank.number % 200}/16 " "dev ctl0",
            )
            self._add(rank.place, "link set ctl0 up")
            self._add("head", f"link set {port} master br0 up")
