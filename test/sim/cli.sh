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
expect 0 demand zipf --ranks 6 --exponent 0.6 --seed 7 --json
n_checks=$((n_checks + 1))
python3 - "$dir/out" "$dir/a.csv" <<'END' || { echo 'FAILED: a demand as JSON'; n_failures=$((n_failures + 1)); }
import json, sys
demand = json.load(open(sys.argv[1]))
rows = [[int(cell) for cell in line.split(",")] for line in open(sys.argv[2])]
assert demand["demand_bytes"] == rows and demand["ranks"] == 6 and demand["seed"] == 7
assert demand["total_bytes"] == sum(map(sum, rows)) and demand["kind"] == "zipf"
END
expect 2 demand zipf --ranks 6 --json -o -
expect 0 simulate --topology fig1-6 --demand "$dir/a.csv" --algorithms nccl --csv --svg "$dir/plot.svg"
n_checks=$((n_checks + 1))
grep -q '^nccl,ideal,own,[0-9]*,[0-9]*,5,[0-9]*$' "$dir/out" || {
    echo 'FAILED: no row for nccl'
    n_failures=$((n_failures + 1))
}
# A timed plan is the same plan, and only what was planned has a planning time.
expect 0 simulate --topology fig1-6 --demand "$dir/a.csv" --algorithms "$all,paper" --links all \
    --time-planning 3 --json
n_checks=$((n_checks + 1))
if [ "$(grep -c planning_cpu_ns "$dir/out")" = "$(grep -c '"algorithm": "paper"' "$dir/out")" ]; then
    echo 'ok: plans have planning times'
else
    echo 'FAILED: a plan has no planning time, or a system has one'
    n_failures=$((n_failures + 1))
fi
grep -v planning_cpu_ns "$dir/out" | tr -d ' ,\n' >"$dir/timed"
tr -d ' ,\n' <"$dir/first.json" >"$dir/untimed"
same "$dir/untimed" "$dir/timed"
# With a failed NIC nothing goes over it, whether the planner knows or not.
expect 0 demand zipf --ranks 16 --exponent 0.6 -o "$dir/c.csv"
for knowledge in "" --unaware; do
    expect 0 simulate --topology r5080-bf3:nodes=2 --demand "$dir/c.csv" --algorithms paper,nccl \
        --fail node0/nic0:tx $knowledge --json
    n_checks=$((n_checks + 1))
    if ! grep -q node0/nic1:tx "$dir/out" || grep -q node0/nic0:tx "$dir/out"; then
        echo "FAILED: bytes on a failed NIC $knowledge"
        n_failures=$((n_failures + 1))
    fi
done
expect 0 demand zipf --ranks 8 --exponent 0.6 --over ranked-rows -o "$dir/d.csv"
# Sizes: three rows, which are scaled; the drawing is whole XML with a box for rank 5.
expect 0 simulate --topology fig1-6 --demand "$dir/a.csv" --algorithms paper --sweep 64K,1M,16M \
    --csv --svg "$dir/sweep.svg"
n_checks=$((n_checks + 1))
if [ "$(grep -c '^paper,' "$dir/out")" = 3 ] && [ "$(tail -n 1 "$dir/sweep.svg")" = '</svg>' ] &&
    grep -q '>rank 5<' "$dir/sweep.svg" && grep -q 'against size' "$dir/sweep.svg"; then
    echo 'ok: a sweep has its rows and its drawing'
else
    echo 'FAILED: a sweep lacks rows or parts of its drawing'
    n_failures=$((n_failures + 1))
fi
# Figure 1's joint channel, planned: 356 MB in 1 ms is 356 GB/s, to the last digit.
cat >"$dir/figure1.csv" <<'EOF'
0,64000000,0,0,0,0
0,0,0,64000000,0,0
0,0,0,0,50000000,0
0,0,0,0,0,64000000
64000000,0,0,0,0,0
0,0,50000000,0,0,0
EOF
expect 0 simulate --topology fig1-6 --demand "$dir/figure1.csv" --alpha-ns 0 --algorithms paper \
    --execution barrier --csv
n_checks=$((n_checks + 1))
if grep -q '^paper,.*,1000000,' "$dir/out"; then
    echo "ok: a plan of paper reaches Figure 1's 356 GB/s"
else
    echo "FAILED: a plan of paper does not reach Figure 1's 356 GB/s"
    cat "$dir/out"
    n_failures=$((n_failures + 1))
fi
# A plan knows the links that it runs on, unless it is told of others: concurrent lanes on
# links that collapse, though exclusive ones were faster.
expect 0 simulate --topology r5080-bf3 --demand "$dir/d.csv" --algorithms auto --links collapses --csv
aware=$(sed -n 's/^auto,collapses,[a-z]*,\([0-9]*\),.*/\1/p' "$dir/out")
expect 0 simulate --topology r5080-bf3 --demand "$dir/d.csv" --algorithms auto --links collapses \
    --plan-links ideal --csv
