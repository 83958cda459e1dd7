#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""In a QEMU guest: is the machine seen as it is, and do lanes run as RDMA over the chosen devices?

Imports the guest's PCIe tree, live and from lstopo's XML, and runs alltoallv on four ranks through
the component over soft RoCE. What each device sent and received is compared with the plan.
"""

import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import machine
from guest import HERE, Guest, GuestFailed, Obstacle, read

N_RANKS = machine.N_SOCKETS * machine.N_GPUS
N_DEVICES = machine.N_SOCKETS * machine.N_NICS
N_CALLS = 2  # a timed one and the first
# On top of the plan's bytes: headers (RETH, BTH, UDP, IPv6, Ethernet and the check sum with 4096
# bytes each); acknowledgements of what came the other way; connecting: per pair of processes some
# datagrams, and what the kernel says on its own. A busy machine answers late, and packets are sent
# again: the receiver counts those.
HEADERS, BACKWARD, SET_UP_BYTES, PACKET_BYTES = 0.02, 0.01, 40_000, 4200
# NICs of the topology file that take part: of both rails, each to its own; one of either.
CASES = {"straight": ["nic0", "nic1", "nic2", "nic3"], "crossed": ["nic0", "nic3"]}
PROVIDER = "/etc/libibverbs.d/rxe.driver"
VERBS = "/usr/lib/x86_64-linux-gnu/ucx/libuct_ib.so.0"


class Checks:
    def __init__(self):
        self.n_checks = self.n_failures = 0

    def check(self, name, problems):
        self.n_checks += 1
        self.n_failures += bool(problems)
        print(f"{'FAILED' if problems else 'ok'}: {name}", *problems[:8], sep="\n    ", flush=True)

    def finish(self):
        print(
            f"{100 * (self.n_checks - self.n_failures) // self.n_checks}%: "
            f"Checks: {self.n_checks}, Failures: {self.n_failures}, Errors: 0"
        )
        return 1 if self.n_failures else 0


def demand(n_bytes):
    """Every pair another amount."""
    return [
        [0 if a == b else n_bytes // 8 * (6 + (3 * a + 5 * b) % 5) for b in range(N_RANKS)]
        for a in range(N_RANKS)
    ]


class Job:
    """The folder that the guest gets."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def prepare(self):
        shutil.copy(os.path.join(HERE, "job.sh"), self.folder)
        with open(self.path("settings"), "w", encoding="utf-8") as file:
            file.write(f"build='{self.options.build}'\nsource='{self.options.source}'\n")
            file.write(f"mpirun='{self.options.mpirun}'\ncomponents='{self.options.components}'\n")
            file.write(f"n_nics={machine.N_NICS}\n")
        with open(self.path("demand.csv"), "w", encoding="ascii") as file:
            rows = demand(self.options.bytes)
            file.writelines(",".join(map(str, row)) + "\n" for row in rows)
        with open(os.path.join(HERE, "guest.json"), encoding="utf-8") as file:
            whole = json.load(file)
        for case, nics in CASES.items():
            part = dict(whole, nics=[it for it in whole["nics"] if it["name"] in nics])
            with open(self.path(case + ".json"), "w", encoding="utf-8") as file:
                json.dump(part, file)
            subprocess.run(
                [
                    os.path.join(self.options.build, "variopath"),
                    *("catalog", "build", f"{self.path(case + '.json')}:transports=guest"),
                    *("-o", self.path(case + ".vpcat")),
                ],
                check=True,
                stdout=subprocess.DEVNULL,
            )

    def counters(self, case):
        """{device: (bytes sent, packets sent, received, received again) of the job}"""
        found = {}
        for when, sign in (("before", -1), ("after", 1)):
            for line in read(self.path(f"{case}.{when}")).splitlines():
                name, *values = line.split()
                old = found.get(name, (0,) * len(values))
                found[name] = tuple(a + sign * int(b) for a, b in zip(old, values))
        return found

    def lanes(self, case):
        """What all ranks wrote about their lanes."""
        found = []
        for path in glob.glob(self.path(f"{case}.trace*")):
            for line in read(path).splitlines():
                found += json.loads(line)["lanes"]
        return found


