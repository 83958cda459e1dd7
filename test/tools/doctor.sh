#!/usr/bin/env bash
# variopath doctor: each thing that may be in the way is put in the way, and has to be found;
# each program that may hang hangs; and no name of a host or a user gets into the bundle.
# SPDX-License-Identifier: BSD-3-Clause
set -u
: "${srcdir:?run this through make check}"
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
variopath=$PWD/variopath
builddir=$PWD
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
n_checks=0
n_failures=0
unset CUDA_VISIBLE_DEVICES "${!SLURM_@}" "${!OMPI_MCA_coll@}" OMPI_MCA_mca_base_component_path

check() { # TEXT COMMAND...
    local text=$1
    shift
    n_checks=$((n_checks + 1))
    if "$@"; then
        echo "ok: $text"
    else
        echo "FAILED: $text"
        n_failures=$((n_failures + 1))
    fi
}

doctor() { # ARGUMENT...: findings in $work/json, exit code in $code
    timeout -k 5 100 "$variopath" doctor --json "$@" >"$work/json" 2>"$work/err"
    code=$?
}

# finds LEVEL TEXT: a finding of that level has the text, a document that is there, and if there is
# something to do, a remedy.
finds() {
    python3 - "$work/json" "$srcdir" "$@" <<'END'
import json, os, sys
findings = json.load(open(sys.argv[1]))["findings"]
for f in findings:
    assert set(f) == {"level", "section", "what", "remedy", "document"}, f
    assert f["level"] in ("ok", "note", "warning", "error"), f
    assert f["remedy"] or f["level"] in ("ok", "note"), f
    assert os.path.exists(os.path.join(sys.argv[2], f["document"].split("#")[0])), f
found = [f for f in findings if f["level"] == sys.argv[3] and sys.argv[4] in f["what"]]
if not found:
    print(*(f"{f['level']:8}{f['what']}" for f in findings), sep="\n")
sys.exit(not found)
END
}

# A stand-in for an Open MPI: mpirun is never started, ompi_info answers as told.
fake_ompi() { # BODY
    mkdir -p "$work/ompi"
    printf '#!/bin/sh\n%s\n' "$1" >"$work/ompi/ompi_info"
    chmod +x "$work/ompi/ompi_info"
}

# libhwloc takes a file for this machine when HWLOC_XMLFILE names one.
export HWLOC_XMLFILE=$srcdir/test/import/data/h10-nogpu-c5n.xml
machine=$work/machine
mkdir -p "$machine/dev/shm" "$machine/sys/bus/pci/devices/0000:00:01.0" "$machine/sys/fs/cgroup" \
    "$machine/sys/kernel/iommu_groups/0" "$machine/sys/class/infiniband/mlx5_0/ports/1"
bridge=$machine/sys/bus/pci/devices/0000:00:01.0
echo 0x060400 >"$bridge/class"
acs() { # CONTROL BYTES: the bridge's ACS control word, and how much of its registers can be read
    python3 - "$bridge/config" "$@" <<'END'
import sys
config = bytearray(4096)
config[0x100:0x104] = (0x0001 | 1 << 16 | 0x140 << 20).to_bytes(4, "little")  # AER, next at 0x140
config[0x140:0x144] = (0x000d | 1 << 16).to_bytes(4, "little")
config[0x146:0x148] = int(sys.argv[2], 0).to_bytes(2, "little")
open(sys.argv[1], "wb").write(config[:int(sys.argv[3])])
END
}

# No Open MPI, a machine with nothing wrong.
acs 0 4096
echo identity >"$machine/sys/kernel/iommu_groups/0/type"
echo max >"$machine/sys/fs/cgroup/memory.max"
echo '4: ACTIVE' >"$machine/sys/class/infiniband/mlx5_0/ports/1/state"
doctor --root "$machine" --mpirun "$work/none/mpirun"
check "without an Open MPI: exit code" [ "$code" = 1 ]
check "without an Open MPI" finds error "ompi_info beside $work/none/mpirun is not to be found"
check "nothing is carried without it" finds note "nothing is carried"
check "ACS is off" finds ok "none of 1 PCIe bridges"
check "the IOMMU passes through" finds ok "passes addresses through (1 groups)"
check "no container" finds ok "no sign of a container"
check "no limit of the memory" finds ok "no cgroup limits"
check "a port that is up" finds ok "mlx5_0, port 1: 4: ACTIVE"
check "no Slurm" finds ok "not inside a Slurm job"

