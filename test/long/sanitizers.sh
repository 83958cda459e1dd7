#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Everything that runs without mpirun, under AddressSanitizer (with leaks) and
# UndefinedBehaviorSanitizer.
. "${srcdir:?}/test/long/common.sh"
# A test asks for more memory than there can be; UCX never frees its CUDA streams.
export ASAN_OPTIONS=allocator_may_return_null=1
export LSAN_OPTIONS=suppressions=$top/test/long/lsan.supp
eval "arguments=($VP_CONFIGURE_ARGS)"
one "builds" nested sanitizers "${arguments[@]}" --without-ompi --enable-sanitizers=address,undefined
nested_check sanitizers
finish
