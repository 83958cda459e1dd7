#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The synthesizers on cases small enough to check by hand, played by
# `variopath simulate --schedule`; the LP bounds against known values; schedules
# that are wrong. The synthesizers need HiGHS for Python (package highspy).
set -u
variopath=${VARIOPATH:-./variopath}
here=${srcdir:-.}/test/sim
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
n_checks=0
n_failures=0

python=$("$here/highs.sh") || exit 77

check() {
    n_checks=$((n_checks + 1))
    if [ "$2" = "$3" ]; then
        echo "ok: $1: $2"
    else
        echo "FAILED: $1: $2 instead of $3"
        n_failures=$((n_failures + 1))
    fi
}

# near NAME VALUE EXPECTED PPM
near() {
    n_checks=$((n_checks + 1))
    if awk "BEGIN {d = $2 - $3; if (d < 0) d = -d; exit !(d <= $3 * $4 / 1e6)}"; then
        echo "ok: $1: $2"
    else
        echo "FAILED: $1: $2 instead of $3 to $4 ppm"
        n_failures=$((n_failures + 1))
    fi
}

# demand NAME RANKS "FROM TO BYTES"...: a file with these cells.
demand() {
    local name=$1 n=$2
    shift 2
    printf '%s\n' "$@" | awk -v n="$n" '{d[$1, $2] = $3} END {
        for (i = 0; i < n; i++)
            for (j = 0; j < n; j++)
                printf "%d%s", d[i, j], j + 1 < n ? "," : "\n"}' >"$dir/$name.csv"
}

# play SYNTHESIZER NAME [OPTION]...: time in ns of its schedule on Figure 1's machine.
play() {
    local synthesizer=$1 name=$2
    shift 2
    timeout 120 "$python" "$here/synthesizers/$synthesizer.py" fig1-6 "$dir/$name.csv" \
        --variopath "$variopath" -o "$dir/$synthesizer.json" "$@" 2>"$dir/err" || cat "$dir/err"
    "$variopath" simulate --topology fig1-6 --demand "$dir/$name.csv" \
        --schedule "$dir/$synthesizer.json" --csv | tail -n 1 | cut -d, -f4
}

# bound NAME KEY
bound() {
    timeout 60 "$python" "$here/../../tools/lp_bound.py" fig1-6 "$dir/$1.csv" --variopath "$variopath" \
        2>"$dir/err" | sed -n "s/^  \"$2\": \([0-9.]*\),*\$/\1/p"
}

# One message of 64 MB inside a switch: 1 ms at 64 GB/s and one overhead of 1 us.
demand one 6 "0 1 64000000"
near "LP bound of one message" "$(bound one lp_ns)" 1000000 1
check "taccl, one message" "$(play taccl one)" 1001000
check "sccl, one message" "$(play sccl one)" 1001000
# Eight epochs of 1/8 ms, each with its own overhead.
check "teccl, one message" "$(play teccl one)" 1008000

# Two messages of 64 MB across switches from different ranks. The LP splits them over the
# inter-switch link (64 GB/s) and the NICs (50): 128 MB / 114 GB/s. Whole chunks take one each:
# 64 MB / 50 GB/s and the overhead of a proxy, 2 us.
demand two 6 "0 3 64000000" "1 4 64000000"
near "LP bound of two messages" "$(bound two lp_ns)" 1122807.0 1
near "fluid bound of two messages" "$(bound two fluid_ns)" 1122807.0 1
check "taccl, two messages" "$(play taccl two)" 1282000
near "teccl, two messages" "$(play teccl two)" 1122807 30000
# SCCL: 1.28 rounds on the NIC are 2, as many as both on one link: either is right for it.
n=$(play sccl two)
n_checks=$((n_checks + 1))
case $n in
1282000 | 2001000) echo "ok: sccl, two messages: $n" ;;
*)
    echo "FAILED: sccl, two messages: $n"
    n_failures=$((n_failures + 1))
    ;;
esac

