#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What `./quickstart demo` shows, smaller: a user's program with device buffers on
# eight emulated devices of one r5080-bf3 node, every byte verified, and as many
# bytes over each PCIe link as the plans say.
. "${srcdir:?}/test/mca/common.sh"
. "$srcdir/test/cuda_emu/environment.sh"
[ -f "${VP_UCX_LIBDIR:-/nowhere}/ucx/libuct_cuda.so.0" ] ||
    { echo "skipped: this UCX has no CUDA transports"; exit 77; }
program=$builddir/examples/alltoallv
output=$work/output
export OMPI_MCA_coll_variopath_catalog=''

# demo NAME DESCRIPTION TOPOLOGY OPTION...: DESCRIPTION is what the emulated machine is.
demo() {
    local name=$1
    describe "$name" "$2" --unlimited "${@:4}"
    rm -f "$work"/trace.*
    METER_FILE=$work/meter launch 120 8 --mca coll variopath --mca coll_variopath_topology "$3" \
        --mca coll_variopath_trace "$work/trace" -x LD_PRELOAD="$builddir/test/gpu/.libs/meter.so" \
        "$program" --device --bytes 30000 --repeat 2 --counters >"$output" 2>&1
    check "$name: exit code" equal "$?" 0
    check "$name: verified" contains "$output" "verified: every byte of every call is right"
    check "$name: carried" contains "$output" "coll_variopath_carried = 24"
    check "$name: bytes per link are the plans'" python3 "$srcdir/test/gpu/links.py" \
        "$work/meter" "$work"/trace.*
}

demo "peer-to-peer" r5080-bf3:transports=emulated r5080-bf3:transports=emulated
# The same machine as it is sold: every byte goes up to host memory and down again.
stock=synthetic:gpus=4,switches=2,nics=1,links=uplinks,p2p=off,gdr=off:transports=local
demo "host-staged" $stock $stock
check "host-staged: over host paths only" lacks "$output" "coll_variopath_bytes_NIC"
check "host-staged: over host paths" contains "$output" "coll_variopath_bytes_HOST"

# The program that run.sh measures with, for its own sake.
unset CUDA_EMU_TOPO
fresh
launch 60 4 --mca coll variopath \
    --mca coll_variopath_topology "$srcdir/test/gpu/four.json:transports=emulated" \
    "$builddir/test/gpu/bandwidth" 1048576 >"$output" 2>&1
check "bandwidth: exit code" equal "$?" 0
check "bandwidth: verified" equal "$(grep -c verified "$output")" 3
finish
