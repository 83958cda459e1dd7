# SPDX-License-Identifier: BSD-3-Clause
"""A guest: QEMU without hardware help, Debian's kernel, the host's files.

Everything comes from Debian packages that are unpacked into a folder of their own: nothing is
installed, and root is not needed. The guest sees the host's files (read-only) under the unpacked
packages, and one folder that it may write to, where its job and its answers are.
"""

import lzma
import os
import platform
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
KERNEL = "linux-image-amd64"
PACKAGES = [
    "qemu-system-x86",
    "busybox-static",
    "kmod",
    "iproute2",
    "hwloc-nox",
    "ibverbs-providers",
]
# Loaded in this order with all that they need; one that the kernel has built in is not there.
MODULES = [
    "virtio_pci",
    "9pnet_virtio",
    "9p",
    "overlay",
    "crc32_generic",
    "e1000e",
    "rdma_rxe",
    "ib_uverbs",
    "rdma_ucm",
]
KERNEL_PARTS = ["./boot/vmlinuz-*", "./lib/modules/*/modules.*", "./lib/modules/*/kernel/*"]
VERSION = "1"  # of what is made here; another one makes it anew


class Obstacle(Exception):
    """Why there can be no guest here."""


class GuestFailed(Exception):
    """The guest ended without the status of its job."""


def run(command, **more):
    return subprocess.run(command, check=True, text=True, capture_output=True, **more).stdout


def with_reason(what, command, **more):
    try:
        return run(command, **more)
    except (OSError, subprocess.CalledProcessError) as error:
        told = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        raise Obstacle(f"{what}: {told[-1] if told else error}") from error


def missing_packages():
    """What apt would install beside what is there; an installed package is never replaced."""
    told = with_reason(
        "apt cannot tell what QEMU needs",
        ["apt-get", "install", "-s", "-q", "--no-install-recommends", *PACKAGES],
    )
    return re.findall(r"^Inst (\S+) \(", told, re.M)  # "Inst NAME [OLD]" would replace one


def kernel_package():
    told = with_reason("apt knows no kernel", ["apt-cache", "depends", KERNEL])
    match = re.search(r"Depends: (linux-image-\S+)", told)
    if not match:
        raise Obstacle(f"{KERNEL} depends on no kernel")
    return match.group(1)


def unpack(package, folder, parts=()):
    """Through a pipe: tar keeps the links of a merged /usr, which dpkg -x would replace."""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as deb:
        subprocess.run(
            ["tar", "-x", "-C", folder, "--keep-directory-symlink", "--no-same-owner"]
            + (["--wildcards", *parts] if parts else []),
            stdin=deb.stdout,
            check=True,
        )
    if deb.returncode != 0:
        raise Obstacle(f"{package} cannot be unpacked")


def unpack_kernel_image(source, target):
    """The kernel itself, out of the image that unpacks itself: QEMU enters it at once."""
    with open(source, "rb") as file:
        image = file.read()
    start = image.find(b"\xfd7zXZ\0")
    while start >= 0:
        try:
            kernel = lzma.LZMADecompressor().decompress(image[start:])
        except lzma.LZMAError:
            kernel = b""
        if kernel.startswith(b"\x7fELF"):
            with open(target, "wb") as file:
                file.write(kernel)
            return
        start = image.find(b"\xfd7zXZ\0", start + 1)
    shutil.copyfile(source, target)  # packed otherwise: it boots as well, but slower


def modules_in_order(listing):
    """Names of MODULES and of all that they need, as modules.dep has them, each after its own."""
    needs = {}
    for line in listing.splitlines():
        path, _, others = line.partition(":")
        name = re.sub(r"\.ko(\.xz|\.zst|\.gz)?$", "", os.path.basename(path)).replace("-", "_")
        needs[name] = (path, others.split())
    found = []
    for name in MODULES:
        if name in needs:
            path, others = needs[name]
            found += [it for it in [*reversed(others), path] if it not in found]
    return found