# Two messages into one rank: no way around its link, and TACCL orders them, smallest last.
demand into 6 "0 2 64000000" "1 2 32000000"
near "LP bound into one rank" "$(bound into lp_ns)" 1500000 1
check "taccl, into one rank" "$(play taccl into)" 1502000
order=$(sed -n 's/.*"transfers": \[\[0, \([0-9]*\), .*/\1/p' "$dir/taccl.json")
check "taccl, the first to go" "$order" 0
check "sccl, into one rank" "$(play sccl into)" 1501000
near "teccl, into one rank" "$(play teccl into)" 1500000 20000

# A dense demand: every schedule is whole (the simulator counts bytes) and above the bound.
"$variopath" demand zipf --ranks 6 --exponent 0.6 --seed 3 -o "$dir/dense.csv" 2>"$dir/err"
least=$(bound dense fluid_ns)
for synthesizer in taccl teccl sccl; do
    n=$(play "$synthesizer" dense)
    n_checks=$((n_checks + 1))
    if awk "BEGIN {exit !($n + 0 >= $least && $n < 1.5 * $least)}"; then
        echo "ok: $synthesizer, dense: $n, bound $least"
    else
        echo "FAILED: $synthesizer, dense: $n, bound $least"
        n_failures=$((n_failures + 1))
    fi
done

# Relays: a schedule by hand that moves rank 0's bytes for 3 over rank 1, 1 ms a hop.
hand() {
    printf '{"format": "variopath-schedule", "version": 1, "algorithm": "hand", '
    printf '"topology": "fig1-6", "ranks": 6, "synthesis_ms": 0, "execution": "%s", ' "$1"
    printf '"transfers": [%s]}' "$2"
}
simulate() {
    "$variopath" simulate --topology fig1-6 --demand "$dir/three.csv" --schedule "$dir/hand.json" \
        --csv >"$dir/out" 2>"$dir/err"
    echo $?
}
# The index of the path over a kind, from one group to another.
path() {
    "$variopath" topology show fig1-6 --json | "$python" -c 'import json, sys
kind, a, b = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
print(next(k for k, i in enumerate(json.load(sys.stdin)["instances"])
           if (i["kind"], i["from_group"], i["to_group"]) == (kind, a, b)))' "$@"
}
demand three 6 "0 3 64000000"
pix=$(path PIX 0 0)
pxb=$(path PXB 0 1)
for execution in barrier free deps; do
    hand $execution "[0, 0, 1, $pix, 0, 3, 64000000], [1, 1, 3, $pxb, 0, 3, 64000000]" \
        >"$dir/hand.json"
    check "relay, $execution: code" "$(simulate)" 0
    check "relay, $execution: time" "$(tail -n 1 "$dir/out" | cut -d, -f4)" 2002000
done
hand deps "[0, 0, 1, $pix, 0, 3, 64000000], [0, 1, 3, $pxb, 0, 3, 64000000]" >"$dir/hand.json"
check "passed on before it came: code" "$(simulate)" 2
hand deps "[0, 0, 3, $pxb, 0, 3, 1000]" >"$dir/hand.json"
check "bytes missing: code" "$(simulate)" 2
hand deps "[0, 0, 3, $pix, 0, 3, 64000000]" >"$dir/hand.json"
check "path of other groups: code" "$(simulate)" 2
hand sometimes "" >"$dir/hand.json"
check "unknown execution: code" "$(simulate)" 2
echo '{' >"$dir/hand.json"
check "no JSON: code" "$(simulate)" 2

# The planner's problem: from 0 to 1 and back one activation of 1 ms is the optimum.
demand swap 6 "0 1 64000000" "1 0 64000000"
timeout 60 "$python" "$here/synthesizers/activations.py" fig1-6 "$dir/swap.csv" --time-limit 20 \
    --variopath "$variopath" >"$dir/out" 2>"$dir/err" || cat "$dir/err"
near "activations, swap" "$(sed -n 's/^  "incumbent_ns": \([0-9.]*\),$/\1/p' "$dir/out")" 1010000 10
near "activations, bound" "$(sed -n 's/^  "bound_ns": \([0-9.]*\),$/\1/p' "$dir/out")" 1010000 10

echo "$((100 * (n_checks - n_failures) / n_checks))%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_failures" = 0 ]
