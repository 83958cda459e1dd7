#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Everything at once on nearest paths against the channel LP: seven machines and six
# demands of data/nearest_ratio.csv (made by nearest_ratio.py with HiGHS). Each ratio is that
# of the reference table to 1%, in its range to 1% where it has one, and ours to 0.1%; so is
# the fluid bound's; no time is below the fluid bound.
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

while IFS=, read -r topology ranks demand lp fluid ratio fluid_ratio reference fluid_reference; do
    name=${topology/four-switches.json/$data/four-switches.json}
    file=$data/reference/$demand-$ranks.csv
    if [ "$demand" = uniform ]; then
        file=$dir/uniform.csv
        "$variopath" demand uniform --ranks "$ranks" -o "$file" 2>"$dir/err" || cat "$dir/err"
    fi
    if ! "$variopath" simulate --topology "$name" --demand "$file" --algorithms nearest --exact \
        --csv >"$dir/out" 2>"$dir/err"; then
        cat "$dir/err"
        check 0 "$topology $demand"
        continue
    fi
    overhead=$("$variopath" topology show "$name" --json |
        sed -n 's/^ *"put_overhead_ns": *\([0-9]*\).*/\1/p')
    time=$(($(tail -n 1 "$dir/out" | cut -d, -f4) - overhead))
    check "$time / $lp > 0.99 * ${reference%-*} && $time / $lp < 1.01 * ${reference#*-}" \
        "$topology $demand, reference ratio"
    check "$time / $lp > 0.999 * $ratio && $time / $lp < 1.001 * $ratio" "$topology $demand, ratio"
    check "$fluid_ratio > 0.99 * ${fluid_reference%-*} && $fluid_ratio < 1.01 * ${fluid_reference#*-}" \
        "$topology $demand, reference ratio of the fluid bound"
    check "$time + 1 > $fluid" "$topology $demand, fluid bound"
done < <(tail -n +2 "$data/nearest_ratio.csv")
[ "$n_checks" = 168 ] || n_failures=$((n_failures + 1))
echo "$((100 * (n_checks - n_failures) / n_checks))%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_failures" = 0 ]