check "no GPU on the tree" finds note "no topology is found out here"

# Everything in the way.
acs 0x1d 4096
echo DMA-FQ >"$machine/sys/kernel/iommu_groups/0/type"
echo 4294967296 >"$machine/sys/fs/cgroup/memory.max"
echo '1: DOWN' >"$machine/sys/class/infiniband/mlx5_0/ports/1/state"
touch "$machine/.dockerenv"
rmdir "$machine/dev/shm"
export SLURM_JOB_ID=1 SLURM_GPUS_PER_TASK=1 CUDA_VISIBLE_DEVICES=
(ulimit -l 64 && doctor --root "$machine" --mpirun "$work/none/mpirun")
check "ACS redirects" finds warning "ACS of 1 of 1 PCIe bridges"
check "the IOMMU translates" finds warning "translates addresses for 1 of 1"
check "a container" finds note "this is a container"
check "a limit of the memory" finds note "limits the memory to 4096 MiB"
check "no shared memory" finds error "/dev/shm cannot be used"
check "locked memory" finds warning "limited to 64 KiB"
check "a port that is down" finds warning "mlx5_0, port 1: 1: DOWN"
check "Slurm hides the peers' GPUs" finds warning "gpus-per-task 1"
check "no device is visible" finds warning "CUDA_VISIBLE_DEVICES is empty"
unset SLURM_JOB_ID SLURM_GPUS_PER_TASK CUDA_VISIBLE_DEVICES
export HWLOC_XMLFILE=$srcdir/test/import/data/h02-p100x2-pascal.xml
acs 0x1d 64
doctor --root "$machine" --mpirun "$work/none/mpirun"
check "registers that only root may read" finds note "cannot be read for 1 of 1"
if ! grep -q 'has no hwloc' "$work/json"; then
    check "the tree of this node" finds ok "this node: 2 ranks in"
    check "a GPU and its NIC" finds ok "GPU 1 is in group"
fi

# Programs that do not answer, and answers of all kinds.
fake_ompi 'sleep 300'
begin=$SECONDS
doctor --mpirun "$work/ompi/mpirun" --timeout-ms 300
check "an ompi_info that hangs is given up" [ $((SECONDS - begin)) -lt 60 ]
check "and named" finds error "did not end in time"
fake_ompi 'case $1 in --version) echo "Open MPI v4.1.4";; *) sleep 300;; esac'
doctor --mpirun "$work/ompi/mpirun" --timeout-ms 300
check "a component that hangs" finds error "ompi_info did not end in time"
fake_ompi 'case $1 in --version) echo "Open MPI v4.1.4";; esac'
doctor --mpirun "$work/ompi/mpirun"
check "no component in any folder" finds error "no folder in which Open MPI looks holds"
touch "$work/ompi/mca_coll_variopath.so"
fake_ompi 'case "$*" in
--version) echo "Open MPI v4.1.4";;
*mca\ base*) echo "mca:mca:base:param:mca_base_component_path:value:\"/nowhere:'"$work"'/ompi\"";;
*) [ -z "$OMPI_MCA_mca_base_component_show_load_errors" ] || echo "mca_coll_variopath: undefined symbol: x";;
esac'
doctor --mpirun "$work/ompi/mpirun"
check "a component that is not loaded" finds error "does not load the component: mca_coll_variopath: undefined symbol: x"
check "its UCX is missing" finds error "the loader finds no libucp.so"
fake_ompi 'case "$*" in
--version) echo "Open MPI v5.0.9";;
*variopath*) echo "coll:variopath: built for Open MPI 4.1.4, but this is 5.0.9, whose"
    echo "mca:coll:variopath:version:\"component:9.9\""
    echo "mca:coll:variopath:param:coll_variopath_enable:value:false"
    echo "mca:coll:variopath:param:coll_variopath_topology:value:\"fig1-6:transports=local\""
    echo "mca:coll:variopath:param:coll_variopath_host:value:true";;
