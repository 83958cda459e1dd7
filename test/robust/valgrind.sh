#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The command line, the scheduler's and other unit tests under valgrind's memcheck. Each is an
# error when it reads what was never written, touches what is not its own, or loses memory.
set -u
command -v valgrind >/dev/null || { echo "no valgrind"; exit 77; }
! grep -q 'fsanitize=' config.status 2>/dev/null || { echo "built with sanitizers"; exit 77; }
data=$(cd "${srcdir:-.}/test" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/vp_valgrind.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
export CK_FORK=no CK_DEFAULT_TIMEOUT=600
n_checks=0
n_failures=0

# clean COMMAND...: it succeeds, and valgrind finds nothing. 99: what valgrind found.
clean() {
    n_checks=$((n_checks + 1))
    if ! timeout 300 valgrind -q --leak-check=full --errors-for-leak-kinds=definite,indirect,possible \
        --error-exitcode=99 "$@" >"$work/out" 2>"$work/err"; then
        n_failures=$((n_failures + 1))
        echo "FAIL: $*"
        tail -n 40 "$work/err"
    fi
}

clean ./variopath topology show r5080-bf3:nodes=2 --json
clean ./variopath topology show synthetic:nodes=2,links=uplinks,p2p=off,gdr=off --svg "$work/t.svg"
clean ./variopath topology import "$data/import/data/n01-3090x8-2sw-1nic.xml" -o "$work/t.json"
clean ./variopath topology import "$data/import/data/t17-a6000x8-nvpairs.txt" --json
clean ./variopath catalog build fig1-6 -o "$work/c.vpcat"
clean ./variopath catalog show "$work/c.vpcat" --json
clean ./variopath catalog diff "$work/c.vpcat" "$work/c.vpcat"
clean ./variopath demand zipf --ranks 6 -o "$work/d.csv"
clean ./variopath plan --catalog "$work/c.vpcat" --demand "$work/d.csv" --lanes
for planner in colour concurrent critical list paper; do
    clean ./variopath plan --topology fig1-6 --demand "$work/d.csv" --scheduler "$planner" --json
done
clean ./variopath bound --topology fig1-6 --demand "$work/d.csv"
clean ./variopath simulate --topology fig1-6 --demand "$work/d.csv" \
    --algorithms nccl,fast,deepep-rail,auto --svg "$work/s.svg"
clean ./variopath trace "$data/fuzz/trace-chrome.seed" --json
for test in unit/test_base scheduler/test_demand scheduler/test_rates scheduler/test_scores \
    scheduler/test_assign sim/test_network; do
    [ ! -x "test/$test" ] || clean "test/$test"
done
if [ -n "${VP_ROBUST_ALL:-}" ]; then
    for test in test/scheduler/test_* test/sim/test_* test/catalog/test_*; do
        [[ $test == *.* || ! -x $test ]] || clean "$test"
    done
fi
echo "$((100 * (n_checks - n_failures) / n_checks))%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_failures" = 0 ]
