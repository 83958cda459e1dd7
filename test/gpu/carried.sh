#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Device buffers over lanes, on emulated devices: PCIe lanes by CUDA IPC, from
# device to device. What crossed each pair of devices is what the plans say.
. "${srcdir:?}/test/mca/common.sh"
without_hooks=${LD_LIBRARY_PATH:-}
. "$srcdir/test/cuda_emu/environment.sh"
[ -f "${VP_UCX_LIBDIR:-/nowhere}/ucx/libuct_cuda.so.0" ] ||
    { echo "skipped: this UCX has no CUDA transports"; exit 77; }
buffers=$builddir/test/gpu/buffers
output=$work/output
topology=$srcdir/test/gpu/four.json:transports=emulated
export OMPI_MCA_coll_variopath_catalog='' OMPI_MCA_coll_variopath_topology=$topology
component=(--mca coll variopath --mca coll_variopath_host 1)

# run NAME CHECKS COMMAND...
run() {
    local name=$1 expected=$2
    shift 2
    fresh
    launch 120 4 "$@" >"$output" 2>&1
    check "$name: exit code" equal "$?" 0
    check "$name: bytes" contains "$output" "100%: Checks: $expected, Failures: 0"
}

# wrapper NAME BODY: a program that runs BODY with $rank set, then its arguments.
wrapper() {
    printf '#!/bin/sh\nrank=$OMPI_COMM_WORLD_RANK\n%s\nexec "$@"\n' "$2" >"$work/$1"
    chmod +x "$work/$1"
}

run "device to device" 6 "${component[@]}" "$buffers" d d carried
check "layouts that lanes do not take are staged" contains "$output" "calls staged, summed over ranks: 8"
run "device to host" 6 "${component[@]}" "$buffers" d h carried
run "host to device" 6 "${component[@]}" "$buffers" h d carried
run "mixed over ranks" 6 "${component[@]}" "$buffers" dh hd carried
run "ranks without a buffer" 5 "${component[@]}" "$buffers" dnhd hnda bytes
run "without host buffers" 6 --mca coll variopath "$buffers" d d carried
run "a context of its own" 6 "${component[@]}" "$buffers" d d carried own
run "memory that has no IPC handle is staged" 5 "${component[@]}" "$buffers" dad vdd bytes
run "500 times" 1 "${component[@]}" "$buffers" d d repeat
run "the same buffers again" 2 "${component[@]}" "$buffers" d d again
run "memory of any age and inner addresses" 3 "${component[@]}" "$builddir/test/gpu/early" carried
# UCX that misses its hooks would take device memory for the host's: noticed in time.
LD_LIBRARY_PATH="$emulated:$without_hooks" run "without UCX's hooks" 5 "${component[@]}" "$buffers" d d bytes

# Paths that the topology promises and the machine has not leave the catalog on all ranks, once.
lost() {
    run "$1" 6 "${component[@]}" "$buffers" d d carried
    check "$1: said once" equal "$(grep -c 'not used from now on' "$output")" 1
    check "$1: why" contains "$output" "$2"
    check "$1: over host memory" python3 - "$work" "$3" <<'END'
import collections, json, sys
kinds = collections.Counter()
for rank in range(4):
    for line in open(f"{sys.argv[1]}/trace.{rank}"):
        for lane in json.loads(line)["lanes"]:
            kinds[lane["kind"]] += lane["bytes"]
print(kinds)
sys.exit(kinds["HOST"] == 0 or any(kinds[kind] for kind in sys.argv[2].split(",")))
END
}
export OMPI_MCA_coll_variopath_trace=$work/trace
describe stock "$topology" --unlimited --no-p2p
lost "no peer access" "refused by the driver" PIX,PXB
rm -f "$work"/trace.*
describe locked "$topology" --unlimited --no-ipc
lost "no IPC" "refused by the driver" PIX,PXB
rm -f "$work"/trace.*
unset CUDA_EMU_TOPO
export CUDA_EMU_FAULTS=corrupt-peer-copy:nth=1,rank=3
lost "corrupted copies" "brings wrong bytes" PIX0
unset CUDA_EMU_FAULTS OMPI_MCA_coll_variopath_trace
rm -f "$work"/trace.*