unaware=$(sed -n 's/^auto,collapses,window,\([0-9]*\),.*/\1/p' "$dir/out")
n_checks=$((n_checks + 1))
if [ "${aware:-9}" -lt "${unaware:-0}" ]; then
    echo "ok: links that a plan does not know cost it: $aware, $unaware ns"
else
    echo "FAILED: $aware ns knowing the links, $unaware ns not knowing them"
    n_failures=$((n_failures + 1))
fi
expect 0 simulate --topology r5080-bf3 --demand "$dir/d.csv" --algorithms auto --port-sharing off --csv
n_checks=$((n_checks + 1))
if grep -q '^auto,ideal,window,' "$dir/out" || ! grep -q '^auto,ideal,' "$dir/out"; then
    echo "FAILED: lanes share links though they must not"
    cat "$dir/out"
    n_failures=$((n_failures + 1))
else
    echo "ok: --port-sharing off"
fi
expect 2 simulate --topology r5080-bf3 --demand "$dir/d.csv" --algorithms auto --plan-links nonsense
# Far NICs: bytes of one switch leave by both NICs of their node (NICs of 50 GB/s, links of 64
# between switches). Where near NICs are evenly loaded no lane takes a far one, and uneven blocks
# that are too small for a split of their own are spread over all NICs without planning.
python3 - "$dir" <<'END'
import sys
one = [[64000000 * (i < 4 and 8 <= j < 12) for j in range(16)] for i in range(16)]
even = [[8000000 * (i != j) for j in range(16)] for i in range(16)]
odd = [[(100000 + 1000 * (i // 4 != 1)) * (i // 8 != j // 8) for j in range(16)] for i in range(16)]
for i in range(4):
    odd[i] = [2 * it for it in odd[i]]
for name, rows in ("one", one), ("even", even), ("odd", odd):
    with open(f"{sys.argv[1]}/{name}.csv", "w") as file:
        file.writelines(",".join(map(str, row)) + "\n" for row in rows)
END
for name in one even odd; do
    for nics in near all; do
        expect 0 simulate --topology "r5080-bf3:nodes=2:nics=$nics" --demand "$dir/$name.csv" \
            --algorithms auto --time-planning 1 --json
        cp "$dir/out" "$dir/$name-$nics.json"
    done
done
n_checks=$((n_checks + 1))
python3 - "$dir" <<'END' || { echo 'FAILED: far NICs'; n_failures=$((n_failures + 1)); }
import json, sys
def read(name):
    return {nics: json.load(open(f"{sys.argv[1]}/{name}-{nics}.json"))[0] for nics in ("near", "all")}
one, even, odd = read("one"), read("even"), read("odd")
assert one["all"]["time_ns"] < 0.53 * one["near"]["time_ns"], one
assert even["all"]["time_ns"] == even["near"]["time_ns"], even
assert even["all"]["flows"] == even["near"]["flows"], even
assert odd["all"]["time_ns"] < 0.9 * odd["near"]["time_ns"], odd
assert odd["all"]["planning_model_ns"] == 0, odd
END
# More ways make no plan slower: the links to far NICs are as full as the NICs here.
for nics in near all; do
    expect 0 simulate --topology "r5080-cx8:nodes=2:rates=measured:nics=$nics" \
        --demand "$dir/even.csv" --algorithms auto --csv
    cp "$dir/out" "$dir/sockets-$nics.csv"
done
same "$dir/sockets-near.csv" "$dir/sockets-all.csv"
expect 0 simulate --topology r5080-bf3:nodes=2:nics=all --demand "$dir/one.csv" --algorithms auto \
    --fail node0/nic0:tx
expect 2 simulate --topology fig1-6 --demand "$dir/a.csv" --algorithms nccl --sweep 1M,,2M
expect 2 simulate --topology fig1-6 --demand "$dir/a.csv" --algorithms nccl --sweep 0
expect 2 simulate --topology fig1-6 --demand "$dir/a.csv" --algorithms nccl --unaware
expect 3 simulate --topology fig1-6 --demand "$dir/a.csv" --schedule "$dir/missing.json"
expect 2 demand zipf --ranks 1
expect 2 demand nonsense --ranks 4
expect 2 simulate --topology fig1-6 --demand "$dir/a.csv" --algorithms nonsense
expect 2 simulate --topology fig1-6 --demand "$dir/a.csv" --algorithms nccl --links nonsense
expect 2 simulate --topology r5080-bf3 --demand "$dir/a.csv" --algorithms nccl
expect 2 simulate --topology fig1-6 --demand "$dir/a.csv" --algorithms nccl --fail nonsense
expect 3 simulate --topology fig1-6 --demand "$dir/missing.csv" --algorithms nccl
echo "$((100 * (n_checks - n_failures) / n_checks))%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_failures" = 0 ]
