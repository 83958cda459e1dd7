#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# `variopath demand` and `variopath simulate`: equal seeds give equal bytes,
# Figure 1's machine runs every system under every profile, errors have their codes.
set -u
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
n_checks=0
n_failures=0
all=nccl,nccl-host,rails,msccl,fast,deepep-rail,deepep-nic,openmpi-pairwise,openmpi-linear
all+=,mpich-scattered,ucc,nimble,flexlink,nearest

# expect CODE COMMAND...
expect() {
    local code=$1 got
    shift
    n_checks=$((n_checks + 1))
    ./variopath "$@" >"$dir/out" 2>"$dir/err"
    got=$?
    if [ "$got" = "$code" ]; then
        echo "ok: $*"
    else
        echo "FAILED: $*: code $got instead of $code"
        cat "$dir/err"
        n_failures=$((n_failures + 1))
    fi
}

# same FILE FILE
same() {
    n_checks=$((n_checks + 1))
    if ! cmp "$1" "$2"; then
        echo "FAILED: $1 and $2 differ"
        n_failures=$((n_failures + 1))
    fi
}

expect 0 demand zipf --ranks 6 --exponent 0.6 --seed 7 -o "$dir/a.csv"
grep -q 'seed 7' "$dir/err" || { echo 'FAILED: the seed is not printed'; n_failures=$((n_failures + 1)); }
expect 0 demand zipf --ranks 6 --exponent 0.6 --seed 7 -o "$dir/b.csv"
same "$dir/a.csv" "$dir/b.csv"
expect 0 simulate --topology fig1-6 --demand "$dir/a.csv" --algorithms "$all,paper" --links all --json
cp "$dir/out" "$dir/first.json"
expect 0 simulate --topology fig1-6 --demand "$dir/a.csv" --algorithms "$all,paper" --links all --json
same "$dir/first.json" "$dir/out"
expect 0 simulate --topology fig1-6 --demand "$dir/a.csv" --algorithms nccl --csv --svg "$dir/plot.svg"
n_checks=$((n_checks + 1))
grep -q '^nccl,ideal,own,[0-9]*,[0-9]*,5$' "$dir/out" || {
    echo 'FAILED: no row for nccl'
    n_failures=$((n_failures + 1))
}
expect 2 demand zipf --ranks 1
expect 2 demand nonsense --ranks 4
expect 2 simulate --topology fig1-6 --demand "$dir/a.csv" --algorithms nonsense
expect 2 simulate --topology fig1-6 --demand "$dir/a.csv" --algorithms nccl --links nonsense
expect 2 simulate --topology r5080-bf3 --demand "$dir/a.csv" --algorithms nccl
expect 2 simulate --topology fig1-6 --demand "$dir/a.csv" --algorithms nccl --fail nonsense
expect 3 simulate --topology fig1-6 --demand "$dir/missing.csv" --algorithms nccl
echo "$((100 * (n_checks - n_failures) / n_checks))%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_failures" = 0 ]
