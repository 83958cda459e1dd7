#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Everything at once on nearest paths against the channel LP, seven machines and
# six demands of data/nearest_ratio.csv (made by nearest_ratio.py with HiGHS):
# the ratio of our draw to 1%, never below the fluid bound, and, for the demand
# that leaves nothing to a draw, the reference's ratio to 1%.
set -u
variopath=${VARIOPATH:-./variopath}
data=${srcdir:-.}/test/sim/data
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
n_checks=0
n_failures=0

check() {
    n_checks=$((n_checks + 1))
    if awk "BEGIN {exit !($1)}"; then
        echo "ok: $2: $1"
    else
        echo "FAILED: $2: $1"
        n_failures=$((n_failures + 1))
    fi
}

while IFS=, read -r topology ranks demand options lp fluid ratio _ reference _ _; do
    name=${topology/four-switches.json/$data/four-switches.json}
    read -ra words <<<"$options"
    if ! "$variopath" demand "${words[@]}" --ranks "$ranks" -o "$dir/demand.csv" 2>"$dir/err" ||
        ! "$variopath" simulate --topology "$name" --demand "$dir/demand.csv" \
            --algorithms nearest --exact --csv >"$dir/out" 2>"$dir/err"; then
        cat "$dir/err"
        check 0 "$topology $demand"
        continue
    fi
    overhead=$("$variopath" topology show "$name" --json |
        sed -n 's/^ *"put_overhead_ns": *\([0-9]*\).*/\1/p')
    time=$(($(tail -n 1 "$dir/out" | cut -d, -f4) - overhead))
    check "$time / $lp > 0.99 * $ratio && $time / $lp < 1.01 * $ratio" "$topology $demand, ratio"
    check "$time + 1 > $fluid" "$topology $demand, fluid bound"
    if [ "$demand" = uniform ] && [ -n "$reference" ]; then
        check "$time / $lp > 0.99 * $reference && $time / $lp < 1.01 * $reference" \
            "$topology $demand, reference ratio"
    fi
done < <(tail -n +2 "$data/nearest_ratio.csv")
[ "$n_checks" -gt 80 ] || n_failures=$((n_failures + 1))
echo "$((100 * (n_checks - n_failures) / n_checks))%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_failures" = 0 ]
