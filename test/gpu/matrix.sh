#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What drivers do to a job, over lanes through host memory and over CUDA IPC: no
# driver, the toolkit's stub, no device, calls that fail on one rank, a device that
# is lost. Right bytes or an MPI error on every rank, no hang, no touch of device
# memory by the CPU (it faults there).
. "${srcdir:?}/test/mca/common.sh"
. "$srcdir/test/cuda_emu/environment.sh"
buffers=$builddir/test/gpu/buffers
example=$builddir/examples/alltoallv
output=$work/output
component=(--mca coll variopath --mca coll_variopath_host 1 --mca coll_variopath_timeout_ms 20000)
export OMPI_MCA_coll_variopath_catalog=''

# host NAME: a job with host buffers is carried whatever the driver is.
host() {
    local name=$1
    shift
    launch 60 4 "${component[@]}" "$@" "$example" --bytes 3000 --repeat 2 --counters >"$output" 2>&1
    check "$name: exit code" equal "$?" 0
    check "$name: carried" contains "$output" "coll_variopath_carried = 12"
}
export OMPI_MCA_coll_variopath_topology=$srcdir/test/gpu/four.json:transports=local
emulated_path=$LD_LIBRARY_PATH
export LD_LIBRARY_PATH=${VP_UCX_LIBDIR:-}
host "no driver"
export LD_LIBRARY_PATH=$emulated_path
host "a driver that is not used"
CUDA_EMU_GPUS=0 host "no device" -x LD_PRELOAD="$emulated/libcuda.so.1"
stub=/usr/local/cuda/lib64/stubs/libcuda.so
if [ -f "$stub" ]; then
    mkdir "$work/stub"
    ln -s "$stub" "$work/stub/libcuda.so.1"
    LD_LIBRARY_PATH="$work/stub:${VP_UCX_LIBDIR:-}" host "the toolkit's stub" -x LD_PRELOAD="$work/stub/libcuda.so.1"
fi

# fault NAME FAULTS: the driver of one rank fails.
fault() {
    fresh
    CUDA_EMU_FAULTS=$2 launch 60 4 "${component[@]}" "$buffers" ${3:-d d} fault >"$output" 2>&1
    check "$1: no hang, no crash" equal "$?" 0
    check "$1: right bytes or an error" contains "$output" "100%: Checks: 1, Failures: 0"
}
fault "staged: query fails on rank 1" "cuPointerGetAttributes:nth=1,count=1,err=700,rank=1"
check "staged: query fails on rank 1: on all" contains "$output" "calls that failed, summed over ranks: 4"
fault "staged: context refused on rank 2" "cuCtxPushCurrent_v2:nth=1,count=1,err=201,rank=2"
fault "staged: pinning refused everywhere" "cuMemHostRegister_v2:nth=1,err=801"
check "staged: pinning refused everywhere: works" contains "$output" "calls that failed, summed over ranks: 0"
fault "staged: stream refused on rank 0" "cuStreamCreate:nth=1,err=2,rank=0"
check "staged: stream refused on rank 0: on all" contains "$output" "calls that failed, summed over ranks: 4"
fault "staged: first copy fails on rank 3" "cuMemcpyAsync:nth=1,count=1,err=719,rank=3"
fault "staged: fifth copy fails on rank 1" "cuMemcpyAsync:nth=5,count=1,err=719,rank=1" "dm md"
fault "staged: event fails on rank 2" "cuEventQuery:nth=3,count=1,err=700,rank=2"
fault "staged: device lost on rank 1" "async-copy:nth=6,err=700,sticky=1,rank=1"

if [ -f "${VP_UCX_LIBDIR:-/nowhere}/ucx/libuct_cuda.so.0" ]; then
    export OMPI_MCA_coll_variopath_topology=$srcdir/test/gpu/four.json:transports=emulated
    fault "IPC: device lost on rank 2" "async-copy:nth=8,err=700,sticky=1,rank=2"
    fault "IPC: no memory for the check on rank 1" "cuMemAlloc_v2:nth=3,count=1,err=2,rank=1"
fi

# The legacy default stream is waited for when asked for.
export OMPI_MCA_coll_variopath_topology=$srcdir/test/gpu/four.json:transports=local
fresh
CUDA_EMU_STATS=$work/stats launch 60 4 "${component[@]}" --mca coll_variopath_sync_stream 1 \
    "$buffers" d d again >"$output" 2>&1
check "default stream: bytes" contains "$output" "100%: Checks: 2, Failures: 0"
check "default stream: waited for" contains "$work/stats.0" "calls cuStreamSynchronize"
finish
