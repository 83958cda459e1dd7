#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Communicators that come and go, children, and the end of processes, with the
# component and without it. VP_STORM is the number of communicators.
. "${srcdir:?}/test/mca/common.sh"
lifecycle=$builddir/test/mca/lifecycle
output=$work/output
ours=(--mca coll variopath --mca coll_variopath_host 1 --mca coll_variopath_verbose 5)

# run NAME RANKS ARGUMENT...
run() {
    local name=$1 ranks=$2
    shift 2
    launch 250 "$ranks" "${ours[@]}" "$lifecycle" "$@" >"$output" 2>&1
    check "$name: exit code" equal "$?" 0
    grep -v closing "$output" | grep -F "$1"
    grep "KiB" "$output"
    check "$name: right" contains "$output" "$1: 0 wrong"
    check "$name: carried" grep -q "closing: [1-9][0-9]* calls carried" "$output"
}

run "communicators come and go" 4 storm "${VP_STORM:-300}"
run "children" 4 fork
run "another matrix in each call" 4 changing 1000
run "open communicators, calls during MPI_Finalize" 4 finalize
OMPI_MCA_coll_variopath_catalog=$work/eight.vpcat run "8 ranks, another matrix in each call" 8 changing 100
finish
