# SPDX-License-Identifier: BSD-3-Clause
#
# Sourced by the long suites: further builds of the same sources, each in a
# scratch directory, whose tests are added up to one closing line.
set -u
: "${srcdir:?run this through make check-long}" "${VP_CONFIGURE_ARGS?}"
top=$(cd "$srcdir" && pwd)
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
n_checks=0
n_failures=0
# The outer make's own settings, TESTS above all, are not for the builds made here.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL TESTS TEST_LOGS

# nested NAME [ARGUMENT of configure]...: configure and build in $work/NAME.
nested() {
    local name=$1
    shift
    mkdir "$work/$name" && cd "$work/$name" || exit 99
    "$top/configure" -q "$@" >configure.log 2>&1 || { tail -n 20 configure.log; return 1; }
    make -s -j2 >make.log 2>&1 || { tail -n 30 make.log; return 1; }
}

# nested_check NAME [ARGUMENT of make]...: its tests, counted.
nested_check() {
    local name=$1 counts
    shift
    cd "$work/$name" || exit 99
    timeout "${nested_seconds:-1200}" make -s -k check "$@" >check.log 2>&1
    "$top/test/summary" . >summary.txt
    counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' summary.txt)
    n_checks=$((n_checks + ${counts% *} + ${counts#* }))
    n_failures=$((n_failures + ${counts#* }))
    echo "$name: $(tail -n 1 summary.txt)"
    if [ "${counts#* }" != 0 ]; then
        cat summary.txt
        tail -n 30 check.log
    fi
}

# one NAME COMMAND...: one check by exit code.
one() {
    local name=$1
    shift
    n_checks=$((n_checks + 1))
    if "$@"; then
        echo "ok: $name"
    else
        echo "FAILED: $name"
        n_failures=$((n_failures + 1))
    fi
}

finish() {
    echo "$((100 * (n_checks - n_failures) / n_checks))%: Checks: $n_checks, Failures: $n_failures, Errors: 0"
    [ "$n_failures" = 0 ]
    exit
}
