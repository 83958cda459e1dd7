#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What stays behind: nothing of ours after a crash or a signal, everything that is not ours."""

import os
import signal
import subprocess
import sys
import time

from bed import Bed
from machine import Machine
from system import JOURNALS, Journal, inode, run, sweep

VARIOPATH, TOPOLOGY = sys.argv[1:3]
counts = {"checks": 0, "failures": 0}


def check(what, is_right):
    counts["checks"] += 1
    counts["failures"] += not is_right
    print(f"{'ok' if is_right else 'FAILED'}: {what}", flush=True)


def names(prefix):
    return [
        line.split()[0]
        for line in run(["ip", "netns", "list"]).splitlines()
        if line.startswith(f"{prefix}-")
    ]


def hold():
    """Builds a testbed with a process in it and waits to be ended."""
    with Bed(Machine(VARIOPATH, TOPOLOGY)) as bed:
        sleeper = subprocess.Popen(["ip", "netns", "exec", bed.namespace("r0"), "sleep", "600"])
        print(sleeper.pid, flush=True)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        time.sleep(600)


def ended_by(number):
    """(prefix, pid of the process in it) of a testbed whose owner was sent a signal."""
    holder = subprocess.Popen(
        [sys.executable, *sys.argv, "hold"], stdout=subprocess.PIPE, text=True
    )
    sleeper = int(holder.stdout.readline())
    prefix = f"vp-{holder.pid}"
    check(f"a testbed is there before signal {number}", len(names(prefix)) > 8)
    holder.send_signal(number)
    holder.wait()
    holder.stdout.close()
    return prefix, sleeper


def runs(pid):
    """Whether a process lives; one that ended and that nobody asked about yet does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(prefix, sleeper):
    return (
        not names(prefix)
        and not runs(sleeper)
        and not os.path.exists(os.path.join(JOURNALS, prefix + ".json"))
    )


def strangers():
    """A namespace with a name like ours, one that took a name of ours, one of a testbed in use."""
    stranger, other = f"vp-{os.getpid()}-stranger", f"vp-{os.getpid()}-taken"
    journal = Journal(f"vp-{os.getpid()}")
    try:
        for name in (stranger, other):
            run(["ip", "netns", "add", name])
        journal.owner_start = -1  # looks like one whose owner died
        journal.names = {other: inode(other) + 1}
        journal.save()
        sweep()
        check("a namespace that no journal names stays", inode(stranger) is not None)
        check("a namespace that took a name of ours stays", inode(other) is not None)
    finally:
        for name in (stranger, other):
            run(["ip", "netns", "del", name])


def main():
    check("SIGTERM takes everything down", gone(*ended_by(signal.SIGTERM)))
    prefix, sleeper = ended_by(signal.SIGKILL)
    check("SIGKILL leaves it", len(names(prefix)) > 8)
    check("a sweep finds it", prefix in sweep())
    check("and removes it with its processes", gone(prefix, sleeper))
    strangers()
    with Bed(Machine(VARIOPATH, TOPOLOGY)) as bed:
        check(
            "a sweep leaves a testbed in use",
            bed.journal.prefix not in sweep() and len(names(bed.journal.prefix)) > 8,
        )
    check("its end removes it", not names(f"vp-{os.getpid()}"))
    n, failed = counts["checks"], counts["failures"]
    print(f"{100 * (n - failed) // n}%: Checks: {n}, Failures: {failed}, Errors: 0")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(hold() if sys.argv[-1] == "hold" else main())
