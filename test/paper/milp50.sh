#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Makes milp.csv: for the 25 instances of 8 ranks the incumbent that HiGHS reaches in
# SECONDS_EACH (10) from the best of our plans, for which it needs highspy (test/sim/highs.sh).
# With 16 ranks the MILP has tens of thousands of binaries and no incumbent.
#
# usage: milp50.sh > milp.csv      (in a build directory)
set -u
variopath=${VARIOPATH:-./variopath}
srcdir=${srcdir:-.}
python=$("$srcdir/test/sim/highs.sh") || exit
echo "demand,start,plan_ns,bound_ns,dual_bound_ns,incumbent_ns,seconds"
for demand in "$srcdir"/test/bench/protocol50/g8-*.csv; do
    best=$(for planner in paper critical colour; do
        "$variopath" plan --topology r5080-bf3 --demand "$demand" --scheduler $planner --json |
            sed -n 's/^ *"time_ns": \([0-9]*\),/\1 '$planner'/p'
    done | sort -n | head -n 1 | cut -d' ' -f2)
    "$python" "$srcdir/test/sim/synthesizers/activations.py" r5080-bf3 "$demand" \
        --variopath "$variopath" --time-limit "${SECONDS_EACH:-10}" --scheduler "$best" |
        sed -n '/^{/,/^}/p' | "$python" -c '
import json, sys
it = json.load(sys.stdin)
keys = ("plan_ns", "bound_ns", "dual_bound_ns", "incumbent_ns", "seconds")
print(it["demand"], sys.argv[1], *(it[key] for key in keys), sep=",")' "$best"
done
