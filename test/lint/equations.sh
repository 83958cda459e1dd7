#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Every file, function and test that docs/equations.md names exists.
set -u
cd "${srcdir:?}" || exit 99
n_checks=0
n_failures=0

one() {
    n_checks=$((n_checks + 1))
    "${@:2}" || { echo "FAILED: docs/equations.md names $1, which is not there"; n_failures=$((n_failures + 1)); }
}

while IFS= read -r name; do
    case $name in
    */*) one "$name" test -f "$name" ;;
    vp_*) one "$name" grep -rqE "^[a-z].*\b$name\(" --include=*.c base catalog scheduler sim ;;
    *) one "$name" grep -rqwE "$name" --include=*.c catalog scheduler test ;;
    esac
done < <(sed -n '/^|/p' docs/equations.md | grep -oE '`[^`]+`' | tr -d '`' | sort -u)
echo "$((100 * (n_checks - n_failures) / n_checks))%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
[ "$n_failures" = 0 ]
