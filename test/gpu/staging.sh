#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Device buffers of all kinds under mpirun, on emulated devices: right bytes or
# a clean error on every rank, no hang, no touch of device memory by the CPU
# (it faults there), at most two driver queries in a call.
. "${srcdir:?}/test/mca/common.sh"
. "$srcdir/test/cuda_emu/environment.sh"
buffers=$builddir/test/gpu/buffers
example=$builddir/examples/alltoallv
output=$work/output
# A communicator without a catalog: what lanes would carry goes to the collective below.
component=(--mca coll variopath --mca coll_variopath_host 1 --mca coll_variopath_catalog "$work/absent")

# staged NAME COMMAND...: every call of 4 ranks is staged and right.
staged() {
    local name=$1
    shift
    fresh
    launch 60 4 "$@" >"$output" 2>&1
    check "$name: exit code" equal "$?" 0
    check "$name: bytes" contains "$output" "100%: Checks: 7, Failures: 0"
    check "$name: said once" equal "$(grep -c 'found device buffers' "$output")" 1
}

# wrapper NAME BODY: a program that runs BODY with $rank set, then its arguments.
wrapper() {
    printf '#!/bin/sh\nrank=$OMPI_COMM_WORLD_RANK\n%s\nexec "$@"\n' "$2" >"$work/$1"
    chmod +x "$work/$1"
}

staged "device to device" "${component[@]}" "$buffers" d d
staged "device to host" "${component[@]}" "$buffers" d h
staged "host to device" "${component[@]}" "$buffers" h d
staged "managed" "${component[@]}" "$buffers" m m
staged "different on each rank" "${component[@]}" "$buffers" dhma vphd
staged "ranks without a buffer" "${component[@]}" "$buffers" dnhd hnda
staged "stream-ordered and mapped memory" "${component[@]}" "$buffers" av va
staged "a context of its own" "${component[@]}" "$buffers" d d staged own

wrapper renumbered 'export CUDA_VISIBLE_DEVICES=$((3 - rank))'
staged "one visible device each" "${component[@]}" "$work/renumbered" "$buffers" d d
wrapper nodes 'export CUDA_EMU_NODE=node$((rank / 2))'
staged "two nodes" "${component[@]}" "$work/nodes" "$buffers" d d
describe stock "$srcdir/test/mca/four.json:transports=local" --unlimited --no-p2p
staged "no peer access" "${component[@]}" "$buffers" d d
describe locked "$srcdir/test/mca/four.json:transports=local" --unlimited --no-p2p --no-ipc
staged "no peer access, no IPC" "${component[@]}" "$buffers" d d
unset CUDA_EMU_TOPO

fresh
launch 60 1 "${component[@]}" "$buffers" d d >"$output" 2>&1
check "one rank: bytes" contains "$output" "100%: Checks: 7, Failures: 0"

# Memory of any age, inner addresses; numbers of ranks that are no powers of two, one device for many.
for entry in 1:4 2:4 3:4 5:4 16:1; do
    fresh
    CUDA_EMU_GPUS=${entry#*:} launch 120 "${entry%:*}" "${component[@]}" "$builddir/test/gpu/early" passed \
        >"$output" 2>&1
    check "${entry%:*} ranks on ${entry#*:} devices" contains "$output" "100%: Checks: 3, Failures: 0"
done

# Host buffers of a process with a driver are carried as ever.
component=(--mca coll variopath --mca coll_variopath_host 1)
launch 60 4 "${component[@]}" "$buffers" hp ph any >"$output" 2>&1
check "host buffers beside devices" contains "$output" "100%: Checks: 6, Failures: 0"
check "host buffers beside devices: nothing staged" lacks "$output" "found device buffers"
CUDA_EMU_GPUS=0 launch 60 4 "${component[@]}" -x LD_PRELOAD="$emulated/libcuda.so.1" "$example" \
    --counters >"$output" 2>&1
check "a driver without devices: carried" contains "$output" "coll_variopath_carried = 24"

component+=(--mca coll_variopath_catalog "$work/absent")

# The collective below would have touched the device: it must fault, or the tests above prove nothing.
launch 60 4 --mca coll ^variopath "$buffers" d d any >"$output" 2>&1
check "without the component: a crash" contains "$output" "Segmentation fault"

# fault NAME FAULTS FAILED: one rank's driver fails; so many ranks see an error, none wrong bytes.
fault() {
    fresh
    CUDA_EMU_FAULTS=$2 launch 60 4 "${component[@]}" "$buffers" d d fault >"$output" 2>&1
    check "$1: no hang, no crash" equal "$?" 0
    check "$1: right bytes or an error" contains "$output" "100%: Checks: 1, Failures: 0"
    check "$1: who fails" contains "$output" "calls that failed, summed over ranks: $3"
}
fault "query fails on rank 1" "cuPointerGetAttributes:nth=1,count=1,err=700,rank=1" 4
fault "second call's query fails on rank 2" "cuPointerGetAttributes:nth=3,count=1,err=719,rank=2" 4
fault "reading fails on rank 1" "cuMemcpyDtoH_v2:nth=1,count=1,err=700,rank=1" 4
fault "writing fails on rank 3" "cuMemcpyHtoD_v2:nth=3,count=1,err=700,rank=3" 1
fault "waiting fails on rank 0" "cuStreamSynchronize:nth=1,count=1,err=719,rank=0" 1
fault "context refused on rank 2" "cuCtxPushCurrent_v2:nth=1,count=1,err=201,rank=2" 4
fault "sticky error on rank 1" "cuMemcpyDtoH_v2:nth=1,err=700,sticky=1,rank=1" 4

fresh
launch 120 2 "${component[@]}" "$buffers" d d repeat >"$output" 2>&1
check "500 times: memory" contains "$output" "100%: Checks: 1, Failures: 0"
finish
