#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The testbed: nothing stays behind, links share as they should, bytes go where
# the plan says, and the plan beats the pairwise exchange across switches. Wide
# margins: the machine may be busy. Needs root and network namespaces.
set -u
here=${srcdir:?run this through make check-long}/test/testbed
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
: "${VP_MPIRUN:?}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n_checks=0
n_failures=0

# part NAME SECONDS COMMAND...: a program that ends in a line of counts, which are added up.
part() {
    local name=$1 seconds=$2 code counts
    shift 2
    echo "== $name"
    timeout -k 10 "$seconds" python3 "$@" >"$work/output" 2>&1
    code=$?
    sed 's/Checks:/checks:/' "$work/output"
    if [ "$code" = 77 ]; then
        exit 77
    fi
    counts=$(sed -n 's/^.*Checks: \([0-9]*\), Failures: \([0-9]*\), Errors: [0-9]*$/\1 \2/p' "$work/output")
    if [ -z "$counts" ]; then
        echo "FAILED: $name ended with code $code and no counts"
        counts="1 1"
    fi
    n_checks=$((n_checks + ${counts% *}))
    n_failures=$((n_failures + ${counts#* }))
}

eight=$here/eight.json
part "self-test, two nodes" 120 "$here/selftest.py" --topology "$eight:transports=testbed" \
    --seconds 1.5 --tolerance 15
part "self-test, host bridges" 60 "$here/selftest.py" --topology "$here/tree.json:transports=testbed" \
    --seconds 1 --tolerance 15
part "leftovers" 40 "$here/leftover.py" ./variopath "$here/tree.json:transports=testbed"
if [ -e mca/.libs/mca_coll_variopath.so ]; then
    part "exactness" 120 "$here/exact.py" --topology "$eight" --bytes 2000000
    part "comparison" 60 "$here/faster.py" --topology "$eight"
fi
if [ -e variopath-probe ]; then
    part "calibration" 150 "$here/calibrate.py" --topology "$eight" --seconds 0.15 --repeat 3 \
        --tolerance 15 --margin 30 --bytes 2000000
fi
echo "$((100 * (n_checks - n_failures) / n_checks))%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_failures" = 0 ]
