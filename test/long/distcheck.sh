#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The release archive unpacks, builds out of a read-only tree, passes its tests,
# installs and uninstalls.
. "${srcdir:?}/test/long/common.sh"
eval "arguments=($VP_CONFIGURE_ARGS)"
run() {
    mkdir "$work/dist" && cd "$work/dist" || return 1
    "$top/configure" -q "${arguments[@]}" >configure.log 2>&1 || return 1
    timeout 1200 make -s distcheck >distcheck.log 2>&1 || { tail -n 40 distcheck.log; return 1; }
}
one "make distcheck" run
finish
