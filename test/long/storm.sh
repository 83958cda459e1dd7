#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What takes too long or too much for every change: 20,000 communicators that come and go with
# flat memory and descriptors, blocks of more than 2^31 bytes (4.3 GiB of memory), the slow ones
# of the reported calls, 64 ranks.
. "${srcdir:?}/test/mca/common.sh"
output=$work/output
ours=(--mca coll variopath --mca coll_variopath_host 1)

launch 3000 4 "${ours[@]}" "$builddir/test/mca/lifecycle" storm "${VP_STORM:-20000}" >"$output" 2>&1
check "communicators come and go: exit code" equal "$?" 0
grep KiB "$output"
check "communicators come and go: right, and nothing grows" contains "$output" "storm: 0 wrong"

if [ "$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)" -lt 6000000 ]; then
    echo "left out: a block of more than 2^31 bytes takes 6 GB of free memory"
else
    for mode in carried passed; do
        [ $mode = carried ] && host=1 || host=0
        launch 900 2 --mca coll variopath --mca coll_variopath_host $host "$builddir/test/mca/big" $mode \
            >"$output" 2>&1
        check "a block of more than 2^31 bytes, $mode" contains "$output" "100%: Checks: 2, Failures: 0"
    done
fi

# cases NAME RANKS CATALOG ARGUMENT...: programs that count their cases themselves.
cases() {
    local name=$1 ranks=$2 catalog=$3
    shift 3
    launch 1500 "$ranks" "${ours[@]}" --mca coll_variopath_catalog "$catalog" "$@" >"$output" 2>&1
    check "$name: exit code" equal "$?" 0
    grep -E '^(ok|FAILED): |wrong$' "$output" | sed "s/^/$name: /"
    check "$name: right" grep -qE ' Failures: 0, |: 0 wrong' "$output"
}
VP_LONG=1 cases "reports, the slow ones too" 8 "$work/eight.vpcat" "$builddir/test/mca/reports" carried
cases "another matrix in each call" 8 "$work/eight.vpcat" "$builddir/test/mca/lifecycle" changing 1000
"$variopath" catalog build r5080-bf3:nodes=8:transports=local -o "$work/many.vpcat" >/dev/null
cases "64 ranks" 64 "$work/many.vpcat" "$builddir/test/mca/reports" any "four of five"
finish