def read_export(job):
    """The XML that lstopo wrote in the guest; reading it needs no guest."""
    with open(job.path("exported.json"), "w", encoding="utf-8") as file:
        subprocess.run(
            [
                os.path.join(job.options.build, "variopath"),
                *("topology", "import", job.path("tree.xml"), "--json"),
                *("-o", job.path("exported-topology.json")),
            ],
            check=False,
            stdout=file,
        )


def same_view(job, kind):
    live, exported = (read(job.path(f"{it}{kind}.json")) for it in ("live", "exported"))
    if not live or not exported:
        return [f"{len(live)} bytes live, {len(exported)} from XML"]
    live, exported = json.loads(live), json.loads(exported)
    return [
        f"{key}: {json.dumps(live.get(key))[:200]} live, {json.dumps(exported.get(key))[:200]}"
        for key in sorted(live.keys() | exported.keys())
        if key != "name" and live.get(key) != exported.get(key)
    ]


def wrong_machine(seen):
    """Two sockets with a switch each, on it two GPUs and two NICs; all else is far."""
    problems = []

    def expect(what, got, expected):
        if got != expected:
            problems.append(f"{what}: {got} instead of {expected}")

    expect("groups", seen["groups"], [[0, 1], [2, 3]])
    near, far = ["SELF", "PIX"], ["SYS", "SYS"]
    expect("pairs", seen["pairs"], [near + far, near[::-1] + far, far + near, far + near[::-1]])
    nics = [(it["name"].removeprefix("node0/"), it["group"]) for it in seen["nics"]]
    expect("NICs", sorted(nics), [("nic0", 0), ("nic1", 0), ("nic2", 1), ("nic3", 1)])
    expect(
        "nearest NICs",
        [sorted(it) for it in seen["nearest_nics"]],
        [["nic0", "nic1"]] * 2 + [["nic2", "nic3"]] * 2,
    )
    buses = [it["pci"].split(":")[1] for it in seen["gpus"]]
    expect("buses of the GPUs", buses, ["23", "24", "63", "64"])
    return problems


def partner(case, device):
    """The only device that this one talks to: of the same rail, or of the other."""
    other = {"straight": {0: 2, 1: 3, 2: 0, 3: 1}, "crossed": {0: 3, 3: 0}}[case]
    return other.get(device)


def planned(case, lanes):
    """Bytes that each device sends: [N_DEVICES], and lanes that are not where they should be."""
    sent, problems = [0] * N_DEVICES, []
    for it in lanes:
        ends = [re.fullmatch(r"nic(\d)", it[end]) for end in ("source_class", "destination_class")]
        crosses = it["source"] // machine.N_GPUS != it["destination"] // machine.N_GPUS
        if not crosses and not any(ends):
            continue
        source, destination = (int(end.group(1)) if end else None for end in ends)
        if not crosses or source is None or partner(case, source) != destination:
            problems.append(f"a lane that should not be: {it}")
        else:
            sent[source] += it["bytes"]
    return sent, problems


def wrong_bytes(case, sent, counted):
    problems = []
    for device in range(N_DEVICES):
        n_bytes, packets_out, packets_in, _ = counted[f"rdma{device}"]
        other = partner(case, device)
        if other is None:
            if packets_out or packets_in or n_bytes > 2000:
                problems.append(
                    f"rdma{device}: {packets_out} packets out, {packets_in} in, {n_bytes} bytes, "
                    "but it has no part"
                )
            continue
        least, back = sent[device], sent[other]
        again = counted[f"rdma{other}"][3] * PACKET_BYTES
        most = int(least * (1 + HEADERS) + back * BACKWARD + SET_UP_BYTES) + again
        if not 0 < least <= n_bytes <= most:
            problems.append(f"rdma{device}: {n_bytes} bytes sent, {least} planned, at most {most}")
        if counted[f"rdma{other}"][2] != packets_out:
            problems.append(
                f"rdma{device} sent {packets_out} packets, rdma{other} received "
                f"{counted[f'rdma{other}'][2]}"
            )
    return problems


