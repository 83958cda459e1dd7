# SPDX-License-Identifier: BSD-3-Clause
"""Runs examples/alltoallv under a real mpirun, one rank per namespace of a testbed, and reads what
it prints."""

import os
import re
import shutil
import subprocess
import tempfile

from machine import DEFAULT_DEVICE
from system import end_processes, processes

HERE = os.path.dirname(os.path.abspath(__file__))

STOCK = ["--mca", "coll", "^variopath", "--mca", "coll_tuned_use_dynamic_rules", "1"]
OB1 = STOCK + [
    "--mca",
    "pml",
    "ob1",
    "--mca",
    "btl",
    "tcp,self",
    "--mca",
    "btl_tcp_if_include",
    DEFAULT_DEVICE,
]
UCX = STOCK + [
    "--mca",
    "pml",
    "ucx",
    "--mca",
    "pml_ucx_tls",
    "any",
    "--mca",
    "pml_ucx_devices",
    "any",
    "-x",
    "UCX_TLS=tcp,self",
    "-x",
    f"UCX_NET_DEVICES={DEFAULT_DEVICE}",
]
OURS = [
    "--mca",
    "coll",
    "variopath",
    "--mca",
    "coll_variopath_host",
    "1",
    "--mca",
    "pml",
    "ob1",
    "--mca",
    "btl",
    "tcp,self",
    "--mca",
    "btl_tcp_if_include",
    "ctl0",
]


def tuned(base, algorithm, collective="alltoallv"):
    """Open MPI's numbers: 1 linear, 2 pairwise, for alltoall 4 linear-sync (with a window)."""
    return base + ["--mca", f"coll_tuned_{collective}_algorithm", str(algorithm)]


class Result:
    def __init__(self, code, output):
        self.code, self.output = code, output
        match = re.search(
            r"time: median ([0-9.]+) ms of (\d+) calls \(fastest ([0-9.]+), slowest ([0-9.]+)\)",
            output,
        )
        self.is_right = code == 0 and "verified: every byte" in output and match is not None
        self.median, self.fastest, self.slowest = (
            [float(match.group(i)) / 1e3 for i in (1, 3, 4)] if match else [None] * 3
        )
        self.counters = {
            name: int(value)
            for name, value in re.findall(r"^(coll_variopath_\w+) = (\d+)$", output, re.M)
        }


class Jobs:
    """mpirun for one testbed, with the component and the example of a build directory."""

    def __init__(self, bed, build, source):
        self.bed = bed
        self.scratch = tempfile.mkdtemp(prefix=bed.journal.prefix + "-")
        self.program = os.path.join(build, "examples", "alltoallv")
        component = os.path.join(self.scratch, "component")
        os.mkdir(component)
        os.symlink(
            os.path.join(build, "mca", ".libs", "mca_coll_variopath.so"),
            os.path.join(component, "mca_coll_variopath.so"),
        )
        self.hosts = os.path.join(self.scratch, "hosts")
        with open(self.hosts, "w", encoding="ascii") as file:
            for rank in bed.machine.ranks:
                file.write(f"{bed.namespace(rank.place)} slots=1\n")
        self.environment = dict(
            os.environ,
            OMPI_ALLOW_RUN_AS_ROOT="1",
            OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
            OMPI_MCA_mca_base_component_path=f"{component}:SYS_DEFAULT:USER_DEFAULT",
            OMPI_MCA_coll_variopath_help_dir=os.path.join(source, "mca"),
            OMPI_MCA_mpi_yield_when_idle="1",
            UCX_WARN_UNUSED_ENV_VARS="n",
            TMPDIR=self.scratch,
        )
        self.ucx = os.environ.get("VP_UCX_LIBDIR")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.scratch, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.scratch, name)

    def component_environment(self):
        """Only our component gets the UCX that it was built on, Open MPI's own the system's."""
        environment = dict(self.environment)
        if self.ucx:
            environment["LD_LIBRARY_PATH"] = f"{self.ucx}:{environment.get('LD_LIBRARY_PATH', '')}"
        return environment

    def run(self, mpi_arguments, program_arguments, seconds):
        """The example, ended after `seconds` at the latest."""
        is_ours = mpi_arguments[: len(OURS)] == OURS
        environment = self.component_environment() if is_ours else self.environment
        return Result(
            *self.mpirun([*mpi_arguments, self.program, *program_arguments], environment, seconds)
        )

    def mpirun(self, arguments, environment, seconds):
        """(exit code, output) of one job; 124: it was ended after `seconds`."""
        command = [
            "ip",
            "netns",
            "exec",
            self.bed.namespace("head"),
            os.environ.get("VP_MPIRUN", "mpirun"),
            "--hostfile",
            self.hosts,
            "--bind-to",
            "none",
            "--map-by",
            "node",
            "--mca",
            "plm_rsh_agent",
            os.path.join(HERE, "netns-rsh"),
            "--mca",
            "plm_rsh_no_tree_spawn",
            "1",
            "--mca",
            "oob_tcp_if_include",
            "10.99.0.0/16",
            "--mca",
            "routed",
            "direct",
            *arguments,
        ]
        job = subprocess.Popen(
            command,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        )
        try:
            output, _ = job.communicate(timeout=seconds)
            return job.returncode, output
        except subprocess.TimeoutExpired:
            self._end()
            output, _ = job.communicate()
            return 124, output + f"\nended after {seconds} s"
        finally:
            self._end()
            job.wait()

    def _end(self):
        names = [self.bed.namespace(rank.place) for rank in self.bed.machine.ranks]
        names.append(self.bed.namespace("head"))
        if processes(names):
            end_processes(names)
