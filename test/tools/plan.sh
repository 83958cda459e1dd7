#!/bin/sh
# The plan and bound commands: output, refusals and exit codes.
# SPDX-License-Identifier: BSD-3-Clause
set -u

variopath=${VARIOPATH:-./variopath}
data=${srcdir:-.}/test/scheduler/data
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
n_failed=0

fail()
{
    echo "FAIL: $*" >&2
    sed 's/^/    /' "$work/out" "$work/err" >&2
    n_failed=$((n_failed + 1))
}

# expect CODE ARGUMENT...: runs the command and compares its exit code.
command=plan
expect()
{
    code=$1
    shift
    "$variopath" "$command" "$@" >"$work/out" 2>"$work/err"
    got=$?
    [ "$got" -eq "$code" ] || fail "$command $*: exit code $got, not $code"
}

# has FILE TEXT: the last run wrote a line with the text.
has()
{
    grep -qF -e "$2" "$work/$1" || fail "no \"$2\" in standard $1"
}

# key NAME: value of a number in the last run's JSON object.
key()
{
    sed -n "s/^  \"$1\": \\([0-9.]*\\),*\$/\\1/p" "$work/out"
}

expect 0 --topology fig1-6 --help
has out "Usage: variopath plan"

expect 0 --topology fig1-6 --demand "$data/fig1-6-zipf06.csv"
has out "fig1-6: 6 ranks, 201326576 bytes"
has out "PIX "
has out "PXB "
has out "NIC "

expect 0 --topology fig1-6 --demand "$data/fig1-6-zipf06.csv" --json
[ "$(key ranks)" = 6 ] || fail "ranks is $(key ranks)"
[ "$(key total_bytes)" = 201326576 ] || fail "total_bytes is $(key total_bytes)"
has out '"scheduler": "'
[ "$(key time_ns)" -ge "$(key bound_ns)" ] || fail "time $(key time_ns) below $(key bound_ns)"
[ "$(key bound_ns)" -ge 790000 ] || fail "bound_ns is $(key bound_ns)"
[ "$(key activations)" -ge 5 ] || fail "activations is $(key activations)"
[ -n "$(key planning_ns)" ] || fail "no planning_ns"
[ -n "$(key ratio)" ] || fail "no ratio"
if grep -q lane_list "$work/out"; then
    fail "lanes without --lanes"
fi

# Every byte is on a lane.
expect 0 --topology fig1-6 --demand "$data/fig1-6-zipf06.csv" --json --lanes
sum=$(sed -n 's/^      "bytes": \([0-9]*\),$/\1/p' "$work/out" | awk '{ s += $1 } END { printf "%d", s }')
[ "$sum" = 201326576 ] || fail "lanes carry $sum bytes"
for name in activation source destination kind bytes offset_bytes; do
    has out "\"$name\": "
done

expect 0 --topology fig1-6 --demand "$data/fig1-6-zipf06.csv" --lanes
has out "activation 0: "
has out "bytes from 0"

# The same plan from a catalog file, from standard input, and with a stated scheduler.
expect 0 --topology fig1-6 --demand "$data/fig1-6-hot.csv" --scheduler paper --json --lanes
has out '"scheduler": "paper"'
grep -v planning_ns "$work/out" >"$work/direct"
expect 0 --topology fig1-6 --demand - --scheduler paper --json --lanes <"$data/fig1-6-hot.csv"
grep -v planning_ns "$work/out" >"$work/piped"
cmp "$work/direct" "$work/piped" || fail "standard input gives another plan"
"$variopath" catalog build fig1-6 -o "$work/catalog" >/dev/null || fail "no catalog"
expect 0 --catalog "$work/catalog" --demand "$data/fig1-6-hot.csv" --scheduler paper --json --lanes
grep -v planning_ns "$work/out" >"$work/stored"
cmp "$work/direct" "$work/stored" || fail "a stored catalog gives another plan"

# No overhead is faster.
before=$(sed -n 's/^  "time_ns": \([0-9]*\),$/\1/p' "$work/direct")
expect 0 --topology fig1-6 --demand "$data/fig1-6-hot.csv" --alpha-ns 0 --json
[ "$(key time_ns)" -lt "$before" ] || fail "alpha 0 takes $(key time_ns), alpha 10000 $before"
[ "$(key alpha_ns)" = 0 ] || fail "alpha_ns is $(key alpha_ns)"

# Ablations are slower.
before=$(sed -n 's/^  "time_ns": \([0-9]*\),$/\1/p' "$work/direct")
for what in peers paths both; do
    expect 0 --topology fig1-6 --demand "$data/fig1-6-hot.csv" --fix "$what" --json
    [ "$(key time_ns)" -gt "$before" ] || fail "--fix $what takes $(key time_ns), without $before"
done
expect 2 --topology fig1-6 --demand "$data/fig1-6-hot.csv" --fix all
has err "--fix takes none, peers, paths or both, not \"all\""

