#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The whole of the allocation-failure sweeps and of what runs under valgrind, of which `make check` runs a part.
set -u
export VP_ROBUST_ALL=1 CK_DEFAULT_TIMEOUT=1800
n_checks=0
n_failures=0
for program in test/robust/test_sweep_*; do
    [[ $program == *.* || ! -x $program ]] && continue
    n_checks=$((n_checks + 1))
    timeout 3600 "$program" || { n_failures=$((n_failures + 1)); echo "FAILED: $program"; }
done
n_checks=$((n_checks + 1))
"${srcdir:?}/test/robust/valgrind.sh"
case $? in 0 | 77) ;; *) n_failures=$((n_failures + 1)) ;; esac
[ "$n_checks" -gt 1 ] || { echo "no sweeps were built"; exit 77; }
echo "$((100 * (n_checks - n_failures) / n_checks))%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_failures" = 0 ]