esac'
doctor --mpirun "$work/ompi/mpirun"
check "built for another release" finds error "built for Open MPI 4.1.4, but this is 5.0.9"
check "switched off" finds warning "switched off"
check "the topology that is configured" finds ok "the topology fig1-6:transports=local: 6 ranks"
check "host buffers are carried" finds ok "host buffers are carried"
sed -i 's/fig1-6:/fig1-7:/' "$work/ompi/ompi_info"
doctor --mpirun "$work/ompi/mpirun"
check "a topology that is not there" finds error "coll_variopath_topology: "

# The bundle.
node=$(hostname 2>/dev/null || uname -n)
printf '{"communicator":"alice42 on node17.example","verdict":"carried","path":"/home/alice42/x","host":"%s"}\n' \
    "$node" >"$work/trace.0"
sed -i "s#topology:value.*#topology:value:\\\\\"/home/alice42/malice42/none.json\\\\\"\"#" "$work/ompi/ompi_info"
HOME=/home/alice42 USER=alice42 LOGNAME=alice42 HOSTNAME=node17.example SLURMD_NODENAME=node17 \
    doctor --mpirun "$work/ompi/mpirun" --bundle "$work/report.tar.gz" --trace "$work/trace.0"
check "the bundle is written" [ -s "$work/report.tar.gz" ]
mkdir "$work/report"
tar -C "$work/report" -xzf "$work/report.tar.gz"
report=$work/report/variopath-report
for file in findings.json versions.txt parameters.txt catalog.txt trace; do
    check "it holds $file" [ -f "$report/$file" ]
done
check "no name of a user or a host is in it" eval '! grep -rwE "alice42|node17" "$report"'
[ "$node" = localhost ] || check "nor this host's" eval '! grep -rwF -e "$node" "$report"'
check "what is no name stays" grep -rqF HOME/malice42/none.json "$report"
check "names became words" grep -qF '"USER on HOST","verdict"' "$report/trace"
check "it has no owner" eval '! tar -tvzf "$work/report.tar.gz" | grep -v "0/0"'
check "nothing is left behind" [ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'variopath-??????' -newer "$work/trace.0")" ]
doctor --mpirun "$work/ompi/mpirun" --bundle "$work/absent/report.tar.gz"
check "a bundle that cannot be written" [ "$code" = 3 ]
doctor --mpirun "$work/ompi/mpirun" --bundle "$work/b.tar.gz" --trace "$work/absent"
check "a trace that is not there: exit code" [ "$code" = 3 ]
check "and no bundle" [ ! -e "$work/b.tar.gz" ]

# Text for people: a page, and one line where nothing is wrong.
"$variopath" doctor --mpirun "$work/none/mpirun" >"$work/out" 2>&1
check "the page ends in a count" grep -qE '^[0-9]+ errors?, [0-9]+ warnings?\.$' "$work/out"

# Emulated devices.
if [ -e test/cuda_emu/.libs/libcuda.so.1 ] && [ -x test/cuda_emu/describe ]; then
    . "$srcdir/test/cuda_emu/environment.sh"
    describe peers "$srcdir/test/probe/host.json"
    doctor --mpirun "$work/none/mpirun"
    check "GPUs" finds ok "GPU 7: "
    check "the matrix" finds ok "peer access from GPU 1: 1-111111"
    check "all reach all" finds ok "every GPU may use every other's memory"
    describe alone "$srcdir/test/probe/host.json" --no-p2p
    doctor --mpirun "$work/none/mpirun"
    check "no peer access" finds warning "refuses peer access for 56 of 56 ordered pairs"
fi

echo "$((100 * (n_checks - n_failures) / n_checks))%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_failures" -eq 0 ]