# Beyond the budget of families the planner makes its own.
awk 'BEGIN { for (i = 0; i < 32; i++) { for (j = 0; j < 32; j++) printf "%s%d", j ? "," : "",
    1000000 * ((7 * i + 5 * j) % 11); print "" } }' >"$work/four-nodes.csv"
expect 0 --topology r5080-bf3:nodes=4 --demand "$work/four-nodes.csv" --json
has out '"catalog": "generated"'
[ "$(key time_ns)" -ge "$(key bound_ns)" ] || fail "time $(key time_ns) below $(key bound_ns)"
expect 0 --topology fig1-6 --demand "$data/fig1-6-hot.csv"
has out "exhaustive catalog"

# Forms of plans, each with its own bound.
expect 0 --topology fig1-6 --demand "$data/fig1-6-zipf06.csv" --scheduler list --json
has out '"order": "list"'
has out '"bound": "list"'
[ "$(key time_ns)" -ge "$(key bound_ns)" ] || fail "time $(key time_ns) below $(key bound_ns)"
list=$(key time_ns)
expect 0 --topology fig1-6 --demand "$data/fig1-6-zipf06.csv" --execution deps --effort thorough --json
[ "$(key time_ns)" -le "$list" ] || fail "auto $(key time_ns) ns, list $list"
expect 0 --topology fig1-6 --demand "$data/fig1-6-zipf06.csv" --scheduler concurrent --json
has out '"order": "concurrent"'
has out '"shares_ports": true'
has out '"bound": "fluid"'
concurrent=$(key time_ns)
expect 0 --topology fig1-6 --demand "$data/fig1-6-zipf06.csv" --port-sharing auto --json
[ "$(key time_ns)" -le "$concurrent" ] || fail "auto $(key time_ns) ns, concurrent $concurrent"
expect 0 --topology fig1-6 --demand "$data/fig1-6-zipf06.csv" --port-sharing auto --links collapses \
    --effort thorough
has out "activations"
expect 0 --topology fig1-6 --demand "$data/fig1-6-zipf06.csv" --scheduler concurrent
has out "fluid bound"
for option in effort execution port-sharing; do
    expect 2 --topology fig1-6 --demand "$data/fig1-6-zipf06.csv" --$option much
    has err "--$option takes "
    has err ", not \"much\""
done
expect 0 --topology fig1-6 --demand "$data/fig1-6-zipf06.csv" --json --lanes --chunk 1048576
sed -n 's/^      "offset_bytes": \([0-9]*\)$/\1/p' "$work/out" | awk '$1 % 1048576 { exit 1 }' ||
    fail "a lane begins inside a chunk"
expect 2 --topology fig1-6 --demand "$data/fig1-6-zipf06.csv" --chunk 3000
has err "multiples of 3000 bytes"
expect 2 --topology fig1-6 --demand "$data/fig1-6-zipf06.csv" --chunk -1
has err "--chunk takes 1 to"
expect 2 --topology fig1-6 --demand "$data/fig1-6-zipf06.csv" --links none
has err "no contention profile \"none\""

expect 0 --topology fig1-6 --demand "$data/fig1-6-zipf06.csv" --svg "$work/plan.svg"
grep -q '^</svg>' "$work/plan.svg" || fail "no whole picture of a plan"
grep -q '>[0-5]&gt;[0-5]<' "$work/plan.svg" || fail "no lane on a link"
expect 0 --topology fig1-6 --demand "$data/fig1-6-zipf06.csv" --port-sharing auto --execution deps \
    --links ideal --svg "$work/plan.svg"
expect 3 --topology fig1-6 --demand "$data/fig1-6-zipf06.csv" --svg "$work/none/plan.svg"
has err "$work/none/plan.svg"

# Nothing to send.
printf '0,0\n0,0\n' >"$work/zero2.csv"
awk 'BEGIN { for (i = 0; i < 6; i++) print "0,0,0,0,0,0" }' >"$work/zero6.csv"
expect 0 --topology fig1-6 --demand "$work/zero6.csv" --json
[ "$(key activations)" = 0 ] || fail "activations is $(key activations)"
[ "$(key time_ns)" = 0 ] || fail "time_ns is $(key time_ns)"
[ "$(key ratio)" = 1.0 ] || fail "ratio is $(key ratio)"

