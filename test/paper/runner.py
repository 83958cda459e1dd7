# SPDX-License-Identifier: BSD-3-Clause
"""Runs `variopath` for the tables of the evaluation and keeps what it said.

Answers lie in one folder, one file per question, named by a hash of the command, of the files
that it reads and of the sources that the answer depends on: what did not change is not run
again, and an interrupted run goes on where it stopped. Systems to compare with depend on the
simulator only, so a better planner of ours runs none of them again. Nothing depends on time or
order: equal questions give equal answers, but for planning times.
"""

import concurrent.futures
import hashlib
import json
import os
import resource
import subprocess
import tempfile
import threading

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
# What an answer depends on: that of another system, and any other.
ROOMS = {"peer": ("base", "catalog", "sim")}
ROOMS["own"] = (*ROOMS["peer"], "scheduler", "tools")
TOOLS = os.path.join(SOURCES, "tools")
SHIPPED = (".c", ".h", ".json")


def source_files(kind):
    """Paths of all sources of a kind of answer, in order."""
    found = []
    for room in ROOMS[kind]:
        for folder, _, names in os.walk(os.path.join(SOURCES, room)):
            found += [os.path.join(folder, name) for name in names if name.endswith(SHIPPED)]
    return sorted(found)


def source_digest(kind):
    """Hash of names and contents of the sources."""
    digest = hashlib.sha256()
    for path in source_files(kind):
        digest.update(os.path.relpath(path, SOURCES).encode() + b"\0")
        with open(path, "rb") as file:
            digest.update(hashlib.sha256(file.read()).digest())
    return digest.hexdigest()


def refuse_stale(variopath):
    """A program older than its sources would give answers under a wrong name."""
    built = os.path.getmtime(variopath)
    for path in source_files("own"):
        # Not every file of tools/ is part of it.
        is_part = path.endswith((".c", ".h")) and not path.startswith(TOOLS)
        if is_part and os.path.getmtime(path) > built:
            raise SystemExit(f"{variopath} is older than {os.path.normpath(path)}; run make first")


def write_file(path, text):
    """Whole or not at all, also when several write the same."""
    part = f"{path}.{os.getpid()}.{threading.get_ident()}"
    with open(part, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(part, path)


def run_program(words):
    """(standard output, CPU seconds) of one command; ends the evaluation when it fails."""
    with tempfile.TemporaryFile() as errors:
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors) as process:
            output = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            errors.seek(0)
            raise SystemExit(
                f"{' '.join(words)}\nended with {process.returncode}: {errors.read().decode()}"
            )
    return output.decode(), usage.ru_utime + usage.ru_stime


class Runner:
    """Asks `variopath`, at most `workers` questions at a time."""

    def __init__(self, variopath, folder, workers=2):
        self.variopath = os.path.abspath(variopath)
        self.folder = os.path.abspath(folder)
        self.pool = concurrent.futures.ThreadPoolExecutor(workers)
        self.lock = threading.Lock()
        self.cpu_s = 0.0  # of all answers that were used, also those of earlier runs
        self.n_asked = self.n_kept = 0
        self.loads = []  # 1-minute loads when planning was timed
        refuse_stale(self.variopath)
        self.digests = {kind: source_digest(kind) for kind in ROOMS}
        for part in ("answers", "demands"):
            os.makedirs(os.path.join(self.folder, part), exist_ok=True)

    def call(self, *words):
        """(standard output, CPU seconds) of one command, not kept."""
        return run_program([self.variopath, *words])

    def ask(self, *words, kind="own"):
        """The JSON that a command answers with."""
        digest = hashlib.sha256(self.digests[kind].encode())
        for word in words:
            if os.path.isfile(word):
                with open(word, "rb") as file:
                    digest.update(hashlib.sha256(file.read()).digest())
            else:
                digest.update(word.encode() + b"\0")
        path = os.path.join(self.folder, "answers", f"{kind}-{digest.hexdigest()[:24]}.json")
        is_kept = os.path.exists(path)
        if not is_kept:
            text, cpu_s = self.call(*words, "--json")
            kept = {"cpu_s": cpu_s, "load": os.getloadavg()[0], "answer": json.loads(text)}
            write_file(path, json.dumps(kept))
        with open(path, encoding="utf-8") as file:
            kept = json.load(file)
        with self.lock:
            self.cpu_s += kept["cpu_s"]
            self.n_kept += is_kept
            self.n_asked += not is_kept
            if "--time-planning" in words:
                self.loads.append(kept["load"])
        return kept["answer"]

    def demand(self, ranks, options, seed=1):
        """A CSV file made by `variopath demand`."""
        words = ["demand", *options.split(), "--ranks", str(ranks), "--seed", str(seed)]
        name = hashlib.sha256((self.digests["peer"] + " ".join(words)).encode()).hexdigest()
        path = os.path.join(self.folder, "demands", name[:24] + ".csv")
        if not os.path.exists(path):
            write_file(path, self.call(*words)[0])
        return path

    def write_demand(self, name, rows):
        """A CSV file with these rows."""
        path = os.path.join(self.folder, "demands", name + ".csv")
        write_file(path, "".join(",".join(str(cell) for cell in row) + "\n" for row in rows))
        return path

    def map(self, function, items):
        """function(*item) of all items, several at a time, in order."""
        return list(self.pool.map(lambda item: function(*item), items))


def own_cpu_s():
    """CPU seconds of this script itself."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def read_demand(path):
    """Rows of a CSV file of bytes."""
    with open(path, encoding="utf-8") as file:
        return [[int(cell) for cell in line.split(",")] for line in file if line.strip()]
