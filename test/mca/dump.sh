#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What processes tell of calls that wait, and the line at the end.
. "${srcdir:?}/test/mca/common.sh"
late=$builddir/test/mca/late
output=$work/output
carry=(--mca coll variopath --mca coll_variopath_host 1)
state="state: rank 1 of MPI_COMM_WORLD, call 1: waits for all ranks to tell what they are"

launch 90 4 "${carry[@]}" --mca coll_variopath_dump_ms 50 "$late" "$output" "$state" >"$output" 2>&1
check "a late rank: exit code" equal "$?" 0
check "a late rank: the others tell that they wait" contains "$output" "$state"
check "a late rank: right in the end" contains "$output" "rank 3: 0 wrong"

launch 90 4 "${carry[@]}" --mca coll_variopath_dump_signal 10 "$late" "$output" "$state" 10 >"$output" 2>&1
check "a signal: exit code" equal "$?" 0
check "a signal: they tell when asked" contains "$output" "$state"
check "a signal: right in the end" contains "$output" "rank 3: 0 wrong"

echo x >"$work/present"
launch 60 4 "${carry[@]}" "$late" "$work/present" x >"$output" 2>&1
check "nobody asks: nothing told" lacks "$output" "state: "
check "nobody asks: right" contains "$output" "rank 3: 0 wrong"

# The line at the end: 3 x 4000 bytes of rank 0 in one call.
launch 60 4 "${carry[@]}" --mca coll_variopath_summary 1 "$late" "$work/present" x >"$output" 2>&1
check "summary: one line of one rank" equal "$(grep -c 'coll:variopath: rank' "$output")" 1
check "summary: calls and bytes" contains "$output" "rank 0: 1 calls carried, 0 staged, 0 passed on; 12000 bytes put"
check "summary: beside the stock exchange" grep -qE "took [0-9.]+ ms, predicted [0-9.]*[1-9][0-9.]*, and [0-9.]*[1-9][0-9.]* \([0-9.]+ times as long\) for the stock" "$output"
launch 60 4 "${carry[@]}" "$late" "$work/present" x >"$output" 2>&1
check "no summary unless asked for" lacks "$output" "coll:variopath: rank"
finish