# Refusals.
expect 2 --topology fig1-6 --demand "$work/zero2.csv"
has err "the demand has 2 ranks, the topology \"fig1-6\" has 6"
printf '0,1\n2,x\n' >"$work/bad.csv"
expect 2 --topology fig1-6 --demand "$work/bad.csv"
has err "$work/bad.csv:2:3: \"x\" is not a number"
printf '0,1\n2,x\n' | "$variopath" plan --topology fig1-6 --demand - >"$work/out" 2>"$work/err"
has err "standard input:2:3: "
printf '0,1\0\n2,0\n' >"$work/zero-byte.csv"
expect 2 --topology fig1-6 --demand "$work/zero-byte.csv"
has err "holds a zero byte"
expect 3 --topology fig1-6 --demand "$work/missing.csv"
has err "missing.csv"
expect 2 --topology no-such-topology --demand "$work/zero6.csv"
expect 2 --catalog "$work/bad.csv" --demand "$work/zero6.csv"
expect 2 --demand "$work/zero6.csv"
has err "give either --topology or --catalog"
expect 2 --topology fig1-6 --catalog "$work/catalog" --demand "$work/zero6.csv"
expect 2 --topology fig1-6
has err "give --demand"
expect 2 --topology fig1-6 --demand "$work/zero6.csv" --scheduler fastest
has err "there are auto, colour, concurrent, critical, list, paper"
expect 2 --topology fig1-6 --demand "$work/zero6.csv" --alpha-ns -5
has err "not \"-5\""
expect 2 --topology fig1-6 --demand "$work/zero6.csv" --alpha-ns 10us
expect 2 --topology fig1-6 --demand "$work/zero6.csv" --alpha-ns 1000000000001
expect 2 --topology fig1-6 --demand
has err "needs a value"
expect 2 --topology fig1-6 --demand "$work/zero6.csv" --speed
has err "unknown option \"--speed\""
expect 2 --topology fig1-6 --demand "$work/zero6.csv" extra
has err "unexpected argument \"extra\""

# Bounds.
command=bound
expect 0 --help
has out "Usage: variopath bound"
expect 0 --topology fig1-6 --demand "$data/fig1-6-uniform.csv" --json
[ "$(key fluid_ns)" -le 248347 ] || fail "fluid_ns is $(key fluid_ns), above the optimum"
[ "$(key fluid_ns)" -ge 247800 ] || fail "fluid_ns is $(key fluid_ns), far below the optimum"
[ "$(key lp_ns)" -gt "$(key fluid_ns)" ] || fail "lp_ns $(key lp_ns), fluid_ns $(key fluid_ns)"
[ "$(key kmin)" = 5 ] || fail "kmin is $(key kmin)"
[ "$(key bound_ns)" = "$(($(key lp_ns) + 50000))" ] || fail "bound_ns is $(key bound_ns)"
expect 0 --topology fig1-6 --demand "$data/fig1-6-uniform.csv" --json --alpha-ns 0
[ "$(key bound_ns)" = "$(key lp_ns)" ] || fail "bound_ns is $(key bound_ns)"
[ "$(key alignment_ns)" -ge "$(key bound_ns)" ] || fail "alignment_ns is $(key alignment_ns)"
[ "$(key list_ns)" -ge "$(key lp_ns)" ] || fail "list_ns is $(key list_ns)"
expect 0 --topology fig1-6 --demand "$work/zero6.csv"
has out "exclusive lanes          0.000 us"

# The linear programs themselves, where a Python has HiGHS.
if python=$(bash "${srcdir:-.}/test/sim/highs.sh" 2>/dev/null); then
    VP_PYTHON=$python VARIOPATH_DATA=${srcdir:-.}/tools
    export VP_PYTHON VARIOPATH_DATA
    expect 0 --topology fig1-6 --demand "$data/fig1-6-uniform.csv" --json --exact
    has out '"exact": {'
    for name in lp_ns fluid_ns; do
        exact=$(sed -n "s/^    \"$name\": \([0-9]*\),*\$/\1/p" "$work/out")
        [ "$exact" -ge "$(key $name)" ] || fail "$name $(key $name) above its optimum $exact"
        [ $((exact / 100)) -ge $((exact - $(key $name))) ] || fail "$name $(key $name), not $exact"
    done
fi
VARIOPATH_DATA=$work/nowhere
export VARIOPATH_DATA
expect 3 --topology fig1-6 --demand "$data/fig1-6-uniform.csv" --exact
has err "gave no exact bounds"
expect 2 --topology fig1-6 --demand "$work/zero2.csv"
has err "the demand has 2 ranks, the topology \"fig1-6\" has 6"
expect 2 --topology fig1-6
has err "give --demand"
expect 2 --demand "$work/zero6.csv"
has err "give --topology"
expect 2 --topology fig1-6 --demand "$work/zero6.csv" --alpha-ns fast
has err "not \"fast\""
expect 2 --topology fig1-6 --demand "$work/zero6.csv" --lanes
has err "unknown option \"--lanes\""
expect 2 --topology fig1-6 --demand
has err "needs a value"
expect 2 --topology fig1-6 --demand "$work/zero6.csv" extra
has err "unexpected argument \"extra\""

if [ "$n_failed" -ne 0 ]; then
    echo "$n_failed checks failed" >&2
    exit 1
fi