class Guest:
    """What all guests share, made once in `folder`."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.packages = os.path.join(self.folder, "packages")
        self.kernel = os.path.join(self.folder, "kernel")
        self.initrd = os.path.join(self.folder, "initrd")
        if re.search(r"[^\w./+-]", self.folder):
            raise Obstacle(f"the name of {self.folder} has characters that QEMU would misread")

    def make(self):
        stamp = os.path.join(self.folder, "complete")
        if os.path.exists(stamp) and open(stamp, encoding="ascii").read() == self._identity():
            return
        if platform.machine() != "x86_64":
            raise Obstacle(f"the guest is an x86_64 machine, this one is {platform.machine()}")
        if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
            raise Obstacle("QEMU and a kernel come as Debian packages, and there is no apt here")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self._fetch()
        self._make_initrd(self._unpack())
        with open(stamp, "w", encoding="ascii") as file:
            file.write(self._identity())

    def _identity(self):
        with open(os.path.join(HERE, "init"), encoding="utf-8") as file:
            return "\n".join([VERSION, *PACKAGES, *MODULES, file.read()])

    def _fetch(self):
        debs = os.path.join(self.folder, "debs")
        os.mkdir(debs)
        try:
            with_reason("", ["apt-get", "download", "-q", kernel_package(), *missing_packages()],
                        cwd=debs)
        except Obstacle:
            if os.geteuid() == 0:
                with_reason("apt-get update", ["apt-get", "update", "-q"])
            with_reason(
                "QEMU and a kernel cannot be downloaded",
                ["apt-get", "download", "-q", kernel_package(), *missing_packages()],
                cwd=debs,
            )

    def _unpack(self):
        """Everything but the kernel goes into `packages`; returns the folder of the kernel."""
        debs, kernel = os.path.join(self.folder, "debs"), os.path.join(self.folder, "linux")
        os.mkdir(kernel)
        for folder in ("bin", "lib", "lib64", "sbin"):
            os.makedirs(os.path.join(self.packages, "usr", folder), exist_ok=True)
            os.symlink(os.path.join("usr", folder), os.path.join(self.packages, folder))
        for name in sorted(os.listdir(debs)):
            if name.startswith("linux-image-"):
                unpack(os.path.join(debs, name), kernel, KERNEL_PARTS)
            else:
                unpack(os.path.join(debs, name), self.packages)
        shutil.rmtree(debs)
        return kernel

    def tool(self, name):
        """A program of the packages, or an installed one, and the environment that it needs."""
        for folder in ("usr/bin", "usr/sbin"):
            path = os.path.join(self.packages, folder, name)
            if os.path.exists(path):
                libraries = [
                    os.path.join(self.packages, "usr/lib", it) for it in ("x86_64-linux-gnu", "")
                ]
                return path, dict(os.environ, LD_LIBRARY_PATH=":".join(libraries))
        path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        if not path:
            raise Obstacle(f"{name} is in none of the packages {' '.join(PACKAGES)}")
        return path, None

    def _make_initrd(self, linux):
        release = os.listdir(os.path.join(linux, "lib/modules"))[0]
        modules = os.path.join(linux, "lib/modules", release)
        kmod, environment = self.tool("kmod")  # it is what it is called as
        with_reason("depmod", ["depmod", "-b", linux, release], executable=kmod, env=environment)
        unpack_kernel_image(os.path.join(linux, "boot", f"vmlinuz-{release}"), self.kernel)

        root = os.path.join(self.folder, "initramfs")
        for folder in ("bin", "dev", "modules", "proc", "sys"):
            os.makedirs(os.path.join(root, folder))
        busybox, _ = self.tool("busybox")
        shutil.copy(busybox, os.path.join(root, "bin/busybox"))
        shutil.copy(os.path.join(HERE, "init"), os.path.join(root, "init"))
        os.chmod(os.path.join(root, "init"), 0o755)
        with open(os.path.join(modules, "modules.dep"), encoding="ascii") as file:
            order = modules_in_order(file.read())
        for path in order:
            copy_module(os.path.join(modules, path), os.path.join(root, "modules"))
        with open(os.path.join(root, "modules/order"), "w", encoding="ascii") as file:
            file.writelines(module_name(it) + "\n" for it in order)
        names = run(["find", "."], cwd=root)
        archive = subprocess.run(
            [busybox, "cpio", "-o", "-H", "newc"],
            input=names.encode(),
            cwd=root,
            check=True,
            capture_output=True,
        ).stdout
        with open(self.initrd, "wb") as file:
            file.write(archive)
        shutil.rmtree(root)
        shutil.rmtree(linux)

    def run(self, job, arguments, memory_mib, seconds):
        """Runs job/job.sh in a guest: (exit status, what it printed)."""
        for name in ("status", "log", "console"):
            if os.path.exists(os.path.join(job, name)):
                os.remove(os.path.join(job, name))
        qemu, environment = self.tool("qemu-system-x86_64")
        data = [
            os.path.join(root, it)
            for it in ("usr/share/seabios", "usr/share/qemu", "usr/lib/ipxe/qemu")
            for root in (self.packages, "/")
        ]
        command = [qemu]
        for it in filter(os.path.isdir, data):
            command += ["-L", it]
        # Not KVM: that /dev/kvm answers does not mean that a guest gets anywhere with it.
        command += ["-machine", "q35", "-accel", "tcg,thread=multi,tb-size=512", "-cpu", "qemu64"]
        command += ["-m", f"{memory_mib}M", "-nodefaults", "-no-user-config", "-no-reboot"]
        command += ["-display", "none", "-monitor", "none", "-nic", "none"]
        command += ["-serial", f"file:{job}/console", "-kernel", self.kernel, "-initrd", self.initrd]
        command += [
            "-append",
            "console=ttyS0 quiet loglevel=4 panic=-1 mitigations=off nokaslr tsc=reliable",
        ]
        for tag, path in (("host", "/"), ("packages", self.packages), ("job", job)):
            command += [
                "-virtfs",
                f"local,path={path},mount_tag={tag},security_model=none,multidevs=remap"
                + ("" if tag == "job" else ",readonly=on"),
            ]
        try:
            done = subprocess.run(command + arguments, env=environment, timeout=seconds,
                                  text=True, capture_output=True, check=False)
            ending = f"QEMU ended with {done.returncode}: {done.stderr[-500:]}"
        except subprocess.TimeoutExpired:
            ending = f"it was ended after {seconds} s"
        log, console = read(os.path.join(job, "log")), read(os.path.join(job, "console"))
        status = read(os.path.join(job, "status")).strip()
        if not status:
            raise GuestFailed(
                f"no status from the guest: {ending}\n{log[-3000:]}\n-- console:\n{console[-1500:]}"
            )
        return int(status), log


def module_name(path):
    return re.sub(r"\.(xz|zst|gz)$", "", os.path.basename(path))


def copy_module(path, folder):
    """Unpacked, as busybox loads it."""
    target = os.path.join(folder, module_name(path))
    if path.endswith(".xz"):
        with lzma.open(path) as source, open(target, "wb") as file:
            shutil.copyfileobj(source, file)
    else:
        shutil.copyfile(path, target)


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
