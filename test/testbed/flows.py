#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Bulk TCP flows between ranks of a testbed, all at once, and what each receives.

Run as a program it is one end of one flow, inside a rank's namespace.
"""

import os
import socket
import subprocess
import sys
import time

CHUNK = 1 << 16
FIRST_PORT = 6100


def receive(address, port, seconds):
    """Prints bytes per second of the middle of the run."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, port))
    listener.listen(1)
    listener.settimeout(10)
    print("ready", flush=True)
    stream, _ = listener.accept()
    stream.settimeout(10)
    begin = now = time.monotonic()
    counted_from, n_bytes = None, 0
    while now - begin < 0.9 * seconds:
        chunk = stream.recv(CHUNK)
        now = time.monotonic()
        if not chunk:
            break
        if counted_from is None:
            if now - begin > 0.2 * seconds:
                counted_from = now
        else:
            n_bytes += len(chunk)
    print(
        int(n_bytes / (now - counted_from)) if counted_from and now > counted_from else 0,
        flush=True,
    )
    os._exit(0)  # the sender goes on for a moment: other flows may still be measured


def send(source, destination, port, seconds):
    stream = socket.socket()
    stream.bind((source, 0))
    stream.settimeout(10)
    stream.connect((destination, port))
    end, chunk = time.monotonic() + seconds, bytes(CHUNK)
    try:
        while time.monotonic() < end:
            stream.sendall(chunk)
    except OSError:
        pass
    os._exit(0)


def measure(bed, flows, seconds):
    """flows: [(source rank, its class, destination rank, its class)]; payload bytes/s of each."""
    receivers, senders = [], []
    machine = bed.machine

    def start(rank, *arguments):
        command = [
            "ip",
            "netns",
            "exec",
            bed.namespace(rank.place),
            sys.executable,
            os.path.abspath(__file__),
            *map(str, arguments),
        ]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    try:
        for i, (source, source_class, destination, destination_class) in enumerate(flows):
            there = machine.ranks[destination]
            to = bed.address(there, machine.class_index[destination_class])
            receivers.append(start(there, "receive", to, FIRST_PORT + i, seconds))
            if receivers[-1].stdout.readline().strip() != "ready":
                raise RuntimeError(
                    f"rank {destination} cannot listen on its {destination_class} device"
                )
        for i, (source, source_class, destination, destination_class) in enumerate(flows):
            to = bed.address(machine.ranks[destination], machine.class_index[destination_class])
            here = machine.ranks[source]
            address = bed.address(here, machine.class_index[source_class])
            senders.append(start(here, "send", address, to, FIRST_PORT + i, seconds))
        return [int(it.stdout.readline() or 0) for it in receivers]
    finally:
        for it in senders + receivers:
            it.kill()
            it.wait()
            it.stdout.close()


if __name__ == "__main__":
    if sys.argv[1] == "receive":
        receive(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
    else:
        send(sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5]))