# Through host memory, with transports that know nothing of CUDA: every kind of memory, mixed.
export OMPI_MCA_coll_variopath_topology=$srcdir/test/gpu/four.json:transports=local
run "staged lanes: device" 6 "${component[@]}" "$buffers" d d carried
run "staged lanes: device to host" 6 "${component[@]}" "$buffers" d h carried
run "staged lanes: host to device" 6 "${component[@]}" "$buffers" h d carried
run "staged lanes: managed" 6 "${component[@]}" "$buffers" m m carried
run "staged lanes: stream-ordered and mapped" 6 "${component[@]}" "$buffers" av va carried
run "staged lanes: different on each rank" 6 "${component[@]}" "$buffers" dhma vphd carried
run "staged lanes: ranks without a buffer" 5 "${component[@]}" "$buffers" dnhd hnda bytes
run "staged lanes: a context of its own" 6 "${component[@]}" "$buffers" d d carried own
run "staged lanes: host buffers left alone" 6 --mca coll variopath "$buffers" d d carried
wrapper renumbered 'export CUDA_VISIBLE_DEVICES=$((3 - rank))'
run "staged lanes: one visible device each" 6 "${component[@]}" "$work/renumbered" "$buffers" d d carried
wrapper nodes 'export CUDA_EMU_NODE=node$((rank / 2))'
run "staged lanes: two nodes" 6 "${component[@]}" "$work/nodes" "$buffers" d d carried
run "staged lanes: 500 times" 1 "${component[@]}" "$buffers" d d repeat
run "staged lanes: memory of any age and inner addresses" 3 "${component[@]}" "$builddir/test/gpu/early" carried
run "staged lanes: the same buffers again" 2 "${component[@]}" "$buffers" dmvh vdhm again
run "staged lanes: a small budget" 6 "${component[@]}" --mca coll_variopath_staging_bytes 600000 \
    "$buffers" dmvh vdhm carried
run "staged lanes: no budget" 5 "${component[@]}" --mca coll_variopath_staging_bytes 1000 "$buffers" d d bytes
check "staged lanes: no budget: staged below" lacks "$output" "calls staged, summed over ranks: 0"
run "staged lanes: late copies" 6 "${component[@]}" -x CUDA_EMU_DEFER_US=2000 "$buffers" d d carried
export OMPI_MCA_coll_variopath_topology=$topology

# Plans and links: bytes of PCIe lanes by pair of ranks, and of copies by pair of devices.
describe four "$topology" --unlimited
export CUDA_EMU_STATS=$work/stats
run "counted" 6 "${component[@]}" --mca coll_variopath_trace "$work/trace" "$buffers" d d carried
check "bytes between devices are the plans'" python3 - "$work" <<'END'
import collections, json, sys
planned, copied = collections.Counter(), collections.Counter()
for rank in range(4):
    for line in open(f"{sys.argv[1]}/trace.{rank}"):
        for lane in json.loads(line)["lanes"]:
            if lane["source_class"] == "pcie":
                planned[lane["source"], lane["destination"]] += lane["bytes"]
    for line in open(f"{sys.argv[1]}/stats.{rank}"):
        word = line.split()
        if word[0] == "copies" and "host" not in word and word[1] != word[2]:
            pair = int(word[1]), int(word[2])
            copied[pair] = max(copied[pair], int(word[5]))
for pair in copied:
    copied[pair] -= 4096  # the pattern that checked the path
print("planned", sorted(planned.items()))
print("copied ", sorted(copied.items()))
sys.exit(planned != copied or not planned)
END
unset CUDA_EMU_STATS CUDA_EMU_TOPO

# fault NAME FAULTS: right bytes or an error, whatever the driver refuses on one rank.
fault() {
    fresh
    CUDA_EMU_FAULTS=$2 launch 60 4 "${component[@]}" "$buffers" d d fault >"$output" 2>&1
    check "$1: no hang, no crash" equal "$?" 0
    check "$1: right bytes or an error" contains "$output" "100%: Checks: 1, Failures: 0"
}
fault "handle refused on rank 1" "cuIpcGetMemHandle:nth=1,err=999,rank=1"
fault "peer's handle refused on rank 2" "cuIpcOpenMemHandle_v2:nth=1,err=999,rank=2"
fault "context refused on rank 3" "cuCtxPushCurrent_v2:nth=1,count=1,err=201,rank=3"
fault "copy refused on rank 0" "cuMemcpyDtoDAsync_v2:nth=2,count=1,err=719,rank=0"
finish
