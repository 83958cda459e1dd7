#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Every MPI case, with the component carrying host buffers, with it passing
# everything on, and without it; then on eight ranks and with barriers.
. "${srcdir:?}/test/mca/common.sh"
cases=$builddir/test/mca/cases
literal=(--mca coll variopath --mca coll_variopath_host 1)

# One set of cases counts each of its checks.
run() {
    local name=$1 output=$work/output
    shift
    echo "== $name"
    launch 300 "$@" >"$output" 2>&1
    local code=$?
    # The programs' own sums are added below; their lines must not count twice.
    sed 's/Checks:/checks:/' "$output"
    check "$name: exit code" equal "$code" 0
    local counts
    counts=$(sed -n 's/^.*Checks: \([0-9]*\), Failures: \([0-9]*\), Errors: [0-9]*$/\1 \2/p' "$output" | tail -n 1)
    if [ -n "$counts" ]; then
        n_checks=$((n_checks + ${counts% *}))
        n_failures=$((n_failures + ${counts#* }))
    fi
}

layouts=$builddir/test/mca/layouts
run "layouts carried, 4 ranks" 4 "${literal[@]}" "$layouts" all
run "layouts carried, 5 of 8 ranks" 5 "${literal[@]}" \
    --mca coll_variopath_catalog "$work/eight.vpcat" "$layouts" all
run "layouts passed on, 4 ranks" 4 --mca coll variopath "$layouts" passed
run "layouts without memory to pack in, 4 ranks" 4 "${literal[@]}" \
    --mca coll_variopath_pack_max 0 "$layouts" any
nonblocking=$builddir/test/mca/nonblocking
run "nonblocking carried, 4 ranks" 4 "${literal[@]}" "$nonblocking" all
run "nonblocking carried, short of time" 4 "${literal[@]}" --mca coll_variopath_timeout_ms 20 \
    "$nonblocking" all "a rank that is away"
run "nonblocking passed on, 4 ranks" 4 --mca coll variopath "$nonblocking" passed
run "nonblocking without the component, 4 ranks" 4 --mca coll ^variopath "$nonblocking" any
run "carried, 4 ranks" 4 "${literal[@]}" "$cases" carried
run "carried, 4 ranks, a barrier after each activation" 4 "${literal[@]}" \
    --mca coll_variopath_sync barrier "$cases" carried
run "carried, 8 ranks" 8 "${literal[@]}" \
    --mca coll_variopath_catalog "$work/eight.vpcat" "$cases" carried
# Two nodes, as far as the ranks know.
"$variopath" catalog build "$srcdir/test/mca/four.json:nodes=2:transports=local" -o "$work/nodes.vpcat" >/dev/null
leaders=("${literal[@]}" --mca coll_variopath_catalog "$work/nodes.vpcat" --mca coll_variopath_leaders on)
run "carried, 8 ranks on 2 nodes with leaders" 8 "${leaders[@]}" "$cases" carried
run "nonblocking carried, 8 ranks on 2 nodes with leaders" 8 "${leaders[@]}" "$nonblocking" all
launch 60 8 "${leaders[@]}" --mca coll_variopath_verbose 10 "$builddir/examples/alltoallv" \
    >"$work/output" 2>&1
check "leaders were asked" contains "$work/output" "counts go by way of the nodes' leaders"
reports=$builddir/test/mca/reports # VP_LONG: with the slow ones
run "reports carried, 8 ranks" 8 "${literal[@]}" \
    --mca coll_variopath_catalog "$work/eight.vpcat" "$reports" carried
run "reports without the component, 8 ranks" 8 --mca coll ^variopath "$reports" any
run "passed on, 4 ranks" 4 --mca coll variopath "$cases" passed
run "without the component, 4 ranks" 4 --mca coll ^variopath "$cases" any
finish