def check_case(checks, job, case):
    log = read(job.path(case + ".log"))
    total = sum(map(sum, demand(job.options.bytes))) * N_CALLS
    carried = re.search(r"coll_variopath_carried = (\d+)", log)
    problems = [] if "verified: every byte" in log else [f"not right:\n{log[-2000:]}"]
    if not carried or int(carried.group(1)) != N_CALLS * N_RANKS:
        problems.append(f"not every call was carried:\n{log[-2000:]}")
    checks.check(f"{case}: {N_RANKS} ranks, every byte right, every call carried", problems)
    if problems:
        return
    lanes = job.lanes(case)
    sent, problems = planned(case, lanes)
    if sum(it["bytes"] for it in lanes) != total:
        problems.append(f"lanes of {sum(it['bytes'] for it in lanes)} bytes, {total} to move")
    checks.check(f"{case}: {len(lanes)} lanes, {sum(sent)} bytes of {total} over NICs", problems)
    counted = job.counters(case)
    checks.check(
        f"{case}: bytes and packets of each RDMA device", wrong_bytes(case, sent, counted)
    )
    for device in range(N_DEVICES):
        name = f"rdma{device}"
        print(
            f"    {name}: {sent[device]} planned, {counted[name][0]} bytes sent in "
            f"{counted[name][1]} packets, {counted[name][2]} received, {counted[name][3]} again"
        )


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=".", type=os.path.abspath)
    parser.add_argument("--source", default=os.environ.get("srcdir", "."), type=os.path.abspath)
    parser.add_argument("--mpirun", default=os.environ.get("VP_MPIRUN", "mpirun"))
    parser.add_argument("--folder", default="guest", help="for QEMU and the kernel, kept [guest]")
    parser.add_argument("--bytes", type=int, default=600_000, help="of a pair, about")
    parser.add_argument("--limit", type=int, default=400, help="seconds for the guest")
    parser.add_argument("--keep", action="store_true", help="leave what the guest wrote")
    return parser.parse_args()


def obstacle(options):
    """Why the jobs cannot run even with a guest."""
    options.mpirun = shutil.which(options.mpirun)
    if not options.mpirun:
        return "there is no mpirun"
    if not os.path.exists(os.path.join(options.build, "mca/.libs/mca_coll_variopath.so")):
        return "the component was not built"
    for path in (PROVIDER, VERBS):
        if not os.path.exists(path):
            return f"{path} is missing: install ibverbs-providers and libucx0"
    folder = subprocess.run(
        [os.environ.get("VP_OMPI_INFO", "ompi_info"), "--path", "pkglibdir", "--parsable"],
        text=True,
        capture_output=True,
        check=False,
    ).stdout
    options.components = folder.strip().rpartition(":")[2]
    return None if options.components else "ompi_info does not tell where components are"


def main():
    options = parse()
    reason = obstacle(options)
    if reason:
        print(reason)
        return 77
    guest = Guest(options.folder)
    started = time.monotonic()
    guest.make()
    made = time.monotonic()
    checks = Checks()
    folder = tempfile.mkdtemp(prefix="job-", dir=options.folder)
    try:
        job = Job(options, folder)
        job.prepare()
        status, log = guest.run(folder, machine.arguments(), machine.MEMORY_MIB, options.limit)
        print(log, end="")
        checks.check("the guest's job ends well", [] if status == 0 else [f"status {status}"])
        read_export(job)
        checks.check("import: live and from XML agree", same_view(job, ""))
        checks.check("import: their topology files agree", same_view(job, "-topology"))
        checks.check(
            "import: 2 sockets, on each a switch with 2 GPUs and 2 NICs",
            wrong_machine(json.loads(read(job.path("live.json")) or "{}")),
        )
        for case in CASES:
            check_case(checks, job, case)
    except GuestFailed as error:
        checks.check("the guest ends by itself", [str(error)])
    finally:
        if options.keep:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder)
    print(f"packages {made - started:.0f} s, guest {time.monotonic() - made:.0f} s")
    return checks.finish()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Obstacle as reason:
        print(reason)
        sys.exit(77)
