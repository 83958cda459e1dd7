#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Building without a dependency still gives everything that does not need it.
. "${srcdir:?}/test/long/common.sh"
eval "arguments=($VP_CONFIGURE_ARGS)"
one "without Open MPI, UCX, hwloc and CUDA" nested bare --without-ompi --without-ucx \
    --without-hwloc --without-cuda
nested_check bare
one "without UCX" nested no-ucx --without-ucx
one "without UCX: the examples are there" test -x "$work/no-ucx/examples/alltoallv"
one "without Check" nested no-check "${arguments[@]}" --without-check
if command -v clang >/dev/null; then
    one "with clang" nested clang "${arguments[@]}" CC=clang
fi
one "--with-ucx=DIR that is none is refused" \
    sh -c "! '$top/configure' -q --with-ucx=/nonexistent >/dev/null 2>&1"
finish
