# SPDX-License-Identifier: BSD-3-Clause
"""What the testbed owns on this system: namespaces, processes in them, and the journal of both.

Names of namespaces begin with "vp-PID-". They are written to a journal before they are made, and
nothing that is not in a journal is ever removed: a crash leaves neither litter nor doubt.
"""

import contextlib
import json
import os
import signal
import subprocess
import time

from machine import Refused

JOURNALS = "/run/variopath-testbed"
NAMESPACES = "/run/netns"


def run(command, text=None):
    """Runs a short command; its output. A failure is an exception with what the command said."""
    done = subprocess.run(
        command, input=text, text=True, capture_output=True, check=False, timeout=60
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def obstacle():
    """Why no testbed can be built here; None if it can."""
    if os.geteuid() != 0:
        return "the testbed makes network namespaces, which takes root"
    for tool in ("ip", "tc", "unshare", "sysctl"):
        if subprocess.run(
            ["sh", "-c", f"command -v {tool}"], capture_output=True, check=False
        ).returncode:
            return f'the testbed needs the command "{tool}" (packages iproute2, util-linux, procps)'
    name = f"vp-{os.getpid()}-try"
    try:
        run(["ip", "netns", "add", name])
    except RuntimeError as error:
        return f"network namespaces are not allowed here: {error}"
    try:
        run(["ip", "-n", name, "link", "add", "x16", "type", "veth", "peer", "name", "g0"])
        run(["ip", "-n", name, "link", "add", "link", "x16", "name", "m0", "type", "macvlan"])
        run(
            [
                "tc",
                "-n",
                name,
                "qdisc",
                "add",
                "dev",
                "x16",
                "root",
                "tbf",
                "rate",
                "50mbit",
                "burst",
                "20000",
                "limit",
                "100000",
            ]
        )
    except RuntimeError as error:
        return f"the kernel lacks veth, macvlan or tbf: {error}"
    finally:
        run(["ip", "netns", "del", name])
    return None


def start_time(pid):
    """When a process began, in ticks after boot; None if it does not live."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return int(file.read().rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None


class Journal:
    """The namespaces of one testbed: {name: inode, or None while it is being made}."""

    def __init__(self, prefix):
        self.prefix = prefix
        self.path = os.path.join(JOURNALS, prefix + ".json")
        self.owner = os.getpid()
        self.owner_start = start_time(self.owner)
        self.names = {}

    @classmethod
    def load(cls, path):
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        journal = cls(data["prefix"])
        journal.owner, journal.owner_start = data["owner"], data["owner_start"]
        journal.names = data["names"]
        return journal

    def save(self):
        os.makedirs(JOURNALS, mode=0o755, exist_ok=True)
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump(
                {
                    "prefix": self.prefix,
                    "owner": self.owner,
                    "owner_start": self.owner_start,
                    "names": self.names,
                },
                file,
            )
        os.replace(self.path + ".new", self.path)

    def add(self, names):
        """Makes namespaces."""
        taken = [name for name in names if os.path.exists(os.path.join(NAMESPACES, name))]
        if taken:
            raise Refused(
                f"network namespace {taken[0]} exists and is not this testbed's; remove it by "
                "hand if nobody needs it"
            )
        self.names = dict.fromkeys(names)
        self.save()
        for name in names:
            run(["ip", "netns", "add", name])
            self.names[name] = inode(name)
        self.save()

    def is_ours(self, name):
        found = inode(name)
        return found is not None and self.names[name] in (None, found)

    def remove(self):
        """Removes the namespaces with all that is in them, and then the journal."""
        ours = [name for name in self.names if self.is_ours(name)]
        end_processes(ours)
        for name in ours:
            run(["ip", "netns", "del", name])
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.path)


def inode(name):
    try:
        return os.stat(os.path.join(NAMESPACES, name)).st_ino
    except OSError:
        return None


def processes(names):
    found = set()
    for name in names:
        found.update(int(pid) for pid in run(["ip", "netns", "pids", name]).split())
    return found - {os.getpid()}


def end_processes(names):
    """Ends what runs in these namespaces: asks, waits two seconds, insists."""
    for number, patience in ((signal.SIGTERM, 2.0), (signal.SIGKILL, 5.0)):
        deadline = time.monotonic() + patience
        for pid in processes(names):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        while processes(names):
            if time.monotonic() > deadline:
                break
            time.sleep(0.05)
        else:
            return


def sweep():
    """Removes what crashed testbeds left; the prefixes. Testbeds whose owner lives stay."""
    swept = []
    if not os.path.isdir(JOURNALS):
        return swept
    for entry in sorted(os.listdir(JOURNALS)):
        if not entry.endswith(".json"):
            continue
        journal = Journal.load(os.path.join(JOURNALS, entry))
        if start_time(journal.owner) != journal.owner_start:
            journal.remove()
            swept.append(journal.prefix)
    return swept


def exit_on_signals():
    """Lets the usual signals end a driver through its cleanup."""

    def leave(number, _frame):
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, leave)
