#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Communicators that are not served, for every reason there is, with device buffers: they never
# reach the collective below, which would touch them (the CPU faults there).
. "${srcdir:?}/test/mca/common.sh"
. "$srcdir/test/cuda_emu/environment.sh"
relay=$builddir/test/gpu/relay
output=$work/output
export OMPI_MCA_coll_variopath_host=1

# relayed NAME SAID RANKS ARGUMENT...: right bytes, staged, and the reason said once (by each of
# $groups groups) unless it is "-".
relayed() {
    local name=$1 said=$2 ranks=$3
    shift 3
    fresh
    launch 60 "$ranks" "$@" >"$output" 2>&1
    check "$name: exit code" equal "$?" 0
    check "$name: bytes" contains "$output" "100%: Checks: 11, Failures: 0"
    if [ "$said" = - ]; then
        check "$name: nothing said" lacks "$output" "found device buffers"
    else
        check "$name: said once" equal "$(grep -c 'found device buffers' "$output")" "${groups:-1}"
        check "$name: why" contains "$output" "Reason:       $said"
    fi
}

# The same program, without anybody between it and the collective below.
launch 60 4 --mca coll ^variopath "$relay" d d world >"$output" 2>&1
check "without the component: a crash" contains "$output" "Segmentation fault"

relayed "too few ranks" "it has fewer ranks than coll_variopath_np" 4 \
    --mca coll_variopath_np 5 "$relay" d d world
relayed "to the host" "it has fewer ranks than coll_variopath_np" 4 \
    --mca coll_variopath_np 5 "$relay" d h world
relayed "from the host" "it has fewer ranks than coll_variopath_np" 4 \
    --mca coll_variopath_np 5 "$relay" h d world
relayed "on some ranks" "it has fewer ranks than coll_variopath_np" 4 \
    --mca coll_variopath_np 5 "$relay" dhma ahdp world
relayed "host buffers only" - 4 --mca coll_variopath_np 5 "$relay" hp ph world
relayed "no topology" "coll_variopath_topology is none" 4 \
    --mca coll_variopath_catalog "" --mca coll_variopath_topology none "$relay" d d world
relayed "an unknown value" "a parameter has an unknown value" 4 \
    --mca coll_variopath_sync nonsense "$relay" d d world
groups=2 relayed "collectives left out" "coll_variopath_cts leaves this collective out" 4 \
    --mca coll_variopath_cts alltoall_init "$relay" d d split
relayed "one rank" - 1 "$relay" d d world
relayed "MPI_COMM_SELF" - 3 "$relay" d d self
groups=2 relayed "an inter-communicator" "it is an inter-communicator" 4 "$relay" d d inter
groups=2 relayed "an inter-communicator, groups of other sizes" "it is an inter-communicator" 3 "$relay" dh md inter

# Ranks that do not agree: rank 1 has another planner.
printf '#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" != 1 ] || export OMPI_MCA_coll_variopath_scheduler=paper\nexec "$@"\n' \
    >"$work/other"
chmod +x "$work/other"
relayed "another planner on one rank" "the component is another one or set otherwise on rank 1" 4 \
    "$work/other" "$relay" d d world
finish
